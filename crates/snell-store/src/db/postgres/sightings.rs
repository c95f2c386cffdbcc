//! Changes of state without events, in PostgreSQL.

use super::PostgresDatabase;
use super::transaction::PostgresTransaction;
use super::values::values;
use crate::db::model::SightingRow;
use crate::error::Result;
use crate::views::timeline::SightingView;

impl PostgresTransaction<'_> {
    pub(super) fn write_sighting(&mut self, sighting: &SightingRow<'_>) -> Result<()> {
        let agent = sighting.agent;
        // After the agent's newest event at the time; 0 if it has none.
        let sql = "INSERT INTO sightings (agent_id, after_event, at, previous_state, state, source, confidence, why) \
            VALUES ($1, coalesce((SELECT max(id) FROM events WHERE agent_id = $1), 0), $2, $3, $4, $5, $6, $7)";
        let values = values![
            agent.agent_id,
            sighting.at,
            sighting.before,
            agent.state,
            agent.state_source,
            agent.confidence,
            agent.why,
        ];
        self.run(&["sightings", "events"], sql, values)
    }
}

impl PostgresDatabase {
    /// The changes of state after this event of the agent, before its next event.
    pub(super) fn read_sightings_after(&self, agent_id: i64, event: i64) -> Result<Vec<SightingView>> {
        let which = "WHERE agent_id = $1 AND after_event = $2 ORDER BY sighting_id";
        self.session.select_all(which, values![agent_id, event])
    }
}
