//! Reads a hook file of an agent by its table.

use super::entry::{EntrySurroundings, read_entry};
use super::{AgentFileEvent, AgentFileFormat, FileLayout, MatchTarget, MatcherGrammar};
use crate::config::{ConfigReader, ObjectFields, SpannedMember, SpannedNode};
use crate::contract::Contract;
use crate::diagnostic::UserMessage;
use crate::event::EventName;
use crate::hook::HookCondition;
use crate::matcher::{Matcher, NameListCharset};

/// A contract and its table.
#[derive(Clone, Copy)]
pub(crate) struct FormatContract {
    pub(crate) contract: &'static Contract,
    pub(crate) format: &'static AgentFileFormat,
}

/// Reads a document of a contract with a table.
pub(crate) fn read_agent_file(
    contract: &'static Contract,
    format: &'static AgentFileFormat,
    reader: &mut ConfigReader<'_>,
    node: &SpannedNode,
) {
    let target = FormatContract { contract, format };
    let Some(root) = reader.read_object(node, "a hook file") else {
        return;
    };
    (contract.read_switches)(reader, &root);
    if let Some(known) = format.root_keys.filter(|_| reader.syntax == contract.syntax) {
        for member in root.members.iter().filter(|member| !known.contains(&member.key.as_str())) {
            let text = format!("{} ignores the whole file because of \"{}\"", format.title(), member.key);
            reader.add_error(member.key_offset, UserMessage::new(text).with_hint("remove it"));
        }
    }
    let hooks = root.get("hooks");
    match format.layout {
        FileLayout::List(event_key) => {
            let entries = hooks.and_then(|hooks| reader.read_array(hooks, "\"hooks\"")).unwrap_or_default();
            for entry in entries {
                read_list_entry(target, event_key, reader, entry);
            }
        }
        FileLayout::Groups | FileLayout::RootGroups | FileLayout::Flat => {
            let events = hooks.and_then(|hooks| reader.read_object(hooks, "\"hooks\""));
            for member in events.iter().flat_map(ObjectFields::distinct_members) {
                read_event(target, reader, member);
            }
            let is_event = |member: &&SpannedMember| format.event_names().contains(&member.key.as_str());
            let has_root_events = format.layout == FileLayout::RootGroups && hooks.is_none();
            for member in root.distinct_members().filter(is_event).filter(|_| has_root_events) {
                read_event(target, reader, member);
            }
        }
        FileLayout::Program => {}
    }
    if let Some(key) = format.file_switch.filter(|key| reader.read_bool(&root, key).unwrap_or(false)) {
        for hook in &mut reader.hooks {
            hook.disabled = Some(format!("{key} is set in its file"));
        }
    }
}

/// Keys of `hooks` that are settings and not events.
const SETTING_KEYS: &[&str] = &["enabled", "disabled", "notifications", "state"];

fn read_event(target: FormatContract, reader: &mut ConfigReader<'_>, member: &SpannedMember) {
    if SETTING_KEYS.contains(&member.key.as_str()) {
        return;
    }
    let Some(event) = read_event_name(target.format, reader, member.key_offset, &member.key) else {
        return;
    };
    let entries = reader.read_array(&member.node, &format!("\"{}\"", member.key)).unwrap_or_default();
    for entry in entries {
        match target.format.layout {
            FileLayout::Groups | FileLayout::RootGroups => read_group(target, &event, reader, entry),
            _ => {
                let Some(fields) = reader.read_object(entry, "a hook") else {
                    continue;
                };
                if let Some(matcher) = read_matcher(target, &event, reader, (&fields, "matcher")) {
                    let around = EntrySurroundings { matcher, ..EntrySurroundings::new(&event) };
                    read_entry(target, around, reader, &fields);
                }
            }
        }
    }
}

fn read_event_name(
    format: &AgentFileFormat,
    reader: &mut ConfigReader<'_>,
    at: usize,
    written: &str,
) -> Option<AgentFileEvent> {
    let event = format.find_event(written);
    if event.is_none() {
        let message = UserMessage::new(format!("unknown event \"{written}\" (its hooks are ignored)"));
        let message = match EventName::parse_known(written).and_then(|event| format.find_native_name(&event)) {
            Some(native) => message.with_hint(format!("write \"{native}\"")),
            None => message.with_suggestion(written, format.event_names().iter().copied()),
        };
        reader.add_warning(at, message);
    }
    event
}

/// A hook of a list, which names its event itself.
fn read_list_entry(target: FormatContract, event_key: &str, reader: &mut ConfigReader<'_>, node: &SpannedNode) {
    let Some(fields) = reader.read_object(node, "a hook") else {
        return;
    };
    let Some(written) = reader.read_required_text(&fields, event_key, "a hook") else {
        return;
    };
    let at = fields.get(event_key).map_or(fields.offset, |node| node.offset);
    let Some(event) = read_event_name(target.format, reader, at, &written) else {
        return;
    };
    let key = if target.format.entry.keys.contains(&"match") { "match" } else { "matcher" };
    if let Some(matcher) = read_matcher(target, &event, reader, (&fields, key)) {
        let around = EntrySurroundings { matcher, ..EntrySurroundings::new(&event) };
        read_entry(target, around, reader, &fields);
    }
}

const GROUP_KEYS: &[&str] = &["matcher", "hooks", "description", "sequential", "commandRegex"];

fn read_group(target: FormatContract, event: &AgentFileEvent, reader: &mut ConfigReader<'_>, node: &SpannedNode) {
    let what = format!("an entry for \"{}\"", event.native);
    let Some(group) = reader.read_table(node, &what, GROUP_KEYS) else {
        return;
    };
    let Some(matcher) = read_matcher(target, event, reader, (&group, "matcher")) else {
        return;
    };
    let Ok(condition) = read_command_expression(reader, &group) else {
        return;
    };
    let Some(hooks) = group.get("hooks") else {
        let message = UserMessage::new(format!("{what} has no \"hooks\""));
        let hint = "add \"hooks\": [{\"type\": \"command\", \"command\": \"…\"}]";
        reader.add_error(group.offset, message.with_hint(hint));
        return;
    };
    let runs_in_order = reader.read_bool(&group, "sequential").unwrap_or(false);
    for handler in reader.read_array(hooks, "\"hooks\"").unwrap_or_default() {
        let around = EntrySurroundings {
            matcher: matcher.clone(),
            condition: condition.clone(),
            runs_in_order,
            ..EntrySurroundings::new(event)
        };
        if let Some(fields) = reader.read_object(handler, "a hook") {
            read_entry(target, around, reader, &fields);
        }
    }
}

/// An expression for the command of a shell tool. A group with an invalid one is ignored.
fn read_command_expression(
    reader: &mut ConfigReader<'_>,
    group: &ObjectFields<'_>,
) -> Result<Option<HookCondition>, ()> {
    let Some(node) = group.get("commandRegex") else {
        return Ok(None);
    };
    let written = reader.expect_text(node, "commandRegex").ok_or(())?;
    Matcher::from_expression(written).map(|pattern| Some(HookCondition::Command(pattern))).map_err(|fault| {
        let message = fault.map_text(|text| format!("\"commandRegex\" {text} (the entry is ignored)"));
        reader.add_error(node.offset, message);
    })
}

/// The matcher of an entry, or `None` if the entry is ignored.
fn read_matcher(
    target: FormatContract,
    event: &AgentFileEvent,
    reader: &mut ConfigReader<'_>,
    (fields, key): (&ObjectFields<'_>, &str),
) -> Option<Matcher> {
    let grammar = target.format.matcher;
    let Some(node) = fields.get(key).filter(|_| grammar != MatcherGrammar::Absent) else {
        return Some(Matcher::match_all(None));
    };
    let written = reader.expect_text(node, key)?;
    let matched_on =
        event.canonical.first().map_or(MatchTarget::Nothing, |name| target.format.match_target(event.native, name));
    if matched_on == MatchTarget::Nothing {
        if !matches!(written.as_str(), "" | "*") {
            reader.add_warning(node.offset, format!("\"{key}\" has no effect on {}", event.native));
        }
        return Some(Matcher::match_all(Some(written)));
    }
    parse_matcher(grammar, matched_on, written)
        .map_err(|fault| {
            let message = fault.map_text(|text| format!("\"{key}\" {text} (the entry is ignored)"));
            reader.add_error(node.offset, message);
        })
        .ok()
}

fn parse_matcher(grammar: MatcherGrammar, matched_on: MatchTarget, written: String) -> Result<Matcher, UserMessage> {
    match grammar {
        MatcherGrammar::Absent => Ok(Matcher::match_all(Some(written))),
        MatcherGrammar::NamesOrExpression(charset) => Matcher::from_names_or_expression(written, charset),
        MatcherGrammar::Expression => Matcher::from_expression(written),
        MatcherGrammar::ExpressionOrName if matched_on == MatchTarget::Tool => {
            Ok(Matcher::from_expression(written.clone()).unwrap_or_else(|_| Matcher::from_names(written, &[])))
        }
        MatcherGrammar::ExpressionOrName => Ok(Matcher::from_names(written, &[])),
        MatcherGrammar::WholeExpression if written == "**" => Ok(Matcher::match_all(Some(written))),
        MatcherGrammar::WholeExpression if written.chars().all(|c| NameListCharset::Narrow.allows(c)) => {
            Ok(Matcher::from_names(written, &['|']))
        }
        MatcherGrammar::WholeExpression => Matcher::from_whole_expression(written),
        MatcherGrammar::GlobOrMarkedExpression => Matcher::from_glob_or_marked_expression(written),
    }
}
