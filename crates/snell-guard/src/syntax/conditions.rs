//! `[[ … ]]`: the manual's section "Conditional Constructs".

use super::ast::{CommandKind, Piece, ProblemKind, Word};
use super::parser::Parser;
use super::places::{self, Place};
use super::tokens::Token;

/// Letters of the operators that take one operand.
const UNARY: &[u8] = b"abcdefghknoprstuvwxzGLNORS";

/// Operators that take two operands, with how the second is read.
const BINARY: &[(&str, &Place)] = &[
    ("=", &places::OPERAND_PATTERN),
    ("==", &places::OPERAND_PATTERN),
    ("!=", &places::OPERAND_PATTERN),
    ("=~", &places::REGEX),
    ("-eq", &places::PLAIN),
    ("-ne", &places::PLAIN),
    ("-lt", &places::PLAIN),
    ("-le", &places::PLAIN),
    ("-gt", &places::PLAIN),
    ("-ge", &places::PLAIN),
    ("-nt", &places::PLAIN),
    ("-ot", &places::PLAIN),
    ("-ef", &places::PLAIN),
];

/// Operators that may stand in a condition that could not be read.
const WITHIN: &[&str] = &["&&", "||", "(", ")", "<", ">"];

impl Parser<'_> {
    pub(super) fn condition(&mut self) -> CommandKind {
        let start = self.cursor.at();
        self.bump_operator("[[");
        let mut words = Vec::new();
        self.either(&mut words);
        if self.token() == Token::End {
            self.unterminated(start);
        } else if !self.eat_reserved("]]") {
            self.rest_of_condition(&mut words, start);
        }
        CommandKind::Test(words)
    }

    /// What could not be read as a condition is read as words, so that what runs in them is seen.
    fn rest_of_condition(&mut self, words: &mut Vec<Word>, start: usize) {
        self.misplaced(start);
        while !self.eat_reserved("]]") {
            match self.token() {
                Token::Word => words.push(self.plain_word()),
                Token::Operator(sign) if WITHIN.contains(&sign) => words.push(self.operator_word(sign)),
                _ => return,
            }
        }
    }

    fn either(&mut self, words: &mut Vec<Word>) {
        loop {
            self.term(words);
            match self.token() {
                Token::Operator(sign @ ("&&" | "||")) => words.push(self.operator_word(sign)),
                _ => return,
            }
        }
    }

    fn term(&mut self, words: &mut Vec<Word>) {
        self.skip_newlines();
        while self.reserved() == Some("!") {
            words.push(self.operator_word("!"));
            self.skip_newlines();
        }
        match self.token() {
            Token::Operator("(") => self.parentheses(words),
            // `[[ ]]` and `[[ a && ]]` are not true, but bash reads them.
            Token::Word if self.reserved() == Some("]]") => {}
            Token::Word if self.unary_ahead() => {
                words.push(self.plain_word());
                self.second_operand(words, &places::PLAIN);
            }
            Token::Word => self.comparison(words),
            Token::End => {}
            Token::Operator(_) | Token::Newline => self.misplaced(self.cursor.at()),
        }
    }

    fn parentheses(&mut self, words: &mut Vec<Word>) {
        let opened = self.cursor.at();
        words.push(self.operator_word("("));
        self.deeper(|parser| parser.either(words));
        if self.token() == Token::Operator(")") {
            words.push(self.operator_word(")"));
            self.skip_newlines();
        } else {
            self.misplaced(opened);
        }
    }

    fn unary_ahead(&self) -> bool {
        let word = self.short_word(self.cursor.at());
        word.is_some_and(|word| matches!(word.bytes(), [b'-', letter] if UNARY.contains(letter)))
    }

    fn comparison(&mut self, words: &mut Vec<Word>) {
        words.push(self.plain_word());
        match self.token() {
            Token::Operator(sign @ ("<" | ">")) => {
                words.push(self.operator_word(sign));
                self.second_operand(words, &places::PLAIN);
            }
            Token::Word => {
                let operator = self.short_word(self.cursor.at());
                let known = operator.and_then(|word| BINARY.iter().find(|(sign, _)| sign.as_bytes() == word.bytes()));
                if let Some((sign, place)) = known {
                    words.push(self.operator_word(sign));
                    self.second_operand(words, place);
                }
            }
            // A word alone may not be followed by a newline.
            Token::Newline => self.problem(ProblemKind::Unexpected, self.cursor.at(), self.cursor.at() + 1),
            _ => {}
        }
    }

    fn second_operand(&mut self, words: &mut Vec<Word>, place: &Place) {
        let operator = self.token();
        let regex = std::ptr::eq(place, &places::REGEX) && operator == Token::Operator("(");
        let is_word = operator == Token::Word && self.reserved() != Some("]]");
        if is_word || regex {
            words.push(self.word(place));
            self.skip_newlines();
        } else {
            self.misplaced(self.cursor.at());
        }
    }

    /// An operator as one of the words of a condition.
    fn operator_word(&mut self, sign: &str) -> Word {
        self.node();
        let start = self.cursor.at();
        self.bump_operator(sign);
        let text = sign.to_owned();
        Word {
            pieces: vec![Piece::Text { text, quoted: false }],
            span: self.cursor.span(start, self.cursor.at()),
        }
    }
}
