//! The list of events as people look at it, in SQLite.

use rusqlite::{OptionalExtension, Row, params_from_iter};
use serde_json::{Value, json};

use super::SqliteDatabase;
use super::log::{SELECT_LOG_ENTRY, decode_log_entry};
use crate::error::Result;
use crate::views::log_search::{
    EVENT_TEXT_FIELDS, EventDetails, LogLine, LogSearchResult, MAX_SCANNED_BYTES, ProjectView, SearchText,
    extract_event_text, max_events_to_scan,
};
use crate::views::query_types::LogFilter;

/// How many events are looked at at a time.
const SCAN_BATCH_SIZE: usize = 500;

/// What is looked at of an event.
const SELECT_SCANNED_TEXT: &str =
    "SELECT e.id, e.tool_summary, e.reason, d.payload FROM events e LEFT JOIN payloads d ON d.id = e.id";

impl SqliteDatabase {
    pub(super) fn search_events(&self, filter: &LogFilter, text: Option<&str>) -> Result<LogSearchResult> {
        let Some(text) = text else {
            let which = self.select_events(filter)?;
            let lines = self.fetch_lines(&which.sql, which.values)?;
            return Ok(LogSearchResult { lines, last_scanned_id: None });
        };
        let (found, reached) = self.find_matching_ids(filter, &SearchText::new(text))?;
        let order = if filter.after_id.is_some() { "ASC" } else { "DESC" };
        let places = vec!["?"; found.len()].join(", ");
        let lines = self.fetch_lines(&format!("WHERE e.id IN ({places}) ORDER BY e.id {order}"), found)?;
        Ok(LogSearchResult { lines, last_scanned_id: reached })
    }

    fn fetch_lines(&self, which: &str, values: impl IntoIterator<Item: rusqlite::ToSql>) -> Result<Vec<LogLine>> {
        let speaking: Vec<_> = EVENT_TEXT_FIELDS.iter().map(|(name, _)| format!("e.name = '{name}'")).collect();
        let brief = format!("CASE WHEN {} OR e.changed_input IS NOT NULL THEN d.payload END", speaking.join(" OR "));
        let sql = format!("{} {which}", SELECT_LOG_ENTRY.replacen("d.payload", &brief, 1));
        let mut statement = self.connection.prepare(&sql)?;
        let found = statement.query_map(params_from_iter(values), decode_log_line)?;
        Ok(found.collect::<rusqlite::Result<_>>()?)
    }

    /// The numbers of events in which it stands; and how far was looked, if there may be more.
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

    pub(super) fn read_event_details(&self, id: i64) -> Result<Option<EventDetails>> {
        let sql = format!("{SELECT_LOG_ENTRY} WHERE e.id = ?1");
        let mut statement = self.connection.prepare_cached(&sql)?;
        let Some(entry) = statement.query_row([id], decode_log_entry).optional()? else {
            return Ok(None);
        };
        Ok(Some(EventDetails {
            entry,
            hook_runs: self.read_hook_runs(id)?,
            guard_verdicts: self.read_event_verdicts(id)?,
        }))
    }

    pub(super) fn read_projects(&self, at_most: u32) -> Result<Vec<ProjectView>> {
        let sql = "SELECT project_id, name, path FROM projects ORDER BY name, project_id LIMIT ?1";
        let mut statement = self.connection.prepare_cached(sql)?;
        let found = statement.query_map([at_most], |row| {
            Ok(ProjectView { project_id: row.get(0)?, name: row.get(1)?, path: row.get(2)? })
        })?;
        Ok(found.collect::<rusqlite::Result<_>>()?)
    }
}

/// Looks at an event; answers how much text that was.
fn scan_row(row: &Row<'_>, wanted: &SearchText, found: impl FnOnce()) -> rusqlite::Result<usize> {
    let text =
        |column: usize| -> rusqlite::Result<&str> { Ok(row.get_ref(column)?.as_str_or_null()?.unwrap_or_default()) };
    let (summary, reason, payload) = (text(1)?, text(2)?, text(3)?);
    if wanted.is_in_text(summary) || wanted.is_in_text(reason) || wanted.is_in_json(payload) {
        found();
    }
    Ok(summary.len() + reason.len() + payload.len())
}

fn decode_log_line(row: &Row<'_>) -> rusqlite::Result<LogLine> {
    let mut entry = decode_log_entry(row)?;
    let mut payload = entry.payload.take();
    let said = extract_event_text(&entry.event, &payload);
    if entry.changed_input.is_some() {
        // What it was before is all that a line has of what was sent.
        let before = payload.get_mut("tool_input").map(Value::take);
        entry.payload = json!({ "tool_input": before });
    }
    Ok(LogLine { entry, message: said })
}
