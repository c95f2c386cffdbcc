//! Changes as server-sent events, encoded once for all clients.

use std::fmt::Write;
use std::ops::Range;

use axum::body::Bytes;
use snell_store::{ChangeKind, ChangeRow};

use super::filter::StreamFilter;

/// The first chunk of a stream: the reconnect delay and, for a new client, the last change so far. The client can
/// resume after that change even if none follows: an id without data is stored, and is not an event.
pub(super) fn encode_greeting(first_time_after: Option<i64>) -> Bytes {
    let id = first_time_after.map_or(String::new(), |seen| format!("id: {seen}\n"));
    format!(": connected\nretry: 2000\n{id}\n").into()
}

/// Sent while there are no changes.
pub(super) const HEARTBEAT: &str = ": heartbeat\n\n";

/// One change among those of a batch.
#[derive(Debug)]
pub(super) struct SseFrame {
    id: i64,
    pub(super) kind: ChangeKind,
    pub(super) agent_id: i64,
    pub(super) project_id: i64,
    text: Range<usize>,
}

/// Several changes, in order.
#[derive(Debug)]
pub(crate) struct SseBatch {
    frames: Vec<SseFrame>,
    text: Bytes,
}

impl SseBatch {
    pub(super) fn from_changes(changes: &[ChangeRow]) -> Self {
        let length = changes.iter().map(|change| change.data.len() + 64).sum();
        let mut text = String::with_capacity(length);
        let frame = |change: &ChangeRow| {
            let begin = text.len();
            let ChangeRow { id, kind, data, .. } = change;
            // Writing to a string cannot fail.
            let _ = write!(text, "id: {id}\nevent: {kind}\ndata: ");
            // The data is one line, and must stay one.
            text.extend(data.chars().filter(|c| !matches!(c, '\n' | '\r')));
            text.push_str("\n\n");
            SseFrame {
                id: change.id,
                kind: change.kind,
                agent_id: change.agent_id,
                project_id: change.project_id,
                text: begin..text.len(),
            }
        };
        let frames = changes.iter().map(frame).collect();
        Self { frames, text: text.into() }
    }

    /// The number of changes.
    pub(super) fn len(&self) -> usize {
        self.frames.len()
    }

    /// The size of the text.
    pub(super) fn byte_len(&self) -> usize {
        self.text.len()
    }

    /// The number of the first change.
    pub(super) fn first_id(&self) -> Option<i64> {
        self.frames.first().map(|frame| frame.id)
    }

    /// The number of the last change.
    pub(super) fn last_id(&self) -> Option<i64> {
        self.frames.last().map(|frame| frame.id)
    }

    /// The changes after `seen` that match a filter; `None` if there are none.
    pub(super) fn filter_frames(&self, filter: &StreamFilter, seen: i64) -> Option<Bytes> {
        if filter.matches_all() && self.first_id().is_some_and(|first| first > seen) {
            return Some(self.text.clone());
        }
        let is_wanted = |frame: &&SseFrame| frame.id > seen && filter.matches(frame);
        let mut wanted = self.frames.iter().filter(is_wanted).map(|frame| frame.text.clone());
        let first = wanted.next()?;
        let Some(second) = wanted.next() else {
            return Some(self.text.slice(first));
        };
        let mut text = Vec::new();
        for range in [first, second].into_iter().chain(wanted) {
            text.extend_from_slice(&self.text[range]);
        }
        Some(text.into())
    }
}

/// The event for skipped changes: all after `from`, up to `to`.
pub(super) fn encode_gap(from: i64, to: i64) -> Bytes {
    // A client that has seen a later change comes from another database.
    encode_gap_event(from, to, (to >= from).then(|| to - from))
}

/// The same if `from` belongs to another database, so the number of missed changes is unknown.
pub(super) fn encode_database_gap(from: i64, to: i64) -> Bytes {
    encode_gap_event(from, to, None)
}

fn encode_gap_event(from: i64, to: i64, missed: Option<i64>) -> Bytes {
    let data = serde_json::json!({ "from": from, "to": to, "missed": missed });
    format!("id: {to}\nevent: gap\ndata: {data}\n\n").into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use snell::Timestamp;

    fn sample_change(id: i64, agent_id: i64) -> ChangeRow {
        ChangeRow {
            id,
            kind: ChangeKind::CardRefresh,
            agent_id,
            project_id: 1,
            at: Timestamp::UNIX_EPOCH,
            data: format!("{{\"n\":{id}}}"),
        }
    }

    #[test]
    fn a_client_gets_matching_changes_that_it_has_not_seen() {
        let batch = SseBatch::from_changes(&[sample_change(5, 1), sample_change(6, 2), sample_change(7, 1)]);
        let numbers = |filter: &StreamFilter, seen| {
            let text = batch.filter_frames(filter, seen).unwrap_or_default();
            let text = String::from_utf8(text.to_vec()).unwrap();
            let lines = text.lines().filter_map(|line| line.strip_prefix("id: "));
            lines.map(|id| id.parse().unwrap()).collect::<Vec<i64>>()
        };
        let of_agent = |agent: i64| {
            let query = format!("agent_id={agent}");
            let query = crate::http::query_params::QueryParams::parse(Some(&query), &["agent_id"]).unwrap();
            StreamFilter::parse(&query).unwrap()
        };
        let cases = [
            (StreamFilter::default(), 0, vec![5, 6, 7]),
            (StreamFilter::default(), 5, vec![6, 7]),
            (StreamFilter::default(), 7, vec![]),
            (of_agent(1), 0, vec![5, 7]),
            (of_agent(1), 5, vec![7]),
            (of_agent(2), 0, vec![6]),
            (of_agent(3), 0, vec![]),
        ];
        for (filter, seen, expected) in cases {
            assert_eq!(numbers(&filter, seen), expected, "{filter:?} {seen}");
        }
    }

    #[test]
    fn a_gap_has_the_number_of_missed_changes_if_known() {
        let encode = |from, to| String::from_utf8(encode_gap(from, to).to_vec()).unwrap();
        assert_eq!(encode(3, 10), "id: 10\nevent: gap\ndata: {\"from\":3,\"to\":10,\"missed\":7}\n\n");
        assert_eq!(encode(30, 10), "id: 10\nevent: gap\ndata: {\"from\":30,\"to\":10,\"missed\":null}\n\n");
        assert_eq!(encode_database_gap(3, 10), "id: 10\nevent: gap\ndata: {\"from\":3,\"to\":10,\"missed\":null}\n\n");
    }
}
