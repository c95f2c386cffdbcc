//! Qwen Code, a fork of Gemini CLI with the event names of Claude Code. Its `PreToolUse` takes no changed input and no context.

use serde_json::{Map, Value};

use super::claude_replies::{
    ADDITIONAL_CONTEXT, APPROVE_PERMISSION, CLAUDE_LIKE, NO_CONTEXT, PERMISSION_ASK, PERMISSION_DENY,
    PERMISSION_REQUEST_ROW, block_row, context_row,
};
use super::fingerprint::PayloadMark::{Contains, Values};
use super::install_recipe::{
    AgentDirectory, AgentSettingsFile, DenialProof, InstallRecipe, JsonRegistration, RegistrationFormat, TimeoutKey,
};
use super::reply::{EMPTY_ROW, ReplyDialect, ReplyRow};
use super::tool_dialect::{McpNameForm, ToolDialect, renamed_keys, same_input};
use super::unknown::BASE_PRODUCT;
use super::{AgentProduct, AgentVariables, EvidenceLevel, NotificationKinds, TranscriptFiles};

pub(super) static QWEN: AgentProduct = AgentProduct {
    name: "qwen",
    title: "Qwen Code",
    evidence: EvidenceLevel::Run,
    headless_args: &["-p", "--prompt"],
    payload_marks: &[Values("permission_mode", &["auto_edit", "yolo"]), Contains("transcript_path", "/.qwen/")],
    env_marks: &["QWEN_PROJECT_DIR", "QWEN_CODE_SESSION_ID"],
    events: &[
        "SessionStart",
        "SessionEnd",
        "SessionDelete",
        "InstructionsLoaded",
        "UserPromptSubmit",
        "PreToolUse",
        "PermissionRequest",
        "PostToolUse",
        "PostToolUseFailure",
        "PostToolBatch",
        "MessageDisplay",
        "Notification",
        "SubagentStart",
        "SubagentStop",
        "TodoCreated",
        "TodoCompleted",
        "PreCompact",
        "PostCompact",
        "Stop",
        "StopFailure",
    ],
    tools: &TOOLS,
    adapt,
    reply: &REPLIES,
    contract: Some("qwen"),
    variables: AgentVariables {
        session_id: Some("QWEN_CODE_SESSION_ID"),
        project_dir: Some("QWEN_PROJECT_DIR"),
        stop_block_cap: Some("QWEN_CODE_STOP_HOOK_BLOCK_CAP"),
        ..BASE_PRODUCT.variables
    },
    install: Some(INSTALL),
    notifications: NotificationKinds::CLAUDE_LIKE,
    transcript_files: Some(TranscriptFiles::new(INSTALL.directory, "projects")),
    ..BASE_PRODUCT
};

pub(crate) static TOOLS: ToolDialect = ToolDialect {
    rows: &[
        same_input("run_shell_command", "Bash"),
        same_input("read_file", "Read"),
        same_input("write_file", "Write"),
        same_input("edit", "Edit"),
        same_input("notebook_edit", "NotebookEdit"),
        same_input("grep_search", "Grep"),
        same_input("glob", "Glob"),
        renamed_keys("list_directory", "LS", &[("dir_path", "path")]),
        same_input("web_fetch", "WebFetch"),
        same_input("web_search", "WebSearch"),
        same_input("agent", "Agent"),
        same_input("task", "Agent"),
        same_input("todo_write", "TodoWrite"),
        same_input("ask_user_question", "AskUserQuestion"),
        same_input("exit_plan_mode", "ExitPlanMode"),
    ],
    mcp: McpNameForm::Canonical,
};

static REPLIES: ReplyDialect = ReplyDialect {
    rows: &[
        context_row("SessionStart"),
        context_row("SubagentStart"),
        block_row("UserPromptSubmit", ADDITIONAL_CONTEXT),
        // Without a terminal it turns "ask" into a denial by itself.
        ReplyRow {
            event: "PreToolUse",
            deny: PERMISSION_DENY,
            ask: PERMISSION_ASK,
            approve: APPROVE_PERMISSION,
            ..EMPTY_ROW
        },
        PERMISSION_REQUEST_ROW,
        block_row("PostToolUse", ADDITIONAL_CONTEXT),
        block_row("PostToolUseFailure", ADDITIONAL_CONTEXT),
        block_row("PostToolBatch", ADDITIONAL_CONTEXT),
        block_row("Stop", NO_CONTEXT),
        block_row("SubagentStop", NO_CONTEXT),
        block_row("PreCompact", NO_CONTEXT),
    ],
    ..CLAUDE_LIKE
};

/// The name of an event in which Qwen Code submits the results of tools.
const TOOL_RESULTS_SUBMIT: &str = "ToolResultsSubmit";

/// It fires `UserPromptSubmit` again after each batch of tools, with an empty prompt and without `submitted_prompt`. No user
/// submitted that.
fn adapt(payload: &mut Map<String, Value>) {
    let text = |key: &str| payload.get(key).and_then(Value::as_str);
    if text("hook_event_name") == Some("UserPromptSubmit")
        && text("prompt") == Some("")
        && text("submitted_prompt").is_none()
    {
        payload.insert("hook_event_name".into(), TOOL_RESULTS_SUBMIT.into());
    }
}

const INSTALL: InstallRecipe = InstallRecipe {
    directory: AgentDirectory::in_home(".qwen").or_variable("QWEN_HOME", ""),
    signs: ("qwen", ".qwen"),
    format: RegistrationFormat::Json(JsonRegistration {
        timeout: Some(TimeoutKey::Milliseconds("timeout")),
        ..JsonRegistration::SHELL_GROUPS
    }),
    files: &[AgentSettingsFile::user("settings.json"), AgentSettingsFile::project(".qwen/settings.json")],
    left_out: &[("MessageDisplay", "it fires for every piece of shown text, and each would start a process")],
    timeout: Some(600),
    timeouts: &[("SessionEnd", 10)],
    proof: DenialProof {
        payload: r#"{"hook_event_name": "PreToolUse", "permission_mode": "yolo", "tool_use_id": "u", "tool_call_id": "u",
            "tool_name": "run_shell_command", "tool_input": {"command": "COMMAND"}}"#,
        ..DenialProof::CLAUDE
    },
    ..InstallRecipe::BASE
};
