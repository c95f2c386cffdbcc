//! Gemini CLI.
//!
//! It reads JSON on standard output at exit code 0. It shows standard error to its user if standard output is empty. "ask"
//! would hang a run without a terminal, so it becomes a denial. A changed input is merged into the original input, so a
//! hook cannot remove an argument.

use serde_json::{Map, Value};

use super::claude_replies::{
    ADDITIONAL_CONTEXT, APPROVE_DECISION, CLAUDE_LIKE, DECISION_DENY, NO_CONTEXT, context_row,
};
use super::fingerprint::PayloadMark::{Contains, EventPrefix, Values};
use super::install_recipe::{
    AgentDirectory, AgentSettingsFile, DenialProof, DenialSign, InstallRecipe, JsonRegistration, RegistrationFormat,
    SettingsScope, TimeoutKey,
};
use super::reply::ReplyForm::Json;
use super::reply::ReplyValue::Changed;
use super::reply::{EMPTY_ROW, InputPolicy, ReplyDialect, ReplyForm, ReplyRow};
use super::tool_dialect::{McpNameForm, ToolDialect, renamed_keys, same_input};
use super::unknown::BASE_PRODUCT;
use super::{
    AgentEventRow, AgentProduct, AgentVariables, BASE_CALL_PLACES, BASE_LINE_ROW, EvidenceLevel, NotificationKinds,
    SessionIdPlace, StderrUse, TranscriptCallPlaces, TranscriptFiles, TranscriptFormat, TranscriptLineKind,
    TranscriptLineRow, TranscriptLines, TranscriptLocation,
};

pub(super) static GEMINI: AgentProduct = AgentProduct {
    name: "gemini",
    title: "Gemini CLI",
    evidence: EvidenceLevel::Run,
    headless_args: &["-p", "--prompt"],
    payload_marks: &[
        EventPrefix("Before"),
        EventPrefix("After"),
        Values("hook_event_name", &["PreCompress"]),
        Contains("transcript_path", "/.gemini/tmp/"),
    ],
    env_marks: &["GEMINI_SESSION_ID"],
    events: &[
        "SessionStart",
        "SessionEnd",
        "BeforeAgent",
        "AfterAgent",
        "BeforeModel",
        "AfterModel",
        "BeforeToolSelection",
        "BeforeTool",
        "AfterTool",
        "PreCompress",
        "Notification",
    ],
    renamed_events: &[
        AgentEventRow::new("BeforeAgent", "UserPromptSubmit"),
        AgentEventRow::new("AfterAgent", "Stop"),
        AgentEventRow::new("BeforeTool", "PreToolUse"),
        AgentEventRow::new("AfterTool", "PostToolUse"),
        AgentEventRow::new("PreCompress", "PreCompact"),
    ],
    tools: &TOOLS,
    adapt,
    reply: &REPLIES,
    stderr: StderrUse::ShownToUser,
    contract: Some("gemini"),
    variables: AgentVariables {
        session_id: Some("GEMINI_SESSION_ID"),
        project_dir: Some("GEMINI_PROJECT_DIR"),
        ..BASE_PRODUCT.variables
    },
    notifications: NotificationKinds {
        needs_input: &["ToolPermission"],
        permission: &["ToolPermission"],
        ..NotificationKinds::NONE
    },
    transcript: TranscriptFormat::JsonLines(&TRANSCRIPT),
    transcript_files: Some(TranscriptFiles::new(INSTALL.directory, "tmp").with_search(
        2,
        ".jsonl",
        SessionIdPlace::FirstLine("/sessionId"),
    )),
    install: Some(INSTALL),
    ..BASE_PRODUCT
};

pub(crate) static TOOLS: ToolDialect = ToolDialect {
    rows: &[
        same_input("run_shell_command", "Bash"),
        same_input("read_file", "Read"),
        same_input("read_many_files", "Read"),
        same_input("write_file", "Write"),
        same_input("replace", "Edit"),
        renamed_keys("grep_search", "Grep", DIRECTORY_KEYS),
        renamed_keys("search_file_content", "Grep", DIRECTORY_KEYS),
        renamed_keys("glob", "Glob", DIRECTORY_KEYS),
        renamed_keys("list_directory", "LS", DIRECTORY_KEYS),
        same_input("web_fetch", "WebFetch"),
        same_input("google_web_search", "WebSearch"),
        renamed_keys("invoke_agent", "Agent", &[("agent_name", "subagent_type")]),
        same_input("ask_user", "AskUserQuestion"),
        same_input("write_todos", "TodoWrite"),
    ],
    mcp: McpNameForm::SingleUnderscores,
};

const DIRECTORY_KEYS: &[(&str, &str)] = &[("dir_path", "path")];

/// It writes a message again when its calls begin, and again with their results.
static TRANSCRIPT: TranscriptLines = TranscriptLines::new(
    TranscriptLocation::NamedFile,
    &[
        // The results of calls have no text.
        TranscriptLineRow {
            kind: TranscriptLineKind::Prompt,
            marks: &[("/type", "user")],
            text: "/content",
            calls: Some(&TranscriptCallPlaces {
                list: "/content",
                id: "/functionResponse/id",
                tool: "/functionResponse/name",
                ..BASE_CALL_PLACES
            }),
            ..BASE_LINE_ROW
        },
        TranscriptLineRow {
            kind: TranscriptLineKind::LastAgentText,
            marks: &[("/type", "gemini")],
            text: "/content",
            calls: Some(&TranscriptCallPlaces {
                list: "/toolCalls",
                id: "/id",
                tool: "/name",
                result: "/result",
                ..BASE_CALL_PLACES
            }),
            ..BASE_LINE_ROW
        },
        // Esc, or a denied permission.
        TranscriptLineRow {
            kind: TranscriptLineKind::Interruption,
            marks: &[("/type", "info"), ("/content", "Request cancelled.")],
            ..BASE_LINE_ROW
        },
        TranscriptLineRow {
            kind: TranscriptLineKind::ApiError,
            marks: &[("/type", "error")],
            text: "/content",
            ..BASE_LINE_ROW
        },
    ],
);

static REPLIES: ReplyDialect = ReplyDialect {
    rows: &[
        context_row("SessionStart"),
        deny_row("UserPromptSubmit", ADDITIONAL_CONTEXT),
        ReplyRow {
            input: Json(&[("hookSpecificOutput.tool_input", Changed)]),
            approve: APPROVE_DECISION,
            ..deny_row("PreToolUse", NO_CONTEXT)
        },
        deny_row("PostToolUse", ADDITIONAL_CONTEXT),
        deny_row("Stop", NO_CONTEXT),
    ],
    input_policy: InputPolicy::Merge,
    ..CLAUDE_LIKE
};

const fn deny_row(event: &'static str, context: ReplyForm) -> ReplyRow {
    ReplyRow { event, deny: DECISION_DENY, context, ..EMPTY_ROW }
}

/// The output of a tool says whether it failed.
fn adapt(payload: &mut Map<String, Value>) {
    let error = payload.get("tool_response").and_then(|output| output.get("error"));
    if error.is_some_and(|error| !error.is_null()) {
        payload.insert("tool_success".into(), false.into());
    }
}

const INSTALL: InstallRecipe = InstallRecipe {
    directory: AgentDirectory::in_home(".gemini").or_variable("GEMINI_CLI_HOME", ".gemini"),
    signs: ("gemini", ".gemini"),
    format: RegistrationFormat::Json(JsonRegistration {
        timeout: Some(TimeoutKey::Milliseconds("timeout")),
        ..JsonRegistration::SHELL_GROUPS
    }),
    files: &[AgentSettingsFile::user("settings.json"), AgentSettingsFile::project(".gemini/settings.json")],
    left_out: &[
        ("BeforeModel", "it fires for every request to the model, and each would start a process"),
        ("AfterModel", "it fires for every piece of the model's answer, and each would start a process"),
        ("BeforeToolSelection", "it fires for every request to the model, and each would start a process"),
        ("PreCompress", "it fires for every request to the model, also if nothing is compressed"),
    ],
    timeout: Some(600),
    timeouts: &[("SessionEnd", 10)],
    notes: &[(SettingsScope::Project, "Gemini CLI runs these hooks only in a folder that you trust in Gemini CLI")],
    proof: DenialProof {
        event: "BeforeTool",
        payload: r#"{"hook_event_name": "BeforeTool", "timestamp": "2026-01-01T00:00:00.000Z",
            "tool_name": "run_shell_command", "tool_input": {"command": "COMMAND"}}"#,
        signs: &[
            DenialSign::Member("/decision", "\"deny\""),
            DenialSign::Member("/decision", "\"block\""),
            DenialSign::ExitCode(2),
        ],
    },
    ..InstallRecipe::BASE
};
