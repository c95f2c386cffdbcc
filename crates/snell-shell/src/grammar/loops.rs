//! `for`, `for ((…))` and `select`.

use crate::ast::{ShellCommandKind, ShellScript, ShellWord, SyntaxProblemKind, WordPart};
use crate::parser::ShellParser;
use crate::tokens::ShellToken;
use crate::words::lexical_context;

impl ShellParser<'_> {
    pub(crate) fn parse_for(&mut self) -> ShellCommandKind {
        let start = self.cursor.position();
        let select = self.eat_reserved("select");
        if !select {
            self.bump_operator("for");
        }
        if !select && self.peek_token() == ShellToken::Operator("(") && self.cursor.peek_second() == Some(b'(') {
            return self.parse_arithmetic_for(start);
        }
        let (variable, words, body) = self.parse_word_loop(start);
        ShellCommandKind::For { variable, words, body, select }
    }

    fn parse_word_loop(&mut self, start: usize) -> (String, Option<Vec<ShellWord>>, ShellScript) {
        if self.peek_token() != ShellToken::Word {
            self.report_unexpected(start);
            return Default::default();
        }
        let variable = self.parse_plain_word().to_literal().unwrap_or_default();
        let mut separated = self.peek_token() == ShellToken::Newline;
        self.skip_newlines();
        let words = self.eat_reserved("in").then(|| self.parse_loop_words());
        if words.is_some() {
            separated = self.eat_operator(";") || self.peek_token() == ShellToken::Newline;
            if !separated {
                self.report_unexpected(start);
            }
        } else {
            separated |= self.eat_operator(";");
        }
        self.skip_newlines();
        let body = self.parse_loop_body(start, separated);
        (variable, words, body)
    }

    fn parse_loop_words(&mut self) -> Vec<ShellWord> {
        let mut words = Vec::new();
        while self.peek_token() == ShellToken::Word {
            words.push(self.parse_word(&lexical_context::ARGUMENT));
        }
        words
    }

    /// `do … done`, or the undocumented `{ …; }`, in the position of a command.
    fn parse_loop_body(&mut self, start: usize, separated: bool) -> ShellScript {
        if separated && self.peek_reserved_word() == Some("{") {
            self.parse_braced_list()
        } else {
            self.parse_do_list(start)
        }
    }

    fn parse_arithmetic_for(&mut self, start: usize) -> ShellCommandKind {
        let opened = self.cursor.position();
        self.bump_operator("((");
        let expressions = self.parse_arithmetic_body(opened);
        if count_semicolons(&expressions) != 2 {
            self.report_problem(SyntaxProblemKind::Unexpected, opened, self.cursor.position());
        }
        self.eat_operator(";");
        self.skip_newlines();
        let body = self.parse_loop_body(start, true);
        ShellCommandKind::ArithmeticFor { expressions, body }
    }
}

fn count_semicolons(word: &ShellWord) -> usize {
    let texts = word.parts.iter().filter_map(|piece| match piece {
        WordPart::Text { text, .. } => Some(text),
        _ => None,
    });
    texts.map(|text| text.matches(';').count()).sum()
}
