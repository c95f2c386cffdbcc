//! The form of an answer. It works without scripts.

use std::time::Duration;

use maud::{Markup, html};
use snell::{Timestamp, UserMessage};
use snell_store::requests::{
    AnswerChannel, AnswerChoice, RememberScope, RememberTerm, RequestAnswer, RequestKind, RequestQuestion, RequestView,
};
use url::form_urlencoded;

use crate::answers::AnswerRight;
use crate::app_state::AppState;
use crate::http::errors::HttpError;
use crate::web::format::truncate_text;

/// The longest text of a question or an option.
const MAX_TEXT_CHARS: usize = 600;

/// The longest description of an agent's place.
const MAX_PLACE_CHARS: usize = 200;

/// How long an answer can be remembered: the value of the field, its label, and the duration.
const TERMS: &[(&str, &str, Option<Duration>)] = &[
    ("", "without an end", None),
    ("1h", "for an hour", Some(Duration::from_secs(60 * 60))),
    ("1d", "for a day", Some(Duration::from_secs(24 * 60 * 60))),
    ("7d", "for a week", Some(Duration::from_secs(7 * 24 * 60 * 60))),
    ("30d", "for 30 days", Some(Duration::from_secs(30 * 24 * 60 * 60))),
];

/// Whether a client gets forms.
#[derive(Clone, Debug)]
pub(super) enum FormAccess {
    /// It does; each form carries this value.
    Granted { value: String },
    /// It does not.
    Refused { can_log_in: bool },
}

impl FormAccess {
    pub(super) fn for_client(app: &AppState, right: &AnswerRight) -> Result<Self, HttpError> {
        if !right.is_granted() {
            return Ok(Self::Refused { can_log_in: app.can_log_in_to_answer() });
        }
        Ok(Self::Granted { value: app.answer_key.get()?.form_value(&right.form_client()) })
    }

    /// Why there are no forms.
    pub(super) fn render_note(&self) -> Markup {
        match self {
            Self::Granted { .. } => html! {},
            Self::Refused { can_log_in: true } => html! {
                p.note { "You may read, but not answer here. " a href="/login" { "Log in with a token that may answer" } "." }
            },
            Self::Refused { can_log_in: false } => html! {
                p.note {
                    "You may read, but not answer here. To answer from here, start the server with "
                    code { "--answer-token-file" } ", or run " code { "snell token create" } " there."
                }
            },
        }
    }

    pub(super) fn render_form(&self, request: &RequestView) -> Markup {
        let uid = &request.uid;
        if request.channel == AnswerChannel::Elsewhere {
            let place = truncate_text(request.place().unwrap_or_default(), MAX_PLACE_CHARS);
            return html! {
                p.answer.quiet id={ "form-" (uid) } { "To answer, go to the agent's own terminal: " bdi { (place) } "." }
            };
        }
        let Self::Granted { value } = self else {
            return html! { p.answer.quiet id={ "form-" (uid) } { "To answer in a terminal, run " code { "snell answer " (uid) } "." } };
        };
        html! {
            form.answer id={ "form-" (uid) } method="post" action={ "/requests/" (uid) "/answer" } aria-label={ "Your answer to request " (uid) } {
                input type="hidden" name="form" value=(value);
                @match request.kind {
                    RequestKind::Permission => (render_permission_fields(request)),
                    RequestKind::Question => (render_question_fields(request)),
                }
            }
        }
    }
}

fn render_permission_fields(request: &RequestView) -> Markup {
    let uid = &request.uid;
    html! {
        p.choices {
            button.allow name="answer" value="allow" aria-describedby={ "title-" (uid) } { "Allow" }
            button.deny name="answer" value="deny" aria-describedby={ "title-" (uid) } { "Deny" }
        }
        details id={ "more-" (uid) } {
            summary { "Add a message, or remember the answer" }
            (render_message_field(uid))
            (render_remember_fields(uid))
            (render_suggestions(request))
        }
    }
}

/// Lists, because Enter in a list does not press the first button of the form, which allows the call.
fn render_remember_fields(uid: &str) -> Markup {
    let (scope, until) = (format!("scope-{uid}"), format!("until-{uid}"));
    html! {
        p.remember {
            label for=(scope) { "If you allow it, allow the same call again" }
            select id=(scope) name="scope" {
                option value="" { "no, only this time" }
                option value="session" { "in this session" }
                option value="project" { "in this project" }
            }
            label for=(until) { "Remember that" }
            select id=(until) name="until" { @for (value, label, _) in TERMS { option value=(value) { (label) } } }
        }
    }
}

/// The agent's own offers to allow more from now on. Like the list of scopes, it is no default.
fn render_suggestions(request: &RequestView) -> Markup {
    let field = format!("suggestion-{}", request.uid);
    let suggestions = request.suggestions();
    html! {
        @if !suggestions.is_empty() {
            p.remember {
                label for=(field) { "If you allow it, the agent itself may also" }
                select id=(field) name="suggestion" {
                    option value="" { "change nothing" }
                    @for (index, text) in suggestions.iter().enumerate() {
                        option value=(index + 1) { (truncate_text(text, MAX_PLACE_CHARS)) }
                    }
                }
            }
        }
    }
}

fn render_message_field(uid: &str) -> Markup {
    html! {
        label for={ "message-" (uid) } { "Message to the agent, if you deny" }
        textarea id={ "message-" (uid) } name="message" rows="2" {}
    }
}

fn render_question_fields(request: &RequestView) -> Markup {
    let mut questions = request.questions();
    if questions.is_empty() {
        questions.push(RequestQuestion::default());
    }
    html! {
        @for (index, question) in questions.iter().enumerate() { (render_question(request, index, question)) }
        p.choices {
            button.reply name="answer" value="reply" { "Send answer" }
            @if request.channel == AnswerChannel::Reply { button.deny name="answer" value="deny" { "Decline" } }
        }
    }
}

fn render_question(request: &RequestView, index: usize, question: &RequestQuestion) -> Markup {
    let kind = if question.multi_select { "checkbox" } else { "radio" };
    let text = if question.question.is_empty() { &request.title } else { &question.question };
    let field = format!("text-{}-{index}", request.uid);
    html! {
        fieldset {
            legend {
                @if !question.header.is_empty() { span.label { bdi { (truncate_text(&question.header, 60)) } ": " } }
                bdi { (truncate_text(text, MAX_TEXT_CHARS)) }
            }
            @for (number, option) in question.options.iter().enumerate() {
                label {
                    input type=(kind) name={ "option-" (index) } value=(number);
                    " " bdi { (truncate_text(&option.label, MAX_TEXT_CHARS)) }
                    @if !option.description.is_empty() {
                        " " span.quiet { bdi { (truncate_text(&option.description, MAX_TEXT_CHARS)) } }
                    }
                }
            }
            label for=(field) { @if question.options.is_empty() { "Answer" } @else { "Other answer" } }
            textarea id=(field) name={ "text-" (index) } rows="1" {}
        }
    }
}

/// The fields of a form that a browser has sent.
#[derive(Debug)]
pub(super) struct AnswerFields {
    pairs: Vec<(String, String)>,
}

impl AnswerFields {
    pub(super) fn parse(body: &[u8]) -> Self {
        let pairs = form_urlencoded::parse(body);
        Self { pairs: pairs.map(|(name, value)| (name.into_owned(), value.into_owned())).collect() }
    }

    fn values(&self, name: &str) -> impl Iterator<Item = &str> {
        self.pairs.iter().filter(move |(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// The text of a field; nothing if it is blank. Browsers send line breaks as CR LF.
    fn text(&self, name: &str) -> Option<String> {
        let text = self.values(name).next()?.replace("\r\n", "\n");
        let text = text.trim();
        (!text.is_empty()).then(|| text.to_owned())
    }

    pub(super) fn form_value(&self) -> &str {
        self.values("form").next().unwrap_or_default()
    }

    /// The answer to a request.
    pub(super) fn to_answer(&self, request: &RequestView, now: Timestamp) -> Result<RequestAnswer, HttpError> {
        let choice = self.values("answer").next().and_then(AnswerChoice::parse);
        let choice = choice.ok_or_else(|| bad_form_error("no answer was chosen"))?;
        let replies = if choice == AnswerChoice::Reply { self.collect_replies(request)? } else { Vec::new() };
        let (remember, suggestion) = match choice {
            AnswerChoice::Allow => (self.parse_remember(now)?, self.parse_suggestion()?),
            AnswerChoice::Deny | AnswerChoice::Reply => (None, None),
        };
        Ok(RequestAnswer { choice, replies, message: self.text("message"), remember, suggestion })
    }

    /// One reply for each question: the chosen options, and the text if there is one.
    fn collect_replies(&self, request: &RequestView) -> Result<Vec<String>, HttpError> {
        let questions = request.questions();
        (0..questions.len().max(1)).map(|index| self.collect_reply(questions.get(index), index)).collect()
    }

    fn collect_reply(&self, question: Option<&RequestQuestion>, index: usize) -> Result<String, HttpError> {
        let text = self.text(&format!("text-{index}"));
        let is_multiple = question.is_some_and(|question| question.multi_select);
        let mut parts = Vec::new();
        // A text replaces the only choice, and adds to several.
        if is_multiple || text.is_none() {
            for number in self.values(&format!("option-{index}")) {
                let number: Option<usize> = number.parse().ok();
                let option = number.zip(question).and_then(|(number, question)| question.options.get(number));
                parts.push(option.ok_or_else(|| bad_form_error("an option does not exist"))?.label.clone());
            }
        }
        parts.extend(text);
        Ok(parts.join(", "))
    }

    fn parse_suggestion(&self) -> Result<Option<usize>, HttpError> {
        let number = self.text("suggestion").map(|number| number.parse());
        number.transpose().map_err(|_| bad_form_error("the suggestion is unknown"))
    }

    fn parse_remember(&self, now: Timestamp) -> Result<Option<RememberTerm>, HttpError> {
        let Some(scope) = self.text("scope") else {
            return Ok(None);
        };
        let scope = RememberScope::parse(&scope).ok_or_else(|| bad_form_error("the scope is unknown"))?;
        let wanted = self.values("until").next().unwrap_or_default();
        let term = TERMS.iter().find(|(value, ..)| *value == wanted);
        let (.., duration) = term.ok_or_else(|| bad_form_error("the duration is unknown"))?;
        let until = duration.and_then(|duration| now.checked_add(duration).ok());
        Ok(Some(RememberTerm { scope, until }))
    }
}

fn bad_form_error(text: &str) -> HttpError {
    HttpError::bad_request(UserMessage::new(text).with_hint("open the page of requests again"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::requests::data::RequestsOverview;

    #[test]
    fn a_form_becomes_an_answer() {
        let now = Timestamp::UNIX_EPOCH;
        let overview = RequestsOverview::with_text("x", now);
        let (permission, question) = (&overview.open[0].request, &overview.open[3].request);
        let read = |request, body: &str| {
            let answer = AnswerFields::parse(body.as_bytes()).to_answer(request, now);
            answer.map(|answer| serde_json::to_string(&answer).unwrap()).unwrap_or_else(|error| error.message().text)
        };
        let cases = [
            (permission, "answer=allow&message=&scope=&until=", r#"{"choice":"allow"}"#),
            (permission, "answer=deny&message=a%0D%0Ab&scope=session", r#"{"choice":"deny","message":"a\nb"}"#),
            (
                permission,
                "answer=allow&scope=project&until=1h",
                r#"{"choice":"allow","remember":{"scope":"project","until":"1970-01-01T01:00:00Z"}}"#,
            ),
            (permission, "answer=allow&scope=session&until=", r#"{"choice":"allow","remember":{"scope":"session"}}"#),
            (permission, "scope=session", "no answer was chosen"),
            (permission, "answer=always", "no answer was chosen"),
            (permission, "answer=allow&scope=all", "the scope is unknown"),
            (permission, "answer=allow&scope=session&until=99y", "the duration is unknown"),
            (
                question,
                "answer=reply&option-0=0&option-1=0&text-1=more&text-2=free",
                r#"{"choice":"reply","replies":["x","x, more","free"]}"#,
            ),
            (
                question,
                "answer=reply&option-0=0&text-0=mine&text-1=b&text-2=c",
                r#"{"choice":"reply","replies":["mine","b","c"]}"#,
            ),
            (question, "answer=reply&option-0=7&text-1=b&text-2=c", "an option does not exist"),
            (question, "answer=deny&option-0=0", r#"{"choice":"deny"}"#),
        ];
        for (request, body, expected) in cases {
            assert_eq!(read(request, body), expected, "{body}");
        }
    }
}
