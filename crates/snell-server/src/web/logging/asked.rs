//! What is asked of the log.

use snell::{EventName, Timestamp};
use snell_store::LogFilter;

use crate::api::DECISIONS;
use crate::error::Refusal;
use crate::query::{Query, id};
use crate::web::address::address;

/// By what the log can be narrowed, as it stands in addresses and in the form.
const FILTERS: &[&str] = &[
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

/// The same, and where a page begins.
pub(super) const PARAMETERS: &[&str] = &[
    "q",
    "event",
    "tool",
    "decision",
    "project_id",
    "agent_id",
    "session_id",
    "since",
    "until",
    "before",
];

/// What is asked of the log.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    /// What each filter was told, as it was written.
    told: Vec<(&'static str, String)>,
    pub(super) filter: LogFilter,
    /// What is searched for.
    pub(super) text: Option<String>,
}

impl Asked {
    pub(super) fn read(query: &Query<'_>, now: Timestamp) -> Result<Self, Refusal> {
        let told = FILTERS.iter().filter_map(|name| Some((*name, query.string(name)?)));
        let known = |word: &str| DECISIONS.iter().copied().find(|known| *known == word);
        let decision = query.word("decision", known, DECISIONS.iter().copied())?;
        Ok(Self {
            told: told.collect(),
            filter: LogFilter {
                agent_id: query.id("agent_id")?,
                project_id: query.id("project_id")?,
                session: query.string("session_id"),
                event: query
                    .text("event")
                    .map(|name| EventName::parse(name).as_str().to_owned()),
                tool: query.string("tool"),
                decision: decision.map(str::to_owned),
                since: query.time("since", now)?,
                until: query.time("until", now)?,
                before_id: query.before(id)?,
                ..LogFilter::default()
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

    /// What a filter was told; nothing is an empty text.
    pub(super) fn told(&self, name: &str) -> &str {
        let found = self.told.iter().find(|(other, _)| *other == name);
        found.map_or("", |(_, value)| value)
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
        let told = self.told.iter().map(|(name, value)| (*name, value.as_str()));
        address(path, told.chain([("before", before.as_str())]))
    }

    /// An address that asks for the same up to now.
    pub(super) fn without_end(&self, path: &str) -> String {
        let told = self.told.iter().filter(|(name, _)| *name != "until");
        address(path, told.map(|(name, value)| (*name, value.as_str())))
    }

    /// Every filter is told this, for tests.
    #[cfg(test)]
    pub(super) fn with(text: &str) -> Self {
        Self {
            told: FILTERS.iter().map(|name| (*name, text.to_owned())).collect(),
            filter: LogFilter::default(),
            text: Some(text.to_owned()),
        }
    }
}
