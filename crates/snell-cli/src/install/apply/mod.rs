//! Installing and removing, step by step. Nothing is written before everything is known, and what cannot be finished is
//! taken back.

mod install;
mod script_file;
mod uninstall;

use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};

pub(crate) use install::{InstallReport, InstallRequest, install_snell};
pub(crate) use uninstall::{UninstallReport, uninstall_snell};

use super::agents::{AgentDirs, InstallAgent, SettingsScope};
use super::atomic_file::FileSnapshot;
use super::backup::InstallLog;
use super::handler::InstallMode;
use super::jsonc::{self, SettingsDocument, SettingsFault};
use super::notify_script;
use super::recognize::EntryRecognizer;
use super::scan;
use crate::env::ConfigArgs;

/// One file of one agent, and what surrounds it.
#[derive(Debug)]
pub(crate) struct InstallTarget {
    pub(crate) agent: InstallAgent,
    pub(crate) scope: SettingsScope,
    pub(crate) dirs: AgentDirs,
    /// Where Snell keeps what it records.
    pub(crate) data: PathBuf,
    /// The program, as it is registered.
    pub(crate) program: PathBuf,
}

/// Whether changes are written, or only shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChangeMode {
    Write,
    DryRun,
}

/// What surrounds a command that looks into an agent's files.
pub(crate) fn locate_agent_dirs(agent: InstallAgent, project: Option<PathBuf>) -> anyhow::Result<AgentDirs> {
    let around = ConfigArgs::new(project, None).with_current_dir_as_project();
    Ok(AgentDirs {
        home: around.home_dir().context("HOME says nothing; set it to your home directory")?,
        project: around.resolve_project()?,
        directory: read_agent_dir_variable(agent)?,
    })
}

/// The directory that the agent's variable names.
fn read_agent_dir_variable(agent: InstallAgent) -> anyhow::Result<Option<PathBuf>> {
    let name = agent.directory_variable();
    let named = std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(relative) = named.as_ref().filter(|path| path.is_relative()) {
        // The agent takes it from wherever it is started, so nobody can say which directory that is.
        bail!("{name} is \"{}\"; write an absolute path, or unset it", relative.display());
    }
    Ok(named)
}

/// Another file in which Snell is installed.
#[derive(Debug)]
pub(crate) struct OtherInstallation {
    pub(crate) path: PathBuf,
    pub(crate) way: InstallMode,
    /// What to do to remove it there.
    pub(crate) undo: String,
}

impl InstallTarget {
    fn settings_path(&self) -> PathBuf {
        self.agent.settings_path_in_scope(self.scope, &self.dirs)
    }

    /// By what entries of ours are known now.
    fn recognizer(&self) -> EntryRecognizer {
        EntryRecognizer::new(self.agent, &self.dirs, &self.program)
    }

    /// Other files of the agent in which Snell is installed, and that are read where this one is: those around here, and
    /// those elsewhere that are remembered.
    pub(crate) fn find_other_installations(&self, installed: &InstallLog) -> Vec<OtherInstallation> {
        let own = self.settings_path();
        let nearby = self.agent.all_settings_paths(&self.dirs).into_iter();
        let nearby = nearby.map(|(scope, path)| (path, self.undo_hint(scope)));
        let remembered = installed.other_records(&own).into_iter().filter_map(|known| {
            let scope = known.scope.filter(|scope| self.scope.overlaps(*scope))?;
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

    /// What to do to remove Snell from another file here.
    pub(crate) fn undo_hint(&self, scope: SettingsScope) -> String {
        self.undo_hint_for_path(scope, &self.agent.settings_path_in_scope(scope, &self.dirs))
    }

    /// What to do to remove Snell from this file.
    fn undo_hint_for_path(&self, scope: SettingsScope, path: &Path) -> String {
        let (agent, directory) = (self.agent.name, path.parent().unwrap_or(path));
        let quoted = |path: &Path| notify_script::shell_quote(&path.to_string_lossy());
        let project = quoted(directory.parent().unwrap_or(directory));
        // Whoever does it later may do it in a shell that knows nothing of a variable.
        let needs_variable =
            directory != self.agent.config_dir(&self.dirs) || directory != self.agent.default_config_dir(&self.dirs);
        match scope {
            SettingsScope::User if needs_variable => {
                let variable = self.agent.directory_variable();
                format!("{variable}={} snell uninstall {agent}", quoted(directory))
            }
            SettingsScope::User => format!("snell uninstall {agent}"),
            SettingsScope::Project => format!("snell uninstall {agent} --project {project}"),
            SettingsScope::Local => format!("snell uninstall {agent} --local --project {project}"),
            SettingsScope::Managed => "ask whoever manages this machine".to_owned(),
        }
    }

    /// How Snell is installed in a file, if it is. What cannot be read says nothing.
    fn installed_mode(&self, path: &Path) -> Option<InstallMode> {
        let seen = FileSnapshot::load(path).ok()?;
        let document = SettingsDocument::parse(seen.text.as_deref()?).ok()?;
        let own = scan::find_own_handlers(&document, &self.recognizer());
        own.first().and_then(|handler| handler.way)
    }
}

/// A fault in a file, as `path:line:column: what is wrong`.
fn fault_to_error(seen: &FileSnapshot, fault: &SettingsFault) -> anyhow::Error {
    let (line, column) = jsonc::line_and_column(seen.text.as_deref().unwrap_or_default(), fault.at);
    anyhow!("{}:{line}:{column}: {}", seen.path.display(), fault.message)
}

/// What changes in a file, as a unified diff; nothing if nothing does.
fn unified_diff(path: &Path, old: Option<&str>, new: Option<&str>) -> String {
    let shown = path.display().to_string();
    // Behind a name with blanks in it a tab says where it ends.
    let end = if shown.contains(' ') { "\t" } else { "" };
    let name = |text: Option<&str>| text.map_or("/dev/null".to_owned(), |_| format!("{shown}{end}"));
    // To those who read a diff, nothing else ends a line.
    let lines = [old, new].map(|text| text.unwrap_or_default().split_inclusive('\n').collect::<Vec<_>>());
    similar::TextDiff::configure()
        .newline_terminated(true)
        .diff_slices(&lines[0], &lines[1])
        .unified_diff()
        .context_radius(3)
        .header(&name(old), &name(new))
        .to_string()
}
