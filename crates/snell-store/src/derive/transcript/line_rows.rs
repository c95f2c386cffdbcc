//! Lines of transcripts that a product's table describes.

use serde_json::Value;
use snell::{Timestamp, TranscriptLineKind, TranscriptLineRow};

use super::entry::{ParsedLine, TranscriptEntry, extract_texts, join_texts};

/// Parses `line`; empty if it is invalid, or if no row fits.
pub(super) fn parse_line(line: &[u8], rows: &[TranscriptLineRow]) -> ParsedLine {
    let Ok(line) = serde_json::from_slice::<Value>(line) else {
        return ParsedLine::default();
    };
    let row = rows.iter().find(|row| fits(row, &line));
    ParsedLine { entry: row.and_then(|row| build_entry(row, &line)), ..ParsedLine::default() }
}

fn fits(row: &TranscriptLineRow, line: &Value) -> bool {
    let has_mark = |(place, value): &(&str, &str)| line.pointer(place).and_then(Value::as_str) == Some(value);
    let is_empty = |place: &&str| matches!(line.pointer(place), None | Some(Value::Null | Value::Bool(false)));
    row.marks.iter().all(has_mark) && row.empty.iter().all(is_empty)
}

fn build_entry(row: &TranscriptLineRow, line: &Value) -> Option<TranscriptEntry> {
    let at = parse_time(line);
    if row.kind == TranscriptLineKind::Interruption {
        return Some(TranscriptEntry::Interrupted { at });
    }
    let text = join_texts(&extract_texts(line.pointer(row.text)?))?;
    Some(match row.kind {
        TranscriptLineKind::Prompt => TranscriptEntry::Prompt { text, at, id: None },
        TranscriptLineKind::AgentText | TranscriptLineKind::Interruption => {
            TranscriptEntry::AgentText { text, at, id: None }
        }
    })
}

/// The time of a line: a text, or milliseconds.
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
        Some(match parse_line(line.to_string().as_bytes(), lines.rows).entry? {
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
