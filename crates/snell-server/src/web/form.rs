//! What the fields of a form were told, and what is wrong with it.
//!
//! A form whose field is wrong comes back with everything that was typed and a sentence beside it, so that nothing has to be
//! typed again.

use std::fmt::Write;

use axum::http::StatusCode;
use axum::response::Response;
use maud::{Markup, PreEscaped, html};
use snell::mark_unseen;

use super::words::{capital, sentence};
use crate::error::Refusal;
use crate::query::Query;

/// What each field was told, as it was written; fields that were told nothing are left out.
#[derive(Clone, Debug, Default)]
pub(super) struct Told(Vec<(&'static str, String)>);

impl Told {
    pub(super) fn read(query: &Query<'_>, fields: &[&'static str]) -> Self {
        let told = fields.iter().filter_map(|name| Some((*name, query.string(name)?)));
        Self(told.collect())
    }

    /// What a field was told; nothing is an empty text.
    pub(super) fn of(&self, name: &str) -> &str {
        let found = self.0.iter().find(|(other, _)| *other == name);
        found.map_or("", |(_, value)| value)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (*name, value.as_str()))
    }

    /// Every field is told this, for tests.
    #[cfg(test)]
    pub(super) fn with(fields: &[&'static str], text: &str) -> Self {
        Self(fields.iter().map(|name| (*name, text.to_owned())).collect())
    }
}

/// What is wrong with a field.
#[derive(Clone, Debug)]
pub(super) struct Trouble {
    field: String,
    message: String,
}

impl Trouble {
    /// What a form can show of a refusal. One that is about none of its fields stays a refusal.
    pub(super) fn of(refusal: Refusal, fields: &[&str]) -> Result<Self, Refusal> {
        match refusal {
            Refusal::BadValue { name, message } if fields.contains(&name.as_str()) => Ok(Self {
                message: message.replacen(&format!("\"{name}\""), &format!("\"{}\"", label(&name)), 1),
                field: name,
            }),
            other => Err(other),
        }
    }
}

/// What forms call fields whose name in an address is another one.
const LABELS: &[(&str, &str)] = &[
    ("agent_id", "Agent"),
    ("events", "Other events"),
    ("project_id", "Project"),
    ("session_id", "Session"),
];

/// What the form calls a field.
fn label(field: &str) -> String {
    match LABELS.iter().find(|(name, _)| *name == field) {
        Some((_, label)) => (*label).to_owned(),
        None => capital(field),
    }
}

/// The id of the sentence that says what is wrong.
const SENTENCE: &str = "trouble";

/// A form as it is shown: what its fields were told, and what is wrong with one of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Form<'a> {
    pub(super) told: &'a Told,
    pub(super) trouble: Option<&'a Trouble>,
}

impl<'a> Form<'a> {
    pub(super) fn sound(told: &'a Told) -> Self {
        Self { told, trouble: None }
    }

    pub(super) fn of(self, name: &str) -> &'a str {
        self.told.of(name)
    }

    /// What a field was told, for its value: also what is not seen of it comes back as it was typed.
    pub(super) fn typed(self, name: &str) -> Markup {
        let escaped = html! { (self.of(name)) }.into_string();
        let mut value = String::with_capacity(escaped.len());
        for (c, is_seen) in mark_unseen(&escaped) {
            if is_seen {
                value.push(c);
            } else {
                // Nothing can go wrong in writing to a text.
                let _ = write!(value, "&#{};", u32::from(c));
            }
        }
        PreEscaped(value)
    }

    /// Whether a field is wrong, as an attribute says it.
    pub(super) fn wrong(self, name: &str) -> Option<&'static str> {
        self.is_wrong(name).then_some("true")
    }

    /// Where it is said what is wrong with a field.
    pub(super) fn why(self, name: &str) -> Option<&'static str> {
        self.is_wrong(name).then_some(SENTENCE)
    }

    fn is_wrong(self, name: &str) -> bool {
        self.trouble.is_some_and(|trouble| trouble.field == name)
    }

    /// What is wrong, in a sentence.
    pub(super) fn message(self) -> Markup {
        html! {
            @if let Some(trouble) = self.trouble {
                p id=(SENTENCE) .trouble role="alert" { (sentence(&trouble.message)) }
            }
        }
    }
}

/// A page with a form that cannot be followed.
pub(super) fn not_followed(mut page: Response) -> Response {
    *page.status_mut() = StatusCode::BAD_REQUEST;
    page
}
