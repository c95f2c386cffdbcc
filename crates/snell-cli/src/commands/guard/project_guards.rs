//! The guards of projects, each loaded once.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::Context;
use clap::ValueEnum;
use snell::{BuiltinHandler, GuardPreset, Severity, SnellSettings, Timestamp, UserMessage};
use snell_guard::SessionFacts;

use crate::env;
use crate::env::caller::CallerEnv;
use crate::guard::ProjectGuard;
use crate::output;

/// How many guards are cached.
const MAX_CACHED_PROJECTS: usize = 1024;

/// How calls are judged
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Where and how it is judged")]
pub(super) struct GuardPolicyArgs {
    /// Use this preset instead of the one in the settings
    #[arg(long, value_name = "PRESET")]
    preset: Option<GuardPresetArg>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum GuardPresetArg {
    Standard,
    ClaudeOs,
    Strict,
    Audit,
}

impl From<GuardPresetArg> for GuardPreset {
    fn from(preset: GuardPresetArg) -> Self {
        match preset {
            GuardPresetArg::Standard => Self::Standard,
            GuardPresetArg::ClaudeOs => Self::ClaudeOs,
            GuardPresetArg::Strict => Self::Strict,
            GuardPresetArg::Audit => Self::Audit,
        }
    }
}

impl GuardPolicyArgs {
    pub(super) fn new_project_cache(&self) -> GuardedProjectCache {
        GuardedProjectCache {
            preset: self.preset.map(Into::into),
            enforces: false,
            has_audit: false,
            session: None,
            now: env::read_clock_override().unwrap_or_else(Timestamp::now),
            projects: HashMap::new(),
        }
    }
}

/// The guards of projects.
pub(super) struct GuardedProjectCache {
    preset: Option<GuardPreset>,
    /// Whether the default preset replaces `audit` in the settings.
    enforces: bool,
    has_audit: bool,
    /// The known facts of the calls' session.
    session: Option<Rc<SessionFacts>>,
    now: Timestamp,
    projects: HashMap<PathBuf, GuardedProject>,
}

/// A project's settings and guard.
pub(super) struct GuardedProject {
    pub(super) guard: ProjectGuard,
    pub(super) settings: SnellSettings,
}

impl GuardedProjectCache {
    /// The same, but with the default preset where the settings only watch.
    pub(super) fn enforcing(self) -> Self {
        Self { enforces: true, ..self }
    }

    /// The same, for calls in a session with these facts.
    pub(super) fn in_session(self, session: Option<Rc<SessionFacts>>) -> Self {
        Self { session, ..self }
    }

    /// Whether settings of a loaded project only watch.
    pub(super) fn has_audit(&self) -> bool {
        self.has_audit
    }

    /// The project's settings and guard, as agents meet them there.
    pub(super) fn get_or_load(&mut self, project: &Path) -> anyhow::Result<&GuardedProject> {
        if !self.projects.contains_key(project) {
            if self.projects.len() >= MAX_CACHED_PROJECTS {
                self.projects.clear();
            }
            let known = self.load_project(project)?;
            self.projects.insert(project.to_owned(), known);
        }
        self.projects.get(project).context("the project is missing in the cache")
    }

    fn load_project(&mut self, project: &Path) -> anyhow::Result<GuardedProject> {
        let (engine, findings) = CallerEnv::engine_builder(project.to_owned())?.survey().require_trust().load();
        for fault in findings.iter().filter(|found| found.severity == Severity::Error) {
            output::print_finding(fault);
        }
        let mut settings = engine.settings();
        if let Some(preset) = self.preset {
            (settings.guard.preset, settings.guard.preset_origin) = (preset, None);
        }
        if self.enforces && self.preset.is_none() && settings.guard.preset == GuardPreset::Audit {
            self.has_audit = true;
            settings.guard.preset = GuardPreset::default();
        }
        let guard = ProjectGuard::from_settings(&settings, project, self.now);
        let guard = match self.session.clone().filter(|_| settings.guard.session) {
            Some(facts) => guard.with_session(facts),
            None => guard,
        };
        Ok(GuardedProject { guard, settings })
    }
}

impl GuardedProject {
    /// Warns if the guard is off, so that agents' calls are not judged.
    pub(super) fn warn_if_off(&self) {
        if !self.settings.handlers.is_enabled(BuiltinHandler::Guard) {
            let warning = UserMessage::new("the guard is off, so Snell does not judge agents' calls");
            output::print_warning(warning.with_hint("set guard = true in [handlers] of your snell.toml"));
        }
    }
}
