//! Simple commands: assignments, words and redirections; and functions with a name before `()`.

use crate::ast::{AssignmentValue, ShellCommand, ShellCommandKind, ShellWord, VariableAssignment, WordPart};
use crate::parser::ShellParser;
use crate::tokens::ShellToken;
use crate::words::lexical_context;
use crate::words::word_parts::{TextQuoting, WordBuilder};

/// Commands after which `parse_name=(…)` is one word.
const DECLARING: &[&str] = &["alias", "declare", "eval", "export", "let", "local", "readonly", "typeset"];

/// The tokens before the command's name.
enum LeadingWord {
    Assignment(VariableAssignment),
    Word(ShellWord),
}

impl ShellParser<'_> {
    pub(crate) fn parse_simple_command(&mut self) -> ShellCommand {
        let start = self.cursor.position();
        let (mut assignments, mut words, mut redirects) = (Vec::new(), Vec::new(), Vec::new());
        let mut end = start;
        // After assignments and a redirection, bash accepts more assignments but no arrays.
        let mut arrays_may_follow = true;
        loop {
            if let Some(redirect) = self.parse_redirect() {
                redirects.push(redirect);
                arrays_may_follow &= assignments.is_empty();
            } else if self.peek_token() != ShellToken::Word {
                break;
            } else if !words.is_empty() {
                words.push(self.parse_argument(&words));
            } else {
                if !arrays_may_follow && self.is_array_ahead() {
                    self.report_unexpected(start);
                }
                match self.parse_leading_word() {
                    LeadingWord::Assignment(assignment) => assignments.push(assignment),
                    LeadingWord::Word(word) if assignments.is_empty() && redirects.is_empty() => {
                        if self.peek_token() == ShellToken::Operator("(") && self.eat_function_parentheses(start) {
                            return self.parse_function_body(&word, start);
                        }
                        words.push(word);
                    }
                    LeadingWord::Word(word) => words.push(word),
                }
            }
            end = self.cursor.position();
        }
        ShellCommand {
            kind: ShellCommandKind::Simple { assignments, words },
            redirects,
            span: self.cursor.span(start, end.max(start)),
        }
    }

    fn eat_function_parentheses(&mut self, start: usize) -> bool {
        let opened = self.cursor.position();
        self.bump_operator("(");
        let closed = self.eat_operator(")");
        if !closed {
            self.report_unexpected(start);
            self.cursor.seek_to(opened);
            self.seek_end_if_stopped();
        }
        closed
    }

    fn parse_argument(&mut self, before: &[ShellWord]) -> ShellWord {
        let command = before.first().and_then(ShellWord::as_unquoted);
        let declares = command.is_some_and(|name| DECLARING.contains(&name));
        self.parse_word(if declares { &lexical_context::DECLARATION } else { &lexical_context::ARGUMENT })
    }

    /// An assignment, or the first word.
    fn parse_leading_word(&mut self) -> LeadingWord {
        let start = self.cursor.position();
        let Some(name) = self.parse_assignment_name() else {
            return LeadingWord::Word(self.parse_word(&lexical_context::ARGUMENT));
        };
        let index = if self.cursor.peek() == Some(b'[') { Some(self.parse_index()) } else { None };
        let append = self.cursor.peek() == Some(b'+') && self.cursor.peek_second() == Some(b'=');
        if append {
            self.cursor.bump();
        }
        if !self.cursor.eat(b'=') {
            return LeadingWord::Word(self.parse_indexed_word(start, &name, index));
        }
        let value = self.parse_assignment_value();
        LeadingWord::Assignment(VariableAssignment { name, index, append, value })
    }

    fn is_array_ahead(&mut self) -> bool {
        if self.peek_token() != ShellToken::Word {
            return false;
        }
        let start = self.cursor.position();
        let named = self.parse_assignment_name().is_some();
        self.cursor.eat(b'+');
        let array = named && self.cursor.eat(b'=') && self.cursor.peek() == Some(b'(');
        self.cursor.seek_to(start);
        array
    }

    /// A name before `=`, `+=` or `[`. Otherwise this reads nothing.
    fn parse_assignment_name(&mut self) -> Option<String> {
        let start = self.cursor.position();
        let name = self.parse_name();
        let follows = match self.cursor.peek() {
            Some(b'=' | b'[') => !name.is_empty(),
            Some(b'+') => !name.is_empty() && self.cursor.peek_second() == Some(b'='),
            _ => false,
        };
        if !follows {
            self.cursor.seek_to(start);
        }
        follows.then_some(name)
    }

    /// A word that looked like `name[index]=` up to its last character.
    fn parse_indexed_word(&mut self, start: usize, name: &str, index: Option<ShellWord>) -> ShellWord {
        let mut pieces = WordBuilder::default();
        pieces.push_text(name, TextQuoting::Plain);
        if let Some(index) = index {
            pieces.push_text("[", TextQuoting::Plain);
            pieces.extend(index.parts);
            pieces.push_text("]", TextQuoting::Plain);
        }
        self.continue_word(start, pieces, &lexical_context::ARGUMENT)
    }

    /// The value after the `=` of an assignment.
    pub(crate) fn parse_assignment_value(&mut self) -> AssignmentValue {
        let start = self.cursor.position();
        if self.cursor.peek() != Some(b'(') {
            return AssignmentValue::Word(self.parse_word(&lexical_context::VALUE));
        }
        let elements = self.parse_array();
        let rest = self.parse_word(&lexical_context::VALUE);
        if rest.parts.is_empty() {
            return AssignmentValue::Array(elements);
        }
        // With more text directly after it, it is not an array but text.
        let mut pieces = vec![WordPart::Array(elements)];
        pieces.extend(rest.parts);
        let span = self.cursor.span(start, self.cursor.position());
        AssignmentValue::Word(ShellWord { parts: pieces, span })
    }
}
