//! Where links lead. The library takes paths as they are written; what they are on this disk is looked up here.

use std::collections::{HashSet, VecDeque};
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use serde_json::Value;
use snell_guard::{AffectedPath, JudgeContext};

use super::judge_context::normalize_path;

/// No more links are followed on one way; a system follows no more either.
const MAX_LINKS: usize = 40;
/// A longer path leads nowhere.
const MAX_PATH_BYTES: usize = 4096;
/// No more paths of one call are followed.
const MAX_PATHS: usize = 256;
/// No more of what is no link is remembered.
const MAX_REMEMBERED: usize = 4096;
/// Deeper than this no tool has its paths.
const MAX_DEPTH: usize = 8;

/// Parts of the names under which tools have their paths.
const PATH_KEY_PARTS: &[&str] = &["path", "file", "dir", "source", "destination", "target", "uri", "cwd"];
/// The scheme of addresses of files.
const FILE_SCHEME: &str = "file://";

/// What was seen of this disk on the way: whoever follows many paths comes by the same directories.
#[derive(Clone, Debug, Default)]
pub(super) struct SymlinkResolver {
    /// What is no link.
    known_non_links: HashSet<PathBuf>,
}

impl SymlinkResolver {
    /// Where a path leads once all links on its way are followed; nothing if there are none. What is not there leads no
    /// further, and neither does what cannot be looked at.
    pub(super) fn resolve(&mut self, path: &str) -> Option<String> {
        let written = Path::new(path);
        if path.len() > MAX_PATH_BYTES || !written.is_absolute() {
            return None;
        }
        let mut left = path_components(written);
        let mut real = PathBuf::from("/");
        let mut links = 0;
        let mut is_there = true;
        while let Some(part) = left.pop_front() {
            if part == ".." {
                real.pop();
                is_there = true;
                continue;
            }
            real.push(&part);
            let Some(target) = self.read_target(&real, &mut is_there) else {
                continue;
            };
            links += 1;
            if links > MAX_LINKS {
                return None;
            }
            // An absolute target begins anew, a relative one where the link lies.
            real.pop();
            if target.is_absolute() {
                real = PathBuf::from("/");
            }
            for part in path_components(&target).into_iter().rev() {
                left.push_front(part);
            }
        }
        (links > 0).then(|| real.to_string_lossy().into_owned())
    }

    /// Where a link leads; nothing if it is none. Below what is not there is nothing to look at.
    fn read_target(&mut self, path: &Path, is_there: &mut bool) -> Option<PathBuf> {
        if !*is_there || self.known_non_links.contains(path) {
            return None;
        }
        match std::fs::read_link(path) {
            Ok(target) => Some(target),
            Err(error) => {
                if error.kind() == ErrorKind::NotFound {
                    *is_there = false;
                } else {
                    if self.known_non_links.len() >= MAX_REMEMBERED {
                        self.known_non_links.clear();
                    }
                    self.known_non_links.insert(path.to_owned());
                }
                None
            }
        }
    }
}

fn path_components(path: &Path) -> VecDeque<OsString> {
    let parts = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    });
    parts.collect()
}

/// Where the places of a call really are, of those that lie behind links.
pub(super) fn resolve_affected_paths(touched: &[AffectedPath], links: &mut SymlinkResolver) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    for place in touched.iter().filter(|place| !place.is_executed).take(MAX_PATHS) {
        let (directory, _) = place.path.rsplit_once('/').unwrap_or_default();
        let path = if place.is_link_itself { directory } else { &place.path };
        if let Some(real) = links.resolve(path) {
            found.push((path.to_owned(), real));
        }
    }
    found
}

/// The input of a call in which every path leads through no link: nothing if none did, and two if it matters whether a step
/// back is taken before links are followed, as many tools do, or after that, as the system does.
pub(super) fn resolve_input_paths(input: &Value, world: &JudgeContext, links: &mut SymlinkResolver) -> Vec<Value> {
    let mut search = InputPathSearch {
        world,
        links,
        paths: 0,
        steps_back: false,
        order: ResolveOrder::LinksFirst,
        found: Vec::new(),
        pointer: Vec::new(),
    };
    let mut changed: Vec<Value> = search.rewrite_paths(input).into_iter().collect();
    if search.steps_back {
        search.order = ResolveOrder::ParentsFirst;
        changed.extend(search.rewrite_paths(input));
        changed.dedup();
    }
    changed
}

/// What is done first on a way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ResolveOrder {
    LinksFirst,
    ParentsFirst,
}

/// The paths of a call.
struct InputPathSearch<'a> {
    world: &'a JudgeContext,
    links: &'a mut SymlinkResolver,
    paths: usize,
    /// Whether one of them takes a step back.
    steps_back: bool,
    order: ResolveOrder,
    /// Where one stands that leads through a link, and where it leads.
    found: Vec<(String, String)>,
    /// Where the search is.
    pointer: Vec<String>,
}

impl InputPathSearch<'_> {
    /// The input with all its paths changed; nothing if there is nothing to change.
    fn rewrite_paths(&mut self, input: &Value) -> Option<Value> {
        self.paths = 0;
        self.visit_value(input, false);
        let found = std::mem::take(&mut self.found);
        if found.is_empty() {
            return None;
        }
        let mut changed = input.clone();
        for (way, real) in found {
            if let Some(place) = changed.pointer_mut(&way) {
                *place = Value::String(real);
            }
        }
        Some(changed)
    }

    fn visit_value(&mut self, value: &Value, is_path: bool) {
        match value {
            Value::String(text) if is_path => self.visit_path(text),
            Value::Array(items) if self.pointer.len() < MAX_DEPTH => {
                for (number, item) in items.iter().enumerate().take(MAX_PATHS) {
                    self.visit_member(number.to_string(), item, is_path);
                }
            }
            Value::Object(members) if self.pointer.len() < MAX_DEPTH => {
                for (key, member) in members {
                    let name = key.to_ascii_lowercase();
                    let is_path = PATH_KEY_PARTS.iter().any(|part| name.contains(part));
                    self.visit_member(key.replace('~', "~0").replace('/', "~1"), member, is_path);
                }
            }
            _ => {}
        }
    }

    fn visit_member(&mut self, step: String, value: &Value, is_path: bool) {
        if self.paths < MAX_PATHS {
            self.pointer.push(step);
            self.visit_value(value, is_path);
            self.pointer.pop();
        }
    }

    fn visit_path(&mut self, text: &str) {
        if text.is_empty() || text.len() > MAX_PATH_BYTES || text.contains(['\n', '\0']) {
            return;
        }
        self.paths += 1;
        let written = text.strip_prefix(FILE_SCHEME).unwrap_or(text);
        let full = match written.strip_prefix('~') {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{}{rest}", self.world.home),
            _ => Path::new(&self.world.cwd).join(written).to_string_lossy().into_owned(),
        };
        self.steps_back |= full.contains("..");
        let full = match self.order {
            ResolveOrder::LinksFirst => full,
            ResolveOrder::ParentsFirst => normalize_path(Path::new(&full)),
        };
        if let Some(real) = self.links.resolve(&full) {
            self.found.push((format!("/{}", self.pointer.join("/")), real));
        }
    }
}

#[cfg(test)]
mod tests;
