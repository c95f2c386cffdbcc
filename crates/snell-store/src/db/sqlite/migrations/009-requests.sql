-- Requests of agents to their user, and answers that Snell gives again.

CREATE TABLE requests (
  request_id     INTEGER PRIMARY KEY,
  uid            TEXT    NOT NULL UNIQUE DEFAULT (lower(hex(randomblob(6)))), -- shown to people; no other request has it
  kind           TEXT    NOT NULL,         -- permission, question
  origin         TEXT    NOT NULL,         -- agent, guard, hook
  channel        TEXT    NOT NULL,         -- reply: a hook waits; pane: the answer is typed into the terminal
  agent_id       INTEGER NOT NULL,         -- no reference: SQLite would check each when an agent is removed
  session_id     TEXT,
  event_id       TEXT,
  tool           TEXT,
  tool_use_id    TEXT,
  title          TEXT    NOT NULL,
  detail         TEXT    NOT NULL,         -- JSON, masked
  opened_at      INTEGER NOT NULL,         -- by the real clock, as all times of this table
  expires_at     INTEGER NOT NULL,
  host           TEXT,
  waiter_pid     INTEGER,
  waiter_started INTEGER,
  status         TEXT    NOT NULL DEFAULT 'open', -- open, answered, expired, withdrawn
  answer         TEXT,                     -- JSON
  answered_by    TEXT,
  answered_from  TEXT,                     -- terminal, page, api, notice
  closed_at      INTEGER,
  closed_reason  TEXT,
  delivered_at   INTEGER                   -- when the agent got the answer
);
CREATE INDEX requests_open ON requests (agent_id) WHERE status = 'open';
CREATE INDEX requests_by_time ON requests (opened_at);

-- Calls that the user allowed for longer than once.
CREATE TABLE remembered_answers (
  remembered_id INTEGER PRIMARY KEY,
  scope         TEXT    NOT NULL,          -- session, project
  scope_key     TEXT    NOT NULL,          -- the session's id, or the project's path
  tool          TEXT    NOT NULL,
  subject       TEXT    NOT NULL,          -- the exact command, path or input
  request_uid   TEXT    NOT NULL,
  created_at    INTEGER NOT NULL,
  until         INTEGER,
  UNIQUE (scope, scope_key, tool, subject)
);
