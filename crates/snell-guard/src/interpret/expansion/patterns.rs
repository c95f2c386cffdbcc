//! Matches patterns with `*`, `?` and `[…]`.

use crate::interpret::limits;
use crate::invocation::{SymbolicPart, SymbolicText};
use crate::paths::matches_wildcards;

/// A pattern without unknown parts.
#[derive(Debug)]
pub(crate) struct ShellPattern {
    signs: Vec<PatternElement>,
}

#[derive(Debug)]
enum PatternElement {
    Exactly(char),
    One,
    Many,
    OneOf { negated: bool, ranges: Vec<(char, char)> },
}

impl ShellPattern {
    /// `None` if part of it is unknown or it is too long.
    pub(crate) fn from_value(value: &SymbolicText) -> Option<Self> {
        let mut signs = Vec::new();
        for part in &value.parts {
            match part {
                SymbolicPart::Text(text) => signs.extend(text.chars().map(PatternElement::Exactly)),
                SymbolicPart::Pattern(text) => parse_elements(text, &mut signs)?,
                SymbolicPart::Unknown(_) => return None,
            }
        }
        Some(Self { signs })
    }

    /// Whether the whole text matches; `None` if that would take too long.
    pub(crate) fn matches_text(&self, text: &[char]) -> Option<bool> {
        if text.len().saturating_mul(self.signs.len()) > limits::MATCH_WORK {
            return None;
        }
        let is_many = |sign: &PatternElement| matches!(sign, PatternElement::Many);
        Some(matches_wildcards(text, &self.signs, is_many, |sign, c| sign.matches_char(*c)))
    }

    /// The text, if the pattern is literal.
    pub(crate) fn to_literal(&self) -> Option<String> {
        let exactly = |sign: &PatternElement| match sign {
            PatternElement::Exactly(c) => Some(*c),
            PatternElement::One | PatternElement::Many | PatternElement::OneOf { .. } => None,
        };
        self.signs.iter().map(exactly).collect()
    }

    /// The work of trying it at all positions of a text.
    pub(crate) fn estimate_work(&self, length: usize) -> usize {
        length.saturating_mul(length).saturating_mul(self.signs.len())
    }
}

impl PatternElement {
    fn matches_char(&self, c: char) -> bool {
        match self {
            Self::Exactly(wanted) => *wanted == c,
            Self::One => true,
            Self::Many => false,
            Self::OneOf { negated, ranges } => ranges.iter().any(|(from, to)| (*from..=*to).contains(&c)) != *negated,
        }
    }
}

fn parse_elements(text: &str, signs: &mut Vec<PatternElement>) -> Option<()> {
    let characters: Vec<char> = text.chars().collect();
    let mut at = 0;
    while let Some(c) = characters.get(at) {
        at += 1;
        match c {
            _ if characters.get(at) == Some(&'(') && "?*+@!".contains(*c) => return None,
            '*' => signs.push(PatternElement::Many),
            '?' => signs.push(PatternElement::One),
            '[' => {
                let (sign, next) = parse_bracket(&characters, at)?;
                signs.push(sign);
                at = next;
            }
            c => signs.push(PatternElement::Exactly(*c)),
        }
    }
    Some(())
}

/// Parses a bracket expression; also returns its end.
fn parse_bracket(characters: &[char], start: usize) -> Option<(PatternElement, usize)> {
    let negated = matches!(characters.get(start), Some('!' | '^'));
    let mut at = start + usize::from(negated);
    let first = at;
    let mut ranges = Vec::new();
    loop {
        let c = match characters.get(at)? {
            ']' if at > first => return Some((PatternElement::OneOf { negated, ranges }, at + 1)),
            '[' if characters.get(at + 1) == Some(&':') => {
                let length = characters.get(at + 2..)?.iter().position(|c| *c == ':')?;
                let name: String = characters.get(at + 2..at + 2 + length)?.iter().collect();
                ranges.extend_from_slice(lookup_class_ranges(&name)?);
                at += length + 4;
                continue;
            }
            '\\' => {
                at += 1;
                characters.get(at)?
            }
            c => c,
        };
        at += 1;
        let to = characters.get(at + 1).filter(|to| characters.get(at) == Some(&'-') && **to != ']');
        ranges.push((*c, *to.unwrap_or(c)));
        at += if to.is_some() { 2 } else { 0 };
    }
}

fn lookup_class_ranges(name: &str) -> Option<&'static [(char, char)]> {
    Some(match name {
        "alpha" => &[('a', 'z'), ('A', 'Z')],
        "digit" => &[('0', '9')],
        "alnum" => &[('a', 'z'), ('A', 'Z'), ('0', '9')],
        "upper" => &[('A', 'Z')],
        "lower" => &[('a', 'z')],
        "space" => &[(' ', ' '), ('\t', '\r')],
        "blank" => &[(' ', ' '), ('\t', '\t')],
        "punct" => &[('!', '/'), (':', '@'), ('[', '`'), ('{', '~')],
        "xdigit" => &[('a', 'f'), ('A', 'F'), ('0', '9')],
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_as_in_bash() {
        for (pattern, text, expected) in [
            ("*", "", true),
            ("a*c", "abbc", true),
            ("a*c", "abb", false),
            ("?", "a", true),
            ("?", "", false),
            ("[a-c]x", "bx", true),
            ("[!a-c]x", "bx", false),
            ("[]]", "]", true),
            ("[[:digit:]]*", "12a", true),
            ("*/", "a/b/", true),
            ("*a*b", "xaxbxb", true),
            ("ab", "a", false),
            ("a", "ab", false),
        ] {
            let value = SymbolicText { parts: vec![SymbolicPart::Pattern(pattern.into())] };
            let characters: Vec<char> = text.chars().collect();
            assert_eq!(
                ShellPattern::from_value(&value).and_then(|pattern| pattern.matches_text(&characters)),
                Some(expected),
                "{pattern} {text}"
            );
        }
    }
}
