//! One command: its kind, and its redirections.

use crate::ast::{ShellCommand, ShellCommandKind, ShellScript, ShellWord};
use crate::parser::ShellParser;
use crate::tokens::{ShellToken, is_word_delimiter};

impl Default for ShellCommand {
    /// An empty command, in place of one that is missing or invalid.
    fn default() -> Self {
        Self {
            kind: ShellCommandKind::Simple { assignments: Vec::new(), words: Vec::new() },
            redirects: Vec::new(),
            span: 0..0,
        }
    }
}

impl Default for ShellCommandKind {
    fn default() -> Self {
        ShellCommand::default().kind
    }
}

/// Reserved words that start a compound command.
const COMPOUND: &[&str] = &["[[", "{", "case", "for", "if", "select", "until", "while"];

impl ShellParser<'_> {
    /// One command with its redirections.
    pub(crate) fn parse_command(&mut self) -> ShellCommand {
        self.count_node();
        self.parse_nested(|parser| match parser.peek_reserved_word() {
            Some("function") => parser.parse_function(),
            Some("coproc") => parser.parse_coprocess(),
            _ if parser.is_compound_ahead() => parser.parse_compound(),
            _ => parser.parse_simple_command(),
        })
    }

    /// Whether a compound command starts here.
    pub(crate) fn is_compound_ahead(&mut self) -> bool {
        match self.peek_token() {
            ShellToken::Operator("(") => true,
            _ => self.peek_reserved_word().is_some_and(|word| COMPOUND.contains(&word)),
        }
    }

    fn parse_compound(&mut self) -> ShellCommand {
        let start = self.cursor.position();
        let kind = match self.peek_reserved_word() {
            Some("{") => ShellCommandKind::Group(self.parse_braced_list()),
            Some("if") => self.parse_if(),
            Some("while" | "until") => self.parse_while(),
            Some("for" | "select") => self.parse_for(),
            Some("case") => self.parse_case(),
            Some("[[") => self.parse_condition(),
            _ if self.is_arithmetic_ahead() => self.parse_arithmetic_command(),
            _ => self.parse_subshell(),
        };
        self.parse_trailing_redirects(kind, start)
    }

    /// The redirections that follow a compound command.
    pub(crate) fn parse_trailing_redirects(&mut self, kind: ShellCommandKind, start: usize) -> ShellCommand {
        let mut redirects = Vec::new();
        let mut end = self.cursor.position();
        while let Some(redirect) = self.parse_redirect() {
            redirects.push(redirect);
            end = self.cursor.position();
        }
        let span = self.cursor.span(start, end);
        ShellCommand { kind, redirects, span }
    }

    fn parse_subshell(&mut self) -> ShellCommandKind {
        let start = self.cursor.position();
        self.bump_operator("(");
        let script = self.parse_nonempty_list(start);
        self.expect_operator(")", start);
        ShellCommandKind::Subshell(script)
    }

    /// `{ …; }`
    pub(crate) fn parse_braced_list(&mut self) -> ShellScript {
        let start = self.cursor.position();
        self.expect_reserved("{", start);
        let script = self.parse_nonempty_list(start);
        self.expect_reserved("}", start);
        script
    }

    /// `function f …` and `parse_function f() …`
    fn parse_function(&mut self) -> ShellCommand {
        let start = self.cursor.position();
        self.bump_operator("function");
        if self.peek_token() != ShellToken::Word {
            self.report_unexpected(start);
            return ShellCommand::default();
        }
        let name = self.parse_plain_word();
        if self.is_empty_parentheses_ahead() {
            self.expect_operator("(", start);
            self.expect_operator(")", start);
        }
        self.parse_function_body(&name, start)
    }

    fn is_empty_parentheses_ahead(&mut self) -> bool {
        if self.peek_token() != ShellToken::Operator("(") {
            return false;
        }
        let opened = self.cursor.position();
        self.bump_operator("(");
        let empty = self.peek_token() == ShellToken::Operator(")");
        self.cursor.seek_to(opened);
        empty
    }

    /// The body of a function, after its name and parentheses. Bash requires a compound command; other shells do not,
    /// and a guard must see the body.
    pub(crate) fn parse_function_body(&mut self, name: &ShellWord, start: usize) -> ShellCommand {
        self.skip_newlines();
        if !self.is_compound_ahead() {
            self.report_unexpected(start);
        }
        let body = if self.is_command_ahead() { self.parse_command() } else { ShellCommand::default() };
        let span = self.cursor.span(start, self.cursor.position());
        // A word with more than text is not a name: bash rejects it.
        let kind = ShellCommandKind::Function { name: name.to_literal().unwrap_or_default(), body: Box::new(body) };
        ShellCommand { kind, redirects: Vec::new(), span }
    }

    /// `coproc NAME compound`, `coproc compound`, `coproc simple`.
    fn parse_coprocess(&mut self) -> ShellCommand {
        let start = self.cursor.position();
        self.bump_operator("coproc");
        if !self.is_command_ahead() || self.peek_reserved_word() == Some("!") {
            self.report_unexpected(start);
        }
        let body = if self.is_compound_ahead() {
            self.parse_command()
        } else if self.is_command_ahead() {
            self.parse_coprocess_body()
        } else {
            ShellCommand::default()
        };
        let span = self.cursor.span(start, self.cursor.position());
        let kind = ShellCommandKind::Coprocess { body: Box::new(body) };
        ShellCommand { kind, redirects: Vec::new(), span }
    }

    fn parse_coprocess_body(&mut self) -> ShellCommand {
        let start = self.cursor.position();
        if self.peek_token() == ShellToken::Word && !self.is_redirect_ahead() {
            self.cursor
                .take_while(|b| !is_word_delimiter(b) && !matches!(b, b'$' | b'`' | b'\\' | b'\'' | b'"' | b'='));
            let word_ends = matches!(self.cursor.peek(), Some(b' ' | b'\t' | b'('));
            if word_ends && self.cursor.position() > start && self.is_compound_ahead() {
                return self.parse_command();
            }
            self.cursor.seek_to(start);
        }
        self.parse_command()
    }
}
