//! The query parameters of a timeline.

use axum::http::Uri;

use super::item_kind::{ONLY_PARAM, TIMELINE_KINDS, TimelineKindFilter};
use super::timeline_item::TimelineCursor;
use crate::http::errors::HttpError;
use crate::http::query_params::QueryParams;
use crate::web::page_url::build_url;

/// The query parameters of a timeline.
pub(super) struct TimelineParams {
    pub(super) agent_id: i64,
    pub(super) kinds: TimelineKindFilter,
    pub(super) before: TimelineCursor,
}

impl TimelineParams {
    /// Parses the query of a timeline.
    pub(super) fn parse_query(uri: &Uri) -> Result<QueryParams<'_>, HttpError> {
        let known: Vec<_> = kind_names().chain([ONLY_PARAM, "before"]).collect();
        QueryParams::parse(uri.query(), &known)
    }

    pub(super) fn parse(agent_id: i64, query: &QueryParams<'_>) -> Result<Self, HttpError> {
        Ok(Self {
            agent_id,
            kinds: TimelineKindFilter::parse(query)?,
            before: query.older_than_cursor(TimelineCursor::parse)?.unwrap_or_default(),
        })
    }

    /// Whether this is the newest page, which is live.
    pub(super) fn is_live(&self) -> bool {
        self.before == TimelineCursor::default()
    }

    /// The address of the fragment with the newest rows of these kinds, and the end.
    pub(super) fn fragment_url(&self) -> String {
        self.url_for(&format!("/fragments/agents/{}/timeline", self.agent_id), None)
    }

    /// An address for the same kinds.
    pub(super) fn url_for(&self, path: &str, before: Option<TimelineCursor>) -> String {
        let before = before.map(|before| before.to_string()).unwrap_or_default();
        let kinds = self.kinds.chosen_names();
        build_url(path, kinds.into_iter().map(|name| (name, "1")).chain([("before", before.as_str())]))
    }
}

/// The query parameters of the kinds.
pub(super) fn kind_names() -> impl Iterator<Item = &'static str> {
    TIMELINE_KINDS.iter().map(|(_, name, _)| *name)
}
