//! Removes Snell from an agent's settings.

use std::path::PathBuf;

use anyhow::Context;
use serde::Serialize;
use snell::UserMessage;

use super::script_file::{NotifyScript, ScriptFate};
use super::{ChangeMode, InstallTarget, fault_to_error, unified_diff};
use crate::install::agents::SettingsScope;
use crate::install::atomic_file::{self, FileModePolicy, FileSnapshot};
use crate::install::backup::{InstallLog, InstallRecord, determine_prior_content};
use crate::install::handler::InstallMode;
use crate::install::plan::{self, PriorContent};
use crate::install::profile::ProfileReport;
use crate::install::scan;

/// The changes.
#[derive(Debug, Default, Serialize)]
pub(crate) struct UninstallReport {
    pub(crate) agent: &'static str,
    pub(crate) file: PathBuf,
    /// Further files, if the agent has one for each event.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) more_files: Vec<PathBuf>,
    pub(crate) changed: bool,
    /// Whether the file is exactly as before Snell; not if it was changed since.
    pub(crate) restored: bool,
    /// Whether the file was removed, because it did not exist before.
    pub(crate) removed: bool,
    /// The script that was removed.
    pub(crate) script: Option<PathBuf>,
    /// The script that was restored.
    pub(crate) restored_script: Option<PathBuf>,
    pub(crate) warnings: Vec<String>,
    pub(crate) dry_run: bool,
    /// The change as a unified diff.
    pub(crate) diff: String,
    /// The change of the user's own `snell.toml`, if the installation wrote a profile there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) profile: Option<ProfileReport>,
}

impl UninstallReport {
    /// Adds the changes of another file of the same agent.
    fn merge(mut self, other: Self) -> Self {
        self.restored &= other.restored || !other.changed;
        self.removed |= other.removed;
        self.changed |= other.changed;
        self.more_files.push(other.file);
        let new = other.warnings.into_iter().filter(|warning| !self.warnings.contains(warning));
        self.warnings.extend(new.collect::<Vec<_>>());
        self.diff.push_str(&other.diff);
        self
    }
}

/// Removes Snell from all these files of an agent.
pub(crate) fn uninstall_snell(targets: &[InstallTarget], mode: ChangeMode) -> anyhow::Result<UninstallReport> {
    let mut reports = Vec::new();
    let mut made = Vec::new();
    for target in targets {
        let (report, directories) = uninstall_from_file(target, mode)?;
        reports.push(report);
        made.extend(directories);
    }
    if let Some(target) = targets.first().filter(|_| !made.is_empty()) {
        // Another file may have been the last one in them.
        atomic_file::remove_directories(&made);
        InstallLog::open(&target.data)?.pass_on_directories(&made);
    }
    reports.into_iter().reduce(UninstallReport::merge).context("the agent has no file in this scope")
}

/// Removes Snell from a file. Returns the directories that were created for it too.
fn uninstall_from_file(target: &InstallTarget, mode: ChangeMode) -> anyhow::Result<(UninstallReport, Vec<PathBuf>)> {
    let dry_run = mode == ChangeMode::DryRun;
    let mut done = UninstallReport {
        agent: target.agent.name,
        file: target.settings_path(),
        dry_run,
        ..UninstallReport::default()
    };
    // If there is nothing to remove, no files are created.
    let looked = UninstallJob::prepare(target, InstallLog::open_read_only(&target.data))?;
    if !looked.has_work() {
        done.warnings = format_other_installations(target, &looked.installed);
        return Ok((done, Vec::new()));
    }
    if dry_run {
        looked.fill_report(&mut done)?;
        return Ok((done, Vec::new()));
    }
    let work = UninstallJob::prepare(target, InstallLog::open(&target.data)?)?;
    work.fill_report(&mut done)?;
    work.execute(&mut done)?;
    Ok((done, work.known.map(|known| known.made).unwrap_or_default()))
}

/// Everything that must be known before the first write.
struct UninstallJob<'a> {
    target: &'a InstallTarget,
    installed: InstallLog,
    known: Option<InstallRecord>,
    seen: FileSnapshot,
    /// Whether the file is unchanged since the installation.
    is_as_left: bool,
    /// The new text; nothing if the file is removed.
    text: Option<String>,
    script: NotifyScript,
    fate: ScriptFate,
}

impl<'a> UninstallJob<'a> {
    fn prepare(target: &'a InstallTarget, installed: InstallLog) -> anyhow::Result<Self> {
        let path = target.settings_path();
        let seen = FileSnapshot::load(&path)?;
        let fault = |fault| fault_to_error(&seen, &fault);
        let current = seen.text.as_deref().unwrap_or_default();
        let own = scan::find_own_in_text(current, &target.file.events, &target.recognizer()).map_err(fault)?;
        let known = installed.find_record(&path);
        let mut was = determine_prior_content(known.as_ref(), seen.text.as_deref());
        if matches!(was, PriorContent::Known(None)) && seen.is_link() {
            // Snell created the file, and its owner replaced it by a symlink since.
            was = PriorContent::Unknown;
        }
        let is_as_left = matches!(was, PriorContent::Known(_));
        let text = if own.is_empty() && !is_as_left {
            seen.text.clone()
        } else {
            let text = plan::plan_uninstall(current, &was, &target.recognizer()).map_err(fault)?;
            let was_made = known.as_ref().is_some_and(|known| known.before.is_none()) && !seen.is_link();
            text.filter(|text| !(was_made && text.trim().is_empty()))
        };
        let script = NotifyScript::for_target(target, &target.program.to_string_lossy(), None);
        let has_called_it = own.iter().any(|handler| handler.way == Some(InstallMode::Notify))
            || known.as_ref().is_some_and(|known| known.way == Some(InstallMode::Notify));
        // A script without callers is removed with the user's installation.
        let is_left_over = target.file.scope == SettingsScope::User && script.is_unmodified();
        let fate =
            if has_called_it || is_left_over { script.decide_fate(target, &installed)? } else { ScriptFate::default() };
        Ok(Self { target, installed, known, is_as_left, text, seen, script, fate })
    }

    fn changes_file(&self) -> bool {
        self.text != self.seen.text
    }

    fn has_work(&self) -> bool {
        self.changes_file() || self.known.is_some() || self.fate.is_decided()
    }

    /// Fills in the report.
    fn fill_report(&self, done: &mut UninstallReport) -> anyhow::Result<()> {
        done.changed = true;
        done.restored = self.is_as_left;
        done.removed = self.changes_file() && self.text.is_none();
        done.diff = unified_diff(&self.seen.path, self.seen.text.as_deref(), self.text.as_deref());
        done.script.clone_from(&self.fate.removed);
        done.restored_script.clone_from(&self.fate.restored);
        done.warnings.extend(self.fate.keep_reason.clone());
        if self.is_as_left && self.has_older_entries()? {
            let message = UserMessage::new("the restored file contains entries of an earlier installation of Snell");
            done.warnings.push(message.with_hint("to remove them too, run this again").to_string());
        }
        Ok(())
    }

    /// Whether earlier entries of Snell are restored.
    fn has_older_entries(&self) -> anyhow::Result<bool> {
        let signs = self.script.recognizer_after(&self.fate, self.target, &self.installed);
        let text = self.text.as_deref().unwrap_or_default();
        let own = scan::find_own_in_text(text, &self.target.file.events, &signs);
        Ok(!own.map_err(|fault| fault_to_error(&self.seen, &fault))?.is_empty())
    }

    fn execute(&self, done: &mut UninstallReport) -> anyhow::Result<()> {
        match &self.text {
            _ if !self.changes_file() => {}
            Some(text) => self.seen.replace(text, FileModePolicy::Private)?,
            None => self.seen.remove()?,
        }
        if let Some(known) = &self.known {
            // If the user removed the file, its backup is not needed.
            let is_gone = !self.seen.exists();
            clean_up_backup(known, self.text.as_deref(), is_gone, done);
        }
        self.installed.delete_record(&self.seen.path);
        if self.fate.is_decided() {
            self.script.restore_original(&self.installed)?;
        }
        Ok(())
    }
}

/// Removes a backup that equals the file, or whose file the user removed.
fn clean_up_backup(known: &InstallRecord, text: Option<&str>, is_gone: bool, done: &mut UninstallReport) {
    let Some(backup) = &known.backup else {
        return;
    };
    match atomic_file::read_text(backup) {
        Some(copy) if is_gone || Some(copy.as_str()) == text => {
            if let Err(error) = std::fs::remove_file(backup) {
                done.warnings.push(format!("cannot remove {}: {error}", backup.display()));
            }
        }
        Some(_) => {
            let shown = backup.display();
            done.warnings.push(format!("the original file is still in {shown}"));
        }
        None => {}
    }
}

fn format_other_installations(target: &InstallTarget, installed: &InstallLog) -> Vec<String> {
    let found = target.find_other_installations(installed).into_iter().map(|other| {
        let (path, undo) = (other.path.display(), other.undo);
        UserMessage::new(format!("{path} still calls Snell"))
            .with_hint(format!("to remove it there: {undo}"))
            .to_string()
    });
    found.collect()
}
