//! Which project a directory belongs to.

use std::path::{Component, Path, PathBuf};

use snell::ProjectMarkers;

/// The path and the name of the project of agents that name no directory.
pub(crate) const UNKNOWN_PROJECT_PATH: &str = "";
pub(crate) const UNKNOWN_PROJECT_NAME: &str = "unknown project";

/// The project of a directory, with symlinks resolved: the nearest directory upwards with a marker, else the directory itself.
pub fn find_project_root(directory: &Path) -> PathBuf {
    let directory = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
    snell::find_project_root(&directory, ProjectMarkers::Any).to_owned()
}

/// A path without `.` and `..`, by its text alone: symlinks are not resolved.
pub(crate) fn normalize_path(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            other => normal.push(other),
        }
    }
    normal
}

/// The name of a project for people.
pub(crate) fn derive_project_name(root: &Path) -> String {
    root.file_name().map_or_else(|| root.display().to_string(), |name| name.to_string_lossy().into_owned())
}
