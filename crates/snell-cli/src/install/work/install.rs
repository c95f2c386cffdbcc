//! Putting Snell into an agent's settings.

use std::path::PathBuf;

use anyhow::bail;
use serde::Serialize;

use super::forwarding::{Fate, Script};
use super::{Target, difference, faulty};
use crate::install::agents::Scope;
use crate::install::disk::{Access, Seen};
use crate::install::entry::{Entry, Way};
use crate::install::plan::{self, Plan, Wanted};
use crate::install::program;
use crate::install::remembered::{Installed, Remembered, before};

/// What is asked for.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) way: Way,
    /// The receiver that the script forwards to, if one was named.
    pub(crate) url: Option<String>,
    /// Whether to install although it is installed elsewhere.
    pub(crate) force: bool,
    /// Whether to write nothing.
    pub(crate) dry_run: bool,
}

/// What was done, or would be.
#[derive(Debug, Serialize)]
pub(crate) struct Installation {
    pub(crate) agent: &'static str,
    pub(crate) way: Way,
    pub(crate) file: PathBuf,
    /// What is registered: the program, or the script.
    pub(crate) command: String,
    pub(crate) events: Vec<&'static str>,
    pub(crate) changed: bool,
    /// Whether the file was not there before.
    pub(crate) created: bool,
    /// The copy that was made of it.
    pub(crate) backup: Option<PathBuf>,
    /// The script that was written.
    pub(crate) script: Option<PathBuf>,
    /// The script that is not needed any more.
    pub(crate) removed_script: Option<PathBuf>,
    /// The script that is again what it was before Snell.
    pub(crate) restored_script: Option<PathBuf>,
    pub(crate) warnings: Vec<String>,
    pub(crate) dry_run: bool,
    /// What changes, as a unified diff.
    pub(crate) diff: String,
}

/// Installs Snell.
pub(crate) fn install(target: &Target, request: &Request) -> anyhow::Result<Installation> {
    let work = Work::prepare(target, request)?;
    let mut done = work.outlook()?;
    if done.changed && !request.dry_run {
        work.carry_out(&mut done)?;
    }
    Ok(done)
}

/// Everything that has to be known before anything is written.
struct Work<'a> {
    target: &'a Target,
    request: &'a Request,
    wanted: Wanted,
    command: String,
    installed: Installed,
    known: Option<Remembered>,
    seen: Seen,
    plan: Plan,
    script: Script,
    /// What becomes of the script, if the file does not call it any more.
    fate: Fate,
}

impl<'a> Work<'a> {
    fn prepare(target: &'a Target, request: &'a Request) -> anyhow::Result<Self> {
        let program = program::registrable(&target.program)?.to_owned();
        let script = Script::of(target, &program, request.url.as_deref());
        let command = match request.way {
            Way::Hook => program.clone(),
            Way::Notify => script.path_text()?.to_owned(),
        };
        if request.way == Way::Notify && !request.force && script.is_somebody_elses() {
            let shown = script.path().display();
            bail!(
                "{shown} is not Snell's, so it is left as it is; move it away, or say --force to have it replaced, and put \
                 back by `snell uninstall`"
            );
        }
        // What is only looked at needs no lock, and leaves no trace.
        let installed = if request.dry_run {
            Installed::look(&target.data)
        } else {
            Installed::open(&target.data)?
        };
        let leaves_script = request.way == Way::Hook && target.way_in(&target.path()) == Some(Way::Notify);
        let fate = if leaves_script {
            script.fate(target, &installed)?
        } else {
            Fate::default()
        };
        let (now, then) = match request.way {
            // A script that is taken over takes along whoever calls it.
            Way::Notify => (script.signs_when_written(target), script.signs_when_written(target)),
            Way::Hook => (target.signs(), script.signs_after(&fate, target, &installed)),
        };
        let wanted = Wanted {
            way: request.way,
            entries: Entry::all(target.agent, request.way, &command),
            signs: then,
        };
        let known = installed.of(&target.path());
        let seen = Seen::look(&target.path())?;
        let current = seen.text.as_deref();
        let plan = plan::install(current, &before(known.as_ref(), current), &now, &wanted);
        Ok(Self {
            plan: plan.map_err(|fault| faulty(&seen, &fault))?,
            target,
            request,
            wanted,
            command,
            installed,
            known,
            seen,
            script,
            fate,
        })
    }

    fn changes_file(&self) -> bool {
        self.seen.text.as_ref() != Some(&self.plan.after)
    }

    fn changes_script(&self) -> bool {
        self.request.way == Way::Notify && self.script.is_to_be_written()
    }

    /// What will have been done.
    fn outlook(&self) -> anyhow::Result<Installation> {
        let current = self.seen.text.as_deref();
        let mut diff = difference(&self.seen.path, current, Some(&self.plan.after));
        if self.changes_script() {
            diff.push_str(&self.script.difference());
        }
        let changed = self.changes_file() || self.changes_script();
        let mut warnings = self.warnings(changed)?;
        warnings.extend(self.fate.kept_because.clone());
        Ok(Installation {
            agent: self.target.agent.name,
            way: self.request.way,
            file: self.seen.path.clone(),
            command: self.command.clone(),
            events: self.wanted.entries.iter().map(|entry| entry.event).collect(),
            changed,
            created: !self.seen.exists(),
            backup: None,
            script: self.changes_script().then(|| self.script.path().to_owned()),
            removed_script: self.fate.removed.clone(),
            restored_script: self.fate.restored.clone(),
            warnings,
            dry_run: self.request.dry_run,
            diff,
        })
    }

    fn carry_out(&self, done: &mut Installation) -> anyhow::Result<()> {
        // The script may lie in a directory that is made for both.
        let made = self.seen.missing_directories();
        let written = self
            .changes_script()
            .then(|| self.script.write(&self.installed))
            .transpose()?;
        if self.changes_file() {
            match self.write(made) {
                Ok(backup) => done.backup = backup,
                Err(error) => {
                    written
                        .into_iter()
                        .for_each(|written| self.script.take_back(&self.installed, &written));
                    return Err(error);
                }
            }
        }
        if self.fate.is_decided() {
            self.script.put_back(&self.installed)?;
        }
        Ok(())
    }

    /// Whether a copy of the file is to be kept: not of one that holds something of ours.
    fn is_worth_a_copy(&self) -> bool {
        self.changes_file() && !self.plan.was_ours
    }

    /// Writes the file, having remembered first how to undo it. Answers where a copy of it was made.
    fn write(&self, made: Vec<PathBuf>) -> anyhow::Result<Option<PathBuf>> {
        let backup = if self.is_worth_a_copy() {
            self.seen.back_up()?
        } else {
            None
        };
        let mut remembered = Remembered::new(&self.seen.path, self.plan.before.clone(), &self.plan.after);
        remembered.way = Some(self.request.way);
        remembered.scope = Some(self.target.scope);
        remembered.containers.clone_from(&self.plan.containers);
        remembered.backup.clone_from(&backup);
        remembered.made = made;
        let access = match self.target.scope {
            // Whoever shares a project reads its files.
            Scope::Project => Access::Usual,
            Scope::User | Scope::Local | Scope::Managed => Access::Private,
        };
        let written = self
            .installed
            .remember(&remembered.after(self.known.as_ref()))
            .and_then(|()| self.seen.replace(&self.plan.after, access));
        if let Err(error) = written {
            // Why the file could not be written is what people are told; the rest is only tidying up.
            self.installed.put_back(&self.seen.path, self.known.as_ref());
            if let Some(backup) = backup {
                let _ = std::fs::remove_file(backup);
            }
            return Err(error);
        }
        Ok(backup)
    }

    /// What people should know. Installed in two files at once, every event would be told twice.
    fn warnings(&self, changed: bool) -> anyhow::Result<Vec<String>> {
        let mut warnings = Vec::new();
        let told_twice = self.target.elsewhere(&self.installed).into_iter().map(|other| {
            let (path, way, undo) = (other.path.display(), other.way.title(), other.undo);
            format!("{path} calls {way} too, so events may be told twice; to end that: {undo}")
        });
        let told_twice: Vec<_> = told_twice.collect();
        if changed && !self.request.force && !told_twice.is_empty() {
            bail!("{}; or say --force to install it here as well", told_twice.join("; "));
        }
        warnings.extend(told_twice);
        if let Some(why) = program::fleeting(&self.target.program) {
            warnings.push(format!("{} {why}", self.target.program.display()));
        }
        if self.changes_file() && self.seen.has_other_names() {
            let shown = self.seen.path.display();
            warnings.push(format!(
                "{shown} has other names (hard links), and is replaced only under this one"
            ));
        }
        if let Some(other) = self.seen.in_place_of_copy().filter(|_| self.is_worth_a_copy()) {
            let shown = other.display();
            warnings.push(format!(
                "{shown} is there already, and stays; no copy of the file as it was is kept"
            ));
        }
        Ok(warnings)
    }
}
