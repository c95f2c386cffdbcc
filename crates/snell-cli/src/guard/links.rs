//! Where links lead. The library takes paths as they are written; what they are on this disk is looked up here.

use std::collections::{HashSet, VecDeque};
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use serde_json::Value;
use snell_guard::{Touched, World};

use super::world::tidy;

/// No more links are followed on one way; a system follows no more either.
const MAX_LINKS: usize = 40;
/// A longer path leads nowhere.
const MAX_PATH: usize = 4096;
/// No more paths of one call are followed.
const MAX_PATHS: usize = 256;
/// No more of what is no link is remembered.
const MAX_REMEMBERED: usize = 4096;
/// Deeper than this no tool has its paths.
const MAX_DEPTH: usize = 8;

/// Parts of the names under which tools have their paths.
const NAMES: &[&str] = &["path", "file", "dir", "source", "destination", "target", "uri", "cwd"];
/// The scheme of addresses of files.
const FILE: &str = "file://";

/// What was seen of this disk on the way: whoever follows many paths comes by the same directories.
#[derive(Clone, Debug, Default)]
pub(super) struct Links {
    /// What is no link.
    plain: HashSet<PathBuf>,
}

impl Links {
    /// Where a path leads once all links on its way are followed; nothing if there are none. What is not there leads no
    /// further, and neither does what cannot be looked at.
    pub(super) fn followed(&mut self, path: &str) -> Option<String> {
        let written = Path::new(path);
        if path.len() > MAX_PATH || !written.is_absolute() {
            return None;
        }
        let mut left = parts(written);
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
            let Some(target) = self.target(&real, &mut is_there) else {
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
            for part in parts(&target).into_iter().rev() {
                left.push_front(part);
            }
        }
        (links > 0).then(|| real.to_string_lossy().into_owned())
    }

    /// Where a link leads; nothing if it is none. Below what is not there is nothing to look at.
    fn target(&mut self, path: &Path, is_there: &mut bool) -> Option<PathBuf> {
        if !*is_there || self.plain.contains(path) {
            return None;
        }
        match std::fs::read_link(path) {
            Ok(target) => Some(target),
            Err(error) => {
                if error.kind() == ErrorKind::NotFound {
                    *is_there = false;
                } else {
                    if self.plain.len() >= MAX_REMEMBERED {
                        self.plain.clear();
                    }
                    self.plain.insert(path.to_owned());
                }
                None
            }
        }
    }
}

fn parts(path: &Path) -> VecDeque<OsString> {
    let parts = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    });
    parts.collect()
}

/// Where the places of a call really are, of those that lie behind links.
pub(super) fn behind(touched: &[Touched], links: &mut Links) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    for place in touched.iter().filter(|place| !place.is_run).take(MAX_PATHS) {
        let (directory, _) = place.path.rsplit_once('/').unwrap_or_default();
        let path = if place.is_itself { directory } else { &place.path };
        if let Some(real) = links.followed(path) {
            found.push((path.to_owned(), real));
        }
    }
    found
}

/// The input of a call in which every path leads through no link: nothing if none did, and two if it matters whether a step
/// back is taken before links are followed, as many tools do, or after that, as the system does.
pub(super) fn with_links_followed(input: &Value, world: &World, links: &mut Links) -> Vec<Value> {
    let mut search = Search {
        world,
        links,
        paths: 0,
        steps_back: false,
        order: Order::LinksFirst,
        found: Vec::new(),
        way: Vec::new(),
    };
    let mut changed: Vec<Value> = search.changed(input).into_iter().collect();
    if search.steps_back {
        search.order = Order::StepsBackFirst;
        changed.extend(search.changed(input));
        changed.dedup();
    }
    changed
}

/// What is done first on a way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    LinksFirst,
    StepsBackFirst,
}

/// The paths of a call.
struct Search<'a> {
    world: &'a World,
    links: &'a mut Links,
    paths: usize,
    /// Whether one of them takes a step back.
    steps_back: bool,
    order: Order,
    /// Where one stands that leads through a link, and where it leads.
    found: Vec<(String, String)>,
    /// Where the search is.
    way: Vec<String>,
}

impl Search<'_> {
    /// The input with all its paths changed; nothing if there is nothing to change.
    fn changed(&mut self, input: &Value) -> Option<Value> {
        self.paths = 0;
        self.value(input, false);
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

    fn value(&mut self, value: &Value, is_path: bool) {
        match value {
            Value::String(text) if is_path => self.path(text),
            Value::Array(items) if self.way.len() < MAX_DEPTH => {
                for (number, item) in items.iter().enumerate().take(MAX_PATHS) {
                    self.step(number.to_string(), item, is_path);
                }
            }
            Value::Object(members) if self.way.len() < MAX_DEPTH => {
                for (key, member) in members {
                    let name = key.to_ascii_lowercase();
                    let is_path = NAMES.iter().any(|part| name.contains(part));
                    self.step(key.replace('~', "~0").replace('/', "~1"), member, is_path);
                }
            }
            _ => {}
        }
    }

    fn step(&mut self, step: String, value: &Value, is_path: bool) {
        if self.paths < MAX_PATHS {
            self.way.push(step);
            self.value(value, is_path);
            self.way.pop();
        }
    }

    fn path(&mut self, text: &str) {
        if text.is_empty() || text.len() > MAX_PATH || text.contains(['\n', '\0']) {
            return;
        }
        self.paths += 1;
        let written = text.strip_prefix(FILE).unwrap_or(text);
        let full = match written.strip_prefix('~') {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{}{rest}", self.world.home),
            _ => Path::new(&self.world.cwd).join(written).to_string_lossy().into_owned(),
        };
        self.steps_back |= full.contains("..");
        let full = match self.order {
            Order::LinksFirst => full,
            Order::StepsBackFirst => tidy(Path::new(&full)),
        };
        if let Some(real) = self.links.followed(&full) {
            self.found.push((format!("/{}", self.way.join("/")), real));
        }
    }
}

#[cfg(test)]
mod tests;
