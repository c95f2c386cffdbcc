-- Audited verdicts, the ends of calls without ids, and changes of state without events.

-- The guard's decision if it did not only audit. Before this version, its reasons began with it.
ALTER TABLE guard_verdicts ADD COLUMN would TEXT CHECK (would = 'ask' OR would = 'deny');
UPDATE guard_verdicts SET would = 'deny', reason = substr(reason, 46)
WHERE decision = 'allow' AND reason LIKE 'would be denied, but the guard only watches: %';
UPDATE guard_verdicts SET would = 'ask', reason = substr(reason, 45)
WHERE decision = 'allow' AND reason LIKE 'would be asked, but the guard only watches: %';

-- The event that began the call which this one ends, if calls have no ids; and why the call failed.
ALTER TABLE events ADD COLUMN ends INTEGER;
ALTER TABLE events ADD COLUMN error TEXT;
-- The tool's input after a hook changed it.
ALTER TABLE events ADD COLUMN changed_input TEXT;
CREATE INDEX events_ending ON events (ends) WHERE ends IS NOT NULL;

-- Changes of an agent's state without an event of its own.
CREATE TABLE sightings (
  sighting_id    INTEGER PRIMARY KEY,
  agent_id       INTEGER NOT NULL,         -- no reference: SQLite would check each when an agent is removed
  after_event    INTEGER NOT NULL,         -- the agent's newest event at that time; 0 if there was none
  at             INTEGER NOT NULL,
  previous_state TEXT,                     -- nothing for a new agent
  state          TEXT    NOT NULL,
  source         TEXT    NOT NULL,
  confidence     TEXT    NOT NULL,
  why            TEXT    NOT NULL
);
CREATE INDEX sightings_after_event ON sightings (agent_id, after_event);
CREATE INDEX sightings_by_time ON sightings (at);

-- Filters by tool ignore ASCII case.
DROP INDEX events_by_tool;
CREATE INDEX events_by_tool ON events (tool COLLATE NOCASE) WHERE tool IS NOT NULL;
