//! Finds the project of a path.

use std::path::Path;

/// Files and directories that mark the root of a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProjectMarkers {
    /// A repository or a `snell.toml`. The project decides which hooks run and what an agent may delete, so build files
    /// are not markers: every package in a repository has one.
    Configuration,
    /// Also a build file. Agents are grouped by such projects.
    Any,
}

/// Markers of both kinds of projects.
const CONFIGURATION_MARKERS: &[&str] = &["snell.toml", ".git"];

/// Other repositories, and build files.
const OTHER_MARKERS: &[&str] = &[
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
];

/// The nearest directory upwards that has a marker, else the directory itself.
pub fn find_project_root(directory: &Path, markers: ProjectMarkers) -> &Path {
    directory.ancestors().find(|candidate| has_project_marker(candidate, markers)).unwrap_or(directory)
}

/// Whether a directory has a marker.
pub fn has_project_marker(directory: &Path, markers: ProjectMarkers) -> bool {
    let others = if markers == ProjectMarkers::Any { OTHER_MARKERS } else { &[] };
    CONFIGURATION_MARKERS.iter().chain(others).any(|marker| directory.join(marker).exists())
}
