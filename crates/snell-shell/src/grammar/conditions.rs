//! `[[ … ]]`: the manual's section "Conditional Constructs".

use crate::ast::{ShellCommandKind, ShellWord, SyntaxProblemKind};
use crate::parser::ShellParser;
use crate::tokens::ShellToken;
use crate::words::lexical_context::{self, LexicalContext};

/// Letters of the unary operators.
const UNARY: &[u8] = b"abcdefghknoprstuvwxzGLNORS";

/// The binary operators.
const BINARY: &[&str] = &["=", "==", "!=", "=~", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef"];

/// Operators that may be in an invalid condition.
const CONDITION_OPERATORS: &[&str] = &["&&", "||", "(", ")", "<", ">"];

impl ShellParser<'_> {
    pub(crate) fn parse_condition(&mut self) -> ShellCommandKind {
        let start = self.cursor.position();
        self.bump_operator("[[");
        let mut words = Vec::new();
        self.parse_condition_terms(&mut words);
        if self.peek_token() == ShellToken::End {
            self.report_unterminated(start);
        } else if !self.eat_reserved("]]") {
            self.parse_broken_condition(&mut words, start);
        }
        ShellCommandKind::Test(words)
    }

    /// Reads an invalid condition as words, so that the commands in them are visible.
    fn parse_broken_condition(&mut self, words: &mut Vec<ShellWord>, start: usize) {
        self.report_unexpected(start);
        while !self.eat_reserved("]]") {
            match self.peek_token() {
                ShellToken::Word => words.push(self.parse_plain_word()),
                ShellToken::Operator(sign) if CONDITION_OPERATORS.contains(&sign) => {
                    words.push(self.take_operator_word(sign))
                }
                _ => return,
            }
        }
    }

    fn parse_condition_terms(&mut self, words: &mut Vec<ShellWord>) {
        loop {
            self.parse_condition_term(words);
            match self.peek_token() {
                ShellToken::Operator(sign @ ("&&" | "||")) => words.push(self.take_operator_word(sign)),
                _ => return,
            }
        }
    }

    fn parse_condition_term(&mut self, words: &mut Vec<ShellWord>) {
        self.skip_newlines();
        while self.peek_reserved_word() == Some("!") {
            words.push(self.take_operator_word("!"));
            self.skip_newlines();
        }
        match self.peek_token() {
            ShellToken::Operator("(") => self.parse_condition_group(words),
            // `[[ ]]` and `[[ a && ]]` are not true, but bash accepts them.
            ShellToken::Word if self.peek_reserved_word() == Some("]]") => {}
            ShellToken::Word if self.is_unary_ahead() => {
                words.push(self.parse_plain_word());
                self.parse_condition_operand(words, &lexical_context::PLAIN);
            }
            ShellToken::Word => self.parse_comparison(words),
            ShellToken::End => {}
            ShellToken::Operator(_) | ShellToken::Newline => self.report_unexpected(self.cursor.position()),
        }
    }

    fn parse_condition_group(&mut self, words: &mut Vec<ShellWord>) {
        let opened = self.cursor.position();
        words.push(self.take_operator_word("("));
        self.parse_nested(|parser| parser.parse_condition_terms(words));
        if self.peek_token() == ShellToken::Operator(")") {
            words.push(self.take_operator_word(")"));
            self.skip_newlines();
        } else {
            self.report_unexpected(opened);
        }
    }

    fn is_unary_ahead(&self) -> bool {
        let word = self.peek_short_word(self.cursor.position());
        word.is_some_and(|word| matches!(word.as_bytes(), [b'-', letter] if UNARY.contains(letter)))
    }

    fn parse_comparison(&mut self, words: &mut Vec<ShellWord>) {
        words.push(self.parse_plain_word());
        match self.peek_token() {
            ShellToken::Operator(sign @ ("<" | ">")) => {
                words.push(self.take_operator_word(sign));
                self.parse_condition_operand(words, &lexical_context::PLAIN);
            }
            ShellToken::Word => {
                let operator = self.peek_short_word(self.cursor.position());
                let known = operator.and_then(|word| BINARY.iter().find(|sign| sign.as_bytes() == word.as_bytes()));
                if let Some(sign) = known {
                    words.push(self.take_operator_word(sign));
                    let place = if *sign == "=~" { &lexical_context::REGEX } else { &lexical_context::PLAIN };
                    self.parse_condition_operand(words, place);
                }
            }
            // A newline may not follow a single word.
            ShellToken::Newline => {
                self.report_problem(SyntaxProblemKind::Unexpected, self.cursor.position(), self.cursor.position() + 1)
            }
            _ => {}
        }
    }

    fn parse_condition_operand(&mut self, words: &mut Vec<ShellWord>, place: &LexicalContext) {
        let operator = self.peek_token();
        let regex = std::ptr::eq(place, &lexical_context::REGEX) && operator == ShellToken::Operator("(");
        let is_word = operator == ShellToken::Word && self.peek_reserved_word() != Some("]]");
        if is_word || regex {
            words.push(self.parse_word(place));
            self.skip_newlines();
        } else {
            self.report_unexpected(self.cursor.position());
        }
    }

    /// An operator as a word of a condition.
    fn take_operator_word(&mut self, sign: &str) -> ShellWord {
        self.count_node();
        let start = self.cursor.position();
        self.bump_operator(sign);
        ShellWord::from_text(sign, self.cursor.span(start, self.cursor.position()))
    }
}
