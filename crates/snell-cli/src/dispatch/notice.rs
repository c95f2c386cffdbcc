//! The text of a notice.

use serde::Serialize;
use snell::{AgentProduct, NoticeKind, Timestamp};
use snell_store::DispatchView;
use snell_store::record::redaction;

use super::request_notice::RequestNotice;
use crate::output;

/// The longest title and body, in cells of a terminal.
const MAX_TITLE_CELLS: usize = 100;
const MAX_BODY_CELLS: usize = 300;

/// A notice as targets get it. Secrets are masked, and invisible characters escaped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Notice {
    /// An id that a repetition has too.
    pub(crate) id: String,
    pub(crate) kind: &'static str,
    pub(crate) title: String,
    pub(crate) body: String,
    /// The agent's page.
    pub(crate) link: Option<String>,
    pub(crate) agent: Option<String>,
    pub(crate) agent_number: Option<i64>,
    pub(crate) session_id: Option<String>,
    pub(crate) project: String,
    pub(crate) project_dir: String,
    pub(crate) at: Timestamp,
    /// The request, if the user can answer it from elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) request: Option<RequestNotice>,
}

impl Notice {
    /// The notice of a change.
    pub(crate) fn from_change(change: &DispatchView, link: Option<String>) -> Self {
        let title = change.product.as_deref().map_or("An agent", find_product_title);
        let project = &change.project;
        let title = match change.kind {
            NoticeKind::NeedsUser => format!("{title} in {project} waits for you"),
            NoticeKind::Request => format!("{title} in {project} asks you"),
            NoticeKind::Idle => format!("{title} in {project} ended its turn"),
            NoticeKind::Blocked => format!("{title} in {project}: a call was blocked"),
            NoticeKind::Ended => format!("{title} in {project} ended"),
        };
        let last_words = change.last_words.as_deref().filter(|_| change.kind == NoticeKind::Idle);
        Self {
            id: change.uid.clone(),
            kind: change.kind.as_str(),
            title: clean_text(&title, MAX_TITLE_CELLS),
            body: clean_text(last_words.unwrap_or(&change.text), MAX_BODY_CELLS),
            link,
            agent: change.product.clone(),
            agent_number: Some(change.agent_id),
            session_id: change.session_id.clone(),
            project: clean_text(project, MAX_TITLE_CELLS),
            project_dir: change.project_path.clone(),
            at: change.at,
            request: None,
        }
    }

    /// The notice of `snell notices test`.
    pub(crate) fn for_test(project: &std::path::Path, at: Timestamp) -> Self {
        Self {
            id: format!("test-{:x}", Timestamp::now().as_nanosecond()),
            kind: "test",
            title: "Snell: a test".into(),
            body: "Notices arrive here.".into(),
            link: None,
            agent: None,
            agent_number: None,
            session_id: None,
            project: project.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            project_dir: project.display().to_string(),
            at,
            request: None,
        }
    }

    /// The same about this request.
    pub(super) fn with_request(self, request: Option<RequestNotice>) -> Self {
        let mut body = self.body;
        for line in request.iter().flat_map(|request| &request.reading) {
            body.push_str("\n• ");
            body.push_str(line);
        }
        Self { request, body, ..self }
    }

    /// The body, with the link on a line of its own.
    pub(crate) fn body_with_link(&self) -> String {
        match &self.link {
            Some(link) => format!("{}\n{link}", self.body),
            None => self.body.clone(),
        }
    }
}

/// The title of a product. An agent that calls `snell run` has only the name that it gave.
fn find_product_title(name: &str) -> &str {
    AgentProduct::all().iter().find(|product| product.name == name).map_or(name, |product| product.title)
}

pub(super) fn clean_text(text: &str, cells: usize) -> String {
    output::escape_invisible(&output::shorten_to_one_line(&redaction::mask_secrets(text), cells))
}
