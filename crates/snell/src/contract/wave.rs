//! Wave: groups of commands per event, the event as indented JSON on standard input, exit code 2 blocks.

use std::time::Duration;

use serde_json::{Map, Value};

use super::envelope::EnvelopeBuilder;
use super::settings_json::HookEventKey;
use super::{
    BASE_CONTRACT, BaseDirectory, Contract, ContractReader, EntryShape, Envelope, EventReaction, HookContext,
    HookFileLocation, build_failure_answer, build_text_answer, default_block_reason, nonblank_text,
};
use crate::config::{ConfigReader, ObjectFields, SpannedNode, TimeoutField};
use crate::diagnostic::UserMessage;
use crate::event::{Event, EventName};
use crate::hook::{Hook, HookAction};
use crate::matcher::Matcher;
use crate::outcome::{Outcome, RunEnd};
use crate::verdict::{Decision, HookAnswer, HookRunStatus};

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);
const MAX_TIMEOUT: Duration = Duration::from_secs(600);

pub(super) static WAVE: Contract = Contract {
    name: "wave",
    lane: "wave",
    locations: &[
        HookFileLocation::file(BaseDirectory::Home, ".wave/settings.json"),
        HookFileLocation::file(BaseDirectory::Project, ".wave/settings.json"),
        HookFileLocation::file(BaseDirectory::Project, ".wave/settings.local.json"),
    ],
    shapes: &[EntryShape::Group],
    project_variable: Some("WAVE_PROJECT_DIR"),
    find_reaction,
    reader: ContractReader::Entry(read_group),
    build_envelope,
    read_answer,
    ..BASE_CONTRACT
};

/// `PostToolUse` is "after successful tool completion".
fn find_reaction(_hook: &Hook, written: &EventName, event: &Event) -> EventReaction {
    if *written != event.name {
        EventReaction::No
    } else if event.name == EventName::PostToolUse && event.has_tool_failed() {
        EventReaction::Excluded("the tool failed, and PostToolUse is for tools that succeeded")
    } else {
        EventReaction::Yes
    }
}

fn read_group(reader: &mut ConfigReader<'_>, key: &HookEventKey<'_>, node: &SpannedNode) {
    let what = format!("an entry for \"{}\"", key.written);
    let Some(group) = reader.read_table(node, &what, &["matcher", "hooks"]) else {
        return;
    };
    let Some(matcher) = read_matcher(reader, key, &group) else {
        return;
    };
    let Some(hooks) = group.get("hooks").and_then(|hooks| reader.read_array(hooks, "\"hooks\"")) else {
        return;
    };
    if hooks.is_empty() {
        let message = UserMessage::new(format!("{what} has no hooks"));
        let hint = "add {\"type\": \"command\", \"command\": \"…\"} to \"hooks\"";
        reader.add_error(group.offset, message.with_hint(hint));
    }
    for hook in hooks {
        read_command(reader, key, &matcher, hook);
    }
}

/// The entry's matcher, or `None` if the entry is ignored.
fn read_matcher(reader: &mut ConfigReader<'_>, key: &HookEventKey<'_>, group: &ObjectFields<'_>) -> Option<Matcher> {
    let written = match group.get("matcher") {
        None => None,
        Some(node) => Some((node.offset, reader.expect_text(node, "matcher")?)),
    };
    match (written, key.event.is_tool_event()) {
        (Some((at, written)), true) => {
            if written.contains(".*") {
                let meant = written.replace(".*", "*");
                let text = format!("\"{written}\" is a wildcard pattern in this format, so a dot only matches a dot");
                reader.add_warning(at, UserMessage::new(text).with_hint(format!("write \"{meant}\"")));
            }
            Some(Matcher::from_caseless_globs(written))
        }
        (Some((at, _)), false) => {
            reader.add_warning(at, format!("\"matcher\" has no effect on {}", key.event));
            Some(Matcher::match_all(None))
        }
        (None, _) if matches!(key.event, EventName::PreToolUse | EventName::PostToolUse) => {
            let text = format!("an entry for \"{}\" has no \"matcher\" (the entry is ignored)", key.written);
            let hint = "write \"matcher\": \"*\" for every tool";
            reader.add_error(group.offset, UserMessage::new(text).with_hint(hint));
            None
        }
        (None, _) => Some(Matcher::match_all(None)),
    }
}

fn read_command(reader: &mut ConfigReader<'_>, key: &HookEventKey<'_>, matcher: &Matcher, node: &SpannedNode) {
    let Some(fields) = reader.read_table(node, "a hook", &["type", "command", "timeout", "async"]) else {
        return;
    };
    let Some(kind) = fields.get("type") else {
        let message = UserMessage::new("a hook has no \"type\"");
        reader.add_error(fields.offset, message.with_hint("add \"type\": \"command\""));
        return;
    };
    if kind.text() != Some("command") {
        let written = kind.text().map_or_else(|| kind.kind_name().to_owned(), |text| format!("\"{text}\""));
        let text = format!("\"type\" must be \"command\", not {written} (the hook is ignored)");
        reader.add_error(kind.offset, text);
        return;
    }
    let Some(command) = reader.read_required_text(&fields, "command", "a command hook") else {
        return;
    };
    let timeout = reader.read_timeout(&fields, &TimeoutField::seconds(DEFAULT_TIMEOUT, MAX_TIMEOUT));
    let background = reader.read_bool(&fields, "async").unwrap_or(false);
    let origin = reader.locate_offset(fields.offset);
    reader.hooks.push(Hook {
        matcher: matcher.clone(),
        background,
        ..Hook::new(&WAVE, key.event.clone(), HookAction::posix_shell(command), timeout, origin)
    });
}

fn build_envelope(_hook: &Hook, event: &Event, scene: &HookContext<'_>) -> Envelope {
    EnvelopeBuilder::default()
        .without_vars(&["HOOK_TOOL_NAME"])
        .set_path("WAVE_PROJECT_DIR", scene.project)
        .set_var("HOOK_EVENT", event.name.as_str())
        .set_var("HOOK_TOOL_NAME", event.tool_name().filter(|_| event.name.is_tool_event()))
        .into_envelope(Some(format!("{:#}\n", build_payload(event, scene))))
}

/// The object of Wave's documentation, with keys in its order. Only the four keys that are always present have defaults.
fn build_payload(event: &Event, scene: &HookContext<'_>) -> Value {
    let session_id = event.session_id.as_deref().filter(|id| !id.is_empty());
    let transcript = match (&event.transcript_path, session_id) {
        (Some(path), _) => scene.project.join(path).to_string_lossy().into_owned(),
        (None, Some(id)) => session_file_path(id, scene),
        (None, None) => String::new(),
    };
    let cwd = event.cwd.as_ref().map_or_else(|| scene.project.to_owned(), |cwd| scene.project.join(cwd));
    let mut object = Map::new();
    object.insert("session_id".into(), session_id.unwrap_or("unknown").into());
    object.insert("transcript_path".into(), transcript.into());
    object.insert("cwd".into(), cwd.to_string_lossy().into());
    object.insert("hook_event_name".into(), event.name.as_str().into());
    let fields: &[&str] = match event.name {
        EventName::PostToolUse | EventName::PostToolUseFailure => &["tool_name", "tool_input", "tool_response"],
        EventName::PreToolUse | EventName::PermissionRequest => &["tool_name", "tool_input"],
        _ => &[],
    };
    for key in fields {
        object.extend(event.wire_field(key).map(|value| ((*key).to_owned(), value)));
    }
    if let (EventName::UserPromptSubmit, Some(prompt)) = (&event.name, &event.prompt) {
        object.insert("prompt".into(), prompt.as_str().into());
        // Wave itself sends this name today.
        object.insert("user_prompt".into(), prompt.as_str().into());
    }
    Value::Object(object)
}

/// The path of Wave's file for a session: `wave_session_abc_xyz` is in `session_xyz.json`.
fn session_file_path(id: &str, scene: &HookContext<'_>) -> String {
    let short = id.rsplit('_').next().unwrap_or(id);
    scene.home.map_or_else(String::new, |home| {
        home.join(".wave/sessions").join(format!("session_{short}.json")).to_string_lossy().into_owned()
    })
}

fn read_answer(hook: &Hook, event: &Event, outcome: &Outcome) -> HookAnswer {
    match outcome.end {
        RunEnd::Exited(0) => build_text_answer(event, &outcome.stdout),
        RunEnd::Exited(2) => HookAnswer {
            status: Some(HookRunStatus::Blocked),
            decision: Decision::Deny,
            reason: nonblank_text(&outcome.stderr).or_else(|| Some(default_block_reason(hook))),
            ..HookAnswer::default()
        },
        _ => build_failure_answer(hook, outcome),
    }
}
