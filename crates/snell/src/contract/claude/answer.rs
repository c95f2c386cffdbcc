//! What a Claude Code hook's answer means: exit code and JSON together.

use serde_json::{Map, Value};

use super::events;
use crate::contract::{blocked_by, own_failure, printed, said};
use crate::event::{Event, EventName, parse_json};
use crate::hook::Hook;
use crate::outcome::{End, Outcome};
use crate::verdict::{Answer, Decision, Status};

/// Fields of `hookSpecificOutput` (and of the top level) that only a host can honour; they are passed on by name.
const EXTRAS: &[&str] = &[
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

pub(super) fn answer(hook: &Hook, event: &Event, outcome: &Outcome) -> Answer {
    let text = printed(outcome);
    let json = match text.starts_with('{').then(|| parse_json(text)) {
        Some(Ok(Value::Object(object))) => Json::Object(object),
        Some(_) => Json::Broken,
        None => Json::Absent,
    };
    match (&outcome.end, json) {
        (End::Signaled(_) | End::TimedOut(_) | End::NotStarted(_), _) => own_failure(hook, outcome),
        (End::Answered(200..=299), Json::Object(object)) => from_json(hook, event, &object),
        (End::Answered(200..=299), _) if text.is_empty() => Answer::default(),
        (End::Answered(200..=299), _) => {
            let mut answer = Answer::default();
            misunderstood(hook, &mut answer, "the body of its answer is not a JSON object");
            answer
        }
        (End::Answered(_), _) => own_failure(hook, outcome),
        (End::Exited(2), Json::Object(object)) => exit_2(hook, outcome, Some(from_json(hook, event, &object))),
        (End::Exited(2), _) => exit_2(hook, outcome, None),
        (End::Exited(code), _) if *code != 0 && event.name.as_str() == "WorktreeCreate" => exit_2(hook, outcome, None),
        (End::Exited(_), Json::Object(object)) => from_json(hook, event, &object),
        (End::Exited(0), Json::Broken) => broken_json(hook, outcome),
        (End::Exited(0), Json::Absent) => plain_text(event, text),
        (End::Exited(_), _) => own_failure(hook, outcome),
    }
}

/// What standard output holds.
enum Json {
    Absent,
    /// It begins like an object, and is none.
    Broken,
    Object(Map<String, Value>),
}

/// Exit code 2 blocks whatever the JSON says, which at most lends its reason and its texts.
fn exit_2(hook: &Hook, outcome: &Outcome, json: Option<Answer>) -> Answer {
    let json = json.unwrap_or_default();
    let reason = json
        .reason
        .or_else(|| said(&outcome.stderr))
        .unwrap_or_else(|| blocked_by(hook));
    Answer {
        status: Some(Status::Blocked),
        decision: Decision::Deny,
        reason: Some(reason),
        tool_input: None,
        tool_output: None,
        ..json
    }
}

fn plain_text(event: &Event, text: &str) -> Answer {
    let mut answer = Answer::default();
    if event.name.as_str() == "WorktreeCreate" {
        let path = text.lines().last().map(str::trim).filter(|line| !line.is_empty());
        answer
            .extra
            .extend(path.map(|path| ("worktreePath".to_owned(), path.into())));
    } else if events::takes_text_as_context(&event.name) {
        answer.context.extend(said(text));
    }
    answer
}

/// Output that was meant to be JSON. It is no opinion and no text, but the user is told.
fn broken_json(hook: &Hook, outcome: &Outcome) -> Answer {
    let mut answer = Answer::default();
    let fault = if outcome.truncated {
        "its output begins like JSON and was cut, because it is too long"
    } else {
        "its output begins like JSON and cannot be read"
    };
    misunderstood(hook, &mut answer, fault);
    answer
}

fn from_json(hook: &Hook, event: &Event, object: &Map<String, Value>) -> Answer {
    let mut answer = Answer::default();
    answer.messages.extend(text(object, "systemMessage"));
    if let Some(Value::String(sequence)) = object.get("terminalSequence") {
        if is_harmless_sequence(sequence) {
            answer.extra.insert("terminalSequence".into(), sequence.as_str().into());
        } else {
            answer
                .warnings
                .push("\"terminalSequence\" is not one of OSC 0, 1, 2, 9, 99, 777 or BEL; it is left out".into());
        }
    }
    note_unfit(hook, object, &mut answer);
    top_level_decision(hook, event, object, &mut answer);
    let specific = accepted_output(hook, event, object, &mut answer);
    if let Some(specific) = specific {
        specific_output(hook, event, specific, &mut answer);
    }
    if object.get("continue") == Some(&Value::Bool(false)) {
        stop_the_turn(event, object, &mut answer);
    }
    for source in [Some(object), specific].into_iter().flatten() {
        for key in EXTRAS {
            if let Some(value) = source.get(*key) {
                answer.extra.insert((*key).to_owned(), value.clone());
            }
        }
    }
    if answer.decision == Decision::Deny {
        answer.status = Some(Status::Blocked);
        answer.reason.get_or_insert_with(|| blocked_by(hook));
    }
    answer
}

/// The `hookSpecificOutput`, if it is one and for this event.
fn accepted_output<'a>(
    hook: &Hook,
    event: &Event,
    object: &'a Map<String, Value>,
    answer: &mut Answer,
) -> Option<&'a Map<String, Value>> {
    let specific = match object.get("hookSpecificOutput")? {
        Value::Object(specific) => specific,
        _ => {
            misunderstood(hook, answer, "\"hookSpecificOutput\" must be an object");
            return None;
        }
    };
    match specific.get("hookEventName").and_then(Value::as_str) {
        Some(name) if EventName::parse(name) != event.name => {
            let command = hook.command();
            answer.warnings.push(format!(
                "\"{command}\" answered for {name}, not for {}; its \"hookSpecificOutput\" is left out",
                event.name
            ));
            None
        }
        // A missing name is against the documentation and forgotten by many; a deny must not be lost to it.
        _ => Some(specific),
    }
}

/// A field, and what its value must be to mean anything.
struct Field {
    key: &'static str,
    fits: fn(&Value) -> bool,
    kind: &'static str,
}

const TOP_FIELDS: &[Field] = &[
    field("continue", Value::is_boolean, "true or false"),
    field("systemMessage", Value::is_string, "a string"),
    field("stopReason", Value::is_string, "a string"),
    field("reason", Value::is_string, "a string"),
];

const SPECIFIC_FIELDS: &[Field] = &[
    field("additionalContext", Value::is_string, "a string"),
    field("updatedInput", Value::is_object, "an object"),
];

const fn field(key: &'static str, fits: fn(&Value) -> bool, kind: &'static str) -> Field {
    Field { key, fits, kind }
}

/// Tells of fields whose type keeps them from meaning anything. A "no" among them must not vanish without a word.
fn note_unfit(hook: &Hook, object: &Map<String, Value>, answer: &mut Answer) {
    let specific = object.get("hookSpecificOutput").and_then(Value::as_object);
    let sources = [(Some(object), TOP_FIELDS), (specific, SPECIFIC_FIELDS)];
    for (source, fields) in sources {
        for Field { key, fits, kind } in fields {
            let value = source.and_then(|source| source.get(*key));
            if value.is_some_and(|value| !fits(value) && !value.is_null()) {
                misunderstood(hook, answer, &format!("\"{key}\" must be {kind}"));
            }
        }
    }
    if object.contains_key("permissionDecision") {
        misunderstood(
            hook,
            answer,
            "\"permissionDecision\" belongs into \"hookSpecificOutput\"",
        );
    }
}

/// An answer in which a decision was meant and cannot be read: no opinion, but the user is told.
fn misunderstood(hook: &Hook, answer: &mut Answer, fault: &str) {
    answer.status = Some(Status::Failed);
    answer.messages.push(format!(
        "{} hook \"{}\" was not understood: {fault}",
        hook.contract(),
        hook.command()
    ));
}

fn top_level_decision(hook: &Hook, event: &Event, object: &Map<String, Value>, answer: &mut Answer) {
    answer.decision = match object.get("decision") {
        None | Some(Value::Null) => return,
        Some(Value::String(word)) if word == "block" || word == "deny" => Decision::Deny,
        Some(Value::String(word)) if word == "approve" || word == "allow" => match event.name {
            EventName::PreToolUse => Decision::Allow,
            _ => return,
        },
        Some(other) => {
            let wanted = "it must be \"block\" or \"deny\", \"approve\" or \"allow\"";
            misunderstood(hook, answer, &format!("\"decision\" is {other}; {wanted}"));
            return;
        }
    };
    answer.reason = text(object, "reason");
}

fn specific_output(hook: &Hook, event: &Event, specific: &Map<String, Value>, answer: &mut Answer) {
    answer.context.extend(text(specific, "additionalContext"));
    match event.name {
        EventName::PreToolUse => {
            let decision = match specific.get("permissionDecision").map(|word| (word, word.as_str())) {
                None | Some((Value::Null, _)) => Decision::None,
                Some((_, Some("deny"))) => Decision::Deny,
                // The host decides later, which is for whoever is asked.
                Some((_, Some("ask" | "defer"))) => Decision::Ask,
                Some((_, Some("allow"))) => Decision::Allow,
                Some((other, _)) => {
                    let fault = format!("\"permissionDecision\" is {other}; it must be allow, ask or deny");
                    misunderstood(hook, answer, &fault);
                    Decision::None
                }
            };
            opine(answer, decision, text(specific, "permissionDecisionReason"));
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
            opine(answer, decision, text(decided, "message"));
            answer.tool_input = decided.get("updatedInput").filter(|value| value.is_object()).cloned();
            if let Some(permissions) = decided.get("updatedPermissions") {
                answer.extra.insert("updatedPermissions".into(), permissions.clone());
            }
            if decided.get("interrupt") == Some(&Value::Bool(true)) {
                answer.stop = Some(text(decided, "message").unwrap_or_default());
            }
        }
        EventName::PostToolUse => {
            answer.tool_output = ["updatedToolOutput", "updatedMCPToolOutput"]
                .iter()
                .find_map(|key| specific.get(*key))
                .cloned();
        }
        _ => {
            // An elicitation that a hook declines does not reach the user.
            if event.name.as_str() == "Elicitation" && specific.get("action").and_then(Value::as_str) == Some("decline")
            {
                opine(answer, Decision::Deny, None);
            }
        }
    }
}

/// An opinion beside one that is there already: the greater one counts.
fn opine(answer: &mut Answer, decision: Decision, reason: Option<String>) {
    if decision > answer.decision {
        answer.decision = decision;
        answer.reason = reason.or(answer.reason.take());
    }
}

/// `continue: false` ends the whole turn; `stopReason` is for the user.
fn stop_the_turn(event: &Event, object: &Map<String, Value>, answer: &mut Answer) {
    let reason = text(object, "stopReason").unwrap_or_else(|| "A hook ended the turn".into());
    answer.stop = Some(reason.clone());
    match event.name {
        // Here blocking would mean going on.
        EventName::Stop | EventName::SubagentStop => {
            answer.decision = Decision::None;
            answer.messages.push(reason);
        }
        _ if events::row_of(&event.name).is_some_and(|row| row.blocks) => {
            // What the hook has to say to the model, if it said that, stays beside it.
            let told = answer.reason.take().filter(|_| answer.decision == Decision::Deny);
            answer.decision = Decision::Deny;
            answer.reason = Some(told.map_or_else(|| reason.clone(), |told| format!("{reason}\n{told}")));
        }
        _ => answer.messages.push(reason),
    }
}

fn text(object: &Map<String, Value>, key: &str) -> Option<String> {
    object.get(key)?.as_str().and_then(said)
}

/// Whether a text for the terminal only sets a title, notifies, or rings: OSC 0, 1, 2, 9, 99, 777 and BEL.
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
