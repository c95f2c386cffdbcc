//! Whether an answer fits its request.

use serde::Deserialize;
use serde_json::Value;
use snell::{Timestamp, UserMessage};

use super::{AnswerChoice, RememberScope, RequestAnswer, RequestKind, RequestView};

/// The longest text of an answer.
pub const MAX_ANSWER_CHARS: usize = 4000;

/// The most answers to questions.
const MAX_REPLIES: usize = 20;

/// A question of an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct RequestQuestion {
    /// The question.
    pub question: String,
    /// A few words that name it.
    pub header: String,
    /// Whether several options can be chosen.
    pub multi_select: bool,
    /// The options. Any other text is an answer, too.
    pub options: Vec<QuestionOption>,
}

/// An option of a question.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct QuestionOption {
    /// Its text.
    pub label: String,
    /// Its meaning.
    pub description: String,
}

impl RequestView {
    /// The questions of this request. Those that cannot be read are left out.
    pub fn questions(&self) -> Vec<RequestQuestion> {
        let listed = self.detail.get("questions").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        listed.iter().filter_map(|question| RequestQuestion::deserialize(question).ok()).collect()
    }

    /// A few lines that say what the call would do.
    pub fn reading(&self) -> impl Iterator<Item = &str> {
        let listed = self.detail.get("reading").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        listed.iter().filter_map(Value::as_str)
    }

    /// How many bytes of the call are missing in the detail, if it is too long.
    pub fn left_out_bytes(&self) -> Option<u64> {
        self.detail.get("left_out").and_then(Value::as_u64)
    }

    /// Checks that an answer can be given to this request.
    ///
    /// # Errors
    ///
    /// The problem with the answer.
    pub fn check_answer(&self, answer: &RequestAnswer, now: Timestamp) -> Result<(), UserMessage> {
        self.check_way()?;
        self.check_choice(answer)?;
        self.check_remember(answer, now)?;
        self.check_suggestion(answer)?;
        if answer.choice == AnswerChoice::Allow && answer.message.is_some() {
            let message = UserMessage::new("a message reaches the agent only with a denial");
            return Err(message.with_hint("leave the message out, or deny the call"));
        }
        if answer.replies.len() > MAX_REPLIES {
            return Err(UserMessage::new(format!("there are more than {MAX_REPLIES} replies")));
        }
        answer.replies.iter().chain(&answer.message).try_for_each(|text| check_text(text))?;
        self.check_channel(answer)
    }

    fn check_choice(&self, answer: &RequestAnswer) -> Result<(), UserMessage> {
        let refuse = |text: &str, hint: &str| Err(UserMessage::new(text).with_hint(hint));
        match (self.kind, answer.choice) {
            (RequestKind::Permission, AnswerChoice::Reply) => refuse(
                "a permission cannot be answered with a reply",
                "answer allow or deny, with a message if you like",
            ),
            (RequestKind::Question, AnswerChoice::Allow) => {
                refuse("a question cannot be allowed", "answer it with a reply, or deny it")
            }
            (_, AnswerChoice::Allow | AnswerChoice::Deny) if !answer.replies.is_empty() => {
                refuse("only questions have replies", "send the text as a message")
            }
            (_, AnswerChoice::Allow | AnswerChoice::Deny) => Ok(()),
            (_, AnswerChoice::Reply) => self.check_replies(&answer.replies),
        }
    }

    fn check_replies(&self, replies: &[String]) -> Result<(), UserMessage> {
        let expected = self.questions().len();
        if replies.is_empty() || expected > 0 && replies.len() != expected {
            let text = format!("there must be one reply for each of {} questions", expected.max(1));
            return Err(UserMessage::new(text).with_hint("send the replies in the order of the questions"));
        }
        if replies.iter().any(|reply| reply.trim().is_empty()) {
            return Err(UserMessage::new("a reply is empty").with_hint("choose an option, or write a text"));
        }
        Ok(())
    }

    fn check_suggestion(&self, answer: &RequestAnswer) -> Result<(), UserMessage> {
        let Some(number) = answer.suggestion else {
            return Ok(());
        };
        if (self.kind, answer.choice) != (RequestKind::Permission, AnswerChoice::Allow) {
            return Err(UserMessage::new("only an allowed permission can apply a suggestion of the agent"));
        }
        let count = self.suggestions().len();
        if number == 0 || number > count {
            let message = UserMessage::new(format!("this request has no suggestion {number}"));
            return Err(message.with_hint(format!("it has {count}; leave it out to allow the call once")));
        }
        Ok(())
    }

    fn check_remember(&self, answer: &RequestAnswer, now: Timestamp) -> Result<(), UserMessage> {
        let Some(term) = &answer.remember else {
            return Ok(());
        };
        if (self.kind, answer.choice) != (RequestKind::Permission, AnswerChoice::Allow) {
            return Err(UserMessage::new("only an allowed permission can be remembered"));
        }
        if self.left_out_bytes().is_some() {
            let message = UserMessage::new("a call that is not shown in full cannot be remembered");
            return Err(message.with_hint("allow it once, after a look at the agent's terminal"));
        }
        if term.scope == RememberScope::Session && self.session_id.is_none() {
            let message = UserMessage::new("this request has no session");
            return Err(message.with_hint("remember the answer for the project"));
        }
        if term.until.is_some_and(|until| until <= now) {
            return Err(UserMessage::new("\"until\" is in the past"));
        }
        Ok(())
    }
}

fn check_text(text: &str) -> Result<(), UserMessage> {
    if text.chars().nth(MAX_ANSWER_CHARS).is_some() {
        return Err(UserMessage::new(format!("a text is longer than {MAX_ANSWER_CHARS} characters")));
    }
    let is_forbidden = |letter: char| letter.is_control() && !matches!(letter, '\n' | '\t');
    if text.chars().any(is_forbidden) {
        return Err(UserMessage::new("a text has control characters").with_hint("remove them"));
    }
    Ok(())
}
