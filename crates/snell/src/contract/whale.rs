//! whale: an array of hooks, the event as JSON on standard input, an answer as JSON on standard output.

use std::time::Duration;

use serde_json::{Map, Value};

use super::{
    AfterBlock, Base, Changes, Contract, Envelope, Flow, MuteCondition, Place, Read, Scene, ShownAs, Syntax, Twins,
    WorkingDirectory, blocked_by, failed, json_line, no_rules, no_switches, own_failure, printed,
    same_name_or_failed_tool, tool_subject,
};
use crate::config::{LONGEST_TIMEOUT, Node, Reading, Unit, Vocabulary};
use crate::event::{Event, EventName, parse_json};
use crate::hook::{Action, Hook};
use crate::matcher::Matcher;
use crate::outcome::{End, Outcome};
use crate::verdict::{Answer, Decision, Status};

const DEFAULT_TIMEOUT: Duration = Duration::from_millis(10_000);

pub(super) static WHALE: Contract = Contract {
    name: "whale",
    lane: "whale",
    places: &[
        Place {
            base: Base::Project,
            path: ".whale/hooks.json",
        },
        Place {
            base: Base::Home,
            path: ".swagmanager/hooks.json",
        },
    ],
    syntax: Syntax::Json,
    shapes: &[],
    vocabulary: Vocabulary::Closed,
    switches: no_switches,
    flow: |event| {
        if event.is_about_a_tool() {
            Flow::InOrder
        } else {
            Flow::Together { budget: None }
        }
    },
    after_block: AfterBlock::Stop,
    mute_condition: MuteCondition::No,
    twins: Twins::RunEach,
    changes: Changes::First,
    working_directory: WorkingDirectory::Project,
    project_variable: None,
    failures: ShownAs::Warning,
    blocks: |event| matches!(event, EventName::PreToolUse | EventName::PermissionRequest),
    // `AfterTool` is told whether the tool succeeded.
    reacts: same_name_or_failed_tool,
    takes_rules: no_rules,
    read: Read::File(read),
    subject: tool_subject,
    envelope,
    answer,
};

/// The name that whale gives an event.
fn own_name(event: &EventName) -> &str {
    match event {
        EventName::PreToolUse => "BeforeTool",
        EventName::PostToolUse | EventName::PostToolUseFailure => "AfterTool",
        other => other.as_str(),
    }
}

fn read(reading: &mut Reading<'_>, node: &Node) {
    let Some(entries) = reading.array(node, "a whale hook file") else {
        return;
    };
    for entry in entries {
        read_entry(reading, entry);
    }
}

fn read_entry(reading: &mut Reading<'_>, node: &Node) {
    let Some(fields) = reading.object(node, "a hook") else {
        return;
    };
    reading.unknown_keys(
        &fields,
        &["event", "command", "pattern", "timeout", "allowModify"],
        "a hook",
    );
    let Some(written) = reading.required_text(&fields, "event", "a hook") else {
        return;
    };
    let at = fields.get("event").map_or(fields.at, |node| node.at);
    let event = reading.event(at, &written, Vocabulary::Closed);
    let command = reading.required_text(&fields, "command", "a hook");
    let (Some(event), Some(command)) = (event, command) else {
        return;
    };
    let matcher = match fields.get("pattern") {
        None => Matcher::everything(None),
        Some(node) => {
            let Some(pattern) = reading.as_text(node, "pattern") else {
                return;
            };
            if pattern.contains('|') || pattern.contains(".*") {
                reading.warn(
                    node.at,
                    format!("\"{pattern}\" is one wildcard pattern here; write * and ?, and one entry per name"),
                );
            }
            if event.is_about_a_tool() {
                Matcher::glob(pattern)
            } else {
                reading.warn(
                    node.at,
                    format!("\"pattern\" has no meaning for {written}; it is ignored"),
                );
                Matcher::everything(None)
            }
        }
    };
    let timeout = reading.timeout(&fields, Unit::Milliseconds, DEFAULT_TIMEOUT, LONGEST_TIMEOUT);
    let may_modify = reading.boolean(&fields, "allowModify").unwrap_or(false);
    let origin = reading.origin(fields.at);
    reading.hooks.push(Hook {
        matcher,
        may_modify,
        ..Hook::new(&WHALE, event, Action::sh(command), timeout, origin)
    });
}

fn envelope(event: &Event, _scene: &Scene<'_>) -> Envelope {
    Envelope {
        stdin: Some(json_line(&payload(event)).into()),
        ..Envelope::default()
    }
}

fn payload(event: &Event) -> Value {
    let mut object = Map::new();
    object.insert("event".into(), own_name(&event.name).into());
    if event.name.is_about_a_tool() {
        for key in ["tool_name", "tool_input"] {
            object.extend(event.field(key).map(|value| (key.to_owned(), value)));
        }
        if own_name(&event.name) == "AfterTool" {
            let output = event.field("tool_response").or_else(|| event.field("error"));
            object.extend(output.map(|value| ("tool_output".to_owned(), as_text(value).into())));
            object.insert("tool_success".into(), (!event.tool_failed()).into());
        }
    } else {
        for key in ["message", "title", "notification_type", "source", "reason", "prompt"] {
            object.extend(event.field(key).map(|value| (key.to_owned(), value)));
        }
    }
    object.extend(event.field("session_id").map(|value| ("session_id".to_owned(), value)));
    Value::Object(object)
}

/// whale's outputs are texts; another value is handed over as its JSON.
fn as_text(value: Value) -> String {
    match value {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

fn answer(hook: &Hook, event: &Event, outcome: &Outcome) -> Answer {
    if outcome.end != End::Exited(0) {
        return own_failure(hook, outcome);
    }
    let text = printed(outcome);
    let said = match parse_json(text) {
        Ok(Value::Object(said)) => said,
        // Text is no answer and no fault; what was meant to be an answer and cannot be read is one.
        Err(fault) if text.starts_with('{') => {
            let text = format!(
                "whale hook failed: the answer of \"{}\" cannot be read: {fault}",
                hook.command()
            );
            return failed(hook, Status::Failed, text);
        }
        _ => return Answer::default(),
    };
    let mut answer = Answer::default();
    if said
        .get("allow")
        .is_some_and(|allow| !(allow.is_boolean() || allow.is_null()))
    {
        let command = hook.command();
        answer.warnings.push(format!(
            "\"allow\" of \"{command}\" is left out: it must be true or false"
        ));
    }
    if said.get("allow") == Some(&Value::Bool(false)) {
        let message = said
            .get("message")
            .and_then(Value::as_str)
            .filter(|message| !message.is_empty());
        answer.status = Some(Status::Blocked);
        answer.decision = Decision::Deny;
        answer.reason = Some(message.map_or_else(|| blocked_by(hook), str::to_owned));
    }
    let input = said.get("modified_input").filter(|value| value.is_object());
    let output = said.get("modified_output").filter(|value| value.is_string());
    match own_name(&event.name) {
        "BeforeTool" if answer.decision != Decision::Deny => answer.tool_input = input.cloned(),
        // Here nothing is left to allow or not, so the change counts whatever `allow` says.
        "AfterTool" => answer.tool_output = output.cloned(),
        _ => {}
    }
    for (key, unfit) in [
        ("modified_input", input.is_none()),
        ("modified_output", output.is_none()),
    ] {
        if unfit && said.get(key).is_some_and(|value| !value.is_null()) {
            let kind = if key == "modified_input" {
                "an object"
            } else {
                "a string"
            };
            answer.warnings.push(format!(
                "\"{key}\" of \"{}\" is left out: it must be {kind}",
                hook.command()
            ));
        }
    }
    let changes = answer.tool_input.is_some() || answer.tool_output.is_some();
    if changes && !hook.may_modify {
        answer.tool_input = None;
        answer.tool_output = None;
        answer.warnings.push(format!(
            "\"{}\" answered with a change, which needs \"allowModify\": true",
            hook.command()
        ));
    }
    answer
}
