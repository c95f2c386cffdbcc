//! Hooks that try everything, in the words of every format.

use serde_json::{Value, json};

/// The reason of a hook.
pub const REASON: &str = "words-of-the-hook";
/// The input of a hook that changes a call.
pub const NEW_COMMAND: &str = "echo changed-by-the-hook";
/// The output of a hook that changes a result.
pub const NEW_OUTPUT: &str = "output-of-the-hook";

/// Something that a hook does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookDeed {
    Block,
    Ask,
    ChangeInput,
    ChangeOutput,
    Context,
    Stop,
    /// It blocks the end of the turn.
    GoOn,
    Crash,
}

impl HookDeed {
    pub const ALL: [Self; 8] = [
        Self::Block,
        Self::Ask,
        Self::ChangeInput,
        Self::ChangeOutput,
        Self::Context,
        Self::Stop,
        Self::GoOn,
        Self::Crash,
    ];

    /// The events on which a hook can do it, most telling first.
    pub fn events(self) -> &'static [&'static str] {
        match self {
            Self::Block | Self::Ask | Self::ChangeInput | Self::Crash => &["PreToolUse"],
            Self::ChangeOutput => &["PostToolUse"],
            Self::Context => &super::callers::EVENTS,
            Self::Stop => &["PreToolUse", "PostToolUse"],
            Self::GoOn => &["Stop"],
        }
    }

    /// Scripts that do it, in the words of every format. A hook prints the name of the event as `$HOOK_EVENT`.
    pub fn scripts(self) -> Vec<String> {
        match self {
            Self::Block | Self::GoOn => list_blocks(),
            Self::Ask => list_asks().iter().map(render_script).collect(),
            Self::ChangeInput => list_inputs().iter().map(render_script).collect(),
            Self::ChangeOutput => list_outputs().iter().map(render_script).collect(),
            Self::Context => {
                let plain = format!("echo {REASON}");
                list_contexts().iter().map(render_script).chain([plain]).collect()
            }
            Self::Stop => list_stops().iter().map(render_script).collect(),
            Self::Crash => vec!["kill -9 $$".to_owned()],
        }
    }
}

fn render_script(answer: &Value) -> String {
    format!("cat <<ANSWER\n{answer}\nANSWER")
}

/// An object in `hookSpecificOutput`.
fn nest(mut members: Value) -> Value {
    members["hookEventName"] = "$HOOK_EVENT".into();
    json!({"hookSpecificOutput": members})
}

fn list_blocks() -> Vec<String> {
    let answers = [
        json!({"allow": false, "message": REASON}),
        json!({"decision": "deny", "reason": REASON}),
        nest(json!({"permissionDecision": "deny", "permissionDecisionReason": REASON})),
        json!({"permission": "deny", "user_message": REASON}),
        json!({"permissionDecision": "deny", "permissionDecisionReason": REASON}),
        json!({"cancel": true, "errorMessage": REASON}),
        json!({"decision": "block", "reason": REASON}),
        json!({"followup_message": REASON}),
    ];
    let exits = [2, 1].map(|code| format!("echo {REASON} >&2; exit {code}"));
    exits.into_iter().chain(answers.iter().map(render_script)).collect()
}

fn list_asks() -> Vec<Value> {
    vec![
        json!({"decision": "ask", "reason": REASON}),
        nest(json!({"permissionDecision": "ask", "permissionDecisionReason": REASON})),
        json!({"permission": "ask", "user_message": REASON}),
        json!({"permissionDecision": "ask", "permissionDecisionReason": REASON}),
    ]
}

fn list_inputs() -> Vec<Value> {
    // Products that merge a changed input do not let a hook remove an argument.
    let input = json!({"command": NEW_COMMAND, "description": "Changed"});
    vec![
        json!({"tool_input": input}),
        nest(json!({"updatedInput": input})),
        nest(json!({"permissionDecision": "allow", "updatedInput": input})),
        nest(json!({"tool_input": input})),
        json!({"modified_input": input}),
        json!({"modifiedArgs": input}),
        json!({"permission": "allow", "updated_input": input}),
        json!({"overrideInput": input}),
        json!({"overrideInput": {"commands": [NEW_COMMAND]}}),
        json!({"hook_specific_output": {"tool_input": input}}),
    ]
}

fn list_outputs() -> Vec<Value> {
    vec![
        json!({"tool_output": NEW_OUTPUT}),
        nest(json!({"updatedToolOutput": NEW_OUTPUT})),
        json!({"modified_output": NEW_OUTPUT}),
        json!({"modifiedResult": {"resultType": "success", "textResultForLlm": NEW_OUTPUT}}),
        json!({"updated_tool_output": NEW_OUTPUT}),
    ]
}

fn list_contexts() -> Vec<Value> {
    vec![
        json!({"context": REASON}),
        nest(json!({"additionalContext": REASON})),
        json!({"additionalContext": REASON}),
        json!({"additional_context": REASON}),
        json!({"contextModification": REASON}),
        json!({"hook_specific_output": {"additional_context": REASON}}),
        json!({"allow": false, "message": REASON}),
    ]
}

fn list_stops() -> Vec<Value> {
    vec![
        json!({"continue": false, "stopReason": REASON}),
        json!({"continue": false}),
        json!({"cancel": true, "errorMessage": REASON}),
    ]
}
