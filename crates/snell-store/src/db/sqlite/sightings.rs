//! Changes of state without events, in SQLite.

use rusqlite::params;

use super::SqliteDatabase;
use super::columns::{ConnectionExt, columns};
use super::rows::SqliteTransaction;
use crate::db::model::{AgentState, SightingRow};
use crate::error::Result;
use crate::views::timeline::SightingView;

/// The agent's newest event at the time; 0 if it has none.
const NEWEST_EVENT: &str = "coalesce((SELECT id FROM events WHERE agent_id = ?1 ORDER BY id DESC LIMIT 1), 0)";

columns! {
    SightingView from "sightings" {
        id: "sighting_id", after_event, at, state_before: "previous_state" => parse_state, state, source, confidence, why,
    }
}

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
        self.transaction.run(&sql, values)
    }
}

impl SqliteDatabase {
    /// The changes of state after this event of the agent, before its next event.
    pub(super) fn read_sightings_after(&self, agent_id: i64, event: i64) -> Result<Vec<SightingView>> {
        let which = "WHERE agent_id = ?1 AND after_event = ?2 ORDER BY sighting_id";
        self.connection.select_all(which, [agent_id, event])
    }
}

/// A state; nothing if there is none or the word is unknown.
pub(super) fn parse_state(word: Option<String>) -> Option<AgentState> {
    word.as_deref().and_then(AgentState::parse)
}
