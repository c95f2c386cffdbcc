//! Where files are looked for, which of them, and whose they are.

use std::path::{Path, PathBuf};

use crate::contract::{self, Base, CONTRACTS, Contract, Place};
use crate::guest::Guest;

/// Where files are looked for.
#[derive(Debug, Clone)]
pub(crate) struct Surroundings {
    pub(crate) project: PathBuf,
    pub(crate) home: Option<PathBuf>,
    pub(crate) config_dir: Option<PathBuf>,
}

/// Which files are read.
#[derive(Debug, Clone)]
pub(crate) enum Which {
    /// Those that exist of every contract.
    Discovered,
    /// Our own, and those that they borrow, but for the ones that this agent runs by itself.
    Guest(Option<&'static Guest>),
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
        Self {
            path: path.into(),
            contract: None,
        }
    }

    /// The contracts that a file can be named with.
    pub fn contracts() -> impl Iterator<Item = &'static str> {
        contract::CONTRACTS.iter().map(|contract| contract.name)
    }

    /// Reads `FILE`, or `CONTRACT:FILE` as in `whale:hooks.json`.
    pub fn parse(written: &str) -> Self {
        match written.split_once(':') {
            Some((name, path)) if contract::by_name(name).is_some() => Self {
                path: path.into(),
                contract: contract::by_name(name).map(|contract| contract.name),
            },
            _ => Self::new(written),
        }
    }
}

/// Whose file it is, and so what it may say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whose {
    User,
    Project,
    /// The caller named it, whoever wrote it.
    Named,
}

/// A file that may be there.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) path: PathBuf,
    pub(super) shown: String,
    /// Unknown where the caller named a file that lies nowhere in particular.
    pub(super) contract: Option<&'static Contract>,
    pub(super) whose: Whose,
}

impl Candidate {
    /// A contract's file at one of its places; none where the place lies in a directory that nobody named.
    pub(super) fn at(contract: &'static Contract, place: &Place, around: &Surroundings) -> Option<Self> {
        let (base, whose) = match place.base {
            Base::Home => (around.home.as_deref()?, Whose::User),
            Base::Config => (around.config_dir.as_deref()?, Whose::User),
            Base::Project => (around.project.as_path(), Whose::Project),
        };
        let path = base.join(place.path);
        Some(Self {
            shown: shown(&path, around),
            path,
            contract: Some(contract),
            whose,
        })
    }

    /// A file that the caller named.
    pub(super) fn named(file: &ConfigFile, around: &Surroundings) -> Self {
        Self {
            shown: shown(&file.path, around),
            path: file.path.clone(),
            contract: file
                .contract
                .and_then(contract::by_name)
                .or_else(|| contract_by_place(&file.path)),
            whose: Whose::Named,
        }
    }
}

impl Surroundings {
    /// Whether the project is the user's own place: the home directory, or the one of the user's `snell.toml`.
    pub(super) fn project_is_the_users(&self) -> bool {
        let project = identity(&self.project);
        let own = [self.home.as_deref(), self.config_dir.as_deref()];
        project.is_some()
            && own
                .into_iter()
                .flatten()
                .any(|directory| identity(directory) == project)
    }

    /// The path by which a file of the project is pinned: without links on the way to the project, whichever way was
    /// taken there, and with the file as it is named in it.
    pub(super) fn pin_path(&self, path: &Path) -> PathBuf {
        match (path.strip_prefix(&self.project), self.project.canonicalize()) {
            (Ok(inside), Ok(project)) => project.join(inside),
            _ => path.to_owned(),
        }
    }
}

/// Which directory it is, by whatever name.
fn identity(directory: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    let metadata = std::fs::metadata(directory).ok()?;
    Some((metadata.dev(), metadata.ino()))
}

/// The contract in whose place a file lies: as one of its files, or beside them in a directory of its own.
fn contract_by_place(path: &Path) -> Option<&'static Contract> {
    let lies_in = |directory: &Path| path.parent().is_some_and(|parent| parent.ends_with(directory));
    let placed = CONTRACTS.iter().copied().find(|contract| {
        contract.places.iter().any(|place| {
            let directory = Path::new(place.path)
                .parent()
                .filter(|parent| !parent.as_os_str().is_empty());
            path.ends_with(place.path) || directory.is_some_and(lies_in)
        })
    });
    let toml = path.extension().is_some_and(|extension| extension == "toml");
    placed.or(toml.then_some(&contract::NATIVE))
}

/// The path as people are shown it: from the project, from `~`, or whole. Where everything is inside the project (it is `/`), that
/// says nothing about a path, and without its beginning nobody would find it.
fn shown(path: &Path, around: &Surroundings) -> String {
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
