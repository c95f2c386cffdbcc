//! Home directories: the manual's section "Tilde Expansion".

use super::lexical_context::TildePositions;
use super::word_parts::{WordBuilder, is_variable_name};
use crate::ast::{ShellWord, WordPart};
use crate::limits;
use crate::words::word_parts::TextQuoting;

/// Finds `~` and `~name` as directories.
pub(crate) fn find_tildes(pieces: Vec<WordPart>, where_: TildePositions) -> Vec<WordPart> {
    if where_ == TildePositions::Nowhere {
        return pieces;
    }
    let pieces = distribute_leading_tilde(distribute_trailing_tilde(pieces));
    let mut found = WordBuilder::default();
    // A word with a brace list is not an assignment.
    let has_list = pieces.iter().any(|p| matches!(p, WordPart::Braces(_) | WordPart::Range { .. }));
    let may_assign = where_ == TildePositions::Argument && !has_list;
    let mut in_value = where_ == TildePositions::Value;
    let mut rest = pieces.into_iter().peekable();
    let mut first = true;
    while let Some(piece) = rest.next() {
        match piece {
            WordPart::Text { text, quoted: false } => {
                // Quotes or an expansion directly after a name make it plain text. A list of names does not.
                let open_end = matches!(rest.peek(), None | Some(WordPart::Braces(_)));
                let mut finder = TildeFinder { found: &mut found, open_end };
                let value = find_assignment_value(&text).filter(|_| first && may_assign);
                in_value |= value.is_some();
                let (name, rest) = text.split_at_checked(value.unwrap_or(0)).unwrap_or_default();
                if !name.is_empty() {
                    finder.found.push_text(name, TextQuoting::Plain);
                }
                finder.scan_text(rest, first, in_value);
            }
            WordPart::Braces(mut words) if first => {
                for word in &mut words {
                    word.parts = find_tildes(std::mem::take(&mut word.parts), TildePositions::First);
                }
                found.push(WordPart::Braces(words));
            }
            other => found.push(other),
        }
        first = false;
    }
    found.into_vec()
}

/// `{,a}~` becomes `{~,a~}`: after an empty alternative, the text after the list comes first.
fn distribute_trailing_tilde(mut pieces: Vec<WordPart>) -> Vec<WordPart> {
    let opens_way = |part: &WordPart| match part {
        WordPart::Braces(words) => {
            words.len() <= limits::ALTERNATIVES_BESIDE_TILDE && words.iter().any(|word| word.parts.is_empty())
        }
        _ => false,
    };
    let lists = pieces.iter().take_while(|piece| opens_way(piece)).count();
    let tilde_follows =
        matches!(pieces.get(lists), Some(WordPart::Text { text, quoted: false }) if text.starts_with('~'));
    // One list after the other: the first one includes those after it.
    if !tilde_follows || lists == 0 || lists > limits::LISTS_BEFORE_TILDE {
        return pieces;
    }
    let rest = pieces.split_off(1);
    if let Some(WordPart::Braces(words)) = pieces.first_mut() {
        for word in words {
            let mut pieces = WordBuilder::default();
            pieces.extend(std::mem::take(&mut word.parts));
            pieces.extend(rest.iter().cloned());
            word.parts = pieces.into_vec();
        }
    }
    pieces
}

/// `~{a,b}` becomes `{~a,~b}`: each alternative continues the name.
fn distribute_leading_tilde(mut pieces: Vec<WordPart>) -> Vec<WordPart> {
    let [WordPart::Text { text, quoted: false }, WordPart::Braces(words), ..] = pieces.as_slice() else {
        return pieces;
    };
    if !text.starts_with('~') || text.contains('/') || words.len() > limits::ALTERNATIVES_BESIDE_TILDE {
        return pieces;
    }
    let mut rest = pieces.split_off(1);
    let behind = rest.split_off(1);
    let (Some(name), Some(WordPart::Braces(words))) = (pieces.pop(), rest.pop()) else {
        return Vec::new();
    };
    let whole = words.into_iter().map(|word| {
        let mut pieces = WordBuilder::default();
        pieces.push(name.clone());
        pieces.extend(word.parts);
        pieces.extend(behind.iter().cloned());
        ShellWord { parts: pieces.into_vec(), span: word.span }
    });
    vec![WordPart::Braces(whole.collect())]
}

struct TildeFinder<'a> {
    found: &'a mut WordBuilder,
    /// Whether a name may extend to the end of the text.
    open_end: bool,
}

impl TildeFinder<'_> {
    /// A text in which a tilde may start a directory at its start (`first`) or not. In a value, it may also after each
    /// `:`.
    fn scan_text(&mut self, text: &str, first: bool, in_value: bool) {
        if !in_value {
            return self.scan_part(text, first, true);
        }
        let mut parts = text.split(':').peekable();
        let mut counts = first;
        while let Some(part) = parts.next() {
            let last = parts.peek().is_none();
            self.scan_part(part, counts, last);
            if !last {
                self.found.push_text(":", TextQuoting::Plain);
            }
            counts = true;
        }
    }

    fn scan_part(&mut self, part: &str, counts: bool, last: bool) {
        let Some(behind) = part.strip_prefix('~').filter(|_| counts) else {
            if !part.is_empty() {
                self.found.push_text(part, TextQuoting::Plain);
            }
            return;
        };
        let end = behind.find(['/', ':']).unwrap_or(behind.len());
        let (name, rest) = behind.split_at(end);
        // A `:` ends the name, but quotes before the next `/` still make it plain text.
        let complete = behind.contains('/') || !last || self.open_end;
        if complete && is_user_name(name) {
            self.found.push(WordPart::Tilde(name.to_owned()));
            if !rest.is_empty() {
                self.found.push_text(rest, TextQuoting::Plain);
            }
        } else {
            self.found.push_text(part, TextQuoting::Plain);
        }
    }
}

fn is_user_name(name: &str) -> bool {
    name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'+'))
}

/// The start of the value, if a text starts like an assignment.
fn find_assignment_value(text: &str) -> Option<usize> {
    let (head, _) = text.split_once('=')?;
    let variable = head.strip_suffix('+').unwrap_or(head);
    let name = match variable.split_once('[') {
        Some((name, index)) if index.ends_with(']') => name,
        Some(_) => return None,
        None => variable,
    };
    is_variable_name(name).then_some(head.len() + 1)
}
