//! Claude Code: groups of handlers per event, JSON both ways, all at once; and the string entries of claude-os, which
//! name a script.

mod answer;
mod events;
mod read;

use std::time::Duration;

use serde_json::{Map, Value};

use super::environment::Variables;
use super::{
    AfterBlock, Base, Changes, Contract, Envelope, Flow, MuteCondition, Place, Read, Scene, Shape, SharedBudget,
    ShownAs, Syntax, Twins, WorkingDirectory, json_line, same_name,
};
use crate::config::Vocabulary;
use crate::event::{Event, EventName};
use crate::matcher::Subject;

pub(crate) use events::EVENT_NAMES;

/// What all `SessionEnd` hooks may take together: the agent is on its way out.
const SESSION_END_BUDGET: SharedBudget = SharedBudget {
    variable: "CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS",
    at_least: Duration::from_millis(1500),
    at_most: Duration::from_secs(60),
};

pub(crate) static CLAUDE: Contract = Contract {
    name: "claude",
    lane: "claude",
    places: &[
        Place {
            base: Base::Home,
            path: ".claude/settings.json",
        },
        Place {
            base: Base::Project,
            path: ".claude/settings.json",
        },
        Place {
            base: Base::Project,
            path: ".claude/settings.local.json",
        },
    ],
    syntax: Syntax::Json,
    shapes: &[Shape::Group],
    vocabulary: Vocabulary::Open(events::EVENT_NAMES),
    switches: read::read_switches,
    flow: |event| Flow::Together {
        budget: (*event == EventName::SessionEnd).then_some(SESSION_END_BUDGET),
    },
    after_block: AfterBlock::GoOn,
    mute_condition: MuteCondition::No,
    twins: Twins::RunOnce,
    changes: Changes::All,
    working_directory: WorkingDirectory::Event,
    project_variable: Some("CLAUDE_PROJECT_DIR"),
    failures: ShownAs::Message,
    blocks: |event| events::row_of(event).is_some_and(|row| row.blocks),
    reacts: same_name,
    takes_rules: events::takes_if,
    read: Read::Entry(read::read_group),
    subject,
    envelope,
    answer: answer::answer,
};

/// A script named by a string is spoken to as Claude Code speaks to its hooks.
pub(super) static CLAUDE_OS: Contract = Contract {
    name: "claude-os",
    places: &[],
    shapes: &[Shape::Script],
    read: Read::Entry(read::read_script),
    ..CLAUDE
};

fn subject(event: &Event) -> Option<Subject<'_>> {
    let matched_on = events::row_of(&event.name).map_or(events::MatchedOn::Tool, |row| row.matcher);
    let (what, text) = match matched_on {
        events::MatchedOn::Nothing => return None,
        events::MatchedOn::Tool => ("tool", event.tool_name()),
        events::MatchedOn::Field(field) => (field, text_field(event, field)),
        events::MatchedOn::FileName => (
            "file",
            text_field(event, "file_path").map(|path| path.rsplit(['/', '\\']).next().unwrap_or(path)),
        ),
    };
    Some(Subject {
        what,
        text,
        tool: event.tool.as_ref(),
    })
}

fn text_field<'a>(event: &'a Event, name: &str) -> Option<&'a str> {
    match name {
        "source" => event.source.as_deref(),
        "reason" => event.reason.as_deref(),
        "agent_type" => event.subagent.as_ref().and_then(|agent| agent.kind.as_deref()),
        other => event.raw.get(other).and_then(Value::as_str),
    }
}

fn envelope(event: &Event, scene: &Scene<'_>) -> Envelope {
    Variables::default()
        .set_path("CLAUDE_PROJECT_DIR", scene.project)
        .into_envelope(Some(json_line(&payload(event, scene))))
}

/// What Claude Code would send, made anew from what the host said: never the payload of another product as it came.
fn payload(event: &Event, scene: &Scene<'_>) -> Value {
    let row = events::row_of(&event.name);
    let mut object = match row {
        Some(_) => Map::new(),
        // An event that Claude Code may know by now: everything that came with it.
        None => event.raw.clone(),
    };
    let mut put = |key: &str, value: Option<Value>| {
        object.extend(value.map(|value| (key.to_owned(), value)));
    };
    let path = |path: &std::path::Path| Value::from(path.to_string_lossy());
    put(
        "session_id",
        Some(event.session_id.as_deref().unwrap_or_default().into()),
    );
    put(
        "transcript_path",
        Some(event.transcript_path.as_deref().map_or_else(|| "".into(), path)),
    );
    put("cwd", Some(path(event.cwd.as_deref().unwrap_or(scene.project))));
    put("hook_event_name", Some(event.name.as_str().into()));
    for key in events::COMMON_FIELDS {
        put(key, event.field(key));
    }
    for key in row.map_or(&[][..], |row| row.fields) {
        put(key, event.field(key));
    }
    // Inside a subagent every event says so.
    for key in ["agent_id", "agent_type"] {
        put(key, event.field(key));
    }
    Value::Object(object)
}
