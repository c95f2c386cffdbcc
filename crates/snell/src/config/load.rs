//! Finds the configuration files and reads them into one ordered list of hooks.

use std::cell::OnceCell;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::discovery::{CandidateFile, ConfigDirs, FileOwner, FileSelection, MAX_DIRECTORY_FILES};
use super::exclude_self::HookExclusion;
use super::order::order_hooks;
use super::reader::{ConfigReader, HookSwitches};
use super::settings::{
    AuthoredSettings, FileSettings, GuardAuthor, PathBases, SnellSettings, UnreadableFile, WorkProfile,
};
use super::source::{ConfigSource, PathProbe, SourceReadResult};
use super::spanned::{DocumentSyntaxError, SpannedNode};
use super::trust_filter::{ProjectFileTrust, TrustScope, TrustSource, UnpinnedPolicy};
use crate::contract::{self, BaseDirectory, CONTRACTS, Contract, FileSyntax, HookFileLocation, LocationForm, NATIVE};
use crate::diagnostic::{Diagnostic, Severity, UserMessage};
use crate::hook::{Hook, SourceLocation};
use crate::trust::{ProjectFile, TrustStatus, TrustStore, UntrustedFile, hash_content};

/// The parameters of a load.
#[derive(Debug)]
pub(crate) struct LoadRequest {
    pub(crate) selection: FileSelection,
    pub(crate) dirs: ConfigDirs,
    /// The trusted files of projects, if trust is checked.
    pub(crate) trust_source: Option<TrustSource>,
    pub(crate) trust_scope: TrustScope,
    pub(crate) unpinned_policy: UnpinnedPolicy,
    /// The argument of `snell trust` for this project, if it needs one.
    pub(crate) trust_command_argument: Option<String>,
    /// Hooks that would call the caller itself.
    pub(crate) exclusion: Option<HookExclusion>,
    /// The profile that a launcher's variables switch on.
    pub(crate) launcher_profile: Option<WorkProfile>,
}

impl LoadRequest {
    /// Whether the user trusts the project as a whole. A project that is the user's own directory needs no trust.
    pub(crate) fn is_project_trusted(&self) -> bool {
        let project = &self.dirs.project;
        let is_listed = |source: &TrustSource| {
            let resolved = project.canonicalize();
            (source.0)().is_project_trusted(resolved.as_deref().unwrap_or(project))
        };
        self.trust_source.as_ref().is_some_and(is_listed) || self.dirs.is_project_user_dir()
    }
}

/// All loaded files.
#[derive(Debug, Default)]
pub(crate) struct LoadedConfig {
    sources: Vec<LoadedSource>,
    /// The home directory.
    home: Option<PathBuf>,
    /// The project.
    project: PathBuf,
    launcher_profile: Option<WorkProfile>,
    /// All hooks that may run, in the order in which they run.
    pub(crate) hooks: Vec<Arc<Hook>>,
    /// The same, with hooks of untrusted files and excluded hooks, which are disabled.
    pub(crate) all_hooks: Vec<Arc<Hook>>,
    /// The metadata of the files when they were read. Missing files are in the list too.
    stamps: Vec<(PathBuf, Option<FileStamp>)>,
}

#[derive(Debug)]
pub(super) struct LoadedSource {
    path: PathBuf,
    owner: FileOwner,
    pub(super) contract: &'static Contract,
    pub(super) hooks: Vec<Hook>,
    pub(super) switches: HookSwitches,
    settings: FileSettings,
    diagnostics: Vec<Diagnostic>,
    /// Whether the file could not be read, and its earlier content is unknown.
    is_unreadable: bool,
    /// Its trust status, if trust is checked.
    file_trust: Option<ProjectFileTrust>,
}

impl LoadedSource {
    /// Why the file is not used, if so.
    pub(super) fn rejection_reason(&self) -> Option<&str> {
        self.file_trust.as_ref()?.rejection_reason.as_deref()
    }

    /// Its settings and their author. A file from the caller has the user's rights.
    fn authored_settings(&self) -> AuthoredSettings<'_> {
        let author = match (self.owner, self.rejection_reason()) {
            (_, Some(_)) => GuardAuthor::Untrusted,
            (FileOwner::Project, None) => GuardAuthor::Project,
            (FileOwner::User | FileOwner::Caller, None) => GuardAuthor::User,
        };
        AuthoredSettings { settings: &self.settings, author }
    }

    /// This file, if it is the user's own and cannot be read.
    fn unreadable_file(&self) -> Option<UnreadableFile> {
        let is_own = self.owner == FileOwner::User && *self.contract == NATIVE;
        let fault = self.diagnostics.first().filter(|_| self.is_unreadable && is_own)?;
        Some(UnreadableFile {
            origin: SourceLocation {
                path: self.path.clone(),
                display_path: fault.path.clone(),
                line: fault.line,
                column: fault.column,
            },
            why: fault.message.clone(),
        })
    }

    /// The consequence if the file is not used.
    fn describe_loss(&self) -> String {
        match self.hooks.len() {
            0 if self.settings.has_guard_settings() => {
                "its settings do not apply, except stricter guard settings".to_owned()
            }
            0 => "its settings do not apply".to_owned(),
            1 => "its hook does not run".to_owned(),
            several => format!("its {several} hooks do not run"),
        }
    }

    /// Whether the file has hooks or settings.
    fn has_content(&self) -> bool {
        !self.hooks.is_empty() || self.switches != HookSwitches::default() || self.settings != FileSettings::default()
    }
}

impl LoadedConfig {
    pub(crate) fn diagnostics(&self) -> Vec<Diagnostic> {
        self.sources.iter().flat_map(|source| source.diagnostics.iter().cloned()).collect()
    }

    /// Whether a file borrows this contract.
    pub(crate) fn has_borrowed(&self, contract: &str) -> bool {
        self.sources.iter().any(|source| source.settings.borrow.iter().any(|one| one.contract == contract))
    }

    /// The files that were found.
    pub(crate) fn file_paths(&self) -> impl Iterator<Item = &Path> {
        self.sources.iter().map(|source| source.path.as_path())
    }

    /// Whether a file was changed, created or removed since. This includes files that borrow others.
    pub(crate) fn is_out_of_date(&self) -> bool {
        self.stamps.iter().any(|(path, stamp)| FileStamp::from_probe(&PathProbe::from_path(path)) != *stamp)
    }

    /// The merged settings of all files.
    pub(crate) fn settings(&self) -> SnellSettings {
        let said: Vec<_> = self.sources.iter().map(LoadedSource::authored_settings).collect();
        let bases = PathBases { home: self.home.as_deref(), project: &self.project };
        let mut settings = SnellSettings::from_files(&said, bases, self.launcher_profile);
        if let Some(unreadable) = self.sources.iter().find_map(LoadedSource::unreadable_file) {
            settings.guard.apply_unreadable_file(unreadable);
        }
        settings
    }

    /// The project's files whose trust was checked, in the order in which they were read.
    pub(crate) fn project_files(&self) -> Vec<ProjectFile> {
        let file = |source: &LoadedSource| {
            let judged = source.file_trust.as_ref()?;
            let hooks = self.all_hooks.iter().filter(|hook| hook.origin.path == source.path);
            Some(ProjectFile {
                path: judged.path.clone(),
                display_path: judged.display_path.clone(),
                contract: source.contract.name,
                sha256: judged.sha256.clone(),
                status: judged.status,
                command: judged.command.clone(),
                context: source.settings.context.clone(),
                hooks: hooks.cloned().collect(),
            })
        };
        self.sources.iter().filter_map(file).collect()
    }

    /// The project's files that are not used.
    pub(crate) fn untrusted_files(&self) -> Vec<UntrustedFile> {
        let withheld = |source: &LoadedSource| {
            let judged = source.file_trust.as_ref().filter(|judged| judged.rejection_reason.is_some())?;
            Some(UntrustedFile {
                path: judged.path.clone(),
                display_path: judged.display_path.clone(),
                status: judged.status,
                hooks: source.hooks.len(),
            })
        };
        self.sources.iter().filter_map(withheld).collect()
    }
}

/// The metadata of a file at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileStamp {
    device: u64,
    inode: u64,
    length: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl FileStamp {
    fn from_probe(look: &PathProbe) -> Option<Self> {
        let PathProbe::Present(metadata) = look else {
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

/// Reads all files. If a file becomes unreadable, its earlier content still applies: a half-saved file must not disable
/// a guard.
pub(crate) fn load_config(request: &LoadRequest, before: Option<&LoadedConfig>) -> LoadedConfig {
    let mut loading = ConfigLoader {
        request,
        before,
        sources: Vec::new(),
        stamps: Vec::new(),
        seen: Vec::new(),
        trust: OnceCell::new(),
        is_project_user_dir: OnceCell::new(),
    };
    match &request.selection {
        FileSelection::Discovered => {
            for contract in CONTRACTS {
                loading.load_contract(contract, |_| true);
            }
        }
        FileSelection::Guest(_) => {
            loading.load_contract(&NATIVE, |_| true);
            for (contract, reach) in loading.borrowed_contracts() {
                loading
                    .load_contract(contract, |place| reach == BorrowReach::All || place.base == BaseDirectory::Project);
            }
        }
        FileSelection::Only(files) => {
            for file in files {
                loading.load_file(&CandidateFile::from_config_file(file, &request.dirs));
            }
        }
    }
    let listed = order_hooks(&loading.sources, request.exclusion.as_ref());
    LoadedConfig {
        hooks: listed.iter().filter(|hook| !hook.is_untrusted && !hook.is_excluded).cloned().collect(),
        all_hooks: listed,
        home: request.dirs.home.clone(),
        project: request.dirs.project.clone(),
        launcher_profile: request.launcher_profile,
        sources: loading.sources,
        stamps: loading.stamps,
    }
}

/// Which of a contract's files are borrowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BorrowReach {
    /// The user borrows them.
    All,
    /// Only the project borrows them, so files of the user are not included.
    Project,
}

/// The state of a load.
struct ConfigLoader<'a> {
    request: &'a LoadRequest,
    before: Option<&'a LoadedConfig>,
    sources: Vec<LoadedSource>,
    stamps: Vec<(PathBuf, Option<FileStamp>)>,
    seen: Vec<Option<ContractFileId>>,
    trust: OnceCell<TrustStore>,
    is_project_user_dir: OnceCell<bool>,
}

/// A contract and the file that it reads: device and inode.
type ContractFileId = (Option<&'static str>, u64, u64);

/// Whether this is the first read of a file, or another contract has read it before.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FirstRead {
    Yes,
    No,
}

impl ConfigLoader<'_> {
    fn load_contract(&mut self, contract: &'static Contract, wanted: impl Fn(&HookFileLocation) -> bool) {
        let places = contract.locations.iter().filter(|place| wanted(place));
        for place in places {
            let Some(candidate) = CandidateFile::from_location(contract, place, &self.request.dirs) else {
                continue;
            };
            match place.form {
                LocationForm::File => self.load_file(&candidate),
                form => self.load_directory(&candidate, form),
            }
        }
    }

    fn load_directory(&mut self, directory: &CandidateFile, form: LocationForm) {
        let look = PathProbe::from_path(&directory.path);
        self.stamps.push((directory.path.clone(), FileStamp::from_probe(&look)));
        if matches!(look, PathProbe::Missing) {
            return;
        }
        let files = directory.list_directory(form, &self.request.dirs);
        if files.len() > MAX_DIRECTORY_FILES {
            let text = format!("has more than {MAX_DIRECTORY_FILES} hook files (the others are ignored)");
            let diagnostic = Diagnostic::for_file(Severity::Error, &directory.display_path, text);
            self.sources.push(build_broken_source(directory, diagnostic, None));
        }
        for file in files.iter().take(MAX_DIRECTORY_FILES) {
            self.load_file(file);
        }
    }

    fn load_file(&mut self, candidate: &CandidateFile) {
        let look = PathProbe::from_path(&candidate.path);
        let stamp = FileStamp::from_probe(&look);
        // Two names of one file (a symlink, or a project that is the home directory) are one file, unless two contracts
        // read it.
        let identity = stamp.map(|stamp| {
            let contract = candidate.contract.map(|contract| contract.name);
            (contract, stamp.device, stamp.inode)
        });
        self.stamps.push((candidate.path.clone(), stamp));
        if identity.is_some() && self.seen.contains(&identity) {
            return;
        }
        let read_before = identity.is_some_and(|(_, device, inode)| {
            let same = |earlier: &ContractFileId| (earlier.1, earlier.2) == (device, inode);
            self.seen.iter().flatten().any(same)
        });
        let read = if read_before { FirstRead::No } else { FirstRead::Yes };
        self.seen.push(identity);
        let Some(mut source) = self.read_candidate(candidate, &look, read) else {
            return;
        };
        if let Some(judged) = &mut source.file_trust {
            judged.update_status(self.trust_store(), self.request.unpinned_policy);
        }
        if let Some(judged) = source.file_trust.as_ref().filter(|judged| judged.rejection_reason.is_some()) {
            // Problems in the file do not matter until the user trusts it.
            let message = judged.describe_rejection(&source.describe_loss(), self.trust_store());
            source.diagnostics = vec![Diagnostic::for_file(Severity::Warning, &candidate.display_path, message)];
            // A project must not disable a file of the user by a symlink to it.
            self.seen.pop();
        }
        self.sources.push(source);
    }

    /// Reads and parses a file. A missing file is `None`, unless the caller named it. An invalid one keeps its earlier
    /// hooks.
    fn read_candidate(&self, candidate: &CandidateFile, look: &PathProbe, read: FirstRead) -> Option<LoadedSource> {
        let source = match ConfigSource::read_probed(&candidate.path, candidate.display_path.clone(), look) {
            SourceReadResult::Missing if candidate.owner != FileOwner::Caller => return None,
            SourceReadResult::Missing => {
                let missing = Diagnostic::for_file(Severity::Error, &candidate.display_path, "does not exist");
                build_broken_source(candidate, missing, None)
            }
            SourceReadResult::Unreadable(diagnostic) => build_broken_source(candidate, diagnostic, self.before),
            SourceReadResult::Text(source)
                if source.text.trim().is_empty() && find_earlier_source(candidate, self.before).is_some() =>
            {
                let diagnostic = source.make_diagnostic(
                    Severity::Error,
                    0,
                    UserMessage::new("is empty now").with_hint("delete the file to remove its hooks"),
                );
                // Saving a file empties it first, so it may be only half saved.
                build_broken_source(candidate, diagnostic, self.before)
            }
            SourceReadResult::Text(source) => match parse_source(candidate, &source) {
                Ok(mut loaded) => {
                    // Entries for a third contract were already loaded at the first read.
                    let lane = loaded.contract.lane;
                    loaded.hooks.retain(|hook| read == FirstRead::Yes || hook.contract.lane == lane);
                    loaded.file_trust = self.build_file_trust(candidate, &source, &loaded);
                    loaded
                }
                Err(fault) => {
                    let diagnostic =
                        source.make_diagnostic(Severity::Error, fault.offset, describe_fault(&fault, candidate));
                    build_broken_source(candidate, diagnostic, self.before)
                }
            },
        };
        Some(source)
    }

    /// Prepares the trust check, if the file needs one. It hashes the text that was read, so the file cannot change in
    /// between.
    fn build_file_trust(
        &self,
        candidate: &CandidateFile,
        source: &ConfigSource,
        loaded: &LoadedSource,
    ) -> Option<ProjectFileTrust> {
        self.needs_trust(candidate, loaded).then(|| ProjectFileTrust {
            path: self.request.dirs.resolve_pin_path(&candidate.path),
            display_path: candidate.display_path.clone(),
            sha256: hash_content(source.text.as_bytes()),
            status: TrustStatus::Untrusted,
            command: self.format_trust_command(loaded),
            rejection_reason: None,
        })
    }

    /// The command that trusts a file.
    fn format_trust_command(&self, loaded: &LoadedSource) -> String {
        let all = if self.is_loaded_for_guest(loaded.contract) { "" } else { " --all" };
        let directory = self.request.trust_command_argument.as_ref().map(|name| format!(" {name}"));
        format!("snell trust{all}{}", directory.unwrap_or_default())
    }

    fn trust_store(&self) -> &TrustStore {
        let ask = || self.request.trust_source.as_ref().map(|pins| (pins.0)());
        self.trust.get_or_init(|| ask().unwrap_or_default())
    }

    /// A file without content needs no trust, and neither does one in the user's own directory.
    fn needs_trust(&self, candidate: &CandidateFile, loaded: &LoadedSource) -> bool {
        let of_the_project = match candidate.owner {
            FileOwner::User => false,
            FileOwner::Project => true,
            FileOwner::Caller => candidate.path.starts_with(&self.request.dirs.project),
        };
        let concerned = || self.request.trust_scope == TrustScope::All || self.is_loaded_for_guest(loaded.contract);
        let users_own = || {
            let around = &self.request.dirs;
            *self.is_project_user_dir.get_or_init(|| around.is_project_user_dir())
        };
        self.request.trust_source.is_some() && of_the_project && loaded.has_content() && concerned() && !users_own()
    }

    fn is_loaded_for_guest(&self, contract: &Contract) -> bool {
        *contract == NATIVE || self.borrowed_contracts().iter().any(|(borrowed, _)| **borrowed == *contract)
    }

    /// The contracts that are borrowed, in the order in which their hooks run. The calling agent runs its own hook files
    /// itself. Without a caller, as for `snell trust`, every borrowed contract counts.
    fn borrowed_contracts(&self) -> Vec<(&'static Contract, BorrowReach)> {
        let caller = match self.request.selection {
            FileSelection::Guest(agent) => agent,
            FileSelection::Discovered | FileSelection::Only(_) => None,
        };
        let own = caller.and_then(|agent| agent.contract);
        let lists: Vec<_> = self
            .sources
            .iter()
            .filter(|source| source.rejection_reason().is_none())
            .flat_map(|source| source.settings.borrow.iter().map(|borrowed| (source.owner, borrowed)))
            .collect();
        let reach = |contract: &&'static Contract| {
            let mut owners =
                lists.iter().filter(|(_, borrowed)| borrowed.contract == contract.name).map(|(whose, _)| *whose);
            let first = owners.next()?;
            let only_the_project = first == FileOwner::Project && owners.all(|whose| whose == FileOwner::Project);
            Some(if only_the_project { BorrowReach::Project } else { BorrowReach::All })
        };
        CONTRACTS
            .iter()
            .filter(|contract| own != Some(contract.name))
            .filter_map(|contract| Some((*contract, reach(contract)?)))
            .collect()
    }
}

/// The message about a document that cannot be parsed.
fn describe_fault(fault: &DocumentSyntaxError, candidate: &CandidateFile) -> UserMessage {
    let message = UserMessage::new(&*fault.message);
    let is_own = candidate.contract.is_some_and(|contract| contract.name == NATIVE.name);
    match &fault.duplicate_table {
        Some(table) if is_own => message.with_hint(format!(
            "put its keys below the first one, or remove it and run `snell config set {table}.KEY VALUE`"
        )),
        Some(_) => message.with_hint("put its keys below the first one"),
        None => message,
    }
}

fn parse_source(candidate: &CandidateFile, source: &ConfigSource) -> Result<LoadedSource, DocumentSyntaxError> {
    let mut reading = ConfigReader::new(source, candidate.owner);
    reading.syntax = candidate.syntax();
    let node = match reading.syntax {
        FileSyntax::Toml => Some(SpannedNode::from_toml(&source.text)?),
        FileSyntax::Json => Some(SpannedNode::from_json(&source.text)?),
        FileSyntax::Program => None,
    };
    let by_content = || node.as_ref().map_or(&NATIVE, contract::find_contract_for_document);
    let contract = candidate.contract.unwrap_or_else(by_content);
    match &node {
        Some(node) => contract::read_document(contract, &mut reading, node),
        None => contract::read_program(contract, &mut reading),
    }
    // Report each problem once, in the order of the file.
    let mut diagnostics = reading.diagnostics;
    diagnostics.sort_by_key(|found| (found.line, found.column));
    diagnostics.dedup();
    Ok(LoadedSource {
        path: candidate.path.clone(),
        owner: candidate.owner,
        contract,
        hooks: reading.hooks,
        switches: reading.switches,
        settings: reading.settings,
        diagnostics,
        is_unreadable: false,
        file_trust: None,
    })
}

/// A file that cannot be used. Its earlier content applies, if there is any.
fn build_broken_source(
    candidate: &CandidateFile,
    mut diagnostic: Diagnostic,
    before: Option<&LoadedConfig>,
) -> LoadedSource {
    let known = find_earlier_source(candidate, before);
    if known.is_some() {
        diagnostic.message.push_str(" (using its last valid content)");
    }
    LoadedSource {
        path: candidate.path.clone(),
        owner: candidate.owner,
        contract: known.map(|source| source.contract).or(candidate.contract).unwrap_or(&NATIVE),
        hooks: known.map(|source| source.hooks.clone()).unwrap_or_default(),
        switches: known.map(|source| source.switches.clone()).unwrap_or_default(),
        settings: known.map(|source| source.settings.clone()).unwrap_or_default(),
        diagnostics: vec![diagnostic],
        is_unreadable: known.is_none(),
        file_trust: known.and_then(|source| source.file_trust.clone()),
    }
}

/// The earlier content of the file, if there is any.
fn find_earlier_source<'a>(candidate: &CandidateFile, before: Option<&'a LoadedConfig>) -> Option<&'a LoadedSource> {
    let same = |source: &LoadedSource| {
        source.path == candidate.path && candidate.contract.is_none_or(|contract| *contract == *source.contract)
    };
    before?.sources.iter().find(|source| same(source) && source.has_content())
}
