//! The searchable list of events in PostgreSQL.

use super::PostgresDatabase;
use super::live_queries::list_ids;
use super::values::{SqlValue, values};
use crate::db::columns::SelectedRow;
use crate::error::Result;
use crate::views::log_search::{
    EVENT_TEXT_FIELDS, EventDetails, LogLine, LogSearchResult, MAX_SCANNED_BYTES, SearchText, find_decision_authors,
    max_events_to_scan,
};
use crate::views::queries::LogQueries;
use crate::views::query_types::{DecisionAuthor, LogEntry, LogFilter};

/// How many events are scanned at a time.
const SCAN_BATCH_SIZE: usize = 500;

/// The columns of an event that are searched.
const SELECT_SCANNED_TEXT: &str =
    "SELECT e.id, e.tool_summary, e.reason, d.payload FROM events e LEFT JOIN payloads d ON d.id = e.id";

/// The id, summary, reason and payload of a scanned event.
type ScannedEvent = (i64, Option<String>, Option<String>, Option<String>);

impl LogQueries for PostgresDatabase {
    fn query_log(&mut self, filter: &LogFilter) -> Result<Vec<LogEntry>> {
        let which = Self::select_events(filter);
        // First the ids, then the texts, so that rows which do not match are not fetched.
        let sql = format!("{} {}", LogEntry::SELECT, which.sql);
        self.session.query_all(&sql, which.values)
    }

    fn search_log(&mut self, filter: &LogFilter, text: Option<&str>) -> Result<LogSearchResult> {
        let Some(text) = text else {
            let which = Self::select_events(filter);
            let lines = self.fetch_lines(&which.sql, which.values)?;
            return Ok(LogSearchResult { lines, last_scanned_id: None });
        };
        let (ids, last_scanned_id) = self.find_matching_ids(filter, &SearchText::new(text))?;
        let order = if filter.after_id.is_some() { "ASC" } else { "DESC" };
        let lines = self.fetch_lines(&format!("WHERE e.id = ANY($1) ORDER BY e.id {order}"), vec![list_ids(&ids)])?;
        Ok(LogSearchResult { lines, last_scanned_id })
    }

    fn list_decision_authors(&mut self, event_rows: &[i64]) -> Result<Vec<(i64, DecisionAuthor)>> {
        let ids = vec![list_ids(event_rows)];
        let sql = "SELECT id, decision FROM events WHERE id = ANY($1) ORDER BY id";
        let decided: Vec<(i64, Option<String>)> = self.session.query_all(sql, ids.clone())?;
        let sql = "SELECT id, decision, would, rule FROM guard_verdicts WHERE id = ANY($1) ORDER BY guard_verdict_id";
        let verdicts: Vec<(i64, String, Option<String>, String)> = self.session.query_all(sql, ids.clone())?;
        let sql = "SELECT id, status, contract, source, line FROM hook_runs WHERE id = ANY($1) ORDER BY hook_run_id";
        let runs: Vec<(i64, String, String, String, i64)> = self.session.query_all(sql, ids)?;
        let mut authors = Vec::new();
        for (id, decision) in decided {
            let verdicts = verdicts.iter().filter(|(row, ..)| *row == id);
            let verdicts =
                verdicts.map(|(_, decision, would, rule)| (decision.as_str(), would.as_deref(), rule.as_str()));
            let verdicts: Vec<_> = verdicts.collect();
            let runs = runs.iter().filter(|(row, ..)| *row == id).map(|(_, status, contract, source, line)| {
                let (contract, source) = (contract.clone(), source.clone());
                (status.as_str(), DecisionAuthor::Hook { contract, source, line: *line })
            });
            let found = find_decision_authors(decision.as_deref(), &verdicts, &runs.collect::<Vec<_>>());
            authors.extend(found.into_iter().map(|author| (id, author)));
        }
        Ok(authors)
    }

    fn find_event(&mut self, id: i64) -> Result<Option<EventDetails>> {
        let Some(entry) = self.session.select_one("WHERE e.id = $1", values![id])? else {
            return Ok(None);
        };
        Ok(Some(EventDetails {
            entry,
            hook_runs: self.read_hook_runs(id)?,
            guard_verdicts: self.read_event_verdicts(id)?,
        }))
    }

    fn last_event_id(&mut self) -> Result<i64> {
        self.session.query_value("SELECT coalesce(max(id), 0) FROM events", values![])
    }
}

impl PostgresDatabase {
    fn fetch_lines(&self, which: &str, values: Vec<SqlValue>) -> Result<Vec<LogLine>> {
        let speaking: Vec<_> = EVENT_TEXT_FIELDS.iter().map(|(name, _)| format!("e.name = '{name}'")).collect();
        let brief = format!("CASE WHEN {} OR e.changed_input IS NOT NULL THEN d.payload END", speaking.join(" OR "));
        let sql = format!("{} {which}", LogEntry::SELECT.replacen("d.payload", &brief, 1));
        let entries: Vec<LogEntry> = self.session.query_all(&sql, values)?;
        Ok(entries.into_iter().map(LogLine::from_entry).collect())
    }

    /// The ids of matching events, and the last scanned id if there may be more.
    fn find_matching_ids(&self, filter: &LogFilter, wanted: &SearchText) -> Result<(Vec<i64>, Option<i64>)> {
        let (mut found, mut filter) = (Vec::new(), filter.clone());
        let (most, mut looked_at, mut bytes) = (filter.limit as usize, 0, 0);
        let most_looked_at = max_events_to_scan(&filter);
        loop {
            filter.limit = u32::try_from(SCAN_BATCH_SIZE).unwrap_or(u32::MAX);
            let which = Self::select_events(&filter);
            let sql = format!("{SELECT_SCANNED_TEXT} {}", which.sql);
            let rows: Vec<ScannedEvent> = self.session.query_all(&sql, which.values)?;
            let passed = rows.len();
            for (id, summary, reason, payload) in rows {
                let [summary, reason, payload] = [summary, reason, payload].map(Option::unwrap_or_default);
                if wanted.is_in_text(&summary) || wanted.is_in_text(&reason) || wanted.is_in_json(&payload) {
                    found.push(id);
                }
                bytes += summary.len() + reason.len() + payload.len();
                looked_at += 1;
                match filter.after_id {
                    Some(_) => filter.after_id = Some(id),
                    None => filter.before_id = Some(id),
                }
                if found.len() >= most {
                    return Ok((found, None));
                }
                if looked_at >= most_looked_at || bytes >= MAX_SCANNED_BYTES {
                    return Ok((found, Some(id)));
                }
            }
            if passed < SCAN_BATCH_SIZE {
                return Ok((found, None));
            }
        }
    }
}
