-- Telemetry for an OpenTelemetry collector. All tables are empty until the user sets an endpoint.

-- How far the record has been read: one row.
CREATE TABLE telemetry_progress (
  telemetry_progress_id INTEGER PRIMARY KEY CHECK (telemetry_progress_id = 1),
  event_row   INTEGER NOT NULL,            -- the last event that was read
  sighting_id INTEGER NOT NULL,            -- the last change of state without an event
  revision    INTEGER NOT NULL DEFAULT 0,  -- of two processes that read the same events, only one can store the result
  started_at  INTEGER NOT NULL,            -- since when metrics are counted, by the real clock
  instance    TEXT    NOT NULL DEFAULT (lower(hex(randomblob(16))))
);

-- The spans of each agent that have begun and not ended, as JSON.
CREATE TABLE telemetry_agents (
  agent_id   INTEGER PRIMARY KEY REFERENCES agents ON DELETE CASCADE,
  open_spans TEXT    NOT NULL
);

-- The spans of background hooks that had not ended when their event was read, as JSON.
CREATE TABLE telemetry_runs (
  hook_run_id INTEGER PRIMARY KEY REFERENCES hook_runs ON DELETE CASCADE,
  span        TEXT    NOT NULL
);

-- Complete spans and log records, each until the collector has accepted it.
CREATE TABLE telemetry_items (
  item_id INTEGER PRIMARY KEY AUTOINCREMENT,
  signal  TEXT    NOT NULL,                -- traces or logs
  host    TEXT,                            -- of the agent
  body    TEXT    NOT NULL                 -- OTLP JSON
);
CREATE INDEX telemetry_items_of_signal ON telemetry_items (signal);

-- Cumulative metrics.
CREATE TABLE telemetry_series (
  metric     TEXT    NOT NULL,
  attributes TEXT    NOT NULL,             -- OTLP JSON
  count      INTEGER NOT NULL,
  total      REAL    NOT NULL,
  buckets    TEXT    NOT NULL,             -- counts of a histogram, as JSON
  PRIMARY KEY (metric, attributes)
) WITHOUT ROWID;

-- What was sent. One process at a time sends a signal.
CREATE TABLE telemetry_signals (
  signal        TEXT    PRIMARY KEY,       -- traces, logs or metrics
  claimed_by    TEXT,
  claimed_until INTEGER,                   -- by the real clock, as all times of this table
  due_at        INTEGER NOT NULL DEFAULT 0,
  failures      INTEGER NOT NULL DEFAULT 0, -- since the last success
  sent          INTEGER NOT NULL DEFAULT 0,
  refused       INTEGER NOT NULL DEFAULT 0, -- by the collector
  dropped       INTEGER NOT NULL DEFAULT 0, -- because too many waited
  sent_at       INTEGER,
  problem       TEXT                       -- of the last request that was not wholly accepted
) WITHOUT ROWID;
