//! Words: plain text, quotes and expansions, in one loop for all contexts.

pub(crate) mod arithmetic;
pub(crate) mod arrays;
pub(crate) mod backquotes;
pub(crate) mod braces;
pub(crate) mod expansions;
pub(crate) mod lexical_context;
pub(crate) mod parameters;
pub(crate) mod patterns;
pub(crate) mod quotes;
pub(crate) mod tildes;
pub(crate) mod word_parts;

use super::ast::{ShellWord, SyntaxProblemKind, WordPart};
use super::limits;
use super::parser::ShellParser;
use crate::words::lexical_context::{LexicalContext, QuotingMode};
use crate::words::word_parts::WordBuilder;

/// Characters that start an extended pattern, if `(` follows.
const EXTENDED: &[u8] = b"?*+@!";

/// Bytes that are special in no context.
const PLAIN_BYTES: [bool; 256] = {
    let special = b"\\'\"$` \t\n|&;()<>[]}/:?*+@!";
    let mut plain = [true; 256];
    let mut at = 0;
    while at < special.len() {
        plain[special[at] as usize] = false;
        at += 1;
    }
    plain
};

/// The number of special characters in the plain text of a word.
#[derive(Default)]
struct MetacharacterCounts {
    braces: usize,
    tildes: usize,
    patterns: usize,
}

impl MetacharacterCounts {
    fn from_parts(pieces: &[WordPart]) -> Self {
        let mut signs = Self::default();
        for piece in pieces {
            let WordPart::Text { text, quoted: false } = piece else {
                continue;
            };
            for byte in text.bytes() {
                match byte {
                    b'{' | b'}' | b',' => signs.braces += 1,
                    b'~' => signs.tildes += 1,
                    b'*' | b'?' | b'[' => signs.patterns += 1,
                    _ => {}
                }
            }
        }
        signs
    }

    fn total(&self) -> usize {
        self.braces + self.tildes + self.patterns
    }
}

impl ShellParser<'_> {
    /// A word in the default context.
    pub(super) fn parse_plain_word(&mut self) -> ShellWord {
        self.parse_word(&lexical_context::PLAIN)
    }

    /// A word that starts here.
    pub(super) fn parse_word(&mut self, place: &LexicalContext) -> ShellWord {
        self.cursor.peek();
        self.continue_word(self.cursor.position(), WordBuilder::default(), place)
    }

    /// A word whose first part is already read.
    pub(super) fn continue_word(&mut self, start: usize, before: WordBuilder, place: &LexicalContext) -> ShellWord {
        let pieces = self.parse_parts(place, before);
        self.finish_word(pieces, place, start)
    }

    /// Finds patterns, braces and tildes in the plain text of a word.
    pub(super) fn finish_word(&mut self, pieces: WordBuilder, place: &LexicalContext, start: usize) -> ShellWord {
        let span = self.cursor.span(start, self.cursor.position());
        let mut pieces = pieces.into_vec();
        let signs = MetacharacterCounts::from_parts(&pieces);
        if signs.total() > limits::SIGNS_IN_WORD {
            self.report_nonfatal_problem(SyntaxProblemKind::TooLong, span.clone());
        } else {
            if place.braces && signs.braces > 0 {
                pieces = self.find_brace_lists(pieces, &span);
            }
            if signs.tildes > 0 {
                pieces = crate::words::tildes::find_tildes(pieces, place.tildes);
            }
            if place.patterns && signs.patterns > 0 {
                pieces = crate::words::patterns::find_patterns(pieces);
            }
        }
        (0..=pieces.len()).for_each(|_| self.count_node());
        ShellWord { parts: pieces, span }
    }

    /// The parts up to the end of the context, or the end of the text.
    pub(super) fn parse_parts(&mut self, place: &LexicalContext, mut parts: WordBuilder) -> WordBuilder {
        let quoted = place.quoting.is_quoted();
        let mut nested = 0_usize;
        while let Some(byte) = self.cursor.peek() {
            if byte == b'(' && place.arrays && parts.is_assignment() {
                let elements = self.parse_array();
                parts.push(WordPart::Array(elements));
                continue;
            }
            if place.processes && matches!(byte, b'<' | b'>') && self.cursor.peek_second() == Some(b'(') {
                parts.push(self.parse_process_substitution());
                continue;
            }
            if (nested == 0 && (place.ends)(byte)) || place.closes == Some(byte) {
                break;
            }
            match byte {
                b'\\' => self.parse_escape(place.quoting, &mut parts),
                b'\'' if place.quoting.has_single_quotes() => self.parse_single_quotes(&mut parts),
                b'\'' if place.quoting == QuotingMode::Inner => self.parse_literal_single_quotes(&mut parts),
                b'"' if place.quoting != QuotingMode::Here => self.parse_double_quotes(&mut parts),
                b'$' => self.parse_dollar(place.quoting, &mut parts),
                b'`' => parts.push(self.parse_backquotes(place.quoting)),
                _ if place.patterns && EXTENDED.contains(&byte) && self.is_extended_pattern_ahead() => {
                    parts.push(self.parse_extended_pattern(char::from(byte)));
                }
                _ => {
                    nested = match place.nests {
                        Some((open, _)) if open == byte => nested + 1,
                        Some((_, close)) if close == byte => nested.saturating_sub(1),
                        _ => nested,
                    };
                    self.parse_plain_text(quoted, &mut parts);
                }
            }
        }
        parts
    }

    /// One character that is not special here, and all after it that are special nowhere.
    fn parse_plain_text(&mut self, quoted: bool, parts: &mut WordBuilder) {
        if let Some(c) = self.cursor.next_char() {
            parts.push_char(c, quoted.into());
        }
        let run = self.cursor.take_while(|byte| PLAIN_BYTES[usize::from(byte)]);
        if !run.is_empty() {
            parts.push_text(run, quoted.into());
        }
    }

    /// Without `shopt -s extglob`, `@(` can only be an error, so it is read as with extglob. `@()` defines a function.
    fn is_extended_pattern_ahead(&mut self) -> bool {
        let parenthesis = self.cursor.skip_line_continuations(self.cursor.position() + 1);
        self.cursor.byte_at(parenthesis) == Some(b'(')
            && self.cursor.byte_at(self.cursor.skip_line_continuations(parenthesis + 1)) != Some(b')')
    }

    fn parse_extended_pattern(&mut self, sign: char) -> WordPart {
        let start = self.cursor.position();
        self.bump_operator("@(");
        let alternatives = self.parse_nested(|parser| {
            let mut alternatives = vec![parser.parse_word(&lexical_context::ALTERNATIVE)];
            while parser.cursor.eat(b'|') {
                alternatives.push(parser.parse_word(&lexical_context::ALTERNATIVE));
            }
            alternatives
        });
        if !self.cursor.eat(b')') {
            self.report_unterminated(start);
        }
        WordPart::Extended(sign, alternatives)
    }

    /// The longest variable name at this position. Empty if there is none.
    pub(super) fn parse_name(&mut self) -> String {
        let mut name = String::new();
        while let Some(byte) = self.cursor.peek() {
            let fits = byte == b'_' || byte.is_ascii_alphabetic() || (byte.is_ascii_digit() && !name.is_empty());
            if !fits {
                break;
            }
            name.push(char::from(byte));
            self.cursor.bump();
        }
        name
    }
}
