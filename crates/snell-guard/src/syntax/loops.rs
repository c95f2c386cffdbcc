//! `for`, `for ((…))` and `select`.

use super::ast::{CommandKind, Piece, ProblemKind, Script, Word};
use super::parser::Parser;
use super::places;
use super::tokens::Token;

impl Parser<'_> {
    pub(super) fn for_(&mut self) -> CommandKind {
        let start = self.cursor.at();
        self.bump_operator("for");
        if self.token() == Token::Operator("(") && self.cursor.second() == Some(b'(') {
            return self.arithmetic_for(start);
        }
        let (variable, words, body) = self.loop_over_words(start);
        CommandKind::For {
            variable,
            words,
            body,
            select: false,
        }
    }

    pub(super) fn select(&mut self) -> CommandKind {
        let start = self.cursor.at();
        self.bump_operator("select");
        let (variable, words, body) = self.loop_over_words(start);
        CommandKind::For {
            variable,
            words,
            body,
            select: true,
        }
    }

    fn loop_over_words(&mut self, start: usize) -> (String, Option<Vec<Word>>, Script) {
        if self.token() != Token::Word {
            self.misplaced(start);
            return Default::default();
        }
        let name = self.plain_word();
        let variable = self.name_of(&name);
        let mut separated = self.token() == Token::Newline;
        self.skip_newlines();
        let words = self.eat_reserved("in").then(|| self.words_of_loop());
        if words.is_some() {
            separated = self.eat_operator(";") || self.token() == Token::Newline;
            if !separated {
                self.misplaced(start);
            }
        } else {
            separated |= self.eat_operator(";");
        }
        self.skip_newlines();
        let body = self.loop_body(start, separated);
        (variable, words, body)
    }

    fn words_of_loop(&mut self) -> Vec<Word> {
        let mut words = Vec::new();
        while self.token() == Token::Word {
            words.push(self.word(&places::ARGUMENT));
        }
        words
    }

    /// `do … done`, or what the manual does not mention: `{ …; }`, where a command could begin.
    fn loop_body(&mut self, start: usize, separated: bool) -> Script {
        if separated && self.reserved() == Some("{") {
            self.braced_list()
        } else {
            self.do_list(start)
        }
    }

    fn arithmetic_for(&mut self, start: usize) -> CommandKind {
        let opened = self.cursor.at();
        self.bump_operator("((");
        let expressions = self.arithmetic_until_double(opened);
        if semicolons(&expressions) != 2 {
            self.problem(ProblemKind::Unexpected, opened, self.cursor.at());
        }
        self.eat_operator(";");
        self.skip_newlines();
        let body = self.loop_body(start, true);
        CommandKind::ArithmeticFor { expressions, body }
    }
}

fn semicolons(word: &Word) -> usize {
    let texts = word.pieces.iter().filter_map(|piece| match piece {
        Piece::Text { text, .. } => Some(text),
        _ => None,
    });
    texts.map(|text| text.matches(';').count()).sum()
}
