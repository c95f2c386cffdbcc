//! `if`, `while`, `until` and `case`: the manual's section "Compound Commands".

use super::ast::{CommandKind, Script, Word};
use super::parser::Parser;
use super::places;
use super::tokens::Token;

/// What ends an arm of a `case`.
const ARM_ENDS: &[&str] = &[";;", ";&", ";;&"];

impl Parser<'_> {
    pub(super) fn if_(&mut self) -> CommandKind {
        let start = self.cursor.at();
        self.bump_operator("if");
        let mut branches = Vec::new();
        loop {
            let condition = self.full_list(start);
            self.expect_reserved("then", start);
            branches.push((condition, self.full_list(start)));
            if !self.eat_reserved("elif") {
                break;
            }
        }
        let otherwise = self.eat_reserved("else").then(|| self.full_list(start));
        self.expect_reserved("fi", start);
        CommandKind::If { branches, otherwise }
    }

    pub(super) fn while_(&mut self) -> CommandKind {
        let start = self.cursor.at();
        let until = self.eat_reserved("until");
        if !until {
            self.bump_operator("while");
        }
        let condition = self.full_list(start);
        let body = self.do_list(start);
        CommandKind::While { until, condition, body }
    }

    /// `do … done`
    pub(super) fn do_list(&mut self, start: usize) -> Script {
        self.expect_reserved("do", start);
        let body = self.full_list(start);
        self.expect_reserved("done", start);
        body
    }

    pub(super) fn case(&mut self) -> CommandKind {
        let start = self.cursor.at();
        self.bump_operator("case");
        if self.token() != Token::Word {
            self.misplaced(start);
            return CommandKind::default();
        }
        let word = self.plain_word();
        self.skip_newlines();
        self.expect_reserved("in", start);
        let mut arms = Vec::new();
        loop {
            self.skip_newlines();
            if self.eat_reserved("esac") {
                break;
            }
            let Some(patterns) = self.case_patterns(start) else {
                break;
            };
            arms.push((patterns, self.list()));
            if !self.arm_end() {
                self.expect_reserved("esac", start);
                break;
            }
        }
        CommandKind::Case { word, arms }
    }

    fn arm_end(&mut self) -> bool {
        let Token::Operator(sign) = self.token() else {
            return false;
        };
        let ends = ARM_ENDS.contains(&sign);
        if ends {
            self.bump_operator(sign);
        }
        ends
    }

    /// `a | b )`, with or without a `(` before; nothing if no pattern stands there.
    fn case_patterns(&mut self, start: usize) -> Option<Vec<Word>> {
        self.eat_operator("(");
        let mut patterns = Vec::new();
        loop {
            if self.token() != Token::Word {
                self.misplaced(start);
                break;
            }
            patterns.push(self.word(&places::PATTERN));
            if !self.eat_operator("|") {
                break;
            }
        }
        let closed = self.eat_operator(")");
        if !closed {
            self.misplaced(start);
        }
        (closed || !patterns.is_empty()).then_some(patterns)
    }
}
