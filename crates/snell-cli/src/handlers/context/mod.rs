//! What an agent gets when its session starts: the content of the files that every session gets, and of those that its
//! role asks for.

mod files;
mod include;
mod role;
mod text;
mod voice;

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use snell::{ContextSettings, CoreFile, Message, Messages};

use self::files::Grounds;
use self::include::{Around, Pattern, Search};
use self::role::{Entry, Position, Wishes};
use self::text::{Remarks, Section, one_line};

/// How many files a session gets at most.
const MOST_FILES: usize = 200;

/// How many faults are told: whoever has more knows that something is wrong.
const MOST_FAULTS: usize = 20;

/// For whom files are loaded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request<'a> {
    /// The directory in which files are looked for.
    pub(crate) project: &'a Path,
    /// The role of the session.
    pub(crate) role: Option<&'a str>,
    /// What `${PROJECT_PATH}` stands for in a role.
    pub(crate) project_path: Option<&'a str>,
    pub(crate) home: Option<&'a Path>,
    pub(crate) settings: &'a ContextSettings,
    pub(crate) messages: &'a Messages,
}

/// What became of it.
#[derive(Debug, Default)]
pub(crate) struct Loaded {
    /// What the agent gets, if there is anything.
    pub(crate) text: Option<String>,
    /// What is wrong, one line each.
    pub(crate) faults: Vec<String>,
}

/// The rule that keeps agents from reading a file whose links are resolved, if one does.
pub(crate) type Forbidden<'a> = dyn Fn(&Path) -> Option<&'static str> + 'a;

/// Loads the files of a session. Whatever is wrong with one of them does not cost the others.
pub(crate) fn load(request: &Request<'_>, forbidden: &Forbidden<'_>) -> Loaded {
    let mut loading = Loading::new(request, forbidden);
    for file in request.settings.core().iter() {
        loading.core(file);
    }
    if let Some(role) = request.role {
        loading.role(role);
    }
    loading.finish()
}

/// Files being loaded.
struct Loading<'a> {
    request: &'a Request<'a>,
    forbidden: &'a Forbidden<'a>,
    /// What lines begin with that are Snell's own word.
    beginnings: Vec<String>,
    around: Around<'a>,
    /// Found out once there is a file at all.
    grounds: OnceCell<Grounds>,
    /// The files that were looked at, without links.
    seen: HashSet<PathBuf>,
    sections: Vec<Section>,
    remarks: Remarks,
    /// How many bytes all further files together may have.
    left: u64,
    faults: Vec<String>,
    untold_faults: usize,
}

impl<'a> Loading<'a> {
    fn new(request: &'a Request<'a>, forbidden: &'a Forbidden<'a>) -> Self {
        let max_all = request.settings.max_all();
        Self {
            request,
            forbidden,
            beginnings: request.messages.beginnings(),
            around: Around {
                project: request.project,
                project_path: request.project_path.filter(|path| !path.is_empty()),
                home: request.home,
            },
            grounds: OnceCell::new(),
            seen: HashSet::new(),
            sections: Vec::new(),
            remarks: Remarks {
                max_all,
                ..Remarks::default()
            },
            left: max_all,
            faults: Vec::new(),
            untold_faults: 0,
        }
    }

    fn finish(mut self) -> Loaded {
        let first_line = self.request.messages.say(Message::ContextLoaded);
        if self.untold_faults > 0 {
            let more = self.untold_faults;
            self.faults.push(format!("and {more} more faults with context files"));
        }
        Loaded {
            text: text::compose(first_line.as_deref(), &self.sections, &self.remarks),
            faults: self.faults,
        }
    }

    fn core(&mut self, file: &CoreFile) {
        let path = self.request.project.join(&file.path);
        // Where nobody knows the home directory, a path that begins there is one in the project after all.
        let anywhere = file.anywhere && file.path.is_absolute();
        self.take(&path, file.about.as_deref(), anywhere);
    }

    fn role(&mut self, role: &str) {
        let places = match role::places(role) {
            Ok(places) => places,
            Err(why) => {
                let role: String = role.chars().take(80).collect();
                self.fault(format!(
                    "the name of the role \"{role}\" {why}, so only core files are loaded; name a role such as \"chief\""
                ));
                return;
            }
        };
        for place in places {
            if let Some((shown, wishes)) = self.role_file(&self.request.project.join(place)) {
                self.grant(&shown, wishes);
                return;
            }
        }
    }

    /// The file of a role, if this is one, and what it asks for.
    fn role_file(&mut self, path: &Path) -> Option<(String, Wishes)> {
        let shown = self.shown(path);
        let resolved = self.admitted(path, false)?;
        let read = files::open(&resolved).and_then(|file| file.read_beginning(role::MAX_FRONT_MATTER));
        match read {
            Ok((head, more)) => {
                let wishes = role::wishes(&String::from_utf8_lossy(&head), more);
                Some((shown, wishes))
            }
            Err(error) => {
                self.unreadable(&shown, &error);
                None
            }
        }
    }

    /// Loads what a role asks for.
    fn grant(&mut self, role_file: &str, wishes: Wishes) {
        for fault in wishes.faults {
            self.fault(located(role_file, fault.at, &fault.message));
        }
        let mut search = Search::default();
        for entry in &wishes.entries {
            self.entry(role_file, entry, &mut search);
        }
        for (directory, error) in std::mem::take(&mut search.unreadable) {
            let shown = self.shown(&directory);
            self.fault(format!("{shown} cannot be searched for context files: {error}"));
        }
        for bound in &search.bounds {
            self.remark(bound.remark());
        }
    }

    fn entry(&mut self, role_file: &str, entry: &Entry, search: &mut Search) {
        if let Some(variable) = include::unknown_variable(&entry.text) {
            let message = format!(
                "\"{}\" is left out, because only ${{PROJECT_PATH}} is replaced, not ${{{variable}}}; write what it stands \
                 for",
                entry.text
            );
            self.fault(located(role_file, entry.at, &message));
            return;
        }
        let Some(named) = include::named(&entry.text, &self.around) else {
            return;
        };
        let Some(pattern) = named.pattern else {
            if search.spend() {
                self.take(&named.literal, None, false);
            }
            return;
        };
        if named.literal.is_file() {
            self.take(&named.literal, None, false);
        } else if let Some(start) = self.searchable(role_file, entry, &pattern) {
            let found = search.files(&pattern);
            for path in &found {
                // What is not taken any more need not be looked at.
                if self.is_full() || !has_better_name(path, &found, (&pattern.start, &start)) {
                    self.take(path, None, false);
                }
            }
        }
    }

    /// Where a pattern begins behind all links, if files may lie there: elsewhere there could be nothing but files that
    /// are allowed by their names, and those can be named.
    fn searchable(&mut self, role_file: &str, entry: &Entry, pattern: &Pattern) -> Option<PathBuf> {
        match files::resolve(&pattern.start) {
            Ok(None) => None,
            Ok(Some(start)) if self.grounds().hold(&start) => Some(start),
            Ok(Some(start)) => {
                let what = format!("\"{}\" begins in {}", entry.text, self.shown(&start));
                let message = format!("{what}, {}", self.how_to_allow(&start));
                self.fault(located(role_file, entry.at, &message));
                None
            }
            Err(error) => {
                let shown = self.shown(&pattern.start);
                self.fault(format!("{shown} cannot be searched for context files: {error}"));
                None
            }
        }
    }

    fn is_full(&self) -> bool {
        self.sections.len() + self.remarks.left_out.len() >= MOST_FILES
    }

    /// Loads a file, if it is there, may be read, and is not loaded already.
    fn take(&mut self, path: &Path, about: Option<&str>, anywhere: bool) {
        if self.is_full() {
            self.remark(format!("no more than {MOST_FILES} files are loaded; there may be more"));
            return;
        }
        let Some(resolved) = self.admitted(path, anywhere) else {
            return;
        };
        if !self.seen.insert(resolved.clone()) {
            return;
        }
        let shown = self.shown(path);
        let room = self.left.min(self.request.settings.max_file());
        let read = files::open(&resolved).and_then(|file| files::read(file, room));
        let mut body = match read {
            Ok(body) => body,
            Err(error) => {
                self.unreadable(&shown, &error);
                return;
            }
        };
        let nothing_fits = body.cut.is_some_and(|(bytes, _)| bytes == 0);
        if nothing_fits && room == self.left {
            self.remarks.left_out.push(shown);
            return;
        }
        if let Cow::Owned(quoted) = voice::as_its_own(&body.text, &self.beginnings) {
            body.text = quoted;
        }
        self.left = self.left.saturating_sub(body.size());
        let name = path.file_name().unwrap_or(path.as_os_str());
        self.sections.push(Section {
            name: name.to_string_lossy().into_owned(),
            about: about.map_or(shown, str::to_owned),
            body,
        });
    }

    /// The file behind all links, if there is one, and if it lies where files may lie.
    fn admitted(&mut self, path: &Path, anywhere: bool) -> Option<PathBuf> {
        match files::resolve(path) {
            Ok(None) => None,
            Ok(Some(resolved)) if anywhere => Some(resolved),
            Ok(Some(resolved)) if self.grounds().hold(&resolved) => self.unless_secret(path, resolved),
            Ok(Some(resolved)) => {
                let (shown, target) = (self.shown(path), resolved.display());
                let how = self.how_to_allow(&resolved);
                self.fault(format!("{shown} leads to {target}, {how}"));
                None
            }
            Err(error) => {
                self.unreadable(&self.shown(path), &error);
                None
            }
        }
    }

    /// The file, unless agents may not read it. A project can name any file of its own, and needs no trust for that; what its
    /// user names by its whole path may be given to agents.
    fn unless_secret(&mut self, path: &Path, resolved: PathBuf) -> Option<PathBuf> {
        let allow = self.request.settings.allow().iter();
        let mut allowed = allow.filter_map(|place| place.canonicalize().ok());
        if allowed.any(|place| place == resolved) {
            return Some(resolved);
        }
        let Some(rule) = (self.forbidden)(&resolved) else {
            return Some(resolved);
        };
        let (shown, target) = (self.shown(path), resolved.display().to_string());
        self.fault(format!(
            "{shown} is left out, because the guard does not let agents read {target} ({rule}); if its content may be given to \
             agents, write allow = [\"{target}\"] below [context] in your own snell.toml"
        ));
        None
    }

    fn grounds(&self) -> &Grounds {
        self.grounds.get_or_init(|| {
            let project_path = self.around.project_path.map(|path| self.around.project.join(path));
            Grounds::new(
                self.around.project,
                project_path.as_deref(),
                self.request.settings.allow(),
            )
        })
    }

    /// Why a file, or what lies in a directory, is left out, and what to do about it. Both are without links.
    fn how_to_allow(&self, place: &Path) -> String {
        let why = "outside of the project, so it is left out";
        let home = self.around.home.and_then(|home| home.canonicalize().ok());
        // Whoever allowed that much would allow every key and every password.
        if place.parent().is_none() || home.is_some_and(|home| home.starts_with(place)) {
            return format!(
                "{why}; name the files instead, and those that may be given to agents in allow as well, below [context] in \
                 your own snell.toml"
            );
        }
        let place = self.shown(place);
        format!(
            "{why}; if its content may be given to agents, write allow = [\"{place}\"] below [context] in your own \
             snell.toml"
        )
    }

    fn unreadable(&mut self, shown: &str, error: &io::Error) {
        self.fault(format!("{shown} is left out, because it cannot be read: {error}"));
    }

    /// Tells whoever looks after the files, and the agent.
    fn remark(&mut self, remark: String) {
        if !self.remarks.search.contains(&remark) {
            self.fault(remark.clone());
            self.remarks.search.push(remark);
        }
    }

    fn fault(&mut self, fault: String) {
        let fault = one_line(&fault);
        if self.faults.len() == MOST_FAULTS {
            self.untold_faults += 1;
        } else if !self.faults.contains(&fault) {
            self.faults.push(fault);
        }
    }

    /// A path as people are shown it: from the project, from `~`, or whole.
    fn shown(&self, path: &Path) -> String {
        // Without slashes that were written twice.
        let path: PathBuf = path.components().collect();
        if let Ok(inside) = path.strip_prefix(self.around.project) {
            return inside.display().to_string();
        }
        let below_home = self.around.home.and_then(|home| path.strip_prefix(home).ok());
        match below_home {
            Some(inside) => format!("~/{}", inside.display()),
            None => path.display().to_string(),
        }
    }
}

/// Whether what was found is a link, or lies behind one, and the file that it leads to was found by its own name as well.
/// The search began in this directory, as it is written and without links.
fn has_better_name(path: &Path, found: &[PathBuf], (start, resolved_start): (&Path, &Path)) -> bool {
    let Ok(Some(resolved)) = files::resolve(path) else {
        return false;
    };
    let Ok(below) = resolved.strip_prefix(resolved_start) else {
        return false;
    };
    let own = start.join(below);
    own != path && found.binary_search(&own).is_ok()
}

fn located(file: &str, at: Position, message: &str) -> String {
    format!("{file}:{}:{}: {message}", at.line, at.column)
}

#[cfg(test)]
mod tests;
