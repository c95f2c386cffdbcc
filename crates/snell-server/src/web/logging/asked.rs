//! What is asked of the log.

use snell::Timestamp;
use snell_store::LogFilter;

use crate::api::{DECISIONS, event_filter};
use crate::error::Refusal;
use crate::query::{Query, id};
use crate::web::address::address;
use crate::web::agent::verdict_word;
use crate::web::form::Told;
use crate::web::words::decision;

/// By what the log can be narrowed, as it stands in addresses and in the form.
pub(super) const FILTERS: &[&str] = &[
    "q",
    "event",
    "tool",
    "decision",
    "project_id",
    "agent_id",
    "session_id",
    "since",
    "until",
];

/// Where a page begins.
pub(super) const PLACE: &[&str] = &["before"];

/// What is asked of the log.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    /// What each filter was told.
    pub(super) told: Told,
    pub(super) filter: LogFilter,
    /// What is searched for.
    pub(super) text: Option<String>,
}

impl Asked {
    pub(super) fn read(query: &Query<'_>, now: Timestamp) -> Result<Self, Refusal> {
        let known = |told: &str| {
            let mut all = DECISIONS.iter().copied();
            all.find(|known| decision(known) == decision(told))
        };
        let words = DECISIONS.iter().map(|word| verdict_word(word));
        let decided = query.word("decision", known, words)?;
        Ok(Self {
            told: Told::read(query, FILTERS),
            filter: LogFilter {
                agent_id: query.agent("agent_id")?,
                decision: decided.map(str::to_owned),
                before_id: query.older_than(id)?,
                ..event_filter(query, now)?
            },
            text: query.string("q"),
        })
    }

    /// The same, but only what came after an event.
    pub(super) fn after(&self, id: i64) -> Self {
        let filter = LogFilter {
            after_id: Some(id),
            before_id: None,
            ..self.filter.clone()
        };
        Self { filter, ..self.clone() }
    }

    /// Whether anything is left out.
    pub(super) fn is_narrowed(&self) -> bool {
        !self.told.is_empty()
    }

    /// Whether what happens now belongs to it: it is neither an older page nor one that ends at a time.
    pub(super) fn is_live(&self) -> bool {
        self.filter.before_id.is_none() && self.filter.until.is_none()
    }

    /// An address that asks for the same, from a place on.
    pub(super) fn path(&self, path: &str, before: Option<i64>) -> String {
        let before = before.map(|before| before.to_string()).unwrap_or_default();
        address(path, self.told.pairs().chain([("before", before.as_str())]))
    }

    /// An address that asks for the same up to now.
    pub(super) fn without_end(&self, path: &str) -> String {
        address(path, self.told.pairs().filter(|(name, _)| *name != "until"))
    }

    /// Every filter is told this, for tests.
    #[cfg(test)]
    pub(super) fn with(text: &str) -> Self {
        Self {
            told: Told::with(FILTERS, text),
            filter: LogFilter::default(),
            text: Some(text.to_owned()),
        }
    }
}
