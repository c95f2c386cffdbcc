//! Crush. It has one event, and its payloads have no mark of their own. A changed input is merged into the original one.

use super::claude_replies::{APPROVE_DECISION, DECISION_DENY};
use super::install_recipe::{
    AgentDirectory, AgentSettingsFile, DenialProof, DenialSign, InstallRecipe, JsonRegistration, RegistrationFormat,
    SettingsScope,
};
use super::reply::ReplyForm::Json;
use super::reply::ReplyValue::{Changed, Text, True};
use super::reply::{EMPTY_DIALECT, EMPTY_ROW, InputPolicy, ReplyDialect, ReplyRow};
use super::tool_dialect::{McpNameForm, ToolDialect, same_input};
use super::unknown::BASE_PRODUCT;
use super::{AgentProduct, AgentVariables};

pub(super) static CRUSH: AgentProduct = AgentProduct {
    name: "crush",
    title: "Crush",
    env_marks: &["CRUSH"],
    events: &["PreToolUse"],
    tools: &TOOLS,
    reply: &REPLIES,
    variables: AgentVariables {
        session_id: Some("CRUSH_SESSION_ID"),
        project_dir: Some("CRUSH_PROJECT_DIR"),
        ..BASE_PRODUCT.variables
    },
    install: Some(INSTALL),
    ..BASE_PRODUCT
};

pub(crate) static TOOLS: ToolDialect = ToolDialect {
    rows: &[
        same_input("bash", "Bash"),
        same_input("view", "Read"),
        same_input("write", "Write"),
        same_input("edit", "Edit"),
        same_input("multiedit", "MultiEdit"),
        same_input("grep", "Grep"),
        same_input("glob", "Glob"),
        same_input("ls", "LS"),
        same_input("fetch", "WebFetch"),
        same_input("agent", "Agent"),
    ],
    mcp: McpNameForm::SingleUnderscores,
};

static REPLIES: ReplyDialect = ReplyDialect {
    rows: &[ReplyRow {
        event: "PreToolUse",
        deny: DECISION_DENY,
        input: Json(&[("updated_input", Changed)]),
        approve: APPROVE_DECISION,
        context: Json(&[("context", Text)]),
        ..EMPTY_ROW
    }],
    stop: Json(&[("halt", True), ("reason", Text)]),
    input_policy: InputPolicy::Merge,
    ..EMPTY_DIALECT
};

const INSTALL: InstallRecipe = InstallRecipe {
    directory: AgentDirectory::in_home(".config/crush").or_variable("XDG_CONFIG_HOME", "crush"),
    signs: ("crush", ".config/crush"),
    format: RegistrationFormat::Json(JsonRegistration {
        members: &[("name", "\"snell\"")],
        ..JsonRegistration::SHELL_HANDLERS
    }),
    files: &[AgentSettingsFile::user("crush.json"), AgentSettingsFile::project("crush.json")],
    timeout: Some(600),
    notes: &[
        (SettingsScope::User, "Crush calls hooks only before tools, and only for its main agent"),
        (SettingsScope::Project, "Crush calls hooks only before tools, and only for its main agent"),
    ],
    proof: DenialProof {
        payload: r#"{"event": "PreToolUse", "tool_name": "bash", "tool_input": {"command": "COMMAND"}}"#,
        signs: &[DenialSign::Member("/decision", "\"deny\""), DenialSign::ExitCode(2)],
        ..DenialProof::CLAUDE
    },
    ..InstallRecipe::BASE
};
