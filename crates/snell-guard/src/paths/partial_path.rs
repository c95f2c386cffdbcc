//! A value as a path: absolute if possible, without `.`, `..` and redundant slashes. Never touches a disk.

use super::glob::{OPAQUE, QUESTION_MARK, STAR};
use crate::invocation::{SymbolicPart, SymbolicText, UnknownKind};

/// The kernel accepts no longer path.
pub(crate) const MAX_PATH: usize = 4096;

/// A path as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PartialPath {
    /// The names, each after a slash. Patterns and unknown parts are the signs of `glob`.
    text: String,
    /// Where it starts.
    pub(super) start: PathStart,
    /// Whether an unknown part may lead anywhere.
    pub(super) may_escape: bool,
    /// Whether it would start at the root if its first part were empty.
    pub(super) root_if_empty: bool,
}

/// Where a path starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum PathStart {
    /// At the root.
    #[default]
    Root,
    /// Somewhere.
    Unknown,
}

impl PartialPath {
    /// The names of the path.
    pub(super) fn names(&self) -> Vec<&str> {
        split_names(&self.text)
    }

    /// The names, each after a slash: nothing for the root.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The whole path.
    pub(super) fn path(&self) -> &str {
        if self.text.is_empty() { "/" } else { &self.text }
    }

    /// Replaces the start of the path.
    pub(super) fn replace_prefix(&mut self, before: &str, after: &str) {
        let rest = self.text.strip_prefix(before.trim_end_matches('/')).unwrap_or_default();
        self.text = format!("{}{rest}", after.trim_end_matches('/'));
    }

    /// Parses a value as a path relative to a directory.
    pub(super) fn from_value(value: &SymbolicText, cwd: Option<&str>) -> Self {
        let mut shape = Self::default();
        let mut raw = String::with_capacity(64);
        for part in &value.parts {
            match part {
                SymbolicPart::Text(text) => raw.push_str(text),
                SymbolicPart::Pattern(pattern) => raw.push(encode_wildcard(pattern)),
                SymbolicPart::Unknown(unknown) => {
                    shape.may_escape |= *unknown != UnknownKind::Name;
                    raw.push(char::from(OPAQUE));
                }
            }
        }
        if let Some((drive, rest)) = windows_drive(&raw) {
            raw = format!("/mnt/{drive}{rest}");
        }
        shape.set_start(value, &raw, cwd);
        for name in raw.split('/') {
            shape.push_name(name);
        }
        shape
    }

    fn set_start(&mut self, value: &SymbolicText, raw: &str, cwd: Option<&str>) {
        match value.parts.first() {
            Some(SymbolicPart::Unknown(unknown)) if *unknown != UnknownKind::Name => {
                self.start = PathStart::Unknown;
                let rest = raw.trim_start_matches(char::from(OPAQUE));
                let all_empty = value.parts.iter().take_while(|part| matches!(part, SymbolicPart::Unknown(_)));
                self.root_if_empty = rest.starts_with('/')
                    && all_empty
                        .into_iter()
                        .all(|part| matches!(part, SymbolicPart::Unknown(unknown) if unknown.can_be_empty()));
            }
            _ if raw.starts_with('/') => {}
            _ => match cwd {
                Some(cwd) => cwd.split('/').for_each(|name| self.push_name(name)),
                None => self.start = PathStart::Unknown,
            },
        }
    }

    /// Adds a name.
    fn push_name(&mut self, name: &str) {
        match name {
            "" | "." => {}
            ".." => self.pop_name(),
            _ => {
                self.text.push('/');
                self.text.push_str(name);
            }
        }
    }

    fn pop_name(&mut self) {
        match self.text.rfind('/') {
            Some(at) => self.text.truncate(at),
            // The parent of an unknown directory is unknown; the parent of the root is the root.
            None => self.may_escape |= self.start == PathStart::Unknown,
        }
    }
}

/// `C:\Users` and `C:/Users`, as WSL mounts the drive: its letter, and the rest with slashes.
fn windows_drive(raw: &str) -> Option<(char, String)> {
    let bytes = raw.as_bytes();
    let is_drive = bytes.get(1) == Some(&b':') && bytes.first().is_some_and(u8::is_ascii_alphabetic);
    let starts_path = matches!(bytes.get(2), Some(b'/' | b'\\'));
    (is_drive && starts_path)
        .then(|| (char::from(bytes[0]).to_ascii_lowercase(), raw.get(2..).unwrap_or_default().replace('\\', "/")))
}

/// The names of a path.
pub(super) fn split_names(path: &str) -> Vec<&str> {
    path.split('/').filter(|name| !name.is_empty()).collect()
}

fn encode_wildcard(pattern: &str) -> char {
    match pattern {
        "?" => char::from(QUESTION_MARK),
        _ if pattern.starts_with('[') => char::from(QUESTION_MARK),
        _ => char::from(STAR),
    }
}
