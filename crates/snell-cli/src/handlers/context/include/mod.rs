//! Resolves an entry of a role to files: replaces variables, and expands wildcards.

mod file_search;

use std::path::{Path, PathBuf};

use snell::Glob;

pub(super) use self::file_search::FileSearch;

const NAME: &str = "PROJECT_PATH";
const VARIABLE: &str = "${PROJECT_PATH}";

/// The base directories of entries.
#[derive(Clone, Copy, Debug)]
pub(super) struct IncludeBase<'a> {
    pub(super) project: &'a Path,
    /// The value of `${PROJECT_PATH}`.
    pub(super) project_path: Option<&'a str>,
    pub(super) home: Option<&'a Path>,
}

/// The files of an entry.
#[derive(Debug, PartialEq)]
pub(super) struct IncludeTarget {
    /// The path, if a file with exactly this name exists.
    pub(super) literal: PathBuf,
    /// Otherwise the pattern, if the entry has wildcards.
    pub(super) pattern: Option<IncludePattern>,
}

/// A path with wildcards.
#[derive(Debug, PartialEq)]
pub(super) struct IncludePattern {
    /// The directory in which the wildcards begin.
    pub(super) start: PathBuf,
    /// The rest, one part for each path component; the last one is never [`PathPatternPart::AnyDepth`].
    parts: Vec<PathPatternPart>,
}

/// A pattern for one path component.
#[derive(Debug, PartialEq)]
enum PathPatternPart {
    Name(String),
    Wildcard {
        glob: Glob,
        /// Whether it matches names that begin with a dot.
        dotted: bool,
    },
    /// Any number of directories, or none.
    AnyDepth,
}

/// The files of an entry; nothing if it needs `${PROJECT_PATH}` and there is none.
pub(super) fn resolve_entry(entry: &str, around: &IncludeBase<'_>) -> Option<IncludeTarget> {
    let (written, escaped) = substitute_project_path(entry, around.project_path)?;
    let (start, rest) = split_base(&written, around);
    let literal = start.join(rest);
    let (start, rest) = split_base(&escaped, around);
    let pattern = IncludePattern::parse(start, rest);
    Some(IncludeTarget { literal, pattern })
}

/// The first variable in an entry that is not supported.
pub(super) fn find_unknown_variable(entry: &str) -> Option<&str> {
    let opened = entry.split("${").skip(1);
    opened.filter_map(|rest| Some(rest.split_once('}')?.0)).find(|name| *name != NAME)
}

/// The entry with `${PROJECT_PATH}` replaced: as a path, and as a pattern with the path's wildcards escaped.
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

/// The base directory of an entry, and the rest of its path.
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
    /// Parses the rest of a path below this directory; none if it has no wildcards.
    fn parse(mut start: PathBuf, rest: &str) -> Option<Self> {
        let names = rest.split('/').filter(|name| !name.is_empty() && *name != ".");
        let mut parts: Vec<PathPatternPart> = Vec::new();
        for part in names.map(PathPatternPart::parse) {
            // `**/**` means the same as `**`.
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

    /// Whether this part matches a name.
    fn matches_name(&self, name: &str) -> bool {
        match self {
            Self::Name(wanted) => wanted == name,
            Self::Wildcard { glob, dotted } => (*dotted || !name.starts_with('.')) && glob.matches(name),
            // Hidden directories belong to tools, and node_modules holds installed packages.
            Self::AnyDepth => !name.starts_with('.') && name != "node_modules",
        }
    }
}

#[cfg(test)]
mod tests;
