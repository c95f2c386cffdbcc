//! The database of a team: PostgreSQL 15 or later, written by any number of receivers at once.
//!
//! A transaction first locks the machines of its events: all that correlates two events belongs to one machine. It
//! collects its writes and sends them together, and takes the numbers of its changes as its last step, so that watchers
//! see changes in the order of commits.

mod address;
mod agent_rows;
mod conversation_rows;
mod dispatches;
mod listener;
mod live_queries;
mod log;
mod log_search;
mod prefetch;
mod prune;
mod queries;
mod requests;
mod rollups;
mod rows;
mod session;
mod sessions;
mod sightings;
mod telemetry;
mod timeline;
mod tls;
mod tool_calls;
mod transaction;
mod usage;
mod values;
mod worker_rows;
mod write_buffer;

use std::path::Path;

use snell::Timestamp;
use tokio_postgres::error::SqlState;

pub use self::address::PostgresAddress;
pub(crate) use self::listener::ChangeListener;
use self::prefetch::BatchPrefetch;
use self::session::{OpenTransaction, Session, SqlStatement};
use self::transaction::{PostgresTransaction, WriterMemory};
use self::values::values;
use crate::db::backend::{Backend, CheckpointMode, RemovedFile, TransactionSubject};
use crate::db::columns::FromColumns;
use crate::db::dispatches::DispatchTable;
use crate::db::rows::Rows;
use crate::db::telemetry::TelemetryTable;
use crate::db::usage::UsageTable;
use crate::error::{Result, StoreError};
use crate::views::query_types::PruneCounts;

/// All changes to the schema, in order. The table `schema_version` has the number of those that were made.
const MIGRATIONS: &[&str] = &[include_str!("migrations/001-tables.sql")];

/// The earliest supported version of the server.
const MIN_SERVER_VERSION: i64 = 150_000;

/// The advisory locks, which are Snell's own in its database.
const MIGRATION_LOCK: i64 = 0x534E_454C_4C00;
const MACHINES_LOCK: i64 = 0x534E_454C_4C01;
const SENDERS_LOCK: i64 = 0x534E_454C_4C02;

/// An open database.
pub(crate) struct PostgresDatabase {
    session: Session,
    memory: WriterMemory,
}

impl PostgresDatabase {
    /// Opens the database, and creates its tables if they are missing.
    pub(crate) fn open(address: &PostgresAddress) -> Result<Self> {
        let session = Session::open(address.clone())?;
        check_server(&session)?;
        if read_schema_version(&session)? < latest_version() {
            migrate(&session)?;
        }
        Ok(Self { session, memory: WriterMemory::default() })
    }

    /// Opens a database that has tables; they are not created or changed.
    pub(crate) fn open_read_only(address: &PostgresAddress) -> Result<Self> {
        let session = Session::open(address.clone())?;
        session.run_script("SET default_transaction_read_only = on")?;
        check_server(&session)?;
        match read_schema_version(&session)? {
            0 => Err(StoreError::Database("the database has no tables of Snell".into())),
            _ => Ok(Self { session, memory: WriterMemory::default() }),
        }
    }

    /// Begins a transaction that no other of the same kind runs beside.
    fn begin_alone(&self, lock: i64) -> Result<OpenTransaction<'_>> {
        let lock = SqlStatement::new("SELECT pg_advisory_xact_lock($1)", values![lock]);
        Ok(self.session.begin(vec![SqlStatement::new("BEGIN", Vec::new()), lock])?.0)
    }
}

fn latest_version() -> i64 {
    i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX)
}

fn check_server(session: &Session) -> Result<()> {
    let sql = "SELECT current_setting('server_version_num')::bigint, current_setting('server_encoding')";
    let (version, encoding): (i64, String) = session.query_value(sql, values![])?;
    if version < MIN_SERVER_VERSION {
        let (found, least) = (version / 10_000, MIN_SERVER_VERSION / 10_000);
        return Err(StoreError::Database(format!("PostgreSQL {found} is too old; version {least} or later is needed")));
    }
    if encoding != "UTF8" {
        return Err(StoreError::Database(format!("the database has the encoding {encoding}, but UTF8 is needed")));
    }
    Ok(())
}

/// The number of migrations that were made; 0 without tables.
fn read_schema_version(session: &Session) -> Result<i64> {
    let has_table: bool = session.query_value("SELECT to_regclass('schema_version') IS NOT NULL", values![])?;
    if !has_table {
        return Ok(0);
    }
    let found = session.query_value("SELECT coalesce(max(version), 0) FROM schema_version", values![])?;
    let known = latest_version();
    if found > known { Err(StoreError::TooNew { found, known }) } else { Ok(found) }
}

/// Migrates the schema, all in one transaction. If several processes try, one of them does it.
fn migrate(session: &Session) -> Result<()> {
    let lock = SqlStatement::new("SELECT pg_advisory_xact_lock($1)", values![MIGRATION_LOCK]);
    let (transaction, _) = session.begin(vec![SqlStatement::new("BEGIN", Vec::new()), lock])?;
    let done = usize::try_from(read_schema_version(&transaction)?).unwrap_or(0);
    if done == 0 {
        transaction.run_script("CREATE TABLE schema_version (version bigint PRIMARY KEY)")?;
    }
    for (number, migration) in (1_i64..).zip(MIGRATIONS).skip(done) {
        transaction.run_script(migration)?;
        transaction.run("INSERT INTO schema_version VALUES ($1)", values![number])?;
    }
    transaction.commit(Vec::new())
}

impl Backend for PostgresDatabase {
    fn write_transaction(
        &mut self,
        subject: TransactionSubject<'_>,
        work: &mut dyn FnMut(&mut dyn Rows) -> Result<()>,
    ) -> Result<()> {
        let Self { session, memory } = self;
        let written = write_rows(session, memory, subject, work);
        if written.is_err() {
            // The database may not have what this process remembers of it.
            *memory = WriterMemory::default();
        }
        written
    }

    fn read_transaction(&mut self, work: &mut dyn FnMut(&mut dyn Rows) -> Result<()>) -> Result<()> {
        let begin = SqlStatement::new("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", Vec::new());
        let (transaction, _) = self.session.begin(vec![begin])?;
        let mut rows = PostgresTransaction::new_read_only(&transaction, &mut self.memory);
        work(&mut rows)?;
        transaction.commit(Vec::new())
    }

    fn prune_batch(&mut self, before: Timestamp, at_most: u32) -> Result<PruneCounts> {
        self.memory = WriterMemory::default();
        self.delete_old_rows(before, at_most)
    }

    fn trim_changes(&mut self, keep: u32) -> Result<()> {
        self.delete_oldest_changes(keep)
    }

    fn checkpoint(&mut self, _: CheckpointMode) -> Result<bool> {
        // The server does this by itself.
        Ok(true)
    }

    fn dispatches(&mut self) -> &mut dyn DispatchTable {
        self
    }

    fn usage(&mut self) -> &mut dyn UsageTable {
        self
    }

    fn telemetry(&mut self) -> &mut dyn TelemetryTable {
        self
    }

    fn database_file(&self) -> Option<(&Path, u64)> {
        None
    }

    fn has_intact_files(&self) -> bool {
        true
    }

    fn recover_removed_file(&mut self) -> Result<RemovedFile> {
        Err(StoreError::Locked)
    }
}

/// Locks the machines, or all of them if none is named, does the work, and commits.
fn write_rows(
    session: &Session,
    memory: &mut WriterMemory,
    subject: TransactionSubject<'_>,
    work: &mut dyn FnMut(&mut dyn Rows) -> Result<()>,
) -> Result<()> {
    let prefetch = BatchPrefetch::new(subject.events, memory);
    let mut first = lock_machines(subject.machines);
    let locked = first.len();
    first.extend(prefetch.first_statements());
    let (transaction, mut answers) = session.begin(first)?;
    let prefetched = answers.split_off(locked);
    let versions: Result<Vec<(String, i64)>> =
        answers.last().into_iter().flatten().map(FromColumns::from_row).collect();
    let other_writes = memory.follow_versions(versions?);
    let mut rows = PostgresTransaction::new(&transaction, memory, other_writes);
    prefetch.read_into(&mut rows, prefetched)?;
    work(&mut rows)?;
    let (last, has_changes) = rows.finish()?;
    // Listeners are notified after the commit: all commits with notifications wait for each other.
    transaction.commit_and_then(last, has_changes.then_some(listener::NOTIFY_CHANGES))
}

/// A transaction that writes looks up rows by their keys only. The server's statistics of a table lag behind while it
/// grows, so it must not choose plans that read whole tables.
const KEYED_PLANS: &str = "SELECT set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true), \
    set_config('enable_mergejoin', 'off', true)";

/// The first statements of a transaction. The last of them returns the machines' versions.
fn lock_machines(machines: &[&str]) -> Vec<SqlStatement> {
    let mut names: Vec<_> = machines.iter().map(|name| values::SqlValue::Text((*name).to_owned())).collect();
    let begin = SqlStatement::new("BEGIN", Vec::new());
    let settings = SqlStatement::new(KEYED_PLANS, Vec::new());
    if names.is_empty() {
        let lock = SqlStatement::new("SELECT pg_advisory_xact_lock($1)", values![MACHINES_LOCK]);
        let sql = "UPDATE machines SET version = version + 1 RETURNING machine_id, version";
        return vec![begin, settings, lock, SqlStatement::new(sql, Vec::new())];
    }
    // In one order, so that two transactions never wait for each other.
    names.sort_by_key(|name| format!("{name:?}"));
    names.dedup();
    let lock = SqlStatement::new("SELECT pg_advisory_xact_lock_shared($1)", values![MACHINES_LOCK]);
    let sql = "INSERT INTO machines (machine_id, version) SELECT *, 1 FROM unnest($1::text[]) \
        ON CONFLICT (machine_id) DO UPDATE SET version = machines.version + 1 RETURNING machine_id, version";
    vec![begin, settings, lock, SqlStatement::new(sql, vec![values::SqlValue::List(names)])]
}

impl From<tokio_postgres::Error> for StoreError {
    fn from(error: tokio_postgres::Error) -> Self {
        let Some(refusal) = error.as_db_error() else {
            // Without an answer of the server, the connection is lost or could not be opened.
            return Self::Unreachable(crate::error::format_error_chain(&error));
        };
        let message = refusal.message().to_owned();
        let code = refusal.code();
        match code.code().get(..2) {
            _ if [&SqlState::T_R_SERIALIZATION_FAILURE, &SqlState::T_R_DEADLOCK_DETECTED].contains(&code) => {
                Self::Conflict(message)
            }
            _ if *code == SqlState::UNIQUE_VIOLATION => Self::DuplicateKey(message),
            _ if *code == SqlState::DISK_FULL => Self::Disk(message),
            _ if [&SqlState::LOCK_NOT_AVAILABLE, &SqlState::TOO_MANY_CONNECTIONS].contains(&code) => Self::Locked,
            // The server shuts down, or a standby cannot write.
            Some("57" | "08" | "25") => Self::Unreachable(message),
            Some("22" | "23" | "54") => Self::Refused(message),
            Some("XX") => Self::Database(format!("internal error of PostgreSQL: {message}")),
            _ => Self::Database(message),
        }
    }
}
