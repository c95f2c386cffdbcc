//! Antigravity. It reads JSON answers only, and rejects unknown keys, so exit code 2 does not stop it.

use super::claude_replies::DECISION_DENY;
use super::fingerprint::PayloadMark::Keys;
use super::reply::ReplyForm::Json;
use super::reply::ReplyValue::{Text, Word};
use super::reply::{EMPTY_DIALECT, EMPTY_ROW, ReplyDialect, ReplyRow};
use super::tool_dialect::{McpNameForm, ToolDialect, renamed_keys};
use super::unknown::BASE_PRODUCT;
use super::{AgentEventRow, AgentProduct, EventShape};

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

static REPLIES: ReplyDialect = ReplyDialect {
    rows: &[
        ReplyRow {
            event: "PreToolUse",
            deny: DECISION_DENY,
            ask: Json(&[("decision", Word("ask")), ("reason", Text)]),
            ..EMPTY_ROW
        },
        ReplyRow { event: "Stop", deny: Json(&[("decision", Word("continue")), ("reason", Text)]), ..EMPTY_ROW },
    ],
    ..EMPTY_DIALECT
};
