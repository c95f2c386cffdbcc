//! Searches for files that match a pattern: breadth first, with limits, each directory once.

use std::collections::{HashSet, VecDeque};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{IncludePattern, PathPatternPart};
use crate::handlers::context::allowed_files::none_if_absent;

/// How many names are checked for all entries of a role together.
const MAX_NAMES: usize = 20_000;

/// How many levels a pattern reaches below its start.
const MAX_DEPTH: usize = 64;

/// Why a search is incomplete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::handlers::context) enum SearchBound {
    /// Too many names.
    Names,
    /// Directories in directories.
    Depth,
}

impl SearchBound {
    /// The remark about it.
    pub(in crate::handlers::context) fn to_remark(self) -> String {
        match self {
            Self::Names => format!("the search for files ended after {MAX_NAMES} names; there may be more files"),
            Self::Depth => {
                format!("directories more than {MAX_DEPTH} levels deep were not searched; there may be more files")
            }
        }
    }
}

/// A search for files, for all entries of a role.
#[derive(Debug)]
pub(in crate::handlers::context) struct FileSearch {
    names_left: usize,
    max_depth: usize,
    found: Vec<PathBuf>,
    /// The limits that it reached.
    pub(in crate::handlers::context) bounds: Vec<SearchBound>,
    /// Directories that could not be read.
    pub(in crate::handlers::context) unreadable: Vec<(PathBuf, io::Error)>,
}

impl Default for FileSearch {
    fn default() -> Self {
        Self::with_limits(MAX_NAMES, MAX_DEPTH)
    }
}

/// A directory to search, its depth, and the parts of the pattern that may come next.
struct SearchStep {
    directory: PathBuf,
    depth: usize,
    next: Vec<usize>,
}

impl FileSearch {
    fn with_limits(names: usize, max_depth: usize) -> Self {
        Self { names_left: names, max_depth, found: Vec::new(), bounds: Vec::new(), unreadable: Vec::new() }
    }

    /// Counts a name. Returns whether one was left.
    pub(in crate::handlers::context) fn spend_name(&mut self) -> bool {
        let left = self.names_left.checked_sub(1);
        match left {
            Some(left) => self.names_left = left,
            None => self.record_bound(SearchBound::Names),
        }
        left.is_some()
    }

    fn record_bound(&mut self, bound: SearchBound) {
        if !self.bounds.contains(&bound) {
            self.bounds.push(bound);
        }
    }

    /// The files that match a pattern, sorted by path. Everything that is not a directory is a file.
    pub(in crate::handlers::context) fn find_files(&mut self, pattern: &IncludePattern) -> Vec<PathBuf> {
        let mut steps = VecDeque::from([SearchStep { directory: pattern.start.clone(), depth: 0, next: vec![0] }]);
        // Only `..` leads to a directory twice.
        let mut seen = HashSet::new();
        while let Some(step) = steps.pop_front() {
            if step.depth > self.max_depth {
                self.record_bound(SearchBound::Depth);
                continue;
            }
            if !seen.insert((step.directory.clone(), step.next.clone())) {
                continue;
            }
            let next = expand_any_depth(&step.next, &pattern.parts);
            let mut deeper = self.follow_names(&step, &next, pattern);
            let needs_names = |at: &usize| !matches!(&pattern.parts[*at], PathPatternPart::Name(_));
            if next.iter().any(needs_names) {
                deeper.extend(self.scan_directory(&step, &next, pattern));
            }
            steps.extend(deeper);
            if self.names_left == 0 && !steps.is_empty() {
                self.record_bound(SearchBound::Names);
                break;
            }
        }
        let mut found = std::mem::take(&mut self.found);
        found.sort();
        found.dedup();
        found
    }

    /// The next steps for parts without wildcards.
    fn follow_names(&mut self, step: &SearchStep, next: &[usize], pattern: &IncludePattern) -> Vec<SearchStep> {
        let all_named = next.iter().all(|at| matches!(pattern.parts[*at], PathPatternPart::Name(_)));
        let mut deeper = Vec::new();
        for at in next {
            let PathPatternPart::Name(name) = &pattern.parts[*at] else {
                continue;
            };
            // If the directory is listed anyway, its names are found there; `..` is never among them.
            if !(all_named || name == "..") || !self.spend_name() {
                continue;
            }
            let path = step.directory.join(name);
            if at + 1 < pattern.parts.len() {
                deeper.push(SearchStep { directory: path, depth: step.depth + 1, next: vec![at + 1] });
            } else if is_file(&path) {
                self.found.push(path);
            }
        }
        deeper
    }

    /// The next steps for the names of a directory.
    fn scan_directory(&mut self, step: &SearchStep, next: &[usize], pattern: &IncludePattern) -> Vec<SearchStep> {
        let entries = match none_if_absent(fs::read_dir(&step.directory)) {
            Ok(Some(entries)) => entries,
            Ok(None) => return Vec::new(),
            Err(error) => {
                self.unreadable.push((step.directory.clone(), error));
                return Vec::new();
            }
        };
        let mut deeper = Vec::new();
        for entry in entries.filter_map(Result::ok) {
            if !self.spend_name() {
                break;
            }
            let name = entry.file_name();
            let fitting = next.iter().filter(|at| pattern.parts[**at].matches_name(&name.to_string_lossy()));
            let fitting: Vec<usize> = fitting.copied().collect();
            if fitting.is_empty() {
                continue;
            }
            let kind = entry.file_type();
            let is_directory = kind.as_ref().is_ok_and(|kind| kind.is_dir());
            let is_link = kind.is_ok_and(|kind| kind.is_symlink());
            let last = pattern.parts.len() - 1;
            if !is_directory && fitting.contains(&last) && (!is_link || is_file(&entry.path())) {
                self.found.push(entry.path());
            }
            let next_part = |at| match &pattern.parts[at] {
                // A symlink may lead back to this directory.
                PathPatternPart::AnyDepth => is_directory.then_some(at),
                _ => Some(at + 1).filter(|next| *next <= last),
            };
            let next: Vec<_> = fitting.into_iter().filter_map(next_part).collect();
            if !next.is_empty() && (is_directory || (is_link && entry.path().is_dir())) {
                deeper.push(SearchStep { directory: entry.path(), depth: step.depth + 1, next });
            }
        }
        // The result at a limit must not depend on the order of the directory.
        deeper.sort_by(|one, other| one.directory.cmp(&other.directory));
        deeper
    }
}

/// Whether the path exists and is not a directory. A dangling symlink does not exist; other errors show when the file is read.
fn is_file(path: &Path) -> bool {
    match none_if_absent(fs::metadata(path)) {
        Ok(there) => there.is_some_and(|metadata| !metadata.is_dir()),
        Err(_) => true,
    }
}

/// The parts that may come next, with those after a `**` that matches no directory.
fn expand_any_depth(next: &[usize], parts: &[PathPatternPart]) -> Vec<usize> {
    let behind = |at: &usize| (parts[*at] == PathPatternPart::AnyDepth).then_some(at + 1);
    let mut all: Vec<_> = next.iter().copied().chain(next.iter().filter_map(behind)).collect();
    all.sort_unstable();
    all.dedup();
    all
}

#[cfg(test)]
mod tests;
