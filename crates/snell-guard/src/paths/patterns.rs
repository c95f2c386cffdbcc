//! The patterns of `data/places.toml`, as the build script wrote them.

use super::glob;

/// A pattern of paths.
#[derive(Debug)]
pub(super) struct PathPattern {
    pub(super) anchor: PatternAnchor,
    /// One after the other.
    pub(super) names: &'static [&'static str],
    /// Whether everything below belongs to it.
    pub(super) below: bool,
}

/// Where a pattern begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PatternAnchor {
    Root,
    Home,
    Anywhere,
}

include!(concat!(env!("OUT_DIR"), "/places.rs"));

/// A path, cut up as patterns need it.
pub(super) struct PathComponents<'a> {
    /// From the root; nothing if it does not begin there.
    pub(super) root: Option<&'a [&'a str]>,
    /// Below somebody's home; nothing if it is not in one.
    pub(super) home: Option<&'a [&'a str]>,
    /// As much as is known.
    pub(super) all: &'a [&'a str],
}

impl PathPattern {
    /// Whether a path may be one that this pattern stands for.
    pub(super) fn can_match(&self, names: &PathComponents<'_>) -> bool {
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

    /// Every `*` may hit something that is protected wherever it is; only one that aims at it counts.
    fn is_aimed_match(&self, names: &[&str]) -> bool {
        let first = names.first().zip(self.names.first());
        self.matches_names(names) && first.is_some_and(|(name, protected)| glob::is_aimed_at(name, protected))
    }

    /// Whether names are those of the pattern, from its beginning.
    pub(super) fn matches_names(&self, names: &[&str]) -> bool {
        let long_enough = if self.below { names.len() >= self.names.len() } else { names.len() == self.names.len() };
        // Most patterns fail at their last name, so that one is compared first.
        let mut pairs = self.names.iter().zip(names).enumerate().rev();
        long_enough
            && pairs.all(|(at, (protected, name))| glob::can_match(name, protected) || at > 0 && glob::is_opaque(name))
    }
}

/// Whether a path may be one of these.
pub(super) fn matches_any_pattern(patterns: &[PathPattern], names: &PathComponents<'_>) -> bool {
    patterns.iter().any(|pattern| pattern.can_match(names))
}
