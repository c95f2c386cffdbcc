//! Query parameters. Unknown and repeated parameters are errors.

use std::borrow::Cow;
use std::time::Duration;

use axum::http::Uri;
use jiff::{Span, SpanRelativeTo};
use snell::{Timestamp, UserMessage};
use url::form_urlencoded;

use crate::http::errors::HttpError;
use crate::http::rfc3339;

/// The default number of items of a page.
const DEFAULT_LIMIT: &str = "50";
/// The maximum number of items of a page.
const MAX_LIMIT: u32 = 500;

/// The longest part of a value that a message repeats.
const MAX_ECHOED_BYTES: usize = 60;

/// The parameters of a request.
#[derive(Debug)]
pub(crate) struct QueryParams<'q> {
    pairs: Vec<(Cow<'q, str>, Cow<'q, str>)>,
}

impl<'q> QueryParams<'q> {
    /// Parses the parameters. All names must be known. A parameter without a value is ignored.
    pub(crate) fn parse(text: Option<&'q str>, known: &[&str]) -> Result<Self, HttpError> {
        let mut pairs: Vec<(Cow<'_, str>, Cow<'_, str>)> = Vec::new();
        for (name, value) in form_urlencoded::parse(text.unwrap_or_default().as_bytes()) {
            if !known.contains(&name.as_ref()) {
                let hint = match known {
                    [] => "this address has no parameters".to_owned(),
                    known => format!("known parameters: {}", known.join(", ")),
                };
                let text = format!("unknown parameter \"{}\"", truncate_value(&name));
                return Err(HttpError::bad_request(UserMessage::new(text).with_hint(hint)));
            }
            if pairs.iter().any(|(other, _)| *other == name) {
                let text = format!("parameter \"{name}\" appears twice");
                return Err(HttpError::bad_request(UserMessage::new(text).with_hint("send it once")));
            }
            pairs.push((name, value));
        }
        Ok(Self { pairs })
    }

    /// The same with two lists of known names.
    pub(crate) fn parse_with(text: Option<&'q str>, filters: &[&str], beside: &[&str]) -> Result<Self, HttpError> {
        Self::parse(text, &[filters, beside].concat())
    }

    /// The value of a parameter, which may be empty.
    fn raw_value(&self, name: &str) -> Option<&str> {
        let pair = self.pairs.iter().find(|(other, _)| other == name);
        pair.map(|(_, value)| value.as_ref())
    }

    /// The value of a parameter without surrounding white space.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.raw_value(name).map(str::trim).filter(|value| !value.is_empty())
    }

    /// The value, owned.
    pub(crate) fn owned_text(&self, name: &str) -> Option<String> {
        self.text(name).map(str::to_owned)
    }

    /// Parses a value.
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

    /// A positive number.
    pub(crate) fn id(&self, name: &str) -> Result<Option<i64>, HttpError> {
        self.parse_value(name, parse_id, || "a positive number".into())
    }

    /// The number of an agent, also in the form of pages: `#3`.
    pub(crate) fn agent_id(&self, name: &str) -> Result<Option<i64>, HttpError> {
        let number = |text: &str| parse_id(text.strip_prefix('#').unwrap_or(text));
        self.parse_value(name, number, || "an agent's number such as 3 or #3".into())
    }

    /// The number of items per page.
    pub(crate) fn limit(&self) -> Result<u32, HttpError> {
        let fits = |text: &str| text.parse().ok().filter(|limit| (1..=MAX_LIMIT).contains(limit));
        // An empty limit is an error, unlike other empty values.
        let text = self.raw_value("limit").unwrap_or(DEFAULT_LIMIT);
        fits(text).ok_or_else(|| bad_value_error("limit", text, &format!("a number from 1 to {MAX_LIMIT}")))
    }

    /// `true` or `false`.
    pub(crate) fn flag(&self, name: &str) -> Result<bool, HttpError> {
        let flag = self.parse_value(name, |text| text.parse().ok(), || "true or false".into())?;
        Ok(flag.unwrap_or(false))
    }

    /// A time or an age.
    pub(crate) fn timestamp(&self, name: &str, now: Timestamp) -> Result<Option<Timestamp>, HttpError> {
        self.parse_value(
            name,
            |text| parse_time_or_ago(text, now),
            || "a time such as 2025-12-31T10:30:00Z or 2025-12-31 (UTC), or an age such as 2h".into(),
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

    /// The position where a page continues: `next` of the previous one.
    pub(crate) fn before_cursor<T>(&self, read: impl FnOnce(&str) -> Option<T>) -> Result<Option<T>, HttpError> {
        self.parse_value("before", read, || "the value of \"next\" of the previous page".into())
    }

    /// The same in the page's links.
    pub(crate) fn older_than_cursor<T>(&self, read: impl FnOnce(&str) -> Option<T>) -> Result<Option<T>, HttpError> {
        self.parse_value("before", read, || "the value in the link \"Older\" of a page".into())
    }
}

/// A positive number.
pub(crate) fn parse_id(text: &str) -> Option<i64> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|id| is_plain && *id > 0)
}

/// The number at this position of a path.
pub(crate) fn parse_path_id(uri: &Uri, place: usize, item: &str, example: &str) -> Result<i64, HttpError> {
    let id = uri.path().split('/').nth(place).and_then(parse_id);
    id.ok_or_else(|| {
        let message = UserMessage::new(format!("the path has no valid {item} number"));
        HttpError::bad_request(message.with_hint(format!("use a path such as {example}")))
    })
}

fn parse_time_or_ago(text: &str, now: Timestamp) -> Option<Timestamp> {
    let ago = || {
        let span: Span = text.parse().ok()?;
        let duration = span.to_duration(SpanRelativeTo::days_are_24_hours()).ok()?;
        // Negative ages are invalid.
        now.checked_sub(Duration::try_from(duration).ok()?).ok()
    };
    rfc3339::parse_typed_timestamp(text).or_else(ago)
}

fn bad_value_error(name: &str, value: &str, expected: &str) -> HttpError {
    HttpError::BadValue {
        name: name.to_owned(),
        message: format!("\"{name}\" must be {expected}, not \"{}\"", truncate_value(value)),
    }
}

/// The start of a value, short enough for a message.
fn truncate_value(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_ECHOED_BYTES)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error_message(refused: Result<impl std::fmt::Debug, HttpError>) -> String {
        match refused {
            Err(refusal @ (HttpError::BadRequest(_) | HttpError::BadValue { .. })) => refusal.message().to_string(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn messages_name_the_mistake_and_the_remedy() {
        let known = &["limit", "agent_id", "ended", "since", "before"];
        let read = |text| QueryParams::parse(Some(text), known).unwrap();
        let now = "2026-03-01T12:00:00Z".parse().unwrap();
        let all = "(hint: known parameters: limit, agent_id, ended, since, before)";
        let cases = [
            (error_message(QueryParams::parse(Some("a=1"), known)), format!("unknown parameter \"a\" {all}")),
            (
                error_message(QueryParams::parse(Some("x"), &[])),
                "unknown parameter \"x\" (hint: this address has no parameters)".into(),
            ),
            (
                error_message(QueryParams::parse(Some("limit=1&limit=2"), known)),
                "parameter \"limit\" appears twice (hint: send it once)".into(),
            ),
            (error_message(read("limit=0").limit()), "\"limit\" must be a number from 1 to 500, not \"0\"".into()),
            (error_message(read("limit=").limit()), "\"limit\" must be a number from 1 to 500, not \"\"".into()),
            (error_message(read("limit=501").limit()), "\"limit\" must be a number from 1 to 500, not \"501\"".into()),
            (
                error_message(read("agent_id=-1").id("agent_id")),
                "\"agent_id\" must be a positive number, not \"-1\"".into(),
            ),
            (error_message(read("ended=yes").flag("ended")), "\"ended\" must be true or false, not \"yes\"".into()),
            (
                error_message(read("since=then").timestamp("since", now)),
                "\"since\" must be a time such as 2025-12-31T10:30:00Z or 2025-12-31 (UTC), or an age such as 2h, not \
                 \"then\""
                    .into(),
            ),
        ];
        for (found, expected) in cases {
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn a_time_is_absolute_or_an_age() {
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
