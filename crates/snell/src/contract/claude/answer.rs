//! Reads the answer of a Claude Code hook: its exit code and its JSON.

use serde_json::{Map, Value};

use super::events;
use crate::contract::{build_failure_answer, default_block_reason, nonblank_text, trim_stdout};
use crate::event::{Event, EventName, parse_json};
use crate::hook::Hook;
use crate::outcome::{Outcome, RunEnd};
use crate::verdict::{Decision, HookAnswer, HookRunStatus};

/// Fields of `hookSpecificOutput` and of the top level that only a host can use. Snell passes them on.
const EXTRA_FIELDS: &[&str] = &[
    "initialUserMessage",
    "sessionTitle",
    "watchPaths",
    "reloadSkills",
    "suppressOriginalPrompt",
    "retry",
    "displayContent",
    "worktreePath",
    "action",
    "content",
    "classifierContext",
    "updatedPermissions",
];

pub(super) fn read_answer(hook: &Hook, event: &Event, outcome: &Outcome) -> HookAnswer {
    let text = trim_stdout(outcome);
    let json = match text.starts_with('{').then(|| parse_json(text)) {
        Some(Ok(Value::Object(object))) => StdoutJson::Object(object),
        Some(_) => StdoutJson::Broken,
        None => StdoutJson::Absent,
    };
    match (&outcome.end, json) {
        (RunEnd::Signaled(_) | RunEnd::TimedOut(_) | RunEnd::NotStarted(_), _) => build_failure_answer(hook, outcome),
        (RunEnd::Answered(200..=299), StdoutJson::Object(object)) => answer_from_json(hook, event, &object),
        (RunEnd::Answered(200..=299), _) if text.is_empty() => HookAnswer::default(),
        (RunEnd::Answered(200..=299), _) => build_misunderstood_answer(hook, "its response body is not a JSON object"),
        (RunEnd::Answered(_), _) => build_failure_answer(hook, outcome),
        (RunEnd::Exited(2), StdoutJson::Object(object)) => {
            answer_exit_code_2(hook, outcome, Some(answer_from_json(hook, event, &object)))
        }
        (RunEnd::Exited(2), _) => answer_exit_code_2(hook, outcome, None),
        (RunEnd::Exited(code), _) if *code != 0 && event.name.as_str() == "WorktreeCreate" => {
            answer_exit_code_2(hook, outcome, None)
        }
        (RunEnd::Exited(_), StdoutJson::Object(object)) => answer_from_json(hook, event, &object),
        (RunEnd::Exited(0), StdoutJson::Broken) => answer_broken_json(hook, outcome),
        (RunEnd::Exited(0), StdoutJson::Absent) => answer_plain_text(event, text),
        (RunEnd::Exited(_), _) => build_failure_answer(hook, outcome),
    }
}

/// The content of standard output.
enum StdoutJson {
    Absent,
    /// It starts like an object, but is not valid JSON.
    Broken,
    Object(Map<String, Value>),
}

/// Exit code 2 always blocks. JSON only adds its reason and its texts.
fn answer_exit_code_2(hook: &Hook, outcome: &Outcome, json: Option<HookAnswer>) -> HookAnswer {
    let json = json.unwrap_or_default();
    let reason = json.reason.or_else(|| nonblank_text(&outcome.stderr)).unwrap_or_else(|| default_block_reason(hook));
    HookAnswer {
        status: Some(HookRunStatus::Blocked),
        decision: Decision::Deny,
        reason: Some(reason),
        tool_input: None,
        tool_output: None,
        ..json
    }
}

fn answer_plain_text(event: &Event, text: &str) -> HookAnswer {
    let mut answer = HookAnswer::default();
    if event.name.as_str() == "WorktreeCreate" {
        let path = text.lines().last().map(str::trim).filter(|line| !line.is_empty());
        answer.extra.extend(path.map(|path| ("worktreePath".to_owned(), path.into())));
    } else if events::takes_text_as_context(&event.name) {
        answer.context.extend(nonblank_text(text));
    }
    answer
}

/// Invalid JSON output. It is no decision and no context, but the user gets a message.
fn answer_broken_json(hook: &Hook, outcome: &Outcome) -> HookAnswer {
    let fault = if outcome.truncated {
        "its JSON output is too long and was cut"
    } else {
        "its output starts with { but is not valid JSON"
    };
    build_misunderstood_answer(hook, fault)
}

fn build_misunderstood_answer(hook: &Hook, fault: &str) -> HookAnswer {
    let mut answer = HookAnswer::default();
    report_misunderstood(hook, &mut answer, fault);
    answer
}

fn answer_from_json(hook: &Hook, event: &Event, object: &Map<String, Value>) -> HookAnswer {
    let mut answer = HookAnswer::default();
    answer.messages.extend(get_text(object, "systemMessage"));
    if let Some(Value::String(sequence)) = object.get("terminalSequence") {
        if is_harmless_sequence(sequence) {
            answer.extra.insert("terminalSequence".into(), sequence.as_str().into());
        } else {
            answer.warnings.push("\"terminalSequence\" must be OSC 0, 1, 2, 9, 99, 777 or BEL (it is ignored)".into());
        }
    }
    report_mistyped_fields(hook, object, &mut answer);
    apply_top_level_decision(hook, event, object, &mut answer);
    let specific = find_specific_output(hook, event, object, &mut answer);
    if let Some(specific) = specific {
        apply_specific_output(hook, event, specific, &mut answer);
    }
    if object.get("continue") == Some(&Value::Bool(false)) {
        apply_turn_stop(event, object, &mut answer);
    }
    for source in [Some(object), specific].into_iter().flatten() {
        for key in EXTRA_FIELDS {
            if let Some(value) = source.get(*key) {
                answer.extra.insert((*key).to_owned(), value.clone());
            }
        }
    }
    if answer.decision == Decision::Deny {
        answer.status = Some(HookRunStatus::Blocked);
        answer.reason.get_or_insert_with(|| default_block_reason(hook));
    }
    answer
}

/// The `hookSpecificOutput`, if it is an object for this event.
fn find_specific_output<'a>(
    hook: &Hook,
    event: &Event,
    object: &'a Map<String, Value>,
    answer: &mut HookAnswer,
) -> Option<&'a Map<String, Value>> {
    let specific = match object.get("hookSpecificOutput")? {
        Value::Object(specific) => specific,
        _ => {
            report_misunderstood(hook, answer, "\"hookSpecificOutput\" must be an object");
            return None;
        }
    };
    match specific.get("hookEventName").and_then(Value::as_str) {
        Some(name) if EventName::parse(name) != event.name => {
            let command = hook.command_summary();
            answer.warnings.push(format!(
                "\"{command}\" answered for {name}, not for {} (its \"hookSpecificOutput\" is ignored)",
                event.name
            ));
            None
        }
        // The documentation requires a name, but many hooks lack it, and a deny must not get lost.
        _ => Some(specific),
    }
}

/// A field, and the type of its value.
struct AnswerField {
    key: &'static str,
    is_valid: fn(&Value) -> bool,
    kind: &'static str,
}

const TOP_FIELDS: &[AnswerField] = &[
    answer_field("continue", Value::is_boolean, "true or false"),
    answer_field("systemMessage", Value::is_string, "a string"),
    answer_field("stopReason", Value::is_string, "a string"),
    answer_field("reason", Value::is_string, "a string"),
];

const SPECIFIC_FIELDS: &[AnswerField] = &[
    answer_field("additionalContext", Value::is_string, "a string"),
    answer_field("updatedInput", Value::is_object, "an object"),
];

const fn answer_field(key: &'static str, fits: fn(&Value) -> bool, kind: &'static str) -> AnswerField {
    AnswerField { key, is_valid: fits, kind }
}

/// Reports fields of the wrong type: one of them may be meant as a denial.
fn report_mistyped_fields(hook: &Hook, object: &Map<String, Value>, answer: &mut HookAnswer) {
    let specific = object.get("hookSpecificOutput").and_then(Value::as_object);
    let sources = [(Some(object), TOP_FIELDS), (specific, SPECIFIC_FIELDS)];
    for (source, fields) in sources {
        for AnswerField { key, is_valid: fits, kind } in fields {
            let value = source.and_then(|source| source.get(*key));
            if value.is_some_and(|value| !fits(value) && !value.is_null()) {
                report_misunderstood(hook, answer, &format!("\"{key}\" must be {kind}"));
            }
        }
    }
    if object.contains_key("permissionDecision") {
        report_misunderstood(hook, answer, "\"permissionDecision\" must be inside \"hookSpecificOutput\"");
    }
}

/// Marks an invalid answer: it is no decision, but the user gets a message.
fn report_misunderstood(hook: &Hook, answer: &mut HookAnswer, fault: &str) {
    answer.status = Some(HookRunStatus::Failed);
    answer.messages.push(format!(
        "{} hook \"{}\" gave an invalid answer: {fault}",
        hook.contract_name(),
        hook.command_summary()
    ));
}

fn apply_top_level_decision(hook: &Hook, event: &Event, object: &Map<String, Value>, answer: &mut HookAnswer) {
    answer.decision = match object.get("decision") {
        None | Some(Value::Null) => return,
        Some(Value::String(word)) if word == "block" || word == "deny" => Decision::Deny,
        Some(Value::String(word)) if word == "approve" || word == "allow" => match event.name {
            EventName::PreToolUse => Decision::Allow,
            _ => return,
        },
        Some(other) => {
            let fault = format!("\"decision\" must be \"block\", \"deny\", \"approve\" or \"allow\", not {other}");
            report_misunderstood(hook, answer, &fault);
            return;
        }
    };
    answer.reason = get_text(object, "reason");
}

fn apply_specific_output(hook: &Hook, event: &Event, specific: &Map<String, Value>, answer: &mut HookAnswer) {
    answer.context.extend(get_text(specific, "additionalContext"));
    match event.name {
        EventName::PreToolUse => {
            let decision = match specific.get("permissionDecision").map(|word| (word, word.as_str())) {
                None | Some((Value::Null, _)) => Decision::None,
                Some((_, Some("deny"))) => Decision::Deny,
                // With "defer" the host decides later, so the user is asked.
                Some((_, Some("ask" | "defer"))) => Decision::Ask,
                Some((_, Some("allow"))) => Decision::Allow,
                Some((other, _)) => {
                    let fault = format!("\"permissionDecision\" must be \"allow\", \"ask\" or \"deny\", not {other}");
                    report_misunderstood(hook, answer, &fault);
                    Decision::None
                }
            };
            raise_decision(answer, decision, get_text(specific, "permissionDecisionReason"));
            answer.tool_input = specific.get("updatedInput").filter(|value| value.is_object()).cloned();
        }
        EventName::PermissionRequest => {
            let Some(decided) = specific.get("decision").and_then(Value::as_object) else {
                return;
            };
            let decision = match decided.get("behavior").and_then(Value::as_str) {
                Some("deny") => Decision::Deny,
                Some("allow") => Decision::Allow,
                _ => Decision::None,
            };
            raise_decision(answer, decision, get_text(decided, "message"));
            answer.tool_input = decided.get("updatedInput").filter(|value| value.is_object()).cloned();
            if let Some(permissions) = decided.get("updatedPermissions") {
                answer.extra.insert("updatedPermissions".into(), permissions.clone());
            }
            if decided.get("interrupt") == Some(&Value::Bool(true)) {
                answer.stop = Some(get_text(decided, "message").unwrap_or_default());
            }
        }
        EventName::PostToolUse => {
            answer.tool_output =
                ["updatedToolOutput", "updatedMCPToolOutput"].iter().find_map(|key| specific.get(*key)).cloned();
        }
        _ => {
            // If a hook declines an elicitation, it does not reach the user.
            if event.name.as_str() == "Elicitation" && specific.get("action").and_then(Value::as_str) == Some("decline")
            {
                raise_decision(answer, Decision::Deny, None);
            }
        }
    }
}

/// Adds a decision. The stricter one applies.
fn raise_decision(answer: &mut HookAnswer, decision: Decision, reason: Option<String>) {
    if decision > answer.decision {
        answer.decision = decision;
        answer.reason = reason.or(answer.reason.take());
    }
}

/// `continue: false` ends the whole turn, and `stopReason` is for the user.
fn apply_turn_stop(event: &Event, object: &Map<String, Value>, answer: &mut HookAnswer) {
    let reason = get_text(object, "stopReason").unwrap_or_else(|| "A hook ended the turn".into());
    answer.stop = Some(reason.clone());
    match event.name {
        // On these events a block would make the agent continue.
        EventName::Stop | EventName::SubagentStop => {
            answer.decision = Decision::None;
            answer.messages.push(reason);
        }
        _ if events::find_event_row(&event.name).is_some_and(|row| row.blocks) => {
            // Keep the hook's text for the model too.
            let told = answer.reason.take().filter(|_| answer.decision == Decision::Deny);
            answer.decision = Decision::Deny;
            answer.reason = Some(told.map_or_else(|| reason.clone(), |told| format!("{reason}\n{told}")));
        }
        _ => answer.messages.push(reason),
    }
}

fn get_text(object: &Map<String, Value>, key: &str) -> Option<String> {
    object.get(key)?.as_str().and_then(nonblank_text)
}

/// Whether a terminal sequence only sets a title, notifies, or rings: OSC 0, 1, 2, 9, 99, 777 and BEL.
fn is_harmless_sequence(sequence: &str) -> bool {
    let mut rest = sequence;
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix('\u{7}') {
            rest = after;
            continue;
        }
        let Some(body) = rest.strip_prefix("\u{1b}]") else {
            return false;
        };
        let Some((end, terminator)) = ["\u{7}", "\u{1b}\\"]
            .iter()
            .filter_map(|terminator| body.find(terminator).map(|at| (at, terminator.len())))
            .min()
        else {
            return false;
        };
        let content = &body[..end];
        let code = content.split(';').next().unwrap_or_default();
        if !["0", "1", "2", "9", "99", "777"].contains(&code) || content.chars().any(char::is_control) {
            return false;
        }
        rest = &body[end + terminator..];
    }
    !sequence.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_titles_notifications_and_bells_reach_a_terminal() {
        let cases = [
            ("\u{7}", true),
            ("\u{1b}]0;title\u{7}", true),
            ("\u{1b}]777;notify;a;b\u{1b}\\", true),
            ("\u{1b}]9;a\u{7}\u{7}", true),
            ("\u{1b}]52;c;x\u{7}", false),
            ("\u{1b}[2J", false),
            ("\u{1b}]0;unfinished", false),
            ("\u{1b}]0;a\u{1b}[2Jb\u{7}", false),
            ("plain", false),
            ("", false),
        ];
        for (sequence, expected) in cases {
            assert_eq!(is_harmless_sequence(sequence), expected, "{sequence:?}");
        }
    }
}
