//! Installs and removes Snell step by step. Nothing is written before everything is known, and a failed installation is undone.

mod install;
mod script_file;
mod uninstall;

use std::path::{Path, PathBuf};

use anyhow::anyhow;

pub(crate) use install::{InstallReport, InstallRequest, install_snell};
pub(crate) use uninstall::{UninstallReport, uninstall_snell};

use super::agents::{AgentDirs, InstallAgent, RegistrationFile, SettingsScope};
use super::atomic_file::FileSnapshot;
use super::backup::{InstallLog, InstallRecord};
use super::handler::InstallMode;
use super::jsonc::{self, SettingsFault};
use super::notify_script;
use super::recognize::EntryRecognizer;
use super::scan;
use crate::env::ConfigArgs;
use crate::output::CommandError;

/// One file of one agent, and its environment.
#[derive(Clone, Debug)]
pub(crate) struct InstallTarget {
    pub(crate) agent: InstallAgent,
    pub(crate) file: RegistrationFile,
    pub(crate) dirs: AgentDirs,
    /// The data directory.
    pub(crate) data: PathBuf,
    /// The path of the program to register.
    pub(crate) program: PathBuf,
}

/// Whether changes are written, or only shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChangeMode {
    Write,
    DryRun,
}

/// The directories of an agent's files.
pub(crate) fn locate_agent_dirs(agent: InstallAgent, project: Option<PathBuf>) -> anyhow::Result<AgentDirs> {
    let around = ConfigArgs::new(project, None).with_current_dir_as_project();
    Ok(AgentDirs {
        home: around
            .home_dir()
            .ok_or_else(|| CommandError::new("HOME is not set").with_hint("set it to your home directory"))?,
        project: around.resolve_project()?,
        directory: read_agent_dir_variable(agent)?,
    })
}

/// The directory in the agent's variable.
fn read_agent_dir_variable(agent: InstallAgent) -> anyhow::Result<Option<PathBuf>> {
    let Some(name) = agent.directory_variable() else {
        return Ok(None);
    };
    let named = std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(relative) = named.as_ref().filter(|path| path.is_relative()) {
        // It depends on the directory in which the agent is started.
        let problem = format!("{name} is relative (\"{}\")", relative.display());
        return Err(CommandError::new(problem).with_hint("use an absolute path, or unset it").into());
    }
    Ok(named)
}

/// Another file that calls Snell.
#[derive(Debug)]
pub(crate) struct OtherInstallation {
    pub(crate) path: PathBuf,
    pub(crate) way: InstallMode,
    /// How to remove it there.
    pub(crate) undo: String,
}

impl InstallTarget {
    fn settings_path(&self) -> PathBuf {
        self.file.path.clone()
    }

    /// Recognizes the current entries of Snell.
    fn recognizer(&self) -> EntryRecognizer {
        EntryRecognizer::new(self.agent, &self.dirs, &self.program)
    }

    /// Other files of the agent that call Snell and are read together with this one: those here, and recorded ones elsewhere.
    pub(crate) fn find_other_installations(&self, installed: &InstallLog) -> Vec<OtherInstallation> {
        let own = self.settings_path();
        // An agent may have one file for each event.
        let is_same_event = |file: &RegistrationFile| file.events.iter().any(|event| self.file.events.contains(event));
        let nearby = self.agent.all_settings_files(&self.dirs).into_iter().filter(is_same_event);
        let nearby = nearby.map(|file| (file.path, self.undo_hint(file.scope)));
        let is_own_agent = |known: &InstallRecord| known.agent.as_deref().unwrap_or("claude") == self.agent.name;
        let is_same_name = |known: &InstallRecord| known.path.file_name() == own.file_name();
        let remembered = installed.other_records(&own).into_iter().filter(is_own_agent);
        let remembered =
            remembered.filter(|known| self.file.events.len() > 1 || is_same_name(known)).filter_map(|known| {
                let scope = known.scope.filter(|scope| self.file.scope.overlaps(*scope))?;
                let undo = self.undo_hint_for_path(scope, &known.path);
                Some((known.path, undo))
            });
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let mut seen = vec![real(&own)];
        let mut found = Vec::new();
        for (path, undo) in nearby.chain(remembered) {
            if !seen.contains(&real(&path)) {
                seen.push(real(&path));
                found.extend(self.installed_mode(&path).map(|way| OtherInstallation { path, way, undo }));
            }
        }
        found
    }

    /// How to remove Snell from another file here.
    pub(crate) fn undo_hint(&self, scope: SettingsScope) -> String {
        let file = self.agent.files.iter().find(|file| file.scope == scope);
        let path = file.map_or_else(PathBuf::new, |file| self.agent.settings_path(file, &self.dirs));
        self.undo_hint_for_path(scope, &path)
    }

    /// How to remove Snell from this file.
    fn undo_hint_for_path(&self, scope: SettingsScope, path: &Path) -> String {
        let agent = self.agent.name;
        let quoted = |path: &Path| notify_script::shell_quote(&path.to_string_lossy());
        let inside = self.agent.files.iter().find(|file| file.scope == scope).map_or("", |file| file.path);
        // The directory of the scope: the file's path without its own part.
        let directory = path.ancestors().nth(Path::new(inside).components().count()).unwrap_or(path);
        let project = quoted(directory);
        let is_default = directory == self.agent.default_config_dir(&self.dirs);
        // The user may run it in a shell without the variable.
        let is_current = is_default && directory == self.agent.config_dir(&self.dirs);
        match (scope, self.agent.directory_variable()) {
            (SettingsScope::User, Some(variable)) if !is_current => {
                let below = Path::new(self.agent.directory.below).components().count();
                let value = quoted(directory.ancestors().nth(below).unwrap_or(directory));
                format!("{variable}={value} snell uninstall {agent}")
            }
            (SettingsScope::User, _) => format!("snell uninstall {agent}"),
            (SettingsScope::Project, _) => format!("snell uninstall {agent} --project {project}"),
            (SettingsScope::Local, _) => format!("snell uninstall {agent} --local --project {project}"),
            (SettingsScope::Managed, _) => "ask the administrator of this machine".to_owned(),
        }
    }

    /// How a file calls Snell, if it does. An unreadable file does not.
    fn installed_mode(&self, path: &Path) -> Option<InstallMode> {
        let seen = FileSnapshot::load(path).ok()?;
        let own = scan::find_own_in_text(seen.text.as_deref()?, &self.file.events, &self.recognizer()).ok()?;
        own.first().and_then(|handler| handler.way)
    }
}

/// A problem in a file, as `path:line:column: problem`.
pub(crate) fn fault_to_error(seen: &FileSnapshot, fault: &SettingsFault) -> anyhow::Error {
    let (line, column) = jsonc::line_and_column(seen.text.as_deref().unwrap_or_default(), fault.at);
    anyhow!("{}:{line}:{column}: {}", seen.path.display(), fault.message)
}

/// The change of a file as a unified diff; empty if there is none.
pub(crate) fn unified_diff(path: &Path, old: Option<&str>, new: Option<&str>) -> String {
    let shown = path.display().to_string();
    // A tab marks the end of a name with blanks.
    let end = if shown.contains(' ') { "\t" } else { "" };
    let name = |text: Option<&str>| text.map_or("/dev/null".to_owned(), |_| format!("{shown}{end}"));
    // In a diff, only a line feed ends a line.
    let lines = [old, new].map(|text| text.unwrap_or_default().split_inclusive('\n').collect::<Vec<_>>());
    similar::TextDiff::configure()
        .newline_terminated(true)
        .diff_slices(&lines[0], &lines[1])
        .unified_diff()
        .context_radius(3)
        .header(&name(old), &name(new))
        .to_string()
}
