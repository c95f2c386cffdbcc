//! Patches: which files they touch, and how. What is written into the files is no matter.

use serde_json::Value as Json;

use super::{MAX_PATHS, fields, on, strings};
use crate::effects::Kind;
use crate::judge::Seen;
use crate::world::World;

/// Where a patch is written.
const PATCH: &[&str] = &[
    "input",
    "patch",
    "command",
    "patchText",
    "patch_text",
    "diff",
    "content",
];

/// Lines of the agents' own format, and what they mean for the file that they name.
const HEADS: &[(&str, Kind)] = &[
    ("*** Update File: ", Kind::Overwrite),
    ("*** Add File: ", Kind::Overwrite),
    ("*** Delete File: ", Kind::Delete),
    ("*** Move to: ", Kind::Overwrite),
];

/// What applying a patch would do.
pub(super) fn look(input: &Json, world: &World, seen: &mut Seen) {
    let texts = match input {
        Json::String(text) => vec![text.as_str()],
        _ => strings(input, PATCH),
    };
    if !input.is_string() {
        fields::expect(input, PATCH, seen);
    }
    for text in texts {
        apply(text, world, seen);
    }
}

/// What one patch would do.
pub(super) fn apply(text: &str, world: &World, seen: &mut Seen) {
    let touched = if text.lines().any(|line| line.starts_with("*** Begin Patch")) {
        own_format(text)
    } else {
        unified(text)
    };
    if touched.len() > MAX_PATHS {
        seen.limit("paths");
    }
    let effects = touched.into_iter().take(MAX_PATHS);
    seen.effects.extend(effects.map(|(kind, path)| on(kind, path, world)));
}

fn own_format(text: &str) -> Vec<(Kind, &str)> {
    let mut touched: Vec<(Kind, &str)> = Vec::new();
    for line in text.lines() {
        for (head, kind) in HEADS {
            if let Some(path) = line.trim_start().strip_prefix(head) {
                if head.contains("Move") {
                    // What is moved is no longer where it was.
                    let source = touched.last().map(|(_, path)| *path);
                    touched.extend(source.map(|path| (Kind::Take, path)));
                }
                touched.push((*kind, path.trim()));
            }
        }
    }
    touched
}

/// `---` and `+++` on two lines, one after the other.
fn unified(text: &str) -> Vec<(Kind, &str)> {
    let mut touched = Vec::new();
    let mut old = None;
    for line in text.lines() {
        match (old.take(), line.strip_prefix("+++ ")) {
            (Some(old), Some(new)) if named(new) == "/dev/null" => touched.push((Kind::Delete, named(old))),
            (Some(_), Some(new)) => touched.push((Kind::Overwrite, named(new))),
            _ => old = line.strip_prefix("--- "),
        }
    }
    touched
}

/// The path without the letter that `git` puts before it, and without the time that `diff` puts behind it.
fn named(written: &str) -> &str {
    let path = written.split('\t').next().unwrap_or_default().trim();
    let plain = path.strip_prefix("a/").or_else(|| path.strip_prefix("b/"));
    plain.unwrap_or(path)
}
