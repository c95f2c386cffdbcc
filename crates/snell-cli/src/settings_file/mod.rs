//! The user's own `snell.toml` and that of a project: where they are, which keys they can have, and whether a text is valid.

pub(crate) mod check;
pub(crate) mod schema;

use std::path::{Path, PathBuf};

use crate::env::ConfigArgs;
use crate::output::CommandError;

/// The name of the file.
pub(crate) const FILE_NAME: &str = "snell.toml";

/// Whose file it is, which determines its rights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SnellTomlScope {
    User,
    Project,
}

/// A `snell.toml`, which may be missing.
#[derive(Clone, Debug)]
pub(crate) struct SnellToml {
    pub(crate) path: PathBuf,
    pub(crate) scope: SnellTomlScope,
    /// The path for people.
    pub(crate) display_path: String,
}

impl SnellToml {
    /// The user's own file.
    pub(crate) fn of_user() -> anyhow::Result<Self> {
        let around = ConfigArgs::new(None, None);
        let Some(directory) = around.config_dir() else {
            return Err(CommandError::new("there is no home directory").with_hint("set HOME").into());
        };
        Ok(Self::at(directory.join(FILE_NAME), SnellTomlScope::User))
    }

    /// The file of this project.
    pub(crate) fn of_project(directory: &Path) -> Self {
        Self::at(directory.join(FILE_NAME), SnellTomlScope::Project)
    }

    fn at(path: PathBuf, scope: SnellTomlScope) -> Self {
        let home = ConfigArgs::new(None, None).home_dir();
        let below_home = home.and_then(|home| Some(format!("~/{}", path.strip_prefix(home).ok()?.display())));
        let display_path = below_home.unwrap_or_else(|| path.display().to_string());
        Self { path, scope, display_path }
    }
}

/// The project's file instead of the user's own.
#[derive(Debug, clap::Args)]
pub(crate) struct ProjectFileArgs {
    /// Use a project's snell.toml [default: of the nearest project]
    #[arg(long, value_name = "DIR", num_args = 0..=1, require_equals = true, default_missing_value = ".")]
    project: Option<PathBuf>,
}

impl ProjectFileArgs {
    /// The file of this project, or the user's own.
    pub(crate) fn new(project: Option<PathBuf>) -> Self {
        Self { project }
    }

    /// The directory of the project, if a project's file is meant. Without a given directory it is the nearest project.
    pub(crate) fn resolve_project(&self) -> anyhow::Result<Option<PathBuf>> {
        let Some(given) = &self.project else {
            return Ok(None);
        };
        let given = Some(given.clone()).filter(|given| given != Path::new("."));
        ConfigArgs::new(given, None).resolve_project().map(Some)
    }

    /// The file that is meant.
    pub(crate) fn locate_file(&self) -> anyhow::Result<SnellToml> {
        match self.resolve_project()? {
            Some(project) => Ok(SnellToml::of_project(&project)),
            None => SnellToml::of_user(),
        }
    }
}
