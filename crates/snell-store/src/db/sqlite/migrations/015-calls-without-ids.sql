-- The calls of tools without ids that have begun and not ended, so that an end need not search for its start.
CREATE TABLE calls_without_ids (
  id       INTEGER PRIMARY KEY REFERENCES events ON DELETE CASCADE, -- the event that began it
  agent_id INTEGER NOT NULL,
  tool     TEXT    NOT NULL
);
CREATE INDEX calls_without_ids_of_agent ON calls_without_ids (agent_id, tool);

-- An agent may wait for this migration, so only the newest events are searched.
INSERT INTO calls_without_ids
SELECT id, agent_id, tool FROM (SELECT * FROM events ORDER BY id DESC LIMIT 1000) e
WHERE name = 'PreToolUse' AND tool IS NOT NULL AND tool_use_id IS NULL AND decision IS NOT 'block'
  AND NOT EXISTS (SELECT 1 FROM events z WHERE z.ends = e.id);
