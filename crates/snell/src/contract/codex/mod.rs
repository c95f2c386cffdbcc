//! Codex: `hooks.json` beside `config.toml`, with Claude Code's groups. An answer with an unknown key is a failure.

mod patch;

use std::time::Duration;

use serde_json::{Map, Value};

use super::agent_file::{
    AGENT_CONTRACT, AgentFileFormat, AnswerMeaning, AnswerTable, BASE_ANSWER, BASE_ENTRY, BASE_FORMAT, EntryRules,
    EventFilter, ExitMeaning, HandlerType, InputChange, MatcherGrammar, PayloadTable, PayloadValue, TextMeaning,
    ToolNameForm, answer_row, payload_field,
};
use super::{BaseDirectory, Contract, ContractReader, ExecutionMode, HookFileLocation, is_preventable};
use crate::config::{ConfigReader, DisableSwitch, MAX_TIMEOUT, ObjectFields, TimeoutField};
use crate::event::EventName;
use crate::matcher::NameListCharset;
use crate::verdict::Decision;

pub(super) static CODEX: Contract = Contract {
    name: "codex",
    lane: "codex",
    locations: &[
        HookFileLocation::file(BaseDirectory::Home, ".codex/hooks.json"),
        HookFileLocation::file(BaseDirectory::Home, ".codex/config.toml"),
        HookFileLocation::file(BaseDirectory::Project, ".codex/hooks.json"),
        HookFileLocation::file(BaseDirectory::Project, ".codex/config.toml"),
    ],
    read_switches,
    execution_mode: |_| ExecutionMode::Together { budget: None },
    can_block: |event| is_preventable(event) || *event == EventName::PreCompact,
    reader: ContractReader::Agent(&FORMAT),
    ..AGENT_CONTRACT
};

static FORMAT: AgentFileFormat = AgentFileFormat {
    agent: "codex",
    root_keys: Some(&["description", "hooks"]),
    entry: EntryRules {
        keys: &[
            "type",
            "command",
            "commandWindows",
            "command_windows",
            "timeout",
            "async",
            "statusMessage",
            "additionalContextLimit",
            "server",
            "tool",
            "input",
            "prompt",
            "model",
        ],
        types: &[HandlerType::COMMAND, HandlerType::MCP_TOOL, HandlerType::PROMPT, HandlerType::AGENT],
        timeout: |event| match event {
            EventName::SessionEnd => TimeoutField::seconds(Duration::from_secs(1), Duration::from_secs(3)),
            _ => TimeoutField::seconds(Duration::from_secs(600), MAX_TIMEOUT),
        },
        ..BASE_ENTRY
    },
    matcher: MatcherGrammar::NamesOrExpression(NameListCharset::Narrow),
    tool_names: |_| ToolNameForm::NativeAndCanonical,
    translate_call: patch::translate_to_patch,
    payload: PayloadTable {
        has_claude_fields: |_| true,
        fields: &[
            payload_field(EventFilter::All, "turn_id", PayloadValue::Field("turn_id")),
            payload_field(EventFilter::All, "model", PayloadValue::Field("model")),
            payload_field(EventFilter::All, "transcript_path", PayloadValue::FieldOrNull("transcript_path")),
            payload_field(
                EventFilter::Only(&["Stop", "SubagentStop"]),
                "last_assistant_message",
                PayloadValue::FieldOrNull("last_assistant_message"),
            ),
            payload_field(EventFilter::Only(&["PostToolUse"]), "tool_response", PayloadValue::ToolOutput),
        ],
    },
    answer: AnswerTable {
        exit_code: |_, code| if code == 2 { ExitMeaning::DenyWithText } else { ExitMeaning::Failure },
        text: |event| match event {
            EventName::SessionStart | EventName::SubagentStart | EventName::UserPromptSubmit => TextMeaning::Context,
            EventName::Stop | EventName::SubagentStop => TextMeaning::Failure,
            _ => TextMeaning::Nothing,
        },
        reject: find_rejection,
        rows: &[
            answer_row(
                &["PreToolUse"],
                "hookSpecificOutput.permissionDecision",
                AnswerMeaning::Decision {
                    words: &[("deny", Decision::Deny), ("allow", Decision::None)],
                    reasons: &["hookSpecificOutput.permissionDecisionReason"],
                },
            ),
            answer_row(
                &[],
                "decision",
                AnswerMeaning::Decision { words: &[("block", Decision::Deny)], reasons: &["reason"] },
            ),
            answer_row(
                &["PermissionRequest"],
                "hookSpecificOutput.decision.behavior",
                AnswerMeaning::Decision {
                    words: &[("deny", Decision::Deny), ("allow", Decision::Allow)],
                    reasons: &["hookSpecificOutput.decision.message"],
                },
            ),
            answer_row(&["PreToolUse"], "hookSpecificOutput.updatedInput", AnswerMeaning::Input(InputChange::Replace)),
            answer_row(&[], "hookSpecificOutput.additionalContext", AnswerMeaning::Context),
            answer_row(&[], "systemMessage", AnswerMeaning::Message),
            answer_row(&[], "continue", AnswerMeaning::Continue { reason: "stopReason" }),
        ],
        ..BASE_ANSWER
    },
    ..BASE_FORMAT
};

/// `[features] hooks = false` of `config.toml`.
fn read_switches(reader: &mut ConfigReader<'_>, root: &ObjectFields<'_>) {
    let features = root.get("features").filter(|node| node.members().is_some());
    let Some(node) = features.and_then(|features| features.get("hooks")) else {
        return;
    };
    if let crate::config::NodeValue::Bool(enabled) = node.value {
        let origin = reader.locate_offset(node.offset);
        let switch = DisableSwitch { written: "features.hooks = false", is_disabled: !enabled, origin };
        reader.switches.disable_all = Some(switch);
    }
}

const TOP_KEYS: &[&str] =
    &["continue", "stopReason", "suppressOutput", "systemMessage", "decision", "reason", "hookSpecificOutput"];

/// The keys of `hookSpecificOutput` of an event.
fn list_specific_keys(event: &EventName) -> &'static [&'static str] {
    match event {
        EventName::PreToolUse => {
            &["hookEventName", "permissionDecision", "permissionDecisionReason", "updatedInput", "additionalContext"]
        }
        EventName::PermissionRequest => &["hookEventName", "decision"],
        EventName::PostToolUse => &["hookEventName", "additionalContext", "updatedMCPToolOutput"],
        _ => &["hookEventName", "additionalContext"],
    }
}

/// Why Codex rejects an answer: it knows each of its keys, and each must be where it counts.
fn find_rejection(event: &EventName, object: &Map<String, Value>) -> Option<String> {
    let specific = object.get("hookSpecificOutput").and_then(Value::as_object);
    let specific_keys = specific.into_iter().flat_map(|specific| specific.keys());
    let unknown = object.keys().find(|key| !TOP_KEYS.contains(&key.as_str()));
    let unknown = unknown.or_else(|| {
        let known = list_specific_keys(event);
        specific_keys.into_iter().find(|key| !known.contains(&key.as_str()))
    });
    if let Some(key) = unknown {
        return Some(format!("Codex does not know \"{key}\" here"));
    }
    let get = |key: &str| specific.and_then(|specific| specific.get(key));
    let text = |value: Option<&Value>| value.and_then(Value::as_str).is_some_and(|text| !text.trim().is_empty());
    let block_without_reason = object.get("decision").is_some() && !text(object.get("reason"));
    let is_final = |key: &&&str| object.get(**key).is_some_and(|value| *value != Value::Bool(true));
    let misplaced = ["continue", "stopReason", "suppressOutput"];
    match (event, get("permissionDecision").and_then(Value::as_str)) {
        (EventName::PreToolUse, _) if misplaced.iter().find(is_final).is_some() => {
            Some("Codex does not accept \"continue\", \"stopReason\" or \"suppressOutput\" on PreToolUse".into())
        }
        (EventName::PreToolUse, Some("deny")) if !text(get("permissionDecisionReason")) => {
            Some("\"deny\" needs \"permissionDecisionReason\"".into())
        }
        (EventName::PreToolUse, Some("allow")) if get("updatedInput").is_none() => {
            Some("\"allow\" needs \"updatedInput\"".into())
        }
        (EventName::PreToolUse, decision) if get("updatedInput").is_some() && decision != Some("allow") => {
            Some("\"updatedInput\" needs \"permissionDecision\": \"allow\"".into())
        }
        (EventName::PreToolUse, Some(word)) if !matches!(word, "allow" | "deny") => {
            Some(format!("Codex does not know the decision \"{word}\""))
        }
        (EventName::PermissionRequest, _) => {
            let decision = get("decision").and_then(Value::as_object)?;
            let reserved = ["updatedInput", "updatedPermissions", "interrupt"];
            let key = reserved.into_iter().find(|key| decision.contains_key(*key))?;
            Some(format!("Codex does not accept \"{key}\" yet"))
        }
        _ => block_without_reason.then(|| "\"decision\" needs \"reason\"".into()),
    }
}
