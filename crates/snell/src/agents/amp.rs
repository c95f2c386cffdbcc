//! Amp. It runs plugins: `snell install` writes one that calls Snell.

use super::fingerprint::PayloadMark::Values;
use super::install_recipe::{
    AgentDirectory, AgentSettingsFile, DenialProof, InstallRecipe, RegistrationFormat, SettingsScope,
};
use super::plugin_replies::{CALL_ROW, CONTEXT, MESSAGE, PLUGIN_NOTES, STOP_ROW};
use super::reply::{EMPTY_DIALECT, EMPTY_ROW, ReplyDialect, ReplyRow};
use super::tool_dialect::{McpNameForm, ToolDialect, renamed_keys, same_input};
use super::unknown::BASE_PRODUCT;
use super::{AgentEventRow, AgentProduct, EvidenceLevel};

pub(super) static AMP: AgentProduct = AgentProduct {
    name: "amp",
    title: "Amp",
    evidence: EvidenceLevel::Documented,
    payload_marks: &[Values("plugin", &["amp"])],
    events: &["session.start", "agent.start", "tool.call", "tool.result", "agent.end"],
    renamed_events: &[
        AgentEventRow::new("session.start", "SessionStart"),
        AgentEventRow::new("agent.start", "UserPromptSubmit"),
        AgentEventRow::new("tool.call", "PreToolUse"),
        AgentEventRow::new("tool.result", "PostToolUse"),
        AgentEventRow::new("agent.end", "Stop"),
    ],
    tools: &TOOLS,
    install: Some(INSTALL),
    reply: &REPLIES,
    answer_notes: PLUGIN_NOTES,
    ..BASE_PRODUCT
};

pub(crate) static TOOLS: ToolDialect = ToolDialect {
    rows: &[
        renamed_keys("Bash", "Bash", &[("cmd", "command")]),
        renamed_keys("Read", "Read", &[("path", "file_path")]),
        renamed_keys("create_file", "Write", &[("path", "file_path")]),
        renamed_keys(
            "edit_file",
            "Edit",
            &[("path", "file_path"), ("old_str", "old_string"), ("new_str", "new_string")],
        ),
        same_input("glob", "Glob"),
        same_input("web_search", "WebSearch"),
        same_input("read_web_page", "WebFetch"),
        same_input("Task", "Agent"),
    ],
    mcp: McpNameForm::Canonical,
};

/// A plugin cannot refuse a prompt, answer a tool's result or end a turn.
static REPLIES: ReplyDialect = ReplyDialect {
    rows: &[ReplyRow { event: "UserPromptSubmit", context: CONTEXT, ..EMPTY_ROW }, CALL_ROW, STOP_ROW],
    message: Some(MESSAGE),
    ..EMPTY_DIALECT
};

const INSTALL: InstallRecipe = InstallRecipe {
    directory: AgentDirectory::in_home(".config/amp").or_variable("XDG_CONFIG_HOME", "amp"),
    signs: ("amp", ".config/amp"),
    format: RegistrationFormat::OwnFile(concat!(include_str!("plugins/ask.js"), include_str!("plugins/amp.ts"))),
    files: &[AgentSettingsFile::user("plugins/snell.ts"), AgentSettingsFile::project(".amp/plugins/snell.ts")],
    notes: &[
        (SettingsScope::User, "Amp loads plugins when it starts"),
        (SettingsScope::Project, "Amp loads plugins when it starts"),
    ],
    proof: DenialProof::of_plugin(
        "tool.call",
        r#"{"plugin": "amp", "hook_event_name": "tool.call", "tool_name": "Bash", "tool_input": {"cmd": "COMMAND"}}"#,
    ),
    ..InstallRecipe::BASE
};
