//! How every agent reads the answer of a hook, by its documentation and by runs of the real programs.

use serde_json::Value;
use snell_test_support::process::CommandOutput;

/// A part of an answer.
#[derive(Clone, Copy, Debug)]
enum AnswerPart {
    /// This value at a JSON pointer.
    Member(&'static str, &'static str),
    /// Anything at a JSON pointer.
    Pointer(&'static str),
    /// Text on standard output.
    Stdout,
    /// Text on standard error, with exit code 2.
    Stderr,
    Nothing,
}

use AnswerPart::{Member, Nothing, Pointer, Stderr, Stdout};

/// The parts of an answer that one agent reads.
#[derive(Clone, Copy, Debug)]
pub struct AnswerReader {
    denial: AnswerPart,
    /// The reason that the model reads.
    reason: AnswerPart,
    ask: AnswerPart,
    input: AnswerPart,
    output: AnswerPart,
    context: AnswerPart,
    /// The events on which the agent reads context.
    context_events: &'static [&'static str],
    stop: AnswerPart,
    /// The refusal of its end.
    refused_end: AnswerPart,
    message: AnswerPart,
}

/// Exit code 2 and a reason.
const EXIT_CODE: AnswerReader = AnswerReader {
    denial: Stderr,
    reason: Stderr,
    ask: Nothing,
    input: Nothing,
    output: Nothing,
    context: Nothing,
    context_events: &[],
    stop: Nothing,
    refused_end: Nothing,
    message: Nothing,
};

const BLOCK: AnswerPart = Member("/decision", "block");
const DENY: AnswerPart = Member("/decision", "deny");

const NESTED: AnswerReader = AnswerReader {
    denial: Member("/hookSpecificOutput/permissionDecision", "deny"),
    reason: Pointer("/hookSpecificOutput/permissionDecisionReason"),
    context: Pointer("/hookSpecificOutput/additionalContext"),
    stop: Member("/continue", "false"),
    refused_end: BLOCK,
    message: Pointer("/systemMessage"),
    ..EXIT_CODE
};

const DECISION: AnswerReader = AnswerReader { denial: DENY, reason: Pointer("/reason"), ..EXIT_CODE };

const PLUGIN: AnswerReader = AnswerReader {
    input: Pointer("/tool_input"),
    output: Pointer("/tool_output"),
    context: Pointer("/context"),
    context_events: &["UserPromptSubmit", "PostToolUse", "Stop"],
    stop: Pointer("/stop"),
    refused_end: DENY,
    message: Pointer("/message"),
    ..DECISION
};

const NESTED_ASK: AnswerPart = Member("/hookSpecificOutput/permissionDecision", "ask");
const UPDATED_INPUT: AnswerPart = Pointer("/hookSpecificOutput/updatedInput");

const READERS: &[(&str, AnswerReader)] = &[
    (
        "claude",
        AnswerReader {
            ask: NESTED_ASK,
            input: UPDATED_INPUT,
            output: Pointer("/hookSpecificOutput/updatedToolOutput"),
            context_events: &["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"],
            ..NESTED
        },
    ),
    (
        "codex",
        AnswerReader {
            input: UPDATED_INPUT,
            context_events: &["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse"],
            ..NESTED
        },
    ),
    (
        "gemini",
        AnswerReader {
            input: Pointer("/hookSpecificOutput/tool_input"),
            context: NESTED.context,
            context_events: &["SessionStart", "UserPromptSubmit", "PostToolUse"],
            stop: NESTED.stop,
            refused_end: DENY,
            message: NESTED.message,
            ..DECISION
        },
    ),
    (
        "qwen",
        AnswerReader {
            ask: NESTED_ASK,
            context_events: &["SessionStart", "UserPromptSubmit", "PostToolUse"],
            ..NESTED
        },
    ),
    (
        "copilot",
        AnswerReader {
            denial: Member("/permissionDecision", "deny"),
            reason: Pointer("/permissionDecisionReason"),
            ask: Member("/permissionDecision", "ask"),
            input: Pointer("/modifiedArgs"),
            output: Pointer("/modifiedResult"),
            refused_end: BLOCK,
            context: Pointer("/additionalContext"),
            context_events: &["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse"],
            ..EXIT_CODE
        },
    ),
    ("opencode", PLUGIN),
    ("kilo", PLUGIN),
    ("pi", PLUGIN),
    ("amp", AnswerReader { output: Nothing, stop: Nothing, context_events: &["UserPromptSubmit", "Stop"], ..PLUGIN }),
    (
        "cline",
        AnswerReader {
            denial: Member("/cancel", "true"),
            reason: Nothing,
            input: Pointer("/overrideInput"),
            context: Pointer("/contextModification"),
            context_events: &["UserPromptSubmit", "PreToolUse", "PostToolUse"],
            stop: Member("/cancel", "true"),
            ..EXIT_CODE
        },
    ),
    (
        "kimi",
        AnswerReader {
            context: Stdout,
            context_events: &["UserPromptSubmit"],
            stop: Nothing,
            refused_end: Stderr,
            message: Nothing,
            ..NESTED
        },
    ),
    ("grok", AnswerReader { input: UPDATED_INPUT, context_events: &["PreToolUse", "PostToolUse", "Stop"], ..NESTED }),
    (
        "vibe",
        AnswerReader {
            input: Pointer("/hook_specific_output/tool_input"),
            context: Pointer("/hook_specific_output/additional_context"),
            context_events: &["PostToolUse"],
            refused_end: DENY,
            message: Pointer("/system_message"),
            ..DECISION
        },
    ),
    (
        "cursor",
        AnswerReader {
            denial: Member("/permission", "deny"),
            reason: Pointer("/user_message"),
            input: Pointer("/updated_input"),
            output: Pointer("/updated_mcp_tool_output"),
            context: Pointer("/additional_context"),
            context_events: &["SessionStart", "PostToolUse"],
            refused_end: Pointer("/followup_message"),
            ..EXIT_CODE
        },
    ),
    ("windsurf", EXIT_CODE),
    (
        "droid",
        AnswerReader {
            ask: NESTED_ASK,
            input: UPDATED_INPUT,
            context_events: &["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse"],
            ..NESTED
        },
    ),
    (
        "deepagents",
        AnswerReader {
            ask: NESTED_ASK,
            input: UPDATED_INPUT,
            context_events: &["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse"],
            ..NESTED
        },
    ),
    (
        "crush",
        AnswerReader {
            input: Pointer("/updated_input"),
            context: Pointer("/context"),
            context_events: &["PreToolUse"],
            stop: Member("/halt", "true"),
            ..DECISION
        },
    ),
    ("goose", EXIT_CODE),
    ("augment", EXIT_CODE),
    ("kiro", AnswerReader { context: Stdout, context_events: &["SessionStart", "UserPromptSubmit"], ..EXIT_CODE }),
    ("antigravity", AnswerReader { ask: Member("/decision", "ask"), ..DECISION }),
];

/// The answer to one call, as the agent reads it.
#[derive(Debug, Default)]
pub struct AnswerReading {
    pub is_denied: bool,
    /// The reason that the model reads.
    pub reason: String,
    pub is_asked: bool,
    pub input: String,
    pub output: String,
    pub context: String,
    /// Whether the model reads the context on a later event.
    pub is_read_later: bool,
    pub is_stopped: bool,
    pub goes_on: bool,
    pub message: String,
}

impl AnswerReader {
    pub fn find(agent: &str) -> Self {
        let row = READERS.iter().find(|(name, _)| *name == agent);
        row.unwrap_or_else(|| panic!("READERS has no row for {agent}")).1
    }

    pub fn read(&self, event: &str, ran: &CommandOutput) -> AnswerReading {
        let json: Value = serde_json::from_str(&ran.stdout).unwrap_or(Value::Null);
        let text = |part: AnswerPart| find_part(part, ran, &json).unwrap_or_default();
        let is_there = |part: AnswerPart| find_part(part, ran, &json).is_some();
        AnswerReading {
            is_denied: is_there(self.denial),
            reason: text(self.reason),
            is_asked: is_there(self.ask),
            input: text(self.input),
            output: text(self.output),
            context: if self.context_events.contains(&event) { text(self.context) } else { String::new() },
            is_read_later: false,
            is_stopped: is_there(self.stop),
            goes_on: is_there(self.refused_end),
            message: text(self.message),
        }
    }
}

/// The text of a part, if it is there.
fn find_part(part: AnswerPart, ran: &CommandOutput, json: &Value) -> Option<String> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match part {
        Member(pointer, expected) => json.pointer(pointer).map(text).filter(|found| found == expected),
        Pointer(pointer) => json.pointer(pointer).map(text),
        Stdout => Some(ran.stdout.clone()).filter(|text| !text.is_empty()),
        Stderr => Some(ran.stderr.clone()).filter(|text| ran.code == 2 && !text.is_empty()),
        Nothing => None,
    }
}
