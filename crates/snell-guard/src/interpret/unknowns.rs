//! Texts with unknown parts. A parser needs characters, so each unknown part is encoded as a private-use character and
//! decoded when the word is expanded.

use super::ShellInterpreter;
use crate::invocation::{SymbolicPart, SymbolicText};

const FIRST_PLACEHOLDER: u32 = 0xF_0000;
const LAST_PLACEHOLDER: u32 = 0xF_FFFD;

/// Whether a character stands for an unknown part.
fn is_placeholder(c: char) -> bool {
    (FIRST_PLACEHOLDER..=LAST_PLACEHOLDER).contains(&u32::from(c))
}

impl ShellInterpreter<'_> {
    /// The text of a value, with a character for each unknown part.
    pub(crate) fn encode_unknowns(&mut self, value: &SymbolicText) -> String {
        let mut text = String::new();
        for part in &value.parts {
            match part {
                SymbolicPart::Text(known) | SymbolicPart::Pattern(known) => text.push_str(known),
                SymbolicPart::Unknown(_) => text.push(self.intern_placeholder(part)),
            }
        }
        text
    }

    /// The words of a command as text that a shell splits into the same words.
    pub(crate) fn quote_words(&mut self, words: &[SymbolicText]) -> SymbolicText {
        let mut text = SymbolicText::default();
        for (at, word) in words.iter().enumerate() {
            if at > 0 {
                text.push_text(" ");
            }
            if word.parts.is_empty() {
                text.push_text("''");
            }
            for part in &word.parts {
                match part {
                    SymbolicPart::Text(known) => text.push_text(&quote_shell_word(known)),
                    other => text.push(other.clone()),
                }
            }
        }
        text
    }

    fn intern_placeholder(&mut self, part: &SymbolicPart) -> char {
        let at = self.placeholders.iter().position(|known| known == part).unwrap_or_else(|| {
            self.placeholders.push(part.clone());
            self.placeholders.len() - 1
        });
        u32::try_from(at)
            .ok()
            .and_then(|at| char::from_u32(FIRST_PLACEHOLDER + at))
            .unwrap_or(char::REPLACEMENT_CHARACTER)
    }

    /// Adds text that may have encoded unknown parts.
    pub(super) fn push_decoding_unknowns(&self, value: &mut SymbolicText, text: &str) {
        if self.placeholders.is_empty() || !text.contains(is_placeholder) {
            value.push_text(text);
            return;
        }
        for c in text.chars() {
            match self.decode_placeholder(c) {
                Some(part) => value.push(part.clone()),
                None => value.push_text(c.encode_utf8(&mut [0; 4])),
            }
        }
    }

    fn decode_placeholder(&self, c: char) -> Option<&SymbolicPart> {
        let at = u32::from(c).checked_sub(FIRST_PLACEHOLDER)?;
        self.placeholders.get(usize::try_from(at).ok()?)
    }
}

/// Quotes a word for a shell.
pub(crate) fn quote_shell_word(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}
