//! A request as text. Texts of agents stand behind a bar, so that they cannot look like lines of Snell.

use serde_json::Value;
use snell::Timestamp;
use snell_store::requests::{AnswerChannel, AnswerChoice, RequestKind, RequestStatus, RequestView};

use crate::output;
use crate::output::time::{format_elapsed, format_time_short};

/// The most lines and bytes of a text that are shown. `--json` has all of it.
const MAX_LINES: usize = 40;
const MAX_BYTES: usize = 4000;

/// Parts of the detail with texts of other authors, in the order in which they are shown.
const PARTS: &[(&str, &str)] =
    &[("reading", "It would"), ("reason", "Why it asks"), ("guard", "Guard"), ("input", "Call"), ("cwd", "Directory")];

/// Prints everything that a person needs to decide, and then how to answer.
pub(crate) fn print_request(request: &RequestView, now: Timestamp) {
    let mut text = String::new();
    let product = request.product.as_deref().unwrap_or("an agent");
    let kind = match request.kind {
        RequestKind::Permission => "permission",
        RequestKind::Question => "question",
    };
    let head = format!("Request {} · {kind} · {product} {} · {}", request.uid, request.agent_id, request.project);
    push_line(&mut text, &head);
    let time = format!("Asked {} ago", format_elapsed(request.opened_at, now));
    match request.status {
        RequestStatus::Open => {
            push_line(&mut text, &format!("{time}, {} left", format_elapsed(now, request.expires_at)));
        }
        _ => push_line(&mut text, &format!("{time}: {}", describe_end(request, now))),
    }
    push_quoted(&mut text, "Asks", &request.title);
    if request.kind == RequestKind::Question {
        push_questions(&mut text, request);
    } else {
        push_parts(&mut text, &request.detail);
        for (number, suggestion) in request.suggestions().iter().enumerate() {
            push_quoted(&mut text, &format!("Suggestion {} of the agent", number + 1), suggestion);
        }
        if let Some(bytes) = request.left_out_bytes() {
            let look = "look at it in the agent's terminal before you allow it";
            push_line(&mut text, &format!("Incomplete: {bytes} bytes of the call were not recorded; {look}"));
        }
    }
    if request.status == RequestStatus::Open {
        push_commands(&mut text, request);
    }
    output::print_text(&text);
}

/// How a closed request ended.
pub(crate) fn describe_end(request: &RequestView, now: Timestamp) -> String {
    let at = request.closed_at.map_or(String::new(), |at| format!(" at {}", format_time_short(at, now)));
    if request.status == RequestStatus::Answered {
        let choice = match request.answer.as_ref().map(|answer| answer.choice) {
            Some(AnswerChoice::Allow) => "allowed",
            Some(AnswerChoice::Deny) => "denied",
            Some(AnswerChoice::Reply) | None => "answered",
        };
        let by = request.answered_by.as_deref().unwrap_or("unknown");
        let from = request.answered_from.map_or("elsewhere", |from| from.as_str());
        let undelivered = match (&request.delivered_at, &request.closed_reason) {
            (Some(_), _) => String::new(),
            (None, None) => ", not yet delivered".to_owned(),
            (None, Some(why)) => format!(", but the agent did not get it: {why}"),
        };
        return format!("{choice} by {by} from {from}{at}{undelivered}");
    }
    format!("{}{at}", request.closed_reason.as_deref().unwrap_or(request.status.as_str()))
}

fn push_parts(text: &mut String, detail: &Value) {
    for (key, label) in PARTS {
        match detail.get(*key) {
            None | Some(Value::Null) => {}
            Some(Value::String(value)) => push_quoted(text, label, value),
            Some(Value::Object(fields)) => {
                for (name, value) in fields {
                    push_quoted(text, &format!("{label}, {}", cut_name(name)), &to_shown_text(value));
                }
            }
            Some(Value::Array(items)) if *key == "guard" => {
                for item in items {
                    let part = |key: &str| item.get(key).and_then(Value::as_str).unwrap_or_default();
                    let verdict = format!("{} ({}): {}", part("decision"), part("rule"), part("reason"));
                    push_quoted(text, label, &verdict);
                }
            }
            Some(Value::Array(lines)) if *key == "reading" => {
                let lines: Vec<_> =
                    lines.iter().filter_map(Value::as_str).map(|line| line.replace('\n', " ")).collect();
                push_quoted(text, label, &lines.join("\n"));
            }
            Some(other) => push_quoted(text, label, &to_shown_text(other)),
        }
    }
}

fn push_questions(text: &mut String, request: &RequestView) {
    for (number, question) in request.questions().iter().enumerate() {
        push_quoted(text, &format!("Question {}", number + 1), &question.question);
        for (option, number) in question.options.iter().zip(1..) {
            let described = if option.description.is_empty() {
                option.label.clone()
            } else {
                format!("{} – {}", option.label, option.description)
            };
            push_quoted(text, &format!("  Choice {number}"), &described);
        }
        if question.multi_select {
            push_line(text, "  Several choices: numbers with commas, such as 1,3");
        }
    }
}

fn push_commands(text: &mut String, request: &RequestView) {
    let answer = match (request.channel, request.kind, request.questions().len()) {
        (AnswerChannel::Elsewhere, ..) => {
            let place = request.place().unwrap_or("its terminal is not known");
            return push_line(text, &format!("Answer in the agent's own terminal: {place}"));
        }
        (AnswerChannel::Pane, ..) => "TEXT",
        (AnswerChannel::Reply, RequestKind::Permission, _) if request.suggestions().is_empty() => "allow | deny",
        (AnswerChannel::Reply, RequestKind::Permission, _) => "allow [--suggestion NUMBER] | deny",
        (AnswerChannel::Reply, RequestKind::Question, 0 | 1) => "NUMBER | TEXT | deny",
        (AnswerChannel::Reply, RequestKind::Question, _) => "NUMBER | TEXT, once per question | deny",
    };
    push_line(text, &format!("Answer: snell answer {} {answer}", request.uid));
}

/// A label of Snell, and a text of another author behind bars.
fn push_quoted(text: &mut String, label: &str, value: &str) {
    let mut shown = 0;
    let mut lines = value.split('\n').peekable();
    push_line(text, &format!("{label}:"));
    for _ in 0..MAX_LINES {
        let Some(line) = lines.next() else {
            return;
        };
        let room = MAX_BYTES.saturating_sub(shown);
        let cut = line.char_indices().map(|(at, letter)| at + letter.len_utf8()).take_while(|end| *end <= room);
        let end = cut.last().unwrap_or(0);
        text.push_str("  │ ");
        push_line(text, &line[..end]);
        shown += end;
        if end < line.len() {
            break;
        }
        shown += usize::from(lines.peek().is_some());
    }
    if shown < value.len() {
        push_line(text, &format!("  … {} more bytes (see snell requests ID --json)", value.len() - shown));
    }
}

/// Adds a line in which every character can be seen.
fn push_line(text: &mut String, line: &str) {
    text.push_str(&output::escape_invisible(line));
    text.push('\n');
}

/// Names of arguments come from the model, too.
fn cut_name(name: &str) -> String {
    output::shorten_to_one_line(name, 40)
}

fn to_shown_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
