//! How long each view takes with a million events. It prints figures and judges nothing: `docs/performance.md` says how to
//! run it.

use std::time::{Duration, Instant};

use snell_store::Store;
use tempfile::tempdir;

use crate::support::TestApp;

const MANY: i64 = 1_000_000;

/// A million events of 200 agents within 30 days; every one with a run of one of 40 hooks, every tenth with a verdict.
const FILL: &str = "
    INSERT INTO projects SELECT value, '/p/' || value, 'project ' || value, 0 FROM numbers WHERE value <= 50;
    INSERT INTO agents (agent_id, project_id, conversation_id, state, state_since, state_source, confidence, why, started_at,
        last_seen_at)
      SELECT value, 1 + value % 50, value, 'processing', 0, 'hook', 'high', 'why', 0, 0 FROM numbers WHERE value <= 200;
    INSERT INTO conversations (conversation_id, session_id, agent_id, started_at, last_seen_at)
      SELECT value, 'session-' || value, value, 0, 0 FROM numbers WHERE value <= 200;
    INSERT INTO session_ids SELECT 'session-' || value, value, NULL, NULL FROM numbers WHERE value <= 200;
    INSERT INTO holders SELECT value, value FROM numbers WHERE value <= 200;
    INSERT INTO events (id, event_id, agent_id, conversation_id, name, tool, decision, reason, state, correlation, at, took_us,
        tool_summary)
      SELECT value, 'e' || value, 1 + value % 200, 1 + value % 200,
        CASE value % 5 WHEN 0 THEN 'UserPromptSubmit' WHEN 1 THEN 'Stop' WHEN 2 THEN 'PostToolUse' ELSE 'PreToolUse' END,
        CASE WHEN value % 5 > 1 THEN CASE value % 3 WHEN 0 THEN 'Edit' ELSE 'Bash' END END,
        CASE WHEN value % 50 = 3 THEN 'block' END, CASE WHEN value % 50 = 3 THEN 'because' END, 'processing', 'session_id',
        :now - (:many - value) * :every, 900, 'cargo test --all ' || value
      FROM numbers;
    INSERT INTO payloads SELECT value, json_object('session_id', 'session-' || (1 + value % 200), 'prompt', 'Do number ' || value,
        'tool_input', json_object('command', 'cargo test --all ' || value, 'text', hex(zeroblob(250)))) FROM numbers;
    INSERT INTO hook_runs (id, agent_id, event, at, contract, source, line, command, status, duration_us, stdout, stderr)
      SELECT value, 1 + value % 200, 'PreToolUse', :now - (:many - value) * :every, 'claude', '/home/me/.claude/settings.json',
        value % 40, 'hook-' || (value % 40) || '.sh --check', CASE WHEN value % 97 = 0 THEN 'failed' ELSE 'ok' END,
        500 + (value * 7919) % 40000, '', '' FROM numbers;
    INSERT INTO guard_verdicts (id, agent_id, at, decision, rule, tier, reason, advice)
      SELECT value, 1 + value % 200, :now - (:many - value) * :every, CASE WHEN value % 20 = 0 THEN 'ask' ELSE 'deny' END,
        'rule-' || (value % 70), 'tier ' || (value % 4), 'it is not good', 'do something else' FROM numbers
      WHERE value % 10 = 0;
    INSERT INTO hooks (contract, source, line, command) SELECT DISTINCT contract, source, line, command FROM hook_runs;
    INSERT INTO hook_hours
      SELECT hour, hook_id, sum(runs), sum(failed), 0, 0, sum(total), max(longest), max(last),
        group_concat(from_us || ':' || runs || ':' || total, ' ')
      FROM (SELECT at / 3600000000 AS hour, hook_id, duration_us / 2000 * 2000 AS from_us, count(*) AS runs,
          sum(status = 'failed') AS failed, sum(duration_us) AS total, max(duration_us) AS longest, max(at) AS last
        FROM hook_runs JOIN hooks USING (source, line, command, contract) GROUP BY 1, 2, 3) GROUP BY 1, 2;
    INSERT INTO guard_hours SELECT at / 3600000000, rule, tier, decision, count(*), max(at) FROM guard_verdicts GROUP BY 1, 2, 3, 4;
";

const VIEWS: &[&str] = &[
    "/",
    "/agents/7",
    "/logging",
    "/logging?before=500000",
    "/logging?agent_id=7",
    "/logging?project_id=3",
    "/logging?session_id=session-77",
    "/logging?event=Stop&tool=&decision=",
    "/logging?decision=block",
    "/logging?since=1h",
    "/logging?since=2d&tool=Edit&decision=ask",
    "/logging?until=20d",
    "/logging?q=number+999",
    "/logging?q=no+such+text",
    "/logging?q=no+such+text&project_id=3",
    "/logging/500000",
    "/fragments/receiver",
    "/fragments/log/new?after=999990",
    "/hooks",
    "/hooks?hook=3",
    "/hooks?period=month",
    "/api/hooks",
    "/api/hooks?since=30d",
    "/guard",
    "/guard?period=day&rule=rule-30",
    "/guard?tier=tier+2&decision=ask",
    "/guard?before=50000",
];

#[test]
#[ignore = "it fills a database with a million events, and prints how long each view takes"]
fn each_view_with_a_million_events() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("snell.db");
    drop(Store::open(&path).unwrap());
    fill(&path);
    let app = TestApp::with(|settings| settings.database = Some(path.clone()));
    for view in VIEWS {
        let mut times: Vec<Duration> = (0..20)
            .map(|_| {
                let began = Instant::now();
                let answer = app.get(view);
                assert_eq!(answer.status, 200, "{view}: {}", answer.body);
                began.elapsed()
            })
            .collect();
        times.sort_unstable();
        let ms = |time: Duration| time.as_secs_f64() * 1000.0;
        let line = format!(
            "  {view:<56} p50 {:.1} ms, longest {:.1} ms\n",
            ms(times[10]),
            ms(times[19])
        );
        std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes()).unwrap();
    }
}

fn fill(path: &std::path::Path) {
    let connection = rusqlite::Connection::open(path).unwrap();
    let now = now_us();
    let every = 30 * 24 * 3_600_000_000 / MANY;
    connection
        .execute_batch(&format!(
            "PRAGMA synchronous = off; CREATE TEMP TABLE numbers (value INTEGER PRIMARY KEY); BEGIN;
             WITH RECURSIVE up (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM up WHERE value < {MANY})
             INSERT INTO numbers SELECT value FROM up;"
        ))
        .unwrap();
    let fill = FILL
        .replace(":now", &now.to_string())
        .replace(":many", &MANY.to_string());
    connection
        .execute_batch(&fill.replace(":every", &every.to_string()))
        .unwrap();
    connection.execute_batch("COMMIT").unwrap();
}

/// Microseconds since 1970.
fn now_us() -> i64 {
    let since = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
    i64::try_from(since.as_micros()).unwrap()
}
