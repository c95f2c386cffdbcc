//! Wave: groups of commands per event, the event as indented JSON on standard input, exit code 2 blocks.

use std::time::Duration;

use serde_json::{Map, Value};

use super::environment::Variables;
use super::settings::EventKey;
use super::{
    AfterBlock, Base, Changes, Contract, Envelope, Flow, MuteCondition, Place, Reacts, Read, Scene, Shape, ShownAs,
    Syntax, Twins, WorkingDirectory, blocked_by, is_yet_to_happen, no_rules, no_switches, own_failure, said,
    tool_subject,
};
use crate::config::{Fields, Node, NodeValue, Reading, Unit, Vocabulary};
use crate::diagnostic::hint;
use crate::event::{Event, EventName};
use crate::hook::{Action, Hook};
use crate::matcher::Matcher;
use crate::outcome::{End, Outcome};
use crate::verdict::{Answer, Decision, Status};

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);
const LONGEST_TIMEOUT: Duration = Duration::from_secs(600);

pub(super) static WAVE: Contract = Contract {
    name: "wave",
    lane: "wave",
    places: &[
        Place {
            base: Base::Home,
            path: ".wave/settings.json",
        },
        Place {
            base: Base::Project,
            path: ".wave/settings.json",
        },
        Place {
            base: Base::Project,
            path: ".wave/settings.local.json",
        },
    ],
    syntax: Syntax::Json,
    shapes: &[Shape::Group],
    vocabulary: Vocabulary::Closed,
    switches: no_switches,
    flow: |_| Flow::InOrder,
    after_block: AfterBlock::GoOn,
    mute_condition: MuteCondition::No,
    twins: Twins::RunEach,
    changes: Changes::All,
    working_directory: WorkingDirectory::Project,
    project_variable: Some("WAVE_PROJECT_DIR"),
    failures: ShownAs::Message,
    blocks: is_yet_to_happen,
    reacts,
    takes_rules: no_rules,
    read: Read::Entry(read_group),
    subject: tool_subject,
    envelope,
    answer,
};

/// `PostToolUse` is "after successful tool completion".
fn reacts(written: &EventName, event: &Event) -> Reacts {
    if *written != event.name {
        Reacts::No
    } else if event.name == EventName::PostToolUse && event.tool_failed() {
        Reacts::Not("the tool failed, and PostToolUse is for tools that succeeded")
    } else {
        Reacts::Yes
    }
}

fn read_group(reading: &mut Reading<'_>, key: &EventKey<'_>, node: &Node) {
    let what = format!("an entry for \"{}\"", key.written);
    let Some(group) = reading.object(node, &what) else {
        return;
    };
    reading.unknown_keys(&group, &["matcher", "hooks"], &what);
    let Some(matcher) = read_matcher(reading, key, &group) else {
        return;
    };
    let Some(hooks) = group.get("hooks").and_then(|hooks| reading.array(hooks, "\"hooks\"")) else {
        return;
    };
    if hooks.is_empty() {
        reading.error(
            group.at,
            format!("{what} has no hooks; add {{\"type\": \"command\", \"command\": \"…\"}} to \"hooks\""),
        );
    }
    for hook in hooks {
        read_command(reading, key, &matcher, hook);
    }
}

/// The matcher that the event calls for, or nothing if the entry cannot be loaded.
fn read_matcher(reading: &mut Reading<'_>, key: &EventKey<'_>, group: &Fields<'_>) -> Option<Matcher> {
    let written = match group.get("matcher") {
        None => None,
        Some(node) => Some((node.at, reading.as_text(node, "matcher")?)),
    };
    match (written, key.event.is_about_a_tool()) {
        (Some((at, written)), true) => {
            if written.contains(".*") {
                let meant = written.replace(".*", "*");
                reading.warn(
                    at,
                    format!("\"{written}\" is a wildcard pattern here, in which a dot is a dot; write \"{meant}\""),
                );
            }
            Some(Matcher::caseless_globs(written))
        }
        (Some((at, _)), false) => {
            reading.warn(
                at,
                format!("\"matcher\" has no meaning for {}; it is ignored", key.event),
            );
            Some(Matcher::everything(None))
        }
        (None, _) if matches!(key.event, EventName::PreToolUse | EventName::PostToolUse) => {
            reading.error(
                group.at,
                format!(
                    "an entry for \"{}\" needs a \"matcher\"; write \"matcher\": \"*\" for every tool (the entry is not \
                     loaded)",
                    key.written
                ),
            );
            None
        }
        (None, _) => Some(Matcher::everything(None)),
    }
}

fn read_command(reading: &mut Reading<'_>, key: &EventKey<'_>, matcher: &Matcher, node: &Node) {
    let Some(fields) = reading.object(node, "a hook") else {
        return;
    };
    reading.unknown_keys(&fields, &["type", "command", "timeout", "async"], "a hook");
    let kind = match fields.get("type") {
        None => {
            reading.error(fields.at, "a hook has no \"type\"; add \"type\": \"command\"");
            return;
        }
        Some(Node {
            value: NodeValue::String(kind),
            ..
        }) if kind == "command" => kind,
        Some(other) => {
            let shown = match &other.value {
                NodeValue::String(kind) => format!("\"{kind}\"{}", hint(kind, ["command"])),
                _ => other.kind().to_owned(),
            };
            reading.error(
                other.at,
                format!("\"type\" must be \"command\", not {shown}; the hook is not loaded"),
            );
            return;
        }
    };
    let Some(command) = reading.required_text(&fields, "command", &format!("a {kind} hook")) else {
        return;
    };
    let timeout = reading.timeout(&fields, Unit::Seconds, DEFAULT_TIMEOUT, LONGEST_TIMEOUT);
    let background = reading.boolean(&fields, "async").unwrap_or(false);
    let origin = reading.origin(fields.at);
    reading.hooks.push(Hook {
        matcher: matcher.clone(),
        background,
        ..Hook::new(&WAVE, key.event.clone(), Action::sh(command), timeout, origin)
    });
}

fn envelope(event: &Event, scene: &Scene<'_>) -> Envelope {
    Variables::default()
        .without(&["HOOK_TOOL_NAME"])
        .set_path("WAVE_PROJECT_DIR", scene.project)
        .set("HOOK_EVENT", event.name.as_str())
        .set_if(
            "HOOK_TOOL_NAME",
            event.tool_name().filter(|_| event.name.is_about_a_tool()),
        )
        .into_envelope(Some(format!("{:#}\n", payload(event, scene))))
}

/// The document's object, keys in its order. What is not known is left out, but for the four keys that are always there.
fn payload(event: &Event, scene: &Scene<'_>) -> Value {
    let session_id = event.session_id.as_deref().filter(|id| !id.is_empty());
    let transcript = match (&event.transcript_path, session_id) {
        (Some(path), _) => scene.project.join(path).to_string_lossy().into_owned(),
        (None, Some(id)) => session_file(id, scene),
        (None, None) => String::new(),
    };
    let cwd = event
        .cwd
        .as_ref()
        .map_or_else(|| scene.project.to_owned(), |cwd| scene.project.join(cwd));
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
        object.extend(event.field(key).map(|value| ((*key).to_owned(), value)));
    }
    if let (EventName::UserPromptSubmit, Some(prompt)) = (&event.name, &event.prompt) {
        object.insert("prompt".into(), prompt.as_str().into());
        // What Wave itself sends today, under the name it sends it.
        object.insert("user_prompt".into(), prompt.as_str().into());
    }
    Value::Object(object)
}

/// Where Wave keeps a session, by its id: `wave_session_abc_xyz` is in `session_xyz.json`.
fn session_file(id: &str, scene: &Scene<'_>) -> String {
    let short = id.rsplit('_').next().unwrap_or(id);
    scene.home.map_or_else(String::new, |home| {
        home.join(".wave/sessions")
            .join(format!("session_{short}.json"))
            .to_string_lossy()
            .into_owned()
    })
}

fn answer(hook: &Hook, event: &Event, outcome: &Outcome) -> Answer {
    match outcome.end {
        End::Exited(0) => Answer {
            context: match event.name {
                EventName::UserPromptSubmit | EventName::SessionStart => said(&outcome.stdout).into_iter().collect(),
                _ => Vec::new(),
            },
            ..Answer::default()
        },
        End::Exited(2) => Answer {
            status: Some(Status::Blocked),
            decision: Decision::Deny,
            reason: said(&outcome.stderr).or_else(|| Some(blocked_by(hook))),
            ..Answer::default()
        },
        _ => own_failure(hook, outcome),
    }
}
