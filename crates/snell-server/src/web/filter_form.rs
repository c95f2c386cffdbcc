//! What the fields of a form were told, and what is wrong with it.
//!
//! A form whose field is wrong comes back with everything that was typed and a sentence beside it, so that nothing has to be
//! typed again.

use std::fmt::Write;

use axum::http::StatusCode;
use axum::response::Response;
use maud::{Markup, PreEscaped, html};
use snell::mark_invisible_chars;

use super::format::{capitalize, to_sentence};
use crate::http::errors::HttpError;
use crate::http::query_params::QueryParams;

/// What each field was told, as it was written; fields that were told nothing are left out.
#[derive(Clone, Debug, Default)]
pub(super) struct FormValues(Vec<(&'static str, String)>);

impl FormValues {
    pub(super) fn from_query(query: &QueryParams<'_>, fields: &[&'static str]) -> Self {
        let values = fields.iter().filter_map(|name| Some((*name, query.owned_text(name)?)));
        Self(values.collect())
    }

    /// Reads a form: its values, and the parameters that they mean, or the field that is wrong. What is wrong with
    /// anything but a field of the form is an error.
    pub(super) fn parse_form<T>(
        query: &QueryParams<'_>,
        fields: &[&'static str],
        parse: impl FnOnce(&QueryParams<'_>) -> Result<T, HttpError>,
    ) -> Result<(Self, Result<T, FormFieldError>), HttpError> {
        let params = match parse(query) {
            Ok(params) => Ok(params),
            Err(refusal) => Err(FormFieldError::from_http_error(refusal, fields)?),
        };
        Ok((Self::from_query(query, fields), params))
    }

    /// What a field was told; nothing is an empty text.
    pub(super) fn value(&self, name: &str) -> &str {
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
    pub(super) fn with_all(fields: &[&'static str], text: &str) -> Self {
        Self(fields.iter().map(|name| (*name, text.to_owned())).collect())
    }
}

/// What is wrong with a field.
#[derive(Clone, Debug)]
pub(super) struct FormFieldError {
    field: String,
    message: String,
}

impl FormFieldError {
    /// What a form can show of a refusal. One that is about none of its fields stays a refusal.
    fn from_http_error(refusal: HttpError, fields: &[&str]) -> Result<Self, HttpError> {
        match refusal {
            HttpError::BadValue { name, message } if fields.contains(&name.as_str()) => Ok(Self {
                message: message.replacen(&format!("\"{name}\""), &format!("\"{}\"", find_field_label(&name)), 1),
                field: name,
            }),
            other => Err(other),
        }
    }
}

/// What forms call fields whose name in an address is another one.
const FIELD_LABELS: &[(&str, &str)] =
    &[("agent_id", "Agent"), ("events", "Other events"), ("project_id", "Project"), ("session_id", "Session")];

/// What the form calls a field.
fn find_field_label(field: &str) -> String {
    match FIELD_LABELS.iter().find(|(name, _)| *name == field) {
        Some((_, label)) => (*label).to_owned(),
        None => capitalize(field),
    }
}

/// The id of the sentence that says what is wrong.
const ERROR_ELEMENT_ID: &str = "trouble";

/// A form as it is shown: what its fields were told, and what is wrong with one of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct FilterForm<'a> {
    pub(super) values: &'a FormValues,
    pub(super) error: Option<&'a FormFieldError>,
}

impl<'a> FilterForm<'a> {
    #[cfg(test)]
    pub(super) fn without_error(values: &'a FormValues) -> Self {
        Self { values, error: None }
    }

    /// The answer with a page that has the form. It is a bad request if a field is wrong.
    pub(super) fn respond(self, mut page: Response) -> Response {
        if self.error.is_some() {
            *page.status_mut() = StatusCode::BAD_REQUEST;
        }
        page
    }

    pub(super) fn value(self, name: &str) -> &'a str {
        self.values.value(name)
    }

    /// What a field was told, for its value: also what is not seen of it comes back as it was typed.
    pub(super) fn escaped_value(self, name: &str) -> Markup {
        let escaped = html! { (self.value(name)) }.into_string();
        let mut value = String::with_capacity(escaped.len());
        for (c, is_seen) in mark_invisible_chars(&escaped) {
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
    pub(super) fn aria_invalid(self, name: &str) -> Option<&'static str> {
        self.has_error(name).then_some("true")
    }

    /// Where it is said what is wrong with a field.
    pub(super) fn aria_describedby(self, name: &str) -> Option<&'static str> {
        self.has_error(name).then_some(ERROR_ELEMENT_ID)
    }

    fn has_error(self, name: &str) -> bool {
        self.error.is_some_and(|trouble| trouble.field == name)
    }

    /// What is wrong, in a sentence.
    pub(super) fn render_error(self) -> Markup {
        html! {
            @if let Some(trouble) = self.error {
                p id=(ERROR_ELEMENT_ID) .trouble role="alert" { (to_sentence(&trouble.message)) }
            }
        }
    }
}
