//! The role of a single sentence.
//!
//! Phrases match whole words. Chinese and Japanese phrases match anywhere, because these languages have no spaces
//! between words.

use super::phrases::{
    ACTIVITIES, ADDRESSES, ANNOUNCEMENTS, BARE_COURTESY, COURTESY, COURTESY_QUESTIONS, LAST_ANNOUNCEMENTS,
    OPENING_FILLERS, OPENING_REPORTS, OPENING_REQUESTS, OUTCOMES, QUESTION_WORDS, REPORTS, REQUESTS,
};
use super::sentences::{ParsedSentence, SentenceEnding, SentenceForm};

/// The role of a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SentenceRole {
    /// A polite phrase without a question about the work.
    Courtesy,
    /// A question to the user.
    Asking,
    /// A question without an addressee.
    Wondering,
    /// The agent's next step.
    Announcing,
    /// It ends with a colon or an ellipsis: more follows.
    Trailing,
    /// A report that something is done.
    Reporting,
    /// None of these.
    Stating,
}

/// The role of `sentence`.
pub(super) fn classify_sentence(sentence: &ParsedSentence) -> SentenceRole {
    let words = sentence.words.as_str();
    let asks = sentence.ending == SentenceEnding::Question || words.ends_with('か') || words.ends_with('吗');
    match sentence.form {
        SentenceForm::Code => SentenceRole::Stating,
        _ if asks => classify_question(words),
        _ if contains_any_phrase(words, COURTESY) || BARE_COURTESY.contains(&words) => SentenceRole::Courtesy,
        _ if contains_any_phrase(words, REQUESTS) => SentenceRole::Asking,
        // In a list it is a task.
        SentenceForm::Heading | SentenceForm::Prose if starts_with_any_phrase(words, OPENING_REQUESTS) => {
            SentenceRole::Asking
        }
        // Items of a list are results, tasks or choices: they neither announce nor report.
        SentenceForm::Item | SentenceForm::Option | SentenceForm::Heading => SentenceRole::Stating,
        // "Which of these do you prefer:" is a question, in spite of its colon.
        SentenceForm::Prose if is_open_question(sentence) => SentenceRole::Asking,
        SentenceForm::Prose => classify_statement(sentence),
    }
}

/// Whether a sentence that ends with a colon or an ellipsis begins like a question to the user.
fn is_open_question(sentence: &ParsedSentence) -> bool {
    let words = sentence.words.as_str();
    sentence.ending == SentenceEnding::Open
        && starts_with_any_phrase(words, QUESTION_WORDS)
        && contains_any_phrase(words, &["you", "your"])
}

fn classify_question(words: &str) -> SentenceRole {
    if contains_any_phrase(words, COURTESY_QUESTIONS) {
        SentenceRole::Courtesy
    } else if contains_any_phrase(words, ADDRESSES) {
        SentenceRole::Asking
    } else {
        SentenceRole::Wondering
    }
}

fn classify_statement(sentence: &ParsedSentence) -> SentenceRole {
    let words = sentence.words.as_str();
    let opening = OPENING_FILLERS.iter().fold(words, |rest, filler| strip_filler(rest, filler));
    if starts_with_any_phrase(opening, LAST_ANNOUNCEMENTS) {
        SentenceRole::Reporting
    } else if starts_with_any_phrase(opening, ANNOUNCEMENTS) || is_ongoing_activity(opening) {
        SentenceRole::Announcing
    } else if starts_with_any_phrase(opening, OPENING_REPORTS) || contains_any_phrase(words, REPORTS) {
        SentenceRole::Reporting
    } else if sentence.ending == SentenceEnding::Open {
        SentenceRole::Trailing
    } else {
        SentenceRole::Stating
    }
}

fn strip_filler<'a>(words: &'a str, filler: &str) -> &'a str {
    match words.strip_prefix(filler) {
        Some(rest) if rest.starts_with([',', ' ', '!', '—', '–']) => {
            rest.trim_start_matches(|mark: char| !mark.is_alphanumeric())
        }
        _ => words,
    }
}

/// Whether a sentence is an activity, as in "running the tests", and not a result of it, as in "running the tests shows
/// a failure".
fn is_ongoing_activity(words: &str) -> bool {
    starts_with_any_phrase(words, ACTIVITIES) && !contains_any_phrase(words, OUTCOMES)
}

fn starts_with_any_phrase(words: &str, phrases: &[&str]) -> bool {
    phrases.iter().any(|phrase| words.strip_prefix(phrase).is_some_and(|rest| is_word_end(phrase, rest)))
}

fn contains_any_phrase(words: &str, phrases: &[&str]) -> bool {
    phrases.iter().any(|phrase| {
        words.match_indices(phrase).any(|(at, _)| {
            let before = words[..at].chars().next_back();
            let starts_word = !phrase.is_ascii() || !before.is_some_and(char::is_alphanumeric);
            starts_word && is_word_end(phrase, &words[at + phrase.len()..])
        })
    })
}

fn is_word_end(phrase: &str, rest: &str) -> bool {
    !phrase.ends_with(|last: char| last.is_ascii_alphanumeric()) || !rest.starts_with(char::is_alphanumeric)
}
