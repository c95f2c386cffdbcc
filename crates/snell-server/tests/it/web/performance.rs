//! The duration of each view with a million events. It only prints numbers; `docs/internals/performance.md` describes
//! how to run it.

use std::time::{Duration, Instant};

use snell_store::Store;
use tempfile::tempdir;

use crate::support::TestApp;

const MANY: i64 = 1_000_000;

/// A million events of 200 agents.
const FILL: &str = include_str!("million.sql");

const VIEWS: &[&str] = &[
    "/",
    "/agents/7",
    "/agents/7?states=1",
    "/agents/7?hooks=1&before=e500000t-",
    "/logging",
    "/logging?before=500000",
    "/logging?agent_id=7",
    "/logging?project_id=3",
    "/logging?session_id=session-77",
    "/logging?event=Stop&tool=&decision=",
    "/logging?decision=block",
    "/logging?tool=edit",
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
    "/guard?agent_id=11",
];

#[test]
#[ignore = "it fills a database with a million events, and prints how long each view takes"]
fn each_view_with_a_million_events() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("snell.db");
    drop(Store::open(&path).unwrap());
    fill_database(&path);
    let app = TestApp::with_settings(|settings| settings.database = Some(path.clone().into()));
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
        let line = format!("  {view:<56} p50 {:.1} ms, longest {:.1} ms\n", ms(times[10]), ms(times[19]));
        std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes()).unwrap();
    }
}

fn fill_database(path: &std::path::Path) {
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
    let fill = FILL.replace(":now", &now.to_string()).replace(":many", &MANY.to_string());
    connection.execute_batch(&fill.replace(":every", &every.to_string())).unwrap();
    connection.execute_batch("COMMIT").unwrap();
}

/// Microseconds since 1970.
fn now_us() -> i64 {
    let since = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
    i64::try_from(since.as_micros()).unwrap()
}
