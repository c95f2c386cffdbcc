//! One connection to PostgreSQL, used by one thread. Statements are prepared once, and many are sent at a time.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::Poll;

use tokio::runtime::{Builder, Runtime};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Row, Statement};

use super::address::PostgresAddress;
use super::values::SqlValue;
use crate::db::columns::{FromColumns, SelectedRow};
use crate::error::{Result, StoreError};

/// So many statements stay prepared. Most are constant; those of filters differ.
const MAX_PREPARED: usize = 512;

/// Waits longer than these end with an error, so that no thread hangs: for a lock, for one statement, and for the next
/// statement of a transaction. Compiling a statement takes 50 ms, and none runs for so
/// long. Each is planned for the tables as they are: a plan for empty tables is kept long after they have grown.
const SETTINGS: &str = "SET lock_timeout = '15s'; SET statement_timeout = '60s'; \
    SET idle_in_transaction_session_timeout = '60s'; SET jit = off; SET plan_cache_mode = force_custom_plan; SET client_min_messages = warning";

/// A statement with its values.
#[derive(Clone, Debug)]
pub(super) struct SqlStatement {
    pub(super) sql: Rc<str>,
    pub(super) values: Vec<SqlValue>,
}

impl SqlStatement {
    pub(super) fn new(sql: &str, values: Vec<SqlValue>) -> Self {
        Self { sql: sql.into(), values }
    }
}

/// The connection, and what is prepared on it.
struct LiveConnection {
    client: Client,
    prepared: HashMap<String, Statement>,
}

/// A connection that is opened on first use, and again if it was lost outside of a transaction.
pub(super) struct Session {
    address: PostgresAddress,
    /// Taken when this is dropped.
    runtime: Option<Runtime>,
    live: RefCell<Option<LiveConnection>>,
    is_in_transaction: Cell<bool>,
}

impl Session {
    /// Connects.
    pub(super) fn open(address: PostgresAddress) -> Result<Self> {
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| StoreError::Database(format!("cannot start a runtime: {error}")))?;
        let session =
            Self { address, runtime: Some(runtime), live: RefCell::default(), is_in_transaction: Cell::new(false) };
        session.connect_if_lost()?;
        Ok(session)
    }

    fn block_on<F: Future>(&self, future: F) -> F::Output {
        match &self.runtime {
            Some(runtime) => runtime.block_on(future),
            None => unreachable!("the runtime is taken only when the session is dropped"),
        }
    }

    fn connect_if_lost(&self) -> Result<()> {
        if self.is_in_transaction.get() {
            return Ok(());
        }
        // The connection notices that it was closed only while the runtime runs.
        self.block_on(tokio::task::yield_now());
        let is_live = self.live.borrow().as_ref().is_some_and(|live| !live.client.is_closed());
        if is_live {
            return Ok(());
        }
        let connected = self.block_on(async {
            let client = self.address.connect().await?;
            client.batch_execute(SETTINGS).await?;
            Ok::<_, StoreError>(client)
        });
        *self.live.borrow_mut() = Some(LiveConnection { client: connected?, prepared: HashMap::new() });
        Ok(())
    }

    /// Runs statements in this order, all of them sent at once. Returns the rows of each, or the first error.
    pub(super) fn run_all(&self, statements: &[SqlStatement]) -> Result<Vec<Vec<Row>>> {
        if statements.is_empty() {
            return Ok(Vec::new());
        }
        self.connect_if_lost()?;
        #[cfg(test)]
        tests::ROUND_TRIPS.set(tests::ROUND_TRIPS.get() + 1);
        let mut live = self.live.borrow_mut();
        let Some(live) = live.as_mut() else {
            return Err(StoreError::Locked);
        };
        self.block_on(async {
            live.prepare_all(statements).await?;
            let LiveConnection { client, prepared } = &*live;
            let mut answers: Vec<RunningStatement<'_, _>> = Vec::with_capacity(statements.len());
            for SqlStatement { sql, values } in statements {
                let Some(statement) = prepared.get(&**sql) else {
                    return Err(StoreError::Database("a statement is not prepared".into()));
                };
                let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(|value| value as _).collect();
                answers.push(Box::pin(async move { client.query(statement, &values).await }));
            }
            let answers = run_in_order(answers).await;
            Ok(answers.into_iter().collect::<std::result::Result<_, _>>()?)
        })
    }

    fn query_rows(&self, sql: &str, values: Vec<SqlValue>) -> Result<Vec<Row>> {
        let statement = [SqlStatement::new(sql, values)];
        let mut rows = match self.run_all(&statement) {
            // The server was restarted since the last query.
            Err(error) if is_connection_error(&error) && !self.is_in_transaction.get() => self.run_all(&statement)?,
            rows => rows?,
        };
        Ok(rows.pop().unwrap_or_default())
    }

    /// Runs statements without values.
    pub(super) fn run_script(&self, sql: &str) -> Result<()> {
        self.connect_if_lost()?;
        let live = self.live.borrow();
        let Some(live) = live.as_ref() else {
            return Err(StoreError::Locked);
        };
        Ok(self.block_on(live.client.batch_execute(sql))?)
    }

    pub(super) fn query_all<T: FromColumns>(&self, sql: &str, values: Vec<SqlValue>) -> Result<Vec<T>> {
        self.query_rows(sql, values)?.iter().map(T::from_row).collect()
    }

    pub(super) fn query_optional<T: FromColumns>(&self, sql: &str, values: Vec<SqlValue>) -> Result<Option<T>> {
        self.query_rows(sql, values)?.first().map(T::from_row).transpose()
    }

    /// The row of a query that always has one.
    pub(super) fn query_value<T: FromColumns>(&self, sql: &str, values: Vec<SqlValue>) -> Result<T> {
        self.query_optional(sql, values)?.ok_or_else(|| StoreError::Database("a query returned no row".into()))
    }

    /// Selects one row of a type; `which` follows [`SelectedRow::SELECT`].
    pub(super) fn select_one<T: SelectedRow>(&self, which: &str, values: Vec<SqlValue>) -> Result<Option<T>> {
        self.query_optional(&format!("{} {which}", T::SELECT), values)
    }

    /// Selects rows of a type; `which` follows [`SelectedRow::SELECT`].
    pub(super) fn select_all<T: SelectedRow>(&self, which: &str, values: Vec<SqlValue>) -> Result<Vec<T>> {
        self.query_all(&format!("{} {which}", T::SELECT), values)
    }

    /// Runs a statement, and returns the number of its rows.
    pub(super) fn run(&self, sql: &str, values: Vec<SqlValue>) -> Result<usize> {
        // A row that is changed or removed is counted if it is returned.
        let counted = format!("{sql} RETURNING 1");
        Ok(self.run_all(&[SqlStatement::new(&counted, values)])?.pop().map_or(0, |rows| rows.len()))
    }

    /// Begins a transaction, which is undone unless it is committed.
    pub(super) fn begin(&self, first: Vec<SqlStatement>) -> Result<(OpenTransaction<'_>, Vec<Vec<Row>>)> {
        self.connect_if_lost()?;
        match self.try_begin(&first) {
            // The server was restarted since the last transaction.
            Err(error) if is_connection_error(&error) => self.try_begin(&first),
            begun => begun,
        }
    }

    fn try_begin(&self, first: &[SqlStatement]) -> Result<(OpenTransaction<'_>, Vec<Vec<Row>>)> {
        self.connect_if_lost()?;
        self.is_in_transaction.set(true);
        // If a statement fails, this ends the transaction.
        let transaction = OpenTransaction { session: self, is_open: true };
        let rows = self.run_all(first)?;
        Ok((transaction, rows))
    }
}

/// Whether the connection was lost, or could not be opened.
fn is_connection_error(error: &StoreError) -> bool {
    matches!(error, StoreError::Unreachable(_))
}

/// A runtime that waits for its threads cannot be dropped where others must not wait, such as in a task of another one.
impl Drop for Session {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl LiveConnection {
    /// Prepares those that are not prepared yet, all at once.
    async fn prepare_all(&mut self, statements: &[SqlStatement]) -> Result<()> {
        if self.prepared.len() + statements.len() > MAX_PREPARED {
            self.prepared.clear();
        }
        let missing: BTreeSet<&str> = statements
            .iter()
            .map(|statement| &*statement.sql)
            .filter(|sql| !self.prepared.contains_key(*sql))
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        let client = &self.client;
        let preparing = missing.iter().map(|sql| Box::pin(client.prepare(sql)) as RunningStatement<'_, _>).collect();
        let answers = run_in_order(preparing).await;
        for (sql, statement) in missing.iter().zip(answers) {
            self.prepared.insert((*sql).to_owned(), statement?);
        }
        Ok(())
    }
}

/// A transaction of a [`Session`].
pub(super) struct OpenTransaction<'a> {
    session: &'a Session,
    is_open: bool,
}

impl OpenTransaction<'_> {
    /// Runs these statements and commits, all in one round trip.
    pub(super) fn commit(self, last: Vec<SqlStatement>) -> Result<()> {
        self.commit_and_then(last, None)
    }

    /// As [`Self::commit`], with a statement that runs after the transaction.
    pub(super) fn commit_and_then(mut self, mut last: Vec<SqlStatement>, then: Option<&str>) -> Result<()> {
        last.push(SqlStatement::new("COMMIT", Vec::new()));
        last.extend(then.map(|sql| SqlStatement::new(sql, Vec::new())));
        self.session.run_all(&last)?;
        self.is_open = false;
        self.session.is_in_transaction.set(false);
        Ok(())
    }
}

impl std::ops::Deref for OpenTransaction<'_> {
    type Target = Session;

    fn deref(&self) -> &Session {
        self.session
    }
}

impl Drop for OpenTransaction<'_> {
    fn drop(&mut self) {
        if self.is_open {
            // If the connection is lost, the server ends the transaction.
            if self.session.run_script("ROLLBACK").is_err() {
                self.session.live.replace(None);
            }
            self.session.is_in_transaction.set(false);
        }
    }
}

type ServerAnswer<T> = std::result::Result<T, tokio_postgres::Error>;
type RunningStatement<'a, T> = Pin<Box<dyn Future<Output = ServerAnswer<T>> + 'a>>;

/// Runs all futures at once. Each is polled before the next one, so their requests are sent in this order.
async fn run_in_order<T>(mut queries: Vec<RunningStatement<'_, T>>) -> Vec<ServerAnswer<T>> {
    let mut answers: Vec<_> = queries.iter().map(|_| None).collect();
    poll_fn(|context| {
        let mut is_waiting = false;
        for (query, answer) in queries.iter_mut().zip(&mut answers) {
            if answer.is_none() {
                match query.as_mut().poll(context) {
                    Poll::Ready(rows) => *answer = Some(rows),
                    Poll::Pending => is_waiting = true,
                }
            }
        }
        if is_waiting { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
    answers.into_iter().flatten().collect()
}

#[cfg(test)]
pub(super) mod tests {
    use std::cell::Cell;

    thread_local! {
        /// How often this thread has sent statements and waited for the answers.
        pub(crate) static ROUND_TRIPS: Cell<usize> = const { Cell::new(0) };
    }
}
