//! Where Snell searches for files, which ones it reads, and who owns them.

use std::path::{Path, PathBuf};

use crate::agents::AgentProduct;
use crate::contract::{self, BaseDirectory, CONTRACTS, Contract, FileSyntax, HookFileLocation, LocationForm};

/// The directories of configuration files.
#[derive(Debug, Clone)]
pub(crate) struct ConfigDirs {
    pub(crate) project: PathBuf,
    pub(crate) home: Option<PathBuf>,
    pub(crate) config_dir: Option<PathBuf>,
}

/// Which files are read.
#[derive(Debug, Clone)]
pub(crate) enum FileSelection {
    /// The existing files of every contract.
    Discovered,
    /// `snell.toml` files and the files that they borrow, except those that this agent runs itself.
    Guest(Option<&'static AgentProduct>),
    /// Only these.
    Only(Vec<ConfigFile>),
}

/// A configuration file named by the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigFile {
    /// The file.
    pub path: PathBuf,
    contract: Option<&'static str>,
}

impl ConfigFile {
    /// A file whose contract is known from its path (`.wave/settings.json`) or its content.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), contract: None }
    }

    /// The names of contracts that a file can have.
    pub fn contract_names() -> impl Iterator<Item = &'static str> {
        contract::CONTRACTS.iter().map(|contract| contract.name)
    }

    /// Parses `FILE`, or `CONTRACT:FILE` as in `whale:hooks.json`.
    pub fn parse(written: &str) -> Self {
        match written.split_once(':') {
            Some((name, path)) if contract::find_contract(name).is_some() => {
                Self { path: path.into(), contract: contract::find_contract(name).map(|contract| contract.name) }
            }
            _ => Self::new(written),
        }
    }
}

/// The owner of a file, who determines its rights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileOwner {
    User,
    Project,
    /// The caller named it.
    Caller,
}

/// A file that may exist.
#[derive(Debug)]
pub(super) struct CandidateFile {
    pub(super) path: PathBuf,
    pub(super) display_path: String,
    /// Unknown for a file from the caller at no contract's path.
    pub(super) contract: Option<&'static Contract>,
    pub(super) owner: FileOwner,
}

/// How many files of a directory are read.
pub(super) const MAX_DIRECTORY_FILES: usize = 256;

impl CandidateFile {
    /// A contract's file, or its directory of files, at one of its locations. `None` if its base directory is unknown.
    pub(super) fn from_location(
        contract: &'static Contract,
        place: &HookFileLocation,
        around: &ConfigDirs,
    ) -> Option<Self> {
        let (base, whose) = match place.base {
            BaseDirectory::Home => (around.home.as_deref()?, FileOwner::User),
            BaseDirectory::Config => (around.config_dir.as_deref()?, FileOwner::User),
            BaseDirectory::Project => (around.project.as_path(), FileOwner::Project),
        };
        let path = base.join(place.path);
        Some(Self { display_path: format_display_path(&path, around), path, contract: Some(contract), owner: whose })
    }

    /// The hook files in this directory, by name.
    pub(super) fn list_directory(&self, form: LocationForm, around: &ConfigDirs) -> Vec<Self> {
        let is_hook_file = |path: &PathBuf| match form {
            LocationForm::File => false,
            LocationForm::JsonFiles => path.extension().is_some_and(|extension| extension == "json"),
            LocationForm::Programs => contract::is_program_name(path),
        };
        let entries = std::fs::read_dir(&self.path).into_iter().flatten().flatten();
        let mut paths: Vec<_> = entries.map(|entry| entry.path()).filter(is_hook_file).collect();
        paths.sort();
        let file = |path: PathBuf| Self {
            display_path: format_display_path(&path, around),
            path,
            contract: self.contract,
            owner: self.owner,
        };
        paths.into_iter().map(file).collect()
    }

    /// The syntax of the file.
    pub(super) fn syntax(&self) -> FileSyntax {
        let is_toml = self.path.extension().is_some_and(|extension| extension == "toml");
        match self.contract.map(|contract| contract.syntax) {
            Some(FileSyntax::Json) if is_toml => FileSyntax::Toml,
            Some(syntax) => syntax,
            None => FileSyntax::Json,
        }
    }

    /// A file that the caller named.
    pub(super) fn from_config_file(file: &ConfigFile, around: &ConfigDirs) -> Self {
        Self {
            display_path: format_display_path(&file.path, around),
            path: file.path.clone(),
            contract: file.contract.and_then(contract::find_contract).or_else(|| find_contract_by_path(&file.path)),
            owner: FileOwner::Caller,
        }
    }
}

impl ConfigDirs {
    /// Whether the project is the user's home directory or the directory of the user's `snell.toml`.
    pub(super) fn is_project_user_dir(&self) -> bool {
        let project = read_directory_id(&self.project);
        let own = [self.home.as_deref(), self.config_dir.as_deref()];
        project.is_some() && own.into_iter().flatten().any(|directory| read_directory_id(directory) == project)
    }

    /// The path that is pinned for a file of the project: the project without symlinks, and the file's name in it.
    pub(super) fn resolve_pin_path(&self, path: &Path) -> PathBuf {
        match (path.strip_prefix(&self.project), self.project.canonicalize()) {
            (Ok(inside), Ok(project)) => project.join(inside),
            _ => path.to_owned(),
        }
    }
}

/// The identity of a directory, under any of its names.
fn read_directory_id(directory: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    let metadata = std::fs::metadata(directory).ok()?;
    Some((metadata.dev(), metadata.ino()))
}

/// The contract of a file by its path: one of the contract's files, or a file in their directory.
fn find_contract_by_path(path: &Path) -> Option<&'static Contract> {
    let lies_in = |directory: &Path| path.parent().is_some_and(|parent| parent.ends_with(directory));
    let placed = CONTRACTS.iter().copied().find(|contract| {
        contract.locations.iter().any(|place| {
            let directory = Some(place.directory()).filter(|directory| !directory.as_os_str().is_empty());
            place.contains(path) || directory.is_some_and(lies_in)
        })
    });
    let toml = path.extension().is_some_and(|extension| extension == "toml");
    placed.or(toml.then_some(&contract::NATIVE))
}

/// The path for people: relative to the project, below `~`, or absolute. If the project is `/`, paths are absolute.
fn format_display_path(path: &Path, around: &ConfigDirs) -> String {
    let home = around.home.as_deref();
    let project = Some(&around.project).filter(|project| project.parent().is_some());
    if let Some(inside) = project.and_then(|project| path.strip_prefix(project).ok()) {
        inside.display().to_string()
    } else if let Some(inside) = home.and_then(|home| path.strip_prefix(home).ok()) {
        format!("~/{}", inside.display())
    } else {
        path.display().to_string()
    }
}
