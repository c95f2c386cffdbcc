//! The intent of a turn.
//!
//! The intent of a user's turn follows from the turns before it. The intent of an agent's turn follows from its last
//! sentences: a question waits for an answer, an announcement is followed by more, and anything else completes the
//! work.

mod phrases;
mod sentence_role;
mod sentences;

use crate::db::model::words;
use sentence_role::SentenceRole;
use sentences::{ParsedSentence, SentenceForm};

words! {
    /// The intent of a turn.
    TurnIntent {
        /// The user gives a task.
        Command = "command",
        /// The user answers a question of the agent.
        Answer = "answer",
        /// The agent asks the user and waits.
        Question = "question",
        /// The agent reports its current or next step.
        Progress = "progress",
        /// The agent reports that it is done.
        Completion = "completion",
    }
}

/// How many paragraphs of statements may follow a question that still waits for an answer.
const MAX_STATEMENTS_AFTER_QUESTION: usize = 1;

/// The mark of a plan that the user has to approve. Codex asks for that after the end of the turn.
const PROPOSED_PLAN: &str = "<proposed_plan>";

/// The intent of an agent's text: [`TurnIntent::Question`], [`TurnIntent::Progress`] or [`TurnIntent::Completion`].
///
/// The sentences are read from the last one backwards until one of them decides. Courtesy is skipped, and so are
/// statements, because arguments for each answer often follow a question. An offer of further help is no question. If
/// no sentence decides, the work is complete.
pub fn classify_last_words(text: &str) -> TurnIntent {
    if text.contains(PROPOSED_PLAN) {
        return TurnIntent::Question;
    }
    let sentences = sentences::split_last_sentences(text);
    let mut reading = IntentScanner::default();
    sentences.iter().rev().find_map(|sentence| reading.scan_sentence(sentence)).unwrap_or(TurnIntent::Completion)
}

/// The state of the backward scan over a text.
#[derive(Default)]
struct IntentScanner {
    follower: TrailingContent,
    /// The paragraph of the last statement, counted from the start of the text that is read.
    last_paragraph: Option<usize>,
    /// The paragraph in which the agent reported a result.
    reported_in: Option<usize>,
}

/// The content between a sentence and the end of the text. Ordered: the greatest one wins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum TrailingContent {
    /// Nothing, or courtesy.
    #[default]
    Nothing,
    /// A block of code.
    Code,
    /// A numbered list: perhaps the answers to choose from.
    Options,
    /// A list.
    Items,
    /// Statements.
    Statements,
}

impl IntentScanner {
    /// The intent, if `sentence` decides it.
    fn scan_sentence(&mut self, sentence: &ParsedSentence) -> Option<TurnIntent> {
        if self.reported_in.is_some_and(|paragraph| paragraph != sentence.paragraph) {
            return Some(TurnIntent::Completion);
        }
        let sense = sentence_role::classify_sentence(sentence);
        let settled = match sense {
            SentenceRole::Courtesy => return None,
            SentenceRole::Asking => self.judge_question(sentence),
            SentenceRole::Wondering => self.judge_open_question(sentence),
            SentenceRole::Announcing => self.judge_announcement(sentence),
            SentenceRole::Trailing => (self.follower == TrailingContent::Nothing).then_some(TurnIntent::Progress),
            SentenceRole::Reporting => {
                self.reported_in = Some(sentence.paragraph);
                None
            }
            SentenceRole::Stating => None,
        };
        self.skip_sentence(sentence);
        settled
    }

    fn judge_question(&self, sentence: &ParsedSentence) -> Option<TurnIntent> {
        let last = self.last_paragraph.unwrap_or(sentence.paragraph);
        (last - sentence.paragraph <= MAX_STATEMENTS_AFTER_QUESTION).then_some(TurnIntent::Question)
    }

    /// A question without an addressee waits for an answer only at the end; with text after it, it is a heading or is
    /// answered there.
    fn judge_open_question(&self, sentence: &ParsedSentence) -> Option<TurnIntent> {
        let left_open = match sentence.form {
            SentenceForm::Heading => TrailingContent::Nothing,
            SentenceForm::Prose | SentenceForm::Option | SentenceForm::Item | SentenceForm::Code => {
                TrailingContent::Options
            }
        };
        (self.follower <= left_open).then_some(TurnIntent::Question)
    }

    fn judge_announcement(&self, sentence: &ParsedSentence) -> Option<TurnIntent> {
        let is_in_last_paragraph = self.last_paragraph.is_none_or(|last| last == sentence.paragraph);
        Some(if is_in_last_paragraph && self.reported_in.is_none() {
            TurnIntent::Progress
        } else {
            TurnIntent::Completion
        })
    }

    fn skip_sentence(&mut self, sentence: &ParsedSentence) {
        let follower = match sentence.form {
            SentenceForm::Code => TrailingContent::Code,
            SentenceForm::Option => TrailingContent::Options,
            SentenceForm::Item => TrailingContent::Items,
            SentenceForm::Heading | SentenceForm::Prose => TrailingContent::Statements,
        };
        self.follower = self.follower.max(follower);
        if follower == TrailingContent::Statements {
            self.last_paragraph.get_or_insert(sentence.paragraph);
        }
    }
}

#[cfg(test)]
mod tests;
