//! Reads the answer of a hook by its agent's table: exit code, JSON, and plain text.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::find_format;
use super::payload::{EventFilter, find_output_text};
use crate::contract::{
    build_failure_answer, build_failure_answer_with, default_block_reason, nonblank_text, trim_stdout,
};
use crate::event::{Event, EventName, parse_json};
use crate::hook::{FailurePolicy, Hook};
use crate::outcome::{Outcome, RunEnd};
use crate::verdict::{Decision, HookAnswer, HookRunStatus};

/// The meaning of a format's answers.
pub(crate) struct AnswerTable {
    /// The exit codes at which JSON counts.
    pub(crate) json: JsonExits,
    /// Whether standard error is the answer if standard output is empty.
    pub(crate) reads_stderr: bool,
    /// Whether lines of progress may be before the answer: `{"type": "progress", …}`.
    pub(crate) has_progress_lines: bool,
    /// The meaning of an exit code other than 0, if JSON does not decide. A process that did not exit has -1.
    pub(crate) exit_code: fn(&EventName, i32) -> ExitMeaning,
    /// The meaning of plain text at exit code 0.
    pub(crate) text: fn(&EventName) -> TextMeaning,
    /// Whether no output at all is a failure, if a failure of the hook blocks.
    pub(crate) needs_output: bool,
    /// Why the agent rejects an answer as a whole, if it does.
    pub(crate) reject: fn(&EventName, &Map<String, Value>) -> Option<String>,
    pub(crate) rows: &'static [AnswerRow],
}

pub(crate) const BASE_ANSWER: AnswerTable = AnswerTable {
    json: JsonExits::Zero,
    reads_stderr: false,
    has_progress_lines: false,
    exit_code: |_, _| ExitMeaning::Failure,
    text: |_| TextMeaning::Nothing,
    needs_output: false,
    reject: |_, _| None,
    rows: &[],
};

/// The exit codes at which an agent reads JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JsonExits {
    Never,
    Zero,
    Any,
}

/// The meaning of an exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExitMeaning {
    Failure,
    Deny,
    /// A denial if the hook wrote a reason, else a failure.
    DenyWithText,
}

/// The meaning of plain text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextMeaning {
    Nothing,
    /// For the model.
    Context,
    /// For the user.
    Message,
    /// The agent expects JSON.
    Failure,
    /// For the model, also if it is JSON.
    VerbatimContext,
}

/// One key of an answer.
pub(crate) struct AnswerRow {
    /// Canonical events on which it counts. None means all.
    on: &'static [&'static str],
    /// The agent's own names of events on which it counts.
    names: EventFilter,
    /// Keys, separated by dots.
    path: &'static str,
    meaning: AnswerMeaning,
}

/// A row of a table.
pub(crate) const fn answer_row(on: &'static [&'static str], path: &'static str, meaning: AnswerMeaning) -> AnswerRow {
    AnswerRow { on, names: EventFilter::All, path, meaning }
}

/// A row that counts on some of the agent's own events.
pub(crate) const fn answer_row_for(names: EventFilter, row: AnswerRow) -> AnswerRow {
    AnswerRow { names, ..row }
}

/// The meaning of a key.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AnswerMeaning {
    /// Words for decisions, and the paths of the reason. `true` and `false` are words too.
    Decision { words: DecisionWords, reasons: &'static [&'static str] },
    /// A text is a denial with this reason.
    DenialReason,
    /// A changed input.
    Input(InputChange),
    /// A changed output.
    Output,
    /// Text for the model.
    Context,
    /// Text for the user.
    Message,
    /// `false` ends the turn. The path of the reason.
    Continue { reason: &'static str },
}

/// Words and the decisions that they mean. [`Decision::None`] is a word without effect.
pub(crate) type DecisionWords = &'static [(&'static str, Decision)];

/// How a changed input is applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InputChange {
    Replace,
    /// It only has the keys that change.
    Merge,
}

pub(crate) fn read_answer(hook: &Hook, event: &Event, outcome: &Outcome) -> HookAnswer {
    let Some(table) = find_format(hook).map(|format| &format.answer) else {
        return HookAnswer::default();
    };
    let code = match outcome.end {
        RunEnd::Exited(code) => code,
        RunEnd::Answered(200..=299) => 0,
        RunEnd::Signaled(_) | RunEnd::NotStarted(_) => return answer_exit_code(hook, event, outcome, -1),
        RunEnd::TimedOut(_) | RunEnd::Answered(_) => {
            return build_failure_answer(hook, outcome);
        }
    };
    let text = &*choose_text(table, outcome);
    let reads_json = match table.json {
        JsonExits::Never => false,
        JsonExits::Zero => code == 0,
        JsonExits::Any => true,
    };
    let is_verbatim = (table.text)(&event.name) == TextMeaning::VerbatimContext;
    match parse_object(text).filter(|_| reads_json && !is_verbatim) {
        Some(Ok(object)) => answer_json(hook, event, outcome, (code, &object)),
        Some(Err(())) if code == 0 => build_invalid_answer(hook, "its output starts with { but is not valid JSON"),
        _ if code != 0 => answer_exit_code(hook, event, outcome, code),
        _ => answer_text(hook, event, text),
    }
}

fn choose_text<'o>(table: &AnswerTable, outcome: &'o Outcome) -> Cow<'o, str> {
    let stdout = trim_stdout(outcome);
    if stdout.is_empty() && table.reads_stderr {
        return outcome.stderr.trim().into();
    }
    let is_progress = |line: &&str| {
        let object = parse_object(line).and_then(Result::ok);
        object.is_some_and(|object| object.get("type").and_then(Value::as_str) == Some("progress"))
    };
    if table.has_progress_lines && stdout.lines().next().is_some_and(|line| is_progress(&line)) {
        return stdout.lines().filter(|line| !is_progress(line)).collect::<Vec<_>>().join("\n").into();
    }
    stdout.into()
}

/// The object in a text, if it starts like one. A string of JSON may hold it.
fn parse_object(text: &str) -> Option<Result<Map<String, Value>, ()>> {
    let inner = text.starts_with('"').then(|| parse_json(text).ok()).flatten();
    let text = inner.as_ref().and_then(Value::as_str).unwrap_or(text).trim();
    match text.starts_with('{').then(|| parse_json(text))? {
        Ok(Value::Object(object)) => Some(Ok(object)),
        _ => Some(Err(())),
    }
}

/// The answer of an exit code other than 0.
fn answer_exit_code(hook: &Hook, event: &Event, outcome: &Outcome, code: i32) -> HookAnswer {
    let Some(table) = find_format(hook).map(|format| &format.answer) else {
        return HookAnswer::default();
    };
    let from_stdout = || nonblank_text(&outcome.stdout).filter(|_| table.reads_stderr);
    let text = from_stdout().or_else(|| nonblank_text(&outcome.stderr));
    match ((table.exit_code)(&event.name, code), text) {
        (ExitMeaning::Deny, text) => build_denial(hook, text),
        (ExitMeaning::DenyWithText, Some(text)) => build_denial(hook, Some(text)),
        (ExitMeaning::DenyWithText, None) | (ExitMeaning::Failure, _) => build_failure_answer(hook, outcome),
    }
}

fn build_denial(hook: &Hook, reason: Option<String>) -> HookAnswer {
    HookAnswer {
        status: Some(HookRunStatus::Blocked),
        decision: Decision::Deny,
        reason: Some(reason.unwrap_or_else(|| default_block_reason(hook))),
        ..HookAnswer::default()
    }
}

/// An answer that the agent does not understand is a failure of the hook.
fn build_invalid_answer(hook: &Hook, fault: &str) -> HookAnswer {
    let text =
        format!("{} hook failed: \"{}\" gave an invalid answer: {fault}", hook.contract_name(), hook.command_summary());
    build_failure_answer_with(hook, HookRunStatus::Failed, text)
}

fn answer_text(hook: &Hook, event: &Event, text: &str) -> HookAnswer {
    let Some(table) = find_format(hook).map(|format| &format.answer) else {
        return HookAnswer::default();
    };
    if text.is_empty() {
        let must_answer = table.needs_output && hook.on_failure == FailurePolicy::Block;
        return if must_answer { build_invalid_answer(hook, "its output is empty") } else { HookAnswer::default() };
    }
    let texts = nonblank_text(text).into_iter().collect();
    match (table.text)(&event.name) {
        TextMeaning::Nothing => HookAnswer::default(),
        TextMeaning::Context | TextMeaning::VerbatimContext => HookAnswer { context: texts, ..HookAnswer::default() },
        TextMeaning::Message => HookAnswer { messages: texts, ..HookAnswer::default() },
        TextMeaning::Failure => build_invalid_answer(hook, "its output is not JSON"),
    }
}

fn answer_json(
    hook: &Hook,
    event: &Event,
    outcome: &Outcome,
    (code, object): (i32, &Map<String, Value>),
) -> HookAnswer {
    let Some(table) = find_format(hook).map(|format| &format.answer) else {
        return HookAnswer::default();
    };
    if let Some(fault) = (table.reject)(&event.name, object) {
        return build_invalid_answer(hook, &fault);
    }
    let mut reading = AnswerReading { hook, event, object, answer: HookAnswer::default() };
    let native = hook.agent_entry.native_event.unwrap_or_default();
    let is_row_of_event =
        |row: &&AnswerRow| (row.on.is_empty() || row.on.contains(&event.name.as_str())) && row.names.contains(native);
    for row in table.rows.iter().filter(is_row_of_event) {
        reading.apply_row(row);
    }
    let mut answer = reading.answer;
    let by_code = match code {
        0 => HookAnswer::default(),
        _ => answer_exit_code(hook, event, outcome, code),
    };
    if by_code.decision == Decision::Deny && answer.decision != Decision::Deny {
        // The exit code denies whatever the JSON says, and the JSON only adds texts.
        answer.decision = Decision::Deny;
        answer.reason = answer.reason.or(by_code.reason);
        (answer.tool_input, answer.tool_output) = (None, None);
    }
    if answer.decision == Decision::Deny {
        answer.status = Some(HookRunStatus::Blocked);
        answer.reason.get_or_insert_with(|| default_block_reason(hook));
    }
    answer
}

/// An answer while its rows are applied.
struct AnswerReading<'a> {
    hook: &'a Hook,
    event: &'a Event,
    object: &'a Map<String, Value>,
    answer: HookAnswer,
}

impl AnswerReading<'_> {
    fn apply_row(&mut self, row: &AnswerRow) {
        let Some(value) = get_path(self.object, row.path).filter(|value| !value.is_null()) else {
            return;
        };
        let is_text =
            matches!(row.meaning, AnswerMeaning::DenialReason | AnswerMeaning::Context | AnswerMeaning::Message);
        if is_text && !value.is_string() {
            self.report_fault(&format!("\"{}\" must be a string", row.path));
            return;
        }
        let text = value.as_str().and_then(nonblank_text);
        match row.meaning {
            AnswerMeaning::Decision { words, reasons } => self.apply_decision(row.path, value, (words, reasons)),
            AnswerMeaning::DenialReason => {
                if text.is_some() {
                    self.raise_decision(Decision::Deny, text);
                }
            }
            AnswerMeaning::Input(change) => self.apply_input(row.path, value, change),
            AnswerMeaning::Output => {
                let is_result = value.get("textResultForLlm").is_some();
                self.answer.tool_output = Some(if is_result { find_output_text(value).into() } else { value.clone() });
            }
            AnswerMeaning::Context => self.answer.context.extend(text),
            AnswerMeaning::Message => self.answer.messages.extend(text),
            AnswerMeaning::Continue { reason } => self.apply_continue(value, reason),
        }
    }

    fn apply_decision(&mut self, path: &str, value: &Value, (words, reasons): (DecisionWords, &[&str])) {
        let written = match value {
            Value::String(word) => word.clone(),
            other => other.to_string(),
        };
        let Some((_, decision)) = words.iter().find(|(word, _)| *word == written) else {
            let known: Vec<_> = words.iter().map(|(word, _)| format!("\"{word}\"")).collect();
            self.report_fault(&format!("\"{path}\" must be {}, not {value}", known.join(" or ")));
            return;
        };
        let reason = reasons.iter().find_map(|path| nonblank_text(get_path(self.object, path)?.as_str()?));
        self.raise_decision(*decision, reason);
    }

    /// Adds a decision. The stricter one applies.
    fn raise_decision(&mut self, decision: Decision, reason: Option<String>) {
        if decision > self.answer.decision {
            self.answer.decision = decision;
            self.answer.reason = reason.or(self.answer.reason.take());
        }
    }

    fn apply_input(&mut self, path: &str, value: &Value, change: InputChange) {
        let (Some(format), Some(tool)) = (find_format(self.hook), self.event.tool.as_ref()) else {
            return;
        };
        let Some(changed) = value.as_object() else {
            self.report_fault(&format!("\"{path}\" must be an object"));
            return;
        };
        let mut input = match change {
            InputChange::Replace => Map::new(),
            InputChange::Merge => {
                let before = format.to_native_call(tool).input;
                before.and_then(|input| input.as_object().cloned()).unwrap_or_default()
            }
        };
        input.extend(changed.clone());
        self.answer.tool_input = format.to_canonical_input(tool, Value::Object(input));
        if self.answer.tool_input.is_none() {
            self.report_fault(&format!("a changed \"{}\" cannot be translated back", tool.name));
        }
    }

    /// `continue: false` ends the turn.
    fn apply_continue(&mut self, value: &Value, reason: &str) {
        match value {
            Value::Bool(true) => return,
            Value::Bool(false) => {}
            _ => return self.report_fault("\"continue\" must be true or false"),
        }
        let reason = get_path(self.object, reason).and_then(Value::as_str).and_then(nonblank_text);
        let reason = reason.unwrap_or_else(|| "A hook ended the turn".into());
        self.answer.stop = Some(reason.clone());
        match self.event.name {
            // On these events a block would make the agent continue.
            EventName::Stop | EventName::SubagentStop => self.answer.messages.push(reason),
            _ if (self.hook.contract.can_block)(&self.event.name) => self.raise_decision(Decision::Deny, Some(reason)),
            _ => self.answer.messages.push(reason),
        }
    }

    /// A value that the agent would ignore: the user gets a message.
    fn report_fault(&mut self, fault: &str) {
        let answer = build_invalid_answer(self.hook, fault);
        self.answer.status = answer.status;
        self.answer.messages.extend(answer.messages);
        self.answer.warnings.extend(answer.warnings);
        if answer.decision == Decision::Deny {
            self.raise_decision(Decision::Deny, answer.reason);
        }
    }
}

fn get_path<'a>(object: &'a Map<String, Value>, path: &str) -> Option<&'a Value> {
    let mut keys = path.split('.');
    let first = object.get(keys.next()?)?;
    keys.try_fold(first, |value, key| value.get(key))
}
