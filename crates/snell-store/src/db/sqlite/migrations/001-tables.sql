-- The tables of agents, conversations, turns and events.
--
-- Times are whole microseconds since 1970-01-01T00:00:00Z. Texts are masked before they are stored. Words are checked with
-- OR instead of IN: for a list of more than two, SQLite builds a table at every write.

-- A directory of agents.
CREATE TABLE projects (
  project_id INTEGER PRIMARY KEY,
  path       TEXT    NOT NULL UNIQUE,
  name       TEXT    NOT NULL,
  created_at INTEGER NOT NULL
);

-- One running coding agent. It outlives its conversations: a new session in the same pane is the same agent.
CREATE TABLE agents (
  agent_id             INTEGER PRIMARY KEY AUTOINCREMENT, -- never reused: other programs may remember a removed one
  project_id           INTEGER NOT NULL REFERENCES projects,
  product              TEXT,              -- such as claude or gemini
  session_id           TEXT,              -- the agent's own id of its current session
  conversation_id      INTEGER,           -- the current one
  command_id           INTEGER,           -- the current one
  state                TEXT    NOT NULL CHECK (state = 'idle' OR state = 'processing' OR state = 'awaiting_input' OR state = 'ended'),
  state_since          INTEGER NOT NULL,
  state_source         TEXT    NOT NULL CHECK (state_source = 'hook' OR state_source = 'transcript' OR state_source = 'process' OR state_source = 'poll'),
  confidence           TEXT    NOT NULL CHECK (confidence = 'high' OR confidence = 'medium' OR confidence = 'low'),
  why                  TEXT    NOT NULL,
  current_tool         TEXT,
  tmux_session         TEXT,
  tmux_pane            TEXT,
  tmux_server          TEXT,              -- the server's socket: panes of two servers may have the same name
  pid                  INTEGER,
  pid_started          INTEGER,           -- distinguishes processes with the same id
  pid_certain          INTEGER NOT NULL DEFAULT 0, -- whether the agent reported it, or it was seen twice
  host                 TEXT,
  headspace_session_id TEXT,
  context_percent      REAL,
  context_source       TEXT CHECK (context_source = 'statusline' OR context_source = 'transcript'),
  last_words           TEXT,              -- of the agent, or the user's prompt if it is newer
  started_at           INTEGER NOT NULL,
  last_seen_at         INTEGER NOT NULL,
  told_at              INTEGER,           -- the time of the last event that reported a state
  ended_at             INTEGER,
  end_reason           TEXT
);
CREATE INDEX agents_at_work ON agents (project_id) WHERE ended_at IS NULL;
CREATE INDEX agents_by_pane ON agents (tmux_pane) WHERE ended_at IS NULL;
CREATE INDEX agents_by_headspace ON agents (headspace_session_id) WHERE headspace_session_id IS NOT NULL;

-- One conversation. Its session id is the launcher's if there is one, else the agent's own.
CREATE TABLE conversations (
  conversation_id       INTEGER PRIMARY KEY AUTOINCREMENT, -- never reused either
  session_id            TEXT    NOT NULL UNIQUE,
  agent_id              INTEGER NOT NULL REFERENCES agents,
  role                  TEXT,
  mode                  TEXT,
  tmux_pane             TEXT,
  model                 TEXT,
  permission_mode       TEXT,
  mission_execution_id  TEXT,
  context_warning_level INTEGER NOT NULL DEFAULT 0,
  status_text           TEXT,
  started_at            INTEGER NOT NULL,
  last_seen_at          INTEGER NOT NULL,  -- for the agent's current conversation, the agent's own is used
  ended_at              INTEGER,
  end_reason            TEXT
);
CREATE INDEX conversations_of_agent ON conversations (agent_id);
CREATE INDEX conversations_by_pane ON conversations (tmux_pane) WHERE ended_at IS NULL;

-- All ids of a conversation, and the position in its transcript.
CREATE TABLE session_ids (
  session_id      TEXT    PRIMARY KEY,
  conversation_id INTEGER NOT NULL REFERENCES conversations,
  transcript_path TEXT,
  transcript_mark TEXT
) WITHOUT ROWID;
CREATE INDEX session_ids_of_conversation ON session_ids (conversation_id);

-- A task from the user, with its turns.
CREATE TABLE commands (
  command_id      INTEGER PRIMARY KEY,
  agent_id        INTEGER NOT NULL REFERENCES agents,
  conversation_id INTEGER,
  opened_at       INTEGER NOT NULL,
  closed_at       INTEGER
);
CREATE INDEX commands_of_agent ON commands (agent_id);

CREATE TABLE turns (
  turn_id          INTEGER PRIMARY KEY,
  agent_id         INTEGER NOT NULL REFERENCES agents,
  command_id       INTEGER NOT NULL REFERENCES commands,
  actor            TEXT    NOT NULL CHECK (actor = 'USER' OR actor = 'AGENT'),
  intent           TEXT    NOT NULL CHECK (intent = 'command' OR intent = 'answer' OR intent = 'question' OR intent = 'progress' OR intent = 'completion'),
  text             TEXT    NOT NULL,
  timestamp        INTEGER NOT NULL,
  timestamp_source TEXT    NOT NULL CHECK (timestamp_source = 'server' OR timestamp_source = 'jsonl'),
  content_hash     INTEGER NOT NULL      -- of the text without white space: the same text is the same turn
);
CREATE INDEX turns_of_agent ON turns (agent_id, content_hash);
CREATE INDEX turns_of_command ON turns (command_id);

-- Every event, whether or not it changed anything.
CREATE TABLE events (
  id              INTEGER PRIMARY KEY,
  event_id        TEXT    NOT NULL UNIQUE, -- the sender's, or our own; unique, so that a repeated event is stored once
  agent_id        INTEGER NOT NULL REFERENCES agents,
  conversation_id INTEGER,
  name            TEXT    NOT NULL,
  tool            TEXT,
  tool_use_id     TEXT,
  decision        TEXT CHECK (decision = 'allow' OR decision = 'ask' OR decision = 'block'),
  reason          TEXT,
  state           TEXT    NOT NULL,      -- the agent's, after the event
  correlation     TEXT    NOT NULL,      -- how its agent was found
  at              INTEGER NOT NULL,
  took_us         INTEGER                -- the time that the decision took
);
CREATE INDEX events_of_agent ON events (agent_id);
CREATE INDEX events_of_tool_use ON events (tool_use_id, conversation_id, name) WHERE tool_use_id IS NOT NULL;
CREATE INDEX events_decided ON events (decision) WHERE decision IS NOT NULL;

-- The agents' payloads, apart from the rows that are searched.
CREATE TABLE payloads (
  id      INTEGER PRIMARY KEY REFERENCES events ON DELETE CASCADE,
  payload TEXT NOT NULL
);

-- The runs of all hooks that matched an event.
CREATE TABLE hook_runs (
  hook_run_id INTEGER PRIMARY KEY,
  id          INTEGER REFERENCES events ON DELETE CASCADE,
  agent_id    INTEGER,                    -- no reference: SQLite would check each when an agent is removed
  event       TEXT    NOT NULL,
  at          INTEGER NOT NULL,
  contract    TEXT    NOT NULL,
  source      TEXT    NOT NULL,
  line        INTEGER NOT NULL,
  command     TEXT    NOT NULL,
  matcher     TEXT,
  status      TEXT    NOT NULL,
  exit_code   INTEGER,
  signal      INTEGER,
  duration_us INTEGER NOT NULL,
  stdout      TEXT    NOT NULL,
  stderr      TEXT    NOT NULL,
  why         TEXT
);
CREATE INDEX hook_runs_of_event ON hook_runs (id);
CREATE INDEX hook_runs_by_time ON hook_runs (at);
CREATE INDEX hook_runs_under_way ON hook_runs (id) WHERE status = 'started';

-- The guard's verdicts on tool calls.
CREATE TABLE guard_verdicts (
  guard_verdict_id INTEGER PRIMARY KEY,
  id               INTEGER REFERENCES events ON DELETE CASCADE,
  agent_id         INTEGER,
  at               INTEGER NOT NULL,
  decision         TEXT    NOT NULL CHECK (decision = 'allow' OR decision = 'ask' OR decision = 'deny'),
  rule             TEXT    NOT NULL,
  tier             TEXT    NOT NULL,
  reason           TEXT    NOT NULL,
  advice           TEXT
);
CREATE INDEX guard_verdicts_of_event ON guard_verdicts (id);

-- The session of a mission.
CREATE TABLE missions (
  mission_execution_id TEXT PRIMARY KEY,
  session_id           TEXT NOT NULL,
  linked_at            TEXT NOT NULL
) WITHOUT ROWID;

-- Sessions for launchers and dashboards: one row per session id.
CREATE VIEW sessions AS
SELECT
  c.session_id, c.role, c.mode,
  CASE
    WHEN c.ended_at IS NOT NULL THEN 'ended'
    WHEN a.current_tool IS NOT NULL THEN 'tool_active'
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
  c.agent_id, p.path AS project_path, a.context_percent, c.model, c.permission_mode
FROM conversations c JOIN agents a USING (agent_id) JOIN projects p USING (project_id);
