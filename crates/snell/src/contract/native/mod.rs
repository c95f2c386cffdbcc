//! `snell.toml`: hooks that work under every agent.

mod answer;
mod filters;
mod reader;

#[cfg(test)]
pub(crate) use reader::HOOK_KEYS;

use super::envelope::EnvelopeBuilder;
use super::{
    BASE_CONTRACT, BaseDirectory, ConditionFailure, Contract, ContractReader, Envelope, FileSyntax, HookContext,
    HookFileLocation, is_preventable, to_json_line,
};
use crate::event::{Event, EventName};
use crate::hook::Hook;

pub(crate) static NATIVE: Contract = Contract {
    name: "snell",
    lane: "snell",
    locations: &[
        HookFileLocation::file(BaseDirectory::Config, "snell.toml"),
        HookFileLocation::file(BaseDirectory::Project, "snell.toml"),
    ],
    syntax: FileSyntax::Toml,
    condition_failure: ConditionFailure::Failure,
    project_variable: Some("SNELL_PROJECT_DIR"),
    can_block: |event| is_preventable(event) || *event == EventName::PreCompact,
    reader: ContractReader::File(reader::read_snell_toml),
    build_envelope,
    read_answer: answer::read_answer,
    ..BASE_CONTRACT
};

fn build_envelope(hook: &Hook, event: &Event, scene: &HookContext<'_>) -> Envelope {
    let tool = event.tool.as_ref();
    let command = tool.and_then(|tool| tool.command());
    let matching = hook.filters.as_ref().map(|filters| filters.find_matching_files(event, scene.filter_scene()));
    let matching = matching.unwrap_or_default();
    let file = matching.first().copied().or_else(|| tool.and_then(|tool| tool.file_path()));
    set_derived_variables(EnvelopeBuilder::default(), event)
        .without_vars(&[
            "SNELL_TOOL",
            "SNELL_FILE",
            "SNELL_FILES",
            "SNELL_FILES_FILE",
            "SNELL_COMMAND",
            "SNELL_COMMAND_FILE",
            "SNELL_SESSION_ID",
            "SNELL_AGENT",
        ])
        .set_var("SNELL_EVENT", event.name.as_str())
        .set_path("SNELL_PROJECT_DIR", scene.project)
        .set_var("SNELL_TOOL", event.tool_name())
        .set_var("SNELL_FILE", file)
        .set_or_spill("SNELL_FILES", (!matching.is_empty()).then(|| matching.join("\n")).as_deref())
        .set_or_spill("SNELL_COMMAND", command.as_deref())
        .set_var("SNELL_SESSION_ID", event.session_id.as_deref())
        .set_var("SNELL_AGENT", event.platform.as_deref())
        .into_envelope(Some(to_json_line(&event.to_json())))
}

/// The variables of a derived event, by the field of the event.
const DERIVED_VARIABLES: &[(&str, &str)] = &[
    ("SNELL_STATE", "state"),
    ("SNELL_REASON", "reason"),
    ("SNELL_QUESTION", "question"),
    ("SNELL_SINCE", "since"),
    ("SNELL_AGENT_NUMBER", "agent_number"),
];

/// Sets what a derived event says about its agent. Other events do not have these variables.
fn set_derived_variables(builder: EnvelopeBuilder, event: &Event) -> EnvelopeBuilder {
    let names: Vec<_> = DERIVED_VARIABLES.iter().map(|(variable, _)| *variable).collect();
    let builder = builder.without_vars(&names);
    if !event.name.is_derived() {
        return builder;
    }
    DERIVED_VARIABLES.iter().fold(builder, |builder, (variable, field)| {
        let value =
            event.wire_field(field).map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
        builder.set_var(variable, value.as_deref())
    })
}
