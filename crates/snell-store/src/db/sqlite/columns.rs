//! Rows by the names of their columns. One list per type gives both the SQL that selects its columns and the code that
//! reads them, so positions are neither written by hand nor looked up per row.

use rusqlite::types::{ToSqlOutput, Type, Value as SqlValue, ValueRef};
use rusqlite::{Connection, OptionalExtension, Params, Row, ToSql};
use serde_json::Value;
use snell::Timestamp;

use crate::db::agent_activity::BackgroundWork;
use crate::db::change_feed::ChangeKind;
use crate::db::dispatches::DeliveryStatus;
use crate::db::model::{
    AgentState, ContextSource, CorrelationMethod, ProcessIdentity, StateConfidence, StateSource, TimestampSource,
    TurnActor,
};
use crate::db::workers::{WorkerKind, WorkerStatus};
use crate::derive::intent::TurnIntent;
use crate::error::Result;
use crate::record::json;
use crate::views::rollups::GuardOutcome;

/// A value that one column holds.
pub(super) trait ColumnValue: Sized {
    fn read(row: &Row<'_>, column: usize) -> rusqlite::Result<Self>;
}

/// A value as a column holds it.
pub(super) trait ToColumn {
    fn to_column(&self) -> rusqlite::Result<ToSqlOutput<'_>>;
}

/// Lets SQLite take a [`ToColumn`].
pub(super) struct ColumnParam<'a, T: ?Sized>(pub(super) &'a T);

impl<T: ToColumn + ?Sized> ToSql for ColumnParam<'_, T> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        self.0.to_column()
    }
}

macro_rules! plain_columns {
    ($($type:ty),+) => {$(
        impl ColumnValue for $type {
            fn read(row: &Row<'_>, column: usize) -> rusqlite::Result<Self> {
                row.get(column)
            }
        }

        impl ToColumn for $type {
            fn to_column(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                self.to_sql()
            }
        }
    )+};
}
plain_columns!(i64, i32, u32, u8, bool, f64, String);

/// An enum is stored as its word. An unknown word comes from another program.
macro_rules! word_columns {
    ($($type:ty),+) => {$(
        impl ColumnValue for $type {
            fn read(row: &Row<'_>, column: usize) -> rusqlite::Result<Self> {
                let word: String = row.get(column)?;
                Self::parse(&word).ok_or(rusqlite::Error::InvalidColumnType(column, word, Type::Text))
            }
        }

        impl ToColumn for $type {
            fn to_column(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                Ok(self.as_str().into())
            }
        }
    )+};
}
word_columns!(
    AgentState,
    ChangeKind,
    ContextSource,
    CorrelationMethod,
    DeliveryStatus,
    GuardOutcome,
    StateConfidence,
    StateSource,
    TimestampSource,
    TurnActor,
    TurnIntent,
    WorkerKind,
    WorkerStatus
);

/// A time is stored in microseconds.
impl ColumnValue for Timestamp {
    fn read(row: &Row<'_>, column: usize) -> rusqlite::Result<Self> {
        Self::from_microsecond(row.get(column)?)
            .map_err(|error| rusqlite::Error::FromSqlConversionFailure(column, Type::Integer, Box::new(error)))
    }
}

impl ToColumn for Timestamp {
    fn to_column(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.as_microsecond().into())
    }
}

/// A time as the view `sessions` writes it.
pub(super) struct TextTime(pub(super) Timestamp);

impl ColumnValue for TextTime {
    fn read(row: &Row<'_>, column: usize) -> rusqlite::Result<Self> {
        let text: String = row.get(column)?;
        text.parse()
            .map(Self)
            .map_err(|error| rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error)))
    }
}

impl<T: ColumnValue> ColumnValue for Option<T> {
    fn read(row: &Row<'_>, column: usize) -> rusqlite::Result<Self> {
        match row.get_ref(column)? {
            ValueRef::Null => Ok(None),
            _ => T::read(row, column).map(Some),
        }
    }
}

impl<T: ToColumn> ToColumn for Option<T> {
    fn to_column(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        self.as_ref().map_or(Ok(ToSqlOutput::Owned(SqlValue::Null)), T::to_column)
    }
}

impl<T: ToColumn + ?Sized> ToColumn for &T {
    fn to_column(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        (**self).to_column()
    }
}

impl ToColumn for str {
    fn to_column(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.into())
    }
}

impl ToColumn for u64 {
    fn to_column(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.cast_signed().into())
    }
}

/// Parses JSON that Snell stored; nothing if there is none or it is invalid.
pub(super) fn parse_json(text: Option<String>) -> Option<Value> {
    text.and_then(|text| json::parse_stored_json(text.as_bytes()).ok())
}

/// A row while it is read, column by column.
pub(super) struct ColumnReader<'a, 's> {
    row: &'a Row<'s>,
    next: usize,
}

impl ColumnReader<'_, '_> {
    pub(super) fn read<T: FromColumns>(&mut self) -> rusqlite::Result<T> {
        T::from_columns(self)
    }
}

/// A value that one or more columns hold.
pub(super) trait FromColumns: Sized {
    fn from_columns(columns: &mut ColumnReader<'_, '_>) -> rusqlite::Result<Self>;

    fn from_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        Self::from_columns(&mut ColumnReader { row, next: 0 })
    }
}

impl<T: ColumnValue> FromColumns for T {
    fn from_columns(columns: &mut ColumnReader<'_, '_>) -> rusqlite::Result<Self> {
        columns.next += 1;
        T::read(columns.row, columns.next - 1)
    }
}

macro_rules! tuple_columns {
    ($($name:ident)+) => {
        impl<$($name: FromColumns),+> FromColumns for ($($name,)+) {
            fn from_columns(columns: &mut ColumnReader<'_, '_>) -> rusqlite::Result<Self> {
                Ok(($(columns.read::<$name>()?,)+))
            }
        }
    };
}
tuple_columns!(A B);
tuple_columns!(A B C);
tuple_columns!(A B C D);
tuple_columns!(A B C D E);

impl FromColumns for Option<ProcessIdentity> {
    fn from_columns(columns: &mut ColumnReader<'_, '_>) -> rusqlite::Result<Self> {
        let (pid, started): (Option<u32>, Option<i64>) = columns.read()?;
        Ok(pid.map(|pid| ProcessIdentity { pid, started: started.map(i64::cast_unsigned) }))
    }
}

impl FromColumns for Option<BackgroundWork> {
    fn from_columns(columns: &mut ColumnReader<'_, '_>) -> rusqlite::Result<Self> {
        let (runs, subagents, commands, wakeups): (bool, u32, u32, u32) = columns.read()?;
        Ok(runs.then_some(BackgroundWork { subagents, commands, wakeups }))
    }
}

/// A type that one SELECT returns.
pub(super) trait SelectedRow: FromColumns {
    /// The SELECT, up to its FROM clause.
    const SELECT: &'static str;
}

/// The SELECT of a type, with one more column before the others.
pub(super) fn select_also<T: SelectedRow>(column: &str) -> String {
    T::SELECT.replacen("SELECT", &format!("SELECT {column},"), 1)
}

/// Declares how a type is read: `columns! { Type from "tables" { field, field: "SQL", field: "SQL" => function } }`.
/// Without SQL, the column has the field's name. Fields that no column holds follow after a semicolon, as in a literal.
macro_rules! columns {
    (@sql $field:ident) => { stringify!($field) };
    (@sql $field:ident $sql:expr) => { $sql };
    (@read $columns:ident) => { $columns.read()? };
    (@read $columns:ident $convert:expr) => { $convert($columns.read()?) };
    ($type:ident from $tables:literal {
        $first:ident $(: $first_sql:expr $(=> $first_convert:expr)?)?
        $(, $field:ident $(: $sql:expr $(=> $convert:expr)?)?)* $(,)? $(; $($others:tt)+)?
    }) => {
        impl $crate::db::sqlite::columns::FromColumns for $type {
            fn from_columns(
                columns: &mut $crate::db::sqlite::columns::ColumnReader<'_, '_>,
            ) -> rusqlite::Result<Self> {
                Ok(Self {
                    $first: columns!(@read columns $($($first_convert)?)?),
                    $($field: columns!(@read columns $($($convert)?)?),)*
                    $($($others)+)?
                })
            }
        }

        impl $crate::db::sqlite::columns::SelectedRow for $type {
            const SELECT: &'static str = concat!(
                "SELECT ", columns!(@sql $first $($first_sql)?) $(, ", ", columns!(@sql $field $($sql)?))*,
                " FROM ", $tables
            );
        }
    };
}
pub(super) use columns;

/// Writes a row, each column beside its value: `insert_row!(connection, "INSERT INTO table", owner { … })`. A column
/// without a value takes the owner's field of that name. With `on conflict (key) update { … }` the columns of the
/// second list are inserted as well, and only they change if the row exists. Returns the row's id.
macro_rules! insert_row {
    (@value $owner:ident $column:ident) => { $owner.$column };
    (@value $owner:ident $column:ident $value:expr) => { $value };
    (@mark $column:ident) => { ", ?" };
    ($connection:expr, $verb:literal, $owner:ident { $first:ident $(: $first_value:expr)?
        $(, $column:ident $(: $value:expr)?)* $(,)? }
        $(on conflict ($key:ident) update { $updated:ident $(: $updated_value:expr)?
            $(, $more:ident $(: $more_value:expr)?)* $(,)? })?
    ) => {
        $connection.insert(
            concat!(
                $verb, " (", stringify!($first) $(, ", ", stringify!($column))*
                $(, ", ", stringify!($updated) $(, ", ", stringify!($more))*)?,
                ") VALUES (?" $(, insert_row!(@mark $column))*
                $(, insert_row!(@mark $updated) $(, insert_row!(@mark $more))*)?, ")"
                $(, " ON CONFLICT (", stringify!($key), ") DO UPDATE SET ",
                    stringify!($updated), " = excluded.", stringify!($updated)
                    $(, ", ", stringify!($more), " = excluded.", stringify!($more))*)?
            ),
            &[
                &ColumnParam(&insert_row!(@value $owner $first $($first_value)?)),
                $(&ColumnParam(&insert_row!(@value $owner $column $($value)?)),)*
                $(&ColumnParam(&insert_row!(@value $owner $updated $($updated_value)?)),
                    $(&ColumnParam(&insert_row!(@value $owner $more $($more_value)?)),)*)?
            ],
        )
    };
}
pub(super) use insert_row;

/// Changes the row with this key, each column beside its new value: `update_row!(connection, "table", key = value,
/// owner { … })`. A column without a value takes the owner's field of that name.
macro_rules! update_row {
    ($connection:expr, $table:literal, $key:ident = $key_value:expr, $owner:ident {
        $first:ident $(: $first_value:expr)? $(, $column:ident $(: $value:expr)?)* $(,)?
    }) => {
        $connection.run(
            concat!(
                "UPDATE ", $table, " SET ", stringify!($first), " = ?" $(, ", ", stringify!($column), " = ?")*,
                " WHERE ", stringify!($key), " = ?"
            ),
            &[
                &ColumnParam(&insert_row!(@value $owner $first $($first_value)?)) as &dyn rusqlite::ToSql,
                $(&ColumnParam(&insert_row!(@value $owner $column $($value)?)),)*
                &$key_value,
            ][..],
        )
    };
}
pub(super) use update_row;

/// Statements that are prepared once for each connection.
pub(super) trait ConnectionExt {
    fn query_optional<T: FromColumns>(&self, sql: &str, params: impl Params) -> Result<Option<T>>;
    fn query_all<T: FromColumns>(&self, sql: &str, params: impl Params) -> Result<Vec<T>>;
    /// As [`Self::query_all`], for statements that differ each time: they would push others out of the cache.
    fn query_all_uncached<T: FromColumns>(&self, sql: &str, params: impl Params) -> Result<Vec<T>>;
    /// The row of a query that always has one.
    fn query_value<T: FromColumns>(&self, sql: &str, params: impl Params) -> Result<T>;
    /// Selects one row of a type; `which` follows [`SelectedRow::SELECT`].
    fn select_one<T: SelectedRow>(&self, which: &str, params: impl Params) -> Result<Option<T>> {
        self.query_optional(&format!("{} {which}", T::SELECT), params)
    }
    /// Selects rows of a type; `which` follows [`SelectedRow::SELECT`].
    fn select_all<T: SelectedRow>(&self, which: &str, params: impl Params) -> Result<Vec<T>> {
        self.query_all(&format!("{} {which}", T::SELECT), params)
    }
    fn run(&self, sql: &str, params: impl Params) -> Result<()>;
    /// Runs an INSERT and returns the new row's id.
    fn insert(&self, sql: &str, params: &[&dyn ToSql]) -> Result<i64>;
}

impl ConnectionExt for Connection {
    fn query_optional<T: FromColumns>(&self, sql: &str, params: impl Params) -> Result<Option<T>> {
        Ok(self.prepare_cached(sql)?.query_row(params, T::from_row).optional()?)
    }

    fn query_all<T: FromColumns>(&self, sql: &str, params: impl Params) -> Result<Vec<T>> {
        let mut statement = self.prepare_cached(sql)?;
        let rows = statement.query_map(params, T::from_row)?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    fn query_all_uncached<T: FromColumns>(&self, sql: &str, params: impl Params) -> Result<Vec<T>> {
        let mut statement = self.prepare(sql)?;
        let rows = statement.query_map(params, T::from_row)?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    fn query_value<T: FromColumns>(&self, sql: &str, params: impl Params) -> Result<T> {
        Ok(self.prepare_cached(sql)?.query_row(params, T::from_row)?)
    }

    fn run(&self, sql: &str, params: impl Params) -> Result<()> {
        self.prepare_cached(sql)?.execute(params)?;
        Ok(())
    }

    fn insert(&self, sql: &str, params: &[&dyn ToSql]) -> Result<i64> {
        self.run(sql, params)?;
        Ok(self.last_insert_rowid())
    }
}
