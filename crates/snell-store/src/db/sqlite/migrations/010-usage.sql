-- The tokens of requests to models: from transcripts, and from agents that export them.

CREATE TABLE usage_requests (
  request_key    TEXT    PRIMARY KEY,       -- the same request has the same key in every file
  product        TEXT    NOT NULL,
  request_id     TEXT,                      -- the API's own id
  session_id     TEXT    NOT NULL,          -- empty if unknown, as model and project
  at             INTEGER NOT NULL,
  model          TEXT    NOT NULL,
  project        TEXT    NOT NULL,          -- the path
  source_rank    INTEGER NOT NULL,          -- a session's rows count only if none of them has a lower rank
  requests       INTEGER NOT NULL,
  input          INTEGER NOT NULL,          -- not from a cache
  output         INTEGER NOT NULL,
  cache_read     INTEGER NOT NULL,
  cache_write    INTEGER NOT NULL,
  cache_write_1h INTEGER NOT NULL,          -- the part of `cache_write` that is kept for an hour
  cost_usd       REAL                       -- as the agent reports it
);
CREATE INDEX usage_requests_by_time ON usage_requests (at);
CREATE INDEX usage_requests_of_session ON usage_requests (session_id, source_rank);
CREATE INDEX usage_requests_by_id ON usage_requests (request_id) WHERE request_id IS NOT NULL;

-- When a session's turns began. A request belongs to the last turn before it.
CREATE TABLE usage_turns (
  session_id TEXT    NOT NULL,
  turn_key   TEXT    NOT NULL,
  started_at INTEGER NOT NULL,
  PRIMARY KEY (session_id, turn_key)
) WITHOUT ROWID;
CREATE INDEX usage_turns_in_order ON usage_turns (session_id, started_at);

-- The position in each file.
CREATE TABLE usage_files (
  path     TEXT PRIMARY KEY,
  position TEXT NOT NULL,
  state    TEXT NOT NULL                    -- JSON: the session, directory, model and totals of earlier lines
) WITHOUT ROWID;

-- Sums of older requests, per quarter of an hour: all time zones are multiples of it.
CREATE TABLE usage_sums (
  slot           INTEGER NOT NULL,          -- quarters of an hour since 1970-01-01T00:00:00Z
  product        TEXT    NOT NULL,
  project        TEXT    NOT NULL,
  model          TEXT    NOT NULL,
  is_long        INTEGER NOT NULL,          -- whether the requests had a long context, which may cost more
  requests       INTEGER NOT NULL,
  input          INTEGER NOT NULL,
  output         INTEGER NOT NULL,
  cache_read     INTEGER NOT NULL,
  cache_write    INTEGER NOT NULL,
  cache_write_1h INTEGER NOT NULL,
  cost_usd       REAL    NOT NULL,
  costed         INTEGER NOT NULL,          -- how many of the requests have a reported cost
  PRIMARY KEY (slot, product, project, model, is_long)
) WITHOUT ROWID;

-- Requests before this time are in `usage_sums`, and are not counted again.
CREATE TABLE usage_horizon (
  only_row  INTEGER PRIMARY KEY CHECK (only_row = 1),
  summed_to INTEGER NOT NULL
);
INSERT INTO usage_horizon VALUES (1, -9223372036854775808);
