//! What an agent gets when its session starts: the content of the files that every session gets, and of those that its
//! role asks for.

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

use snell::{AgentMessage, ContextSettings, CoreFile, MessageTemplates};

use self::allowed_files::AllowedRoots;
pub(super) use self::allowed_files::none_if_absent;
use self::include::{FileSearch, IncludeBase, IncludePattern};
use self::render::{ContextSection, LoadRemarks, replace_control_chars};
use self::role::{HeadExtent, RoleFilePosition, RoleIncludeEntry, RoleIncludes};

/// How many files a session gets at most.
const MAX_FILES: usize = 200;

/// How many faults are told: whoever has more knows that something is wrong.
const MAX_FAULTS: usize = 20;

/// For whom files are loaded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ContextRequest<'a> {
    /// The directory in which files are looked for.
    pub(crate) project: &'a Path,
    /// The role of the session.
    pub(crate) role: Option<&'a str>,
    /// What `${PROJECT_PATH}` stands for in a role.
    pub(crate) project_path: Option<&'a str>,
    pub(crate) home: Option<&'a Path>,
    pub(crate) settings: &'a ContextSettings,
    pub(crate) messages: &'a MessageTemplates,
}

/// What became of it.
#[derive(Debug, Default)]
pub(crate) struct LoadedContext {
    /// What the agent gets, if there is anything.
    pub(crate) text: Option<String>,
    /// What is wrong, one line each.
    pub(crate) faults: Vec<String>,
}

/// The rule that keeps agents from reading a file whose links are resolved, if one does.
pub(crate) type ReadRuleLookup<'a> = dyn Fn(&Path) -> Option<&'static str> + 'a;

/// Loads the files of a session. Whatever is wrong with one of them does not cost the others.
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

/// Files being loaded.
struct ContextLoader<'a> {
    request: &'a ContextRequest<'a>,
    forbidden: &'a ReadRuleLookup<'a>,
    /// What lines begin with that are Snell's own word.
    beginnings: Vec<String>,
    base: IncludeBase<'a>,
    /// Found out once there is a file at all.
    allowed_roots: OnceCell<AllowedRoots>,
    /// The files that were looked at, without links.
    seen: HashSet<PathBuf>,
    sections: Vec<ContextSection>,
    remarks: LoadRemarks,
    /// How many bytes all further files together may have.
    bytes_left: u64,
    faults: Vec<String>,
    omitted_faults: usize,
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
        }
    }

    fn finish(mut self) -> LoadedContext {
        let first_line = self.request.messages.render_message(AgentMessage::ContextLoaded);
        if self.omitted_faults > 0 {
            let more = self.omitted_faults;
            self.faults.push(format!("and {more} more faults with context files"));
        }
        LoadedContext {
            text: render::compose_context(first_line.as_deref(), &self.sections, &self.remarks),
            faults: self.faults,
        }
    }

    fn load_core_file(&mut self, file: &CoreFile) {
        let path = self.request.project.join(&file.path);
        // Where nobody knows the home directory, a path that begins there is one in the project after all.
        let anywhere = file.may_be_outside_project && file.path.is_absolute();
        self.load_file(&path, file.about.as_deref(), anywhere);
    }

    fn load_role(&mut self, role: &str) {
        let places = match role::list_role_paths(role) {
            Ok(places) => places,
            Err(why) => {
                let role: String = role.chars().take(80).collect();
                self.add_fault(format!(
                    "the name of the role \"{role}\" {why}, so only core files are loaded; name a role such as \"chief\""
                ));
                return;
            }
        };
        for place in places {
            if let Some((shown, includes)) = self.read_role_file(&self.request.project.join(place)) {
                self.load_role_includes(&shown, includes);
                return;
            }
        }
    }

    /// The file of a role, if this is one, and what it asks for.
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

    /// Loads what a role asks for.
    fn load_role_includes(&mut self, role_file: &str, includes: RoleIncludes) {
        for fault in includes.faults {
            self.add_fault(format_at_position(role_file, fault.at, &fault.message));
        }
        let mut search = FileSearch::default();
        for entry in &includes.entries {
            self.load_entry(role_file, entry, &mut search);
        }
        for (directory, error) in std::mem::take(&mut search.unreadable) {
            let shown = self.display_path(&directory);
            self.add_fault(format!("{shown} cannot be searched for context files: {error}"));
        }
        for bound in &search.bounds {
            self.add_remark(bound.to_remark());
        }
    }

    fn load_entry(&mut self, role_file: &str, entry: &RoleIncludeEntry, search: &mut FileSearch) {
        if let Some(variable) = include::find_unknown_variable(&entry.text) {
            let message = format!(
                "\"{}\" is left out, because only ${{PROJECT_PATH}} is replaced, not ${{{variable}}}; write what it stands \
                 for",
                entry.text
            );
            self.add_fault(format_at_position(role_file, entry.at, &message));
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
                // What is not taken any more need not be looked at.
                if self.is_full() || !has_direct_name(path, &found, (&pattern.start, &start)) {
                    self.load_file(path, None, false);
                }
            }
        }
    }

    /// Where a pattern begins behind all links, if files may lie there: elsewhere there could be nothing but files that
    /// are allowed by their names, and those can be named.
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
                let what = format!("\"{}\" begins in {}", entry.text, self.display_path(&start));
                let message = format!("{what}, {}", self.explain_how_to_allow(&start));
                self.add_fault(format_at_position(role_file, entry.at, &message));
                None
            }
            Err(error) => {
                let shown = self.display_path(&pattern.start);
                self.add_fault(format!("{shown} cannot be searched for context files: {error}"));
                None
            }
        }
    }

    fn is_full(&self) -> bool {
        self.sections.len() + self.remarks.left_out.len() >= MAX_FILES
    }

    /// Loads a file, if it is there, may be read, and is not loaded already.
    fn load_file(&mut self, path: &Path, about: Option<&str>, anywhere: bool) {
        if self.is_full() {
            self.add_remark(format!("no more than {MAX_FILES} files are loaded; there may be more"));
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

    /// The file behind all links, if there is one, and if it lies where files may lie.
    fn resolve_allowed(&mut self, path: &Path, anywhere: bool) -> Option<PathBuf> {
        match allowed_files::resolve_links(path) {
            Ok(None) => None,
            Ok(Some(resolved)) if anywhere => Some(resolved),
            Ok(Some(resolved)) if self.allowed_roots().contains(&resolved) => self.reject_if_forbidden(path, resolved),
            Ok(Some(resolved)) => {
                let (shown, target) = (self.display_path(path), resolved.display());
                let how = self.explain_how_to_allow(&resolved);
                self.add_fault(format!("{shown} leads to {target}, {how}"));
                None
            }
            Err(error) => {
                self.report_unreadable(&self.display_path(path), &error);
                None
            }
        }
    }

    /// The file, unless agents may not read it. A project can name any file of its own, and needs no trust for that; what its
    /// user names by its whole path may be given to agents.
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
        self.add_fault(format!(
            "{shown} is left out, because the guard does not let agents read {target} ({rule}); if its content may be given to \
             agents, write allow = [\"{target}\"] below [context] in your own snell.toml"
        ));
        None
    }

    fn allowed_roots(&self) -> &AllowedRoots {
        self.allowed_roots.get_or_init(|| {
            let project_path = self.base.project_path.map(|path| self.base.project.join(path));
            AllowedRoots::new(self.base.project, project_path.as_deref(), self.request.settings.allowed_paths())
        })
    }

    /// Why a file, or what lies in a directory, is left out, and what to do about it. Both are without links.
    fn explain_how_to_allow(&self, place: &Path) -> String {
        let why = "outside of the project, so it is left out";
        let home = self.base.home.and_then(|home| home.canonicalize().ok());
        // Whoever allowed that much would allow every key and every password.
        if place.parent().is_none() || home.is_some_and(|home| home.starts_with(place)) {
            return format!(
                "{why}; name the files instead, and those that may be given to agents in allow as well, below [context] in \
                 your own snell.toml"
            );
        }
        let place = self.display_path(place);
        format!(
            "{why}; if its content may be given to agents, write allow = [\"{place}\"] below [context] in your own \
             snell.toml"
        )
    }

    fn report_unreadable(&mut self, shown: &str, error: &io::Error) {
        self.add_fault(format!("{shown} is left out, because it cannot be read: {error}"));
    }

    /// Tells whoever looks after the files, and the agent.
    fn add_remark(&mut self, remark: String) {
        if !self.remarks.search.contains(&remark) {
            self.add_fault(remark.clone());
            self.remarks.search.push(remark);
        }
    }

    fn add_fault(&mut self, fault: String) {
        let fault = replace_control_chars(&fault);
        if self.faults.len() == MAX_FAULTS {
            self.omitted_faults += 1;
        } else if !self.faults.contains(&fault) {
            self.faults.push(fault);
        }
    }

    /// A path as people are shown it: from the project, from `~`, or whole.
    fn display_path(&self, path: &Path) -> String {
        // Without slashes that were written twice.
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

/// Whether what was found is a link, or lies behind one, and the file that it leads to was found by its own name as well.
/// The search began in this directory, as it is written and without links.
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

fn format_at_position(file: &str, at: RoleFilePosition, message: &str) -> String {
    format!("{file}:{}:{}: {message}", at.line, at.column)
}

#[cfg(test)]
mod tests;
