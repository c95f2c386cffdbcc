//! The query parameters of the log.

use snell::Timestamp;
use snell_store::LogFilter;

use crate::api::{DECISIONS, parse_event_filter};
use crate::http::errors::HttpError;
use crate::http::query_params::{QueryParams, parse_id};
use crate::web::agent::decision_label;
use crate::web::filter_form::FormValues;
use crate::web::format::canonical_decision;
use crate::web::page_url::build_url;

/// The filters of the log, in addresses and in the form.
pub(super) const FILTER_FIELDS: &[&str] =
    &["q", "event", "tool", "decision", "project_id", "agent_id", "session_id", "since", "until"];

/// The start of a page.
pub(super) const PAGING_FIELDS: &[&str] = &["before"];

/// The query parameters of the log.
#[derive(Clone, Debug)]
pub(super) struct LogParams {
    /// The values of the form.
    pub(super) values: FormValues,
    pub(super) filter: LogFilter,
    /// The text to search for.
    pub(super) text: Option<String>,
}

impl LogParams {
    pub(super) fn parse(query: &QueryParams<'_>, now: Timestamp) -> Result<Self, HttpError> {
        let parse = |name: &str| {
            let mut all = DECISIONS.iter().copied();
            all.find(|known| canonical_decision(known) == canonical_decision(name))
        };
        let words = DECISIONS.iter().map(|word| decision_label(word));
        let decided = query.choice("decision", parse, words)?;
        Ok(Self {
            values: FormValues::from_query(query, FILTER_FIELDS),
            filter: LogFilter {
                agent_id: query.agent_id("agent_id")?,
                decision: decided.map(str::to_owned),
                before_id: query.older_than_cursor(parse_id)?,
                ..parse_event_filter(query, now)?
            },
            text: query.owned_text("q"),
        })
    }

    /// The same filters, only for events after this one.
    pub(super) fn after_event(&self, id: i64) -> Self {
        let filter = LogFilter { after_id: Some(id), before_id: None, ..self.filter.clone() };
        Self { filter, ..self.clone() }
    }

    /// Whether a filter is set.
    pub(super) fn is_filtered(&self) -> bool {
        !self.values.is_empty()
    }

    /// Whether new events belong to the list: it is not an older page and has no end time.
    pub(super) fn is_live(&self) -> bool {
        self.filter.before_id.is_none() && self.filter.until.is_none()
    }

    /// The address of the same filters, from an event on.
    pub(super) fn url_for(&self, path: &str, before: Option<i64>) -> String {
        let before = before.map(|before| before.to_string()).unwrap_or_default();
        build_url(path, self.values.pairs().chain([("before", before.as_str())]))
    }

    /// The address of the same filters up to now.
    pub(super) fn url_without_until(&self, path: &str) -> String {
        build_url(path, self.values.pairs().filter(|(name, _)| *name != "until"))
    }

    /// Every filter has this value, for tests.
    #[cfg(test)]
    pub(super) fn with_text(text: &str) -> Self {
        Self {
            values: FormValues::with_all(FILTER_FIELDS, text),
            filter: LogFilter::default(),
            text: Some(text.to_owned()),
        }
    }
}
