//! The guard of each project that a command is about, made once.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::ValueEnum;
use snell::{GuardPreset, Handler, Settings, Severity, Timestamp};

use crate::around;
use crate::caller::Caller;
use crate::guard::Guard;
use crate::output;

/// How many guards are remembered. Beyond that they are made again.
const REMEMBERED: usize = 1024;

/// How it is judged
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Where and how it is judged")]
pub(super) struct Policy {
    /// As if the settings named this preset
    #[arg(long, value_name = "PRESET")]
    preset: Option<Preset>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Preset {
    Standard,
    Strict,
    Audit,
}

impl From<Preset> for GuardPreset {
    fn from(preset: Preset) -> Self {
        match preset {
            Preset::Standard => Self::Standard,
            Preset::Strict => Self::Strict,
            Preset::Audit => Self::Audit,
        }
    }
}

impl Policy {
    pub(super) fn guards(&self) -> anyhow::Result<Guards> {
        Ok(Guards {
            preset: self.preset.map(Into::into),
            now: around::now().unwrap_or_else(Timestamp::now),
            known: HashMap::new(),
        })
    }
}

/// The guards of projects.
pub(super) struct Guards {
    preset: Option<GuardPreset>,
    now: Timestamp,
    known: HashMap<PathBuf, Known>,
}

/// What is known of a project.
pub(super) struct Known {
    pub(super) guard: Guard,
    pub(super) settings: Settings,
}

impl Guards {
    /// What is known of a project: as it counts where an agent is answered there.
    pub(super) fn of(&mut self, project: &Path) -> anyhow::Result<&Known> {
        if !self.known.contains_key(project) {
            if self.known.len() >= REMEMBERED {
                self.known.clear();
            }
            let known = self.look_at(project)?;
            self.known.insert(project.to_owned(), known);
        }
        self.known.get(project).context("a project was forgotten")
    }

    fn look_at(&self, project: &Path) -> anyhow::Result<Known> {
        let (engine, findings) = Caller::engine(project.to_owned())?.survey().require_trust().load();
        for fault in findings.iter().filter(|found| found.severity == Severity::Error) {
            output::note(&fault.to_string());
        }
        let mut settings = engine.settings();
        if let Some(preset) = self.preset {
            (settings.guard.preset, settings.guard.preset_origin) = (preset, None);
        }
        Ok(Known {
            guard: Guard::of(&settings, project, self.now),
            settings,
        })
    }
}

impl Known {
    /// Says so if nobody asks the guard here.
    pub(super) fn tell_if_off(&self) {
        if !self.settings.handlers.is_on(Handler::Guard) {
            output::note("the guard is switched off ([handlers] in your snell.toml); agents' calls are not judged");
        }
    }
}
