//! The subject of the doctor: this program, the agents' files, and the user's own settings.

use std::path::{Path, PathBuf};

use anyhow::Context;
use snell::{Diagnostic, Engine, ServerSettings};

use crate::env::ConfigArgs;
use crate::env::caller::CallerEnv;
use crate::install::agents::{AgentDirs, InstallAgent, RegistrationFile, SettingsScope};
use crate::install::apply;
use crate::install::atomic_file::{self, FileSnapshot};
use crate::install::exe_path::ExeLocator;
use crate::install::handler::InstallMode;
use crate::install::jsonc::{self, SettingsDocument};
use crate::install::notify_script;
use crate::install::recognize::EntryRecognizer;
use crate::install::scan::{self, RegisteredHandler};

/// The subject of the checks.
#[derive(Debug)]
pub(crate) struct DoctorSubject {
    pub(super) started: ExeLocator,
    /// This program, with the path that would be registered.
    pub(super) program: PathBuf,
    /// The project whose hooks and settings apply.
    pub(super) project: PathBuf,
    /// The directory in which an agent would start: it reads its own settings there, not above.
    pub(super) directory: PathBuf,
    /// The data directory.
    pub(super) data: PathBuf,
    pub(super) agents: Vec<InspectedAgent>,
    /// The user's settings for the receiver.
    pub(super) server: ServerSettings,
}

/// An agent and its files.
#[derive(Debug)]
pub(super) struct InspectedAgent {
    pub(super) agent: InstallAgent,
    pub(super) around: AgentDirs,
    pub(super) files: Vec<InspectedSettingsFile>,
}

impl InspectedAgent {
    /// Whether one of its files calls Snell.
    pub(super) fn calls_snell(&self) -> bool {
        self.files.iter().any(|file| file.own_handlers().next().is_some())
    }
}

/// A settings file.
#[derive(Debug)]
pub(super) struct InspectedSettingsFile {
    pub(super) scope: SettingsScope,
    pub(super) path: PathBuf,
    /// The events for which Snell registers there.
    pub(super) events: Vec<&'static str>,
    /// Whether the agent has a file for each event.
    has_sibling_files: bool,
    pub(super) content: SettingsContent,
}

#[derive(Debug)]
pub(super) enum SettingsContent {
    Missing,
    /// It cannot be read or parsed.
    Invalid(String),
    Settings {
        /// The document, if it is JSON.
        document: Option<SettingsDocument>,
        handlers: Vec<RegisteredHandler>,
    },
}

impl DoctorSubject {
    pub(crate) fn inspect(project: Option<PathBuf>) -> anyhow::Result<Self> {
        let around = ConfigArgs::new(project, None);
        let data = around.data_dir();
        let project = around.resolve_project()?;
        let directory = around.with_current_dir_as_project().resolve_project()?;
        let started = ExeLocator::from_env()?;
        let program = started.stable_path();
        let agents = InstallAgent::all().map(|agent| {
            let around = apply::locate_agent_dirs(agent, Some(directory.clone()))?;
            Ok(InspectedAgent {
                files: inspect_files(agent, &around, &EntryRecognizer::new(agent, &around, &program)),
                agent,
                around,
            })
        });
        let agents = agents.collect::<anyhow::Result<_>>().context("cannot inspect the agents")?;
        let (engine, _) = load_engine(&project)?;
        Ok(Self { server: engine.settings().server.clone(), data, started, program, project, directory, agents })
    }

    /// The files that call Snell, with their agents.
    pub(super) fn installed_files(&self) -> Vec<(&InspectedAgent, &InspectedSettingsFile)> {
        let all = self.agents.iter().flat_map(|one| one.files.iter().map(move |file| (one, file)));
        all.filter(|(_, file)| file.own_handlers().next().is_some()).collect()
    }

    /// Whether any agent calls Snell.
    pub(crate) fn is_installed(&self) -> bool {
        !self.installed_files().is_empty()
    }

    /// The receivers of notify scripts: the address, or nothing for the default one.
    pub(super) fn script_receivers(&self) -> Vec<Option<String>> {
        let mut found = Vec::new();
        for (_, file) in self.installed_files() {
            let calls = file.own_handlers().filter(|handler| handler.way == Some(InstallMode::Notify));
            for handler in calls {
                let text = atomic_file::read_text(handler.program().as_ref()).unwrap_or_default();
                let url = notify_script::read_assignment(&text, "url").filter(|url| !url.is_empty());
                if !found.contains(&url) {
                    found.push(url);
                }
            }
        }
        found
    }
}

/// The engine of a guest in this project.
pub(super) fn load_engine(project: &Path) -> anyhow::Result<(Engine, Vec<Diagnostic>)> {
    Ok(CallerEnv::engine_builder(project.to_owned())?.survey().load())
}

/// The agent's files, each once: in a home directory, the user's file is the project's too.
fn inspect_files(agent: InstallAgent, around: &AgentDirs, signs: &EntryRecognizer) -> Vec<InspectedSettingsFile> {
    let mut files: Vec<InspectedSettingsFile> = Vec::new();
    for found in agent.all_settings_files(around) {
        let same = |file: &InspectedSettingsFile| match (file.path.canonicalize(), found.path.canonicalize()) {
            (Ok(one), Ok(other)) => one == other,
            _ => file.path == found.path,
        };
        if !files.iter().any(same) {
            files.push(InspectedSettingsFile::inspect(found, signs));
        }
    }
    files
}

impl InspectedSettingsFile {
    fn inspect(file: RegistrationFile, signs: &EntryRecognizer) -> Self {
        let RegistrationFile { scope, path, events } = file;
        let has_sibling_files = signs.is_script();
        let content = match FileSnapshot::load(&path) {
            Err(error) => SettingsContent::Invalid(format!("{error:#}")),
            Ok(seen) => match seen.text {
                None => SettingsContent::Missing,
                Some(text) => Self::parse_content(&path, &text, &events, signs),
            },
        };
        Self { scope, path, events, has_sibling_files, content }
    }

    fn parse_content(path: &Path, text: &str, events: &[&'static str], signs: &EntryRecognizer) -> SettingsContent {
        match scan::scan_text(text, events, signs) {
            Ok(handlers) => {
                let document = if signs.is_json() { SettingsDocument::parse(text).ok() } else { None };
                SettingsContent::Settings { document, handlers }
            }
            Err(fault) => {
                let (line, column) = jsonc::line_and_column(text, fault.at);
                SettingsContent::Invalid(format!("{}:{line}:{column}: {}", path.display(), fault.message))
            }
        }
    }

    /// Whether the agent has one file for each event.
    pub(super) fn is_for_one_event(&self) -> bool {
        self.has_sibling_files
    }

    pub(super) fn handlers(&self) -> &[RegisteredHandler] {
        match &self.content {
            SettingsContent::Settings { handlers, .. } => handlers,
            SettingsContent::Missing | SettingsContent::Invalid(_) => &[],
        }
    }

    /// Snell's own handlers.
    pub(super) fn own_handlers(&self) -> impl Iterator<Item = &RegisteredHandler> {
        self.handlers().iter().filter(|handler| handler.way.is_some())
    }

    #[cfg(test)]
    pub(super) fn with_content(scope: SettingsScope, path: &str, text: &str) -> Self {
        let path = PathBuf::from(path);
        let content = Self::parse_content(&path, text, &[], &EntryRecognizer::sample("/bin/snell"));
        Self { scope, path, events: Vec::new(), has_sibling_files: false, content }
    }
}
