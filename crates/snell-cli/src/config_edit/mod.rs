//! Sets or removes one key of a TOML file and keeps every other byte: comments, order, blank lines.
//!
//! `set_key` and `remove_key` are pure. They parse their own result, and refuse an edit that would change another key.
//! `ConfigFileChange` is the same for a file on disk.

mod place;

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use snell::{NodeValue, SpannedNode};

use crate::install::apply::{fault_to_error, unified_diff};
use crate::install::atomic_file::{FileModePolicy, FileSnapshot};
use crate::install::jsonc::SettingsFault;
use place::TableForm;

/// Sets the key of this path, such as `["guard", "preset"]`, to a value in TOML syntax. A missing table is added at the end.
pub(crate) fn set_key(text: &str, path: &[&str], value: &str) -> Result<String, SettingsFault> {
    let root = parse_toml(text)?;
    let found = place::walk_path(&root, path);
    let mut edited = text.to_owned();
    match found.rest.is_empty() {
        true if place::is_value(text, found.node) => edited.replace_range(found.node.span(), value),
        true => return Err(place::not_a_value(found.node, path)),
        false => place::insert_key(&mut edited, &found, path, value)?,
    }
    ensure_only_change((text, &root), &edited, path)?;
    Ok(edited)
}

/// Removes the key of this path with its line. A table that only had this key goes with it. Returns `None` if the key is missing.
pub(crate) fn remove_key(text: &str, path: &[&str]) -> Result<Option<String>, SettingsFault> {
    let root = parse_toml(text)?;
    let found = place::walk_path(&root, path);
    if !found.rest.is_empty() {
        return Ok(None);
    }
    if !place::is_value(text, found.node) {
        return Err(place::not_a_value(found.node, path));
    }
    let mut edited = text.to_owned();
    edited.replace_range(place::find_removal(text, &root, path).ok_or_else(|| unchanged_fault(path))?, "");
    ensure_only_change((text, &root), &edited, path)?;
    Ok(Some(edited))
}

/// The value of a path in TOML syntax, as it is written; nothing if the key is missing or is a table.
pub(crate) fn find_value<'t>(text: &'t str, path: &[&str]) -> Result<Option<&'t str>, SettingsFault> {
    let root = parse_toml(text)?;
    let found = place::walk_path(&root, path);
    let is_found = found.rest.is_empty() && place::is_value(text, found.node);
    Ok(is_found.then(|| &text[found.node.span()]))
}

/// A basic string, which escapes as JSON does.
pub(crate) fn quote_toml_string(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

/// A change of a file that is not written yet.
#[derive(Debug)]
pub(crate) struct ConfigFileChange {
    seen: FileSnapshot,
    /// The new text; nothing if the file is to be removed.
    after: Option<String>,
}

impl ConfigFileChange {
    /// Reads the file and applies the edit: it gets the text, if the file exists, and returns the new one, if the file is to stay.
    /// A fault has the form `path:line:column: problem`.
    pub(crate) fn prepare(
        path: &Path,
        edit: impl FnOnce(Option<&str>) -> Result<Option<String>, SettingsFault>,
    ) -> anyhow::Result<Self> {
        let seen = FileSnapshot::load(path)?;
        let after = edit(seen.text.as_deref()).map_err(|fault| fault_to_error(&seen, &fault))?;
        Ok(Self { seen, after })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.seen.path
    }

    /// The directories that must be created for the file, the outermost first.
    pub(crate) fn missing_directories(&self) -> Vec<PathBuf> {
        self.seen.missing_directories()
    }

    /// The text before the change.
    pub(crate) fn text_before(&self) -> Option<&str> {
        self.seen.text.as_deref()
    }

    /// The text after the change.
    pub(crate) fn text_after(&self) -> Option<&str> {
        self.after.as_deref()
    }

    pub(crate) fn has_effect(&self) -> bool {
        self.text_before() != self.text_after()
    }

    /// The change as a unified diff; empty if there is none.
    pub(crate) fn diff(&self) -> String {
        unified_diff(&self.seen.path, self.text_before(), self.text_after())
    }

    /// Writes the file atomically, unless another process changed it in between. A new file is only for this user.
    pub(crate) fn write(&self) -> anyhow::Result<()> {
        match &self.after {
            _ if !self.has_effect() => Ok(()),
            Some(text) => self.seen.replace(text, FileModePolicy::Private),
            None => self.seen.remove(),
        }
    }
}

fn parse_toml(text: &str) -> Result<SpannedNode, SettingsFault> {
    SpannedNode::from_toml(text).map_err(|error| SettingsFault { at: error.offset, message: error.message })
}

fn unchanged_fault(path: &[&str]) -> SettingsFault {
    let message = format!("Snell cannot change \"{}\" here without another change; edit the file", path.join("."));
    SettingsFault { at: 0, message }
}

/// Refuses an edit that is not valid TOML, or that changes another key.
fn ensure_only_change(before: (&str, &SpannedNode), after: &str, path: &[&str]) -> Result<(), SettingsFault> {
    let list_others = |text: &str, root: &SpannedNode| {
        let mut values = BTreeMap::new();
        list_values(text, root, &mut Vec::new(), &mut values);
        values.retain(|key, _| !key.iter().map(String::as_str).eq(path.iter().copied()));
        values
    };
    let after_root = SpannedNode::from_toml(after).map_err(|_| unchanged_fault(path))?;
    if list_others(before.0, before.1) == list_others(after, &after_root) {
        return Ok(());
    }
    Err(unchanged_fault(path))
}

/// Every value as it is written, by its path. Tables have no text of their own.
fn list_values(text: &str, node: &SpannedNode, at: &mut Vec<String>, values: &mut BTreeMap<Vec<String>, String>) {
    let mut list_child = |key: &str, child: &SpannedNode| {
        at.push(key.to_owned());
        list_values(text, child, at, values);
        at.pop();
    };
    match &node.value {
        NodeValue::Object(members) => members.iter().for_each(|member| list_child(&member.key, &member.node)),
        NodeValue::Array(items) if place::form_of(text, node) == Some(TableForm::TableArray) => {
            items.iter().enumerate().for_each(|(index, item)| list_child(&index.to_string(), item));
        }
        _ => drop(values.insert(at.clone(), text[node.span()].to_owned())),
    }
}

/// The line that an offset is in, with its line break.
fn line_around(text: &str, span: Range<usize>) -> Range<usize> {
    let start = text[..span.start].rfind('\n').map_or(0, |end| end + 1);
    let end = text[span.end..].find('\n').map_or(text.len(), |end| span.end + end + 1);
    start..end
}

#[cfg(test)]
mod tests;
