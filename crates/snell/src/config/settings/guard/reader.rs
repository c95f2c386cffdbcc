//! Reads `[guard]`. An invalid entry is reported, and the others are used.

use std::path::PathBuf;

use jiff::civil::Date;

use super::super::get_user_only;
use super::super::values::read_checked_text;
use super::entries::read_entries;
use super::{
    APPROVALS, CHOICES, FileGuardSettings, GUARD_KEYS, GuardPreset, HEADLESS_CHOICES, PRESETS, ProtectedPath,
    RuleChoice, UNKNOWN_AUTHOR,
};
use crate::config::discovery::FileOwner;
use crate::config::reader::{ConfigReader, ObjectFields};
use crate::config::spanned::{NodeValue, SpannedNode};
use crate::diagnostic::UserMessage;
use crate::hook::SourceLocation;

pub(in super::super) fn read_guard(reader: &mut ConfigReader<'_>, node: &SpannedNode) -> FileGuardSettings {
    let Some(fields) = reader.read_table(node, "[guard]", GUARD_KEYS) else {
        return FileGuardSettings::default();
    };
    FileGuardSettings {
        preset: read_preset(reader, &fields),
        on_failure: get_user_only(reader, &fields, "on_failure").and_then(|node| {
            let choice = read_one_of(reader, node, "on_failure", CHOICES, "using \"ask\"")?;
            Some((choice, reader.locate_offset(node.offset)))
        }),
        headless: get_user_only(reader, &fields, "headless").and_then(|node| {
            let choice = read_one_of(reader, node, "headless", HEADLESS_CHOICES, "using \"deny\"")?;
            Some((choice, reader.locate_offset(node.offset)))
        }),
        backup: super::backup::read_backup(reader, &fields),
        session: get_user_only(reader, &fields, "session").and_then(|_| reader.read_bool(&fields, "session")),
        approve: get_user_only(reader, &fields, "approve")
            .and_then(|node| read_one_of(reader, node, "approve", APPROVALS, "using \"off\"")),
        approve_commands: read_approve_commands(reader, &fields),
        protected_branches: read_branches(reader, &fields),
        protect: read_paths(reader, &fields, "protect"),
        secrets: read_paths(reader, &fields, "secrets"),
        rules: fields.get("rules").map(|node| read_rules(reader, node, "")).unwrap_or_default(),
        entries: read_entries(reader, &fields),
    }
}

fn read_approve_commands(reader: &mut ConfigReader<'_>, fields: &ObjectFields<'_>) -> Vec<String> {
    let node = get_user_only(reader, fields, "approve_commands");
    let items = node.and_then(|node| reader.read_array(node, "\"approve_commands\"")).unwrap_or_default();
    items.iter().filter_map(|item| read_checked_text(reader, item, "approve_commands", check_command)).collect()
}

/// A command starts with a program: a pattern would approve every program.
fn check_command(text: String) -> Result<String, UserMessage> {
    if text.trim().is_empty() || text.trim_start().starts_with('*') {
        let message = UserMessage::new(format!("has no program: \"{text}\""));
        return Err(message.with_hint("write a command such as \"npm test\", or a pattern such as \"make **\""));
    }
    Ok(text)
}

fn read_preset(reader: &mut ConfigReader<'_>, fields: &ObjectFields<'_>) -> Option<(GuardPreset, SourceLocation)> {
    let node = fields.get("preset")?;
    let preset = read_one_of(reader, node, "preset", PRESETS, "it is ignored")?;
    if reader.owner == FileOwner::Project && preset < GuardPreset::ClaudeOs {
        let message =
            UserMessage::new("\"preset\" in a project's file can only be \"strict\" or \"claude-os\" (it is ignored)");
        reader.add_warning(node.offset, message.with_hint("move it to ~/.config/snell/snell.toml"));
        return None;
    }
    Some((preset, reader.locate_offset(node.offset)))
}

/// One of a few words.
fn read_one_of<T: Copy>(
    reader: &mut ConfigReader<'_>,
    node: &SpannedNode,
    key: &str,
    words: &[(&str, T)],
    consequence: &str,
) -> Option<T> {
    let found = words.iter().find(|(word, _)| node.text() == Some(*word));
    if found.is_none() {
        let written = node.text().map_or_else(|| node.kind_name().to_owned(), |text| format!("\"{text}\""));
        let known: Vec<_> = words.iter().map(|(word, _)| format!("\"{word}\"")).collect();
        let known = known.join(", ");
        let message = UserMessage::new(format!("\"{key}\" must be one of {known}, not {written} ({consequence})"));
        let near = words.iter().map(|(word, _)| *word);
        reader.add_error(node.offset, message.with_suggestion(node.text().unwrap_or_default(), near));
    }
    found.map(|(_, value)| *value)
}

fn read_paths(reader: &mut ConfigReader<'_>, fields: &ObjectFields<'_>, key: &str) -> Vec<ProtectedPath> {
    let items = fields.get(key).and_then(|node| reader.read_array(node, &format!("\"{key}\""))).unwrap_or_default();
    let read = |item: &SpannedNode| {
        let path = read_checked_text(reader, item, key, check_path)?;
        Some(ProtectedPath { path, author: UNKNOWN_AUTHOR, origin: reader.locate_offset(item.offset) })
    };
    items.iter().filter_map(read).collect()
}

/// A list with an error does not replace the default, because it could protect less than its author wants.
fn read_branches(reader: &mut ConfigReader<'_>, fields: &ObjectFields<'_>) -> Option<Vec<String>> {
    let node = fields.get("protected_branches")?;
    let items = reader.read_array(node, "\"protected_branches\"")?;
    let branches: Vec<_> =
        items.iter().filter_map(|item| read_checked_text(reader, item, "protected_branches", check_branch)).collect();
    (branches.len() == items.len()).then_some(branches)
}

/// A branch, or a pattern of branches.
fn check_branch(text: String) -> Result<String, UserMessage> {
    let branch = text.strip_prefix("refs/heads/").unwrap_or(&text);
    if branch.is_empty() || branch.contains(char::is_whitespace) {
        let message = UserMessage::new(format!("has no branch's name: \"{text}\""));
        return Err(message.with_hint("write a branch such as \"main\", or a pattern such as \"release/*\""));
    }
    Ok(branch.to_owned())
}

fn check_path(text: String) -> Result<PathBuf, UserMessage> {
    if text.trim().is_empty() {
        return Err(UserMessage::new("has an empty path").with_hint("write a path such as \"~/notes\", or remove it"));
    }
    Ok(text.into())
}

/// In TOML an unquoted key with a dot is a nested table: `git.force-push = "ask"`. It means the rule of that name.
fn read_rules(reader: &mut ConfigReader<'_>, node: &SpannedNode, before: &str) -> Vec<RuleChoice> {
    let mut rules = Vec::new();
    let Some(table) = reader.read_object(node, "[guard.rules]") else {
        return rules;
    };
    for member in table.distinct_members() {
        let rule = format!("{before}{}", member.key);
        if let NodeValue::Object(_) = member.node.value {
            rules.extend(read_rules(reader, &member.node, &format!("{rule}.")));
        } else if let Some(choice) = read_one_of(reader, &member.node, &rule, CHOICES, "it is ignored") {
            let origin = reader.locate_offset(member.key_offset);
            rules.push(RuleChoice { rule, choice, author: UNKNOWN_AUTHOR, origin });
        }
    }
    rules
}

pub(super) fn read_date(reader: &mut ConfigReader<'_>, node: &SpannedNode) -> Option<Date> {
    let written = match &node.value {
        NodeValue::String(text) | NodeValue::Date(text) => text.trim(),
        _ => "",
    };
    let is_plain = written.len() == "2027-01-31".len();
    let date = written.parse().ok().filter(|_| is_plain);
    if date.is_none() {
        let message = UserMessage::new("\"until\" must be a date (the entry is ignored)");
        reader.add_error(node.offset, message.with_hint("write a date such as \"2027-01-31\""));
    }
    date
}
