//! What a single sentence does.
//!
//! A phrase is looked for as whole words; Chinese and Japanese phrases are looked for anywhere, since no spaces part
//! their words.

use super::phrases::{
    ACTIVITIES, ADDRESSES, ANNOUNCEMENTS, BARE_COURTESY, COURTESY, COURTESY_QUESTIONS, LAST_ANNOUNCEMENTS,
    OPENING_FILLERS, OPENING_REPORTS, OPENING_REQUESTS, OUTCOMES, QUESTION_WORDS, REPORTS, REQUESTS,
};
use super::words::{Ending, Form, Sentence};

/// What a sentence does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sense {
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
pub(super) fn of(sentence: &Sentence) -> Sense {
    let words = sentence.words.as_str();
    let asks = sentence.ending == Ending::Question || words.ends_with('か') || words.ends_with('吗');
    match sentence.form {
        Form::Code => Sense::Stating,
        _ if asks => asked(words),
        _ if any_in(words, COURTESY) || BARE_COURTESY.contains(&words) => Sense::Courtesy,
        _ if any_in(words, REQUESTS) || any_starts(words, OPENING_REQUESTS) => Sense::Asking,
        // What a list names was done, is to do or is to choose: it neither announces nor reports.
        Form::Item | Form::Option | Form::Heading => Sense::Stating,
        // "Which of these do you prefer:" is a question, whatever it ends with.
        Form::Prose if is_open_question(sentence) => Sense::Asking,
        Form::Prose => stated(sentence),
    }
}

/// Whether a sentence that more is to follow begins like a question to the user.
fn is_open_question(sentence: &Sentence) -> bool {
    let words = sentence.words.as_str();
    sentence.ending == Ending::Open && any_starts(words, QUESTION_WORDS) && any_in(words, &["you", "your"])
}

fn asked(words: &str) -> Sense {
    if any_in(words, COURTESY_QUESTIONS) {
        Sense::Courtesy
    } else if any_in(words, ADDRESSES) {
        Sense::Asking
    } else {
        Sense::Wondering
    }
}

fn stated(sentence: &Sentence) -> Sense {
    let words = sentence.words.as_str();
    let opening = OPENING_FILLERS
        .iter()
        .fold(words, |rest, filler| after_filler(rest, filler));
    if any_starts(opening, LAST_ANNOUNCEMENTS) {
        Sense::Reporting
    } else if any_starts(opening, ANNOUNCEMENTS) || is_under_way(opening) {
        Sense::Announcing
    } else if any_starts(opening, OPENING_REPORTS) || any_in(words, REPORTS) {
        Sense::Reporting
    } else if sentence.ending == Ending::Open {
        Sense::Trailing
    } else {
        Sense::Stating
    }
}

fn after_filler<'a>(words: &'a str, filler: &str) -> &'a str {
    match words.strip_prefix(filler) {
        Some(rest) if rest.starts_with([',', ' ', '!', '—', '–']) => {
            rest.trim_start_matches(|mark: char| !mark.is_alphanumeric())
        }
        _ => words,
    }
}

/// Whether a sentence opens with what is being done, as in "running the tests", rather than with what comes of doing
/// it, as in "running the tests shows a failure".
fn is_under_way(words: &str) -> bool {
    any_starts(words, ACTIVITIES) && !any_in(words, OUTCOMES)
}

fn any_starts(words: &str, phrases: &[&str]) -> bool {
    phrases
        .iter()
        .any(|phrase| words.strip_prefix(phrase).is_some_and(|rest| ends_word(phrase, rest)))
}

fn any_in(words: &str, phrases: &[&str]) -> bool {
    phrases.iter().any(|phrase| {
        words.match_indices(phrase).any(|(at, _)| {
            let before = words[..at].chars().next_back();
            let starts_word = !phrase.is_ascii() || !before.is_some_and(char::is_alphanumeric);
            starts_word && ends_word(phrase, &words[at + phrase.len()..])
        })
    })
}

fn ends_word(phrase: &str, rest: &str) -> bool {
    !phrase.ends_with(|last: char| last.is_ascii_alphanumeric()) || !rest.starts_with(char::is_alphanumeric)
}
