//! The directories in which calls are judged.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::Context;
use snell_guard::SessionFacts;

use super::project_guards::{GuardPolicyArgs, GuardedProject, GuardedProjectCache};
use crate::commands::hook::agent_names;
use crate::env::{ConfigArgs, find_config_project};
use crate::guard::ProjectGuard;
use crate::guard::session::SessionFile;
use crate::output::{self, CommandError, truncate_to_width};

/// How many directories are cached.
const MAX_CACHED_DIRECTORIES: usize = 1024;

/// A given id is shown up to this width.
const MAX_ID_CELLS: usize = 80;

/// Where the call would run
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Where and how it is judged")]
pub(super) struct GuardLocationArgs {
    /// The directory in which the call would run; need not exist [default: the current directory]
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// The agent's project [default: the nearest one from that directory upwards]
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// The agent that makes the call, for entries with `agent`: claude, codex, …
    #[arg(long, value_name = "NAME", value_parser = agent_names())]
    agent: Option<String>,
    /// Judge the call as in this session: by what it made, fetched and read, and what was denied
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    #[command(flatten)]
    policy: GuardPolicyArgs,
}

impl GuardLocationArgs {
    /// The agent that makes the call.
    pub(super) fn agent(&self) -> Option<&str> {
        self.agent.as_deref()
    }

    /// Resolves the directories of calls. Warns if the guard is off there.
    pub(super) fn resolve_locations(&self) -> anyhow::Result<GuardLocations> {
        let here = match &self.cwd {
            Some(cwd) => to_absolute_path(cwd)?,
            None => std::env::current_dir().map_err(|error| {
                CommandError::new(format!("cannot find the current directory: {error}")).with_hint("pass --cwd")
            })?,
        };
        let home = match &self.project {
            Some(project) => ProjectSelection::Fixed(to_absolute_path(project)?),
            None => ProjectSelection::Nearest(find_config_project(&here)),
        };
        if let ProjectSelection::Fixed(project) = &home
            && !project.is_dir()
        {
            let shown = project.display();
            output::print_warning(format!("{shown} is not a directory, so no project settings apply"));
        }
        let mut places = GuardLocations {
            project: home,
            default_cwd: here,
            guards: self.policy.new_project_cache().in_session(self.load_session()?),
            directories: HashMap::new(),
        };
        places.default_project()?.warn_if_off();
        Ok(places)
    }
}

impl GuardLocationArgs {
    /// The facts of the given session.
    fn load_session(&self) -> anyhow::Result<Option<Rc<SessionFacts>>> {
        let Some(id) = &self.session else {
            return Ok(None);
        };
        let file = SessionFile::for_session(&ConfigArgs::new(None, None).data_dir(), id);
        match file.filter(SessionFile::exists) {
            Some(file) => Ok(Some(file.facts())),
            None => {
                let shown = truncate_to_width(id, MAX_ID_CELLS);
                let error = CommandError::new(format!("the guard remembers no session \"{shown}\""));
                Err(error.with_hint("pass its whole id; `snell log --json` shows the id of each event").into())
            }
        }
    }
}

/// How the project of a call is chosen.
enum ProjectSelection {
    /// Always this one.
    Fixed(PathBuf),
    /// This one for calls inside it; otherwise the nearest one to the call.
    Nearest(PathBuf),
}

/// The directories in which calls are made, with their guards.
pub(super) struct GuardLocations {
    project: ProjectSelection,
    /// The directory of calls without `cwd`.
    default_cwd: PathBuf,
    guards: GuardedProjectCache,
    /// By `cwd` as calls write it.
    directories: HashMap<String, CallDirectory>,
}

/// A directory and its project.
#[derive(Clone)]
struct CallDirectory {
    path: PathBuf,
    project: PathBuf,
}

impl GuardLocations {
    /// The guard for a call in this directory, and the normalized directory.
    pub(super) fn guard_for_cwd(&mut self, cwd: Option<&str>) -> anyhow::Result<(&ProjectGuard, &Path)> {
        // No directory has an empty name, so it stands for calls without `cwd`.
        let named = cwd.unwrap_or_default();
        if !self.directories.contains_key(named) {
            if self.directories.len() >= MAX_CACHED_DIRECTORIES {
                self.directories.clear();
            }
            self.directories.insert(named.to_owned(), self.resolve_directory(cwd));
        }
        let directory = self.directories.get(named).context("the directory is missing in the cache")?;
        let known = self.guards.get_or_load(&directory.project)?;
        Ok((&known.guard, &directory.path))
    }

    /// The project of calls without `cwd`.
    pub(super) fn default_project(&mut self) -> anyhow::Result<&GuardedProject> {
        let project = self.resolve_directory(None).project;
        self.guards.get_or_load(&project)
    }

    fn resolve_directory(&self, cwd: Option<&str>) -> CallDirectory {
        let path = cwd
            .map_or_else(|| self.default_cwd.clone(), |cwd| snell_guard::paths::normalize_path(Path::new(cwd)).into());
        let project = match &self.project {
            ProjectSelection::Fixed(project) => project.clone(),
            ProjectSelection::Nearest(project) if path.starts_with(project) => project.clone(),
            ProjectSelection::Nearest(_) => find_config_project(&path),
        };
        CallDirectory { path, project }
    }
}

fn to_absolute_path(path: &Path) -> anyhow::Result<PathBuf> {
    let absolute = std::path::absolute(path).with_context(|| format!("cannot find {}", path.display()))?;
    Ok(snell_guard::paths::normalize_path(&absolute).into())
}
