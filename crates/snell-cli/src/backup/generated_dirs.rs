//! Directories whose contents a tool can make again.

use std::path::Path;

/// Always made by a tool.
const ALWAYS: &[&str] = &[
    "node_modules",
    "__pycache__",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".tox",
    ".gradle",
    ".next",
    ".nuxt",
];

/// Usually made by a tool. `.git` is saved last too, because it may be large.
const USUALLY: &[&str] = &["target", "dist", "build", "out", "coverage", ".cache", "vendor", ".git"];

/// A file in it that says so.
const MARKERS: &[&str] = &["CACHEDIR.TAG", "pyvenv.cfg"];

/// Whether a directory can be made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GeneratedKind {
    No,
    /// It is saved after all others.
    Usually,
    /// It is not saved.
    Always,
}

/// Classifies a directory by its name and its markers.
pub(super) fn classify_directory(path: &Path) -> GeneratedKind {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if ALWAYS.contains(&name) || MARKERS.iter().any(|marker| path.join(marker).is_file()) {
        GeneratedKind::Always
    } else if USUALLY.contains(&name) {
        GeneratedKind::Usually
    } else {
        GeneratedKind::No
    }
}
