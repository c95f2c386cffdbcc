//! Resolves symlinks.

use std::collections::{HashSet, VecDeque};
use std::ffi::OsString;
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
    known_non_links: HashSet<PathBuf>,
}

impl SymlinkResolver {
    pub(super) fn new(file_system: Rc<dyn FileSystem>) -> Self {
        Self { file_system, known_non_links: HashSet::new() }
    }

    /// The path with all symlinks resolved; `None` if there are none. A part that does not exist or cannot be read
    /// stays as it is.
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

    /// The target of a symlink. Nothing is below a part that does not exist.
    fn read_target(&mut self, path: &Path, is_there: &mut bool) -> Option<PathBuf> {
        if !*is_there || self.known_non_links.contains(path) {
            return None;
        }
        match self.file_system.read_link(path) {
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
