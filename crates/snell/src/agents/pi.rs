//! Pi. It runs extensions: `snell install` writes one that calls Snell.

use serde_json::{Map, Value};

use super::fingerprint::PayloadMark::Values;
use super::install_recipe::{
    AgentDirectory, AgentSettingsFile, DenialProof, InstallRecipe, RegistrationFormat, SettingsScope,
};
use super::plugin_replies::{PLUGIN_NOTES, PLUGIN_REPLIES};
use super::tool_dialect::{McpNameForm, ToolDialect, renamed_keys, same_input};
use super::unknown::BASE_PRODUCT;
use super::{
    AgentEventRow, AgentProduct, BASE_CALL_PLACES, BASE_LINE_ROW, EvidenceLevel, SessionIdPlace, TranscriptCallPlaces,
    TranscriptFiles, TranscriptFormat, TranscriptLineKind, TranscriptLineRow, TranscriptLines, TranscriptLocation,
};

pub(super) static PI: AgentProduct = AgentProduct {
    name: "pi",
    title: "Pi",
    evidence: EvidenceLevel::Run,
    headless_args: &["-p", "--print"],
    payload_marks: &[Values("plugin", &["pi"])],
    events: &[
        "session_start",
        "before_agent_start",
        "tool_call",
        "tool_result",
        "session_before_compact",
        "agent_end",
        "agent_abort",
        "session_shutdown",
    ],
    renamed_events: &[
        AgentEventRow::new("session_start", "SessionStart"),
        AgentEventRow::new("before_agent_start", "UserPromptSubmit"),
        AgentEventRow::new("tool_call", "PreToolUse"),
        AgentEventRow::new("tool_result", "PostToolUse"),
        AgentEventRow::new("session_before_compact", "PreCompact"),
        AgentEventRow::new("agent_end", "Stop"),
        AgentEventRow::new("agent_abort", "StopCancelled"),
        AgentEventRow::new("session_shutdown", "SessionEnd"),
    ],
    tools: &TOOLS,
    adapt,
    reply: &PLUGIN_REPLIES,
    asks_permission: false,
    transcript: TranscriptFormat::JsonLines(&TRANSCRIPT),
    transcript_files: Some(TranscriptFiles::new(INSTALL.directory, "sessions").with_search(
        1,
        ".jsonl",
        SessionIdPlace::FileStemEnd(36),
    )),
    install: Some(INSTALL),
    answer_notes: PLUGIN_NOTES,
    ..BASE_PRODUCT
};

pub(crate) static TOOLS: ToolDialect = ToolDialect {
    rows: &[
        same_input("bash", "Bash"),
        renamed_keys("read", "Read", FILE_KEYS),
        renamed_keys("write", "Write", FILE_KEYS),
        renamed_keys("edit", "Edit", FILE_KEYS),
        same_input("grep", "Grep"),
        same_input("find", "Glob"),
        same_input("ls", "LS"),
    ],
    mcp: McpNameForm::Canonical,
};

const FILE_KEYS: &[(&str, &str)] = &[("path", "file_path")];

static TRANSCRIPT: TranscriptLines = TranscriptLines::new(
    TranscriptLocation::NamedFile,
    &[
        TranscriptLineRow {
            kind: TranscriptLineKind::Prompt,
            marks: &[("/type", "message"), ("/message/role", "user")],
            text: "/message/content",
            ..BASE_LINE_ROW
        },
        TranscriptLineRow {
            kind: TranscriptLineKind::Interruption,
            marks: &[("/type", "message"), ("/message/stopReason", "aborted")],
            ..BASE_LINE_ROW
        },
        TranscriptLineRow {
            kind: TranscriptLineKind::ApiError,
            marks: &[("/type", "message"), ("/message/stopReason", "error")],
            text: "/message/errorMessage",
            ..BASE_LINE_ROW
        },
        TranscriptLineRow {
            kind: TranscriptLineKind::LastAgentText,
            marks: &[("/type", "message"), ("/message/role", "assistant")],
            text: "/message/content",
            calls: Some(&TranscriptCallPlaces {
                list: "/message/content",
                marks: &[("/type", "toolCall")],
                id: "/id",
                tool: "/name",
                ..BASE_CALL_PLACES
            }),
            ..BASE_LINE_ROW
        },
        TranscriptLineRow {
            kind: TranscriptLineKind::CallResults,
            marks: &[("/type", "message"), ("/message/role", "toolResult")],
            calls: Some(&TranscriptCallPlaces {
                id: "/message/toolCallId",
                tool: "/message/toolName",
                ..BASE_CALL_PLACES
            }),
            ..BASE_LINE_ROW
        },
        TranscriptLineRow { kind: TranscriptLineKind::Compaction, marks: &[("/type", "compaction")], ..BASE_LINE_ROW },
    ],
)
.with_cwd(&["/cwd"]);

const INSTALL: InstallRecipe = InstallRecipe {
    directory: AgentDirectory::in_home(".pi/agent").or_variable("PI_CODING_AGENT_DIR", ""),
    signs: ("pi", ".pi/agent"),
    format: RegistrationFormat::OwnFile(concat!(include_str!("plugins/ask.js"), include_str!("plugins/pi.js"))),
    files: &[AgentSettingsFile::user("extensions/snell.js"), AgentSettingsFile::project(".pi/extensions/snell.js")],
    notes: &[
        (SettingsScope::User, "Pi loads extensions when it starts"),
        (SettingsScope::Project, "Pi loads extensions when it starts"),
    ],
    proof: DenialProof::of_plugin(
        "tool_call",
        r#"{"plugin": "pi", "hook_event_name": "tool_call", "tool_name": "bash", "tool_input": {"command": "COMMAND"}}"#,
    ),
    ..InstallRecipe::BASE
};

/// Its tools take `@PATH` as `PATH`.
fn adapt(payload: &mut Map<String, Value>) {
    let path = payload.get_mut("tool_input").and_then(|input| input.get_mut("path"));
    if let Some(Value::String(path)) = path
        && let Some(bare) = path.strip_prefix('@')
    {
        *path = bare.to_owned();
    }
}
