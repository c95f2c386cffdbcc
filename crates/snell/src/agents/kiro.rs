//! Kiro, and the Amazon Q CLI before it. It understands exit code 2 before a tool call. Its model reads what a hook prints when a
//! session or a prompt starts.

use super::fingerprint::PayloadMark::Values;
use super::install_recipe::{
    AgentDirectory, AgentSettingsFile, DenialProof, DenialSign, InstallRecipe, RegistrationFormat,
};
use super::reply::{EMPTY_DIALECT, EMPTY_ROW, ReplyDialect, ReplyForm, ReplyRow};
use super::tool_dialect::{McpNameForm, ToolDialect, same_input};
use super::unknown::{BASE_PRODUCT, exit_code_row};
use super::{
    AgentEventRow, AgentProduct, BASE_CALL_PLACES, BASE_LINE_ROW, SessionIdPlace, TranscriptCallPlaces,
    TranscriptFiles, TranscriptFormat, TranscriptLineKind, TranscriptLineRow, TranscriptLines, TranscriptLocation,
};

pub(super) static KIRO: AgentProduct = AgentProduct {
    name: "kiro",
    title: "Kiro",
    payload_marks: &[Values("hook_event_name", &["agentSpawn", "userPromptSubmit"])],
    events: &[
        "SessionStart",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "Stop",
        "PostFileCreate",
        "PostFileSave",
        "PostFileDelete",
        "PreTaskExec",
        "PostTaskExec",
    ],
    // The names of its second command line.
    renamed_events: &[
        AgentEventRow::new("agentSpawn", "SessionStart"),
        AgentEventRow::new("userPromptSubmit", "UserPromptSubmit"),
        AgentEventRow::new("preToolUse", "PreToolUse"),
        AgentEventRow::new("postToolUse", "PostToolUse"),
        AgentEventRow::new("stop", "Stop"),
    ],
    tools: &TOOLS,
    reply: &REPLIES,
    transcript: TranscriptFormat::JsonLines(&TRANSCRIPT),
    transcript_files: Some(TranscriptFiles::new(INSTALL.directory, "sessions/cli").with_search(
        0,
        ".jsonl",
        SessionIdPlace::FileStem,
    )),
    install: Some(INSTALL),
    ..BASE_PRODUCT
};

pub(crate) static TOOLS: ToolDialect = ToolDialect {
    rows: &[
        same_input("execute_bash", "Bash"),
        same_input("shell", "Bash"),
        same_input("fs_read", "Read"),
        same_input("read", "Read"),
        same_input("fs_write", "Write"),
        same_input("write", "Write"),
        same_input("use_subagent", "Agent"),
    ],
    mcp: McpNameForm::Prefix("@"),
};

static TRANSCRIPT: TranscriptLines = TranscriptLines::new(
    TranscriptLocation::NamedFile,
    &[
        TranscriptLineRow {
            kind: TranscriptLineKind::Prompt,
            marks: &[("/kind", "Prompt")],
            text: "/data/content",
            ..BASE_LINE_ROW
        },
        TranscriptLineRow {
            kind: TranscriptLineKind::LastAgentText,
            marks: &[("/kind", "AssistantMessage")],
            text: "/data/content",
            calls: Some(&TranscriptCallPlaces {
                list: "/data/content",
                marks: &[("/kind", "toolUse")],
                id: "/data/toolUseId",
                tool: "/data/name",
                ..BASE_CALL_PLACES
            }),
            ..BASE_LINE_ROW
        },
        TranscriptLineRow {
            kind: TranscriptLineKind::CallResults,
            marks: &[("/kind", "ToolResults")],
            calls: Some(&TranscriptCallPlaces {
                list: "/data/content",
                marks: &[("/kind", "toolResult")],
                id: "/data/toolUseId",
                ..BASE_CALL_PLACES
            }),
            ..BASE_LINE_ROW
        },
        TranscriptLineRow {
            kind: TranscriptLineKind::Interruption,
            marks: &[("/kind", "CancelledPrompt")],
            ..BASE_LINE_ROW
        },
        TranscriptLineRow { kind: TranscriptLineKind::Compaction, marks: &[("/kind", "Compaction")], ..BASE_LINE_ROW },
    ],
);

static REPLIES: ReplyDialect = ReplyDialect {
    rows: &[
        ReplyRow { event: "SessionStart", context: ReplyForm::PlainText, ..EMPTY_ROW },
        ReplyRow { event: "UserPromptSubmit", context: ReplyForm::PlainText, ..EMPTY_ROW },
        exit_code_row("PreToolUse"),
    ],
    ..EMPTY_DIALECT
};

const INSTALL: InstallRecipe = InstallRecipe {
    directory: AgentDirectory::in_home(".kiro"),
    signs: ("kiro-cli", ".kiro"),
    format: RegistrationFormat::OwnFile(include_str!("plugins/kiro.json")),
    files: &[AgentSettingsFile::user("hooks/snell.json"), AgentSettingsFile::project(".kiro/hooks/snell.json")],
    left_out: &[
        ("PostFileCreate", "PostToolUse fires for the same call"),
        ("PostFileSave", "PostToolUse fires for the same call"),
        ("PostFileDelete", "PostToolUse fires for the same call"),
        ("PreTaskExec", "a task of a specification is not a call of a tool"),
        ("PostTaskExec", "a task of a specification is not a call of a tool"),
    ],
    proof: DenialProof {
        payload: r#"{"hook_event_name": "preToolUse", "tool_name": "execute_bash", "tool_input": {"command": "COMMAND"}}"#,
        signs: &[DenialSign::ExitCode(2)],
        ..DenialProof::CLAUDE
    },
    ..InstallRecipe::BASE
};
