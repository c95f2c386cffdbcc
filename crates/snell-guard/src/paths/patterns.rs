//! The patterns of `data/places.toml`, compiled by the build script.

use super::glob;

/// A pattern of paths.
#[derive(Debug)]
pub(super) struct PathPattern {
    pub(super) anchor: PatternAnchor,
    /// The names, in order.
    pub(super) names: &'static [&'static str],
    /// Whether it includes everything below.
    pub(super) below: bool,
}

/// Where a pattern starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PatternAnchor {
    Root,
    Home,
    Anywhere,
}

include!(concat!(env!("OUT_DIR"), "/places.rs"));

/// The names of a path, in the forms that patterns need.
pub(super) struct PathComponents<'a> {
    /// From the root; `None` if it does not start there.
    pub(super) root: Option<&'a [&'a str]>,
    /// Below a home directory; `None` if it is not in one.
    pub(super) home: Option<&'a [&'a str]>,
    /// All known names.
    pub(super) all: &'a [&'a str],
    /// The first bytes of all names, a bit for each.
    first_bytes: u128,
}

impl<'a> PathComponents<'a> {
    pub(super) fn new(root: Option<&'a [&'a str]>, home: Option<&'a [&'a str]>, all: &'a [&'a str]) -> Self {
        let first_bytes = all.iter().fold(0, |bits, name| bits | first_byte_bits(name));
        Self { root, home, all, first_bytes }
    }
}

/// The bit of a name's first byte; all bits if the name may begin with anything.
fn first_byte_bits(name: &str) -> u128 {
    match name.bytes().next() {
        Some(byte) if !glob::is_wildcard(byte) => 1 << (byte & 127),
        _ => u128::MAX,
    }
}

impl PathPattern {
    /// Whether a path may match this pattern.
    pub(super) fn can_match(&self, names: &PathComponents<'_>) -> bool {
        // A command needs thousands of comparisons, and the last name of most patterns is like no name of the path.
        if self.names.last().is_some_and(|last| first_byte_bits(last) & names.first_bytes == 0) {
            return false;
        }
        match self.anchor {
            PatternAnchor::Root => names.root.is_some_and(|names| self.matches_names(names)),
            PatternAnchor::Home => names.home.is_some_and(|names| self.matches_names(names)),
            PatternAnchor::Anywhere if self.below => {
                (0..names.all.len()).any(|at| self.is_aimed_match(names.all.get(at..).unwrap_or_default()))
            }
            PatternAnchor::Anywhere => {
                let at = names.all.len().checked_sub(self.names.len());
                at.and_then(|at| names.all.get(at..)).is_some_and(|names| self.is_aimed_match(names))
            }
        }
    }

    /// Every `*` may match a pattern that applies anywhere, so only one that aims at it matches.
    fn is_aimed_match(&self, names: &[&str]) -> bool {
        let first = names.first().zip(self.names.first());
        self.matches_names(names) && first.is_some_and(|(name, protected)| glob::is_aimed_at(name, protected))
    }

    /// Whether names match the pattern, from its start.
    pub(super) fn matches_names(&self, names: &[&str]) -> bool {
        let long_enough = if self.below { names.len() >= self.names.len() } else { names.len() == self.names.len() };
        // Most patterns fail at their last name, so that one is compared first.
        let mut pairs = self.names.iter().zip(names).enumerate().rev();
        long_enough
            && pairs.all(|(at, (protected, name))| glob::can_match(name, protected) || at > 0 && glob::is_opaque(name))
    }
}

/// Whether a path may match one of these patterns.
pub(super) fn matches_any_pattern(patterns: &[PathPattern], names: &PathComponents<'_>) -> bool {
    patterns.iter().any(|pattern| pattern.can_match(names))
}
