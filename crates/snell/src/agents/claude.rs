//! Claude Code.

use super::claude_replies::{
    ADDITIONAL_CONTEXT, BEHAVIOR_ALLOW_WITH, CLAUDE_LIKE, NO_CONTEXT, PERMISSION_ALLOW, PERMISSION_ASK,
    PERMISSION_DENY, PERMISSION_REQUEST_ROW, UPDATED_INPUT, block_row, context_row,
};
use super::fingerprint::{AgentVocabulary, CallerEvidence, PayloadMark};
use super::install_recipe::{
    AgentDirectory, AgentSettingsFile, CommandStyle, InstallRecipe, JsonRegistration, RegistrationFormat,
    SettingsReader, SettingsScope, TrustRecord,
};
use super::reply::{
    ContextEffect, DialogDuringHook, EMPTY_ROW, OutputForm, ReplyDialect, ReplyForm, ReplyRow, ReplyValue,
};
use super::unknown::BASE_PRODUCT;
use super::{
    AgentProduct, AgentVariables, EvidenceLevel, NotificationKinds, SessionIdPlace, TranscriptFiles, TranscriptFormat,
};
use crate::contract::{CLAUDE, CLAUDE_EVENTS};

pub(super) static CLAUDE_CODE: AgentProduct = AgentProduct {
    name: "claude",
    title: "Claude Code",
    payload_marks: &[PayloadMark::Contains("transcript_path", "/.claude/projects/")],
    vocabulary: Some(AgentVocabulary {
        is_spoken_by,
        confirmed_by: &["CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID", "CLAUDE_PID"],
    }),
    events: CLAUDE_EVENTS,
    reply: &REPLIES,
    variables: VARIABLES,
    notifications: NotificationKinds::CLAUDE_LIKE,
    transcript: TRANSCRIPT,
    transcript_files: Some(TranscriptFiles::new(INSTALL.directory, "projects").with_search(
        1,
        ".jsonl",
        SessionIdPlace::FileStem,
    )),
    contract: Some(CLAUDE.name),
    install: Some(INSTALL),
    evidence: EvidenceLevel::Run,
    ..BASE_PRODUCT
};

pub(super) const VARIABLES: AgentVariables = AgentVariables {
    pid: Some("CLAUDE_PID"),
    launcher_session_id: Some("CLAUDE_SESSION_ID"),
    session_id: Some("CLAUDE_CODE_SESSION_ID"),
    // The settings of a project can set it too.
    project_dir: Some("CLAUDE_PROJECT_DIR"),
    stop_block_cap: Some("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"),
    // Print mode denies every call that needs an approval.
    unattended: &[("CLAUDE_CODE_SESSION_ATTENDED", "0"), ("CLAUDE_CODE_ENTRYPOINT", "sdk-cli")],
};

const TRANSCRIPT: TranscriptFormat = TranscriptFormat::ClaudeJsonl;

/// Rows for events that can be answered.
///
/// Only an exit code can refuse `TaskCompleted`, `TeammateIdle` and `WorktreeCreate`, so a refusal becomes a message there.
static REPLIES: ReplyDialect = ReplyDialect {
    rows: &[
        with_fields(context_row("SessionStart"), &["initialUserMessage", "sessionTitle", "watchPaths", "reloadSkills"]),
        context_row("Setup"),
        with_fields(block_row("UserPromptSubmit", ADDITIONAL_CONTEXT), &["sessionTitle", "suppressOriginalPrompt"]),
        with_fields(block_row("UserPromptExpansion", ADDITIONAL_CONTEXT), &["suppressOriginalPrompt"]),
        with_fields(empty_row("MessageDisplay"), &["displayContent"]),
        ReplyRow {
            event: "PreToolUse",
            deny: PERMISSION_DENY,
            ask: PERMISSION_ASK,
            allow: PERMISSION_ALLOW,
            input: UPDATED_INPUT,
            context: ADDITIONAL_CONTEXT,
            ..EMPTY_ROW
        },
        ReplyRow {
            allow_with: BEHAVIOR_ALLOW_WITH,
            question_answers: Some("answers"),
            dialog: DialogDuringHook::Usable,
            ..PERMISSION_REQUEST_ROW
        },
        with_fields(empty_row("PermissionDenied"), &["retry"]),
        ReplyRow {
            output: OutputForm::KeyByTool {
                mcp: "hookSpecificOutput.updatedMCPToolOutput",
                other: "hookSpecificOutput.updatedToolOutput",
            },
            ..with_fields(block_row("PostToolUse", ADDITIONAL_CONTEXT), &["classifierContext"])
        },
        block_row("PostToolUseFailure", ADDITIONAL_CONTEXT),
        block_row("PostToolBatch", ADDITIONAL_CONTEXT),
        context_row("Notification"),
        context_row("SubagentStart"),
        stop_row("SubagentStop"),
        block_row("TaskCreated", NO_CONTEXT),
        stop_row("Stop"),
        block_row("ConfigChange", NO_CONTEXT),
        with_fields(empty_row("CwdChanged"), &["watchPaths"]),
        with_fields(empty_row("FileChanged"), &["watchPaths"]),
        with_fields(empty_row("WorktreeCreate"), &["worktreePath"]),
        block_row("PreCompact", NO_CONTEXT),
        elicitation_row("Elicitation"),
        elicitation_row("ElicitationResult"),
    ],
    top_fields: &["terminalSequence"],
    ..CLAUDE_LIKE
};

const fn empty_row(event: &'static str) -> ReplyRow {
    ReplyRow { event, ..EMPTY_ROW }
}

const fn with_fields(row: ReplyRow, fields: &'static [&'static str]) -> ReplyRow {
    ReplyRow { fields, ..row }
}

const fn stop_row(event: &'static str) -> ReplyRow {
    ReplyRow { context_effect: ContextEffect::ContinueTurn, ..block_row(event, ADDITIONAL_CONTEXT) }
}

const fn elicitation_row(event: &'static str) -> ReplyRow {
    let deny = ReplyForm::Json(&[("hookSpecificOutput.action", ReplyValue::Word("decline"))]);
    ReplyRow { event, deny, fields: &["action", "content"], ..EMPTY_ROW }
}

/// A name of Claude Code's vocabulary is enough. The vocabulary grows, so another name in its style is accepted too, if the
/// payload or the environment shows that the caller is Claude Code.
fn is_spoken_by(caller: &CallerEvidence<'_>) -> bool {
    let Some(name) = caller.payload_text("hook_event_name") else {
        return false;
    };
    if CLAUDE_EVENTS.contains(&name) {
        return true;
    }
    let is_in_style =
        name.starts_with(|c: char| c.is_ascii_uppercase()) && name.chars().all(|c| c.is_ascii_alphabetic());
    let has_proof = caller.payload_text("transcript_path").is_some() || caller.has_env_var("CLAUDECODE");
    is_in_style && caller.payload_text("session_id").is_some() && has_proof
}

const INSTALL: InstallRecipe = InstallRecipe {
    directory: AgentDirectory::in_home(".claude").or_variable("CLAUDE_CONFIG_DIR", ""),
    signs: ("claude", ".claude"),
    format: RegistrationFormat::Json(JsonRegistration {
        command: CommandStyle::ProgramAndArgs,
        ..JsonRegistration::SHELL_GROUPS
    }),
    files: &[
        AgentSettingsFile::user("settings.json"),
        AgentSettingsFile::project(".claude/settings.json"),
        AgentSettingsFile::new(SettingsScope::Local, ".claude/settings.local.json"),
        AgentSettingsFile::new(SettingsScope::Managed, "/etc/claude-code/managed-settings.json"),
        AgentSettingsFile::new(SettingsScope::Managed, "/etc/claude-code/managed-settings.d"),
        AgentSettingsFile::new(SettingsScope::Managed, "/Library/Application Support/ClaudeCode/managed-settings.json"),
    ],
    left_out: &[
        (
            "WorktreeCreate",
            "a hook on this event must create the worktree and print its path, so one that only observes would break it",
        ),
        ("MessageDisplay", "it fires for every piece of shown text, and each would start a process"),
    ],
    timeouts: &[
        // Claude Code's limit is 30 s here, and 600 s for other events. snell.toml sets the timeouts of hooks.
        ("UserPromptSubmit", 600),
        // All hooks share 1.5 s here, unless one has a longer timeout.
        ("SessionEnd", 10),
    ],
    forwarded: &[
        ("SessionStart", "session-start"),
        ("UserPromptSubmit", "user-prompt-submit"),
        ("PreToolUse", "pre-tool-use"),
        ("PermissionRequest", "permission-request"),
        ("PostToolUse", "post-tool-use"),
        ("Notification", "notification"),
        ("Stop", "stop"),
        ("SessionEnd", "session-end"),
    ],
    trust: Some(TrustRecord::Directories(".claude.json", ["projects", "hasTrustDialogAccepted"])),
    readers: &[
        SettingsReader::of_product("cursor", "Cursor", ".cursor"),
        SettingsReader::new("VS Code", ".vscode"),
        SettingsReader::of_product("copilot", "Copilot", ".copilot"),
        SettingsReader::of_product("grok", "Grok Build", ".grok"),
        SettingsReader::new("Continue", ".continue"),
    ],
    ..InstallRecipe::BASE
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_an_event_of_claude_code_and_stands_there_once() {
        for (index, row) in REPLIES.rows.iter().enumerate() {
            assert!(CLAUDE_EVENTS.contains(&row.event), "{}", row.event);
            assert!(REPLIES.rows[..index].iter().all(|earlier| earlier.event != row.event));
        }
    }
}
