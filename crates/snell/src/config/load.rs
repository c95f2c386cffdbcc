//! Finding the files of every contract and reading them into one ordered list of hooks.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::node::{Node, SyntaxError};
use super::reading::{Reading, Switches};
use super::source::{Found, Look, Source};
use crate::contract::{self, Base, CONTRACTS, Contract, Syntax};
use crate::diagnostic::{Diagnostic, Severity};
use crate::hook::{Action, Hook};
use crate::matcher::{Dialect, Glob};

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

/// Everything that was read, file by file.
#[derive(Debug, Default)]
pub(crate) struct Loaded {
    sources: Vec<LoadedSource>,
    /// All hooks, in the order in which they run.
    pub(crate) hooks: Vec<Arc<Hook>>,
    /// The files as they were when they were read, those included that were not there.
    pub(crate) stamp: Stamp,
}

#[derive(Debug)]
struct LoadedSource {
    path: PathBuf,
    contract: &'static Contract,
    hooks: Vec<Hook>,
    switches: Switches,
    diagnostics: Vec<Diagnostic>,
}

impl Loaded {
    pub(crate) fn diagnostics(&self) -> Vec<Diagnostic> {
        self.sources
            .iter()
            .flat_map(|source| source.diagnostics.iter().cloned())
            .collect()
    }

    /// The files that were found.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        self.sources.iter().map(|source| source.path.as_path())
    }
}

/// What files looked like at one moment.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Stamp(Vec<Option<FileStamp>>);

#[derive(Debug, PartialEq, Eq)]
struct FileStamp {
    device: u64,
    inode: u64,
    length: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    pub(crate) fn take(which: &Which, around: &Surroundings) -> Self {
        let candidates = candidates(which, around);
        Self(
            candidates
                .iter()
                .map(|candidate| FileStamp::of(&Look::at(&candidate.path)))
                .collect(),
        )
    }
}

impl FileStamp {
    fn of(look: &Look) -> Option<Self> {
        let Look::There(metadata) = look else {
            return None;
        };
        Some(Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            length: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        })
    }
}

/// A file that may be there.
struct Candidate {
    path: PathBuf,
    shown: String,
    /// Unknown where the caller named a file that lies nowhere in particular.
    contract: Option<&'static Contract>,
}

/// Reads all files. What a file said stays in force while it cannot be read: a half-saved file must not open a guard.
pub(crate) fn load(which: &Which, around: &Surroundings, before: Option<&Loaded>) -> Loaded {
    let mut stamps = Vec::new();
    let mut sources = Vec::new();
    let mut seen = Vec::new();
    for candidate in candidates(which, around) {
        let look = Look::at(&candidate.path);
        let stamp = FileStamp::of(&look);
        // Two names of one file (a link, or a project that is the home directory) are one file, unless two contracts
        // read it: then it means something else to each.
        let identity = stamp.as_ref().map(|stamp| {
            let contract = candidate.contract.map(|contract| contract.name);
            (contract, stamp.device, stamp.inode)
        });
        stamps.push(stamp);
        if identity.is_some() && seen.contains(&identity) {
            continue;
        }
        let read_before = identity.is_some_and(|(_, device, inode)| {
            let same = |earlier: &(Option<&str>, u64, u64)| (earlier.1, earlier.2) == (device, inode);
            seen.iter().flatten().any(same)
        });
        seen.push(identity);
        let source = match Source::open(&candidate.path, candidate.shown.clone(), &look) {
            Found::Nothing => match which {
                Which::Discovered => continue,
                Which::Only(_) => {
                    let missing = Diagnostic::whole_file(Severity::Error, &candidate.shown, "does not exist");
                    broken(&candidate, missing, None)
                }
            },
            Found::Unreadable(diagnostic) => broken(&candidate, diagnostic, before),
            Found::Text(source) if source.text.trim().is_empty() && said_something(&candidate, before) => {
                let diagnostic = source.diagnostic(
                    Severity::Error,
                    0,
                    "is empty all at once; remove it to be rid of its hooks",
                );
                broken(&candidate, diagnostic, before)
            }
            Found::Text(source) => match read(&candidate, &source) {
                Ok(mut loaded) => {
                    // Entries of a third contract's shape were found the first time already.
                    let lane = loaded.contract.lane;
                    loaded.hooks.retain(|hook| !read_before || hook.contract.lane == lane);
                    loaded
                }
                Err(fault) => {
                    let diagnostic = source.diagnostic(Severity::Error, fault.at, fault.message);
                    broken(&candidate, diagnostic, before)
                }
            },
        };
        sources.push(source);
    }
    let hooks = arrange(&sources);
    Loaded {
        sources,
        hooks,
        stamp: Stamp(stamps),
    }
}

fn candidates(which: &Which, around: &Surroundings) -> Vec<Candidate> {
    match which {
        Which::Discovered => CONTRACTS
            .iter()
            .flat_map(|contract| contract.places.iter().map(move |place| (*contract, place)))
            .filter_map(|(contract, place)| {
                let base = match place.base {
                    Base::Home => around.home.as_deref()?,
                    Base::Project => &around.project,
                    Base::Config => around.config_dir.as_deref()?,
                };
                let path = base.join(place.path);
                Some(Candidate {
                    shown: shown(&path, around),
                    path,
                    contract: Some(contract),
                })
            })
            .collect(),
        Which::Only(files) => files
            .iter()
            .map(|file| Candidate {
                shown: shown(&file.path, around),
                path: file.path.clone(),
                contract: file
                    .contract
                    .and_then(contract::by_name)
                    .or_else(|| contract_by_place(&file.path)),
            })
            .collect(),
    }
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

/// The path as people are shown it: from the project, from `~`, or whole.
fn shown(path: &Path, around: &Surroundings) -> String {
    let home = around.home.as_deref();
    if let Ok(inside) = path.strip_prefix(&around.project) {
        inside.display().to_string()
    } else if let Some(inside) = home.and_then(|home| path.strip_prefix(home).ok()) {
        format!("~/{}", inside.display())
    } else {
        path.display().to_string()
    }
}

fn read(candidate: &Candidate, source: &Source) -> Result<LoadedSource, SyntaxError> {
    let toml = candidate
        .contract
        .is_some_and(|contract| contract.syntax == Syntax::Toml);
    let node = if toml {
        Node::from_toml(&source.text)?
    } else {
        Node::from_json(&source.text)?
    };
    let contract = candidate.contract.unwrap_or_else(|| contract::for_document(&node));
    let mut reading = Reading::new(source);
    contract::read(contract, &mut reading, &node);
    // Several entries under one bad name are one finding; people read findings from top to bottom.
    let mut diagnostics = reading.diagnostics;
    diagnostics.sort_by_key(|found| (found.line, found.column));
    diagnostics.dedup();
    Ok(LoadedSource {
        path: candidate.path.clone(),
        contract,
        hooks: reading.hooks,
        switches: reading.switches,
        diagnostics,
    })
}

/// A file that cannot be used: nothing of it, or what it said before.
fn broken(candidate: &Candidate, mut diagnostic: Diagnostic, before: Option<&Loaded>) -> LoadedSource {
    let known = earlier(candidate, before);
    if known.is_some() {
        diagnostic.message.push_str("; what it said before stays in force");
    }
    LoadedSource {
        path: candidate.path.clone(),
        contract: known
            .map(|source| source.contract)
            .or(candidate.contract)
            .unwrap_or(&contract::NATIVE),
        hooks: known.map(|source| source.hooks.clone()).unwrap_or_default(),
        switches: known.map(|source| source.switches.clone()).unwrap_or_default(),
        diagnostics: vec![diagnostic],
    }
}

/// Whether the file said something. Whoever saves a file empties it first, so an empty one may be half a save.
fn said_something(candidate: &Candidate, before: Option<&Loaded>) -> bool {
    earlier(candidate, before).is_some()
}

/// What the file said before, if that was anything: a hook, or a switch.
fn earlier<'a>(candidate: &Candidate, before: Option<&'a Loaded>) -> Option<&'a LoadedSource> {
    let same = |source: &LoadedSource| {
        source.path == candidate.path && candidate.contract.is_none_or(|contract| *contract == *source.contract)
    };
    let says_something = |source: &LoadedSource| !source.hooks.is_empty() || source.switches != Switches::default();
    before?
        .sources
        .iter()
        .find(|source| same(source) && says_something(source))
}

/// All hooks in the order in which they run, with what the switches of the files of their file's lane say about them.
fn arrange(sources: &[LoadedSource]) -> Vec<Arc<Hook>> {
    let mut hooks = Vec::new();
    for source in sources {
        let switches = Switched::of(source.contract.lane, sources);
        hooks.extend(source.hooks.iter().map(|hook| Arc::new(switches.apply(hook.clone()))));
    }
    let lane = |hook: &Arc<Hook>| {
        CONTRACTS
            .iter()
            .position(|contract| contract.lane == hook.contract.lane)
    };
    hooks.sort_by_key(lane);
    hooks
}

/// What all files of a lane say together about its hooks.
struct Switched {
    disabled: Option<String>,
    urls: Option<Vec<String>>,
    variables: Option<Vec<String>>,
}

impl Switched {
    fn of(lane: &str, sources: &[LoadedSource]) -> Self {
        let switches: Vec<_> = sources
            .iter()
            .filter(|source| source.contract.lane == lane)
            .map(|source| &source.switches)
            .collect();
        // The file that is read last is the nearest one, and its word counts.
        let disabled = switches.iter().rev().find_map(|switches| switches.disable_all.as_ref());
        Self {
            disabled: disabled
                .filter(|(disabled, _)| *disabled)
                .map(|(_, origin)| format!("disableAllHooks is set at {origin}")),
            urls: merged(switches.iter().map(|switches| switches.allowed_http_urls.as_ref())),
            variables: merged(switches.iter().map(|switches| switches.http_env_vars.as_ref())),
        }
    }

    fn apply(&self, mut hook: Hook) -> Hook {
        if self.disabled.is_some() {
            hook.disabled.clone_from(&self.disabled);
        }
        if let Action::Http(call) = &mut hook.action {
            let allowed = |pattern: &String| Glob::new(pattern, Dialect::PLAIN).matches(&call.url);
            if self.urls.as_ref().is_some_and(|urls| !urls.iter().any(allowed)) {
                call.refused = Some("its address is not in allowedHttpHookUrls".into());
            }
            if let Some(variables) = &self.variables {
                call.allowed_env_vars.retain(|name| variables.contains(name));
            }
        }
        hook
    }
}

/// A list that every file may add to; none where no file has it.
fn merged<'a>(lists: impl Iterator<Item = Option<&'a Vec<String>>>) -> Option<Vec<String>> {
    let lists: Vec<_> = lists.flatten().collect();
    (!lists.is_empty()).then(|| lists.into_iter().flatten().cloned().collect())
}
