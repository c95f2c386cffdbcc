//! The searchable list of events in SQLite.

use rusqlite::{Row, params_from_iter};

use super::SqliteDatabase;
use super::columns::{ConnectionExt, SelectedRow};
use super::log::join_ids;
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

impl LogQueries for SqliteDatabase {
    fn query_log(&mut self, filter: &LogFilter) -> Result<Vec<LogEntry>> {
        let which = self.select_events(filter)?;
        // First the ids, then the texts, so that rows which do not match are not fetched.
        let sql = format!("{} {}", LogEntry::SELECT, which.sql);
        self.connection.query_all_uncached(&sql, params_from_iter(which.values))
    }

    fn search_log(&mut self, filter: &LogFilter, text: Option<&str>) -> Result<LogSearchResult> {
        let Some(text) = text else {
            let which = self.select_events(filter)?;
            let lines = self.fetch_lines(&which.sql, which.values)?;
            return Ok(LogSearchResult { lines, last_scanned_id: None });
        };
        let (ids, last_scanned_id) = self.find_matching_ids(filter, &SearchText::new(text))?;
        let order = if filter.after_id.is_some() { "ASC" } else { "DESC" };
        let places = vec!["?"; ids.len()].join(", ");
        let lines = self.fetch_lines(&format!("WHERE e.id IN ({places}) ORDER BY e.id {order}"), ids)?;
        Ok(LogSearchResult { lines, last_scanned_id })
    }

    fn list_decision_authors(&mut self, event_rows: &[i64]) -> Result<Vec<(i64, DecisionAuthor)>> {
        let ids = join_ids(event_rows);
        let sql = format!("SELECT id, decision FROM events WHERE id IN ({ids}) ORDER BY id");
        let decided: Vec<(i64, Option<String>)> = self.connection.query_all_uncached(&sql, [])?;
        let sql = format!(
            "SELECT id, decision, would, rule FROM guard_verdicts WHERE id IN ({ids}) ORDER BY guard_verdict_id"
        );
        let verdicts: Vec<(i64, String, Option<String>, String)> = self.connection.query_all_uncached(&sql, [])?;
        let sql = format!(
            "SELECT id, status, contract, source, line FROM hook_runs WHERE id IN ({ids}) ORDER BY hook_run_id"
        );
        let runs: Vec<(i64, String, String, String, i64)> = self.connection.query_all_uncached(&sql, [])?;
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
        let Some(entry) = self.connection.select_one("WHERE e.id = ?1", [id])? else {
            return Ok(None);
        };
        Ok(Some(EventDetails {
            entry,
            hook_runs: self.read_hook_runs(id)?,
            guard_verdicts: self.read_event_verdicts(id)?,
        }))
    }

    fn last_event_id(&mut self) -> Result<i64> {
        self.connection.query_value("SELECT coalesce(max(id), 0) FROM events", [])
    }
}

impl SqliteDatabase {
    fn fetch_lines(&self, which: &str, values: impl IntoIterator<Item: rusqlite::ToSql>) -> Result<Vec<LogLine>> {
        let speaking: Vec<_> = EVENT_TEXT_FIELDS.iter().map(|(name, _)| format!("e.name = '{name}'")).collect();
        let brief = format!("CASE WHEN {} OR e.changed_input IS NOT NULL THEN d.payload END", speaking.join(" OR "));
        let sql = format!("{} {which}", LogEntry::SELECT.replacen("d.payload", &brief, 1));
        let entries: Vec<LogEntry> = self.connection.query_all_uncached(&sql, params_from_iter(values))?;
        Ok(entries.into_iter().map(LogLine::from_entry).collect())
    }

    /// The ids of matching events, and the last scanned id if there may be more.
    fn find_matching_ids(&self, filter: &LogFilter, wanted: &SearchText) -> Result<(Vec<i64>, Option<i64>)> {
        let (mut found, mut filter) = (Vec::new(), filter.clone());
        let (most, mut looked_at, mut bytes) = (filter.limit as usize, 0, 0);
        let most_looked_at = max_events_to_scan(&filter);
        loop {
            filter.limit = u32::try_from(SCAN_BATCH_SIZE).unwrap_or(u32::MAX);
            let which = self.select_events(&filter)?;
            let mut statement = self.connection.prepare_cached(&format!("{SELECT_SCANNED_TEXT} {}", which.sql))?;
            let mut rows = statement.query(params_from_iter(which.values))?;
            let mut passed = 0;
            while let Some(row) = rows.next()? {
                let id: i64 = row.get(0)?;
                passed += 1;
                bytes += scan_row(row, wanted, || found.push(id))?;
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

/// Scans an event; returns the length of its text.
fn scan_row(row: &Row<'_>, wanted: &SearchText, found: impl FnOnce()) -> rusqlite::Result<usize> {
    let text =
        |column: usize| -> rusqlite::Result<&str> { Ok(row.get_ref(column)?.as_str_or_null()?.unwrap_or_default()) };
    let (summary, reason, payload) = (text(1)?, text(2)?, text(3)?);
    if wanted.is_in_text(summary) || wanted.is_in_text(reason) || wanted.is_in_json(payload) {
        found();
    }
    Ok(summary.len() + reason.len() + payload.len())
}
