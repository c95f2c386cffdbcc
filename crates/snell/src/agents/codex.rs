//! Codex. Its payloads look like those of Claude Code. An answer with an unknown key is a failure, and the call runs.

use super::claude_replies::{
    ADDITIONAL_CONTEXT, CLAUDE_LIKE, PERMISSION_DENY, PERMISSION_REQUEST_ROW, block_row, context_row,
};
use super::fingerprint::PayloadMark::{Contains, Keys};
use super::install_recipe::{
    AgentDirectory, AgentSettingsFile, DenialProof, DenialSign, InstallRecipe, SettingsScope, TrustRecord,
};
use super::reply::ReplyForm::Json;
use super::reply::ReplyValue::{Changed, Word};
use super::reply::{ApprovalForm, EMPTY_ROW, ReplyDialect, ReplyRow};
use super::tool_dialect::{McpNameForm, ToolDialect, renamed_keys, same_input};
use super::unknown::BASE_PRODUCT;
use super::{
    AgentProduct, BASE_CALL_PLACES, BASE_LINE_ROW, EvidenceLevel, SessionIdPlace, TranscriptCallPlaces,
    TranscriptFiles, TranscriptFormat, TranscriptLineKind, TranscriptLineRow, TranscriptLines, TranscriptLocation,
};

pub(super) static CODEX: AgentProduct = AgentProduct {
    name: "codex",
    title: "Codex",
    evidence: EvidenceLevel::Run,
    headless_args: &["exec", "e"],
    // Claude Code sends `turn_id` too, with `MessageDisplay`, but never `model` beside it.
    payload_marks: &[Keys(&["turn_id", "model"]), Contains("transcript_path", "/.codex/sessions/")],
    events: &[
        "SessionStart",
        "UserPromptSubmit",
        "PreToolUse",
        "PermissionRequest",
        "PostToolUse",
        "PreCompact",
        "PostCompact",
        "SubagentStart",
        "SubagentStop",
        "Stop",
        "SessionEnd",
    ],
    tools: &TOOLS,
    reply: &REPLIES,
    transcript: TranscriptFormat::JsonLines(&TRANSCRIPT),
    transcript_files: Some(TranscriptFiles::new(INSTALL.directory, "sessions").with_search(
        3,
        ".jsonl",
        SessionIdPlace::FileStemEnd(36),
    )),
    install: Some(INSTALL),
    contract: Some("codex"),
    ..BASE_PRODUCT
};

/// It names its shell tool `Bash` for hooks.
pub(crate) static TOOLS: ToolDialect = ToolDialect {
    rows: &[
        renamed_keys("spawn_agent", "Agent", &[("message", "prompt")]),
        same_input("request_user_input", "AskUserQuestion"),
        same_input("web_search", "WebSearch"),
    ],
    mcp: McpNameForm::Canonical,
};

/// Versions differ in the line of a prompt.
static TRANSCRIPT: TranscriptLines = TranscriptLines::new(
    TranscriptLocation::NamedFile,
    &[
        TranscriptLineRow {
            kind: TranscriptLineKind::Prompt,
            marks: &[("/payload/type", "item_completed"), ("/payload/item/type", "UserMessage")],
            text: "/payload/item/content",
            ..BASE_LINE_ROW
        },
        TranscriptLineRow {
            kind: TranscriptLineKind::Prompt,
            marks: &[("/type", "event_msg"), ("/payload/type", "user_message")],
            text: "/payload/message",
            ..BASE_LINE_ROW
        },
        TranscriptLineRow {
            kind: TranscriptLineKind::AgentText,
            marks: &[("/type", "response_item"), ("/payload/type", "message"), ("/payload/role", "assistant")],
            text: "/payload/content",
            ..BASE_LINE_ROW
        },
        TranscriptLineRow { marks: &[("/payload/type", "task_started")], ..BASE_LINE_ROW },
        TranscriptLineRow {
            kind: TranscriptLineKind::TurnEnd,
            marks: &[("/payload/type", "task_complete")],
            ..BASE_LINE_ROW
        },
        TranscriptLineRow {
            kind: TranscriptLineKind::ApiError,
            marks: &[("/type", "event_msg"), ("/payload/type", "error")],
            text: "/payload/message",
            ..BASE_LINE_ROW
        },
        TranscriptLineRow {
            kind: TranscriptLineKind::Interruption,
            marks: &[("/payload/type", "turn_aborted"), ("/payload/reason", "interrupted")],
            ..BASE_LINE_ROW
        },
        TranscriptLineRow { marks: &[("/payload/type", "function_call")], ..CALL_ROW },
        TranscriptLineRow { marks: &[("/payload/type", "custom_tool_call")], ..CALL_ROW },
        TranscriptLineRow { marks: &[("/payload/type", "function_call_output")], ..RESULT_ROW },
        TranscriptLineRow { marks: &[("/payload/type", "custom_tool_call_output")], ..RESULT_ROW },
    ],
)
.with_cwd(&["/payload/cwd"]);

const CALL_ROW: TranscriptLineRow =
    TranscriptLineRow { kind: TranscriptLineKind::AgentText, calls: Some(&CALL_PLACES), ..BASE_LINE_ROW };
const RESULT_ROW: TranscriptLineRow = TranscriptLineRow { kind: TranscriptLineKind::CallResults, ..CALL_ROW };

const CALL_PLACES: TranscriptCallPlaces =
    TranscriptCallPlaces { id: "/payload/call_id", tool: "/payload/name", ..BASE_CALL_PLACES };

static REPLIES: ReplyDialect = ReplyDialect {
    rows: &[
        context_row("SessionStart"),
        context_row("SubagentStart"),
        block_row("UserPromptSubmit", ADDITIONAL_CONTEXT),
        ReplyRow {
            event: "PreToolUse",
            deny: PERMISSION_DENY,
            // A changed input is only accepted with "allow".
            input: Json(&[
                ("hookSpecificOutput.permissionDecision", Word("allow")),
                ("hookSpecificOutput.updatedInput", Changed),
            ]),
            context: ADDITIONAL_CONTEXT,
            ..EMPTY_ROW
        },
        // A request may be about leaving the sandbox.
        ReplyRow { approve: ApprovalForm::AsAllowIfReading, ..PERMISSION_REQUEST_ROW },
        block_row("PostToolUse", ADDITIONAL_CONTEXT),
        block_row("Stop", super::claude_replies::NO_CONTEXT),
        block_row("SubagentStop", super::claude_replies::NO_CONTEXT),
    ],
    no_stop: &["PreToolUse", "PermissionRequest", "SessionEnd"],
    ..CLAUDE_LIKE
};

const INSTALL: InstallRecipe = InstallRecipe {
    directory: AgentDirectory::in_home(".codex").or_variable("CODEX_HOME", ""),
    signs: ("codex", ".codex"),
    files: &[AgentSettingsFile::user("hooks.json"), AgentSettingsFile::project(".codex/hooks.json")],
    // The product cuts this one to 3 s; its own is 1 s.
    timeouts: &[("SessionEnd", 3)],
    trust: Some(TrustRecord::Handlers("config.toml", ["hooks", "state"])),
    notes: &[
        (
            SettingsScope::User,
            "Codex skips these hooks without a message until you trust them: start codex, enter /hooks, and trust each",
        ),
        (
            SettingsScope::Project,
            "Codex skips these hooks without a message until you trust the project and, with /hooks, each hook",
        ),
    ],
    proof: DenialProof {
        payload: r#"{"hook_event_name": "PreToolUse", "turn_id": "t", "model": "m", "permission_mode": "default",
            "tool_use_id": "u", "tool_name": "Bash", "tool_input": {"command": "COMMAND"}}"#,
        signs: &[
            DenialSign::Member("/hookSpecificOutput/permissionDecision", "\"deny\""),
            DenialSign::Member("/decision", "\"block\""),
            DenialSign::ExitCode(2),
        ],
        ..DenialProof::CLAUDE
    },
    ..InstallRecipe::BASE
};
