//! Rows inside one transaction: writes wait in memory until a query needs them, or until the end.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};

use tokio_postgres::Row;

use super::prefetch::{KeyedQuery, PrefetchedRows, WrittenKeys};
use super::session::{Session, SqlStatement};
use super::values::{SqlValue, values};
use super::write_buffer::{NewRow, WriteBuffer};
use crate::db::columns::{FromColumns, SelectedRow};
use crate::db::model::TurnRow;
use crate::error::{Result, StoreError};
use crate::views::rollups::HookRunRollup;

/// The key of a hook: its source, line, command and contract.
pub(super) type HookKey = (String, u32, String, String);

/// Whether another process has written about the locked machines since this one did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OtherWrites {
    None,
    Some,
}

/// The rows of the database that only this process writes, or that never change. They hold until a transaction fails, or
/// another process writes.
#[derive(Default)]
pub(super) struct WriterMemory {
    /// The version of each machine that this process left.
    versions: HashMap<String, i64>,
    /// The number under which this process counts runs of hooks. Another one begins when it forgets its sums.
    pub(super) hook_writer: Option<i64>,
    pub(super) hook_ids: HashMap<HookKey, i64>,
    /// The sums of this process, by hour and hook.
    pub(super) hook_sums: HashMap<(i64, i64), HookRunRollup>,
    /// Ids that were taken from a sequence and not used, while no other process writes.
    pub(super) spare_ids: HashMap<&'static str, VecDeque<i64>>,
    /// The paths of projects, which never change.
    pub(super) project_paths: HashMap<i64, String>,
}

/// The largest number of remembered hooks and sums.
const MAX_REMEMBERED: usize = 10_000;

impl WriterMemory {
    /// Takes the versions of locked machines.
    pub(super) fn follow_versions(&mut self, locked: Vec<(String, i64)>) -> OtherWrites {
        if self.hook_sums.len() + self.hook_ids.len() + self.project_paths.len() > MAX_REMEMBERED {
            *self = Self::default();
        }
        let mut is_unchanged = true;
        for (machine, version) in locked {
            let before = self.versions.insert(machine, version);
            is_unchanged &= before == Some(version - 1);
        }
        if is_unchanged {
            return OtherWrites::None;
        }
        self.hook_ids.clear();
        // The rows of others have later ids.
        self.spare_ids.clear();
        OtherWrites::Some
    }
}

/// The turns of a command that matter for the next one.
pub(super) struct CommandTurns {
    /// The last stored one.
    pub(super) last: TurnRow,
    /// The one with the latest time.
    pub(super) latest: TurnRow,
}

/// Inside a transaction.
pub(super) struct PostgresTransaction<'a> {
    session: &'a Session,
    buffer: WriteBuffer,
    pub(super) memory: &'a mut WriterMemory,
    pub(super) other_writes: OtherWrites,
    pub(super) prefetched: PrefetchedRows,
    written: WrittenKeys,
    /// Commands that this transaction opened, and the turns of those to which it has added some.
    pub(super) new_commands: HashSet<i64>,
    pub(super) turns: HashMap<i64, CommandTurns>,
    /// The changes of this transaction, column by column. They are sent last.
    changes: Vec<Vec<SqlValue>>,
    /// The sums of hooks that have changed.
    pub(super) changed_sums: BTreeSet<(i64, i64)>,
    /// The verdicts to count: by hour, rule, tier and outcome, their number and the time of the last.
    pub(super) verdicts: BTreeMap<(i64, String, String, &'static str), (i64, i64)>,
}

impl<'a> PostgresTransaction<'a> {
    pub(super) fn new(session: &'a Session, memory: &'a mut WriterMemory, other_writes: OtherWrites) -> Self {
        Self {
            session,
            buffer: WriteBuffer::default(),
            memory,
            other_writes,
            prefetched: PrefetchedRows::default(),
            written: WrittenKeys::default(),
            new_commands: HashSet::new(),
            turns: HashMap::new(),
            changes: Vec::new(),
            changed_sums: BTreeSet::new(),
            verdicts: BTreeMap::new(),
        }
    }

    /// Inside a transaction that only reads.
    pub(super) fn new_read_only(session: &'a Session, memory: &'a mut WriterMemory) -> Self {
        Self::new(session, memory, OtherWrites::Some)
    }

    /// The statements that are left, with the changes as the last one: until the commit, the next transaction waits for
    /// their numbers. Also returns whether there are changes.
    pub(super) fn finish(mut self) -> Result<(Vec<SqlStatement>, bool)> {
        self.write_sums()?;
        let mut last = self.buffer.take();
        let count = self.changes.first().map_or(0, Vec::len);
        if count > 0 {
            let sql = "WITH ticket AS (UPDATE stream_head SET last = last + $6 RETURNING last) \
                INSERT INTO changes (change_id, kind, agent_id, project_id, at, data) \
                SELECT ticket.last - $6 + new.number, new.kind, new.agent_id, new.project_id, new.at, new.data FROM ticket, \
                unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[]) \
                WITH ORDINALITY AS new (kind, agent_id, project_id, at, data, number)";
            let mut lists: Vec<_> = self.changes.into_iter().map(SqlValue::List).collect();
            lists.push(SqlValue::Integer(i64::try_from(count).unwrap_or(i64::MAX)));
            last.push(SqlStatement::new(sql, lists));
        }
        Ok((last, count > 0))
    }

    pub(super) fn add_change(&mut self, columns: Vec<SqlValue>) {
        self.changes.resize(columns.len(), Vec::new());
        self.changes.iter_mut().zip(columns).for_each(|(list, value)| list.push(value));
    }

    /// Adds a row, which is sent later.
    pub(super) fn insert(&mut self, row: NewRow) {
        self.written.add_row(&row);
        self.buffer.insert(row);
    }

    /// Changes all these columns of the row whose key is the first of them.
    pub(super) fn update(&mut self, row: NewRow) -> Result<()> {
        self.written.add_row(&row);
        self.buffer.update(row);
        Ok(())
    }

    /// Adds a statement about these tables, which is sent later.
    pub(super) fn run(&mut self, tables: &[&'static str], sql: &str, values: Vec<SqlValue>) -> Result<()> {
        tables.iter().for_each(|table| self.written.add_table(table));
        self.buffer.run(tables, sql, values);
        Ok(())
    }

    /// As [`Self::run`], for a statement that writes only rows with these values.
    pub(super) fn run_keyed(
        &mut self,
        written: &[(&'static str, &'static str, SqlValue)],
        sql: &str,
        values: Vec<SqlValue>,
    ) -> Result<()> {
        for (table, column, key) in written {
            self.written.add_key(table, column, key.clone());
        }
        let tables: Vec<_> = written.iter().map(|(table, ..)| *table).collect();
        self.buffer.run(&tables, sql, values);
        Ok(())
    }

    /// Runs these statements in one round trip.
    pub(super) fn run_at_once(&self, statements: &[SqlStatement]) -> Result<Vec<Vec<Row>>> {
        self.session.run_all(statements)
    }

    /// Whether this transaction has written a row with this value.
    pub(super) fn has_written(&self, table: &'static str, column: &'static str, value: &SqlValue) -> bool {
        self.written.contains(table, column, value)
    }

    /// The rows with this key: those that were read with others, unless they were written since.
    pub(super) fn find_rows<T: FromColumns>(
        &mut self,
        query: &'static KeyedQuery,
        key: Vec<SqlValue>,
    ) -> Result<Vec<T>> {
        if self.written.changes(query, &key) {
            return self.query_all(&query.sql, key);
        }
        if let Some(rows) = self.prefetched.get(query, key.clone()) {
            return rows.iter().map(T::from_row).collect();
        }
        // None of the writes that wait concerns it.
        let rows = self.session.run_all(&[SqlStatement::new(&query.sql, key)])?.pop().unwrap_or_default();
        rows.iter().map(T::from_row).collect()
    }

    /// The first of [`Self::find_rows`].
    pub(super) fn find_row<T: FromColumns>(
        &mut self,
        query: &'static KeyedQuery,
        key: Vec<SqlValue>,
    ) -> Result<Option<T>> {
        Ok(self.find_rows(query, key)?.into_iter().next())
    }

    /// The next id of a table. No other row gets it.
    pub(super) fn take_id(&mut self, sequence: &'static str) -> Result<i64> {
        if let Some(spare) = self.memory.spare_ids.get_mut(sequence).and_then(VecDeque::pop_front) {
            return Ok(spare);
        }
        self.query_value("SELECT nextval($1::text::regclass)", values![sequence])
    }

    fn query_rows(&mut self, sql: &str, values: Vec<SqlValue>) -> Result<Vec<Row>> {
        let mut statements = if self.buffer.concerns(sql) { self.buffer.take() } else { Vec::new() };
        statements.push(SqlStatement::new(sql, values));
        Ok(self.session.run_all(&statements)?.pop().unwrap_or_default())
    }

    pub(super) fn query_all<T: FromColumns>(&mut self, sql: &str, values: Vec<SqlValue>) -> Result<Vec<T>> {
        self.query_rows(sql, values)?.iter().map(T::from_row).collect()
    }

    pub(super) fn query_optional<T: FromColumns>(&mut self, sql: &str, values: Vec<SqlValue>) -> Result<Option<T>> {
        self.query_rows(sql, values)?.first().map(T::from_row).transpose()
    }

    /// The row of a query that always has one.
    pub(super) fn query_value<T: FromColumns>(&mut self, sql: &str, values: Vec<SqlValue>) -> Result<T> {
        self.query_optional(sql, values)?.ok_or_else(|| StoreError::Database("a query returned no row".into()))
    }

    /// Selects one row of a type; `which` follows [`SelectedRow::SELECT`].
    pub(super) fn select_one<T: SelectedRow>(&mut self, which: &str, values: Vec<SqlValue>) -> Result<Option<T>> {
        self.query_optional(&format!("{} {which}", T::SELECT), values)
    }

    /// Selects rows of a type; `which` follows [`SelectedRow::SELECT`].
    pub(super) fn select_all<T: SelectedRow>(&mut self, which: &str, values: Vec<SqlValue>) -> Result<Vec<T>> {
        self.query_all(&format!("{} {which}", T::SELECT), values)
    }
}

/// A new row, each column beside its value: `new_row!("table", owner { … })`. A column without a value takes the owner's
/// field of that name.
macro_rules! new_row {
    (@value $owner:ident $column:ident) => { $owner.$column };
    (@value $owner:ident $column:ident $value:expr) => { $value };
    ($table:literal, $owner:ident { $first:ident $(: $first_value:expr)? $(, $column:ident $(: $value:expr)?)* $(,)? }) => {
        $crate::db::postgres::write_buffer::NewRow {
            table: $table,
            columns: concat!(stringify!($first) $(, ", ", stringify!($column))*),
            types: vec![
                $crate::db::postgres::values::column_type(&new_row!(@value $owner $first $($first_value)?)),
                $($crate::db::postgres::values::column_type(&new_row!(@value $owner $column $($value)?))),*
            ],
            values: $crate::db::postgres::values::values![
                new_row!(@value $owner $first $($first_value)?)
                $(, new_row!(@value $owner $column $($value)?))*
            ],
        }
    };
}
pub(super) use new_row;
