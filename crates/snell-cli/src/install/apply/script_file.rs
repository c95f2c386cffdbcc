//! The notify script on disk.

use std::path::{Path, PathBuf};

use anyhow::Context;

use super::{InstallTarget, unified_diff};
use crate::install::atomic_file::{self, FileModePolicy, FileSnapshot};
use crate::install::backup::{InstallLog, InstallRecord};
use crate::install::exe_path;
use crate::install::handler::InstallMode;
use crate::install::notify_script;
use crate::install::recognize::EntryRecognizer;
use crate::output::CommandError;

/// The current and the wanted script.
#[derive(Debug)]
pub(super) struct NotifyScript {
    path: PathBuf,
    text: String,
}

/// The state before a script was written.
#[derive(Debug)]
pub(super) struct ScriptRollback {
    was: InstallRecord,
    known: Option<InstallRecord>,
}

/// The fate of the script.
#[derive(Debug, Default)]
pub(super) struct ScriptFate {
    pub(super) removed: Option<PathBuf>,
    /// The script of another author is restored.
    pub(super) restored: Option<PathBuf>,
    pub(super) keep_reason: Option<String>,
}

impl ScriptFate {
    pub(super) fn is_decided(&self) -> bool {
        self.removed.is_some() || self.restored.is_some()
    }
}

impl NotifyScript {
    /// The script for this receiver; without one, for the receiver of the current script.
    pub(super) fn for_target(target: &InstallTarget, program: &str, url: Option<&str>) -> Self {
        let own_path = target.agent.script_path(&target.dirs);
        let url = url.map(str::to_owned).or_else(|| read_receiver_url(&own_path));
        let path = std::env::var_os("PATH").unwrap_or_default();
        let curl = std::env::split_paths(&path)
            .map(|directory| directory.join("curl"))
            .find(|curl| exe_path::is_runnable(curl));
        Self { text: notify_script::render_script(program, curl.as_deref(), url.as_deref()), path: own_path }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The path to register.
    pub(super) fn path_text(&self) -> anyhow::Result<&str> {
        let shown = self.path.display();
        self.path.to_str().with_context(|| format!("{shown} is not UTF-8, and settings files must be UTF-8"))
    }

    pub(super) fn needs_write(&self) -> bool {
        let is_right = atomic_file::read_text(&self.path).is_some_and(|text| text == self.text);
        !is_right || !exe_path::is_runnable(&self.path)
    }

    pub(super) fn diff_with_current(&self) -> String {
        let current = atomic_file::read_text(&self.path);
        unified_diff(&self.path, current.as_deref(), Some(&self.text))
    }

    /// Whether another author wrote the current script.
    pub(super) fn is_foreign(&self) -> bool {
        atomic_file::read_script_head(&self.path).is_some_and(|text| !notify_script::is_own_script(&text))
    }

    /// Whether the current script is as this version of Snell wrote it.
    pub(super) fn is_unmodified(&self) -> bool {
        atomic_file::read_text(&self.path).is_some_and(|text| notify_script::is_unmodified_script(&text))
    }

    /// Recognizes entries after this fate of the script.
    pub(super) fn recognizer_after(
        &self,
        fate: &ScriptFate,
        target: &InstallTarget,
        installed: &InstallLog,
    ) -> EntryRecognizer {
        let restored = fate.restored.as_ref().and_then(|path| installed.find_record(path)?.before);
        restored.into_iter().fold(target.recognizer(), |signs, text| signs.with_script_text(&text))
    }

    /// Recognizes entries after the script is written.
    pub(super) fn recognizer_when_written(&self, target: &InstallTarget) -> EntryRecognizer {
        target.recognizer().with_script_text(&self.text)
    }

    /// Writes the script after its record.
    pub(super) fn write(&self, installed: &InstallLog) -> anyhow::Result<ScriptRollback> {
        let seen = FileSnapshot::load(&self.path)?;
        let known = installed.find_record(&self.path);
        let (before, mode) = match &known {
            Some(known) if known.matches_written(seen.text.as_deref()) => (known.before.clone(), known.mode_before),
            _ if seen.text.as_deref().is_some_and(notify_script::is_unmodified_script) => (None, None),
            _ => (seen.text.clone(), seen.mode()),
        };
        let mut remembered = InstallRecord::new(&self.path, before, &self.text);
        remembered.mode_before = mode;
        remembered.made = seen.missing_directories();
        let mut was = InstallRecord::new(&self.path, seen.text.clone(), &self.text);
        was.mode_before = seen.mode();
        was.made.clone_from(&remembered.made);
        let replaced = ScriptRollback { was, known };
        installed.save_record(&remembered.inherit_from(replaced.known.as_ref()))?;
        if let Err(error) = seen.replace(&self.text, FileModePolicy::Program) {
            installed.restore_record(&self.path, replaced.known.as_ref());
            return Err(error);
        }
        if !exe_path::is_runnable(&self.path) {
            self.roll_back(installed, &replaced);
            let shown = self.path.display();
            let problem = format!("{shown} cannot be run, so Snell does not register it");
            return Err(CommandError::new(problem).with_hint("check whether its disk is mounted with noexec").into());
        }
        Ok(replaced)
    }

    /// Undoes [`NotifyScript::write`] after a failure.
    pub(super) fn roll_back(&self, installed: &InstallLog, replaced: &ScriptRollback) {
        // Cleanup: the user gets the error of the failed step.
        let _ = self.restore_script(&replaced.was);
        installed.restore_record(&self.path, replaced.known.as_ref());
    }

    /// The fate of the script when this file stops calling it: it is removed if no other file calls it, and if it is unchanged.
    pub(super) fn decide_fate(&self, target: &InstallTarget, installed: &InstallLog) -> anyhow::Result<ScriptFate> {
        let kept = |why: String| ScriptFate { keep_reason: Some(why), ..ScriptFate::default() };
        let shown = self.path.display();
        let registered = installed.other_records(&target.settings_path()).into_iter().map(|known| known.path);
        let elsewhere = target.find_other_installations(installed).into_iter().map(|other| other.path);
        let mut others = registered.chain(elsewhere);
        if let Some(other) = others.find(|other| target.installed_mode(other) == Some(InstallMode::Notify)) {
            return Ok(kept(format!("{shown} stays, because {} calls it", other.display())));
        }
        let seen = FileSnapshot::load(&self.path)?;
        let Some(text) = seen.text.as_deref() else {
            return Ok(ScriptFate::default());
        };
        let known = installed.find_record(&self.path).filter(|known| known.matches_written(Some(text)));
        let path = Some(self.path.clone());
        Ok(match known {
            Some(known) if known.before.is_some() => ScriptFate { restored: path, ..ScriptFate::default() },
            None if !notify_script::is_unmodified_script(text) => {
                kept(format!("{shown} stays, because it was changed after Snell wrote it"))
            }
            _ => ScriptFate { removed: path, ..ScriptFate::default() },
        })
    }

    /// Restores the file from before Snell.
    pub(super) fn restore_original(&self, installed: &InstallLog) -> anyhow::Result<()> {
        self.restore_script(&installed.find_record(&self.path).unwrap_or_default())?;
        installed.delete_record(&self.path);
        Ok(())
    }

    fn restore_script(&self, was: &InstallRecord) -> anyhow::Result<()> {
        let seen = FileSnapshot::load(&self.path)?;
        match &was.before {
            Some(text) => {
                seen.replace(text, was.mode_before.map_or(FileModePolicy::Usual, FileModePolicy::AsBefore))?
            }
            None if seen.exists() => seen.remove()?,
            None => {}
        }
        atomic_file::remove_directories(&was.made);
        Ok(())
    }
}

/// The receiver in a script of Snell, if it has one.
fn read_receiver_url(path: &Path) -> Option<String> {
    let text = atomic_file::read_text(path)?;
    let url = notify_script::read_assignment(&text, "url").filter(|_| notify_script::is_own_script(&text));
    url.filter(|url| !url.is_empty())
}
