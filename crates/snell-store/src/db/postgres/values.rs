//! Values of columns in PostgreSQL: how they are sent and read.
//!
//! PostgreSQL refuses a zero byte in a text. So it is stored as [`ESCAPE`] and `0`, and the escape itself as [`ESCAPE`]
//! and `1`. Every text comes back as it was.

use std::borrow::Cow;
use std::error::Error;
use std::hash::{Hash, Hasher};

use bytes::{BufMut, BytesMut};
use snell::{NoticeKind, Timestamp};
use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, IsNull, Kind, ToSql, Type, to_sql_checked};

use crate::db::change_feed::ChangeKind;
use crate::db::columns::{DatabaseRow, for_each_word_type};
use crate::db::dispatches::DeliveryStatus;
use crate::db::model::{
    AgentState, ContextSource, CorrelationMethod, StateConfidence, StateSource, TimestampSource, TurnActor,
};
use crate::db::workers::{WorkerKind, WorkerStatus};
use crate::derive::intent::TurnIntent;
use crate::error::StoreError;
use crate::requests::{AnswerChannel, AnswerOrigin, RememberScope, RequestKind, RequestOrigin, RequestStatus};
use crate::views::rollups::GuardOutcome;

/// Begins an escape sequence. No program uses it: it is a noncharacter of Unicode.
const ESCAPE: char = '\u{10FFFF}';

/// A text without zero bytes.
pub(super) fn escape_text(text: &str) -> Cow<'_, str> {
    if !text.contains(['\0', ESCAPE]) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match character {
            '\0' => escaped.extend([ESCAPE, '0']),
            ESCAPE => escaped.extend([ESCAPE, '1']),
            other => escaped.push(other),
        }
    }
    Cow::Owned(escaped)
}

/// The text that was stored.
pub(super) fn unescape_text(stored: &str) -> String {
    if !stored.contains(ESCAPE) {
        return stored.to_owned();
    }
    stored.replace("\u{10FFFF}0", "\0").replace("\u{10FFFF}1", "\u{10FFFF}")
}

/// A value that is sent to the database.
#[derive(Clone, Debug)]
pub(super) enum SqlValue {
    Null,
    Integer(i64),
    Number(f64),
    Text(String),
    /// The values of one column, for several rows.
    List(Vec<SqlValue>),
}

impl PartialEq for SqlValue {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Integer(number), Self::Integer(other)) => number == other,
            (Self::Number(number), Self::Number(other)) => number.to_bits() == other.to_bits(),
            (Self::Text(text), Self::Text(other)) => text == other,
            (Self::List(values), Self::List(others)) => values == others,
            _ => false,
        }
    }
}

impl Eq for SqlValue {}

impl Hash for SqlValue {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Self::Null => {}
            Self::Integer(number) => number.hash(state),
            Self::Number(number) => number.to_bits().hash(state),
            Self::Text(text) => text.hash(state),
            Self::List(values) => values.hash(state),
        }
    }
}

impl ToSql for SqlValue {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match (self, ty) {
            (Self::Null, _) => return Ok(IsNull::Yes),
            (Self::Integer(number), &Type::INT8) => out.put_i64(*number),
            (Self::Integer(number), &Type::INT4) => out.put_i32(i32::try_from(*number)?),
            (Self::Integer(number), &Type::BOOL) => out.put_u8(u8::from(*number != 0)),
            (Self::Integer(number), &Type::FLOAT8) => out.put_f64(*number as f64),
            (Self::Number(number), &Type::FLOAT8) => out.put_f64(*number),
            (Self::Text(text), &Type::TEXT) => out.put_slice(escape_text(text).as_bytes()),
            (Self::List(values), _) if matches!(ty.kind(), Kind::Array(_)) => return values.to_sql(ty, out),
            _ => return Err(format!("a value of another type than {ty}").into()),
        }
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// A value as a column holds it.
pub(super) trait ToValue {
    /// The type of the column.
    const SQL_TYPE: &'static str;

    fn to_value(&self) -> SqlValue;
}

/// The type of a value's column.
pub(super) fn column_type<T: ToValue + ?Sized>(_: &T) -> &'static str {
    T::SQL_TYPE
}

macro_rules! integer_values {
    ($($type:ty),+) => {$(
        impl ToValue for $type {
            const SQL_TYPE: &'static str = "bigint";

            fn to_value(&self) -> SqlValue {
                SqlValue::Integer((*self).into())
            }
        }
    )+};
}
integer_values!(i64, i32, u32, u8, bool);

macro_rules! word_values {
    ($($type:ty),+) => {$(
        impl ToValue for $type {
            const SQL_TYPE: &'static str = "text";

            fn to_value(&self) -> SqlValue {
                SqlValue::Text(self.as_str().to_owned())
            }
        }
    )+};
}
for_each_word_type!(word_values);

impl ToValue for u64 {
    const SQL_TYPE: &'static str = "bigint";

    fn to_value(&self) -> SqlValue {
        SqlValue::Integer(self.cast_signed())
    }
}

impl ToValue for f64 {
    const SQL_TYPE: &'static str = "double precision";

    fn to_value(&self) -> SqlValue {
        SqlValue::Number(*self)
    }
}

impl ToValue for str {
    const SQL_TYPE: &'static str = "text";

    fn to_value(&self) -> SqlValue {
        SqlValue::Text(self.to_owned())
    }
}

impl ToValue for String {
    const SQL_TYPE: &'static str = "text";

    fn to_value(&self) -> SqlValue {
        SqlValue::Text(self.clone())
    }
}

/// A time is stored in microseconds.
impl ToValue for Timestamp {
    const SQL_TYPE: &'static str = "bigint";

    fn to_value(&self) -> SqlValue {
        SqlValue::Integer(self.as_microsecond())
    }
}

impl<T: ToValue> ToValue for Option<T> {
    const SQL_TYPE: &'static str = T::SQL_TYPE;

    fn to_value(&self) -> SqlValue {
        self.as_ref().map_or(SqlValue::Null, T::to_value)
    }
}

impl<T: ToValue + ?Sized> ToValue for &T {
    const SQL_TYPE: &'static str = T::SQL_TYPE;

    fn to_value(&self) -> SqlValue {
        (**self).to_value()
    }
}

/// The values of a statement: `values![a, b]`.
macro_rules! values {
    ($($value:expr),* $(,)?) => {
        vec![$($crate::db::postgres::values::ToValue::to_value(&$value)),*]
    };
}
pub(super) use values;

/// Any value, which is only tested for null.
struct AnyValue;

impl FromSql<'_> for AnyValue {
    fn from_sql(_: &Type, _: &[u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self)
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

impl DatabaseRow for Row {
    type Error = StoreError;

    fn is_null(&self, column: usize) -> Result<bool, StoreError> {
        Ok(self.try_get::<_, Option<AnyValue>>(column)?.is_none())
    }

    fn read_integer(&self, column: usize) -> Result<i64, StoreError> {
        match *self.columns().get(column).map_or(&Type::INT8, |column| column.type_()) {
            Type::BOOL => Ok(self.try_get::<_, bool>(column)?.into()),
            Type::INT4 => Ok(self.try_get::<_, i32>(column)?.into()),
            _ => Ok(self.try_get(column)?),
        }
    }

    fn read_number(&self, column: usize) -> Result<f64, StoreError> {
        Ok(self.try_get(column)?)
    }

    fn read_text(&self, column: usize) -> Result<String, StoreError> {
        Ok(unescape_text(self.try_get(column)?))
    }

    fn refuse_value(column: usize, value: String) -> StoreError {
        StoreError::Database(format!("column {column} has an unknown value \"{value}\""))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_with_zero_bytes_and_escapes_come_back_as_they_were() {
        for text in ["", "a\0b", "\0", "\u{10FFFF}", "\u{10FFFF}0", "\u{10FFFF}1\0", "\0\0\u{10FFFF}\u{10FFFF}", "ü\0"]
        {
            let escaped = escape_text(text);
            assert!(!escaped.contains('\0'), "{text:?}");
            assert_eq!(unescape_text(&escaped), text);
        }
    }
}
