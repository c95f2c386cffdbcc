-- Hourly counts: a page that shows a day must not read every run and every verdict of it.

-- All hooks that ran.
CREATE TABLE hooks (
  hook_id  INTEGER PRIMARY KEY,
  contract TEXT    NOT NULL,
  source   TEXT    NOT NULL,
  line     INTEGER NOT NULL,
  command  TEXT    NOT NULL,
  UNIQUE (source, line, command, contract)
);

-- The runs of each hook in an hour.
CREATE TABLE hook_hours (
  hour      INTEGER NOT NULL,             -- since 1970-01-01T00:00:00Z
  hook_id   INTEGER NOT NULL,
  runs      INTEGER NOT NULL,
  failures  INTEGER NOT NULL,
  timeouts  INTEGER NOT NULL,
  blocks    INTEGER NOT NULL,
  total_us  INTEGER NOT NULL,
  max_us    INTEGER NOT NULL,
  last_at   INTEGER NOT NULL,
  durations TEXT    NOT NULL,             -- 'from:runs:total …': runs that took this many microseconds, or up to a quarter more
  PRIMARY KEY (hour, hook_id)
) WITHOUT ROWID;

-- The guard's verdicts in an hour.
CREATE TABLE guard_hours (
  hour     INTEGER NOT NULL,
  rule     TEXT    NOT NULL,
  tier     TEXT    NOT NULL,
  outcome  TEXT    NOT NULL,              -- more than the decision: the guard may only audit
  verdicts INTEGER NOT NULL,
  last_at  INTEGER NOT NULL,
  PRIMARY KEY (hour, rule, tier, outcome)
) WITHOUT ROWID;
CREATE INDEX guard_verdicts_by_tier ON guard_verdicts (tier);
CREATE INDEX guard_verdicts_by_decision ON guard_verdicts (decision);

-- Counts of older rows. An agent may wait for this migration, so only the newest rows are counted.
INSERT INTO hooks (contract, source, line, command)
SELECT DISTINCT contract, source, line, command
FROM (SELECT * FROM hook_runs ORDER BY hook_run_id DESC LIMIT 50000)
WHERE status NOT IN ('skipped', 'started');

WITH RECURSIVE powers (power) AS (SELECT 4 UNION ALL SELECT power * 2 FROM powers WHERE power < 1 << 40)
INSERT INTO hook_hours
SELECT
  floor_hour, hook_id, sum(runs), sum(failures), sum(timeouts), sum(blocks), sum(total_us), max(max_us), max(last_at),
  group_concat(from_us || ':' || runs || ':' || total_us, ' ' ORDER BY from_us)
FROM (
  SELECT
    floor_hour, hook_id, us - us % max(1, coalesce((SELECT max(power) FROM powers WHERE power <= us), 0) / 4) AS from_us,
    count(*) AS runs, sum(status = 'failed') AS failures, sum(status = 'timed_out') AS timeouts,
    sum(status = 'blocked') AS blocks, sum(us) AS total_us, max(us) AS max_us, max(at) AS last_at
  FROM (
    SELECT
      (at - ((at % 3600000000) + 3600000000) % 3600000000) / 3600000000 AS floor_hour,
      hook_id, status, at, max(0, min(duration_us, 1000000000000)) AS us
    FROM (SELECT * FROM hook_runs ORDER BY hook_run_id DESC LIMIT 50000) JOIN hooks USING (source, line, command, contract)
    WHERE status NOT IN ('skipped', 'started')
  )
  GROUP BY 1, 2, 3
)
GROUP BY 1, 2;

INSERT INTO guard_hours
SELECT
  (at - ((at % 3600000000) + 3600000000) % 3600000000) / 3600000000, rule, tier,
  CASE
    WHEN decision = 'allow' AND reason LIKE 'would be denied, but the guard only watches: %' THEN 'would_deny'
    WHEN decision = 'allow' AND reason LIKE 'would be asked, but the guard only watches: %' THEN 'would_ask'
    ELSE decision
  END,
  count(*), max(at)
FROM (SELECT * FROM guard_verdicts ORDER BY guard_verdict_id DESC LIMIT 50000)
GROUP BY 1, 2, 3, 4;
