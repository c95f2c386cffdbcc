//! Lists and pipelines: the manual's sections "Lists of Commands" and "Pipelines".

use crate::ast::{
    AndOrList, CommandPipeline, ListConnector, RedirectKind, ShellCommand, ShellRedirect, ShellScript, ShellWord,
};
use crate::parser::ShellParser;
use crate::tokens::ShellToken;

impl ShellParser<'_> {
    /// A whole text. Bash reads and runs it line by line, so parsing resumes after each complete line.
    pub(crate) fn parse_script(&mut self) -> ShellScript {
        let mut items = Vec::new();
        loop {
            self.begin_line();
            self.parse_list_line(&mut items);
            let start = self.cursor.position();
            match self.peek_token() {
                ShellToken::End => break,
                ShellToken::Newline => self.consume_newline(),
                other => {
                    self.report_unexpected(start);
                    // Later commands are parsed too, even if bash does not reach them.
                    if !self.is_command_ahead() {
                        self.skip_token(other);
                    }
                }
            }
        }
        self.read_here_documents();
        ShellScript { items }
    }

    fn begin_line(&mut self) {
        if self.line_start.is_some() && self.problems.iter().all(|p| p.runs_until.is_none()) {
            self.line_start = Some(self.cursor.original_position(self.cursor.position()));
        }
    }

    pub(crate) fn skip_token(&mut self, token: ShellToken) {
        match (token, self.peek_reserved_word()) {
            (ShellToken::Operator(sign), _) => self.bump_operator(sign),
            (_, Some(word)) => self.bump_operator(word),
            _ => drop(self.cursor.next_char()),
        }
    }

    /// A list over several lines, up to a token that cannot start a command.
    pub(crate) fn parse_list(&mut self) -> ShellScript {
        let mut items = Vec::new();
        loop {
            self.skip_newlines();
            self.parse_list_line(&mut items);
            if self.peek_token() != ShellToken::Newline {
                return ShellScript { items };
            }
        }
    }

    /// A list with at least one command.
    pub(crate) fn parse_nonempty_list(&mut self, opened: usize) -> ShellScript {
        let script = self.parse_list();
        if script.items.is_empty() {
            self.report_unexpected(opened);
        }
        script
    }

    /// The list on one line.
    fn parse_list_line(&mut self, items: &mut Vec<AndOrList>) {
        while self.is_command_ahead() {
            let pipelines = self.parse_and_or();
            let background = self.eat_operator("&");
            items.push(AndOrList { pipelines, background });
            if !background && !self.eat_operator(";") {
                return;
            }
        }
    }

    fn parse_and_or(&mut self) -> Vec<(ListConnector, CommandPipeline)> {
        let start = self.cursor.position();
        let mut pipelines = vec![(ListConnector::First, self.parse_pipeline())];
        loop {
            let connector = match self.peek_token() {
                ShellToken::Operator("&&") => ListConnector::And,
                ShellToken::Operator("||") => ListConnector::Or,
                _ => return pipelines,
            };
            self.bump_operator("&&");
            self.skip_newlines();
            if !self.is_command_ahead() {
                self.report_unexpected(start);
                return pipelines;
            }
            pipelines.push((connector, self.parse_pipeline()));
        }
    }

    fn parse_pipeline(&mut self) -> CommandPipeline {
        let start = self.cursor.position();
        let mut pipeline = CommandPipeline {
            negated: false,
            timed: false,
            // Most lists have one item, and a growing vector allocates four.
            commands: Vec::with_capacity(1),
        };
        let prefixed = self.parse_pipeline_prefixes(&mut pipeline);
        let alone = match self.peek_token() {
            ShellToken::End | ShellToken::Newline | ShellToken::Operator(";") => true,
            // `$(time)` is valid, `$(!)` is not.
            ShellToken::Operator(")") => self.in_substitution && pipeline.timed,
            _ => false,
        };
        if prefixed && alone {
            return pipeline;
        }
        loop {
            if !self.is_command_ahead() {
                self.report_unexpected(start);
                return pipeline;
            }
            let mut command = self.parse_command();
            let ShellToken::Operator(sign @ ("|" | "|&")) = self.peek_token() else {
                pipeline.commands.push(command);
                return pipeline;
            };
            if sign == "|&" {
                self.redirect_stderr_to_pipe(&mut command);
            }
            pipeline.commands.push(command);
            self.bump_operator(sign);
            self.skip_newlines();
            // Here `time` is a program, and `!` is invalid.
            if self.peek_reserved_word() == Some("!") {
                self.report_unexpected(start);
                self.bump_operator("!");
            }
        }
    }

    /// `!` and `time`, in any number and order.
    fn parse_pipeline_prefixes(&mut self, pipeline: &mut CommandPipeline) -> bool {
        let mut prefixed = false;
        loop {
            if self.eat_reserved("!") {
                pipeline.negated = !pipeline.negated;
            } else if self.eat_reserved("time") {
                pipeline.timed = true;
                self.skip_time_options();
            } else {
                return prefixed;
            }
            prefixed = true;
        }
    }

    fn skip_time_options(&mut self) {
        for option in ["-p", "--"] {
            if self.peek_token() == ShellToken::Word {
                let next = self.peek_short_word(self.cursor.position());
                if next.is_some_and(|word| word.as_bytes() == option.as_bytes()) {
                    self.bump_operator(option);
                }
            }
        }
    }

    /// `|&` is `2>&1 |`, after the command's own redirections.
    fn redirect_stderr_to_pipe(&mut self, command: &mut ShellCommand) {
        let at = self.cursor.position();
        let span = self.cursor.span(at, at + 2);
        command.redirects.push(ShellRedirect {
            fd: Some(2),
            fd_variable: None,
            kind: RedirectKind::Duplicate(ShellWord::from_text("1", span.clone())),
            span,
        });
    }
}
