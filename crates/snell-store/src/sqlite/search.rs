//! The list of events as people look at it, in SQLite.

use rusqlite::{OptionalExtension, Row, params_from_iter};
use serde_json::{Value, json};

use super::Sqlite;
use super::log::{LOG_ENTRY, log_entry};
use crate::error::Result;
use crate::query::LogFilter;
use crate::search::{
    FullEvent, LogLine, LogLines, MAX_BYTES_LOOKED_AT, ProjectView, SPEAKING, Wanted, most_looked_at, said,
};

/// How many events are looked at at a time.
const AT_ONCE: usize = 500;

/// What is looked at of an event.
const LOOKED_AT: &str =
    "SELECT e.id, e.tool_summary, e.reason, d.payload FROM events e LEFT JOIN payloads d ON d.id = e.id";

impl Sqlite {
    pub(super) fn read_log_lines(&self, filter: &LogFilter, text: Option<&str>) -> Result<LogLines> {
        let Some(text) = text else {
            let which = self.which(filter)?;
            let lines = self.lines(&which.sql, which.values)?;
            return Ok(LogLines { lines, reached: None });
        };
        let (found, reached) = self.find(filter, &Wanted::new(text))?;
        let order = if filter.after_id.is_some() { "ASC" } else { "DESC" };
        let places = vec!["?"; found.len()].join(", ");
        let lines = self.lines(&format!("WHERE e.id IN ({places}) ORDER BY e.id {order}"), found)?;
        Ok(LogLines { lines, reached })
    }

    fn lines(&self, which: &str, values: impl IntoIterator<Item: rusqlite::ToSql>) -> Result<Vec<LogLine>> {
        let speaking: Vec<_> = SPEAKING.iter().map(|(name, _)| format!("e.name = '{name}'")).collect();
        let brief = format!(
            "CASE WHEN {} OR e.changed_input IS NOT NULL THEN d.payload END",
            speaking.join(" OR ")
        );
        let sql = format!("{} {which}", LOG_ENTRY.replacen("d.payload", &brief, 1));
        let mut statement = self.connection.prepare(&sql)?;
        let found = statement.query_map(params_from_iter(values), line)?;
        Ok(found.collect::<rusqlite::Result<_>>()?)
    }

    /// The numbers of events in which it stands; and how far was looked, if there may be more.
    fn find(&self, filter: &LogFilter, wanted: &Wanted) -> Result<(Vec<i64>, Option<i64>)> {
        let (mut found, mut filter) = (Vec::new(), filter.clone());
        let (most, mut looked_at, mut bytes) = (filter.limit as usize, 0, 0);
        let most_looked_at = most_looked_at(&filter);
        loop {
            filter.limit = u32::try_from(AT_ONCE).unwrap_or(u32::MAX);
            let which = self.which(&filter)?;
            let mut statement = self.connection.prepare_cached(&format!("{LOOKED_AT} {}", which.sql))?;
            let mut rows = statement.query(params_from_iter(which.values))?;
            let mut passed = 0;
            while let Some(row) = rows.next()? {
                let id: i64 = row.get(0)?;
                passed += 1;
                bytes += look(row, wanted, || found.push(id))?;
                looked_at += 1;
                match filter.after_id {
                    Some(_) => filter.after_id = Some(id),
                    None => filter.before_id = Some(id),
                }
                if found.len() >= most {
                    return Ok((found, None));
                }
                if looked_at >= most_looked_at || bytes >= MAX_BYTES_LOOKED_AT {
                    return Ok((found, Some(id)));
                }
            }
            if passed < AT_ONCE {
                return Ok((found, None));
            }
        }
    }

    pub(super) fn read_event(&self, id: i64) -> Result<Option<FullEvent>> {
        let sql = format!("{LOG_ENTRY} WHERE e.id = ?1");
        let mut statement = self.connection.prepare_cached(&sql)?;
        let Some(entry) = statement.query_row([id], log_entry).optional()? else {
            return Ok(None);
        };
        Ok(Some(FullEvent {
            entry,
            hook_runs: self.hook_runs_of(id)?,
            guard_verdicts: self.guard_verdicts_of(id)?,
        }))
    }

    pub(super) fn read_projects(&self, at_most: u32) -> Result<Vec<ProjectView>> {
        let sql = "SELECT project_id, name, path FROM projects ORDER BY name, project_id LIMIT ?1";
        let mut statement = self.connection.prepare_cached(sql)?;
        let found = statement.query_map([at_most], |row| {
            Ok(ProjectView {
                project_id: row.get(0)?,
                name: row.get(1)?,
                path: row.get(2)?,
            })
        })?;
        Ok(found.collect::<rusqlite::Result<_>>()?)
    }
}

/// Looks at an event; answers how much text that was.
fn look(row: &Row<'_>, wanted: &Wanted, found: impl FnOnce()) -> rusqlite::Result<usize> {
    let text =
        |column: usize| -> rusqlite::Result<&str> { Ok(row.get_ref(column)?.as_str_or_null()?.unwrap_or_default()) };
    let (summary, reason, payload) = (text(1)?, text(2)?, text(3)?);
    if wanted.stands_in(summary) || wanted.stands_in(reason) || wanted.stands_in_json(payload) {
        found();
    }
    Ok(summary.len() + reason.len() + payload.len())
}

fn line(row: &Row<'_>) -> rusqlite::Result<LogLine> {
    let mut entry = log_entry(row)?;
    let mut payload = entry.payload.take();
    let said = said(&entry.event, &payload);
    if entry.changed_input.is_some() {
        // What it was before is all that a line has of what was sent.
        let before = payload.get_mut("tool_input").map(Value::take);
        entry.payload = json!({ "tool_input": before });
    }
    Ok(LogLine { entry, said })
}
