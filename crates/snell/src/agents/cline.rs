//! Cline. A denial ends its run, and its model does not read the reason. Exit code 2 does not stop it.

use serde_json::{Map, Value};

use super::fingerprint::PayloadMark::Keys;
use super::install_recipe::{
    AgentDirectory, AgentSettingsFile, DenialProof, DenialSign, InstallRecipe, RegistrationFormat,
};
use super::reply::ReplyForm::Json;
use super::reply::ReplyValue::{Changed, Text, True};
use super::reply::{EMPTY_DIALECT, EMPTY_ROW, ReplyDialect, ReplyForm, ReplyRow};
use super::tool_dialect::{McpNameForm, ToolDialect, ToolDialectRow, ToolInputForm, renamed_keys, same_input};
use super::unknown::BASE_PRODUCT;
use super::{
    AgentEventRow, AgentProduct, CapabilitySupport, EvidenceLevel, HookCapability, QuestionForm, QuestionTool,
};

pub(super) static CLINE: AgentProduct = AgentProduct {
    name: "cline",
    title: "Cline",
    evidence: EvidenceLevel::Run,
    payload_marks: &[Keys(&["clineVersion"])],
    events: &[
        "TaskStart",
        "TaskResume",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "Notification",
        "PreCompact",
        "TaskComplete",
        "TaskCancel",
        "TaskError",
        "SessionShutdown",
    ],
    // It names events in its payloads otherwise than in its files.
    renamed_events: &[
        AgentEventRow::new("TaskStart", "SessionStart"),
        AgentEventRow::new("agent_start", "SessionStart"),
        AgentEventRow::new("TaskResume", "SessionStart"),
        AgentEventRow::new("agent_resume", "SessionStart"),
        AgentEventRow::new("prompt_submit", "UserPromptSubmit"),
        AgentEventRow::new("tool_call", "PreToolUse"),
        AgentEventRow::new("tool_result", "PostToolUse"),
        AgentEventRow::new("pre_compact", "PreCompact"),
        AgentEventRow::new("TaskComplete", "Stop"),
        AgentEventRow::new("agent_end", "Stop"),
        AgentEventRow::new("TaskCancel", "StopCancelled"),
        AgentEventRow::new("agent_abort", "StopCancelled"),
        AgentEventRow::new("TaskError", "StopFailure"),
        AgentEventRow::new("agent_error", "StopFailure"),
        AgentEventRow::new("SessionShutdown", "SessionEnd"),
        AgentEventRow::new("session_shutdown", "SessionEnd"),
    ],
    tools: &TOOLS,
    adapt,
    reply: &REPLIES,
    answer_notes: &[
        (HookCapability::Block, CapabilitySupport::Limited("the whole run ends")),
        (HookCapability::Reason, CapabilitySupport::No),
        (HookCapability::Context, CapabilitySupport::Limited("its command line has no UserPromptSubmit event")),
    ],
    contract: Some("cline"),
    question_tools: &[
        QuestionTool { name: "ask_question", form: QuestionForm::Text("question") },
        QuestionTool { name: "ask_followup_question", form: QuestionForm::Text("question") },
    ],
    install: Some(INSTALL),
    ..BASE_PRODUCT
};

pub(crate) static TOOLS: ToolDialect = ToolDialect {
    rows: &[
        ToolDialectRow { native: "run_commands", canonical: "Bash", input: ToolInputForm::CommandList("commands") },
        same_input("execute_command", "Bash"),
        renamed_keys("editor", "Edit", EDIT_KEYS),
        renamed_keys("write_to_file", "Write", EDIT_KEYS),
        renamed_keys("replace_in_file", "Edit", EDIT_KEYS),
        same_input("read_files", "Read"),
        renamed_keys("read_file", "Read", EDIT_KEYS),
        same_input("search_codebase", "Grep"),
        same_input("search_files", "Grep"),
        same_input("list_files", "LS"),
        same_input("fetch_web_content", "WebFetch"),
        same_input("web_fetch", "WebFetch"),
        renamed_keys("spawn_agent", "Agent", &[("task", "prompt")]),
        renamed_keys("team_run_task", "Agent", &[("task", "prompt")]),
    ],
    mcp: McpNameForm::Canonical,
};

const EDIT_KEYS: &[(&str, &str)] = &[("path", "file_path"), ("old_text", "old_string"), ("new_text", "new_string")];

const CANCEL: ReplyForm = Json(&[("cancel", True), ("errorMessage", Text)]);
const CONTEXT: ReplyForm = Json(&[("contextModification", Text)]);

static REPLIES: ReplyDialect = ReplyDialect {
    rows: &[
        ReplyRow { event: "UserPromptSubmit", deny: CANCEL, context: CONTEXT, ..EMPTY_ROW },
        ReplyRow {
            event: "PreToolUse",
            deny: CANCEL,
            input: Json(&[("overrideInput", Changed)]),
            context: CONTEXT,
            ..EMPTY_ROW
        },
        ReplyRow { event: "PostToolUse", context: CONTEXT, ..EMPTY_ROW },
    ],
    stop: CANCEL,
    ..EMPTY_DIALECT
};

/// Only an agent with a parent is a sub-agent. A tool's result is a list, and each item says whether it failed.
fn adapt(payload: &mut Map<String, Value>) {
    if payload.get("parent_agent_id").is_none_or(Value::is_null) {
        payload.shift_remove("agent_id");
    }
    let result = payload.get("tool_result");
    let items = result.and_then(|result| result.get("output")?.as_array());
    let has_failed = |item: &Value| item.get("success") == Some(&Value::Bool(false));
    if items.is_some_and(|items| items.iter().any(has_failed)) {
        payload.insert("tool_success".into(), false.into());
    }
    if payload.get("hookName").and_then(Value::as_str).is_some_and(|name| name.ends_with("resume")) {
        payload.entry("source").or_insert("resume".into());
    }
}

const INSTALL: InstallRecipe = InstallRecipe {
    directory: AgentDirectory::in_home(".cline").or_variable("CLINE_DIR", ""),
    signs: ("cline", ".cline"),
    format: RegistrationFormat::OwnFile(include_str!("plugins/cline.sh")),
    // Cline runs every file whose name before the extension is the event's, so a script of the user stays.
    files: &[AgentSettingsFile::user("hooks/{event}.sh"), AgentSettingsFile::project(".clinerules/hooks/{event}.sh")],
    proof: DenialProof {
        payload: r#"{"clineVersion": "", "hookName": "tool_call", "taskId": "t", "rootSessionId": "t",
            "tool_call": {"id": "u", "name": "run_commands", "input": {"commands": ["COMMAND"]}},
            "preToolUse": {"toolName": "run_commands", "parameters": {"commands": "[\"COMMAND\"]"}}}"#,
        signs: &[DenialSign::Member("/cancel", "true")],
        ..DenialProof::CLAUDE
    },
    ..InstallRecipe::BASE
};
