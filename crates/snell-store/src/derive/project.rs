//! Which project a directory belongs to.

use std::path::{Component, Path, PathBuf};

/// What a project's root has in it.
const MARKERS: &[&str] = &[
    ".git",
    ".hg",
    ".jj",
    ".svn",
    "Cargo.toml",
    "package.json",
    "pyproject.toml",
    "setup.py",
    "go.mod",
    "Makefile",
    "CMakeLists.txt",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "Gemfile",
    "composer.json",
    "mix.exs",
    "deno.json",
    "snell.toml",
];

/// The path of the project of those who do not say where they are, and what it is called.
pub(crate) const UNKNOWN_PROJECT_PATH: &str = "";
pub(crate) const UNKNOWN_PROJECT_NAME: &str = "unknown project";

/// The nearest directory from here upwards that has a marker in it, else the directory itself.
pub fn find_project_root(directory: &Path) -> PathBuf {
    let directory = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
    let marked = |candidate: &&Path| MARKERS.iter().any(|marker| candidate.join(marker).exists());
    directory.ancestors().find(marked).map_or_else(|| directory.clone(), Path::to_owned)
}

/// A path without its detours, as it is written; nothing is looked at.
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

/// What people call a project.
pub(crate) fn derive_project_name(root: &Path) -> String {
    root.file_name().map_or_else(|| root.display().to_string(), |name| name.to_string_lossy().into_owned())
}
