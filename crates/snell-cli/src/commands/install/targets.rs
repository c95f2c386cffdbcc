//! The agents and files that `snell install` and `snell uninstall` change.

use std::path::PathBuf;

use crate::env::ConfigArgs;
use crate::install::agents::{InstallAgent, SettingsScope};
use crate::install::apply::{self, ChangeMode, InstallTarget};
use crate::install::exe_path::{ExeLocator, is_runnable};
use crate::output::CommandError;

/// The agents and their files.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct InstallTargetArgs {
    /// Names of agents: claude, codex, gemini …
    #[arg(value_name = "AGENT", conflicts_with = "all")]
    pub(super) agent: Vec<String>,
    /// Use all agents: to install, those found on this machine; to uninstall, those that call Snell
    #[arg(long)]
    pub(crate) all: bool,
    /// Use the settings of a project [default: the current directory]
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = ".", help_heading = "Which settings")]
    project: Option<PathBuf>,
    /// Use the project's local settings (settings.local.json)
    #[arg(long, help_heading = "Which settings")]
    local: bool,
    /// Only show the changes
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// An agent and its files in the chosen scope.
#[derive(Debug)]
pub(crate) struct AgentTargets {
    pub(crate) agent: InstallAgent,
    pub(crate) scope: SettingsScope,
    pub(crate) files: Vec<InstallTarget>,
}

impl InstallTargetArgs {
    /// The files of no agent yet, in a project's settings or the user's.
    pub(crate) fn in_scope(project: Option<PathBuf>) -> Self {
        Self { project, ..Self::default() }
    }

    /// The same with these agents.
    pub(crate) fn with_agents(self, agent: Vec<String>, mode: ChangeMode) -> Self {
        Self { agent, dry_run: mode == ChangeMode::DryRun, ..self }
    }

    /// Whether exactly one agent is named: then the report is one object.
    pub(crate) fn names_one_agent(&self) -> bool {
        self.agent.len() == 1
    }

    /// The named agents.
    pub(crate) fn resolve_named(&self) -> anyhow::Result<Vec<AgentTargets>> {
        let agents = self.agent.iter().map(|name| InstallAgent::find_by_name(name));
        let mut agents = agents.collect::<anyhow::Result<Vec<_>>>()?;
        let mut seen = Vec::new();
        agents.retain(|agent| {
            !seen.contains(&agent.name) && {
                seen.push(agent.name);
                true
            }
        });
        agents.into_iter().map(|agent| self.resolve_agent(agent)).collect()
    }

    /// All agents with files in the chosen scope.
    pub(crate) fn resolve_all(&self) -> anyhow::Result<Vec<AgentTargets>> {
        let scope = self.scope();
        InstallAgent::all().filter(|agent| agent.has_scope(scope)).map(|agent| self.resolve_agent(agent)).collect()
    }

    /// The agents that are found on this machine: by their directory, or by their program.
    pub(crate) fn resolve_found(&self) -> anyhow::Result<Vec<AgentTargets>> {
        let started = ExeLocator::from_env()?;
        let mut found = self.resolve_all()?;
        found.retain(|one| {
            let Some(dirs) = one.files.first().map(|file| &file.dirs) else {
                return false;
            };
            let (program, _) = one.agent.signs;
            let in_path = started.search_path.iter().any(|directory| is_runnable(&directory.join(program)));
            in_path || one.agent.is_used(dirs)
        });
        Ok(found)
    }

    /// The scope of the files.
    pub(crate) fn scope(&self) -> SettingsScope {
        match (&self.project, self.local) {
            (_, true) => SettingsScope::Local,
            (Some(_), false) => SettingsScope::Project,
            (None, false) => SettingsScope::User,
        }
    }

    fn resolve_agent(&self, agent: InstallAgent) -> anyhow::Result<AgentTargets> {
        let scope = self.scope();
        if !agent.has_scope(scope) {
            let problem = format!("{} reads no {} hooks", agent.title(), scope.title());
            let others: Vec<_> = agent.files.iter().map(|file| scope_option(file.scope)).collect();
            let hint = format!("for {}, use {}", agent.title(), others.join(" or "));
            return Err(CommandError::new(problem).with_hint(hint).into());
        }
        let dirs = apply::locate_agent_dirs(agent, self.project.clone())?;
        let program = ExeLocator::from_env()?.stable_path();
        let data = ConfigArgs::new(None, None).data_dir();
        let target =
            |file| InstallTarget { agent, file, dirs: dirs.clone(), data: data.clone(), program: program.clone() };
        Ok(AgentTargets { agent, scope, files: agent.files_in_scope(scope, &dirs).into_iter().map(target).collect() })
    }
}

/// The option that chooses a scope.
fn scope_option(scope: SettingsScope) -> &'static str {
    match scope {
        SettingsScope::User | SettingsScope::Managed => "no option",
        SettingsScope::Project => "--project",
        SettingsScope::Local => "--local",
    }
}
