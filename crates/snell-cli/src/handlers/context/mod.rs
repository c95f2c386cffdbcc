//! The context of a session at its start: the files that every session gets, and the files of its role.

mod allowed_files;
mod include;
mod prefix_escape;
mod render;
mod role;

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use snell::{AgentMessage, ContextSettings, CoreFile, MessageTemplates, UserMessage};

use crate::env::format_trust_command;

use self::allowed_files::AllowedRoots;
pub(super) use self::allowed_files::none_if_absent;
use self::include::{FileSearch, IncludeBase, IncludePattern};
use self::render::{ContextSection, LoadRemarks, replace_control_chars};
use self::role::{HeadExtent, RoleFilePosition, RoleIncludeEntry, RoleIncludes};

/// A session gets at most this many files.
const MAX_FILES: usize = 200;

/// At most this many faults are reported.
const MAX_FAULTS: usize = 20;

/// Whether sessions may get files that the project provides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ContextTrust {
    #[default]
    Sufficient,
    /// Only files that the user's own settings name by an absolute path.
    Missing,
}

/// The session for which files are loaded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ContextRequest<'a> {
    /// The directory in which files are searched.
    pub(crate) project: &'a Path,
    /// The role of the session.
    pub(crate) role: Option<&'a str>,
    /// The value of `${PROJECT_PATH}` in a role.
    pub(crate) project_path: Option<&'a str>,
    pub(crate) home: Option<&'a Path>,
    pub(crate) settings: &'a ContextSettings,
    pub(crate) messages: &'a MessageTemplates,
    pub(crate) trust: ContextTrust,
}

/// The result of loading.
#[derive(Debug, Default)]
pub(crate) struct LoadedContext {
    /// The text for the agent, if there are files.
    pub(crate) text: Option<String>,
    /// Problems.
    pub(crate) faults: Vec<UserMessage>,
}

/// The rule that forbids agents to read a resolved path, if there is one.
pub(crate) type ReadRuleLookup<'a> = dyn Fn(&Path) -> Option<String> + 'a;

/// Loads the files of a session. A problem with one file does not affect the others.
pub(crate) fn load_context(request: &ContextRequest<'_>, forbidden: &ReadRuleLookup<'_>) -> LoadedContext {
    let mut loading = ContextLoader::new(request, forbidden);
    for file in request.settings.core_files().iter() {
        loading.load_core_file(file);
    }
    if let Some(role) = request.role {
        loading.load_role(role);
    }
    loading.finish()
}

/// The project's own core files and its directory of roles, if they exist: paths in the project.
pub(crate) fn find_project_context_files(settings: &ContextSettings, project: &Path) -> Vec<PathBuf> {
    let core = settings.core_files();
    let core = core.iter().map(|file| file.path.clone()).filter(|path| path.is_relative());
    core.chain([PathBuf::from(role::ROLE_DIR)]).filter(|path| project.join(path).exists()).collect()
}

/// Files being loaded.
struct ContextLoader<'a> {
    request: &'a ContextRequest<'a>,
    forbidden: &'a ReadRuleLookup<'a>,
    /// Prefixes of Snell's own lines.
    beginnings: Vec<String>,
    base: IncludeBase<'a>,
    /// Initialized with the first file.
    allowed_roots: OnceCell<AllowedRoots>,
    /// The resolved paths of files that were checked.
    seen: HashSet<PathBuf>,
    sections: Vec<ContextSection>,
    remarks: LoadRemarks,
    /// How many bytes the remaining files may have together.
    bytes_left: u64,
    faults: Vec<UserMessage>,
    omitted_faults: usize,
    /// Whether a file was left out because the project is not trusted.
    has_untrusted: bool,
}

impl<'a> ContextLoader<'a> {
    fn new(request: &'a ContextRequest<'a>, forbidden: &'a ReadRuleLookup<'a>) -> Self {
        let max_all = request.settings.max_total_bytes();
        Self {
            request,
            forbidden,
            beginnings: request.messages.line_prefixes(),
            base: IncludeBase {
                project: request.project,
                project_path: request.project_path.filter(|path| !path.is_empty()),
                home: request.home,
            },
            allowed_roots: OnceCell::new(),
            seen: HashSet::new(),
            sections: Vec::new(),
            remarks: LoadRemarks { max_all, ..LoadRemarks::default() },
            bytes_left: max_all,
            faults: Vec::new(),
            omitted_faults: 0,
            has_untrusted: false,
        }
    }

    fn finish(mut self) -> LoadedContext {
        let first_line = self.request.messages.render_message(AgentMessage::ContextLoaded);
        if self.has_untrusted {
            let problem = "the project's context files are not loaded, because the project is not trusted";
            let hint = format!("run: {}", format_trust_command(self.request.project, ""));
            self.faults.push(UserMessage::new(problem).with_hint(hint));
        }
        if self.omitted_faults > 0 {
            let more = self.omitted_faults;
            self.faults.push(UserMessage::new(format!("{more} more problems with context files")));
        }
        LoadedContext {
            text: render::compose_context(first_line.as_deref(), &self.sections, &self.remarks),
            faults: self.faults,
        }
    }

    fn load_core_file(&mut self, file: &CoreFile) {
        let path = self.request.project.join(&file.path);
        // Without a home directory, a path below it is in the project.
        let anywhere = file.may_be_outside_project && file.path.is_absolute();
        if !anywhere && self.request.trust == ContextTrust::Missing {
            self.has_untrusted |= path.exists();
            return;
        }
        self.load_file(&path, file.about.as_deref(), anywhere);
    }

    fn load_role(&mut self, role: &str) {
        let places = match role::list_role_paths(role) {
            Ok(places) => places,
            Err(why) => {
                let role: String = role.chars().take(80).collect();
                let problem = format!("the name of the role \"{role}\" {why}; only core files are loaded");
                self.add_fault(UserMessage::new(problem).with_hint("use a name such as \"chief\""));
                return;
            }
        };
        if self.request.trust == ContextTrust::Missing {
            self.has_untrusted |= places.iter().any(|place| self.request.project.join(place).exists());
            return;
        }
        for place in places {
            if let Some((shown, includes)) = self.read_role_file(&self.request.project.join(place)) {
                self.load_role_includes(&shown, includes);
                return;
            }
        }
    }

    /// The file of a role and its includes, if this is one.
    fn read_role_file(&mut self, path: &Path) -> Option<(String, RoleIncludes)> {
        let shown = self.display_path(path);
        let resolved = self.resolve_allowed(path, false)?;
        let read = allowed_files::open_resolved(&resolved).and_then(|file| file.read_prefix(role::MAX_FRONT_MATTER));
        match read {
            Ok((head, is_cut)) => {
                let extent = if is_cut { HeadExtent::Truncated } else { HeadExtent::WholeFile };
                let includes = role::parse_role_includes(&String::from_utf8_lossy(&head), extent);
                Some((shown, includes))
            }
            Err(error) => {
                self.report_unreadable(&shown, &error);
                None
            }
        }
    }

    /// Loads the files of a role.
    fn load_role_includes(&mut self, role_file: &str, includes: RoleIncludes) {
        for fault in includes.faults {
            self.add_fault(prefix_position(role_file, fault.at, fault.message));
        }
        let mut search = FileSearch::default();
        for entry in &includes.entries {
            self.load_entry(role_file, entry, &mut search);
        }
        for (directory, error) in std::mem::take(&mut search.unreadable) {
            let shown = self.display_path(&directory);
            self.add_fault(format!("cannot search {shown} for context files: {error}"));
        }
        for bound in &search.bounds {
            self.add_remark(bound.to_remark());
        }
    }

    fn load_entry(&mut self, role_file: &str, entry: &RoleIncludeEntry, search: &mut FileSearch) {
        if let Some(variable) = include::find_unknown_variable(&entry.text) {
            let problem = format!("\"{}\" is ignored, because ${{{variable}}} is not supported", entry.text);
            let message = UserMessage::new(problem).with_hint("write the value; only ${PROJECT_PATH} is replaced");
            self.add_fault(prefix_position(role_file, entry.at, message));
            return;
        }
        let Some(named) = include::resolve_entry(&entry.text, &self.base) else {
            return;
        };
        let Some(pattern) = named.pattern else {
            if search.spend_name() {
                self.load_file(&named.literal, None, false);
            }
            return;
        };
        if named.literal.is_file() {
            self.load_file(&named.literal, None, false);
        } else if let Some(start) = self.resolve_search_start(role_file, entry, &pattern) {
            let found = search.find_files(&pattern);
            for path in &found {
                // If no more files fit, there is no need to check symlinks.
                if self.is_full() || !has_direct_name(path, &found, (&pattern.start, &start)) {
                    self.load_file(path, None, false);
                }
            }
        }
    }

    /// The resolved start of a pattern, if it is allowed. Elsewhere only files could be allowed, and those need no pattern.
    fn resolve_search_start(
        &mut self,
        role_file: &str,
        entry: &RoleIncludeEntry,
        pattern: &IncludePattern,
    ) -> Option<PathBuf> {
        match allowed_files::resolve_links(&pattern.start) {
            Ok(None) => None,
            Ok(Some(start)) if self.allowed_roots().contains(&start) => Some(start),
            Ok(Some(start)) => {
                let problem = format!(
                    "\"{}\" is ignored, because {} is outside the project",
                    entry.text,
                    self.display_path(&start)
                );
                let message = UserMessage::new(problem).with_hint(self.explain_how_to_allow(&start));
                self.add_fault(prefix_position(role_file, entry.at, message));
                None
            }
            Err(error) => {
                let shown = self.display_path(&pattern.start);
                self.add_fault(format!("cannot search {shown} for context files: {error}"));
                None
            }
        }
    }

    fn is_full(&self) -> bool {
        self.sections.len() + self.remarks.left_out.len() >= MAX_FILES
    }

    /// Loads a file, if it exists, is allowed, and is not loaded already.
    fn load_file(&mut self, path: &Path, about: Option<&str>, anywhere: bool) {
        if self.is_full() {
            self.add_remark(format!("only {MAX_FILES} files are loaded; there may be more"));
            return;
        }
        let Some(resolved) = self.resolve_allowed(path, anywhere) else {
            return;
        };
        if !self.seen.insert(resolved.clone()) {
            return;
        }
        let shown = self.display_path(path);
        let room = self.bytes_left.min(self.request.settings.max_file_bytes());
        let read = allowed_files::open_resolved(&resolved).and_then(|file| allowed_files::read_within(file, room));
        let mut body = match read {
            Ok(body) => body,
            Err(error) => {
                self.report_unreadable(&shown, &error);
                return;
            }
        };
        let nothing_fits = body.cut.is_some_and(|(bytes, _)| bytes == 0);
        if nothing_fits && room == self.bytes_left {
            self.remarks.left_out.push(shown);
            return;
        }
        if let Cow::Owned(quoted) = prefix_escape::quote_spoofed_lines(&body.text, &self.beginnings) {
            body.text = quoted;
        }
        self.bytes_left = self.bytes_left.saturating_sub(body.size());
        let name = path.file_name().unwrap_or(path.as_os_str());
        self.sections.push(ContextSection {
            name: name.to_string_lossy().into_owned(),
            about: about.map_or(shown, str::to_owned),
            body,
        });
    }

    /// The resolved path of a file, if it exists and is allowed.
    fn resolve_allowed(&mut self, path: &Path, anywhere: bool) -> Option<PathBuf> {
        match allowed_files::resolve_links(path) {
            Ok(None) => None,
            Ok(Some(resolved)) if anywhere => Some(resolved),
            Ok(Some(resolved)) if self.allowed_roots().contains(&resolved) => self.reject_if_forbidden(path, resolved),
            Ok(Some(resolved)) => {
                let (shown, target) = (self.display_path(path), resolved.display());
                let problem = format!("{shown} is ignored, because {target} is outside the project");
                self.add_fault(UserMessage::new(problem).with_hint(self.explain_how_to_allow(&resolved)));
                None
            }
            Err(error) => {
                self.report_unreadable(&self.display_path(path), &error);
                None
            }
        }
    }

    /// Returns the file, unless the guard forbids agents to read it. A project can name any of its own files without trust. A file
    /// that the user allowed by its path passes.
    fn reject_if_forbidden(&mut self, path: &Path, resolved: PathBuf) -> Option<PathBuf> {
        let allow = self.request.settings.allowed_paths().iter();
        let mut allowed = allow.filter_map(|place| place.canonicalize().ok());
        if allowed.any(|place| place == resolved) {
            return Some(resolved);
        }
        let Some(rule) = (self.forbidden)(&resolved) else {
            return Some(resolved);
        };
        let (shown, target) = (self.display_path(path), resolved.display().to_string());
        let problem = format!("{shown} is ignored, because the guard denies reading {target} ({rule})");
        self.add_fault(UserMessage::new(problem).with_hint(suggest_allow(&target)));
        None
    }

    fn allowed_roots(&self) -> &AllowedRoots {
        self.allowed_roots.get_or_init(|| {
            let project_path = self.base.project_path.map(|path| self.base.project.join(path));
            AllowedRoots::new(self.base.project, project_path.as_deref(), self.request.settings.allowed_paths())
        })
    }

    /// How to allow a resolved file or directory.
    fn explain_how_to_allow(&self, place: &Path) -> String {
        let home = self.base.home.and_then(|home| home.canonicalize().ok());
        // This would allow every key and every password.
        if place.parent().is_none() || home.is_some_and(|home| home.starts_with(place)) {
            return "name the files instead, and add them to allow in [context] of your own snell.toml".into();
        }
        suggest_allow(&self.display_path(place))
    }

    fn report_unreadable(&mut self, shown: &str, error: &io::Error) {
        self.add_fault(format!("cannot read {shown}, so it is ignored: {error}"));
    }

    /// Reports a problem to the user and to the agent.
    fn add_remark(&mut self, remark: String) {
        if !self.remarks.search.contains(&remark) {
            self.add_fault(remark.as_str());
            self.remarks.search.push(remark);
        }
    }

    fn add_fault(&mut self, fault: impl Into<UserMessage>) {
        let UserMessage { text, hint } = fault.into();
        let fault =
            UserMessage { text: replace_control_chars(&text), hint: hint.as_deref().map(replace_control_chars) };
        if self.faults.len() == MAX_FAULTS {
            self.omitted_faults += 1;
        } else if !self.faults.contains(&fault) {
            self.faults.push(fault);
        }
    }

    /// A path for people: relative to the project, from `~`, or absolute.
    fn display_path(&self, path: &Path) -> String {
        // Removes repeated slashes.
        let path: PathBuf = path.components().collect();
        if let Ok(inside) = path.strip_prefix(self.base.project) {
            return inside.display().to_string();
        }
        let below_home = self.base.home.and_then(|home| path.strip_prefix(home).ok());
        match below_home {
            Some(inside) => format!("~/{}", inside.display()),
            None => path.display().to_string(),
        }
    }
}

/// Whether a found path is or contains a symlink, and its target was found by its own path as well. `start` is where the search
/// began, as written and resolved.
fn has_direct_name(path: &Path, found: &[PathBuf], (start, resolved_start): (&Path, &Path)) -> bool {
    let Ok(Some(resolved)) = allowed_files::resolve_links(path) else {
        return false;
    };
    let Ok(below) = resolved.strip_prefix(resolved_start) else {
        return false;
    };
    let own = start.join(below);
    own != path && found.binary_search(&own).is_ok()
}

fn suggest_allow(place: &str) -> String {
    format!("to load it anyway, write allow = [\"{place}\"] in [context] of your own snell.toml")
}

fn prefix_position(file: &str, at: RoleFilePosition, message: UserMessage) -> UserMessage {
    UserMessage { text: format!("{file}:{}:{}: {}", at.line, at.column, message.text), hint: message.hint }
}

#[cfg(test)]
mod tests;
