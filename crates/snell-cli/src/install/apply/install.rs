//! Installs Snell in an agent's settings.

use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::Serialize;
use snell::{RegistrationFormat, UserMessage};

use super::script_file::{NotifyScript, ScriptFate};
use super::{InstallTarget, fault_to_error, unified_diff};
use crate::install::agents::SettingsScope;
use crate::install::atomic_file::{FileModePolicy, FileSnapshot};
use crate::install::backup::{InstallLog, InstallRecord, determine_prior_content};
use crate::install::exe_path;
use crate::install::handler::{HandlerEntry, InstallMode};
use crate::install::plan::{self, DesiredRegistration, InstallPlan};
use crate::install::profile::ProfileReport;
use crate::output::CommandError;

/// A request to install.
#[derive(Debug)]
pub(crate) struct InstallRequest {
    pub(crate) way: InstallMode,
    /// The receiver of the script, if one was given.
    pub(crate) url: Option<String>,
    /// Whether to install even if it is installed elsewhere.
    pub(crate) force: bool,
    /// Whether to write nothing.
    pub(crate) dry_run: bool,
}

/// The changes.
#[derive(Debug, Serialize)]
pub(crate) struct InstallReport {
    pub(crate) agent: &'static str,
    pub(crate) way: InstallMode,
    pub(crate) file: PathBuf,
    /// Further files, if the agent has one for each event.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) more_files: Vec<PathBuf>,
    /// The registered program or script.
    pub(crate) command: String,
    pub(crate) events: Vec<&'static str>,
    pub(crate) changed: bool,
    /// Whether the file is new.
    pub(crate) created: bool,
    /// Its backup.
    pub(crate) backup: Option<PathBuf>,
    /// The script that was written.
    pub(crate) script: Option<PathBuf>,
    /// The script that was removed.
    pub(crate) removed_script: Option<PathBuf>,
    /// The script that was restored.
    pub(crate) restored_script: Option<PathBuf>,
    pub(crate) warnings: Vec<String>,
    /// Notes for the user.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) notes: Vec<&'static str>,
    pub(crate) dry_run: bool,
    /// The change as a unified diff.
    pub(crate) diff: String,
    /// The change of the user's own `snell.toml`, if a profile was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) profile: Option<ProfileReport>,
}

impl InstallReport {
    /// Adds the changes of another file of the same agent.
    fn merge(mut self, other: Self) -> Self {
        self.events.extend(other.events);
        self.changed |= other.changed;
        self.created |= other.created;
        self.more_files.push(other.file);
        self.backup = self.backup.or(other.backup);
        let new = other.warnings.into_iter().filter(|warning| !self.warnings.contains(warning));
        self.warnings.extend(new.collect::<Vec<_>>());
        self.diff.push_str(&other.diff);
        self
    }
}

/// Installs Snell in all these files of an agent, or in none.
pub(crate) fn install_snell(targets: &[InstallTarget], request: &InstallRequest) -> anyhow::Result<InstallReport> {
    let data = targets.first().map(|target| target.data.clone()).unwrap_or_default();
    // A dry run needs no lock, and creates no files.
    let installed = if request.dry_run { InstallLog::open_read_only(&data) } else { InstallLog::open(&data)? };
    let jobs = targets.iter().map(|target| InstallJob::prepare(target, request, &installed));
    let jobs = jobs.collect::<anyhow::Result<Vec<_>>>()?;
    let mut reports = jobs.iter().map(InstallJob::preview_report).collect::<anyhow::Result<Vec<_>>>()?;
    for (index, job) in jobs.iter().enumerate() {
        if !reports[index].changed || request.dry_run {
            continue;
        }
        if let Err(error) = job.execute(&mut reports[index]) {
            jobs[..index].iter().for_each(InstallJob::roll_back);
            return Err(error);
        }
    }
    reports.into_iter().reduce(InstallReport::merge).context("the agent has no file in this scope")
}

/// Everything that must be known before the first write.
struct InstallJob<'a> {
    target: &'a InstallTarget,
    request: &'a InstallRequest,
    wanted: DesiredRegistration,
    command: String,
    installed: &'a InstallLog,
    known: Option<InstallRecord>,
    seen: FileSnapshot,
    plan: InstallPlan,
    script: NotifyScript,
    /// The script's fate, if the file does not call it any more.
    fate: ScriptFate,
}

impl<'a> InstallJob<'a> {
    fn prepare(
        target: &'a InstallTarget,
        request: &'a InstallRequest,
        installed: &'a InstallLog,
    ) -> anyhow::Result<Self> {
        let program = exe_path::check_registrable(&target.program)?.to_owned();
        let script = NotifyScript::for_target(target, &program, request.url.as_deref());
        let command = match request.way {
            InstallMode::Hook => program.clone(),
            InstallMode::Notify => script.path_text()?.to_owned(),
        };
        if request.way == InstallMode::Notify && !request.force && script.is_foreign() {
            let shown = script.path().display();
            let hint = "move it away, or pass --force to replace it; `snell uninstall` restores it";
            return Err(CommandError::new(format!("{shown} was not written by Snell")).with_hint(hint).into());
        }
        let leaves_script = request.way == InstallMode::Hook
            && target.installed_mode(&target.settings_path()) == Some(InstallMode::Notify);
        let fate = if leaves_script { script.decide_fate(target, installed)? } else { ScriptFate::default() };
        let (now, then) = match request.way {
            // If a script is replaced, its callers call Snell.
            InstallMode::Notify => (script.recognizer_when_written(target), script.recognizer_when_written(target)),
            InstallMode::Hook => (target.recognizer(), script.recognizer_after(&fate, target, installed)),
        };
        let wanted = DesiredRegistration {
            way: request.way,
            entries: HandlerEntry::for_events(target.agent, &target.file.events, request.way, &command),
            recognizer: then,
        };
        let known = installed.find_record(&target.settings_path());
        let seen = FileSnapshot::load(&target.settings_path())?;
        let current = seen.text.as_deref();
        let plan = plan::plan_install(current, &determine_prior_content(known.as_ref(), current), &now, &wanted);
        Ok(Self {
            plan: plan.map_err(|fault| fault_to_error(&seen, &fault))?,
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
        self.request.way == InstallMode::Notify && self.script.needs_write()
    }

    /// The report before the changes.
    fn preview_report(&self) -> anyhow::Result<InstallReport> {
        let current = self.seen.text.as_deref();
        let mut diff = unified_diff(&self.seen.path, current, Some(&self.plan.after));
        if self.changes_script() {
            diff.push_str(&self.script.diff_with_current());
        }
        let changed = self.changes_file() || self.changes_script();
        let mut warnings = self.collect_warnings(changed)?;
        warnings.extend(self.fate.keep_reason.clone());
        Ok(InstallReport {
            agent: self.target.agent.name,
            way: self.request.way,
            file: self.seen.path.clone(),
            more_files: Vec::new(),
            command: self.command.clone(),
            events: self.wanted.entries.iter().map(|entry| entry.event).collect(),
            changed,
            created: !self.seen.exists(),
            backup: None,
            script: self.changes_script().then(|| self.script.path().to_owned()),
            removed_script: self.fate.removed.clone(),
            restored_script: self.fate.restored.clone(),
            warnings,
            notes: self.target.agent.notes_in_scope(self.target.file.scope),
            dry_run: self.request.dry_run,
            diff,
            profile: None,
        })
    }

    fn execute(&self, done: &mut InstallReport) -> anyhow::Result<()> {
        // The script may be in a directory that is created for both.
        let made = self.seen.missing_directories();
        let written = self.changes_script().then(|| self.script.write(self.installed)).transpose()?;
        if self.changes_file() {
            match self.write_settings(made) {
                Ok(backup) => done.backup = backup,
                Err(error) => {
                    written.into_iter().for_each(|written| self.script.roll_back(self.installed, &written));
                    return Err(error);
                }
            }
        }
        if self.fate.is_decided() {
            self.script.restore_original(self.installed)?;
        }
        Ok(())
    }

    /// Undoes [`InstallJob::execute`], because another file of the agent failed.
    fn roll_back(&self) {
        // Cleanup: the user gets the error of the failed write.
        let Ok(written) = FileSnapshot::load(&self.seen.path) else {
            return;
        };
        let _ = match &self.seen.text {
            Some(text) => written.replace(text, FileModePolicy::Private),
            None => written.remove(),
        };
        self.installed.restore_record(&self.seen.path, self.known.as_ref());
    }

    /// Whether to keep a backup: not of a file that contains entries of Snell.
    fn needs_backup(&self) -> bool {
        self.changes_file() && !self.plan.was_ours
    }

    /// Writes the file after its record. Returns the path of the backup.
    fn write_settings(&self, made: Vec<PathBuf>) -> anyhow::Result<Option<PathBuf>> {
        let backup = if self.needs_backup() { self.seen.back_up()? } else { None };
        let mut remembered = InstallRecord::new(&self.seen.path, self.plan.before.clone(), &self.plan.after);
        remembered.agent = Some(self.target.agent.name.to_owned());
        remembered.way = Some(self.request.way);
        remembered.scope = Some(self.target.file.scope);
        remembered.containers.clone_from(&self.plan.containers);
        remembered.backup.clone_from(&backup);
        remembered.made = made;
        let is_script = matches!(self.target.agent.format, RegistrationFormat::OwnFile(text) if text.starts_with("#!"));
        let access = match self.target.file.scope {
            _ if is_script => FileModePolicy::Program,
            // The other users of a project read its files.
            SettingsScope::Project => FileModePolicy::Usual,
            SettingsScope::User | SettingsScope::Local | SettingsScope::Managed => FileModePolicy::Private,
        };
        let written = self
            .installed
            .save_record(&remembered.inherit_from(self.known.as_ref()))
            .and_then(|()| self.seen.replace(&self.plan.after, access));
        if let Err(error) = written {
            // Cleanup: the user gets the error of the write.
            self.installed.restore_record(&self.seen.path, self.known.as_ref());
            if let Some(backup) = backup {
                let _ = std::fs::remove_file(backup);
            }
            return Err(error);
        }
        Ok(backup)
    }

    /// The warnings. If two files call Snell, every event would be recorded twice.
    fn collect_warnings(&self, changed: bool) -> anyhow::Result<Vec<String>> {
        let mut warnings = Vec::new();
        let others = self.target.find_other_installations(self.installed);
        let problem = |path: &Path, way: InstallMode| {
            format!("{} calls {} too, so events may be recorded twice", path.display(), way.title())
        };
        if changed && !self.request.force && !others.is_empty() {
            let problems: Vec<_> = others.iter().map(|other| problem(&other.path, other.way)).collect();
            let undo: Vec<_> = others.into_iter().map(|other| other.undo).collect();
            let hint = format!("remove it there ({}), or pass --force", undo.join("; "));
            return Err(CommandError::new(problems.join("; ")).with_hint(hint).into());
        }
        warnings.extend(others.into_iter().map(|other| {
            let hint = format!("to remove it there: {}", other.undo);
            UserMessage::new(problem(&other.path, other.way)).with_hint(hint).to_string()
        }));
        if let Some(why) = exe_path::explain_unstable_path(&self.target.program) {
            let message = UserMessage::new(format!("{} {why}", self.target.program.display()));
            warnings.push(message.with_hint(exe_path::UNSTABLE_PATH_HINT).to_string());
        }
        if self.changes_file() && self.seen.link_count > 1 {
            let shown = self.seen.path.display();
            warnings.push(format!("{shown} has other hard links, which keep the old content"));
        }
        if let Some(other) = self.seen.find_backup_conflict().filter(|_| self.needs_backup()) {
            let shown = other.display();
            warnings.push(format!("{shown} already exists, so Snell makes no backup"));
        }
        Ok(warnings)
    }
}
