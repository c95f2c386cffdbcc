//! The values of a filter form, and the error in one of its fields.
//!
//! An invalid form keeps all values and shows the error, so that nothing has to be typed again.

use std::fmt::Write;

use axum::http::StatusCode;
use axum::response::Response;
use maud::{Markup, PreEscaped, html};
use snell::mark_invisible_chars;

use super::format::{capitalize, to_sentence};
use crate::http::errors::HttpError;
use crate::http::query_params::QueryParams;

/// The values of the fields that are not empty.
#[derive(Clone, Debug, Default)]
pub(super) struct FormValues(Vec<(&'static str, String)>);

impl FormValues {
    pub(super) fn from_query(query: &QueryParams<'_>, fields: &[&'static str]) -> Self {
        let values = fields.iter().filter_map(|name| Some((*name, query.owned_text(name)?)));
        Self(values.collect())
    }

    /// Parses a form: its values, and the resulting parameters or the invalid field. Other errors are returned as they
    /// are.
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

    /// The value of a field, or an empty string.
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

    /// Every field has this value, for tests.
    #[cfg(test)]
    pub(super) fn with_all(fields: &[&'static str], text: &str) -> Self {
        Self(fields.iter().map(|name| (*name, text.to_owned())).collect())
    }
}

/// The error in a field.
#[derive(Clone, Debug)]
pub(super) struct FormFieldError {
    field: String,
    message: String,
}

impl FormFieldError {
    /// The error if it is about a field of the form; other errors stay errors.
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

/// The labels of fields that differ from their parameter names.
const FIELD_LABELS: &[(&str, &str)] =
    &[("agent_id", "Agent"), ("events", "Other events"), ("project_id", "Project"), ("session_id", "Session")];

/// The label of a field.
fn find_field_label(field: &str) -> String {
    match FIELD_LABELS.iter().find(|(name, _)| *name == field) {
        Some((_, label)) => (*label).to_owned(),
        None => capitalize(field),
    }
}

/// The id of the error message.
const ERROR_ELEMENT_ID: &str = "trouble";

/// A form with its values and the error in one field.
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

    /// The response with the page of the form: a bad request if a field is invalid.
    pub(super) fn respond(self, mut page: Response) -> Response {
        if self.error.is_some() {
            *page.status_mut() = StatusCode::BAD_REQUEST;
        }
        page
    }

    pub(super) fn value(self, name: &str) -> &'a str {
        self.values.value(name)
    }

    /// The value of a field for its HTML attribute. Invisible characters are preserved.
    pub(super) fn escaped_value(self, name: &str) -> Markup {
        let escaped = html! { (self.value(name)) }.into_string();
        let mut value = String::with_capacity(escaped.len());
        for (c, is_seen) in mark_invisible_chars(&escaped) {
            if is_seen {
                value.push(c);
            } else {
                // Writing to a string cannot fail.
                let _ = write!(value, "&#{};", u32::from(c));
            }
        }
        PreEscaped(value)
    }

    /// The `aria-invalid` attribute of a field.
    pub(super) fn aria_invalid(self, name: &str) -> Option<&'static str> {
        self.has_error(name).then_some("true")
    }

    /// The `aria-describedby` attribute of a field.
    pub(super) fn aria_describedby(self, name: &str) -> Option<&'static str> {
        self.has_error(name).then_some(ERROR_ELEMENT_ID)
    }

    fn has_error(self, name: &str) -> bool {
        self.error.is_some_and(|error| error.field == name)
    }

    /// The error message.
    pub(super) fn render_error(self) -> Markup {
        html! {
            @if let Some(error) = self.error {
                p id=(ERROR_ELEMENT_ID) .trouble role="alert" { (to_sentence(&error.message)) }
            }
        }
    }
}
