-- Changes of agents' states, and blocked calls, that hooks and notices may react to.
CREATE TABLE dispatches (
  dispatch_id INTEGER PRIMARY KEY,
  uid         TEXT    NOT NULL DEFAULT (lower(hex(randomblob(16)))), -- what receivers get, to recognise a repetition
  kind        TEXT    NOT NULL,            -- needs_user, idle, blocked, ended
  agent_id    INTEGER NOT NULL,            -- no references: the agent may be removed first
  at          INTEGER NOT NULL,            -- the time of the change
  text        TEXT    NOT NULL,            -- the reason
  recorded_at INTEGER NOT NULL DEFAULT (CAST(unixepoch('subsec') * 1000000 AS INTEGER)),
  is_planned  INTEGER NOT NULL DEFAULT 0   -- whether its deliveries are known
);
CREATE INDEX dispatches_to_plan ON dispatches (dispatch_id) WHERE is_planned = 0;

-- One row for each target of a change. A process claims it for a while, delivers it and writes the result.
CREATE TABLE deliveries (
  delivery_id   INTEGER PRIMARY KEY,
  dispatch_id   INTEGER NOT NULL REFERENCES dispatches ON DELETE CASCADE,
  target        TEXT    NOT NULL,          -- hooks, desktop, ntfy …
  status        TEXT    NOT NULL DEFAULT 'pending', -- pending, held, sent, skipped, failed
  attempts      INTEGER NOT NULL DEFAULT 0,
  due_at        INTEGER NOT NULL,          -- by the real clock, as all times of this table
  claimed_by    TEXT,
  claimed_until INTEGER,
  detail        TEXT,                      -- why it was skipped, or failed
  finished_at   INTEGER,
  UNIQUE (dispatch_id, target)
);
CREATE INDEX deliveries_to_do ON deliveries (due_at) WHERE status = 'pending' OR status = 'held';
