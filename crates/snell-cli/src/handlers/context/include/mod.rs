//! From an entry of a role to the files that it names: what stands for something else in it, and its wildcards.

mod file_search;

use std::path::{Path, PathBuf};

use snell::Glob;

pub(super) use self::file_search::FileSearch;

const NAME: &str = "PROJECT_PATH";
const VARIABLE: &str = "${PROJECT_PATH}";

/// Where entries begin.
#[derive(Clone, Copy, Debug)]
pub(super) struct IncludeBase<'a> {
    pub(super) project: &'a Path,
    /// What `${PROJECT_PATH}` stands for.
    pub(super) project_path: Option<&'a str>,
    pub(super) home: Option<&'a Path>,
}

/// What an entry names.
#[derive(Debug, PartialEq)]
pub(super) struct IncludeTarget {
    /// The file, if there is one of exactly this name.
    pub(super) literal: PathBuf,
    /// Else all files that this matches, if the entry has wildcards.
    pub(super) pattern: Option<IncludePattern>,
}

/// A path with wildcards.
#[derive(Debug, PartialEq)]
pub(super) struct IncludePattern {
    /// The directory in which the wildcards begin.
    pub(super) start: PathBuf,
    /// The rest, one part for each name on the way; the last one is never [`PathPatternPart::AnyDepth`].
    parts: Vec<PathPatternPart>,
}

/// What a name on the way must be.
#[derive(Debug, PartialEq)]
enum PathPatternPart {
    Name(String),
    Wildcard {
        glob: Glob,
        /// Whether it may be a name that begins with a dot.
        dotted: bool,
    },
    /// Any number of directories, also none.
    AnyDepth,
}

/// What an entry names; nothing if it needs a path that nobody has given.
pub(super) fn resolve_entry(entry: &str, around: &IncludeBase<'_>) -> Option<IncludeTarget> {
    let (written, escaped) = substitute_project_path(entry, around.project_path)?;
    let (start, rest) = split_base(&written, around);
    let literal = start.join(rest);
    let (start, rest) = split_base(&escaped, around);
    let pattern = IncludePattern::parse(start, rest);
    Some(IncludeTarget { literal, pattern })
}

/// The name of a variable in an entry for which nothing is put in its place.
pub(super) fn find_unknown_variable(entry: &str) -> Option<&str> {
    let opened = entry.split("${").skip(1);
    opened.filter_map(|rest| Some(rest.split_once('}')?.0)).find(|name| *name != NAME)
}

/// The entry with the path of the project it is about: as it is, and so that no character of that path is a wildcard.
fn substitute_project_path(entry: &str, project_path: Option<&str>) -> Option<(String, String)> {
    if !entry.contains(VARIABLE) {
        return Some((entry.to_owned(), entry.to_owned()));
    }
    let path = project_path?;
    let mut escaped = String::with_capacity(path.len());
    for c in path.chars() {
        if matches!(c, '*' | '?' | '[' | ']' | '\\') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    Some((entry.replace(VARIABLE, path), entry.replace(VARIABLE, &escaped)))
}

/// The directory in which a path of an entry begins, and the rest of it.
fn split_base<'w>(written: &'w str, around: &IncludeBase<'_>) -> (PathBuf, &'w str) {
    if let (Some(rest), Some(home)) = (written.strip_prefix("~/"), around.home) {
        return (home.to_owned(), rest.trim_start_matches('/'));
    }
    match written.strip_prefix('/') {
        Some(rest) => ("/".into(), rest.trim_start_matches('/')),
        None => (around.project.to_owned(), written),
    }
}

impl IncludePattern {
    /// Reads the rest of a path that begins in this directory; none if it has no wildcards.
    fn parse(mut start: PathBuf, rest: &str) -> Option<Self> {
        let names = rest.split('/').filter(|name| !name.is_empty() && *name != ".");
        let mut parts: Vec<PathPatternPart> = Vec::new();
        for part in names.map(PathPatternPart::parse) {
            // Two of them in a row say no more than one.
            if part != PathPatternPart::AnyDepth || parts.last() != Some(&PathPatternPart::AnyDepth) {
                parts.push(part);
            }
        }
        if parts.last() == Some(&PathPatternPart::AnyDepth) {
            parts.push(PathPatternPart::parse("*"));
        }
        let first = parts.iter().position(|part| !matches!(part, PathPatternPart::Name(_)))?;
        for part in parts.drain(..first) {
            if let PathPatternPart::Name(name) = part {
                start.push(name);
            }
        }
        Some(Self { start, parts })
    }
}

impl PathPatternPart {
    fn parse(written: &str) -> Self {
        if written == "**" {
            return Self::AnyDepth;
        }
        let glob = Glob::for_file_names(written);
        match glob.literal() {
            Some(name) => Self::Name(name),
            None => Self::Wildcard { glob, dotted: written.starts_with('.') || written.starts_with("\\.") },
        }
    }

    /// Whether a file or directory of this name fits.
    fn matches_name(&self, name: &str) -> bool {
        match self {
            Self::Name(wanted) => wanted == name,
            Self::Wildcard { glob, dotted } => (*dotted || !name.starts_with('.')) && glob.matches(name),
            // Hidden directories belong to tools, and what was installed is not about the project.
            Self::AnyDepth => !name.starts_with('.') && name != "node_modules",
        }
    }
}

#[cfg(test)]
mod tests;
