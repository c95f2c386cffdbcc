//! Resolves symlinks.

use std::collections::{HashMap, VecDeque};
use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use crate::file_system::FileSystem;

/// How many symlinks are followed for one path; systems have the same limit.
pub(super) const MAX_LINKS: usize = 40;
/// Longer paths are not resolved.
pub(super) const MAX_PATH_BYTES: usize = 4096;
/// How many paths that are not symlinks are cached.
const MAX_REMEMBERED: usize = 4096;

/// Follows symlinks, and caches paths that are none: many paths share their directories.
#[derive(Clone, Debug)]
pub(super) struct SymlinkResolver {
    file_system: Rc<dyn FileSystem>,
    /// Real paths, and whether there is something at each.
    known_paths: HashMap<OsString, PathState>,
}

/// The disk at a path, as far as it is not a symlink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PathState {
    Present,
    Missing,
}

impl SymlinkResolver {
    pub(super) fn new(file_system: Rc<dyn FileSystem>) -> Self {
        Self { file_system, known_paths: HashMap::new() }
    }

    /// The path with all symlinks resolved; `None` if there are none. A part that does not exist or cannot be read
    /// stays as it is.
    pub(super) fn resolve(&mut self, path: &str) -> Option<String> {
        let written = Path::new(path);
        if path.len() > MAX_PATH_BYTES || !written.is_absolute() {
            return None;
        }
        let (start, rest, mut state) = self.find_known_start(path);
        if state == PathState::Missing && !rest.contains("..") {
            return None;
        }
        let mut real = PathBuf::from(start);
        let mut left = path_components(Path::new(rest));
        let mut links = 0;
        while let Some(part) = left.pop_front() {
            if part == ".." {
                real.pop();
                state = PathState::Present;
                continue;
            }
            real.push(&part);
            let Some(target) = self.read_target(&real, &mut state) else {
                continue;
            };
            links += 1;
            if links > MAX_LINKS {
                return None;
            }
            // An absolute target replaces the path, a relative one starts at the link's directory.
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

    /// The longest known start of a path, which has no symlinks, and the rest.
    fn find_known_start<'p>(&self, path: &'p str) -> (&'p str, &'p str, PathState) {
        let ends = std::iter::once(path.len()).chain(path.rmatch_indices('/').map(|(at, _)| at));
        let mut starts = ends.filter_map(|end| path.split_at_checked(end));
        let known = starts.find_map(|(start, rest)| {
            let state = self.known_paths.get(OsStr::new(start))?;
            Some((start, rest, *state))
        });
        known.unwrap_or(("/", path, PathState::Present))
    }

    /// Forgets which paths do not exist. Others may have created them before the next call.
    pub(super) fn forget_missing_paths(&mut self) {
        self.known_paths.retain(|_, state| *state == PathState::Present);
    }

    /// The target of a symlink. Nothing is below a part that does not exist.
    fn read_target(&mut self, path: &Path, state: &mut PathState) -> Option<PathBuf> {
        if *state == PathState::Missing {
            return None;
        }
        if let Some(known) = self.known_paths.get(path.as_os_str()) {
            *state = *known;
            return None;
        }
        match self.file_system.read_link(path) {
            Ok(target) => Some(target),
            Err(error) => {
                if error.kind() == ErrorKind::NotFound {
                    *state = PathState::Missing;
                }
                if self.known_paths.len() >= MAX_REMEMBERED {
                    self.known_paths.clear();
                }
                self.known_paths.insert(path.as_os_str().to_owned(), *state);
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
