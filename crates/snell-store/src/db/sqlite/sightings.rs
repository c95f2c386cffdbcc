//! What was seen of agents beside their events, in SQLite.

use rusqlite::{Row, params};

use super::SqliteDatabase;
use super::rows::{SqliteTransaction, get_enum, get_time};
use crate::db::model::{AgentState, SightingRow, StateConfidence, StateSource};
use crate::error::Result;
use crate::views::timeline::{SightingFilter, SightingView};

/// The agent's newest event at the time; 0 if it has none.
const NEWEST_EVENT: &str = "coalesce((SELECT id FROM events WHERE agent_id = ?1 ORDER BY id DESC LIMIT 1), 0)";

const SELECT_SIGHTING: &str =
    "SELECT sighting_id, after_event, at, previous_state, state, source, confidence, why FROM sightings";

impl SqliteTransaction<'_, '_> {
    pub(super) fn write_sighting(&self, sighting: &SightingRow<'_>) -> Result<()> {
        let agent = sighting.agent;
        let sql = format!(
            "INSERT INTO sightings (agent_id, after_event, at, previous_state, state, source, confidence, why) \
             VALUES (?1, {NEWEST_EVENT}, ?2, ?3, ?4, ?5, ?6, ?7)"
        );
        let values = params![
            agent.agent_id,
            sighting.at.as_microsecond(),
            sighting.before.map(AgentState::as_str),
            agent.state.as_str(),
            agent.state_source.as_str(),
            agent.confidence.as_str(),
            agent.why,
        ];
        self.execute(&sql, values).map(drop)
    }
}

impl SqliteDatabase {
    /// What was seen of an agent after this event of it, before the next.
    pub(super) fn read_sightings_after(&self, agent_id: i64, event: i64) -> Result<Vec<SightingView>> {
        let sql = format!("{SELECT_SIGHTING} WHERE agent_id = ?1 AND after_event = ?2 ORDER BY sighting_id");
        let mut statement = self.connection.prepare_cached(&sql)?;
        let found = statement.query_map([agent_id, event], decode_sighting)?;
        Ok(found.collect::<rusqlite::Result<_>>()?)
    }

    pub(super) fn read_sightings_before(&self, filter: &SightingFilter) -> Result<Vec<SightingView>> {
        let sql = format!(
            "{SELECT_SIGHTING} WHERE agent_id = ?1 AND after_event < ?2 AND sighting_id < ?3 ORDER BY sighting_id DESC LIMIT ?4"
        );
        let mut statement = self.connection.prepare_cached(&sql)?;
        let (event, before) = (filter.first_event.unwrap_or(i64::MAX), filter.before_id.unwrap_or(i64::MAX));
        let values = [filter.agent_id, event, before, i64::from(filter.limit)];
        let found = statement.query_map(values, decode_sighting)?;
        Ok(found.collect::<rusqlite::Result<_>>()?)
    }
}

fn decode_sighting(row: &Row<'_>) -> rusqlite::Result<SightingView> {
    let before: Option<String> = row.get(3)?;
    Ok(SightingView {
        id: row.get(0)?,
        after_event: row.get(1)?,
        at: get_time(row, 2)?,
        state_before: before.as_deref().and_then(AgentState::parse),
        state: get_enum(row, 4, AgentState::parse)?,
        source: get_enum(row, 5, StateSource::parse)?,
        confidence: get_enum(row, 6, StateConfidence::parse)?,
        why: row.get(7)?,
    })
}
