//! Rows by the names of their columns, for all databases. One list per type gives both the SQL that selects its columns
//! and the code that reads them, so positions are neither written by hand nor looked up per row.

use serde_json::Value;
use snell::{NoticeKind, Timestamp};

use crate::db::agent_activity::BackgroundWork;
use crate::db::change_feed::ChangeKind;
use crate::db::dispatches::DeliveryStatus;
use crate::db::model::{
    AgentState, ContextSource, CorrelationMethod, ProcessIdentity, StateConfidence, StateSource, TimestampSource,
    TurnActor,
};
use crate::db::workers::{WorkerKind, WorkerStatus};
use crate::derive::intent::TurnIntent;
use crate::record::json;
use crate::requests::{AnswerChannel, AnswerOrigin, RememberScope, RequestKind, RequestOrigin, RequestStatus};
use crate::views::log_search::EVENT_TEXT_FIELDS;
use crate::views::rollups::GuardOutcome;

/// A row as a database returns it: each column is an integer, a number or a text.
pub(crate) trait DatabaseRow {
    /// The error of the database.
    type Error;

    fn is_null(&self, column: usize) -> Result<bool, Self::Error>;
    fn read_integer(&self, column: usize) -> Result<i64, Self::Error>;
    fn read_number(&self, column: usize) -> Result<f64, Self::Error>;
    fn read_text(&self, column: usize) -> Result<String, Self::Error>;
    /// The error about a column with this value.
    fn refuse_value(column: usize, value: String) -> Self::Error;
}

/// A value that one column holds.
pub(crate) trait ColumnValue: Sized {
    fn read<R: DatabaseRow>(row: &R, column: usize) -> Result<Self, R::Error>;
}

macro_rules! integer_columns {
    ($($type:ty),+) => {$(
        impl ColumnValue for $type {
            fn read<R: DatabaseRow>(row: &R, column: usize) -> Result<Self, R::Error> {
                let number = row.read_integer(column)?;
                number.try_into().map_err(|_| R::refuse_value(column, number.to_string()))
            }
        }
    )+};
}
integer_columns!(i64, i32, u32, u8);

impl ColumnValue for bool {
    fn read<R: DatabaseRow>(row: &R, column: usize) -> Result<Self, R::Error> {
        Ok(row.read_integer(column)? != 0)
    }
}

impl ColumnValue for f64 {
    fn read<R: DatabaseRow>(row: &R, column: usize) -> Result<Self, R::Error> {
        row.read_number(column)
    }
}

impl ColumnValue for String {
    fn read<R: DatabaseRow>(row: &R, column: usize) -> Result<Self, R::Error> {
        row.read_text(column)
    }
}

/// An enum is stored as its word. An unknown word comes from another program.
macro_rules! word_columns {
    ($($type:ty),+) => {$(
        impl ColumnValue for $type {
            fn read<R: DatabaseRow>(row: &R, column: usize) -> Result<Self, R::Error> {
                let word = row.read_text(column)?;
                Self::parse(&word).ok_or_else(|| R::refuse_value(column, word))
            }
        }
    )+};
}

/// Calls a macro with all enums that are stored as their words.
macro_rules! for_each_word_type {
    ($macro:ident) => {
        $macro!(
            AgentState,
            AnswerChannel,
            AnswerOrigin,
            ChangeKind,
            ContextSource,
            CorrelationMethod,
            DeliveryStatus,
            GuardOutcome,
            NoticeKind,
            RememberScope,
            RequestKind,
            RequestOrigin,
            RequestStatus,
            StateConfidence,
            StateSource,
            TimestampSource,
            TurnActor,
            TurnIntent,
            WorkerKind,
            WorkerStatus
        );
    };
}
pub(crate) use for_each_word_type;
for_each_word_type!(word_columns);

/// A time is stored in microseconds.
impl ColumnValue for Timestamp {
    fn read<R: DatabaseRow>(row: &R, column: usize) -> Result<Self, R::Error> {
        let number = row.read_integer(column)?;
        Self::from_microsecond(number).map_err(|_| R::refuse_value(column, number.to_string()))
    }
}

/// A time as the view `sessions` writes it.
pub(crate) struct TextTime(pub(crate) Timestamp);

impl ColumnValue for TextTime {
    fn read<R: DatabaseRow>(row: &R, column: usize) -> Result<Self, R::Error> {
        let text = row.read_text(column)?;
        text.parse().map(Self).map_err(|_| R::refuse_value(column, text))
    }
}

impl<T: ColumnValue> ColumnValue for Option<T> {
    fn read<R: DatabaseRow>(row: &R, column: usize) -> Result<Self, R::Error> {
        if row.is_null(column)? { Ok(None) } else { T::read(row, column).map(Some) }
    }
}

/// Parses JSON that Snell stored; nothing if there is none or it is invalid.
pub(crate) fn parse_json(text: Option<String>) -> Option<Value> {
    text.and_then(|text| json::parse_stored_json(text.as_bytes()).ok())
}

/// A row while it is read, column by column.
pub(crate) struct ColumnReader<'a, R> {
    row: &'a R,
    next: usize,
}

impl<R: DatabaseRow> ColumnReader<'_, R> {
    pub(crate) fn read<T: FromColumns>(&mut self) -> Result<T, R::Error> {
        T::from_columns(self)
    }
}

/// A value that one or more columns hold.
pub(crate) trait FromColumns: Sized {
    fn from_columns<R: DatabaseRow>(columns: &mut ColumnReader<'_, R>) -> Result<Self, R::Error>;

    fn from_row<R: DatabaseRow>(row: &R) -> Result<Self, R::Error> {
        Self::from_columns(&mut ColumnReader { row, next: 0 })
    }
}

impl<T: ColumnValue> FromColumns for T {
    fn from_columns<R: DatabaseRow>(columns: &mut ColumnReader<'_, R>) -> Result<Self, R::Error> {
        columns.next += 1;
        T::read(columns.row, columns.next - 1)
    }
}

macro_rules! tuple_columns {
    ($($name:ident)+) => {
        impl<$($name: FromColumns),+> FromColumns for ($($name,)+) {
            fn from_columns<R: DatabaseRow>(columns: &mut ColumnReader<'_, R>) -> Result<Self, R::Error> {
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
    fn from_columns<R: DatabaseRow>(columns: &mut ColumnReader<'_, R>) -> Result<Self, R::Error> {
        let (pid, started): (Option<u32>, Option<i64>) = columns.read()?;
        Ok(pid.map(|pid| ProcessIdentity { pid, started: started.map(i64::cast_unsigned) }))
    }
}

impl FromColumns for Option<BackgroundWork> {
    fn from_columns<R: DatabaseRow>(columns: &mut ColumnReader<'_, R>) -> Result<Self, R::Error> {
        let (runs, subagents, commands, wakeups): (bool, u32, u32, u32) = columns.read()?;
        Ok(runs.then_some(BackgroundWork { subagents, commands, wakeups }))
    }
}

/// A type that one SELECT returns, in every database.
pub(crate) trait SelectedRow: FromColumns {
    /// The SELECT, up to its FROM clause.
    const SELECT: &'static str;
}

/// The SELECT of a type, with one more column before the others.
pub(crate) fn select_also<T: SelectedRow>(column: &str) -> String {
    T::SELECT.replacen("SELECT", &format!("SELECT {column},"), 1)
}

/// Declares how a type is read: `columns! { Type from "tables" { field, field: "SQL", field: "SQL" => function } }`.
/// Without SQL, the column has the field's name. Fields that no column holds follow after a semicolon, as in a literal.
/// The SQL must mean the same in every database.
macro_rules! columns {
    (@sql $field:ident) => { stringify!($field) };
    (@sql $field:ident $sql:expr) => { $sql };
    (@read $columns:ident) => { $columns.read()? };
    (@read $columns:ident $convert:expr) => { $convert($columns.read()?) };
    ($type:ident from $tables:literal {
        $first:ident $(: $first_sql:expr $(=> $first_convert:expr)?)?
        $(, $field:ident $(: $sql:expr $(=> $convert:expr)?)?)* $(,)? $(; $($others:tt)+)?
    }) => {
        impl $crate::db::columns::FromColumns for $type {
            fn from_columns<R: $crate::db::columns::DatabaseRow>(
                columns: &mut $crate::db::columns::ColumnReader<'_, R>,
            ) -> std::result::Result<Self, R::Error> {
                Ok(Self {
                    $first: columns!(@read columns $($($first_convert)?)?),
                    $($field: columns!(@read columns $($($convert)?)?),)*
                    $($($others)+)?
                })
            }
        }

        impl $crate::db::columns::SelectedRow for $type {
            const SELECT: &'static str = concat!(
                "SELECT ", columns!(@sql $first $($first_sql)?) $(, ", ", columns!(@sql $field $($sql)?))*,
                " FROM ", $tables
            );
        }
    };
}
pub(crate) use columns;

/// Events whose text is stored as turns.
const STORED_AS_TURNS: &[&str] = &["UserPromptSubmit", "Stop"];

/// The payload of those events that need it in the timeline: events with a text or a changed input.
pub(super) fn build_payload_column() -> String {
    let speaking = EVENT_TEXT_FIELDS.iter().filter(|(name, _)| !STORED_AS_TURNS.contains(name));
    let speaking: Vec<_> = speaking.map(|(name, _)| format!("e.name = '{name}'")).collect();
    format!(
        "CASE WHEN {} OR e.changed_input IS NOT NULL OR e.name = 'UserPromptSubmit' AND e.decision = 'block' \
         THEN (SELECT payload FROM payloads d WHERE d.id = e.id) END",
        speaking.join(" OR ")
    )
}
