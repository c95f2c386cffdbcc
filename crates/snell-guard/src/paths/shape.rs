//! A value as a path: from the root where that is known, without `.`, `..` and needless slashes. Nothing touches a disk.

use super::glob::{MANY, ONE, OPAQUE};
use crate::invocation::{Part, Unknown, Value};

/// The kernel takes no longer path.
pub(crate) const MAX_PATH: usize = 4096;

/// A path as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shape {
    /// The names, each after a slash. Patterns and unknown parts stand in them as the signs of `glob`.
    text: String,
    /// Where it begins.
    pub(super) start: Start,
    /// Whether an unknown part may lead anywhere.
    pub(super) astray: bool,
    /// Whether it would begin at the root if what it begins with were empty.
    pub(super) root_if_empty: bool,
}

/// Where a path begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Start {
    /// At the root.
    #[default]
    Root,
    /// Somewhere.
    Unknown,
}

impl Shape {
    /// The names of the path.
    pub(super) fn names(&self) -> Vec<&str> {
        names(&self.text)
    }

    /// The whole path.
    pub(super) fn path(&self) -> &str {
        if self.text.is_empty() { "/" } else { &self.text }
    }

    /// Puts another beginning in the place of this one.
    pub(super) fn begin_with(&mut self, before: &str, after: &str) {
        let rest = self.text.strip_prefix(before.trim_end_matches('/')).unwrap_or_default();
        self.text = format!("{}{rest}", after.trim_end_matches('/'));
    }

    /// Reads a value as a path that is relative to a directory.
    pub(super) fn of(value: &Value, cwd: Option<&str>) -> Self {
        let mut shape = Self::default();
        let mut raw = String::with_capacity(64);
        for part in &value.parts {
            match part {
                Part::Text(text) => raw.push_str(text),
                Part::Pattern(pattern) => raw.push(sign_of(pattern)),
                Part::Unknown(unknown) => {
                    shape.astray |= *unknown != Unknown::Name;
                    raw.push(char::from(OPAQUE));
                }
            }
        }
        shape.begin(value, &raw, cwd);
        for name in raw.split('/') {
            shape.enter(name);
        }
        shape
    }

    fn begin(&mut self, value: &Value, raw: &str, cwd: Option<&str>) {
        match value.parts.first() {
            Some(Part::Unknown(unknown)) if *unknown != Unknown::Name => {
                self.start = Start::Unknown;
                let rest = raw.trim_start_matches(char::from(OPAQUE));
                let all_empty = value.parts.iter().take_while(|part| matches!(part, Part::Unknown(_)));
                self.root_if_empty = rest.starts_with('/')
                    && all_empty
                        .into_iter()
                        .all(|part| matches!(part, Part::Unknown(unknown) if unknown.may_be_empty()));
            }
            _ if raw.starts_with('/') => {}
            _ => match cwd {
                Some(cwd) => cwd.split('/').for_each(|name| self.enter(name)),
                None => self.start = Start::Unknown,
            },
        }
    }

    /// One name further.
    fn enter(&mut self, name: &str) {
        match name {
            "" | "." => {}
            ".." => self.leave(),
            _ => {
                self.text.push('/');
                self.text.push_str(name);
            }
        }
    }

    fn leave(&mut self) {
        match self.text.rfind('/') {
            Some(at) => self.text.truncate(at),
            // Above an unknown directory is another unknown one; above the root is the root.
            None => self.astray |= self.start == Start::Unknown,
        }
    }
}

/// The names of a path.
pub(super) fn names(path: &str) -> Vec<&str> {
    path.split('/').filter(|name| !name.is_empty()).collect()
}

fn sign_of(pattern: &str) -> char {
    match pattern {
        "?" => char::from(ONE),
        _ if pattern.starts_with('[') => char::from(ONE),
        _ => char::from(MANY),
    }
}
