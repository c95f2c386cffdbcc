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
use super::reply::{EMPTY_ROW, ReplyDialect, ReplyRow};
use super::tool_dialect::{McpNameForm, ToolDialect, renamed_keys, same_input};
use super::unknown::BASE_PRODUCT;
use super::{
    AgentProduct, EvidenceLevel, TranscriptFormat, TranscriptLineKind, TranscriptLineRow, TranscriptLines,
    TranscriptLocation,
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

/// Its hooks get everything but interruptions.
static TRANSCRIPT: TranscriptLines = TranscriptLines::new(
    TranscriptLocation::NamedFile,
    &[
        TranscriptLineRow {
            kind: TranscriptLineKind::Prompt,
            marks: &[("/payload/type", "item_completed"), ("/payload/item/type", "UserMessage")],
            empty: &[],
            text: "/payload/item/content",
        },
        TranscriptLineRow {
            kind: TranscriptLineKind::Interruption,
            marks: &[("/payload/type", "turn_aborted"), ("/payload/reason", "interrupted")],
            empty: &[],
            text: "",
        },
    ],
);

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
        PERMISSION_REQUEST_ROW,
        block_row("PostToolUse", ADDITIONAL_CONTEXT),
        block_row("Stop", super::claude_replies::NO_CONTEXT),
        block_row("SubagentStop", super::claude_replies::NO_CONTEXT),
    ],
    no_stop: &["PreToolUse", "PermissionRequest", "SessionEnd"],
    ..CLAUDE_LIKE
};

const INSTALL: InstallRecipe = InstallRecipe {
    directory: AgentDirectory::in_home(".codex").or_variable("CODEX_HOME", ""),
    transcripts: Some("sessions"),
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
