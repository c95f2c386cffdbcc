//! The flat specification ("microai"): one command per entry, variables in the environment, a failure may block.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

use super::environment::Variables;
use super::settings::EventKey;
use super::{
    AfterBlock, Base, Changes, Contract, Envelope, Flow, Layout, Place, Reacts, Read, Scene, Shape, ShownAs,
    WorkingDirectory, no_switches, own_failure, said, tool_subject,
};
use crate::config::{Node, Reading, Unit, Vocabulary, show_duration};
use crate::event::{Event, EventName};
use crate::hook::{Action, Condition, Hook, OnFailure, Shell};
use crate::matcher::Matcher;
use crate::outcome::{End, Outcome};
use crate::verdict::{Answer, Decision, Status};

const DEFAULT_TIMEOUT: Duration = Duration::from_millis(5000);
const LONGEST_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);

const KEYS: &[&str] = &["matcher", "command", "timeout", "continueOnFailure", "condition"];

/// Every variable that the specification names. Those it does not list for an event are taken away there, so that a
/// value of somebody else's is never mistaken for ours.
const VARIABLES: &[&str] = &[
    "TOOL_NAME",
    "INPUT",
    "OUTPUT",
    "PROMPT",
    "TIMESTAMP",
    "SESSION_ID",
    "USER_NAME",
    "PROJECT_ROOT",
    "PLATFORM",
    "AGENT_NAME",
    "INPUT_FILE",
    "OUTPUT_FILE",
    "PROMPT_FILE",
];

pub(super) static MICROAI: Contract = Contract {
    name: "microai",
    lane: "microai",
    places: &[
        Place {
            base: Base::Project,
            path: ".microai/settings.json",
        },
        Place {
            base: Base::Project,
            path: ".microai/settings.local.json",
        },
    ],
    layout: Layout::Settings,
    shapes: &[Shape::Flat],
    vocabulary: Vocabulary::Closed,
    switches: no_switches,
    flow: |event| match event {
        EventName::PostToolUse | EventName::PostToolUseFailure => Flow::Unattended,
        _ => Flow::InOrder,
    },
    after_block: AfterBlock::Stop,
    changes: Changes::All,
    working_directory: WorkingDirectory::Project,
    failures: ShownAs::Warning,
    blocks: |event| *event == EventName::PreToolUse,
    reacts,
    read: Read::Entry(read_entry),
    subject: tool_subject,
    envelope,
    answer,
};

/// `PostToolUse` is "after tool execution", however that went.
fn reacts(written: &EventName, event: &Event) -> Reacts {
    let after_any_tool = *written == EventName::PostToolUse && event.name == EventName::PostToolUseFailure;
    if *written == event.name || after_any_tool {
        Reacts::Yes
    } else {
        Reacts::No
    }
}

fn read_entry(reading: &mut Reading<'_>, key: &EventKey<'_>, node: &Node) {
    let what = format!("an entry for \"{}\"", key.written);
    let Some(fields) = reading.object(node, &what) else {
        return;
    };
    reading.unknown_keys(&fields, KEYS, &what);
    let Some(command) = reading.required_text(&fields, "command", &what) else {
        return;
    };
    let matcher = match fields.get("matcher") {
        None => Matcher::everything(None),
        Some(node) => {
            let Some(written) = reading.as_text(node, "matcher") else {
                return;
            };
            if !key.event.is_about_a_tool() {
                reading.warn(
                    node.at,
                    format!("\"matcher\" has no meaning for {}; it is ignored", key.event),
                );
                Matcher::everything(None)
            } else {
                if written.contains('|') && !written.contains('(') {
                    reading.warn(
                        node.at,
                        format!("\"{written}\" is one tool's name here, not a list; write one entry per tool"),
                    );
                }
                match Matcher::microai(written) {
                    Ok(matcher) => matcher,
                    Err(fault) => {
                        reading.error(node.at, format!("\"matcher\" {fault} (the entry is not loaded)"));
                        return;
                    }
                }
            }
        }
    };
    let condition = match fields.get("condition") {
        None => None,
        Some(node) => reading.as_text(node, "condition").map(Condition::Shell),
    };
    // A guard whose declaration cannot be read is taken at its strictest, and its author is told.
    let on_failure = match (
        fields.get("continueOnFailure"),
        reading.boolean(&fields, "continueOnFailure"),
    ) {
        (None, _) | (_, Some(true)) => OnFailure::Continue,
        (Some(_), _) => OnFailure::Block,
    };
    let timeout = reading.timeout(&fields, Unit::Milliseconds, DEFAULT_TIMEOUT, LONGEST_TIMEOUT);
    let origin = reading.origin(fields.at);
    reading.hooks.push(Hook {
        contract: &MICROAI,
        events: vec![key.event.clone()],
        matcher,
        condition,
        action: Action::Shell {
            shell: Shell::Posix,
            command,
        },
        timeout,
        timeout_is_written: fields.has("timeout"),
        on_failure,
        may_modify: false,
        background: false,
        disabled: None,
        origin,
    });
}

fn envelope(_hook: &Hook, event: &Event, scene: &Scene<'_>) -> Envelope {
    let made = Variables::default()
        .without(VARIABLES)
        .set("TIMESTAMP", &to_the_second(scene.now))
        .set_if("SESSION_ID", event.session_id.as_deref());
    let made = match &event.name {
        name if name.is_about_a_tool() => tool_variables(made, event),
        EventName::UserPromptSubmit => made
            .set_or_spill("PROMPT", event.prompt.as_deref().unwrap_or_default())
            .set_if("USER_NAME", event.user_name.as_deref()),
        _ => made
            .set_path("PROJECT_ROOT", scene.project)
            .set_if("PLATFORM", event.platform.as_deref())
            .set_if("AGENT_NAME", event.agent_name.as_deref()),
    };
    Envelope {
        stdin: None,
        variables: made.variables,
        spills: made.spills,
    }
}

fn tool_variables(made: Variables, event: &Event) -> Variables {
    let tool = event.tool.clone().unwrap_or_default();
    let input = tool.input.unwrap_or_else(|| Value::Object(serde_json::Map::new()));
    let made = made
        .set("TOOL_NAME", &tool.name)
        .set_or_spill("INPUT", &input.to_string());
    match event.name {
        EventName::PostToolUse | EventName::PostToolUseFailure => {
            let output = tool.output.or_else(|| event.field("error")).unwrap_or_default();
            made.set_or_spill("OUTPUT", &output.to_string())
        }
        _ => made,
    }
}

/// `2025-12-31T10:30:00Z`.
fn to_the_second(now: Timestamp) -> String {
    Timestamp::from_second(now.as_second()).unwrap_or(now).to_string()
}

fn answer(hook: &Hook, event: &Event, outcome: &Outcome) -> Answer {
    if outcome.success() {
        let context = match event.name {
            EventName::UserPromptSubmit | EventName::SessionStart => said(&outcome.stdout).into_iter().collect(),
            _ => Vec::new(),
        };
        return Answer {
            context,
            ..Answer::default()
        };
    }
    let mut answer = own_failure(hook, outcome);
    if answer.decision == Decision::Deny && event.name == EventName::PreToolUse {
        if !outcome.timed_out() {
            answer.status = Some(Status::Blocked);
        }
        answer.reason = Some(format!("Hook blocked: {}", blocking_text(hook, outcome)));
    }
    answer
}

/// What the hook has to say: its standard error, else what it printed, else how it ended.
fn blocking_text(hook: &Hook, outcome: &Outcome) -> String {
    match outcome.end {
        End::TimedOut => format!("{} timed out after {}", hook.command(), show_duration(hook.timeout)),
        _ => said(&outcome.stderr)
            .or_else(|| said(&outcome.stdout))
            .unwrap_or_else(|| format!("{} {}", hook.command(), outcome.ending(hook.timeout))),
    }
}
