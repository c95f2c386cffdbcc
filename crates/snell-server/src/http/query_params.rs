//! What a request asks for after the question mark. A name that nobody knows is a mistake, and so is one that stands twice.

use std::borrow::Cow;
use std::time::Duration;

use axum::http::Uri;
use jiff::{Span, SpanRelativeTo};
use snell::Timestamp;
use url::form_urlencoded;

use crate::http::errors::HttpError;
use crate::http::rfc3339;

/// How many items a page has, unless it is said.
const DEFAULT_LIMIT: &str = "50";
/// How many it may have.
const MAX_LIMIT: u32 = 500;

/// How much of what was sent is repeated in a message.
const MAX_ECHOED_BYTES: usize = 60;

/// The parameters of a request.
#[derive(Debug)]
pub(crate) struct QueryParams<'q> {
    pairs: Vec<(Cow<'q, str>, Cow<'q, str>)>,
}

impl<'q> QueryParams<'q> {
    /// Reads parameters, of which only these are known. One without a value counts as if it were not there.
    pub(crate) fn parse(text: Option<&'q str>, known: &[&str]) -> Result<Self, HttpError> {
        let mut pairs: Vec<(Cow<'_, str>, Cow<'_, str>)> = Vec::new();
        for (name, value) in form_urlencoded::parse(text.unwrap_or_default().as_bytes()) {
            if !known.contains(&name.as_ref()) {
                let list = match known {
                    [] => "there are none here".to_owned(),
                    known => format!("known are {}", known.join(", ")),
                };
                return Err(HttpError::bad_request(format!("unknown parameter \"{}\"; {list}", truncate_value(&name))));
            }
            if pairs.iter().any(|(other, _)| *other == name) {
                return Err(HttpError::bad_request(format!("\"{name}\" stands twice; send it once")));
            }
            pairs.push((name, value));
        }
        Ok(Self { pairs })
    }

    /// The same, where these are known beside those by which something is chosen.
    pub(crate) fn parse_with(text: Option<&'q str>, filters: &[&str], beside: &[&str]) -> Result<Self, HttpError> {
        Self::parse(text, &[filters, beside].concat())
    }

    /// The value of a parameter, which may be empty.
    fn raw_value(&self, name: &str) -> Option<&str> {
        let pair = self.pairs.iter().find(|(other, _)| other == name);
        pair.map(|(_, value)| value.as_ref())
    }

    /// The value of a parameter. Blanks around it do not count.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.raw_value(name).map(str::trim).filter(|value| !value.is_empty())
    }

    /// The value, owned.
    pub(crate) fn owned_text(&self, name: &str) -> Option<String> {
        self.text(name).map(str::to_owned)
    }

    /// A value that can be read, or why not.
    fn parse_value<T>(
        &self,
        name: &str,
        read: impl FnOnce(&str) -> Option<T>,
        expected: impl FnOnce() -> String,
    ) -> Result<Option<T>, HttpError> {
        let Some(value) = self.text(name) else {
            return Ok(None);
        };
        match read(value) {
            Some(read) => Ok(Some(read)),
            None => Err(bad_value_error(name, value, &expected())),
        }
    }

    /// The number of something.
    pub(crate) fn id(&self, name: &str) -> Result<Option<i64>, HttpError> {
        self.parse_value(name, parse_id, || "a positive number".into())
    }

    /// The number of an agent, which may be written as pages show it: `#3`.
    pub(crate) fn agent_id(&self, name: &str) -> Result<Option<i64>, HttpError> {
        let number = |text: &str| parse_id(text.strip_prefix('#').unwrap_or(text));
        self.parse_value(name, number, || "the number of an agent, such as 3 or #3".into())
    }

    /// How many items a page may have.
    pub(crate) fn limit(&self) -> Result<u32, HttpError> {
        let fits = |text: &str| text.parse().ok().filter(|limit| (1..=MAX_LIMIT).contains(limit));
        // One that is empty is a mistake, for no page can have that many items.
        let told = self.raw_value("limit").unwrap_or(DEFAULT_LIMIT);
        fits(told).ok_or_else(|| bad_value_error("limit", told, &format!("a number from 1 to {MAX_LIMIT}")))
    }

    /// `true` or `false`.
    pub(crate) fn flag(&self, name: &str) -> Result<bool, HttpError> {
        let flag = self.parse_value(name, |text| text.parse().ok(), || "true or false".into())?;
        Ok(flag.unwrap_or(false))
    }

    /// A time, or how long ago it was.
    pub(crate) fn timestamp(&self, name: &str, now: Timestamp) -> Result<Option<Timestamp>, HttpError> {
        self.parse_value(
            name,
            |text| parse_time_or_ago(text, now),
            || {
                "a time such as 2025-12-31T10:30:00Z or 2025-12-31 (in UTC, unless a zone is named), or how long ago it \
                 was, such as 2h"
                    .into()
            },
        )
    }

    /// One of several words.
    pub(crate) fn choice<T: Copy>(
        &self,
        name: &str,
        parse: impl FnOnce(&str) -> Option<T>,
        all: impl Iterator<Item = &'static str>,
    ) -> Result<Option<T>, HttpError> {
        self.parse_value(name, parse, || format!("one of {}", all.collect::<Vec<_>>().join(", ")))
    }

    /// One row of a table, by its name.
    pub(crate) fn choice_from<T>(
        &self,
        name: &str,
        table: &'static [T],
        row_name: fn(&T) -> &'static str,
    ) -> Result<Option<&'static T>, HttpError> {
        self.choice(name, |word| table.iter().find(|row| row_name(row) == word), table.iter().map(row_name))
    }

    /// Where a page goes on, as the one before said.
    pub(crate) fn before_cursor<T>(&self, read: impl FnOnce(&str) -> Option<T>) -> Result<Option<T>, HttpError> {
        self.parse_value("before", read, || "what \"next\" of the page before says".into())
    }

    /// The same, for people.
    pub(crate) fn older_than_cursor<T>(&self, read: impl FnOnce(&str) -> Option<T>) -> Result<Option<T>, HttpError> {
        self.parse_value("before", read, || "as the link \"Older\" of a page has it".into())
    }
}

/// The number of something.
pub(crate) fn parse_id(text: &str) -> Option<i64> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|id| is_plain && *id > 0)
}

/// The number in a part of a path.
pub(crate) fn parse_path_id(uri: &Uri, place: usize, expected: &str) -> Result<i64, HttpError> {
    let named = uri.path().split('/').nth(place).and_then(parse_id);
    named.ok_or_else(|| HttpError::bad_request(expected))
}

fn parse_time_or_ago(text: &str, now: Timestamp) -> Option<Timestamp> {
    let ago = || {
        let span: Span = text.parse().ok()?;
        let duration = span.to_duration(SpanRelativeTo::days_are_24_hours()).ok()?;
        // What is yet to come is not so long ago.
        now.checked_sub(Duration::try_from(duration).ok()?).ok()
    };
    rfc3339::parse_typed_timestamp(text).or_else(ago)
}

fn bad_value_error(name: &str, value: &str, expected: &str) -> HttpError {
    HttpError::BadValue {
        name: name.to_owned(),
        message: format!("\"{name}\" is \"{}\"; it must be {expected}", truncate_value(value)),
    }
}

/// What was sent, short enough to be repeated.
fn truncate_value(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_ECHOED_BYTES)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error_message(refused: Result<impl std::fmt::Debug, HttpError>) -> String {
        match refused {
            Err(HttpError::BadRequest(message) | HttpError::BadValue { message, .. }) => message,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn mistakes_are_told_with_what_to_send_instead() {
        let known = &["limit", "agent_id", "ended", "since", "before"];
        let read = |text| QueryParams::parse(Some(text), known).unwrap();
        let now = "2026-03-01T12:00:00Z".parse().unwrap();
        let all = "known are limit, agent_id, ended, since, before";
        let cases = [
            (error_message(QueryParams::parse(Some("a=1"), known)), format!("unknown parameter \"a\"; {all}")),
            (error_message(QueryParams::parse(Some("x"), &[])), "unknown parameter \"x\"; there are none here".into()),
            (error_message(QueryParams::parse(Some("limit=1&limit=2"), known)), "\"limit\" stands twice; send it once".into()),
            (error_message(read("limit=0").limit()), "\"limit\" is \"0\"; it must be a number from 1 to 500".into()),
            (error_message(read("limit=").limit()), "\"limit\" is \"\"; it must be a number from 1 to 500".into()),
            (error_message(read("limit=501").limit()), "\"limit\" is \"501\"; it must be a number from 1 to 500".into()),
            (error_message(read("agent_id=-1").id("agent_id")), "\"agent_id\" is \"-1\"; it must be a positive number".into()),
            (error_message(read("ended=yes").flag("ended")), "\"ended\" is \"yes\"; it must be true or false".into()),
            (
                error_message(read("since=then").timestamp("since", now)),
                "\"since\" is \"then\"; it must be a time such as 2025-12-31T10:30:00Z or 2025-12-31 (in UTC, unless a zone \
                 is named), or how long ago it was, such as 2h"
                    .into(),
            ),
        ];
        for (found, expected) in cases {
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn a_time_is_told_or_how_long_ago_it_was() {
        let now = "2026-03-01T12:00:00Z".parse().unwrap();
        let cases = [
            ("2h", Some("2026-03-01T10:00:00Z")),
            ("3d", Some("2026-02-26T12:00:00Z")),
            ("2026-01-01T00:00:00Z", Some("2026-01-01T00:00:00Z")),
            ("9999-12-31T23:59:59Z", Some("9999-12-30T22:00:00.999999999Z")),
            ("2026-01-01", Some("2026-01-01T00:00:00Z")),
            ("2026-01-01 10:30", Some("2026-01-01T10:30:00Z")),
            ("-2h", None),
            ("2h ago", None),
            ("1mo", None),
            ("2026-01-01T00:00:00Z[UTC]", None),
        ];
        for (text, expected) in cases {
            let found = parse_time_or_ago(text, now).map(|at| at.to_string());
            assert_eq!(found.as_deref(), expected, "{text}");
        }
    }
}
