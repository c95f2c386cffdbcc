//! The values that apply, and where each is set.

use std::path::PathBuf;

use serde::Serialize;
use snell::{NodeValue, SpannedNode};

use crate::config_edit::quote_toml_string;
use crate::env::ConfigArgs;
use crate::install::atomic_file::FileSnapshot;
use crate::install::jsonc::line_and_column;
use crate::output;
use crate::settings_file::check::check_text;
use crate::settings_file::schema::{SettingKey, SettingSchema};
use crate::settings_file::{SnellToml, SnellTomlScope};

/// Lists that a project's file adds to: to the user's own, or to the default. It overrides other values.
const ADDED_LISTS: &[&str] = &["borrow", "guard.protect", "guard.secrets", "guard.protected_branches", "guard.allow"];

/// The table that also applies in a project's file that is not trusted, where it makes the guard stricter.
const GUARD_TABLE: &str = "guard.";

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "origin", rename_all = "lowercase")]
pub(super) enum SettingOrigin {
    Default,
    File {
        path: String,
        line: usize,
        /// Whether agents use it.
        applies: bool,
    },
}

impl SettingOrigin {
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Default => "default".into(),
            Self::File { path, line, applies: true } => format!("{path}:{line}"),
            Self::File { path, line, applies: false } => format!("{path}:{line} (not trusted)"),
        }
    }
}

/// One setting in one file, or its default.
#[derive(Clone, Debug)]
pub(super) struct SettingRow {
    pub(super) key: String,
    /// As TOML; nothing if it has no fixed default.
    pub(super) value: Option<String>,
    pub(super) origin: SettingOrigin,
}

impl SettingRow {
    pub(super) fn is_set(&self) -> bool {
        self.origin != SettingOrigin::Default
    }

    fn applies(&self) -> bool {
        !matches!(self.origin, SettingOrigin::File { applies: false, .. })
    }
}

/// A file that was read.
#[derive(Debug)]
struct LoadedSettingsFile {
    scope: SnellTomlScope,
    display_path: String,
    text: String,
    root: SpannedNode,
    /// Lines with keys that have no effect.
    ignored_lines: Vec<usize>,
    is_trusted: bool,
}

/// The user's own file, then the project's.
#[derive(Debug)]
pub(super) struct EffectiveSettings {
    files: Vec<LoadedSettingsFile>,
}

impl EffectiveSettings {
    pub(super) fn load(project: Option<PathBuf>) -> anyhow::Result<Self> {
        let around = ConfigArgs::new(project, None);
        let (engine, _) = around.engine_builder_with_trust()?.require_trust().load();
        let untrusted: Vec<_> = engine.untrusted_files().into_iter().map(|file| file.path).collect();
        let own = SnellToml::of_user()?;
        let shared = SnellToml::of_project(&around.resolve_project()?);
        let is_same = own.path == shared.path;
        let mut files = Vec::new();
        for file in [Some(own), Some(shared).filter(|_| !is_same)].into_iter().flatten() {
            let is_trusted = file.scope == SnellTomlScope::User
                || file
                    .path
                    .canonicalize()
                    .map_or(true, |path| !untrusted.contains(&path) && !untrusted.contains(&file.path));
            files.extend(LoadedSettingsFile::load(&file, is_trusted)?);
        }
        Ok(Self { files })
    }

    /// All keys of the schema, and the keys of tables without fixed ones.
    pub(super) fn list_rows(&self, schema: &SettingSchema) -> Vec<SettingRow> {
        schema.list_keys().iter().flat_map(|key| self.find_rows(key)).collect()
    }

    /// The value of a key for people and scripts: a string without its quotes, other values as TOML.
    pub(super) fn find_value(&self, key: &SettingKey<'_>) -> Option<String> {
        let rows = self.find_rows(key);
        let values: Vec<_> = rows.iter().filter(|row| row.applies()).filter_map(|row| row.value.as_deref()).collect();
        let value = match values.as_slice() {
            [] => return None,
            [.., last] if !ADDED_LISTS.contains(&key.name().as_str()) => (*last).to_owned(),
            lists => {
                let items = lists.iter().filter_map(|list| list.strip_prefix('[')?.strip_suffix(']'));
                format!("[{}]", items.filter(|items| !items.is_empty()).collect::<Vec<_>>().join(", "))
            }
        };
        let root = SpannedNode::from_toml(&format!("value = {value}")).ok();
        let text = root.as_ref().and_then(|root| root.get("value")).and_then(SpannedNode::text).map(str::to_owned);
        Some(text.unwrap_or(value))
    }

    /// The rows of a key: the user's own value or the default, then the project's value, which replaces it or is added to it.
    fn find_rows(&self, key: &SettingKey<'_>) -> Vec<SettingRow> {
        let name = key.name();
        let find = |scope: SnellTomlScope| -> Vec<SettingRow> {
            self.files.iter().filter(|file| file.scope == scope).flat_map(|file| file.find_rows(key)).collect()
        };
        let (mut rows, shared) = (find(SnellTomlScope::User), find(SnellTomlScope::Project));
        if key.is_table() {
            return rows.into_iter().chain(shared).collect();
        }
        if rows.is_empty() {
            rows.push(SettingRow { key: name.clone(), value: key.default_value(), origin: SettingOrigin::Default });
        }
        if shared.iter().any(SettingRow::applies) && !ADDED_LISTS.contains(&name.as_str()) {
            rows.clear();
        }
        rows.extend(shared);
        rows
    }
}

impl LoadedSettingsFile {
    fn load(file: &SnellToml, is_trusted: bool) -> anyhow::Result<Option<Self>> {
        let Some(text) = FileSnapshot::load(&file.path)?.text else {
            return Ok(None);
        };
        let findings = check_text(file, &text)?;
        let Ok(root) = SpannedNode::from_toml(&text) else {
            findings.iter().for_each(output::print_finding);
            return Ok(None);
        };
        let ignored_lines = findings.iter().map(|found| found.line).collect();
        Ok(Some(Self {
            scope: file.scope,
            display_path: file.display_path.clone(),
            text,
            root,
            ignored_lines,
            is_trusted,
        }))
    }

    fn find_rows(&self, key: &SettingKey<'_>) -> Vec<SettingRow> {
        let mut node = &self.root;
        let mut lines = Vec::new();
        for part in &key.parts {
            let Some(member) = node.members().and_then(|members| members.iter().rfind(|member| member.key == *part))
            else {
                return Vec::new();
            };
            lines.push(line_and_column(&self.text, member.key_offset).0);
            node = &member.node;
        }
        if !key.is_table() {
            return self.make_row(key.name(), node, &lines).into_iter().collect();
        }
        let row = |member: &snell::SpannedMember| {
            let line = line_and_column(&self.text, member.key_offset).0;
            let lines: Vec<_> = lines.iter().copied().chain([line]).collect();
            self.make_row(format!("{}.{}", key.name(), member.key), &member.node, &lines)
        };
        node.members().unwrap_or_default().iter().filter_map(row).collect()
    }

    /// The row of a value, unless the file must not have it. The lines are those of its tables and its own.
    fn make_row(&self, key: String, node: &SpannedNode, lines: &[usize]) -> Option<SettingRow> {
        let line = *lines.last()?;
        let applies = self.is_trusted || key.starts_with(GUARD_TABLE);
        // Only the first and the last line have findings: about the table, or about the key.
        let is_ignored =
            [lines.first(), lines.last()].into_iter().flatten().any(|line| self.ignored_lines.contains(line));
        let origin = SettingOrigin::File { path: self.display_path.clone(), line, applies };
        (!is_ignored).then(|| SettingRow { key, value: Some(format_value(&self.text, node)), origin })
    }
}

/// A value as TOML on one line.
fn format_value(text: &str, node: &SpannedNode) -> String {
    match &node.value {
        NodeValue::String(text) => quote_toml_string(text),
        NodeValue::Array(items) => {
            format!("[{}]", items.iter().map(|item| format_value(text, item)).collect::<Vec<_>>().join(", "))
        }
        NodeValue::Object(members) => {
            let pair = |member: &snell::SpannedMember| {
                format!("{} = {}", format_key(&member.key), format_value(text, &member.node))
            };
            format!("{{ {} }}", members.iter().map(pair).collect::<Vec<_>>().join(", "))
        }
        NodeValue::Null | NodeValue::Bool(_) | NodeValue::Number(_) | NodeValue::Date(_) => {
            text[node.span()].to_owned()
        }
    }
}

fn format_key(key: &str) -> String {
    let is_bare = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
    if is_bare { key.to_owned() } else { quote_toml_string(key) }
}
