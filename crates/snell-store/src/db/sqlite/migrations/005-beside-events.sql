-- What was only noted, what belongs together without saying so, and what was seen without being told.

-- What the guard would have decided if it had not only watched. Until now its reasons began with it.
ALTER TABLE guard_verdicts ADD COLUMN would TEXT CHECK (would = 'ask' OR would = 'deny');
UPDATE guard_verdicts SET would = 'deny', reason = substr(reason, 46)
WHERE decision = 'allow' AND reason LIKE 'would be denied, but the guard only watches: %';
UPDATE guard_verdicts SET would = 'ask', reason = substr(reason, 45)
WHERE decision = 'allow' AND reason LIKE 'would be asked, but the guard only watches: %';

-- The event that began the call which this one ends, where calls have no ids; and why the call failed.
ALTER TABLE events ADD COLUMN ends INTEGER;
ALTER TABLE events ADD COLUMN error TEXT;
-- What a tool was given instead of what its agent wanted, where a hook changed it.
ALTER TABLE events ADD COLUMN changed_input TEXT;
CREATE INDEX events_ending ON events (ends) WHERE ends IS NOT NULL;

-- Where an agent was seen to do something else than before, and no event of its own said so.
CREATE TABLE sightings (
  sighting_id    INTEGER PRIMARY KEY,
  agent_id       INTEGER NOT NULL,         -- no reference: each would be looked for when an agent is removed
  after_event    INTEGER NOT NULL,         -- the agent's newest event then; 0 if there was none
  at             INTEGER NOT NULL,
  previous_state TEXT,                     -- nothing if it was seen for the first time
  state          TEXT    NOT NULL,
  source         TEXT    NOT NULL,
  confidence     TEXT    NOT NULL,
  why            TEXT    NOT NULL
);
CREATE INDEX sightings_after_event ON sightings (agent_id, after_event);
CREATE INDEX sightings_by_time ON sightings (at);

-- Tools are looked for by people, who do not mind whether letters are small.
DROP INDEX events_by_tool;
CREATE INDEX events_by_tool ON events (tool COLLATE NOCASE) WHERE tool IS NOT NULL;
