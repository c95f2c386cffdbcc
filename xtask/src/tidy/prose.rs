//! Phrases that messages, comments and documents do not use, because a reader needs a second reading for them.

use std::path::Path;

use super::sources::WorkspaceSources;
use super::{SourcePlace, Violation, messages};

/// A phrase, and what to write instead.
const PHRASES: &[(&str, &str)] = &[
    ("whoever", "name the person or the program"),
    ("whomever", "name the person or the program"),
    ("nobody", "name the condition"),
    ("somebody", "name the person or the program"),
    ("anybody", "name the person or the program"),
    ("of which", "start a new sentence"),
    ("is told", "name the sender: \"Snell reports … to …\""),
    ("was told", "name the sender"),
    ("are told", "name the sender"),
    ("be told", "name the sender"),
    ("is looked at", "name the reader, and use \"read\" or \"check\""),
    ("are looked at", "name the reader, and use \"read\" or \"check\""),
    ("speaks against", "write \"blocks\" or \"denies\""),
    ("is not certain", "write \"cannot read\" or \"invalid\""),
    ("mend that", "write \"fix it\""),
    ("mends", "write \"fixes\""),
    ("mended", "write \"fixed\""),
    ("is like that", "write \"matches\""),
    ("as it likes", "name the action"),
    ("be rid of", "write \"remove\""),
    ("all the same", "write \"anyway\" or \"still\""),
    ("minds it", "write \"denies it\" or \"asks about it\""),
    ("minds them", "write \"denies them\" or \"asks about them\""),
    ("is not to be had", "write \"is missing\" or \"is not available\""),
    ("makes do with", "write \"falls back to\""),
];

/// Checks comments, messages, rule texts and documents.
pub(super) fn check_prose(sources: &WorkspaceSources) -> anyhow::Result<Vec<Violation>> {
    let mut violations = Vec::new();
    for source in &sources.files {
        // The table above names the phrases that it forbids.
        if source.path.ends_with("tidy/prose.rs") {
            continue;
        }
        for (index, line) in source.text.lines().enumerate() {
            if let Some(comment) = line.trim_start().strip_prefix("//") {
                check_line(&source.path, index + 1, comment.trim_start_matches(['/', '!']), &mut violations);
            }
        }
        for message in messages::list_messages(source) {
            check_phrases(&source.path, message.line, &message.text, &mut violations);
        }
    }
    for (path, text) in sources.read_documents()? {
        let mut is_code = false;
        for (index, line) in text.lines().enumerate() {
            is_code ^= line.trim_start().starts_with("```");
            if !is_code {
                check_line(&path, index + 1, line, &mut violations);
            }
        }
    }
    for (path, text) in sources.read_data()? {
        for (index, line) in text.lines().enumerate().filter(|(_, line)| messages::is_rule_text(line)) {
            check_phrases(&path, index + 1, line, &mut violations);
        }
    }
    Ok(violations)
}

fn check_line(path: &Path, line: usize, text: &str, violations: &mut Vec<Violation>) {
    check_phrases(path, line, text, violations);
    if starts_sentence_with_what(text) {
        let message = "rewrite the sentence that starts with \"What\": subject, verb, object".to_owned();
        violations.push(Violation { place: SourcePlace { path: path.to_owned(), line }, message });
    }
}

fn check_phrases(path: &Path, line: usize, text: &str, violations: &mut Vec<Violation>) {
    let text = text.to_lowercase();
    for (phrase, remedy) in PHRASES {
        if contains_phrase(&text, phrase) {
            let message = format!("do not write \"{phrase}\": {remedy}");
            violations.push(Violation { place: SourcePlace { path: path.to_owned(), line }, message });
        }
    }
}

fn contains_phrase(text: &str, phrase: &str) -> bool {
    text.match_indices(phrase).any(|(start, _)| {
        let is_letter = |c: char| c.is_alphanumeric();
        !text[..start].ends_with(is_letter) && !text[start + phrase.len()..].starts_with(is_letter)
    })
}

/// Whether a sentence starts with "What", other than a question, a heading or a link.
fn starts_sentence_with_what(text: &str) -> bool {
    let text = text.trim();
    let starts = std::iter::once(text).chain(text.match_indices(". ").map(|(at, _)| &text[at + 2..]));
    let sentences = starts.map(|start| start.trim_start_matches(['-', '*', ' ', '|']));
    sentences.filter(|sentence| sentence.starts_with("What ")).any(|sentence| {
        let end = sentence.find(['.', '?', ':']).map(|at| sentence.as_bytes()[at]);
        end != Some(b'?')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_are_found_as_whole_words() {
        assert!(contains_phrase("it is told so", "is told"));
        assert!(!contains_phrase("this told", "is told"));
        assert!(!contains_phrase("amends", "mends"));
    }

    #[test]
    fn sentences_that_start_with_what_are_found_and_questions_are_not() {
        for text in ["What a hook is for.", "One. What it does", "- What is kept"] {
            assert!(starts_sentence_with_what(text), "{text}");
        }
        for text in ["What is a hook?", "# What it is not", "See what it does."] {
            assert!(!starts_sentence_with_what(text), "{text}");
        }
    }
}
