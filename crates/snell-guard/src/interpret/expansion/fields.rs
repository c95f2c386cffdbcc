//! Builds the words that a word expands to.

use crate::invocation::{SymbolicPart, SymbolicText};

/// Characters that make an unquoted text a pattern.
pub(crate) const GLOBS: &[char] = &['*', '?', '['];

/// The words that one word expands to.
#[derive(Default)]
pub(crate) struct FieldBuilder {
    done: Vec<SymbolicText>,
    current: SymbolicText,
    /// Whether there is a current word, possibly an empty one.
    present: bool,
}

impl FieldBuilder {
    /// The current word.
    pub(crate) fn current_field(&mut self) -> &mut SymbolicText {
        self.present = true;
        &mut self.current
    }

    /// Ends the current word, if there is one.
    pub(crate) fn end_field(&mut self) {
        if self.present {
            self.done.push(std::mem::take(&mut self.current));
            self.present = false;
        }
    }

    /// Ends the current word, which may be empty.
    fn end_field_always(&mut self) {
        self.present = true;
        self.end_field();
    }

    /// Adds an unquoted value, split at the separators.
    pub(crate) fn push_split(&mut self, value: &SymbolicText, separators: &str) {
        for part in &value.parts {
            match part {
                SymbolicPart::Text(text) => self.push_split_text(text, separators),
                part => self.current_field().push(part.clone()),
            }
        }
    }

    fn push_split_text(&mut self, text: &str, separators: &str) {
        let mut rest = text;
        while let Some(at) = rest.find(|c| separators.contains(c)) {
            let (word, from) = rest.split_at(at);
            if !word.is_empty() {
                push_globs(self.current_field(), word);
            }
            let sign = from.chars().next().unwrap_or(' ');
            rest = from.get(sign.len_utf8()..).unwrap_or_default();
            if is_blank(sign) {
                self.end_field();
            } else {
                self.end_field_always();
            }
            // Blanks around another separator belong to it.
            let blank = |c: char| is_blank(c) && separators.contains(c);
            let trimmed = rest.trim_start_matches(blank);
            if is_blank(sign)
                && trimmed.starts_with(|c: char| separators.contains(c) && !is_blank(c))
                && !word.is_empty()
            {
                let other = trimmed.chars().next().map_or(0, char::len_utf8);
                rest = trimmed.get(other..).unwrap_or_default().trim_start_matches(blank);
            } else {
                rest = trimmed;
            }
        }
        if !rest.is_empty() {
            push_globs(self.current_field(), rest);
        }
    }

    pub(crate) fn finish(mut self) -> Vec<SymbolicText> {
        self.end_field();
        self.done
    }
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n')
}

impl SymbolicText {
    /// Adds an unquoted value.
    pub(crate) fn append_globs(&mut self, other: &Self) {
        for part in &other.parts {
            match part {
                SymbolicPart::Text(text) => push_globs(self, text),
                part => self.push(part.clone()),
            }
        }
    }
}

/// Adds unquoted text, which may have patterns.
fn push_globs(value: &mut SymbolicText, text: &str) {
    let mut rest = text;
    while let Some(at) = rest.find(GLOBS) {
        let (before, from) = rest.split_at(at);
        value.push_text(before);
        let length = match from.strip_prefix('[') {
            None => 1,
            Some(inner) => match inner.char_indices().skip(1).find(|(_, c)| *c == ']') {
                Some((end, _)) => end + 2,
                None => {
                    value.push_text(from);
                    return;
                }
            },
        };
        let (pattern, after) = from.split_at_checked(length).unwrap_or((from, ""));
        value.push(SymbolicPart::Pattern(pattern.to_owned()));
        rest = after;
    }
    value.push_text(rest);
}
