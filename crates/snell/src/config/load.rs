//! Finding the files that count here and reading them into one ordered list of hooks.

use std::cell::OnceCell;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::arrange::arrange;
use super::judged::{Judged, Pins, Scope, Unpinned};
use super::left_out::LeftOut;
use super::node::{Node, SyntaxError};
use super::places::{Candidate, Surroundings, Which, Whose};
use super::reading::{Reading, Switches};
use super::settings::{Bases, Borrowed, FileSettings, GuardAuthor, Said, Settings, UnreadFile};
use super::source::{Found, Look, Source};
use crate::contract::{self, Base, CONTRACTS, Contract, NATIVE, Place, Syntax};
use crate::diagnostic::{Diagnostic, Severity};
use crate::guest::Guest;
use crate::hook::{Hook, Origin};
use crate::trust::{Judgement, ProjectFile, Trust, Withheld, sha256};

/// What is to be loaded.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) which: Which,
    pub(crate) around: Surroundings,
    /// Which files of projects are trusted, where somebody asks for that.
    pub(crate) pins: Option<Pins>,
    pub(crate) judged: Scope,
    pub(crate) unpinned: Unpinned,
    /// How the project is named to `snell trust`, if it has to be.
    pub(crate) trusted_as: Option<String>,
    /// Which hooks are the caller itself.
    pub(crate) left_out: Option<LeftOut>,
}

/// Everything that was read, file by file.
#[derive(Debug, Default)]
pub(crate) struct Loaded {
    sources: Vec<LoadedSource>,
    /// The home directory for which they were read.
    home: Option<PathBuf>,
    /// The project for which they were read.
    project: PathBuf,
    /// All hooks that may run, in the order in which they do.
    pub(crate) hooks: Vec<Arc<Hook>>,
    /// The same, and among them those that are withheld, as off.
    pub(crate) listed: Vec<Arc<Hook>>,
    /// The files as they were when they were read, those included that were not there.
    looks: Vec<(PathBuf, Option<FileStamp>)>,
}

#[derive(Debug)]
pub(super) struct LoadedSource {
    path: PathBuf,
    whose: Whose,
    pub(super) contract: &'static Contract,
    pub(super) hooks: Vec<Hook>,
    pub(super) switches: Switches,
    settings: FileSettings,
    diagnostics: Vec<Diagnostic>,
    /// Whether nothing of it could be read, and nothing is known of what it said before.
    is_lost: bool,
    /// Where trust was asked for: what was read, and what trust says about it.
    judged: Option<Judged>,
}

impl LoadedSource {
    /// Why nothing of the file counts, if so.
    pub(super) fn withheld(&self) -> Option<&str> {
        self.judged.as_ref()?.withheld.as_deref()
    }

    /// What it says beside its hooks, and whose word that is. A file that the caller named is the caller's.
    fn said(&self) -> Said<'_> {
        let author = match (self.whose, self.withheld()) {
            (_, Some(_)) => GuardAuthor::Untrusted,
            (Whose::Project, None) => GuardAuthor::Project,
            (Whose::User | Whose::Named, None) => GuardAuthor::User,
        };
        Said {
            settings: &self.settings,
            author,
        }
    }

    /// It, if it is the user's own file and cannot be read.
    fn unread(&self) -> Option<UnreadFile> {
        let is_own = self.whose == Whose::User && *self.contract == NATIVE;
        let fault = self.diagnostics.first().filter(|_| self.is_lost && is_own)?;
        Some(UnreadFile {
            origin: Origin {
                path: self.path.clone(),
                shown: fault.path.clone(),
                line: fault.line,
                column: fault.column,
            },
            why: fault.message.clone(),
        })
    }

    /// That it borrows hooks which this agent runs by itself, if it does and counts.
    fn borrowed_in_vain(&self, lender: &Guest) -> Vec<Diagnostic> {
        let Guest { title, contract, .. } = lender;
        let own = |borrowed: &&Borrowed| borrowed.contract == *contract && self.withheld().is_none();
        let borrowed = self.settings.borrow.iter().filter(own);
        let warning = |Borrowed { origin, .. }: &Borrowed| {
            origin.warning(format!(
                "{title} runs the hooks of \"{contract}\" by itself; they are not borrowed here"
            ))
        };
        borrowed.map(warning).collect()
    }

    /// What is lost if nothing of it counts.
    fn lost(&self) -> String {
        match self.hooks.len() {
            0 if self.settings.has_guard() => "nothing in it counts but what makes the guard stricter".to_owned(),
            0 => "nothing in it counts".to_owned(),
            1 => "its hook does not run".to_owned(),
            several => format!("its {several} hooks do not run"),
        }
    }

    /// Whether the file says anything: a hook, or about all hooks, or a setting.
    fn says_something(&self) -> bool {
        !self.hooks.is_empty() || self.switches != Switches::default() || self.settings != FileSettings::default()
    }
}

impl Loaded {
    pub(crate) fn diagnostics(&self) -> Vec<Diagnostic> {
        self.sources
            .iter()
            .flat_map(|source| source.diagnostics.iter().cloned())
            .collect()
    }

    /// What files borrow although nobody who calls Snell could have it from them.
    pub(crate) fn borrowed_in_vain(&self) -> Vec<Diagnostic> {
        let lender = Guest::lender_to_nobody(None);
        let sources = self.sources.iter();
        let found = lender.map(|lender| sources.flat_map(|source| source.borrowed_in_vain(lender)));
        found.into_iter().flatten().collect()
    }

    /// The files that were found.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        self.sources.iter().map(|source| source.path.as_path())
    }

    /// Whether a file was changed, created or removed since. A file that another one would borrow by now is none of
    /// them, but that other one was changed.
    pub(crate) fn is_out_of_date(&self) -> bool {
        self.looks
            .iter()
            .any(|(path, stamp)| FileStamp::of(&Look::at(path)) != *stamp)
    }

    /// What all files that count say beside their hooks.
    pub(crate) fn settings(&self) -> Settings {
        let said: Vec<_> = self.sources.iter().map(LoadedSource::said).collect();
        let bases = Bases {
            home: self.home.as_deref(),
            project: &self.project,
        };
        let mut settings = Settings::of(&said, bases);
        settings.guard.unread = self.sources.iter().find_map(LoadedSource::unread);
        settings
    }

    /// The project's files for which trust was asked, in the order in which they were read.
    pub(crate) fn project_files(&self) -> Vec<ProjectFile> {
        let file = |source: &LoadedSource| {
            let judged = source.judged.as_ref()?;
            let hooks = self.listed.iter().filter(|hook| hook.origin.path == source.path);
            Some(ProjectFile {
                path: judged.path.clone(),
                shown: judged.shown.clone(),
                contract: source.contract.name,
                sha256: judged.sha256.clone(),
                judgement: judged.judgement,
                command: judged.command.clone(),
                context: source.settings.context.clone(),
                hooks: hooks.cloned().collect(),
            })
        };
        self.sources.iter().filter_map(file).collect()
    }

    /// The project's files that do not count.
    pub(crate) fn withheld(&self) -> Vec<Withheld> {
        let withheld = |source: &LoadedSource| {
            let judged = source.judged.as_ref().filter(|judged| judged.withheld.is_some())?;
            Some(Withheld {
                path: judged.path.clone(),
                shown: judged.shown.clone(),
                why: judged.judgement,
                hooks: source.hooks.len(),
            })
        };
        self.sources.iter().filter_map(withheld).collect()
    }
}

/// What a file looked like at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileStamp {
    device: u64,
    inode: u64,
    length: u64,
    modified: (i64, i64),
    changed: (i64, i64),
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

/// Reads all files. What a file said stays in force while it cannot be read: a half-saved file must not open a guard.
pub(crate) fn load(request: &Request, before: Option<&Loaded>) -> Loaded {
    let mut loading = Loading {
        request,
        before,
        sources: Vec::new(),
        looks: Vec::new(),
        seen: Vec::new(),
        trust: OnceCell::new(),
        project_is_the_users: OnceCell::new(),
    };
    match &request.which {
        Which::Discovered => {
            for contract in CONTRACTS {
                loading.contract(contract, |_| true);
            }
        }
        Which::Guest(agent) => {
            loading.contract(&NATIVE, |_| true);
            if let Some(lender) = Guest::lender_to_nobody(*agent) {
                loading.return_to(lender);
            }
            for (contract, reach) in loading.borrowed() {
                loading.contract(contract, |place| reach == Reach::All || place.base == Base::Project);
            }
        }
        Which::Only(files) => {
            for file in files {
                loading.file(&Candidate::named(file, &request.around));
            }
        }
    }
    let listed = arrange(&loading.sources, request.left_out.as_ref());
    Loaded {
        hooks: listed
            .iter()
            .filter(|hook| !hook.withheld && !hook.is_left_out)
            .cloned()
            .collect(),
        listed,
        home: request.around.home.clone(),
        project: request.around.project.clone(),
        sources: loading.sources,
        looks: loading.looks,
    }
}

/// Which of a contract's files are borrowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// The user borrows them.
    All,
    /// Only the project borrows them, which has no say about files of the user.
    Project,
}

/// Files being read.
struct Loading<'a> {
    request: &'a Request,
    before: Option<&'a Loaded>,
    sources: Vec<LoadedSource>,
    looks: Vec<(PathBuf, Option<FileStamp>)>,
    seen: Vec<Option<Identity>>,
    trust: OnceCell<Trust>,
    project_is_the_users: OnceCell<bool>,
}

/// A contract and the file that it reads: device and inode.
type Identity = (Option<&'static str>, u64, u64);

impl Loading<'_> {
    fn contract(&mut self, contract: &'static Contract, wanted: impl Fn(&Place) -> bool) {
        let places = contract.places.iter().filter(|place| wanted(place));
        for place in places {
            if let Some(candidate) = Candidate::at(contract, place, &self.request.around) {
                self.file(&candidate);
            }
        }
    }

    fn file(&mut self, candidate: &Candidate) {
        let look = Look::at(&candidate.path);
        let stamp = FileStamp::of(&look);
        // Two names of one file (a link, or a project that is the home directory) are one file, unless two contracts
        // read it: then it means something else to each.
        let identity = stamp.map(|stamp| {
            let contract = candidate.contract.map(|contract| contract.name);
            (contract, stamp.device, stamp.inode)
        });
        self.looks.push((candidate.path.clone(), stamp));
        if identity.is_some() && self.seen.contains(&identity) {
            return;
        }
        let read_before = identity.is_some_and(|(_, device, inode)| {
            let same = |earlier: &Identity| (earlier.1, earlier.2) == (device, inode);
            self.seen.iter().flatten().any(same)
        });
        self.seen.push(identity);
        let mut source = match Source::open(&candidate.path, candidate.shown.clone(), &look) {
            Found::Nothing if candidate.whose != Whose::Named => return,
            Found::Nothing => {
                let missing = Diagnostic::whole_file(Severity::Error, &candidate.shown, "does not exist");
                broken(candidate, missing, None)
            }
            Found::Unreadable(diagnostic) => broken(candidate, diagnostic, self.before),
            Found::Text(source) if source.text.trim().is_empty() && earlier(candidate, self.before).is_some() => {
                let diagnostic = source.diagnostic(
                    Severity::Error,
                    0,
                    "is empty all at once; remove it to be rid of its hooks",
                );
                // Whoever saves a file empties it first, so an empty one may be half a save.
                broken(candidate, diagnostic, self.before)
            }
            Found::Text(source) => match read(candidate, &source) {
                Ok(mut loaded) => {
                    // Entries of a third contract's shape were found the first time already.
                    let lane = loaded.contract.lane;
                    loaded.hooks.retain(|hook| !read_before || hook.contract.lane == lane);
                    loaded.judged = self.to_be_judged(candidate, &source, &loaded);
                    loaded
                }
                Err(fault) => {
                    let diagnostic = source.diagnostic(Severity::Error, fault.at, fault.message);
                    broken(candidate, diagnostic, self.before)
                }
            },
        };
        if let Some(judged) = &mut source.judged {
            judged.decide(self.trust(), self.request.unpinned);
        }
        if let Some(judged) = source.judged.as_ref().filter(|judged| judged.withheld.is_some()) {
            // What is wrong in a file that does not count is for whoever will trust it.
            let message = judged.cost(&source.lost(), self.trust());
            source.diagnostics = vec![Diagnostic::whole_file(Severity::Warning, &candidate.shown, message)];
            // A project must not take a file of the user out of force by a link to it.
            self.seen.pop();
        }
        self.sources.push(source);
    }

    /// Takes down what is to be judged, where trust is to be asked for: the very text that was read, so that there is no
    /// moment in which the file could become another.
    fn to_be_judged(&self, candidate: &Candidate, source: &Source, loaded: &LoadedSource) -> Option<Judged> {
        self.asks_for_trust(candidate, loaded).then(|| Judged {
            path: self.request.around.pin_path(&candidate.path),
            shown: candidate.shown.clone(),
            sha256: sha256(source.text.as_bytes()),
            judgement: Judgement::Untrusted,
            command: self.trust_command(loaded),
            withheld: None,
        })
    }

    /// What is to be typed to have a file trusted.
    fn trust_command(&self, loaded: &LoadedSource) -> String {
        let all = if self.counts_for_a_guest(loaded.contract) {
            ""
        } else {
            " --all"
        };
        let directory = self.request.trusted_as.as_ref().map(|name| format!(" {name}"));
        format!("snell trust{all}{}", directory.unwrap_or_default())
    }

    fn trust(&self) -> &Trust {
        let ask = || self.request.pins.as_ref().map(|pins| (pins.0)());
        self.trust.get_or_init(|| ask().unwrap_or_default())
    }

    /// A file that says nothing needs no trust, and neither does one that lies in the user's own place.
    fn asks_for_trust(&self, candidate: &Candidate, loaded: &LoadedSource) -> bool {
        let of_the_project = match candidate.whose {
            Whose::User => false,
            Whose::Project => true,
            Whose::Named => candidate.path.starts_with(&self.request.around.project),
        };
        let concerned = || self.request.judged == Scope::All || self.counts_for_a_guest(loaded.contract);
        let users_own = || {
            let around = &self.request.around;
            *self.project_is_the_users.get_or_init(|| around.project_is_the_users())
        };
        self.request.pins.is_some() && of_the_project && loaded.says_something() && concerned() && !users_own()
    }

    fn counts_for_a_guest(&self, contract: &Contract) -> bool {
        *contract == NATIVE || self.borrowed().iter().any(|(borrowed, _)| **borrowed == *contract)
    }

    /// The contracts that are borrowed and can be, in the order in which their hooks run.
    fn borrowed(&self) -> Vec<(&'static Contract, Reach)> {
        let caller = match self.request.which {
            Which::Guest(agent) => agent,
            Which::Discovered | Which::Only(_) => None,
        };
        let kept = Guest::lender_to_nobody(caller).map(|lender| lender.contract);
        let lists: Vec<_> = self
            .sources
            .iter()
            .filter(|source| source.withheld().is_none())
            .flat_map(|source| source.settings.borrow.iter().map(|borrowed| (source.whose, borrowed)))
            .collect();
        let reach = |contract: &&'static Contract| {
            let mut owners = lists
                .iter()
                .filter(|(_, borrowed)| borrowed.contract == contract.name)
                .map(|(whose, _)| *whose);
            let first = owners.next()?;
            let only_the_project = first == Whose::Project && owners.all(|whose| whose == Whose::Project);
            Some(if only_the_project { Reach::Project } else { Reach::All })
        };
        CONTRACTS
            .iter()
            .filter(|contract| kept != Some(contract.name))
            .filter_map(|contract| Some((*contract, reach(contract)?)))
            .collect()
    }

    /// Says that an agent's own files cannot be borrowed: it runs them by itself.
    fn return_to(&mut self, lender: &Guest) {
        for source in &mut self.sources {
            let warnings = source.borrowed_in_vain(lender);
            source.diagnostics.extend(warnings);
        }
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
    let mut reading = Reading::new(source, candidate.whose);
    reading.syntax = contract.syntax;
    contract::read(contract, &mut reading, &node);
    // Several entries under one bad name are one finding; people read findings from top to bottom.
    let mut diagnostics = reading.diagnostics;
    diagnostics.sort_by_key(|found| (found.line, found.column));
    diagnostics.dedup();
    Ok(LoadedSource {
        path: candidate.path.clone(),
        whose: candidate.whose,
        contract,
        hooks: reading.hooks,
        switches: reading.switches,
        settings: reading.settings,
        diagnostics,
        is_lost: false,
        judged: None,
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
        whose: candidate.whose,
        contract: known
            .map(|source| source.contract)
            .or(candidate.contract)
            .unwrap_or(&NATIVE),
        hooks: known.map(|source| source.hooks.clone()).unwrap_or_default(),
        switches: known.map(|source| source.switches.clone()).unwrap_or_default(),
        settings: known.map(|source| source.settings.clone()).unwrap_or_default(),
        diagnostics: vec![diagnostic],
        is_lost: known.is_none(),
        judged: known.and_then(|source| source.judged.clone()),
    }
}

/// What the file said before, if that was anything.
fn earlier<'a>(candidate: &Candidate, before: Option<&'a Loaded>) -> Option<&'a LoadedSource> {
    let same = |source: &LoadedSource| {
        source.path == candidate.path && candidate.contract.is_none_or(|contract| *contract == *source.contract)
    };
    before?
        .sources
        .iter()
        .find(|source| same(source) && source.says_something())
}
