//! Arrays: `( … )` after `=`, and `[ … ]` after a name.

use super::ast::{Assigned, Piece, ProblemKind, Word};
use super::parser::Parser;
use super::pieces::Pieces;
use super::places::{self, Place};
use super::tokens::Token;

impl Parser<'_> {
    /// `( … )` with its elements.
    pub(super) fn array(&mut self) -> Vec<(Option<Word>, Word)> {
        self.deeper(Self::elements)
    }

    fn elements(&mut self) -> Vec<(Option<Word>, Word)> {
        let start = self.cursor.at();
        self.cursor.bump();
        let mut elements = Vec::new();
        loop {
            match self.token() {
                Token::Newline => self.newline(),
                Token::Word => elements.push(self.element()),
                Token::Operator(")") => {
                    self.cursor.bump();
                    return elements;
                }
                Token::Operator(_) => {
                    self.rest_of_line_is_lost();
                    return elements;
                }
                Token::End => {
                    self.unterminated(start);
                    return elements;
                }
            }
        }
    }

    /// The one fault after which bash does not stop: it drops the line, with all that is open, and runs the next one.
    fn rest_of_line_is_lost(&mut self) {
        let start = self.cursor.at();
        self.cursor.run(|b| b != b'\n');
        let span = self.cursor.span(start, self.cursor.at());
        self.problem_beside(ProblemKind::Unexpected, span);
    }

    /// `value` or `[index]=value`
    fn element(&mut self) -> (Option<Word>, Word) {
        if self.cursor.peek() != Some(b'[') {
            return (None, self.word(&places::ARGUMENT));
        }
        let start = self.cursor.at();
        let index = self.index();
        let mut pieces = Pieces::default();
        if self.cursor.peek() == Some(b'+') && self.cursor.second() == Some(b'=') {
            self.cursor.bump();
        }
        if self.cursor.eat(b'=') {
            let value = match self.assigned() {
                Assigned::Word(word) => word,
                // Bash does not take an array in an array, but what runs in it is to be seen.
                Assigned::Array(inner) => Word {
                    pieces: vec![Piece::Array(inner)],
                    span: self.cursor.span(start, self.cursor.at()),
                },
            };
            return (Some(index), value);
        }
        pieces.text("[", false);
        pieces.extend(index.pieces);
        pieces.text("]", false);
        (None, self.word_from(start, pieces, &places::ARGUMENT))
    }

    /// `[ … ]` after a name: blanks do not end it.
    pub(super) fn index(&mut self) -> Word {
        let opened = self.cursor.at();
        let word = self.index_in(&places::INDEX);
        if !self.cursor.eat(b']') {
            self.unterminated(opened);
        }
        word
    }

    /// The same up to what closes it.
    pub(super) fn index_in(&mut self, place: &Place) -> Word {
        self.cursor.bump();
        let start = self.cursor.at();
        let pieces = self.deeper(|parser| parser.pieces(place, Pieces::default()));
        self.finish(pieces, place, start)
    }
}
