//! What a turn is for.
//!
//! What a user's turn is for follows from what came before it. What an agent's turn is for is read off its last words,
//! because those are what the user is left with: a question waits for an answer, an announcement is followed by more,
//! and anything else is the end of the work.

mod phrases;
mod sentence_role;
mod sentences;

use crate::db::model::words;
use sentence_role::SentenceRole;
use sentences::{ParsedSentence, SentenceForm};

words! {
    /// What a turn is for.
    TurnIntent {
        /// The user asks for something to be done.
        Command = "command",
        /// The user answers a question of the agent.
        Answer = "answer",
        /// The agent asks the user and waits.
        Question = "question",
        /// The agent says what it is doing or about to do.
        Progress = "progress",
        /// The agent says that it is done.
        Completion = "completion",
    }
}

/// How many paragraphs of plain statements a question may be followed by and still be what the user is left with.
const MAX_STATEMENTS_AFTER_QUESTION: usize = 1;

/// What an agent's text is for: [`TurnIntent::Question`], [`TurnIntent::Progress`] or [`TurnIntent::Completion`].
///
/// The sentences are read from the last one backwards until one of them settles it. Courtesy is stepped over, and so
/// are plain statements, since a question is often followed by what speaks for each answer. An offer to help further
/// asks nothing, and a text that settles nothing is the end of the work.
pub fn classify_last_words(text: &str) -> TurnIntent {
    let sentences = sentences::split_last_sentences(text);
    let mut reading = IntentScanner::default();
    sentences.iter().rev().find_map(|sentence| reading.scan_sentence(sentence)).unwrap_or(TurnIntent::Completion)
}

/// What was seen of a text on the way back from its end.
#[derive(Default)]
struct IntentScanner {
    follower: TrailingContent,
    /// The paragraph of the last statement, counted from the beginning of what is read.
    last_paragraph: Option<usize>,
    /// The paragraph in which the agent reported that something is done.
    reported_in: Option<usize>,
}

/// What stands between a sentence and the end of the text. Ordered: the greatest that was seen counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum TrailingContent {
    /// Nothing, or courtesy.
    #[default]
    Nothing,
    /// A block of code.
    Code,
    /// A numbered list, which may be the answers to choose from.
    Options,
    /// A list.
    Items,
    /// Statements.
    Statements,
}

impl IntentScanner {
    /// The intent, if `sentence` settles it.
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

    /// A question that does not say whom it asks is one only where it is left open; with text after it, it is a
    /// heading or answers itself.
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
        let is_last_said = self.last_paragraph.is_none_or(|last| last == sentence.paragraph);
        Some(if is_last_said && self.reported_in.is_none() { TurnIntent::Progress } else { TurnIntent::Completion })
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
