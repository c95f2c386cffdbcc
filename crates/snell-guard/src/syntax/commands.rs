//! One command: which kind it is, and what may follow it.

use super::ast::{Command, CommandKind, Script, Word};
use super::parser::Parser;
use super::tokens::{Token, ends_word};

impl Default for Command {
    /// A command that does nothing, where one was expected and could not be read.
    fn default() -> Self {
        Self {
            kind: CommandKind::Simple {
                assignments: Vec::new(),
                words: Vec::new(),
            },
            redirects: Vec::new(),
            span: 0..0,
        }
    }
}

impl Default for CommandKind {
    fn default() -> Self {
        Command::default().kind
    }
}

/// Reserved words that begin a compound command.
const COMPOUND: &[&str] = &["[[", "{", "case", "for", "if", "select", "until", "while"];

impl Parser<'_> {
    /// One command with its redirections.
    pub(super) fn command(&mut self) -> Command {
        self.node();
        self.deeper(|parser| match parser.reserved() {
            Some("function") => parser.function(),
            Some("coproc") => parser.coprocess(),
            _ if parser.compound_ahead() => parser.compound(),
            _ => parser.simple(),
        })
    }

    /// Whether a compound command begins here.
    pub(super) fn compound_ahead(&mut self) -> bool {
        match self.token() {
            Token::Operator("(") => true,
            _ => self.reserved().is_some_and(|word| COMPOUND.contains(&word)),
        }
    }

    fn compound(&mut self) -> Command {
        let start = self.cursor.at();
        let kind = match self.reserved() {
            Some("{") => self.group(),
            Some("if") => self.if_(),
            Some("while" | "until") => self.while_(),
            Some("for") => self.for_(),
            Some("select") => self.select(),
            Some("case") => self.case(),
            Some("[[") => self.condition(),
            _ if self.arithmetic_ahead() => self.arithmetic_command(),
            _ => self.subshell(),
        };
        self.with_redirects(kind, start)
    }

    /// The redirections that follow a compound command.
    pub(super) fn with_redirects(&mut self, kind: CommandKind, start: usize) -> Command {
        let mut redirects = Vec::new();
        let mut end = self.cursor.at();
        while let Some(redirect) = self.redirect() {
            redirects.push(redirect);
            end = self.cursor.at();
        }
        let span = self.cursor.span(start, end);
        Command { kind, redirects, span }
    }

    fn subshell(&mut self) -> CommandKind {
        let start = self.cursor.at();
        self.bump_operator("(");
        let script = self.full_list(start);
        self.expect_operator(")", start);
        CommandKind::Subshell(script)
    }

    fn group(&mut self) -> CommandKind {
        CommandKind::Group(self.braced_list())
    }

    /// `{ …; }`
    pub(super) fn braced_list(&mut self) -> Script {
        let start = self.cursor.at();
        self.expect_reserved("{", start);
        let script = self.full_list(start);
        self.expect_reserved("}", start);
        script
    }

    /// `function f …` and `function f() …`
    fn function(&mut self) -> Command {
        let start = self.cursor.at();
        self.bump_operator("function");
        if self.token() != Token::Word {
            self.misplaced(start);
            return Command::default();
        }
        let name = self.plain_word();
        if self.empty_parentheses_ahead() {
            self.expect_operator("(", start);
            self.expect_operator(")", start);
        }
        self.function_body(&name, start)
    }

    fn empty_parentheses_ahead(&mut self) -> bool {
        if self.token() != Token::Operator("(") {
            return false;
        }
        let opened = self.cursor.at();
        self.bump_operator("(");
        let empty = self.token() == Token::Operator(")");
        self.cursor.go_to(opened);
        empty
    }

    /// What a function does, after its name and parentheses. Bash wants a compound command; other shells do not, and a guard
    /// had better see it.
    pub(super) fn function_body(&mut self, name: &Word, start: usize) -> Command {
        self.skip_newlines();
        if !self.compound_ahead() {
            self.misplaced(start);
        }
        let body = if self.command_ahead() {
            self.command()
        } else {
            Command::default()
        };
        let span = self.cursor.span(start, self.cursor.at());
        let kind = CommandKind::Function {
            name: self.name_of(name),
            body: Box::new(body),
        };
        Command {
            kind,
            redirects: Vec::new(),
            span,
        }
    }

    /// A word as a name: without its quotes if it is only text, else as it is written.
    pub(super) fn name_of(&self, word: &Word) -> String {
        word.literal().unwrap_or_else(|| super::show::word(word))
    }

    /// `coproc NAME compound`, `coproc compound`, `coproc simple`.
    fn coprocess(&mut self) -> Command {
        let start = self.cursor.at();
        self.bump_operator("coproc");
        if !self.command_ahead() || self.reserved() == Some("!") {
            self.misplaced(start);
        }
        let body = if self.compound_ahead() {
            self.command()
        } else if self.command_ahead() {
            self.named_or_simple()
        } else {
            Command::default()
        };
        let span = self.cursor.span(start, self.cursor.at());
        let kind = CommandKind::Coprocess { body: Box::new(body) };
        Command {
            kind,
            redirects: Vec::new(),
            span,
        }
    }

    fn named_or_simple(&mut self) -> Command {
        let start = self.cursor.at();
        if self.token() == Token::Word && !self.redirect_ahead() {
            self.cursor
                .run(|b| !ends_word(b) && !matches!(b, b'$' | b'`' | b'\\' | b'\'' | b'"' | b'='));
            let word_ends = matches!(self.cursor.peek(), Some(b' ' | b'\t' | b'('));
            if word_ends && self.cursor.at() > start && self.compound_ahead() {
                return self.command();
            }
            self.cursor.go_to(start);
        }
        self.command()
    }
}
