-- What changed, for those who watch: told in this order, and read on from wherever a watcher was.
--
-- A number is never given twice, because the newest row is never removed.
CREATE TABLE changes (
  change_id  INTEGER PRIMARY KEY,
  kind       TEXT    NOT NULL,
  agent_id   INTEGER NOT NULL,             -- no references: what is told stays told when its agent is removed
  project_id INTEGER NOT NULL,
  at         INTEGER NOT NULL,
  data       TEXT    NOT NULL              -- a JSON object, as watchers get it
);

-- Every agent that has held a conversation. Events are found by their agents: an index by conversation would be one more
-- that is written in another place for every session.
CREATE TABLE holders (
  conversation_id INTEGER NOT NULL,
  agent_id        INTEGER NOT NULL,
  PRIMARY KEY (conversation_id, agent_id)
) WITHOUT ROWID;
INSERT INTO holders SELECT DISTINCT conversation_id, agent_id FROM events WHERE conversation_id IS NOT NULL;

-- Lists of events are filtered by these, and stay fast when there are a million.
CREATE INDEX events_by_name ON events (name);
CREATE INDEX events_by_tool ON events (tool) WHERE tool IS NOT NULL;
CREATE INDEX events_by_time ON events (at);
CREATE INDEX turns_in_order ON turns (agent_id);
CREATE INDEX guard_verdicts_by_rule ON guard_verdicts (rule);
CREATE INDEX guard_verdicts_of_agent ON guard_verdicts (agent_id);
