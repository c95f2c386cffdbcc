//! An answer of the model before a protocol writes it.

use serde_json::Value;

use crate::agents::AgentToolSet;
use crate::model::conversation::{mark_call_id, mark_text};
use crate::model::script::ModelTurn;

/// A tool call with the agent's own name and arguments.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NativeCall {
    pub(crate) id: String,
    pub(crate) name: String,
    /// An object; a string for a tool that takes free text.
    pub(crate) input: Value,
}

/// Where the model pauses until the test releases it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnswerPause {
    Never,
    BeforeFirstToken,
    Halfway,
}

/// An answer.
#[derive(Clone, Debug)]
pub(crate) struct ModelAnswer {
    /// Words that are sent one after the other; empty if there are calls only.
    pub(crate) words: Vec<String>,
    pub(crate) calls: Vec<NativeCall>,
    pub(crate) pause: AnswerPause,
    /// Whether the request is refused instead.
    pub(crate) is_refusal: bool,
}

impl ModelAnswer {
    /// This turn of a script in the words of an agent.
    pub(crate) fn from_turn(turn: &ModelTurn, index: usize, tools: &AgentToolSet) -> Self {
        match turn {
            ModelTurn::Calls(calls) => Self {
                words: Vec::new(),
                calls: calls.iter().zip(0..).map(|(call, at)| tools.translate(call, mark_call_id(index, at))).collect(),
                pause: AnswerPause::Never,
                is_refusal: false,
            },
            ModelTurn::Refused => Self { is_refusal: true, ..Self::from_text("", AnswerPause::Never) },
            ModelTurn::Text(text) => Self::from_text(&mark_text(index, text), AnswerPause::Never),
            ModelTurn::HeldText(text) => Self::from_text(&mark_text(index, text), AnswerPause::BeforeFirstToken),
            ModelTurn::HalfHeldText(text) => Self::from_text(&mark_text(index, text), AnswerPause::Halfway),
        }
    }

    /// An answer to a request beside the work. It repeats the mark of the last turn, because a summary replaces the messages
    /// that have it.
    pub(crate) fn beside_the_work(last: Option<usize>) -> Self {
        let text = "A short text.";
        Self::from_text(&last.map_or_else(|| text.to_owned(), |last| mark_text(last, text)), AnswerPause::Never)
    }

    fn from_text(text: &str, pause: AnswerPause) -> Self {
        Self {
            words: text.split_inclusive(' ').map(str::to_owned).collect(),
            calls: Vec::new(),
            pause,
            is_refusal: false,
        }
    }

    pub(crate) fn text(&self) -> String {
        self.words.concat()
    }
}
