//! Claude Code: which payloads are its own, and how a verdict is told to it.
//!
//! It is told as little as possible. An explicit "allow" would skip the user's own permission prompt, so a call that
//! nobody objects to gets no answer at all. An answer is JSON on standard output with exit code 0: with exit code 2 only
//! a reason could be told, and no context, message or change beside it.

use serde_json::{Map, Value, json};

use super::{AgentReply, CallerEvidence, Guest};
use crate::contract::{CLAUDE, CLAUDE_EVENTS};
use crate::event::Event;
use crate::verdict::{Decision, Verdict};

pub(super) static GUEST: Guest = Guest {
    name: "claude",
    title: "Claude Code",
    contract: CLAUDE.name,
    events: CLAUDE_EVENTS,
    is_sender,
    is_confirmed_by_env,
    encode_reply,
};

/// The reason of a block for which none was given; Claude Code wants one.
const DEFAULT_REASON: &str = "Blocked by a hook";

/// What one of Claude Code's events takes for an answer.
struct ClaudeReplyRow {
    event: &'static str,
    refusal: RefusalForm,
    context: ContextSupport,
    /// Further fields of its `hookSpecificOutput`.
    fields: &'static [&'static str],
}

/// How a "no" is told.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RefusalForm {
    /// Nothing can be refused, or not by an answer: the user is told why somebody would have.
    UserMessage,
    /// `decision: "block"` at the top.
    Block,
    /// `permissionDecision`, which also knows "ask".
    Permission,
    /// `decision.behavior`.
    Behavior,
    /// `action: "decline"`.
    Decline,
}

/// Whether the model is told something by `additionalContext`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ContextSupport {
    No,
    Yes,
    /// It makes the agent go on, so it is told once: not when the agent already goes on because of a hook.
    ContinuesTurn,
}

use ContextSupport::{ContinuesTurn, No, Yes};
use RefusalForm::{Behavior, Block, Decline, Permission, UserMessage};

/// Events that are not here take nothing but what every event takes: a message, and the end of the turn.
///
/// `TaskCompleted`, `TeammateIdle` and `WorktreeCreate` are refused by exit codes only, which say nothing else; a "no" is
/// told to the user there.
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

/// What an event without a row takes.
static DEFAULT_ROW: ClaudeReplyRow = reply_row("", UserMessage, No, &[]);

/// A name of Claude Code's vocabulary is enough. The vocabulary grows by the month, so any other name in its style counts
/// as well, where the payload or the environment shows that it is Claude Code's.
fn is_sender(caller: &CallerEvidence<'_>) -> bool {
    let Some(name) = caller.payload_text("hook_event_name") else {
        return false;
    };
    if CLAUDE_EVENTS.contains(&name) {
        return true;
    }
    let in_its_style =
        name.starts_with(|c: char| c.is_ascii_uppercase()) && name.chars().all(|c| c.is_ascii_alphabetic());
    let shown = caller.payload_text("transcript_path").is_some() || caller.has_env_var("CLAUDECODE");
    in_its_style && caller.payload_text("session_id").is_some() && shown
}

/// Variables that Claude Code sets for what it starts. `CLAUDE_PROJECT_DIR` is none: half a dozen agents set it.
const CLAUDE_VARIABLES: &[&str] = &["CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID", "CLAUDE_PID"];

/// Agents that it starts inherit its variables, so these alone prove nothing; but their payloads differ from its own, or
/// they understand its answers.
fn is_confirmed_by_env(caller: &CallerEvidence<'_>) -> bool {
    caller.payload_text("session_id").is_some() && CLAUDE_VARIABLES.iter().any(|name| caller.has_env_var(name))
}

fn encode_reply(event: &Event, verdict: &Verdict) -> AgentReply {
    let mut answer = ClaudeReplyBuilder::new(event);
    answer.add_refusal(verdict);
    answer.add_changes(event, verdict);
    answer.add_fields(verdict);
    answer.add_context(event, verdict);
    answer.add_stop(verdict);
    answer.add_messages(verdict);
    AgentReply { stdout: answer.into_json_line(), exit_code: 0 }
}

/// An answer in the making.
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
            // The user is being asked.
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

    /// What hooks changed of the tool's input or output. What is refused needs no change.
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
                        "A hook changed what is asked for, which Claude Code takes only together with an approval; the \
                         change is left out."
                            .into(),
                    );
                }
            }
            "PostToolUse" => {
                let of_a_server = event.tool_name().is_some_and(|name| name.starts_with("mcp__"));
                let key = if of_a_server { "updatedMCPToolOutput" } else { "updatedToolOutput" };
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

    /// Context that an event does not take is not lost: the user sees it.
    fn add_context(&mut self, event: &Event, verdict: &Verdict) {
        let said: Vec<_> = verdict.context.iter().map(String::as_str).filter(|text| !text.is_empty()).collect();
        if said.is_empty() {
            return;
        }
        let taken = match self.row.context {
            Yes => true,
            No => false,
            ContinuesTurn => event.stop_hook_active != Some(true),
        };
        if taken {
            self.set_specific("additionalContext", said.join("\n"));
        } else {
            self.messages.extend(said.into_iter().map(str::to_owned));
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

    /// What the user is told. The reason for which the turn ends is shown to the user already.
    fn add_messages(&mut self, verdict: &Verdict) {
        let told = verdict.messages.iter().filter(|text| Some(*text) != verdict.stop.as_ref());
        self.messages.extend(told.cloned());
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
