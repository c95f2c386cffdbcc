//! Claude Code: groups of handlers per event, JSON input and output, parallel hooks; and the string entries of
//! claude-os, which are paths of scripts.

mod answer;
pub(super) mod events;
pub(super) mod reader;

use std::time::Duration;

use serde_json::{Map, Value};

use super::envelope::EnvelopeBuilder;
use super::{
    BASE_CONTRACT, BaseDirectory, Contract, ContractReader, DedupPolicy, EntryShape, Envelope, ExecutionMode,
    HookContext, HookFileLocation, SharedTimeBudget, WorkingDirectoryPolicy, to_json_line,
};
use crate::config::EventVocabulary;
use crate::event::{Event, EventName};
use crate::hook::Hook;
use crate::matcher::MatchSubject;

pub(crate) use events::EVENT_NAMES;

/// The time that all `SessionEnd` hooks share, because the agent is about to exit.
const SESSION_END_BUDGET: SharedTimeBudget = SharedTimeBudget {
    variable: "CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS",
    at_least: Duration::from_millis(1500),
    at_most: Duration::from_secs(60),
};

pub(crate) static CLAUDE: Contract = Contract {
    name: "claude",
    lane: "claude",
    locations: &[
        HookFileLocation::file(BaseDirectory::Home, ".claude/settings.json"),
        HookFileLocation::file(BaseDirectory::Project, ".claude/settings.json"),
        HookFileLocation::file(BaseDirectory::Project, ".claude/settings.local.json"),
    ],
    shapes: &[EntryShape::Group],
    vocabulary: EventVocabulary::Open(events::EVENT_NAMES),
    read_switches: reader::read_switches,
    execution_mode: |event| ExecutionMode::Together {
        budget: (*event == EventName::SessionEnd).then_some(SESSION_END_BUDGET),
    },
    dedup: DedupPolicy::RunOnce,
    working_directory: WorkingDirectoryPolicy::Event,
    project_variable: Some("CLAUDE_PROJECT_DIR"),
    can_block: |event| events::find_event_row(event).is_some_and(|row| row.blocks),
    accepts_rules: events::accepts_if,
    reader: ContractReader::Entry(reader::read_group),
    build_subject,
    build_envelope,
    read_answer: answer::read_answer,
    ..BASE_CONTRACT
};

/// A script of a string entry has the same input and output as a Claude Code hook.
pub(super) static CLAUDE_OS: Contract = Contract {
    name: "claude-os",
    locations: &[],
    shapes: &[EntryShape::Script],
    reader: ContractReader::Entry(reader::read_script),
    ..CLAUDE
};

fn build_subject<'a>(_hook: &Hook, event: &'a Event) -> Option<MatchSubject<'a>> {
    let matched_on = events::find_event_row(&event.name).map_or(events::MatchTarget::Tool, |row| row.matcher);
    (matched_on != events::MatchTarget::Nothing).then(|| matched_on.build_subject(event))
}

fn build_envelope(_hook: &Hook, event: &Event, scene: &HookContext<'_>) -> Envelope {
    EnvelopeBuilder::default()
        .set_path("CLAUDE_PROJECT_DIR", scene.project)
        .into_envelope(Some(to_json_line(&Value::Object(build_fields(event, &event.name, scene)))))
}

/// The payload that Claude Code would send, rebuilt from the event. The payload of another product never reaches a hook
/// unchanged. `name` chooses the fields.
pub(super) fn build_fields(event: &Event, name: &EventName, scene: &HookContext<'_>) -> Map<String, Value> {
    let row = events::find_event_row(name);
    let mut object = match row {
        Some(_) => Map::new(),
        // Claude Code may know this event in a newer version, so all its fields are sent.
        None => event.raw.clone(),
    };
    let mut put = |key: &str, value: Option<Value>| {
        object.extend(value.map(|value| (key.to_owned(), value)));
    };
    let path = |path: &std::path::Path| Value::from(path.to_string_lossy());
    put("session_id", Some(event.session_id.as_deref().unwrap_or_default().into()));
    put("transcript_path", Some(event.transcript_path.as_deref().map_or_else(|| "".into(), path)));
    put("cwd", Some(path(event.cwd.as_deref().unwrap_or(scene.project))));
    put("hook_event_name", Some(event.name.as_str().into()));
    for key in events::COMMON_FIELDS {
        put(key, event.wire_field(key));
    }
    for key in row.map_or(&[][..], |row| row.fields) {
        put(key, event.wire_field(key));
    }
    // Every event inside a sub-agent has these fields.
    for key in ["agent_id", "agent_type"] {
        put(key, event.wire_field(key));
    }
    object
}
