//! Claude Code.
//!
//! Answers are as short as possible. An explicit "allow" would skip the user's own permission prompt, so an allowed call
//! gets no answer at all. An answer is JSON on standard output with exit code 0: exit code 2 could only have a reason, but
//! no context, message or change.

use serde_json::{Map, Value, json};

use super::fingerprint::{AgentVocabulary, CallerEvidence};
use super::{
    AgentProduct, AgentReply, AgentSettingsFile, AgentVariables, InstallRecipe, NotificationKinds, QuestionForm,
    QuestionTool, SettingsScope, SupportLevel, TranscriptFormat, fallback_decode,
};
use crate::contract::{CLAUDE, CLAUDE_EVENTS};
use crate::event::Event;
use crate::verdict::{Decision, Verdict};

pub(super) static CLAUDE_CODE: AgentProduct = AgentProduct {
    name: "claude",
    title: "Claude Code",
    support: SupportLevel::Full,
    payload_marks: &[],
    env_marks: &[],
    vocabulary: Some(AgentVocabulary {
        is_spoken_by,
        confirmed_by: &["CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID", "CLAUDE_PID"],
    }),
    events: CLAUDE_EVENTS,
    decode: fallback_decode::decode_event,
    encode,
    variables: VARIABLES,
    notifications: NOTIFICATIONS,
    question_tools: QUESTION_TOOLS,
    transcript: TRANSCRIPT,
    contract: Some(CLAUDE.name),
    install: Some(INSTALL),
};

// Products that do not name their own use these constants too, through `BASE_PRODUCT`.
pub(super) const VARIABLES: AgentVariables = AgentVariables {
    pid: Some("CLAUDE_PID"),
    launcher_session_id: Some("CLAUDE_SESSION_ID"),
    session_id: Some("CLAUDE_CODE_SESSION_ID"),
    // The settings of a project can set it too.
    project_dir: Some("CLAUDE_PROJECT_DIR"),
    stop_block_cap: Some("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"),
};

pub(super) const NOTIFICATIONS: NotificationKinds = NotificationKinds {
    needs_input: &["permission_prompt", "elicitation_dialog", "elicitation_url_dialog", "agent_needs_input"],
    input_given: &["elicitation_complete", "elicitation_response"],
    idle: &["idle_prompt"],
    // Earlier versions gave no type.
    permission_phrases: &["needs your permission", "needs your approval"],
};

pub(super) const QUESTION_TOOLS: &[QuestionTool] = &[
    QuestionTool { name: "AskUserQuestion", form: QuestionForm::List { key: "questions", text: "question" } },
    QuestionTool { name: "ExitPlanMode", form: QuestionForm::Text("plan") },
];

pub(super) const TRANSCRIPT: TranscriptFormat = TranscriptFormat::ClaudeJsonl;

const INSTALL: InstallRecipe = InstallRecipe {
    directory: ("CLAUDE_CONFIG_DIR", ".claude"),
    files: &[
        AgentSettingsFile::new(SettingsScope::User, "settings.json"),
        AgentSettingsFile::new(SettingsScope::Project, ".claude/settings.json"),
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
    trust: (".claude.json", ["projects", "hasTrustDialogAccepted"]),
    readers: &[
        ("Cursor", ".cursor"),
        ("VS Code", ".vscode"),
        ("Copilot", ".copilot"),
        ("Grok Build", ".grok"),
        ("Continue", ".continue"),
    ],
    transcripts: "projects",
};

/// The reason of a block without a reason. Claude Code requires one.
const DEFAULT_REASON: &str = "Blocked by a hook";

/// The answers that Claude Code accepts for one event.
struct ClaudeReplyRow {
    event: &'static str,
    refusal: RefusalForm,
    context: ContextSupport,
    /// Further fields of its `hookSpecificOutput`.
    fields: &'static [&'static str],
}

/// The form of a refusal.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RefusalForm {
    /// Nothing can be refused, or not by an answer: the reason becomes a message to the user.
    UserMessage,
    /// `decision: "block"` at the top.
    Block,
    /// `permissionDecision`, which can also be "ask".
    Permission,
    /// `decision.behavior`.
    Behavior,
    /// `action: "decline"`.
    Decline,
}

/// Whether the model reads `additionalContext`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ContextSupport {
    No,
    Yes,
    /// It makes the agent continue, so Snell sends it once: not if the agent already continues because of a hook.
    ContinuesTurn,
}

use ContextSupport::{ContinuesTurn, No, Yes};
use RefusalForm::{Behavior, Block, Decline, Permission, UserMessage};

/// Events without a row accept only a message and the end of the turn.
///
/// Only an exit code can refuse `TaskCompleted`, `TeammateIdle` and `WorktreeCreate`, so a refusal becomes a message there.
static REPLY_ROWS: &[ClaudeReplyRow] = &[
    reply_row("SessionStart", UserMessage, Yes, &["initialUserMessage", "sessionTitle", "watchPaths", "reloadSkills"]),
    reply_row("Setup", UserMessage, Yes, &[]),
    reply_row("UserPromptSubmit", Block, Yes, &["sessionTitle", "suppressOriginalPrompt"]),
    reply_row("UserPromptExpansion", Block, Yes, &["suppressOriginalPrompt"]),
    reply_row("MessageDisplay", UserMessage, No, &["displayContent"]),
    reply_row("PreToolUse", Permission, Yes, &[]),
    reply_row("PermissionRequest", Behavior, No, &[]),
    reply_row("PermissionDenied", UserMessage, No, &["retry"]),
    reply_row("PostToolUse", Block, Yes, &["classifierContext"]),
    reply_row("PostToolUseFailure", Block, Yes, &[]),
    reply_row("PostToolBatch", Block, Yes, &[]),
    reply_row("Notification", UserMessage, Yes, &[]),
    reply_row("SubagentStart", UserMessage, Yes, &[]),
    reply_row("SubagentStop", Block, ContinuesTurn, &[]),
    reply_row("TaskCreated", Block, No, &[]),
    reply_row("Stop", Block, ContinuesTurn, &[]),
    reply_row("ConfigChange", Block, No, &[]),
    reply_row("CwdChanged", UserMessage, No, &["watchPaths"]),
    reply_row("FileChanged", UserMessage, No, &["watchPaths"]),
    reply_row("WorktreeCreate", UserMessage, No, &["worktreePath"]),
    reply_row("PreCompact", Block, No, &[]),
    reply_row("Elicitation", Decline, No, &["action", "content"]),
    reply_row("ElicitationResult", Decline, No, &["action", "content"]),
];

const fn reply_row(
    event: &'static str,
    refusal: RefusalForm,
    context: ContextSupport,
    fields: &'static [&'static str],
) -> ClaudeReplyRow {
    ClaudeReplyRow { event, refusal, context, fields }
}

/// The row of an event that has none.
static DEFAULT_ROW: ClaudeReplyRow = reply_row("", UserMessage, No, &[]);

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

fn encode(_: &AgentProduct, event: &Event, verdict: &Verdict) -> AgentReply {
    let mut answer = ClaudeReplyBuilder::new(event);
    answer.add_refusal(verdict);
    answer.add_changes(event, verdict);
    answer.add_fields(verdict);
    answer.add_context(event, verdict);
    answer.add_stop(verdict);
    answer.add_messages(verdict);
    let continues_turn = answer.row.context == ContinuesTurn && answer.specific.contains_key("additionalContext");
    AgentReply { stdout: answer.into_json_line(), continues_turn, ..AgentReply::default() }
}

/// Builds an answer.
struct ClaudeReplyBuilder<'a> {
    row: &'static ClaudeReplyRow,
    /// The event's name as it came.
    name: &'a str,
    top: Map<String, Value>,
    specific: Map<String, Value>,
    messages: Vec<String>,
}

impl<'a> ClaudeReplyBuilder<'a> {
    fn new(event: &'a Event) -> Self {
        let name = event.name.as_str();
        Self {
            row: REPLY_ROWS.iter().find(|row| row.event == name).unwrap_or(&DEFAULT_ROW),
            name: event.raw.get("hook_event_name").and_then(Value::as_str).unwrap_or(name),
            top: Map::new(),
            specific: Map::new(),
            messages: Vec::new(),
        }
    }

    fn set_specific(&mut self, key: &str, value: impl Into<Value>) {
        self.specific.insert(key.to_owned(), value.into());
    }

    fn add_refusal(&mut self, verdict: &Verdict) {
        let reason = || verdict.reason.clone().unwrap_or_else(|| DEFAULT_REASON.to_owned());
        match (verdict.decision, self.row.refusal) {
            (Decision::None | Decision::Allow, _) => {}
            (Decision::Ask, Permission) => {
                self.set_specific("permissionDecision", "ask");
                if let Some(reason) = &verdict.reason {
                    self.set_specific("permissionDecisionReason", reason.as_str());
                }
            }
            // Claude Code is already asking the user.
            (Decision::Ask, Behavior) => {}
            (Decision::Ask, _) => self.messages.extend(verdict.reason.clone()),
            (Decision::Deny, Permission) => {
                self.set_specific("permissionDecision", "deny");
                self.set_specific("permissionDecisionReason", reason());
            }
            (Decision::Deny, Behavior) => {
                self.set_specific("decision", json!({"behavior": "deny", "message": reason()}))
            }
            (Decision::Deny, Block) => {
                self.top.insert("decision".into(), "block".into());
                self.top.insert("reason".into(), reason().into());
            }
            (Decision::Deny, Decline) => {
                self.set_specific("action", "decline");
                self.messages.push(reason());
            }
            (Decision::Deny, UserMessage) => self.messages.push(reason()),
        }
    }

    /// The input or output of the tool, if hooks changed it. A refused call needs no change.
    fn add_changes(&mut self, event: &Event, verdict: &Verdict) {
        let refused = verdict.is_blocked();
        match self.row.event {
            // Without a `permissionDecision` the user's own permission prompt still comes, for the changed input.
            "PreToolUse" if !refused => {
                if let Some(input) = &verdict.tool_input {
                    self.set_specific("updatedInput", input.clone());
                }
            }
            "PermissionRequest" if !refused => {
                let changed = verdict.tool_input.is_some() || verdict.extra.contains_key("updatedPermissions");
                if changed {
                    self.messages.push(
                        "A hook changed a permission request, but Claude Code only accepts a change with an approval, so the \
                         change is ignored."
                            .into(),
                    );
                }
            }
            "PostToolUse" => {
                let is_mcp_tool = event.tool_name().is_some_and(|name| name.starts_with("mcp__"));
                let key = if is_mcp_tool { "updatedMCPToolOutput" } else { "updatedToolOutput" };
                if let Some(output) = &verdict.tool_output {
                    self.set_specific(key, output.clone());
                }
            }
            _ => {}
        }
    }

    fn add_fields(&mut self, verdict: &Verdict) {
        let refused = verdict.is_blocked() && self.row.refusal == Decline;
        for key in self.row.fields.iter().filter(|_| !refused) {
            if let Some(value) = verdict.extra.get(*key) {
                self.set_specific(key, value.clone());
            }
        }
        if let Some(sequence) = verdict.extra.get("terminalSequence") {
            self.top.insert("terminalSequence".into(), sequence.clone());
        }
    }

    /// Context that an event does not take becomes a message to the user.
    fn add_context(&mut self, event: &Event, verdict: &Verdict) {
        let texts: Vec<_> = verdict.context.iter().map(String::as_str).filter(|text| !text.is_empty()).collect();
        if texts.is_empty() {
            return;
        }
        let is_context = match self.row.context {
            Yes => true,
            No => false,
            ContinuesTurn => event.stop_hook_active != Some(true),
        };
        if is_context {
            self.set_specific("additionalContext", texts.join("\n"));
        } else {
            self.messages.extend(texts.into_iter().map(str::to_owned));
        }
    }

    fn add_stop(&mut self, verdict: &Verdict) {
        let Some(reason) = &verdict.stop else {
            return;
        };
        self.top.insert("continue".into(), false.into());
        if !reason.is_empty() {
            self.top.insert("stopReason".into(), reason.as_str().into());
        }
    }

    /// Messages to the user. Claude Code shows the reason for which the turn ends by itself.
    fn add_messages(&mut self, verdict: &Verdict) {
        let messages = verdict.messages.iter().filter(|text| Some(*text) != verdict.stop.as_ref());
        self.messages.extend(messages.cloned());
        self.messages.retain(|text| !text.is_empty());
        if !self.messages.is_empty() {
            self.top.insert("systemMessage".into(), self.messages.join("\n").into());
        }
    }

    fn into_json_line(mut self) -> Option<String> {
        if !self.specific.is_empty() {
            let mut specific = Map::from_iter([("hookEventName".to_owned(), self.name.into())]);
            specific.extend(self.specific);
            self.top.insert("hookSpecificOutput".into(), Value::Object(specific));
        }
        (!self.top.is_empty()).then(|| Value::Object(self.top).to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_an_event_of_claude_code_and_stands_there_once() {
        for (index, row) in REPLY_ROWS.iter().enumerate() {
            assert!(CLAUDE_EVENTS.contains(&row.event), "{}", row.event);
            assert!(REPLY_ROWS[..index].iter().all(|earlier| earlier.event != row.event));
        }
    }
}
