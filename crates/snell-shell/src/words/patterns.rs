//! Patterns for file names: the manual's section "Pattern Matching".

use super::word_parts::WordBuilder;
use crate::ast::WordPart;

/// Special characters between brackets.
const SPECIAL_IN_BRACKETS: &[char] = &['-', ']', '[', '!', '^', '\\', ':', '.', '='];

/// Finds `*`, `?` and `[…]` in the plain text of parts.
pub(crate) fn find_patterns(pieces: Vec<WordPart>) -> Vec<WordPart> {
    let mut found = WordBuilder::default();
    let mut run = Vec::new();
    for piece in pieces {
        match piece {
            WordPart::Text { text, quoted } if text.is_empty() => {
                flush_text(&mut run, &mut found);
                found.push_text("", quoted.into());
            }
            WordPart::Text { text, quoted } => run.extend(text.chars().map(|c| (c, quoted))),
            WordPart::Braces(mut words) => {
                flush_text(&mut run, &mut found);
                for word in &mut words {
                    word.parts = find_patterns(std::mem::take(&mut word.parts));
                }
                found.push(WordPart::Braces(words));
            }
            other => {
                flush_text(&mut run, &mut found);
                found.push(other);
            }
        }
    }
    flush_text(&mut run, &mut found);
    found.into_vec()
}

/// Text between two parts that are not text: (character, quoted).
fn flush_text(run: &mut Vec<(char, bool)>, found: &mut WordBuilder) {
    let mut at = 0;
    // If one bracket is not closed, none after it is.
    let mut closes = true;
    while let Some(&(c, quoted)) = run.get(at) {
        at += 1;
        match c {
            '*' | '?' if !quoted => found.push(WordPart::Wildcard(c)),
            '[' if !quoted && closes => match parse_bracket(run, at) {
                Some((text, next)) => {
                    found.push(WordPart::Bracket(text));
                    at = next;
                }
                None => {
                    closes = false;
                    found.push_char(c, quoted.into());
                }
            },
            _ => found.push_char(c, quoted.into()),
        }
    }
    run.clear();
}

/// The text between brackets, and the position after it. `None` if they are not closed.
fn parse_bracket(run: &[(char, bool)], start: usize) -> Option<(String, usize)> {
    let mut text = String::new();
    let mut at = start;
    if let Some(&(sign @ ('!' | '^'), false)) = run.get(at) {
        text.push(sign);
        at += 1;
    }
    let first = at;
    loop {
        let &(c, quoted) = run.get(at)?;
        match c {
            ']' if !quoted && at > first => return Some((text, at + 1)),
            '[' if !quoted => {
                if let Some(end) = find_class_end(run, at) {
                    text.extend(run.get(at..end)?.iter().map(|&(c, _)| c));
                    at = end;
                    continue;
                }
                text.push(c);
            }
            _ => {
                if quoted && SPECIAL_IN_BRACKETS.contains(&c) {
                    text.push('\\');
                }
                text.push(c);
            }
        }
        at += 1;
    }
}

/// The end of `[:alpha:]` and similar classes. Their names are short.
fn find_class_end(run: &[(char, bool)], at: usize) -> Option<usize> {
    const LONGEST: usize = 16;
    let &(sign @ (':' | '.' | '='), false) = run.get(at + 1)? else {
        return None;
    };
    let end = (at + 2..at + LONGEST)
        .find(|&i| run.get(i) == Some(&(sign, false)) && run.get(i + 1) == Some(&(']', false)))?;
    Some(end + 2)
}
