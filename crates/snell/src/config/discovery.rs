//! Where files are looked for, which of them, and whose they are.

use std::path::{Path, PathBuf};

use crate::agents::AgentProduct;
use crate::contract::{self, BaseDirectory, CONTRACTS, Contract, HookFileLocation};

/// Where files are looked for.
#[derive(Debug, Clone)]
pub(crate) struct ConfigDirs {
    pub(crate) project: PathBuf,
    pub(crate) home: Option<PathBuf>,
    pub(crate) config_dir: Option<PathBuf>,
}

/// Which files are read.
#[derive(Debug, Clone)]
pub(crate) enum FileSelection {
    /// Those that exist of every contract.
    Discovered,
    /// Our own, and those that they borrow, but for the ones that this agent runs by itself.
    Guest(Option<&'static AgentProduct>),
    /// These, and no others.
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
    /// A file whose contract is known by its place (`.wave/settings.json`) or by its shape.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), contract: None }
    }

    /// The contracts that a file can be named with.
    pub fn contract_names() -> impl Iterator<Item = &'static str> {
        contract::CONTRACTS.iter().map(|contract| contract.name)
    }

    /// Reads `FILE`, or `CONTRACT:FILE` as in `whale:hooks.json`.
    pub fn parse(written: &str) -> Self {
        match written.split_once(':') {
            Some((name, path)) if contract::find_contract(name).is_some() => {
                Self { path: path.into(), contract: contract::find_contract(name).map(|contract| contract.name) }
            }
            _ => Self::new(written),
        }
    }
}

/// Whose file it is, and so what it may say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileOwner {
    User,
    Project,
    /// The caller named it, whoever wrote it.
    Caller,
}

/// A file that may be there.
#[derive(Debug)]
pub(super) struct CandidateFile {
    pub(super) path: PathBuf,
    pub(super) display_path: String,
    /// Unknown where the caller named a file that lies nowhere in particular.
    pub(super) contract: Option<&'static Contract>,
    pub(super) owner: FileOwner,
}

impl CandidateFile {
    /// A contract's file at one of its places; none where the place lies in a directory that nobody named.
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
    /// Whether the project is the user's own place: the home directory, or the one of the user's `snell.toml`.
    pub(super) fn is_project_user_dir(&self) -> bool {
        let project = read_directory_id(&self.project);
        let own = [self.home.as_deref(), self.config_dir.as_deref()];
        project.is_some() && own.into_iter().flatten().any(|directory| read_directory_id(directory) == project)
    }

    /// The path by which a file of the project is pinned: without links on the way to the project, whichever way was
    /// taken there, and with the file as it is named in it.
    pub(super) fn resolve_pin_path(&self, path: &Path) -> PathBuf {
        match (path.strip_prefix(&self.project), self.project.canonicalize()) {
            (Ok(inside), Ok(project)) => project.join(inside),
            _ => path.to_owned(),
        }
    }
}

/// Which directory it is, by whatever name.
fn read_directory_id(directory: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    let metadata = std::fs::metadata(directory).ok()?;
    Some((metadata.dev(), metadata.ino()))
}

/// The contract in whose place a file lies: as one of its files, or beside them in a directory of its own.
fn find_contract_by_path(path: &Path) -> Option<&'static Contract> {
    let lies_in = |directory: &Path| path.parent().is_some_and(|parent| parent.ends_with(directory));
    let placed = CONTRACTS.iter().copied().find(|contract| {
        contract.locations.iter().any(|place| {
            let directory = Path::new(place.path).parent().filter(|parent| !parent.as_os_str().is_empty());
            path.ends_with(place.path) || directory.is_some_and(lies_in)
        })
    });
    let toml = path.extension().is_some_and(|extension| extension == "toml");
    placed.or(toml.then_some(&contract::NATIVE))
}

/// The path as people are shown it: from the project, from `~`, or whole. Where everything is inside the project (it is `/`), that
/// says nothing about a path, and without its beginning nobody would find it.
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
