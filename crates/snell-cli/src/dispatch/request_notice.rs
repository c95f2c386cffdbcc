//! The part of a notice that answers a request: links to the page, and signed links for each answer.

use serde::Serialize;
use snell::Timestamp;
use snell_server::{AnswerKey, AnswerLink};
use snell_store::requests::{AnswerChannel, AnswerChoice, RequestKind, RequestView};

use super::notice::clean_text;

/// The longest text of a request, in cells of a terminal.
const MAX_TEXT_CELLS: usize = 300;

/// A request as targets get it. Its texts are masked, and invisible characters escaped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct RequestNotice {
    pub(crate) id: String,
    pub(crate) kind: RequestKind,
    pub(crate) tool: Option<String>,
    pub(crate) text: String,
    /// Lines that say what the call would do, as the guard reads it.
    pub(crate) reading: Vec<String>,
    pub(crate) expires_at: Timestamp,
    /// Links that answer, if the receiver has an address for other devices.
    pub(crate) answers: Vec<AnswerButton>,
}

/// A link that gives one answer to one request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct AnswerButton {
    pub(crate) answer: AnswerChoice,
    pub(crate) url: String,
}

impl AnswerButton {
    /// The text of the button.
    pub(crate) fn label(&self) -> &'static str {
        match self.answer {
            AnswerChoice::Allow => "Allow",
            AnswerChoice::Deny => "Deny",
            AnswerChoice::Reply => "Reply",
        }
    }
}

impl RequestNotice {
    /// The notice of a request. `signer` has the address of the receiver for other devices, and its key.
    pub(super) fn new(request: &RequestView, signer: Option<(&str, &AnswerKey)>) -> Self {
        Self {
            id: request.uid.clone(),
            kind: request.kind,
            tool: request.tool.as_deref().map(|tool| clean_text(tool, MAX_TEXT_CELLS)),
            text: clean_text(&request.title, MAX_TEXT_CELLS),
            reading: request.reading().map(|line| clean_text(line, MAX_TEXT_CELLS)).collect(),
            expires_at: request.expires_at,
            answers: signer.map(|(base, key)| sign_buttons(request, base, key)).unwrap_or_default(),
        }
    }
}

/// The buttons of a permission for which a hook waits. Questions are answered on the page.
fn sign_buttons(request: &RequestView, base: &str, key: &AnswerKey) -> Vec<AnswerButton> {
    let choices: &[AnswerChoice] = match (request.kind, request.channel) {
        (RequestKind::Permission, AnswerChannel::Reply) => &[AnswerChoice::Allow, AnswerChoice::Deny],
        (RequestKind::Permission | RequestKind::Question, _) => &[],
    };
    let sign = |choice: &AnswerChoice| {
        let expires_at = request.expires_at.as_second();
        let link = AnswerLink { uid: request.uid.clone(), choice: *choice, expires_at };
        AnswerButton { answer: *choice, url: format!("{base}/answer/{}", key.sign_link(&link)) }
    };
    choices.iter().map(sign).collect()
}
