//! Replaces the paths in the input of a tool call by the targets of symlinks.

use std::path::Path;

use serde_json::Value;

use super::resolver::{MAX_PATH_BYTES, SymlinkResolver};
use crate::judge::AffectedPath;
use crate::judge::context::JudgeContext;
use crate::paths::normalize_path;

/// How many paths of one call are resolved.
const MAX_PATHS: usize = 256;
/// How deep paths are nested in an input.
const MAX_DEPTH: usize = 8;

/// Parts of the keys under which tools have paths.
const PATH_KEY_PARTS: &[&str] = &["path", "file", "dir", "source", "destination", "target", "uri", "cwd"];
/// The scheme of file URLs.
const FILE_SCHEME: &str = "file://";

/// The real paths of affected paths behind symlinks.
pub(super) fn resolve_affected_paths(affected: &[AffectedPath], links: &mut SymlinkResolver) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    for place in affected.iter().filter(|place| !place.is_executed).take(MAX_PATHS) {
        let (directory, _) = place.path.rsplit_once('/').unwrap_or_default();
        let path = if place.is_link_itself { directory } else { &place.path };
        if let Some(real) = links.resolve(path) {
            found.push((path.to_owned(), real));
        }
    }
    found
}

/// The input of a call with all paths resolved. Empty if no path leads through a symlink. Two inputs if it matters
/// whether `..` is applied before symlinks are followed, as many tools do, or after, as the system does.
pub(super) fn resolve_input_paths(input: &Value, context: &JudgeContext, links: &mut SymlinkResolver) -> Vec<Value> {
    let mut search = InputPathSearch {
        context,
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

/// The order of resolving `..` and symlinks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ResolveOrder {
    LinksFirst,
    ParentsFirst,
}

/// The paths of a call.
struct InputPathSearch<'a> {
    context: &'a JudgeContext,
    links: &'a mut SymlinkResolver,
    paths: usize,
    /// Whether one of them has a `..`.
    steps_back: bool,
    order: ResolveOrder,
    /// The JSON pointers of paths that lead through symlinks, and their targets.
    found: Vec<(String, String)>,
    /// The current JSON pointer.
    pointer: Vec<String>,
}

impl InputPathSearch<'_> {
    /// The input with all paths replaced; `None` if nothing changes.
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
            Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{}{rest}", self.context.home),
            _ => Path::new(&self.context.cwd).join(written).to_string_lossy().into_owned(),
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
