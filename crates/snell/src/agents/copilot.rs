//! Copilot CLI. A hook file with camelCase event names gets payloads in camelCase that do not name the event; one with Claude
//! Code's names gets payloads like Claude Code's. Answers at the top of the object are accepted in both cases. VS Code runs the same
//! files, and accepts Claude Code's answers. It also runs a project's hook files of Claude Code, and drops `args`.

use serde_json::{Map, Value};

use super::fingerprint::PayloadMark::{Keys, KeysWithout};
use super::install_recipe::{
    AgentDirectory, AgentSettingsFile, CommandStyle, DenialProof, DenialSign, EntryNesting, InstallRecipe,
    JsonRegistration, RegistrationFormat, SettingsReader, SettingsScope, TimeoutKey,
};
use super::reply::ReplyForm::Json;
use super::reply::ReplyValue::{Changed, Text, Word};
use super::reply::{ApprovalForm, EMPTY_DIALECT, EMPTY_ROW, OutputForm, ReplyDialect, ReplyField, ReplyForm, ReplyRow};
use super::tool_dialect::{McpNameForm, ToolDialect, renamed_keys, same_input};
use super::unknown::BASE_PRODUCT;
use super::{
    AgentEventRow, AgentProduct, AgentVariables, BASE_CALL_PLACES, BASE_LINE_ROW, CapabilitySupport, EventShape,
    EvidenceLevel, HookCapability, NotificationKinds, SessionIdPlace, TranscriptCallPlaces, TranscriptFiles,
    TranscriptFormat, TranscriptLineKind, TranscriptLineRow, TranscriptLines, TranscriptLocation,
};

pub(super) static COPILOT: AgentProduct = AgentProduct {
    name: "copilot",
    title: "Copilot",
    evidence: EvidenceLevel::Run,
    headless_args: &["-p", "--prompt"],
    payload_marks: &[
        // Grok Build has names of events besides.
        KeysWithout(&["sessionId", "timestamp", "cwd"], &["hook_event_name", "hookEventName"]),
        Keys(&["sessionId", "toolArgs"]),
        // Claude Code sends no time.
        KeysWithout(&["hook_event_name", "session_id", "timestamp"], &["transcript_path", "event", "sessionId"]),
        super::fingerprint::PayloadMark::Contains("transcript_path", "/.copilot/"),
    ],
    env_marks: &["COPILOT_CLI"],
    events: &[
        "SessionStart",
        "SessionEnd",
        "UserPromptSubmit",
        "PreToolUse",
        "PermissionRequest",
        "PostToolUse",
        "PostToolUseFailure",
        "Notification",
        "SubagentStart",
        "SubagentStop",
        "PreCompact",
        "Stop",
    ],
    renamed_events: &[
        AgentEventRow::new("sessionStart", "SessionStart"),
        AgentEventRow::new("sessionEnd", "SessionEnd"),
        AgentEventRow::new("userPromptSubmitted", "UserPromptSubmit"),
        AgentEventRow::new("userPromptTransformed", "UserPromptExpansion"),
        AgentEventRow::new("preToolUse", "PreToolUse"),
        AgentEventRow::new("preMcpToolCall", "PreToolUse"),
        AgentEventRow::new("permissionRequest", "PermissionRequest"),
        AgentEventRow::new("postToolUse", "PostToolUse"),
        AgentEventRow::new("postToolUseFailure", "PostToolUseFailure"),
        AgentEventRow::new("notification", "Notification"),
        AgentEventRow::new("subagentStart", "SubagentStart"),
        AgentEventRow::new("subagentStop", "SubagentStop"),
        AgentEventRow::new("preCompact", "PreCompact"),
        AgentEventRow::new("agentStop", "Stop"),
        AgentEventRow::new("errorOccurred", "StopFailure"),
    ],
    event_shapes: &[
        EventShape::new(&["sessionId", "toolResult"], "postToolUse"),
        EventShape::new(&["sessionId", "toolArgs", "error"], "postToolUseFailure"),
        EventShape::new(&["sessionId", "toolArgs"], "preToolUse"),
        EventShape::new(&["sessionId", "toolName", "error"], "postToolUseFailure"),
        // A call whose arguments have another name is judged, too.
        EventShape::new(&["sessionId", "toolName"], "preToolUse"),
        EventShape::new(&["sessionId", "notificationType"], "notification"),
        EventShape::new(&["sessionId", "transformedPrompt"], "userPromptTransformed"),
        EventShape::new(&["sessionId", "source"], "sessionStart"),
        EventShape::new(&["sessionId", "prompt"], "userPromptSubmitted"),
        EventShape::new(&["sessionId", "agentName", "stopReason"], "subagentStop"),
        EventShape::new(&["sessionId", "agentName"], "subagentStart"),
        EventShape::new(&["sessionId", "stopReason"], "agentStop"),
        EventShape::new(&["sessionId", "trigger"], "preCompact"),
        EventShape::new(&["sessionId", "reason"], "sessionEnd"),
        EventShape::new(&["sessionId", "error"], "errorOccurred"),
    ],
    tools: &TOOLS,
    adapt,
    reply: &REPLIES,
    answer_notes: &[(
        HookCapability::FailClosed,
        CapabilitySupport::Limited("if Snell times out or its answer is not JSON, the call runs"),
    )],
    contract: Some("copilot"),
    variables: AgentVariables { project_dir: Some("COPILOT_PROJECT_DIR"), ..BASE_PRODUCT.variables },
    transcript: TranscriptFormat::JsonLines(&TRANSCRIPT),
    transcript_files: Some(TranscriptFiles::new(INSTALL.directory, "session-state").with_search(
        1,
        "events.jsonl",
        SessionIdPlace::Ancestor(1),
    )),
    install: Some(INSTALL),
    notifications: NotificationKinds::CLAUDE_LIKE,
    ..BASE_PRODUCT
};

/// Under Claude Code's event names, tools have Claude Code's names too, but their own keys.
pub(crate) static TOOLS: ToolDialect = ToolDialect {
    rows: &[
        same_input("bash", "Bash"),
        same_input("powershell", "PowerShell"),
        renamed_keys("view", "Read", READ_KEYS),
        renamed_keys("create", "Write", WRITE_KEYS),
        renamed_keys("edit", "Edit", EDIT_KEYS),
        renamed_keys("str_replace_editor", "Edit", EDIT_KEYS),
        renamed_keys("Read", "Read", READ_KEYS),
        renamed_keys("Write", "Write", WRITE_KEYS),
        renamed_keys("Edit", "Edit", EDIT_KEYS),
        renamed_keys("grep", "Grep", &[("paths", "path")]),
        same_input("glob", "Glob"),
        same_input("web_fetch", "WebFetch"),
        same_input("web_search", "WebSearch"),
        renamed_keys("task", "Agent", &[("agent_type", "subagent_type")]),
        same_input("ask_user", "AskUserQuestion"),
    ],
    mcp: McpNameForm::Canonical,
};

const READ_KEYS: &[(&str, &str)] = &[("path", "file_path")];
const WRITE_KEYS: &[(&str, &str)] = &[("path", "file_path"), ("file_text", "content")];
const EDIT_KEYS: &[(&str, &str)] = &[("path", "file_path"), ("old_str", "old_string"), ("new_str", "new_string")];

const MODIFIED_RESULT: &[ReplyField] =
    &[("modifiedResult.resultType", Word("success")), ("modifiedResult.textResultForLlm", Text)];
const CONTEXT: ReplyForm = Json(&[("additionalContext", Text)]);
const BLOCK: ReplyForm = super::claude_replies::DECISION_BLOCK;

/// `agentId` marks lines of sub-agents, and `source` prompts of others than the user.
static TRANSCRIPT: TranscriptLines = TranscriptLines::new(
    TranscriptLocation::BelowSession("events.jsonl"),
    &[
        TranscriptLineRow {
            kind: TranscriptLineKind::LastAgentText,
            marks: &[("/type", "assistant.message")],
            text: "/data/content",
            calls: Some(&TranscriptCallPlaces {
                list: "/data/toolRequests",
                id: "/toolCallId",
                tool: "/name",
                ..BASE_CALL_PLACES
            }),
            ..OWN_ROW
        },
        TranscriptLineRow {
            kind: TranscriptLineKind::Prompt,
            marks: &[("/type", "user.message")],
            empty: &["/agentId", "/data/source"],
            text: "/data/content",
            ..BASE_LINE_ROW
        },
        TranscriptLineRow { marks: &[("/type", "assistant.turn_start")], ..OWN_ROW },
        TranscriptLineRow { marks: &[("/type", "session.compaction_start")], ..OWN_ROW },
        TranscriptLineRow {
            kind: TranscriptLineKind::TurnEnd,
            marks: &[("/type", "session.compaction_complete")],
            ..OWN_ROW
        },
        TranscriptLineRow { kind: TranscriptLineKind::Interruption, marks: &[("/type", "abort")], ..OWN_ROW },
        TranscriptLineRow {
            kind: TranscriptLineKind::CallResults,
            marks: &[("/type", "tool.execution_complete")],
            calls: Some(&TranscriptCallPlaces { id: "/data/toolCallId", ..BASE_CALL_PLACES }),
            ..OWN_ROW
        },
        TranscriptLineRow {
            kind: TranscriptLineKind::PermissionRequest,
            marks: &[("/type", "permission.requested")],
            calls: Some(&TranscriptCallPlaces { id: "/data/permissionRequest/toolCallId", ..BASE_CALL_PLACES }),
            ..BASE_LINE_ROW
        },
        TranscriptLineRow {
            kind: TranscriptLineKind::ApiError,
            marks: &[("/type", "session.error")],
            text: "/data/message",
            ..OWN_ROW
        },
    ],
)
.with_cwd(&["/data/context/cwd"]);

const OWN_ROW: TranscriptLineRow = TranscriptLineRow { empty: &["/agentId"], ..BASE_LINE_ROW };

static REPLIES: ReplyDialect = ReplyDialect {
    rows: &[
        ReplyRow { event: "SessionStart", context: CONTEXT, ..EMPTY_ROW },
        ReplyRow { event: "UserPromptSubmit", deny: BLOCK, context: CONTEXT, ..EMPTY_ROW },
        ReplyRow {
            event: "PreToolUse",
            // VS Code reads the second half.
            deny: Json(&[
                ("permissionDecision", Word("deny")),
                ("permissionDecisionReason", Text),
                ("hookSpecificOutput.permissionDecision", Word("deny")),
                ("hookSpecificOutput.permissionDecisionReason", Text),
            ]),
            ask: Json(&[
                ("permissionDecision", Word("ask")),
                ("permissionDecisionReason", Text),
                ("hookSpecificOutput.permissionDecision", Word("ask")),
                ("hookSpecificOutput.permissionDecisionReason", Text),
            ]),
            approve: ApprovalForm::Own(Json(&[
                ("permissionDecision", Word("allow")),
                ("permissionDecisionReason", Text),
                ("hookSpecificOutput.permissionDecision", Word("allow")),
                ("hookSpecificOutput.permissionDecisionReason", Text),
            ])),
            input: Json(&[("modifiedArgs", Changed), ("hookSpecificOutput.updatedInput", Changed)]),
            context: CONTEXT,
            ..EMPTY_ROW
        },
        ReplyRow {
            event: "PermissionRequest",
            deny: Json(&[("behavior", Word("deny")), ("message", Text)]),
            approve: ApprovalForm::Own(Json(&[("behavior", Word("allow"))])),
            ..EMPTY_ROW
        },
        ReplyRow { event: "PostToolUse", output: OutputForm::Fields(MODIFIED_RESULT), context: CONTEXT, ..EMPTY_ROW },
        ReplyRow { event: "PostToolUseFailure", context: CONTEXT, ..EMPTY_ROW },
        ReplyRow { event: "Stop", deny: BLOCK, ..EMPTY_ROW },
        ReplyRow { event: "SubagentStop", deny: BLOCK, ..EMPTY_ROW },
    ],
    event_name: Some(super::claude_replies::HOOK_EVENT_NAME),
    ..EMPTY_DIALECT
};

/// A tool's result says whether it failed.
fn adapt(payload: &mut Map<String, Value>) {
    let results = [("toolResult", "resultType"), ("tool_result", "result_type")];
    let result = results.iter().find_map(|(key, kind)| payload.get(*key)?.get(*kind)?.as_str());
    if let Some(succeeded) = result.map(|kind| kind == "success") {
        payload.insert("tool_success".into(), succeeded.into());
    }
}

const INSTALL: InstallRecipe = InstallRecipe {
    directory: AgentDirectory::in_home(".copilot").or_variable("COPILOT_HOME", ""),
    signs: ("copilot", ".copilot"),
    format: RegistrationFormat::Json(JsonRegistration {
        root: &[("version", "1")],
        nesting: EntryNesting::Handlers,
        command: CommandStyle::ShellLine("bash"),
        timeout: Some(TimeoutKey::Seconds("timeoutSec")),
        ..JsonRegistration::SHELL_GROUPS
    }),
    files: &[AgentSettingsFile::user("hooks/snell.json"), AgentSettingsFile::project(".github/hooks/snell.json")],
    left_out: &[(
        "PermissionRequest",
        "it fires for every call, also if Copilot asks nothing, and PreToolUse fires for it too",
    )],
    timeout: Some(600),
    timeouts: &[("SessionEnd", 10)],
    // It runs a project's files of Claude Code only if it runs the project's own.
    answering_scopes: &[SettingsScope::User, SettingsScope::Project],
    notes: &[(
        SettingsScope::Project,
        "Copilot runs these hooks only in a folder that you trust; with -p, pass --trust-folder",
    )],
    readers: &[SettingsReader::new("VS Code", ".vscode")],
    proof: DenialProof {
        payload: r#"{"hook_event_name": "PreToolUse", "timestamp": "2026-01-01T00:00:00.000Z",
            "tool_name": "Bash", "tool_input": {"command": "COMMAND"}}"#,
        signs: &[
            DenialSign::Member("/permissionDecision", "\"deny\""),
            DenialSign::Member("/hookSpecificOutput/permissionDecision", "\"deny\""),
            DenialSign::ExitCode(2),
        ],
        ..DenialProof::CLAUDE
    },
    ..InstallRecipe::BASE
};
