//! What was seen of agents beside their events, in SQLite.

use rusqlite::{Row, params};

use super::Sqlite;
use super::rows::{Within, time, word};
use crate::error::Result;
use crate::model::{Confidence, Sighting, Source, State};
use crate::timeline::{SightingFilter, SightingView};

/// The agent's newest event at the time; 0 if it has none.
const NEWEST_EVENT: &str = "coalesce((SELECT id FROM events WHERE agent_id = ?1 ORDER BY id DESC LIMIT 1), 0)";

const SIGHTING: &str =
    "SELECT sighting_id, after_event, at, previous_state, state, source, confidence, why FROM sightings";

impl Within<'_, '_> {
    pub(super) fn write_sighting(&self, sighting: &Sighting<'_>) -> Result<()> {
        let agent = sighting.agent;
        let sql = format!(
            "INSERT INTO sightings (agent_id, after_event, at, previous_state, state, source, confidence, why) \
             VALUES (?1, {NEWEST_EVENT}, ?2, ?3, ?4, ?5, ?6, ?7)"
        );
        let values = params![
            agent.agent_id,
            sighting.at.as_microsecond(),
            sighting.before.map(State::as_str),
            agent.state.as_str(),
            agent.state_source.as_str(),
            agent.confidence.as_str(),
            agent.why,
        ];
        self.write(&sql, values).map(drop)
    }
}

impl Sqlite {
    /// What was seen of an agent after this event of it, before the next.
    pub(super) fn seen_after(&self, agent_id: i64, event: i64) -> Result<Vec<SightingView>> {
        let sql = format!("{SIGHTING} WHERE agent_id = ?1 AND after_event = ?2 ORDER BY sighting_id");
        let mut statement = self.connection.prepare_cached(&sql)?;
        let found = statement.query_map([agent_id, event], sighting_view)?;
        Ok(found.collect::<rusqlite::Result<_>>()?)
    }

    pub(super) fn read_seen_before(&self, filter: &SightingFilter) -> Result<Vec<SightingView>> {
        let sql = format!(
            "{SIGHTING} WHERE agent_id = ?1 AND after_event < ?2 AND sighting_id < ?3 ORDER BY sighting_id DESC LIMIT ?4"
        );
        let mut statement = self.connection.prepare_cached(&sql)?;
        let (event, before) = (
            filter.first_event.unwrap_or(i64::MAX),
            filter.before_id.unwrap_or(i64::MAX),
        );
        let values = [filter.agent_id, event, before, i64::from(filter.limit)];
        let found = statement.query_map(values, sighting_view)?;
        Ok(found.collect::<rusqlite::Result<_>>()?)
    }
}

fn sighting_view(row: &Row<'_>) -> rusqlite::Result<SightingView> {
    let before: Option<String> = row.get(3)?;
    Ok(SightingView {
        id: row.get(0)?,
        after_event: row.get(1)?,
        at: time(row, 2)?,
        state_before: before.as_deref().and_then(State::parse),
        state: word(row, 4, State::parse)?,
        source: word(row, 5, Source::parse)?,
        confidence: word(row, 6, Confidence::parse)?,
        why: row.get(7)?,
    })
}
