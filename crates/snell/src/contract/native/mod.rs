//! `snell.toml`: hooks that work under every agent.

mod answer;
mod keys;
mod read;

use super::environment::Variables;
use super::{
    AfterBlock, Base, Changes, Contract, Envelope, Flow, MuteCondition, Place, Read, Scene, ShownAs, Syntax, Twins,
    WorkingDirectory, is_yet_to_happen, json_line, no_rules, no_switches, same_name, tool_subject,
};
use crate::config::Vocabulary;
use crate::event::{Event, EventName};

pub(crate) use keys::{HOOK_KEYS, Key, Kind, key};

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
    read: Read::File(read::read),
    subject: tool_subject,
    envelope,
    answer: answer::answer,
};

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
