//! Goose. It only understands a denial of a tool call.

use super::fingerprint::PayloadMark::Keys;
use super::install_recipe::{AgentDirectory, AgentSettingsFile, DenialProof, DenialSign, InstallRecipe};
use super::tool_dialect::{McpNameForm, ToolDialect, renamed_keys, same_input};
use super::unknown::BASE_PRODUCT;
use super::{AgentEventRow, AgentProduct};

pub(super) static GOOSE: AgentProduct = AgentProduct {
    name: "goose",
    title: "Goose",
    payload_marks: &[Keys(&["matcher_context"])],
    events: &[
        "SessionStart",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "BeforeReadFile",
        "AfterFileEdit",
        "BeforeShellExecution",
        "AfterShellExecution",
        "Stop",
        "SessionEnd",
    ],
    renamed_events: &[
        AgentEventRow::for_tool("BeforeReadFile", "PreToolUse", "Read"),
        AgentEventRow::for_tool("AfterFileEdit", "PostToolUse", "Edit"),
        AgentEventRow::for_tool("BeforeShellExecution", "PreToolUse", "Bash"),
        AgentEventRow::for_tool("AfterShellExecution", "PostToolUse", "Bash"),
    ],
    tools: &TOOLS,
    install: Some(INSTALL),
    ..BASE_PRODUCT
};

pub(crate) static TOOLS: ToolDialect = ToolDialect {
    rows: &[
        same_input("shell", "Bash"),
        same_input("developer__shell", "Bash"),
        renamed_keys("developer__text_editor", "str_replace_editor", &[]),
        renamed_keys("text_editor", "str_replace_editor", &[]),
    ],
    mcp: McpNameForm::Canonical,
};

const INSTALL: InstallRecipe = InstallRecipe {
    directory: AgentDirectory::in_home(".agents"),
    signs: ("goose", ".config/goose"),
    files: &[
        AgentSettingsFile::user("plugins/snell/hooks/hooks.json"),
        AgentSettingsFile::project(".agents/plugins/snell/hooks/hooks.json"),
    ],
    left_out: &[
        ("BeforeShellExecution", "PreToolUse fires for the same call"),
        ("BeforeReadFile", "PreToolUse fires for the same call"),
        ("AfterShellExecution", "PostToolUse fires for the same call"),
        ("AfterFileEdit", "PostToolUse fires for the same call"),
    ],
    timeout: Some(600),
    proof: DenialProof {
        payload: r#"{"event": "PreToolUse", "matcher_context": "developer__shell", "working_dir": "/",
            "tool_name": "developer__shell", "tool_input": {"command": "COMMAND"}}"#,
        signs: &[DenialSign::Member("/decision", "\"block\""), DenialSign::ExitCode(2)],
        ..DenialProof::CLAUDE
    },
    ..InstallRecipe::BASE
};
