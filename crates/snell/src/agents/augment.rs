//! Augment.

use super::install_recipe::{
    AgentDirectory, AgentSettingsFile, DenialProof, InstallRecipe, JsonRegistration, RegistrationFormat,
};
use super::tool_dialect::{McpNameForm, ToolDialect, renamed_keys, same_input};
use super::unknown::BASE_PRODUCT;
use super::{AgentEventRow, AgentProduct, AgentVariables, NotificationKinds};

pub(super) static AUGMENT: AgentProduct = AgentProduct {
    name: "augment",
    title: "Augment",
    env_marks: &["AUGMENT_PROJECT_DIR"],
    events: &["SessionStart", "PromptSubmit", "PreToolUse", "PostToolUse", "Notification", "Stop", "SessionEnd"],
    renamed_events: &[AgentEventRow::new("PromptSubmit", "UserPromptSubmit")],
    tools: &TOOLS,
    variables: AgentVariables { project_dir: Some("AUGMENT_PROJECT_DIR"), ..BASE_PRODUCT.variables },
    install: Some(INSTALL),
    notifications: NotificationKinds::CLAUDE_LIKE,
    ..BASE_PRODUCT
};

pub(crate) static TOOLS: ToolDialect = ToolDialect {
    rows: &[
        same_input("launch-process", "Bash"),
        renamed_keys("view", "Read", FILE_KEYS),
        renamed_keys("save-file", "Write", FILE_KEYS),
        renamed_keys("str-replace-editor", "Edit", FILE_KEYS),
        same_input("remove-files", "delete_file"),
        same_input("web-fetch", "WebFetch"),
        same_input("web-search", "WebSearch"),
    ],
    mcp: McpNameForm::Canonical,
};

const FILE_KEYS: &[(&str, &str)] = &[("path", "file_path"), ("file_content", "content")];

const INSTALL: InstallRecipe = InstallRecipe {
    directory: AgentDirectory::in_home(".augment"),
    signs: ("auggie", ".augment"),
    // The unit of its timeout is not documented.
    format: RegistrationFormat::Json(JsonRegistration { timeout: None, ..JsonRegistration::SHELL_GROUPS }),
    files: &[AgentSettingsFile::user("settings.json"), AgentSettingsFile::project(".augment/settings.json")],
    proof: DenialProof {
        payload: r#"{"hook_event_name": "PreToolUse", "conversation_id": "c", "workspace_roots": ["/"],
            "tool_name": "launch-process", "tool_input": {"command": "COMMAND"}}"#,
        ..DenialProof::CLAUDE
    },
    ..InstallRecipe::BASE
};
