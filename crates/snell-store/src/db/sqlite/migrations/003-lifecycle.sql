-- Reminders to a session's agent, its own reports, and its workers.

-- `context_warning_level` is the highest threshold, in percent, that a reminder at a stop named.
ALTER TABLE conversations ADD COLUMN prompt_warning_level INTEGER NOT NULL DEFAULT 0; -- the same, with a prompt
ALTER TABLE conversations ADD COLUMN status_set_at INTEGER;
ALTER TABLE conversations ADD COLUMN status_reminded INTEGER NOT NULL DEFAULT 0;
ALTER TABLE conversations ADD COLUMN pinged_at INTEGER;
ALTER TABLE conversations ADD COLUMN ping_reminded INTEGER NOT NULL DEFAULT 0;

-- The size of its context in tokens, if the user set it.
ALTER TABLE agents ADD COLUMN context_window INTEGER;

-- The summary of a tool call, and its duration.
ALTER TABLE events ADD COLUMN tool_summary TEXT;
ALTER TABLE events ADD COLUMN tool_us INTEGER;

-- Work that an agent has started and does not wait for: sub-agents, background tasks, and others.
CREATE TABLE workers (
  worker_id       INTEGER PRIMARY KEY,
  conversation_id INTEGER NOT NULL REFERENCES conversations ON DELETE CASCADE,
  kind            TEXT    NOT NULL CHECK (kind = 'subagent' OR kind = 'task' OR kind = 'other'),
  name            TEXT    NOT NULL,        -- an id, or a name from the user
  label           TEXT,                    -- a short description
  status          TEXT    NOT NULL CHECK (status = 'running' OR status = 'done' OR status = 'failed'),
  in_background   INTEGER NOT NULL DEFAULT 0, -- whether its agent lists it while it runs
  started_at      INTEGER,
  finished_at     INTEGER,
  summary         TEXT,                    -- its last message, or another summary
  reported_at     INTEGER                  -- the time of the report to its agent
);
CREATE INDEX workers_of_conversation ON workers (conversation_id, kind, name);

-- A background session is not followed from tool to tool.
DROP VIEW sessions;
CREATE VIEW sessions AS
SELECT
  c.session_id, c.role, c.mode,
  CASE
    WHEN c.ended_at IS NOT NULL THEN 'ended'
    WHEN a.current_tool IS NOT NULL AND c.mode IS NOT 'background' THEN 'tool_active'
    WHEN a.state = 'processing' THEN 'active'
    ELSE 'idle'
  END AS current_state,
  strftime(
    '%Y-%m-%dT%H:%M:%fZ',
    CASE WHEN a.conversation_id = c.conversation_id THEN a.last_seen_at ELSE c.last_seen_at END / 1e6,
    'unixepoch'
  ) AS last_seen_at,
  strftime('%Y-%m-%dT%H:%M:%fZ', c.ended_at / 1e6, 'unixepoch') AS ended_at,
  c.end_reason, c.tmux_pane, c.context_warning_level, c.mission_execution_id, c.status_text,
  strftime('%Y-%m-%dT%H:%M:%fZ', c.started_at / 1e6, 'unixepoch') AS started_at,
  c.agent_id, p.path AS project_path,
  CASE WHEN a.conversation_id = c.conversation_id THEN a.context_percent END AS context_percent,
  c.model, c.permission_mode,
  strftime('%Y-%m-%dT%H:%M:%fZ', c.status_set_at / 1e6, 'unixepoch') AS status_set_at,
  strftime('%Y-%m-%dT%H:%M:%fZ', c.pinged_at / 1e6, 'unixepoch') AS pinged_at,
  CASE WHEN a.conversation_id = c.conversation_id THEN a.current_tool END AS current_tool
FROM conversations c JOIN agents a USING (agent_id) JOIN projects p USING (project_id);
