//! Values and statements of SQLite.

use rusqlite::types::{ToSqlOutput, Type, Value as SqlValue, ValueRef};
use rusqlite::{Connection, OptionalExtension, Params, Row, ToSql};
use snell::{NoticeKind, Timestamp};

use crate::db::change_feed::ChangeKind;
use crate::db::columns::{DatabaseRow, for_each_word_type};
pub(super) use crate::db::columns::{FromColumns, SelectedRow, columns, parse_json, select_also};
use crate::db::dispatches::DeliveryStatus;
use crate::db::model::{
    AgentState, ContextSource, CorrelationMethod, StateConfidence, StateSource, TimestampSource, TurnActor,
};
use crate::db::workers::{WorkerKind, WorkerStatus};
use crate::derive::intent::TurnIntent;
use crate::error::Result;
use crate::requests::{AnswerChannel, AnswerOrigin, RememberScope, RequestKind, RequestOrigin, RequestStatus};
use crate::views::rollups::GuardOutcome;

impl DatabaseRow for Row<'_> {
    type Error = rusqlite::Error;

    fn is_null(&self, column: usize) -> rusqlite::Result<bool> {
        Ok(self.get_ref(column)? == ValueRef::Null)
    }

    fn read_integer(&self, column: usize) -> rusqlite::Result<i64> {
        self.get(column)
    }

    fn read_number(&self, column: usize) -> rusqlite::Result<f64> {
        self.get(column)
    }

    fn read_text(&self, column: usize) -> rusqlite::Result<String> {
        self.get(column)
    }

    fn refuse_value(column: usize, value: String) -> rusqlite::Error {
        rusqlite::Error::InvalidColumnType(column, value, Type::Text)
    }
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
        impl ToColumn for $type {
            fn to_column(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                self.to_sql()
            }
        }
    )+};
}
plain_columns!(i64, i32, u32, u8, bool, f64, String);

macro_rules! word_columns {
    ($($type:ty),+) => {$(
        impl ToColumn for $type {
            fn to_column(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                Ok(self.as_str().into())
            }
        }
    )+};
}
for_each_word_type!(word_columns);

impl ToColumn for Timestamp {
    fn to_column(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.as_microsecond().into())
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
        Ok(self.prepare_cached(sql)?.query_row(params, |row| T::from_row(row)).optional()?)
    }

    fn query_all<T: FromColumns>(&self, sql: &str, params: impl Params) -> Result<Vec<T>> {
        let mut statement = self.prepare_cached(sql)?;
        let rows = statement.query_map(params, |row| T::from_row(row))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    fn query_all_uncached<T: FromColumns>(&self, sql: &str, params: impl Params) -> Result<Vec<T>> {
        let mut statement = self.prepare(sql)?;
        let rows = statement.query_map(params, |row| T::from_row(row))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    fn query_value<T: FromColumns>(&self, sql: &str, params: impl Params) -> Result<T> {
        Ok(self.prepare_cached(sql)?.query_row(params, |row| T::from_row(row))?)
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
