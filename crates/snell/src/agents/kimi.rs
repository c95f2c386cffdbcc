//! Kimi Code. Its payloads look like those of Claude Code. It refuses a call by Claude Code's JSON, and anything else by exit
//! code 2. Its model reads whatever a hook prints on `UserPromptSubmit`.

use serde_json::{Map, Value};

use super::claude_replies::{HOOK_EVENT_NAME, PERMISSION_DENY};
use super::fingerprint::PayloadMark::Values;
use super::install_recipe::{
    AgentDirectory, AgentSettingsFile, DenialProof, InstallRecipe, RegistrationFormat, TomlRegistration,
};
use super::reply::{EMPTY_DIALECT, EMPTY_ROW, ReplyDialect, ReplyForm, ReplyRow};
use super::tool_dialect::{McpNameForm, ToolDialect, renamed_keys, same_input};
use super::unknown::{BASE_PRODUCT, exit_code_row};
use super::{
    AgentProduct, BASE_LINE_ROW, EvidenceLevel, NotificationKinds, TranscriptFiles, TranscriptFormat,
    TranscriptLineKind, TranscriptLineRow, TranscriptLines, TranscriptLocation,
};

pub(super) static KIMI: AgentProduct = AgentProduct {
    name: "kimi",
    title: "Kimi Code",
    evidence: EvidenceLevel::Run,
    headless_args: &["-p", "--prompt", "--print"],
    payload_marks: &[Values("client_type", &["kimi_code_cli"])],
    // It reads none of its hooks if one names another event.
    events: &[
        "SessionStart",
        "UserPromptSubmit",
        "UserPromptQueued",
        "TurnStarted",
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "PermissionRequest",
        "PermissionResult",
        "Notification",
        "SubagentStart",
        "SubagentStop",
        "TaskStarted",
        "PreCompact",
        "PostCompact",
        "SessionHeartbeat",
        "Interrupt",
        "Stop",
        "StopFailure",
        "SessionEnd",
    ],
    tools: &TOOLS,
    adapt,
    reply: &REPLIES,
    transcript: TranscriptFormat::JsonLines(&TRANSCRIPT),
    transcript_files: Some(TranscriptFiles::new(INSTALL.directory, "sessions")),
    install: Some(INSTALL),
    contract: Some("kimi"),
    notifications: NotificationKinds::CLAUDE_LIKE,
    ..BASE_PRODUCT
};

pub(crate) static TOOLS: ToolDialect = ToolDialect {
    rows: &[
        renamed_keys("Read", "Read", FILE_KEYS),
        renamed_keys("ReadMediaFile", "Read", FILE_KEYS),
        renamed_keys("Write", "Write", FILE_KEYS),
        renamed_keys("Edit", "Edit", FILE_KEYS),
        same_input("FetchURL", "WebFetch"),
        same_input("SearchWeb", "WebSearch"),
        same_input("AgentSwarm", "Agent"),
    ],
    mcp: McpNameForm::Canonical,
};

const FILE_KEYS: &[(&str, &str)] = &[("path", "file_path")];

/// Sub-agents have files of their own.
static TRANSCRIPT: TranscriptLines = TranscriptLines::new(
    TranscriptLocation::BelowSession("agents/main/wire.jsonl"),
    &[
        TranscriptLineRow {
            kind: TranscriptLineKind::AgentText,
            marks: &[
                ("/type", "context.append_loop_event"),
                ("/event/type", "content.part"),
                ("/event/part/type", "text"),
            ],
            text: "/event/part/text",
            ..BASE_LINE_ROW
        },
        TranscriptLineRow {
            kind: TranscriptLineKind::Prompt,
            marks: &[("/type", "turn.prompt"), ("/origin/kind", "user")],
            text: "/input",
            ..BASE_LINE_ROW
        },
    ],
);

static REPLIES: ReplyDialect = ReplyDialect {
    rows: &[
        ReplyRow { context: ReplyForm::PlainText, ..exit_code_row("UserPromptSubmit") },
        ReplyRow { event: "PreToolUse", deny: PERMISSION_DENY, ..EMPTY_ROW },
        exit_code_row("Stop"),
    ],
    event_name: Some(HOOK_EVENT_NAME),
    ..EMPTY_DIALECT
};

/// A prompt is a list of parts, and an error an object. A sub-agent has only a name.
fn adapt(payload: &mut Map<String, Value>) {
    let is_subagent =
        payload.get("hook_event_name").and_then(Value::as_str).is_some_and(|name| name.starts_with("Subagent"));
    if let Some(name) = payload.get("agent_name").filter(|_| is_subagent).cloned() {
        payload.insert("agent_id".into(), name.clone());
        payload.insert("agent_type".into(), name);
    }
    if let Some(response) = payload.get("response").cloned() {
        payload.entry("last_assistant_message").or_insert(response);
    }
    if let Some(Value::Array(parts)) = payload.get("prompt") {
        let texts: Vec<_> = parts.iter().filter_map(|part| part.get("text")?.as_str()).collect();
        let text = texts.join("\n");
        payload.insert("prompt".into(), text.into());
    }
    if let Some(message) = payload.get("error").and_then(|error| error.get("message")).cloned() {
        payload.insert("error".into(), message);
    }
}

const INSTALL: InstallRecipe = InstallRecipe {
    directory: AgentDirectory::in_home(".kimi-code").or_variable("KIMI_CODE_HOME", ""),
    signs: ("kimi", ".kimi-code"),
    format: RegistrationFormat::Toml(TomlRegistration::new("event")),
    files: &[AgentSettingsFile::user("config.toml")],
    left_out: &[("SessionHeartbeat", "it fires every minute and tells nothing new")],
    // The longest that it takes.
    timeout: Some(600),
    timeouts: &[("SessionEnd", 10)],
    proof: DenialProof {
        payload: r#"{"hook_event_name": "PreToolUse", "client_type": "kimi_code_cli", "tool_call_id": "u",
            "tool_name": "Bash", "tool_input": {"command": "COMMAND"}}"#,
        ..DenialProof::CLAUDE
    },
    ..InstallRecipe::BASE
};
