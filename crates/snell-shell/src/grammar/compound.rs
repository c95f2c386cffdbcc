//! `if`, `while`, `until` and `case`: the manual's section "Compound Commands".

use crate::ast::{ShellCommandKind, ShellScript, ShellWord};
use crate::parser::ShellParser;
use crate::tokens::ShellToken;
use crate::words::lexical_context;

/// The operators that end an arm of a `case`.
const ARM_ENDS: &[&str] = &[";;", ";&", ";;&"];

impl ShellParser<'_> {
    pub(crate) fn parse_if(&mut self) -> ShellCommandKind {
        let start = self.cursor.position();
        self.bump_operator("if");
        let mut branches = Vec::new();
        loop {
            let condition = self.parse_nonempty_list(start);
            self.expect_reserved("then", start);
            branches.push((condition, self.parse_nonempty_list(start)));
            if !self.eat_reserved("elif") {
                break;
            }
        }
        let otherwise = self.eat_reserved("else").then(|| self.parse_nonempty_list(start));
        self.expect_reserved("fi", start);
        ShellCommandKind::If { branches, otherwise }
    }

    pub(crate) fn parse_while(&mut self) -> ShellCommandKind {
        let start = self.cursor.position();
        let until = self.eat_reserved("until");
        if !until {
            self.bump_operator("while");
        }
        let condition = self.parse_nonempty_list(start);
        let body = self.parse_do_list(start);
        ShellCommandKind::While { until, condition, body }
    }

    /// `do … done`
    pub(crate) fn parse_do_list(&mut self, start: usize) -> ShellScript {
        self.expect_reserved("do", start);
        let body = self.parse_nonempty_list(start);
        self.expect_reserved("done", start);
        body
    }

    pub(crate) fn parse_case(&mut self) -> ShellCommandKind {
        let start = self.cursor.position();
        self.bump_operator("case");
        if self.peek_token() != ShellToken::Word {
            self.report_unexpected(start);
            return ShellCommandKind::default();
        }
        let word = self.parse_plain_word();
        self.skip_newlines();
        self.expect_reserved("in", start);
        let mut arms = Vec::new();
        loop {
            self.skip_newlines();
            if self.eat_reserved("esac") {
                break;
            }
            let Some(patterns) = self.parse_case_patterns(start) else {
                break;
            };
            arms.push((patterns, self.parse_list()));
            if !self.eat_arm_end() {
                self.expect_reserved("esac", start);
                break;
            }
        }
        ShellCommandKind::Case { word, arms }
    }

    fn eat_arm_end(&mut self) -> bool {
        let ShellToken::Operator(sign) = self.peek_token() else {
            return false;
        };
        let ends = ARM_ENDS.contains(&sign);
        if ends {
            self.bump_operator(sign);
        }
        ends
    }

    /// `a | b )`, with or without a `(` before it. `None` if there is no pattern.
    fn parse_case_patterns(&mut self, start: usize) -> Option<Vec<ShellWord>> {
        self.eat_operator("(");
        let mut patterns = Vec::new();
        loop {
            if self.peek_token() != ShellToken::Word {
                self.report_unexpected(start);
                break;
            }
            patterns.push(self.parse_word(&lexical_context::PLAIN));
            if !self.eat_operator("|") {
                break;
            }
        }
        let closed = self.eat_operator(")");
        if !closed {
            self.report_unexpected(start);
        }
        (closed || !patterns.is_empty()).then_some(patterns)
    }
}
