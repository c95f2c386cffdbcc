//! Arrays: `( … )` after `=`, and `[ … ]` after a name.

use super::lexical_context::{self, LexicalContext};
use super::word_parts::WordBuilder;
use crate::ast::{AssignmentValue, ShellWord, SyntaxProblemKind, WordPart};
use crate::parser::ShellParser;
use crate::tokens::ShellToken;
use crate::words::word_parts::TextQuoting;

impl ShellParser<'_> {
    /// `( … )` with its elements.
    pub(crate) fn parse_array(&mut self) -> Vec<(Option<ShellWord>, ShellWord)> {
        self.parse_nested(Self::parse_array_elements)
    }

    fn parse_array_elements(&mut self) -> Vec<(Option<ShellWord>, ShellWord)> {
        let start = self.cursor.position();
        self.cursor.bump();
        let mut elements = Vec::new();
        loop {
            match self.peek_token() {
                ShellToken::Newline => self.consume_newline(),
                ShellToken::Word => elements.push(self.parse_array_element()),
                ShellToken::Operator(")") => {
                    self.cursor.bump();
                    return elements;
                }
                ShellToken::Operator(_) => {
                    self.skip_broken_line();
                    return elements;
                }
                ShellToken::End => {
                    self.report_unterminated(start);
                    return elements;
                }
            }
        }
    }

    /// The one error after which bash does not stop: it drops the line, with all open constructs, and runs the next
    /// one.
    fn skip_broken_line(&mut self) {
        let start = self.cursor.position();
        self.cursor.take_while(|b| b != b'\n');
        let span = self.cursor.span(start, self.cursor.position());
        self.report_nonfatal_problem(SyntaxProblemKind::Unexpected, span);
    }

    /// `value` or `[index]=value`
    fn parse_array_element(&mut self) -> (Option<ShellWord>, ShellWord) {
        if self.cursor.peek() != Some(b'[') {
            return (None, self.parse_word(&lexical_context::ARGUMENT));
        }
        let start = self.cursor.position();
        let index = self.parse_index();
        let mut pieces = WordBuilder::default();
        if self.cursor.peek() == Some(b'+') && self.cursor.peek_second() == Some(b'=') {
            self.cursor.bump();
        }
        if self.cursor.eat(b'=') {
            let value = match self.parse_assignment_value() {
                AssignmentValue::Word(word) => word,
                // Bash rejects an array in an array, but commands in it must be visible.
                AssignmentValue::Array(inner) => ShellWord {
                    parts: vec![WordPart::Array(inner)],
                    span: self.cursor.span(start, self.cursor.position()),
                },
            };
            return (Some(index), value);
        }
        pieces.push_text("[", TextQuoting::Plain);
        pieces.extend(index.parts);
        pieces.push_text("]", TextQuoting::Plain);
        (None, self.continue_word(start, pieces, &lexical_context::ARGUMENT))
    }

    /// `[ … ]` after a name: blanks do not end it.
    pub(crate) fn parse_index(&mut self) -> ShellWord {
        let opened = self.cursor.position();
        let word = self.parse_index_body(&lexical_context::INDEX);
        if !self.cursor.eat(b']') {
            self.report_unterminated(opened);
        }
        word
    }

    /// The same, up to its closing bracket.
    pub(crate) fn parse_index_body(&mut self, place: &LexicalContext) -> ShellWord {
        self.cursor.bump();
        self.parse_expression(place)
    }
}
