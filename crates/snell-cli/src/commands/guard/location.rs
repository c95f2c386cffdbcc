//! Where calls would be made.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::project_guards::{GuardPolicyArgs, GuardedProject, GuardedProjectCache};
use crate::env::find_config_project;
use crate::guard::ProjectGuard;
use crate::output;

/// How many directories are remembered. Beyond that they are looked at again.
const MAX_CACHED_DIRECTORIES: usize = 1024;

/// Where it would run
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Where and how it is judged")]
pub(super) struct GuardLocationArgs {
    /// The directory in which it would run; need not be there [default: the current directory]
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// The project that the agent works on [default: the nearest one from that directory upwards]
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    #[command(flatten)]
    policy: GuardPolicyArgs,
}

impl GuardLocationArgs {
    /// Where calls are made, with the guards that judge them there. Says so if the guard that agents meet there is off.
    pub(super) fn resolve_locations(&self) -> anyhow::Result<GuardLocations> {
        let here = match &self.cwd {
            Some(cwd) => to_absolute_path(cwd)?,
            None => std::env::current_dir().context("the current directory is gone; name another one with --cwd")?,
        };
        let home = match &self.project {
            Some(project) => ProjectSelection::Fixed(to_absolute_path(project)?),
            None => ProjectSelection::Nearest(find_config_project(&here)),
        };
        if let ProjectSelection::Fixed(project) = &home
            && !project.is_dir()
        {
            let shown = project.display();
            output::print_warning(format!("{shown} is no directory; it is taken for a project without settings"));
        }
        let mut places = GuardLocations {
            project: home,
            default_cwd: here,
            guards: self.policy.new_project_cache(),
            directories: HashMap::new(),
        };
        places.default_project()?.warn_if_off();
        Ok(places)
    }
}

/// Which project an agent works on.
enum ProjectSelection {
    /// This one, wherever it makes a call.
    Fixed(PathBuf),
    /// This one if it makes a call in it, else the one in which it does.
    Nearest(PathBuf),
}

/// The directories in which calls are made.
pub(super) struct GuardLocations {
    project: ProjectSelection,
    /// Where calls are made that do not say where.
    default_cwd: PathBuf,
    guards: GuardedProjectCache,
    /// By the names that calls have for them.
    directories: HashMap<String, CallDirectory>,
}

/// A directory, and the project that it counts for.
#[derive(Clone)]
struct CallDirectory {
    path: PathBuf,
    project: PathBuf,
}

impl GuardLocations {
    /// The guard for a call that is made in this directory, and the directory without detours.
    pub(super) fn guard_for_cwd(&mut self, cwd: Option<&str>) -> anyhow::Result<(&ProjectGuard, &Path)> {
        // No directory has an empty name: this is where calls are made that do not say where.
        let named = cwd.unwrap_or_default();
        if !self.directories.contains_key(named) {
            if self.directories.len() >= MAX_CACHED_DIRECTORIES {
                self.directories.clear();
            }
            self.directories.insert(named.to_owned(), self.resolve_directory(cwd));
        }
        let directory = self.directories.get(named).context("a directory was forgotten")?;
        let known = self.guards.get_or_load(&directory.project)?;
        Ok((&known.guard, &directory.path))
    }

    /// What is known of the project in which calls are made that do not say where.
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
