//! What a single sentence does.
//!
//! A phrase is looked for as whole words; Chinese and Japanese phrases are looked for anywhere, since no spaces part
//! their words.

use super::phrases::{
    ACTIVITIES, ADDRESSES, ANNOUNCEMENTS, BARE_COURTESY, COURTESY, COURTESY_QUESTIONS, LAST_ANNOUNCEMENTS,
    OPENING_FILLERS, OPENING_REPORTS, OPENING_REQUESTS, OUTCOMES, QUESTION_WORDS, REPORTS, REQUESTS,
};
use super::sentences::{ParsedSentence, SentenceEnding, SentenceForm};

/// What a sentence does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SentenceRole {
    /// It is polite and asks nothing that the work depends on.
    Courtesy,
    /// It asks the user.
    Asking,
    /// It is a question that does not say whom it asks.
    Wondering,
    /// It says what the agent does next.
    Announcing,
    /// It ends with a colon or an ellipsis: more is to come.
    Trailing,
    /// It says that something is done.
    Reporting,
    /// None of these.
    Stating,
}

/// What `sentence` does.
pub(super) fn classify_sentence(sentence: &ParsedSentence) -> SentenceRole {
    let words = sentence.words.as_str();
    let asks = sentence.ending == SentenceEnding::Question || words.ends_with('か') || words.ends_with('吗');
    match sentence.form {
        SentenceForm::Code => SentenceRole::Stating,
        _ if asks => classify_question(words),
        _ if contains_any_phrase(words, COURTESY) || BARE_COURTESY.contains(&words) => SentenceRole::Courtesy,
        _ if contains_any_phrase(words, REQUESTS) || starts_with_any_phrase(words, OPENING_REQUESTS) => {
            SentenceRole::Asking
        }
        // What a list names was done, is to do or is to choose: it neither announces nor reports.
        SentenceForm::Item | SentenceForm::Option | SentenceForm::Heading => SentenceRole::Stating,
        // "Which of these do you prefer:" is a question, whatever it ends with.
        SentenceForm::Prose if is_open_question(sentence) => SentenceRole::Asking,
        SentenceForm::Prose => classify_statement(sentence),
    }
}

/// Whether a sentence that more is to follow begins like a question to the user.
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

/// Whether a sentence opens with what is being done, as in "running the tests", rather than with what comes of doing
/// it, as in "running the tests shows a failure".
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
