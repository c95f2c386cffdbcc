//! Antigravity. It reads JSON answers only, and rejects unknown keys, so exit code 2 does not stop it.

use super::claude_replies::{APPROVE_DECISION, DECISION_DENY};
use super::fingerprint::PayloadMark::Keys;
use super::install_recipe::AgentDirectory;
use super::reply::ReplyForm::Json;
use super::reply::ReplyValue::{Text, Word};
use super::reply::{EMPTY_DIALECT, EMPTY_ROW, ReplyDialect, ReplyRow};
use super::tool_dialect::{McpNameForm, ToolDialect, renamed_keys};
use super::unknown::BASE_PRODUCT;
use super::{
    AgentEventRow, AgentProduct, BASE_CALL_PLACES, BASE_LINE_ROW, EventShape, SessionIdPlace, TranscriptCallPlaces,
    TranscriptFiles, TranscriptFormat, TranscriptLineKind, TranscriptLineRow, TranscriptLines, TranscriptLocation,
};

pub(super) static ANTIGRAVITY: AgentProduct = AgentProduct {
    name: "antigravity",
    title: "Antigravity",
    payload_marks: &[Keys(&["toolCall", "conversationId"]), Keys(&["workspacePaths", "conversationId"])],
    events: &["PreToolUse", "PostToolUse", "PreInvocation", "PostInvocation", "Stop"],
    renamed_events: &[AgentEventRow::new("PreInvocation", "UserPromptSubmit")],
    event_shapes: &[
        EventShape::new(&["toolCall", "toolResult"], "PostToolUse"),
        EventShape::new(&["toolCall"], "PreToolUse"),
    ],
    tools: &TOOLS,
    reply: &REPLIES,
    transcript: TranscriptFormat::JsonLines(&TRANSCRIPT),
    transcript_files: Some(
        TranscriptFiles::new(AgentDirectory::in_home(".gemini/antigravity-cli"), "brain").with_search(
            3,
            "transcript.jsonl",
            SessionIdPlace::Ancestor(3),
        ),
    ),
    ..BASE_PRODUCT
};

pub(crate) static TOOLS: ToolDialect = ToolDialect {
    rows: &[
        renamed_keys("run_command", "Bash", &[("CommandLine", "command"), ("commandLine", "command"), ("Cwd", "cwd")]),
        renamed_keys("view_file", "Read", FILE_KEYS),
        renamed_keys("write_to_file", "Write", FILE_KEYS),
        renamed_keys("replace_file_content", "Edit", FILE_KEYS),
        renamed_keys("read_url_content", "WebFetch", &[("Url", "url")]),
        renamed_keys("search_web", "WebSearch", &[("query", "query")]),
    ],
    mcp: McpNameForm::Canonical,
};

const FILE_KEYS: &[(&str, &str)] =
    &[("AbsolutePath", "file_path"), ("TargetFile", "file_path"), ("CodeContent", "content")];

static TRANSCRIPT: TranscriptLines = TranscriptLines::new(
    TranscriptLocation::NamedFile,
    &[
        TranscriptLineRow {
            kind: TranscriptLineKind::Prompt,
            marks: &[("/type", "USER_INPUT")],
            text: "/content",
            ..BASE_LINE_ROW
        },
        TranscriptLineRow {
            kind: TranscriptLineKind::LastAgentText,
            marks: &[("/type", "PLANNER_RESPONSE")],
            text: "/content",
            calls: Some(&TranscriptCallPlaces { list: "/tool_calls", id: "/name", tool: "/name", ..BASE_CALL_PLACES }),
            ..BASE_LINE_ROW
        },
        TranscriptLineRow {
            kind: TranscriptLineKind::SubagentStart,
            marks: &[("/type", "INVOKE_SUBAGENT")],
            text: "/content",
            subagent_mark: "\"conversationId\":",
            ..BASE_LINE_ROW
        },
        TranscriptLineRow {
            kind: TranscriptLineKind::SubagentReport,
            marks: &[("/type", "SYSTEM_MESSAGE")],
            text: "/content",
            subagent_mark: "sender=",
            ..BASE_LINE_ROW
        },
        TranscriptLineRow { kind: TranscriptLineKind::CallResults, marks: &[("/source", "MODEL")], ..BASE_LINE_ROW },
    ],
);

static REPLIES: ReplyDialect = ReplyDialect {
    rows: &[
        ReplyRow {
            event: "PreToolUse",
            deny: DECISION_DENY,
            ask: Json(&[("decision", Word("ask")), ("reason", Text)]),
            approve: APPROVE_DECISION,
            ..EMPTY_ROW
        },
        ReplyRow { event: "Stop", deny: Json(&[("decision", Word("continue")), ("reason", Text)]), ..EMPTY_ROW },
    ],
    ..EMPTY_DIALECT
};
