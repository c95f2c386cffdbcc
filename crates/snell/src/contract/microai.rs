//! The flat specification ("microai"): one command per entry, variables in the environment, a failure may block.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

use super::environment::Variables;
use super::settings::EventKey;
use super::{
    AfterBlock, Base, Changes, Contract, Envelope, Flow, MuteCondition, Place, Read, Scene, Shape, ShownAs, Syntax,
    Twins, WorkingDirectory, no_rules, no_switches, own_failure, said, same_name_or_failed_tool, tool_subject,
};
use crate::config::{Fields, LONGEST_TIMEOUT, Node, NodeValue, Reading, Unit, Vocabulary};
use crate::event::{Event, EventName};
use crate::hook::{Action, Condition, Hook, OnFailure};
use crate::matcher::Matcher;
use crate::outcome::{End, Outcome};
use crate::verdict::{Answer, Decision, Status};

const DEFAULT_TIMEOUT: Duration = Duration::from_millis(5000);

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
    syntax: Syntax::Json,
    shapes: &[Shape::Flat],
    vocabulary: Vocabulary::Closed,
    switches: no_switches,
    flow: |event| match event {
        EventName::PostToolUse | EventName::PostToolUseFailure => Flow::Unattended,
        _ => Flow::InOrder,
    },
    after_block: AfterBlock::Stop,
    mute_condition: MuteCondition::No,
    twins: Twins::RunEach,
    changes: Changes::All,
    working_directory: WorkingDirectory::Project,
    project_variable: Some("PROJECT_ROOT"),
    failures: ShownAs::Warning,
    blocks: |event| *event == EventName::PreToolUse,
    // "After tool execution", however that went.
    reacts: same_name_or_failed_tool,
    takes_rules: no_rules,
    read: Read::Entry(read_entry),
    subject: tool_subject,
    envelope,
    answer,
};

fn read_entry(reading: &mut Reading<'_>, key: &EventKey<'_>, node: &Node) {
    let what = format!("an entry for \"{}\"", key.written);
    let Some(fields) = reading.object(node, &what) else {
        return;
    };
    reading.unknown_keys(&fields, KEYS, &what);
    let Some(command) = reading.required_text(&fields, "command", &what) else {
        return;
    };
    let Some(matcher) = read_matcher(reading, key, &fields) else {
        return;
    };
    let condition = reading.condition(&fields, "condition").map(Condition::Shell);
    let on_failure = read_continue_on_failure(reading, key, &fields);
    let timeout = reading.timeout(&fields, Unit::Milliseconds, DEFAULT_TIMEOUT, LONGEST_TIMEOUT);
    let origin = reading.origin(fields.at);
    reading.hooks.push(Hook {
        matcher,
        condition,
        on_failure,
        ..Hook::new(&MICROAI, key.event.clone(), Action::sh(command), timeout, origin)
    });
}

/// The entry's matcher, or nothing if the entry cannot be loaded.
fn read_matcher(reading: &mut Reading<'_>, key: &EventKey<'_>, fields: &Fields<'_>) -> Option<Matcher> {
    let Some(node) = fields.get("matcher") else {
        return Some(Matcher::everything(None));
    };
    let written = reading.as_text(node, "matcher")?;
    if !key.event.is_about_a_tool() {
        reading.warn(
            node.at,
            format!("\"matcher\" has no meaning for {}; it is ignored", key.event),
        );
        return Some(Matcher::everything(None));
    }
    let tool = written.split('(').next().unwrap_or_default().trim();
    if tool.contains('|') {
        reading.warn(
            node.at,
            format!("\"{tool}\" is one tool's name here, not a list; write one entry per tool"),
        );
    } else if tool != "*" && tool.contains(['*', '?']) {
        reading.warn(
            node.at,
            format!("\"{tool}\" is one tool's name here, not a pattern; only \"*\" alone means every tool"),
        );
    }
    match Matcher::tool_pattern(written) {
        Ok(matcher) => Some(matcher),
        Err(fault) => {
            reading.error(node.at, format!("\"matcher\" {fault} (the entry is not loaded)"));
            None
        }
    }
}

/// A guard whose declaration cannot be read is taken at its strictest, and its author is told.
fn read_continue_on_failure(reading: &mut Reading<'_>, key: &EventKey<'_>, fields: &Fields<'_>) -> OnFailure {
    let Some(node) = fields.get("continueOnFailure") else {
        return OnFailure::Continue;
    };
    match node.value {
        NodeValue::Bool(true) => return OnFailure::Continue,
        NodeValue::Bool(false) => {}
        _ => {
            let kind = node.kind();
            reading.error(
                node.at,
                format!("\"continueOnFailure\" must be true or false, not {kind}; false counts"),
            );
        }
    }
    if !(MICROAI.blocks)(&key.event) {
        reading.warn(
            node.at,
            format!("a failure cannot block {}; only PreToolUse can be blocked", key.event),
        );
    }
    OnFailure::Block
}

fn envelope(event: &Event, scene: &Scene<'_>) -> Envelope {
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
    made.into_envelope(None)
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
        End::TimedOut(_) => format!("\"{}\" {}", hook.command(), outcome.ending()),
        _ => said(&outcome.stderr)
            .or_else(|| said(&outcome.stdout))
            .unwrap_or_else(|| format!("\"{}\" {}", hook.command(), outcome.ending())),
    }
}
