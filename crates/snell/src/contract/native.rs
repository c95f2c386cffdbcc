//! `snell.toml`: hooks that work under every agent.

use std::time::Duration;

use jiff::SignedDuration;
use serde_json::Value;

use super::environment::Variables;
use super::{
    AfterBlock, Base, Changes, Contract, Envelope, Flow, MuteCondition, Place, Read, Scene, ShownAs, Syntax, Twins,
    WorkingDirectory, blocked_by, failed, is_yet_to_happen, json_line, no_rules, no_switches, own_failure, printed,
    said, same_name, tool_subject,
};
use crate::config::{
    Fields, LONGEST_TIMEOUT, Node, NodeValue, Reading, SETTING_KEYS, Vocabulary, read_settings, show_duration,
};
use crate::diagnostic::hint;
use crate::event::{Event, EventName, ToolClass, parse_json};
use crate::hook::{Action, Condition, Hook, OnFailure, Timeout};
use crate::matcher::Matcher;
use crate::outcome::{End, Outcome};
use crate::verdict::{Answer, Decision, Status};

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

pub(crate) static NATIVE: Contract = Contract {
    name: "snell",
    lane: "snell",
    places: &[
        Place {
            base: Base::Config,
            path: "snell.toml",
        },
        Place {
            base: Base::Project,
            path: "snell.toml",
        },
    ],
    syntax: Syntax::Toml,
    shapes: &[],
    vocabulary: Vocabulary::Closed,
    switches: no_switches,
    flow: |_| Flow::InOrder,
    after_block: AfterBlock::GoOn,
    mute_condition: MuteCondition::Failure,
    twins: Twins::RunEach,
    changes: Changes::All,
    working_directory: WorkingDirectory::Project,
    project_variable: Some("SNELL_PROJECT_DIR"),
    failures: ShownAs::Message,
    blocks: |event| is_yet_to_happen(event) || *event == EventName::PreCompact,
    reacts: same_name,
    takes_rules: no_rules,
    read: Read::File(read),
    subject: tool_subject,
    envelope,
    answer,
};

/// A key of a `[[hook]]`, or of the file itself, for reading and for the schema.
#[derive(Debug)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) about: &'static str,
}

/// What a key's value is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    Text,
    Flag,
    Duration,
    /// A text, or a list of texts.
    Events,
    Arguments,
    /// A list of contracts.
    Contracts,
    /// A duration, or "forever".
    Retention,
    /// A table of switches.
    Handlers,
    /// A table with keys of its own.
    Table(&'static [Key]),
    /// A text that may be empty, and what it is where nothing is said.
    Words(&'static str),
    /// Four percentages, each above the one before it.
    Thresholds,
    /// A list of files, each a path or a table with its path and what it is.
    CoreFiles,
    /// A number of bytes with its unit, and what it is where nothing is said.
    Size(&'static str),
    /// A list of directories.
    Directories,
    /// A flag that is on unless it is switched off.
    Switch,
    /// A duration, and what it is where nothing is said.
    Interval(&'static str),
    /// Where to listen: `IP:PORT` or `HOST:PORT`.
    Address,
    /// The address of a receiver.
    Receiver,
    /// `sqlite:PATH` or `postgres://…`.
    Database,
    /// A list of hosts.
    Hosts,
    /// A list of patterns, or of names, that may be empty.
    Names,
    /// A whole number above 0.
    Count,
    OneOf(&'static [&'static str]),
    /// A table whose keys are names that are known elsewhere, and whose values are one of these words.
    Choices(&'static [&'static str]),
    /// A list of tables with keys of their own, of which some must be there.
    Tables(&'static [Key], &'static [&'static str]),
    /// A day.
    Date,
}

/// The keys of a `[[hook]]`.
pub(crate) const HOOK_KEYS: &[Key] = &[
    key(
        "event",
        Kind::Events,
        "The event to react to: a name, an alias, or a list of them.",
    ),
    key(
        "tool",
        Kind::Text,
        "Which tools: exact names separated by `|` or `,`, a regular expression, or a class (shell, file.read, \
         file.write, search, web, agent, mcp). Without it, every tool.",
    ),
    key(
        "when",
        Kind::Text,
        "A shell command; the hook runs only if it exits with 0 within one second.",
    ),
    key("run", Kind::Text, "A command line for /bin/sh. Either this or `exec`."),
    key(
        "exec",
        Kind::Arguments,
        "A program and its arguments, started without a shell. Either this or `run`.",
    ),
    key(
        "timeout",
        Kind::Duration,
        "How long the hook may take, with its unit. Default: 10s.",
    ),
    key(
        "on_failure",
        Kind::OneOf(&["continue", "block"]),
        "What a crash, a timeout or a missing program means. Default: continue.",
    ),
    key(
        "modify",
        Kind::Flag,
        "Whether the hook may change the tool's input or output. Default: false.",
    ),
    key(
        "background",
        Kind::Flag,
        "Whether the hook is started and not awaited. Default: false.",
    ),
];

pub(crate) const fn key(name: &'static str, kind: Kind, about: &'static str) -> Key {
    Key { name, kind, about }
}

/// The keys of a hook's answer.
const ANSWER_KEYS: &[&str] = &["decision", "reason", "tool_input", "tool_output", "context", "message"];

fn read(reading: &mut Reading<'_>, node: &Node) {
    let Some(root) = reading.object(node, "snell.toml") else {
        return;
    };
    if let Some(hooks) = root.get("hooks") {
        // A whole file of hooks would have no effect; that is more than a warning.
        reading.error(hooks.at, "there is no \"hooks\" in snell.toml; write [[hook]]");
    }
    let settings = SETTING_KEYS.iter().map(|key| key.name);
    let known: Vec<_> = ["hook", "hooks"].into_iter().chain(settings).collect();
    reading.unknown_keys(&root, &known, "snell.toml");
    read_settings(reading, &root);
    let Some(hooks) = root.get("hook") else {
        return;
    };
    if let NodeValue::Object(_) = hooks.value {
        reading.error(
            hooks.at,
            "\"hook\" must be a list of tables; write [[hook]], with two brackets",
        );
        return;
    }
    for hook in reading.array(hooks, "\"hook\"").unwrap_or_default() {
        read_hook(reading, hook);
    }
}

fn read_hook(reading: &mut Reading<'_>, node: &Node) {
    let Some(fields) = reading.object(node, "a [[hook]]") else {
        return;
    };
    let mut known: Vec<_> = HOOK_KEYS.iter().map(|key| key.name).collect();
    for Key { name, .. } in SETTING_KEYS {
        if let Some(member) = fields.members.iter().find(|member| member.key == *name) {
            // In TOML, what stands below a [[hook]] belongs to it.
            let message = format!("\"{name}\" is no key of a [[hook]]; write it above the first [[hook]] of the file");
            reading.error(member.key_at, message);
            known.push(name);
        }
    }
    reading.unknown_keys(&fields, &known, "a [[hook]]");
    let events = read_events(reading, &fields);
    let action = read_action(reading, &fields);
    let (Some(events), Some(action)) = (events, action) else {
        return;
    };
    let Some(matcher) = read_tool(reading, &fields, &events) else {
        return;
    };
    let Some((event, more)) = events.split_first() else {
        return;
    };
    let timeout = read_timeout(reading, &fields);
    let mut hook = Hook::new(&NATIVE, event.clone(), action, timeout, reading.origin(fields.at));
    hook.events.extend_from_slice(more);
    hook.matcher = matcher;
    hook.condition = reading.condition(&fields, "when").map(Condition::Shell);
    hook.on_failure = read_on_failure(reading, &fields);
    hook.may_modify = reading.boolean(&fields, "modify").unwrap_or(false);
    hook.background = reading.boolean(&fields, "background").unwrap_or(false);
    if hook.on_failure == OnFailure::Block && !hook.events.iter().any(NATIVE.blocks) {
        let at = fields.get("on_failure").map_or(fields.at, |node| node.at);
        reading.warn(at, "a failure cannot block this event; \"on_failure\" has no effect");
    }
    if hook.background && hook.on_failure == OnFailure::Block {
        reading.warn(
            fields.at,
            "a hook that is not awaited cannot block; remove \"background\" or \"on_failure\"",
        );
    }
    reading.hooks.push(hook);
}

fn read_events(reading: &mut Reading<'_>, fields: &Fields<'_>) -> Option<Vec<EventName>> {
    let Some(node) = fields.get("event") else {
        reading.error(fields.at, "a [[hook]] has no \"event\"; add event = \"PreToolUse\"");
        return None;
    };
    let names = match &node.value {
        NodeValue::Array(items) => items.as_slice(),
        _ => std::slice::from_ref(node),
    };
    let mut events = Vec::new();
    for item in names {
        let Some(name) = reading.as_text(item, "event") else {
            continue;
        };
        events.extend(reading.event(item.at, &name, Vocabulary::Closed));
    }
    if events.is_empty() && names.is_empty() {
        reading.error(node.at, "\"event\" is an empty list; name at least one event");
    }
    (!events.is_empty()).then_some(events)
}

fn read_action(reading: &mut Reading<'_>, fields: &Fields<'_>) -> Option<Action> {
    match (fields.get("run"), fields.get("exec")) {
        (Some(_), Some(exec)) => {
            reading.error(exec.at, "a [[hook]] has both \"run\" and \"exec\"; keep one of them");
            None
        }
        (Some(_), None) => {
            let command = reading.required_text(fields, "run", "a [[hook]]")?;
            Some(Action::sh(command))
        }
        (None, Some(node)) => {
            let mut words = reading.texts(fields, "exec")?.into_iter();
            let Some(program) = words.next().filter(|program| !program.is_empty()) else {
                reading.error(
                    node.at,
                    "\"exec\" names no program; write exec = [\"program\", \"argument\"]",
                );
                return None;
            };
            Some(Action::Exec {
                program,
                args: words.collect(),
            })
        }
        (None, None) => {
            reading.error(
                fields.at,
                "a [[hook]] has nothing to do; add run = \"…\" or exec = [\"…\"]",
            );
            None
        }
    }
}

fn read_tool(reading: &mut Reading<'_>, fields: &Fields<'_>, events: &[EventName]) -> Option<Matcher> {
    let Some(node) = fields.get("tool") else {
        return Some(Matcher::everything(None));
    };
    let written = reading.as_text(node, "tool")?;
    if !events.iter().any(EventName::is_about_a_tool) {
        reading.warn(node.at, "\"tool\" has no meaning for this event; it is ignored");
        return Some(Matcher::everything(None));
    }
    let near = hint(&written, ToolClass::names());
    if written.contains('.') && !near.is_empty() && ToolClass::parse(&written).is_none() {
        reading.warn(node.at, format!("\"{written}\" is read as a regular expression{near}"));
    }
    match Matcher::names_classes_or_expression(written) {
        Ok(matcher) => Some(matcher),
        Err(fault) => {
            reading.error(node.at, format!("\"tool\" {fault}; the hook is not loaded"));
            None
        }
    }
}

fn read_timeout(reading: &mut Reading<'_>, fields: &Fields<'_>) -> Timeout {
    let Some(node) = fields.get("timeout") else {
        return Timeout::Default(DEFAULT_TIMEOUT);
    };
    let parsed = match &node.value {
        NodeValue::String(text) => text.parse::<SignedDuration>().ok(),
        _ => None,
    };
    let duration = parsed.and_then(|duration| Duration::try_from(duration).ok());
    match duration.filter(|duration| !duration.is_zero()) {
        Some(duration) => reading.capped(node.at, duration, LONGEST_TIMEOUT),
        None => {
            let default = show_duration(DEFAULT_TIMEOUT);
            reading.error(
                node.at,
                format!(
                    "\"timeout\" must be a duration with its unit; write \"10s\" or \"500ms\" (the default of {default} \
                     counts)"
                ),
            );
            Timeout::Default(DEFAULT_TIMEOUT)
        }
    }
}

/// A fault here is read as "block": whoever writes the key wants a guard.
fn read_on_failure(reading: &mut Reading<'_>, fields: &Fields<'_>) -> OnFailure {
    let Some(node) = fields.get("on_failure") else {
        return OnFailure::Continue;
    };
    match &node.value {
        NodeValue::String(text) if text == "continue" => OnFailure::Continue,
        NodeValue::String(text) if text == "block" => OnFailure::Block,
        other => {
            let near = match other {
                NodeValue::String(word) => hint(word, ["continue", "block"]),
                _ => String::new(),
            };
            let message = format!("\"on_failure\" must be \"continue\" or \"block\"{near}; \"block\" counts");
            reading.error(node.at, message);
            OnFailure::Block
        }
    }
}

fn envelope(event: &Event, scene: &Scene<'_>) -> Envelope {
    let tool = event.tool.as_ref();
    let command = tool.and_then(|tool| tool.command());
    Variables::default()
        .without(&[
            "SNELL_TOOL",
            "SNELL_FILE",
            "SNELL_COMMAND",
            "SNELL_COMMAND_FILE",
            "SNELL_SESSION_ID",
            "SNELL_AGENT",
        ])
        .set("SNELL_EVENT", event.name.as_str())
        .set_path("SNELL_PROJECT_DIR", scene.project)
        .set_if("SNELL_TOOL", event.tool_name())
        .set_if("SNELL_FILE", tool.and_then(|tool| tool.file()))
        .set_or_spill_if("SNELL_COMMAND", command.as_deref())
        .set_if("SNELL_SESSION_ID", event.session_id.as_deref())
        .set_if("SNELL_AGENT", event.platform.as_deref())
        .into_envelope(Some(json_line(&event.to_json())))
}

fn answer(hook: &Hook, event: &Event, outcome: &Outcome) -> Answer {
    let text = printed(outcome);
    let json = text.starts_with('{').then(|| parse_json(text).ok()).flatten();
    let told = json.as_ref().map(|json| from_json(hook, event, json));
    match (&outcome.end, told) {
        (End::Exited(2), told) => {
            let told = told.transpose().ok().flatten().unwrap_or_default();
            Answer {
                status: Some(Status::Blocked),
                decision: Decision::Deny,
                reason: told
                    .reason
                    .or_else(|| said(&outcome.stderr))
                    .or_else(|| Some(blocked_by(hook))),
                tool_input: None,
                tool_output: None,
                ..told
            }
        }
        // A clear "block" counts whatever the exit code; anything else needs a good end.
        (End::Exited(code), Some(Ok(told))) if *code == 0 || told.decision == Decision::Deny => told,
        (End::Exited(0), Some(Err(fault))) => bad_output(hook, &fault),
        (End::Exited(0), None) if text.starts_with('{') => {
            bad_output(hook, "its output begins like JSON and cannot be read")
        }
        (End::Exited(0), None) => Answer {
            context: match event.name {
                EventName::SessionStart | EventName::UserPromptSubmit => said(text).into_iter().collect(),
                _ => Vec::new(),
            },
            ..Answer::default()
        },
        _ => own_failure(hook, outcome),
    }
}

/// Output that cannot be understood is the hook's own failure.
fn bad_output(hook: &Hook, fault: &str) -> Answer {
    let text = format!("snell hook failed: \"{}\" was not understood: {fault}", hook.command());
    failed(hook, Status::Failed, text)
}

fn from_json(hook: &Hook, event: &Event, json: &Value) -> Result<Answer, String> {
    let text = |key: &str| json.get(key).and_then(Value::as_str).and_then(said);
    let mut unknown = Vec::new();
    let decision = match json.get("decision") {
        None | Some(Value::Null) => Decision::None,
        Some(Value::String(word)) => match word.as_str() {
            "allow" => Decision::Allow,
            "ask" => Decision::Ask,
            "block" | "deny" => Decision::Deny,
            other => {
                let near = hint(other, ["allow", "ask", "block"]);
                return Err(format!(
                    "\"decision\" is \"{other}\"{near}; it must be allow, ask or block"
                ));
            }
        },
        Some(_) => return Err("\"decision\" must be a string: allow, ask or block".into()),
    };
    if let Value::Object(keys) = json {
        for key in keys.keys().filter(|key| !ANSWER_KEYS.contains(&key.as_str())) {
            let near = hint(key, ANSWER_KEYS.iter().copied());
            unknown.push(format!(
                "\"{}\" answered with an unknown key \"{key}\"{near}",
                hook.command()
            ));
        }
    }
    for key in ["reason", "message", "context"] {
        let fits = |value: &Value| value.is_string() || value.is_null() || (key == "context" && value.is_array());
        if json.get(key).is_some_and(|value| !fits(value)) {
            return Err(format!("\"{key}\" must be a string"));
        }
    }
    let mut answer = Answer {
        decision,
        warnings: unknown,
        reason: text("reason"),
        messages: text("message").into_iter().collect(),
        ..Answer::default()
    };
    match json.get("context") {
        Some(Value::Array(items)) => {
            answer
                .context
                .extend(items.iter().filter_map(Value::as_str).filter_map(said));
        }
        _ => answer.context.extend(text("context")),
    }
    if decision == Decision::Deny {
        answer.status = Some(Status::Blocked);
        answer.reason.get_or_insert_with(|| blocked_by(hook));
    }
    if json
        .get("tool_input")
        .is_some_and(|value| !(value.is_object() || value.is_null()))
    {
        return Err("\"tool_input\" must be an object".into());
    }
    let input = json.get("tool_input").filter(|value| value.is_object());
    let output = json.get("tool_output").filter(|value| !value.is_null());
    if (input.is_some() || output.is_some()) && !hook.may_modify {
        answer.warnings.push(format!(
            "\"{}\" answered with a change, which needs modify = true",
            hook.command()
        ));
        return Ok(answer);
    }
    match event.name {
        EventName::PreToolUse | EventName::PermissionRequest => answer.tool_input = input.cloned(),
        EventName::PostToolUse => answer.tool_output = output.cloned(),
        _ => {}
    }
    Ok(answer)
}
