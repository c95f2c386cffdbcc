//! Mistral Vibe. It reads JSON answers only, so exit code 2 does not stop it.

use serde_json::{Map, Value};

use super::claude_replies::DECISION_DENY;
use super::fingerprint::PayloadMark::{Contains, Values};
use super::install_recipe::{
    AgentDirectory, AgentSettingsFile, DenialProof, DenialSign, InstallRecipe, RegistrationFormat, SettingsScope,
    TomlRegistration,
};
use super::reply::ReplyForm::Json;
use super::reply::ReplyValue::{Changed, Text};
use super::reply::{EMPTY_DIALECT, EMPTY_ROW, ReplyDialect, ReplyRow};
use super::tool_dialect::{McpNameForm, ToolDialect, renamed_keys, same_input};
use super::unknown::BASE_PRODUCT;
use super::{
    AgentEventRow, AgentProduct, BASE_CALL_PLACES, BASE_LINE_ROW, CapabilitySupport, EvidenceLevel, HookCapability,
    SessionIdPlace, TranscriptCallPlaces, TranscriptFiles, TranscriptFormat, TranscriptLineKind, TranscriptLineRow,
    TranscriptLines, TranscriptLocation,
};

pub(super) static VIBE: AgentProduct = AgentProduct {
    name: "vibe",
    title: "Mistral Vibe",
    evidence: EvidenceLevel::Run,
    headless_args: &["-p", "--prompt"],
    payload_marks: &[
        Values("hook_event_name", &["pre_tool", "post_tool", "post_agent"]),
        Contains("transcript_path", "/.vibe/"),
    ],
    events: &["pre_tool", "post_tool", "post_agent"],
    renamed_events: &[
        AgentEventRow::new("pre_tool", "PreToolUse"),
        AgentEventRow::new("post_tool", "PostToolUse"),
        AgentEventRow::new("post_agent", "Stop"),
    ],
    tools: &TOOLS,
    adapt,
    reply: &REPLIES,
    transcript: TranscriptFormat::JsonLines(&TRANSCRIPT),
    transcript_files: Some(TranscriptFiles::new(INSTALL.directory, "logs/session").with_search(
        1,
        "messages.jsonl",
        SessionIdPlace::Ancestor(1),
    )),
    install: Some(INSTALL),
    answer_notes: &[(
        HookCapability::FailClosed,
        CapabilitySupport::Limited("only with `strict = true`, which `snell install` writes"),
    )],
    contract: Some("vibe"),
    ..BASE_PRODUCT
};

pub(crate) static TOOLS: ToolDialect = ToolDialect {
    rows: &[
        same_input("file_system.bash", "Bash"),
        same_input("bash", "Bash"),
        renamed_keys("file_system.read_file", "Read", FILE_KEYS),
        renamed_keys("read_file", "Read", FILE_KEYS),
        renamed_keys("file_system.write_file", "Write", FILE_KEYS),
        renamed_keys("write_file", "Write", FILE_KEYS),
        renamed_keys("file_system.edit", "Edit", FILE_KEYS),
        renamed_keys("edit", "Edit", FILE_KEYS),
        renamed_keys("search_replace", "Edit", FILE_KEYS),
        renamed_keys("file_system.search_replace", "Edit", FILE_KEYS),
        same_input("process.start", "Bash"),
        renamed_keys("process.write", "Bash", &[("input", "command")]),
        same_input("agents.spawn", "Agent"),
        same_input("file_system.grep", "Grep"),
        same_input("grep", "Grep"),
        same_input("task", "Agent"),
        same_input("ask_user_question", "AskUserQuestion"),
    ],
    mcp: McpNameForm::Canonical,
};

const FILE_KEYS: &[(&str, &str)] = &[("path", "file_path")];

/// Its only record of prompts. Hooks get none.
/// Versions before 3 wrote messages as they are sent to the model.
static TRANSCRIPT: TranscriptLines = TranscriptLines::new(
    TranscriptLocation::LastFileBelow("journal"),
    &[
        TranscriptLineRow {
            kind: TranscriptLineKind::AgentText,
            marks: &[("/type", "action_result"), ("/payload/result/type", "completion_succeeded")],
            text: "/payload/result/result/parts",
            ..BASE_LINE_ROW
        },
        TranscriptLineRow {
            kind: TranscriptLineKind::Prompt,
            marks: &[("/type", "command_reserved"), ("/payload/method", "turn/start")],
            empty: &["/payload/params/injected"],
            text: "/payload/params/message",
            ..BASE_LINE_ROW
        },
        TranscriptLineRow {
            kind: TranscriptLineKind::Prompt,
            marks: &[("/role", "user")],
            empty: &["/injected"],
            text: "/content",
            ..BASE_LINE_ROW
        },
        TranscriptLineRow {
            kind: TranscriptLineKind::LastAgentText,
            marks: &[("/role", "assistant")],
            empty: &["/injected"],
            text: "/content",
            calls: Some(&TranscriptCallPlaces {
                list: "/tool_calls",
                id: "/id",
                tool: "/function/name",
                ..BASE_CALL_PLACES
            }),
            ..BASE_LINE_ROW
        },
        // Esc, or a denied permission: the turn is over.
        TranscriptLineRow {
            kind: TranscriptLineKind::Interruption,
            marks: &[("/role", "tool")],
            beginnings: &[("/content", "<user_cancellation>")],
            ..BASE_LINE_ROW
        },
        TranscriptLineRow {
            kind: TranscriptLineKind::CallResults,
            marks: &[("/role", "tool")],
            calls: Some(&TranscriptCallPlaces { id: "/tool_call_id", tool: "/name", ..BASE_CALL_PLACES }),
            ..BASE_LINE_ROW
        },
    ],
);

static REPLIES: ReplyDialect = ReplyDialect {
    rows: &[
        ReplyRow {
            event: "PreToolUse",
            deny: DECISION_DENY,
            input: Json(&[("hook_specific_output.tool_input", Changed)]),
            ..EMPTY_ROW
        },
        ReplyRow {
            event: "PostToolUse",
            deny: DECISION_DENY,
            context: Json(&[("hook_specific_output.additional_context", Text)]),
            ..EMPTY_ROW
        },
        ReplyRow { event: "Stop", deny: DECISION_DENY, ..EMPTY_ROW },
    ],
    message: Some("system_message"),
    ..EMPTY_DIALECT
};

fn adapt(payload: &mut Map<String, Value>) {
    if let Some(status) = payload.get("tool_status").and_then(Value::as_str) {
        let succeeded = status == "success";
        payload.insert("tool_success".into(), succeeded.into());
    }
}

const INSTALL: InstallRecipe = InstallRecipe {
    directory: AgentDirectory::in_home(".vibe").or_variable("VIBE_HOME", ""),
    signs: ("vibe", ".vibe"),
    format: RegistrationFormat::Toml(TomlRegistration {
        name_key: Some("name"),
        // A call is refused if Snell fails. Other events take no such key.
        members: &[("pre_tool", "strict = true")],
        ..TomlRegistration::new("type")
    }),
    files: &[AgentSettingsFile::user("hooks.toml"), AgentSettingsFile::project(".vibe/hooks.toml")],
    timeout: Some(600),
    notes: &[(SettingsScope::Project, "Mistral Vibe does not run a project's hooks until you trust the folder")],
    proof: DenialProof {
        event: "pre_tool",
        payload: r#"{"hook_event_name": "pre_tool", "parent_session_id": null, "tool_call_id": "u",
            "tool_name": "file_system.bash", "tool_input": {"command": "COMMAND"}}"#,
        signs: &[DenialSign::Member("/decision", "\"deny\"")],
    },
    ..InstallRecipe::BASE
};
