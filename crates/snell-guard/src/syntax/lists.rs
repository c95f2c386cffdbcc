//! Lists and pipelines: the manual's sections "Lists of Commands" and "Pipelines".

use super::ast::{Command, Connector, Item, Piece, Pipeline, Redirect, RedirectKind, Script, Word};
use super::parser::Parser;
use super::tokens::Token;

impl Parser<'_> {
    /// A whole text. Bash reads and runs it line by line, so each line that is complete begins a new chance.
    pub(super) fn whole(&mut self) -> Script {
        let mut items = Vec::new();
        loop {
            self.begin_line();
            self.line_of_items(&mut items);
            let start = self.cursor.at();
            match self.token() {
                Token::End => break,
                Token::Newline => self.newline(),
                other => {
                    self.misplaced(start);
                    // What can be read as a command is worth to be seen, even if bash does not come to it.
                    if !self.command_ahead() {
                        self.skip_token(other);
                    }
                }
            }
        }
        self.read_here_documents();
        Script { items }
    }

    fn begin_line(&mut self) {
        if self.line.is_some() && self.problems.iter().all(|p| p.runs_until.is_none()) {
            self.line = Some(self.cursor.original(self.cursor.at()));
        }
    }

    pub(super) fn skip_token(&mut self, token: Token) {
        match (token, self.reserved()) {
            (Token::Operator(sign), _) => self.bump_operator(sign),
            (_, Some(word)) => self.bump_operator(word),
            _ => drop(self.cursor.character()),
        }
    }

    /// A list that may go over several lines, up to what cannot begin a command.
    pub(super) fn list(&mut self) -> Script {
        let mut items = Vec::new();
        loop {
            self.skip_newlines();
            self.line_of_items(&mut items);
            if self.token() != Token::Newline {
                return Script { items };
            }
        }
    }

    /// A list in which at least one command must stand.
    pub(super) fn full_list(&mut self, opened: usize) -> Script {
        let script = self.list();
        if script.items.is_empty() {
            self.misplaced(opened);
        }
        script
    }

    /// What stands on one line.
    fn line_of_items(&mut self, items: &mut Vec<Item>) {
        while self.command_ahead() {
            let pipelines = self.and_or();
            let background = self.eat_operator("&");
            items.push(Item { pipelines, background });
            if !background && !self.eat_operator(";") {
                return;
            }
        }
    }

    fn and_or(&mut self) -> Vec<(Connector, Pipeline)> {
        let start = self.cursor.at();
        let mut pipelines = vec![(Connector::First, self.pipeline())];
        loop {
            let connector = match self.token() {
                Token::Operator("&&") => Connector::And,
                Token::Operator("||") => Connector::Or,
                _ => return pipelines,
            };
            self.bump_operator("&&");
            self.skip_newlines();
            if !self.command_ahead() {
                self.misplaced(start);
                return pipelines;
            }
            pipelines.push((connector, self.pipeline()));
        }
    }

    fn pipeline(&mut self) -> Pipeline {
        let start = self.cursor.at();
        let mut pipeline = Pipeline {
            negated: false,
            timed: false,
            // Most are alone, and a vector that grows makes room for four.
            commands: Vec::with_capacity(1),
        };
        let prefixed = self.prefixes(&mut pipeline);
        let alone = match self.token() {
            Token::End | Token::Newline | Token::Operator(";") => true,
            // `$(time)` is read, `$(!)` is not.
            Token::Operator(")") => self.in_substitution && pipeline.timed,
            _ => false,
        };
        if prefixed && alone {
            return pipeline;
        }
        loop {
            if !self.command_ahead() {
                self.misplaced(start);
                return pipeline;
            }
            let mut command = self.command();
            let Token::Operator(sign @ ("|" | "|&")) = self.token() else {
                pipeline.commands.push(command);
                return pipeline;
            };
            if sign == "|&" {
                self.pipe_errors_too(&mut command);
            }
            pipeline.commands.push(command);
            self.bump_operator(sign);
            self.skip_newlines();
            // `time` is a program there, and `!` cannot be.
            if self.reserved() == Some("!") {
                self.misplaced(start);
                self.bump_operator("!");
            }
        }
    }

    /// `!` and `time`, in any number and order.
    fn prefixes(&mut self, pipeline: &mut Pipeline) -> bool {
        let mut prefixed = false;
        loop {
            if self.eat_reserved("!") {
                pipeline.negated = !pipeline.negated;
            } else if self.eat_reserved("time") {
                pipeline.timed = true;
                self.options_of_time();
            } else {
                return prefixed;
            }
            prefixed = true;
        }
    }

    fn options_of_time(&mut self) {
        for option in ["-p", "--"] {
            if self.token() == Token::Word {
                let next = self.short_word(self.cursor.at());
                if next.is_some_and(|word| word.bytes() == option.as_bytes()) {
                    self.bump_operator(option);
                }
            }
        }
    }

    /// `|&` is `2>&1 |`, after the command's own redirections.
    fn pipe_errors_too(&mut self, command: &mut Command) {
        let at = self.cursor.at();
        let span = self.cursor.span(at, at + 2);
        let target = Word {
            pieces: vec![Piece::Text {
                text: "1".to_owned(),
                quoted: false,
            }],
            span: span.clone(),
        };
        command.redirects.push(Redirect {
            fd: Some(2),
            fd_variable: None,
            kind: RedirectKind::Duplicate(target),
            span,
        });
    }
}
