//! Lines of transcripts that a product's table describes.

use serde_json::Value;
use snell::{Timestamp, TranscriptCallPlaces, TranscriptLineKind, TranscriptLineRow, TranscriptLines};

use super::entry::{ActivityKind, ParsedLine, TranscriptCall, TranscriptEntry, extract_texts, join_texts};

/// Parses `line`; empty if it is invalid, or if no row fits.
pub(super) fn parse_line(line: &[u8], lines: &TranscriptLines) -> ParsedLine {
    let Ok(line) = serde_json::from_slice::<Value>(line) else {
        return ParsedLine::default();
    };
    let cwd = lines.cwd.iter().find_map(|place| line.pointer(place)?.as_str()).map(str::to_owned);
    let Some(row) = lines.rows.iter().find(|row| fits(row, &line)) else {
        return ParsedLine { cwd, ..ParsedLine::default() };
    };
    let entry = build_entry(row, &line);
    let activities = list_activities(row, &line, entry.is_some());
    ParsedLine { entry, activities, at: parse_time(&line), cwd, ..ParsedLine::default() }
}

fn fits(row: &TranscriptLineRow, line: &Value) -> bool {
    let is_empty = |place: &&str| matches!(line.pointer(place), None | Some(Value::Null | Value::Bool(false)));
    let begins = |(place, words): &(&str, &str)| {
        line.pointer(place).and_then(Value::as_str).is_some_and(|text| text.starts_with(words))
    };
    has_marks(row.marks, line) && row.beginnings.iter().all(begins) && row.empty.iter().all(is_empty)
}

fn has_marks(marks: &[(&str, &str)], value: &Value) -> bool {
    marks.iter().all(|(place, mark)| value.pointer(place).and_then(Value::as_str) == Some(mark))
}

fn build_entry(row: &TranscriptLineRow, line: &Value) -> Option<TranscriptEntry> {
    let at = parse_time(line);
    let text = || join_texts(&extract_texts(line.pointer(row.text)?));
    match row.kind {
        TranscriptLineKind::Interruption => Some(TranscriptEntry::Interrupted { at }),
        TranscriptLineKind::ApiError => Some(TranscriptEntry::ApiError { text: text().unwrap_or_default(), at }),
        _ if row.text.is_empty() || !row.subagent_mark.is_empty() => None,
        TranscriptLineKind::Prompt => Some(TranscriptEntry::Prompt { text: text()?, at, id: None }),
        _ => Some(TranscriptEntry::AgentText { text: text()?, at, id: None }),
    }
}

fn list_activities(row: &TranscriptLineRow, line: &Value, has_entry: bool) -> Vec<ActivityKind> {
    let calls = row.calls.map(|places| list_calls(places, line)).unwrap_or_default();
    let begun =
        || calls.iter().filter(|(_, has_result)| !has_result).map(|(call, _)| ActivityKind::UsesTool(call.clone()));
    let ended = || calls.iter().map(|(call, _)| ActivityKind::EndedTool(call.clone()));
    match row.kind {
        // A prompt may be an image, or come from the agent itself.
        TranscriptLineKind::Prompt if has_entry || calls.is_empty() => vec![ActivityKind::Prompted],
        TranscriptLineKind::CallResults if row.calls.is_none() => {
            vec![ActivityKind::EndedTool(TranscriptCall::default())]
        }
        TranscriptLineKind::Prompt | TranscriptLineKind::CallResults => ended().collect(),
        TranscriptLineKind::SubagentStart => {
            vec![
                ActivityKind::EndedTool(TranscriptCall::default()),
                ActivityKind::StartedSubagents(list_subagents(row, line)),
            ]
        }
        TranscriptLineKind::SubagentReport => vec![ActivityKind::HeardSubagents(list_subagents(row, line))],
        TranscriptLineKind::Compaction => vec![ActivityKind::Compacted],
        TranscriptLineKind::AgentText | TranscriptLineKind::LastAgentText if !calls.is_empty() => {
            let with_results = calls.iter().filter(|(_, has_result)| *has_result);
            begun().chain(with_results.map(|(call, _)| ActivityKind::EndedTool(call.clone()))).collect()
        }
        TranscriptLineKind::LastAgentText if has_entry => vec![ActivityKind::EndedTurn],
        TranscriptLineKind::AgentText | TranscriptLineKind::LastAgentText => {
            Vec::from_iter(has_entry.then_some(ActivityKind::Speaks))
        }
        TranscriptLineKind::Interruption | TranscriptLineKind::ApiError | TranscriptLineKind::TurnEnd => {
            vec![ActivityKind::EndedTurn]
        }
        TranscriptLineKind::Activity => vec![ActivityKind::Works],
        TranscriptLineKind::PermissionRequest => {
            calls.into_iter().map(|(call, _)| ActivityKind::AsksPermission(call)).collect()
        }
    }
}

/// The calls of a line, and whether each has its result there.
fn list_calls(places: &TranscriptCallPlaces, line: &Value) -> Vec<(TranscriptCall, bool)> {
    let text = |call: &Value, place: &str| call.pointer(place).and_then(Value::as_str).map(str::to_owned);
    let read_call = |call: &Value| {
        let id = text(call, places.id);
        let has_result =
            !places.result.is_empty() && call.pointer(places.result).is_some_and(|result| !result.is_null());
        id.map(|id| (TranscriptCall { id: Some(id), tool: text(call, places.tool) }, has_result))
    };
    match line.pointer(places.list) {
        Some(Value::Array(list)) => {
            list.iter().filter(|call| has_marks(places.marks, call)).filter_map(read_call).collect()
        }
        Some(call) if places.list.is_empty() => read_call(call).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// How many sub-agents of a line count.
const MAX_SUBAGENTS: usize = 32;

/// The ids of the sub-agents that a line names.
fn list_subagents(row: &TranscriptLineRow, line: &Value) -> Vec<String> {
    let text = line.pointer(row.text).and_then(Value::as_str).unwrap_or_default();
    let parts = text.split(row.subagent_mark).skip(1).take(MAX_SUBAGENTS);
    let is_id = |char: char| char.is_ascii_alphanumeric() || char == '-';
    let read = |part: &str| {
        let rest = part.trim_start_matches([' ', '"']);
        rest[..rest.find(|char| !is_id(char)).unwrap_or(rest.len())].to_owned()
    };
    parts.map(read).filter(|id| !id.is_empty()).collect()
}

/// The time of a line: a text, or milliseconds. Antigravity's `created_at` is when a step began.
fn parse_time(line: &Value) -> Option<Timestamp> {
    let from_text = || line["timestamp"].as_str()?.parse().ok();
    from_text().or_else(|| Timestamp::from_millisecond(line["time"].as_i64()?).ok())
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use snell::{AgentProduct, TranscriptFormat};

    use super::*;

    /// The kind and text of a line of a product's transcript.
    fn read_line(product: &str, line: &Value) -> Option<String> {
        let TranscriptFormat::JsonLines(lines) = AgentProduct::find_by_name(product).unwrap().transcript else {
            panic!("{product} has no rows");
        };
        Some(match parse_line(line.to_string().as_bytes(), lines).entry? {
            TranscriptEntry::AgentText { text, .. } => format!("agent: {text}"),
            TranscriptEntry::Prompt { text, .. } => format!("user: {text}"),
            TranscriptEntry::Interrupted { .. } => "interrupted".to_owned(),
            TranscriptEntry::ApiError { text, .. } => format!("error: {text}"),
        })
    }

    #[test]
    fn only_lines_of_the_agent_and_its_user_count() {
        let part = |kind: &str| {
            let event = json!({"type": "content.part", "part": {"type": kind, "text": "Hm."}});
            json!({"type": "context.append_loop_event", "event": event})
        };
        let turn = |injected: bool| {
            let params = json!({"injected": injected, "message": [{"type": "text", "text": "Go."}]});
            json!({"type": "command_reserved", "payload": {"method": "turn/start", "params": params}})
        };
        let said = json!({"type": "assistant.message", "data": {"content": "Done."}});
        let said_by_subagent = json!({"type": "assistant.message", "agentId": "a1", "data": {"content": "Done."}});
        let asked = json!({"type": "user.message", "data": {"content": "Go."}});
        let asked_by_agent = json!({"type": "user.message", "data": {"content": "Go.", "source": "agent-1"}});
        let aborted =
            |reason: &str| json!({"type": "event_msg", "payload": {"type": "turn_aborted", "reason": reason}});
        let rows = [
            ("copilot", said, Some("agent: Done.")),
            ("copilot", said_by_subagent, None),
            ("copilot", json!({"type": "assistant.message", "data": {"content": " "}}), None),
            ("copilot", asked, Some("user: Go.")),
            ("copilot", asked_by_agent, None),
            ("copilot", json!({"type": "abort", "data": {"reason": "user_initiated"}}), Some("interrupted")),
            ("kimi", part("text"), Some("agent: Hm.")),
            ("kimi", part("think"), None),
            ("vibe", turn(false), Some("user: Go.")),
            ("vibe", turn(true), None),
            ("codex", aborted("interrupted"), Some("interrupted")),
            ("codex", aborted("replaced"), None),
            ("codex", json!(["no object"]), None),
        ];
        for (product, line, expected) in rows {
            assert_eq!(read_line(product, &line).as_deref(), expected, "{product}: {line}");
        }
    }

    #[test]
    fn times_are_texts_or_milliseconds() {
        let text = parse_time(&json!({"timestamp": "2026-01-05T10:00:00Z"}));
        assert_eq!(text, parse_time(&json!({"time": 1_767_607_200_000_i64})));
        assert!(text.is_some());
        assert_eq!(parse_time(&json!({"time": "soon"})), None);
    }
}
