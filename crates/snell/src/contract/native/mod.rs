//! `snell.toml`: hooks that work under every agent.

mod answer;
mod reader;

#[cfg(test)]
pub(crate) use reader::HOOK_KEYS;

use super::envelope::EnvelopeBuilder;
use super::{
    AfterBlock, BaseDirectory, ChangePolicy, ConditionFailure, Contract, ContractReader, DedupPolicy, Envelope,
    ExecutionMode, FailureDisplay, FileSyntax, HookContext, HookFileLocation, WorkingDirectoryPolicy, accept_no_rules,
    build_tool_subject, is_preventable, react_to_same_name, read_no_switches, to_json_line,
};
use crate::config::EventVocabulary;
use crate::event::{Event, EventName};

pub(crate) static NATIVE: Contract = Contract {
    name: "snell",
    lane: "snell",
    locations: &[
        HookFileLocation { base: BaseDirectory::Config, path: "snell.toml" },
        HookFileLocation { base: BaseDirectory::Project, path: "snell.toml" },
    ],
    syntax: FileSyntax::Toml,
    shapes: &[],
    vocabulary: EventVocabulary::Closed,
    read_switches: read_no_switches,
    execution_mode: |_| ExecutionMode::InOrder,
    after_block: AfterBlock::Continue,
    condition_failure: ConditionFailure::Failure,
    dedup: DedupPolicy::RunEach,
    changes: ChangePolicy::All,
    working_directory: WorkingDirectoryPolicy::Project,
    project_variable: Some("SNELL_PROJECT_DIR"),
    failure_display: FailureDisplay::Message,
    can_block: |event| is_preventable(event) || *event == EventName::PreCompact,
    find_reaction: react_to_same_name,
    accepts_rules: accept_no_rules,
    reader: ContractReader::File(reader::read_snell_toml),
    build_subject: build_tool_subject,
    build_envelope,
    read_answer: answer::read_answer,
};

fn build_envelope(event: &Event, scene: &HookContext<'_>) -> Envelope {
    let tool = event.tool.as_ref();
    let command = tool.and_then(|tool| tool.command());
    EnvelopeBuilder::default()
        .without_vars(&[
            "SNELL_TOOL",
            "SNELL_FILE",
            "SNELL_COMMAND",
            "SNELL_COMMAND_FILE",
            "SNELL_SESSION_ID",
            "SNELL_AGENT",
        ])
        .set_var("SNELL_EVENT", event.name.as_str())
        .set_path("SNELL_PROJECT_DIR", scene.project)
        .set_var_if_some("SNELL_TOOL", event.tool_name())
        .set_var_if_some("SNELL_FILE", tool.and_then(|tool| tool.file_path()))
        .set_or_spill_if_some("SNELL_COMMAND", command.as_deref())
        .set_var_if_some("SNELL_SESSION_ID", event.session_id.as_deref())
        .set_var_if_some("SNELL_AGENT", event.platform.as_deref())
        .into_envelope(Some(to_json_line(&event.to_json())))
}
