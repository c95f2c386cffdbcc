//! Taking Snell out of an agent's settings.

use std::path::PathBuf;

use serde::Serialize;

use super::forwarding::{Fate, Script};
use super::{Target, difference, faulty};
use crate::install::agents::Scope;
use crate::install::disk::{self, Access, Seen};
use crate::install::document::Document;
use crate::install::entry::Way;
use crate::install::plan::{self, Before};
use crate::install::remembered::{Installed, Remembered, before};
use crate::install::survey;

/// What was undone, or would be.
#[derive(Debug, Serialize)]
pub(crate) struct Removal {
    pub(crate) agent: &'static str,
    pub(crate) file: PathBuf,
    pub(crate) changed: bool,
    /// Whether the file says again, to the last byte, what it said before; not if somebody has changed it since.
    pub(crate) restored: bool,
    /// Whether the file is gone, because it was not there before.
    pub(crate) removed: bool,
    /// The script that was removed.
    pub(crate) script: Option<PathBuf>,
    /// The script that is again what it was before Snell.
    pub(crate) restored_script: Option<PathBuf>,
    pub(crate) warnings: Vec<String>,
    pub(crate) dry_run: bool,
    /// What changes, as a unified diff.
    pub(crate) diff: String,
}

/// Removes Snell.
pub(crate) fn uninstall(target: &Target, dry_run: bool) -> anyhow::Result<Removal> {
    let mut done = Removal {
        agent: target.agent.name,
        file: target.path(),
        changed: false,
        restored: false,
        removed: false,
        script: None,
        restored_script: None,
        warnings: Vec::new(),
        dry_run,
        diff: String::new(),
    };
    // Where nothing is to be done, nothing is made for the sake of looking.
    let looked = Work::prepare(target, Installed::look(&target.data))?;
    if !looked.has_something_to_do() {
        done.warnings = elsewhere(target, &looked.installed);
        return Ok(done);
    }
    if dry_run {
        looked.tell(&mut done)?;
        return Ok(done);
    }
    let work = Work::prepare(target, Installed::open(&target.data)?)?;
    work.tell(&mut done)?;
    work.carry_out(&mut done)?;
    Ok(done)
}

/// Everything that has to be known before anything is written.
struct Work<'a> {
    target: &'a Target,
    installed: Installed,
    known: Option<Remembered>,
    seen: Seen,
    /// Whether nobody has changed the file since Snell came.
    is_as_left: bool,
    /// What the file is to say; nothing if it is not to be there.
    text: Option<String>,
    script: Script,
    fate: Fate,
}

impl<'a> Work<'a> {
    fn prepare(target: &'a Target, installed: Installed) -> anyhow::Result<Self> {
        let path = target.path();
        let seen = Seen::look(&path)?;
        let fault = |fault| faulty(&seen, &fault);
        let document = Document::parse(seen.text.as_deref().unwrap_or_default()).map_err(fault)?;
        let own = survey::own(&document, &target.signs());
        let known = installed.of(&path);
        let mut was = before(known.as_ref(), seen.text.as_deref());
        if matches!(was, Before::Known(None)) && seen.is_link() {
            // It was made by Snell, and its owner has moved it elsewhere since: it is his now.
            was = Before::Unknown;
        }
        let is_as_left = matches!(was, Before::Known(_));
        let text = if own.is_empty() && !is_as_left {
            seen.text.clone()
        } else {
            let text = plan::uninstall(&document, &was, &target.signs()).map_err(fault)?;
            let was_made = known.as_ref().is_some_and(|known| known.before.is_none()) && !seen.is_link();
            text.filter(|text| !(was_made && text.trim().is_empty()))
        };
        let script = Script::of(target, &target.program.to_string_lossy(), None);
        let has_called_it = own.iter().any(|handler| handler.way == Some(Way::Notify))
            || known.as_ref().is_some_and(|known| known.way == Some(Way::Notify));
        // One that nobody calls any more is the user's to have removed.
        let is_left_over = target.scope == Scope::User && script.is_untouched();
        let fate = if has_called_it || is_left_over {
            script.fate(target, &installed)?
        } else {
            Fate::default()
        };
        Ok(Self {
            target,
            installed,
            known,
            is_as_left,
            text,
            seen,
            script,
            fate,
        })
    }

    fn changes_file(&self) -> bool {
        self.text != self.seen.text
    }

    fn has_something_to_do(&self) -> bool {
        self.changes_file() || self.known.is_some() || self.fate.is_decided()
    }

    /// Says what will have been done.
    fn tell(&self, done: &mut Removal) -> anyhow::Result<()> {
        done.changed = true;
        done.restored = self.is_as_left;
        done.removed = self.changes_file() && self.text.is_none();
        done.diff = difference(&self.seen.path, self.seen.text.as_deref(), self.text.as_deref());
        done.script.clone_from(&self.fate.removed);
        done.restored_script.clone_from(&self.fate.restored);
        done.warnings.extend(self.fate.kept_because.clone());
        if self.is_as_left && self.has_older_entries()? {
            done.warnings.push(
                "entries of Snell that were there before are there again; to take them out, too, run this again".into(),
            );
        }
        Ok(())
    }

    /// Whether entries of ours come back that were there before.
    fn has_older_entries(&self) -> anyhow::Result<bool> {
        let signs = self.script.signs_after(&self.fate, self.target, &self.installed);
        let text = self.text.as_deref().unwrap_or_default();
        let document = Document::parse(text).map_err(|fault| faulty(&self.seen, &fault))?;
        Ok(!survey::own(&document, &signs).is_empty())
    }

    fn carry_out(&self, done: &mut Removal) -> anyhow::Result<()> {
        match &self.text {
            _ if !self.changes_file() => {}
            Some(text) => self.seen.replace(text, Access::Private)?,
            None => self.seen.remove()?,
        }
        if let Some(known) = &self.known {
            // Whoever has removed the file himself has no use for a copy of it.
            let is_gone = !self.seen.exists();
            tidy_up(known, self.text.as_deref(), is_gone, done);
        }
        self.installed.forget(&self.seen.path);
        if self.fate.is_decided() {
            self.script.put_back(&self.installed)?;
        }
        if let Some(known) = &self.known {
            // The script may have been the last thing in them.
            disk::remove_directories(&known.made);
        }
        Ok(())
    }
}

/// A copy that says nothing else than the file itself is not needed any more, nor is one of a file that its owner has
/// removed.
fn tidy_up(known: &Remembered, text: Option<&str>, is_gone: bool, done: &mut Removal) {
    let Some(backup) = &known.backup else {
        return;
    };
    match disk::read_text(backup) {
        Some(copy) if is_gone || Some(copy.as_str()) == text => {
            if let Err(error) = std::fs::remove_file(backup) {
                done.warnings.push(format!("{} stays: {error}", backup.display()));
            }
        }
        Some(_) => {
            let shown = backup.display();
            done.warnings
                .push(format!("the file as it was before Snell is still in {shown}"));
        }
        None => {}
    }
}

fn elsewhere(target: &Target, installed: &Installed) -> Vec<String> {
    let found = target.elsewhere(installed).into_iter().map(|other| {
        let (path, undo) = (other.path.display(), other.undo);
        format!("Snell is installed in {path}; to remove it there: {undo}")
    });
    found.collect()
}
