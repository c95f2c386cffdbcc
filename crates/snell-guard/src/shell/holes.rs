//! Texts with unknown parts. A parser takes characters, so each unknown part is written as one of a plane that nobody
//! writes in, and found again when the word is expanded.

use super::Walker;
use crate::invocation::{Part, Value};

const FIRST: u32 = 0xF_0000;
const LAST: u32 = 0xF_FFFD;

/// In a text that is handed to a parser: not a character that means anything there.
fn is_hole(c: char) -> bool {
    (FIRST..=LAST).contains(&u32::from(c))
}

impl Walker<'_> {
    /// The text of a value, with a character for each unknown part.
    pub(crate) fn with_holes(&mut self, value: &Value) -> String {
        let mut text = String::new();
        for part in &value.parts {
            match part {
                Part::Text(known) | Part::Pattern(known) => text.push_str(known),
                Part::Unknown(_) => text.push(self.hole(part)),
            }
        }
        text
    }

    /// Words of a command as a text that a shell would read as the same words.
    pub(crate) fn quoted(&mut self, words: &[Value]) -> Value {
        let mut text = Value::default();
        for (at, word) in words.iter().enumerate() {
            if at > 0 {
                text.push_text(" ");
            }
            if word.parts.is_empty() {
                text.push_text("''");
            }
            for part in &word.parts {
                match part {
                    Part::Text(known) => text.push_text(&format!("'{}'", known.replace('\'', "'\\''"))),
                    other => text.push(other.clone()),
                }
            }
        }
        text
    }

    fn hole(&mut self, part: &Part) -> char {
        let at = self.holes.iter().position(|known| known == part).unwrap_or_else(|| {
            self.holes.push(part.clone());
            self.holes.len() - 1
        });
        u32::try_from(at)
            .ok()
            .and_then(|at| char::from_u32(FIRST + at))
            .unwrap_or(char::REPLACEMENT_CHARACTER)
    }

    /// Adds text in which there may be holes.
    pub(super) fn push_with_holes(&self, value: &mut Value, text: &str) {
        if self.holes.is_empty() || !text.contains(is_hole) {
            value.push_text(text);
            return;
        }
        for c in text.chars() {
            match self.part_of(c) {
                Some(part) => value.push(part.clone()),
                None => value.push_text(c.encode_utf8(&mut [0; 4])),
            }
        }
    }

    fn part_of(&self, c: char) -> Option<&Part> {
        let at = u32::from(c).checked_sub(FIRST)?;
        self.holes.get(usize::try_from(at).ok()?)
    }
}
