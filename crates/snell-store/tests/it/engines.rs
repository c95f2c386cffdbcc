//! The databases under test. Every test that opens a store passes with each of them.

use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use snell_store::{DatabaseLocation, PostgresAddress, Store};
use snell_test_support::database;
use snell_test_support::postgres::TestServer;

/// Set in a process whose stores are in PostgreSQL.
const ENGINE_VARIABLE: &str = "SNELL_TEST_ENGINE";

/// The modules with tests that open a store.
const MODULES: &[&str] = &[
    "ambiguous_agents::",
    "change_feed::",
    "correlation::",
    "late_events::",
    "log_filter::",
    "log_search::",
    "pane_requests::",
    "projects::",
    "questions::",
    "reconcile::",
    "requests::",
    "rollups::",
    "session_snapshot::",
    "telemetry::",
    "timeline::",
    "tool_calls::",
    "transcript_states::",
    "transitions::",
    "turns::",
    "usage::",
    "workers::",
];

#[test]
fn every_test_of_the_store_passes_with_postgresql() {
    if std::env::var_os(ENGINE_VARIABLE).is_some() || !TestServer::is_available() {
        return;
    }
    let mut tests = Command::new(std::env::current_exe().unwrap());
    // They mostly wait for the server.
    tests.args(["--test-threads", "8"]).args(MODULES).env(ENGINE_VARIABLE, "postgres");
    let output = tests.output().unwrap();
    let report = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{report}{}", String::from_utf8_lossy(&output.stderr));
    let passed = report.lines().last().unwrap_or_default().to_owned() + report.lines().nth_back(1).unwrap_or_default();
    assert!(passed.contains("test result: ok") && !passed.contains(" 0 passed"), "{report}");
}

/// Empties all tables, and lets all ids begin again.
const RESET_SQL: &str = "DO $$ DECLARE item record; BEGIN \
    FOR item IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' \
        AND tablename NOT IN ('schema_version', 'stream_head', 'usage_horizon') LOOP \
        EXECUTE format('DELETE FROM %I', item.tablename); END LOOP; \
    FOR item IN SELECT sequencename FROM pg_sequences WHERE last_value IS NOT NULL LOOP \
        PERFORM setval(item.sequencename::regclass, 1, false); END LOOP; \
    UPDATE stream_head SET last = 0; UPDATE usage_horizon SET summed_to = -9223372036854775808; END $$";

/// A new database of one test.
#[derive(Debug)]
pub enum TestDatabase {
    Sqlite,
    Postgres { server: &'static TestServer, name: String },
}

impl TestDatabase {
    /// A database of the kind that this process tests.
    pub fn new() -> Self {
        if std::env::var_os(ENGINE_VARIABLE).is_some() { Self::new_postgres().unwrap() } else { Self::Sqlite }
    }

    /// A database in PostgreSQL, if that is installed.
    pub fn new_postgres() -> Option<Self> {
        static TEMPLATE: OnceLock<String> = OnceLock::new();
        let server = TestServer::get()?;
        let template = TEMPLATE.get_or_init(|| {
            let template = server.create_database("template0");
            let address: PostgresAddress = server.address_of(&template).parse().unwrap();
            drop(Store::open_at(&address.into()).unwrap());
            template
        });
        Some(Self::Postgres { server, name: server.take_database(template) })
    }

    /// The place of this database, for a test with this directory.
    pub fn location(&self, directory: &Path) -> DatabaseLocation {
        match self {
            Self::Sqlite => directory.join("snell.db").into(),
            Self::Postgres { server, name } => {
                let address: PostgresAddress = server.address_of(name).parse().unwrap();
                address.into()
            }
        }
    }

    /// The first column of a query's result, as another program reads it.
    pub fn query_texts(&self, directory: &Path, sql: &str) -> Vec<String> {
        match self {
            Self::Sqlite => database::query_texts(&directory.join("snell.db"), sql),
            Self::Postgres { server, name } => server.run_sql(name, sql),
        }
    }
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        if let Self::Postgres { server, name } = self {
            server.return_database(std::mem::take(name), RESET_SQL);
        }
    }
}
