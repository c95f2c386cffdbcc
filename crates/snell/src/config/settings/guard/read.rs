//! Reading `[guard]`. Each entry that is wrong is told, and costs only itself.

use std::path::PathBuf;

use jiff::civil::Date;

use super::super::own;
use super::{ALLOW_KEYS, Allowance, CHOICES, FileGuard, GUARD_KEYS, GuardChoice, GuardPreset, PRESETS, Written};
use crate::config::node::{Node, NodeValue};
use crate::config::places::Whose;
use crate::config::reading::{Fields, Reading};
use crate::diagnostic::hint;
use crate::hook::Origin;

pub(in super::super) fn read(reading: &mut Reading<'_>, node: &Node) -> FileGuard {
    let Some(fields) = reading.object(node, "[guard]") else {
        return FileGuard::default();
    };
    let known: Vec<_> = GUARD_KEYS.iter().map(|key| key.name).collect();
    reading.unknown_keys(&fields, &known, "[guard]");
    FileGuard {
        preset: read_preset(reading, &fields),
        on_failure: own(reading, &fields, "on_failure").and_then(|node| {
            let choice = read_word(reading, node, "on_failure", CHOICES, "ask counts")?;
            Some((choice, reading.origin(node.at)))
        }),
        protect: read_paths(reading, &fields, "protect"),
        secrets: read_paths(reading, &fields, "secrets"),
        rules: read_rules(reading, &fields),
        allow: read_allow(reading, &fields),
    }
}

fn read_preset(reading: &mut Reading<'_>, fields: &Fields<'_>) -> Option<(GuardPreset, Origin)> {
    let node = fields.get("preset")?;
    let preset = read_word(reading, node, "preset", PRESETS, "it has no effect")?;
    if reading.whose == Whose::Project && preset != GuardPreset::Strict {
        let message = "\"preset\" in a project's file can only be \"strict\"; this one has no effect";
        reading.warn(node.at, message);
        return None;
    }
    Some((preset, reading.origin(node.at)))
}

/// One of a few words.
fn read_word<T: Copy>(
    reading: &mut Reading<'_>,
    node: &Node,
    key: &str,
    words: &[(&str, T)],
    otherwise: &str,
) -> Option<T> {
    let text = match &node.value {
        NodeValue::String(text) => text.as_str(),
        _ => "",
    };
    let found = words.iter().find(|(word, _)| *word == text);
    if found.is_none() {
        let said = match &node.value {
            NodeValue::String(text) => format!("not \"{text}\"{}", hint(text, words.iter().map(|(word, _)| *word))),
            _ => format!("not {}", node.kind()),
        };
        let known: Vec<_> = words.iter().map(|(word, _)| format!("\"{word}\"")).collect();
        let known = known.join(", ");
        reading.error(
            node.at,
            format!("\"{key}\" must be one of {known}, {said} ({otherwise})"),
        );
    }
    found.map(|(_, value)| *value)
}

fn read_paths(reading: &mut Reading<'_>, fields: &Fields<'_>, key: &str) -> Vec<Written<PathBuf>> {
    let items = fields
        .get(key)
        .and_then(|node| reading.array(node, &format!("\"{key}\"")));
    let mut paths = Vec::new();
    for item in items.unwrap_or_default() {
        let Some(text) = reading.as_text(item, key) else {
            continue;
        };
        if text.trim().is_empty() {
            let message = format!("\"{key}\" has an empty path; write \"~/notes\" or the like, or remove it");
            reading.error(item.at, message);
            continue;
        }
        let origin = reading.origin(item.at);
        paths.push(Written {
            said: PathBuf::from(text),
            origin,
        });
    }
    paths
}

fn read_rules(reading: &mut Reading<'_>, fields: &Fields<'_>) -> Vec<Written<(String, GuardChoice)>> {
    let mut rules = Vec::new();
    if let Some(node) = fields.get("rules") {
        gather_rules(reading, node, "", &mut rules);
    }
    rules
}

/// A key with a dot that is not quoted is a table in a table to TOML: `git.force-push = "ask"`. What is meant is plain.
fn gather_rules(reading: &mut Reading<'_>, node: &Node, before: &str, rules: &mut Vec<Written<(String, GuardChoice)>>) {
    let Some(table) = reading.object(node, "[guard.rules]") else {
        return;
    };
    for member in table.distinct() {
        let id = format!("{before}{}", member.key);
        if let NodeValue::Object(_) = member.node.value {
            gather_rules(reading, &member.node, &format!("{id}."), rules);
        } else if let Some(choice) = read_word(reading, &member.node, &id, CHOICES, "it has no effect") {
            let origin = reading.origin(member.key_at);
            rules.push(Written {
                said: (id, choice),
                origin,
            });
        }
    }
}

fn read_allow(reading: &mut Reading<'_>, fields: &Fields<'_>) -> Vec<Written<Allowance>> {
    let Some(node) = fields.get("allow") else {
        return Vec::new();
    };
    let NodeValue::Array(items) = &node.value else {
        let kind = reading.kind(node);
        let message = format!(
            "\"allow\" must be a list of tables, not {kind}; write [[guard.allow]] with \"command\" and \"reason\""
        );
        reading.error(node.at, message);
        return Vec::new();
    };
    let entries = items.iter().filter_map(|item| read_allowance(reading, item));
    entries.collect()
}

fn read_allowance(reading: &mut Reading<'_>, item: &Node) -> Option<Written<Allowance>> {
    const WHAT: &str = "a [[guard.allow]]";
    let fields = reading.object(item, WHAT)?;
    let known: Vec<_> = ALLOW_KEYS.iter().map(|key| key.name).collect();
    reading.unknown_keys(&fields, &known, WHAT);
    // All that is wrong with an entry is told at once.
    let command = read_required(reading, &fields, "command", "\"sudo systemctl restart nginx\"");
    let reason = read_required(reading, &fields, "reason", "why it may run");
    let until = fields.get("until").map(|node| read_date(reading, node));
    let said = Allowance {
        command: command?,
        reason: reason?,
        // A last day that cannot be read may be over.
        until: match until {
            Some(date) => Some(date?),
            None => None,
        },
    };
    let origin = reading.origin(fields.get("command").map_or(item.at, |node| node.at));
    Some(Written { said, origin })
}

fn read_required(reading: &mut Reading<'_>, fields: &Fields<'_>, key: &str, example: &str) -> Option<String> {
    let Some(node) = fields.get(key) else {
        let message = format!("a [[guard.allow]] has no \"{key}\"; write {example} (the entry does not count)");
        reading.error(fields.at, message);
        return None;
    };
    let text = reading.as_text(node, key)?;
    if text.trim().is_empty() {
        reading.error(
            node.at,
            format!("\"{key}\" is empty; write {example} (the entry does not count)"),
        );
        return None;
    }
    Some(text.trim().to_owned())
}

fn read_date(reading: &mut Reading<'_>, node: &Node) -> Option<Date> {
    let written = match &node.value {
        NodeValue::String(text) | NodeValue::Date(text) => text.trim(),
        _ => "",
    };
    let is_plain = written.len() == "2027-01-31".len();
    let date = written.parse().ok().filter(|_| is_plain);
    if date.is_none() {
        let message = "\"until\" must be a date; write \"2027-01-31\" (the entry does not count)";
        reading.error(node.at, message);
    }
    date
}
