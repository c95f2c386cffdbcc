-- The change feed: watchers read it in this order, and continue where they were.
--
-- An id is never reused, because the newest row is never removed.
CREATE TABLE changes (
  change_id  INTEGER PRIMARY KEY,
  kind       TEXT    NOT NULL,
  agent_id   INTEGER NOT NULL,             -- no references: changes stay when their agent is removed
  project_id INTEGER NOT NULL,
  at         INTEGER NOT NULL,
  data       TEXT    NOT NULL              -- a JSON object, as watchers get it
);

-- All agents of a conversation. Events are found by their agents, because an index by conversation would cost one more
-- write per session.
CREATE TABLE holders (
  conversation_id INTEGER NOT NULL,
  agent_id        INTEGER NOT NULL,
  PRIMARY KEY (conversation_id, agent_id)
) WITHOUT ROWID;
INSERT INTO holders SELECT DISTINCT conversation_id, agent_id FROM events WHERE conversation_id IS NOT NULL;

-- Filters of the lists of events, which stay fast with a million events.
CREATE INDEX events_by_name ON events (name);
CREATE INDEX events_by_tool ON events (tool) WHERE tool IS NOT NULL;
CREATE INDEX events_by_time ON events (at);
CREATE INDEX turns_in_order ON turns (agent_id);
CREATE INDEX guard_verdicts_by_rule ON guard_verdicts (rule);
CREATE INDEX guard_verdicts_of_agent ON guard_verdicts (agent_id);
