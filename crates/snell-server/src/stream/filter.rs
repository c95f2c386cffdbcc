//! The changes that a client wants.

use snell::UserMessage;
use snell_store::ChangeKind;

use crate::http::errors::HttpError;
use crate::http::query_params::QueryParams;
use crate::stream::sse_frame::SseFrame;

/// The changes that a client wants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct StreamFilter {
    /// Only these kinds; all if empty.
    kinds: Vec<ChangeKind>,
    project_id: Option<i64>,
    agent_id: Option<i64>,
}

impl StreamFilter {
    pub(super) fn parse(query: &QueryParams<'_>) -> Result<Self, HttpError> {
        let mut kinds = Vec::new();
        let words = query.text("types").into_iter().flat_map(|types| types.split(','));
        for word in words.map(str::trim).filter(|word| !word.is_empty()) {
            let Some(kind) = ChangeKind::parse(word) else {
                let known: Vec<_> = ChangeKind::ALL.iter().map(|kind| kind.as_str()).collect();
                let message = UserMessage::new("unknown type of change in \"types\"");
                return Err(HttpError::bad_request(message.with_hint(format!("known types: {}", known.join(", ")))));
            };
            kinds.push(kind);
        }
        Ok(Self { kinds, project_id: query.id("project_id")?, agent_id: query.id("agent_id")? })
    }

    /// Whether it matches every change.
    pub(super) fn matches_all(&self) -> bool {
        *self == Self::default()
    }

    pub(super) fn matches(&self, frame: &SseFrame) -> bool {
        (self.kinds.is_empty() || self.kinds.contains(&frame.kind))
            && self.project_id.is_none_or(|id| id == frame.project_id)
            && self.agent_id.is_none_or(|id| id == frame.agent_id)
    }
}
