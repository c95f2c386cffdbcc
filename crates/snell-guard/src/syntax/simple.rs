//! Simple commands: assignments, words and redirections; and functions whose name stands before `()`.

use super::ast::{Assigned, Assignment, Command, CommandKind, Piece, Word};
use super::parser::Parser;
use super::pieces::Pieces;
use super::places;
use super::tokens::Token;

/// Commands after which `name=(…)` is one word.
const DECLARING: &[&str] = &[
    "alias", "declare", "eval", "export", "let", "local", "readonly", "typeset",
];

/// What stands before the command's name.
enum Leading {
    Assignment(Assignment),
    Word(Word),
}

impl Parser<'_> {
    pub(super) fn simple(&mut self) -> Command {
        let start = self.cursor.at();
        let (mut assignments, mut words, mut redirects) = (Vec::new(), Vec::new(), Vec::new());
        let mut end = start;
        // After assignments and a redirection, bash takes more assignments but no arrays.
        let mut arrays_may_follow = true;
        loop {
            if let Some(redirect) = self.redirect() {
                redirects.push(redirect);
                arrays_may_follow &= assignments.is_empty();
            } else if self.token() != Token::Word {
                break;
            } else if !words.is_empty() {
                words.push(self.argument(&words));
            } else {
                if !arrays_may_follow && self.array_ahead() {
                    self.misplaced(start);
                }
                match self.leading() {
                    Leading::Assignment(assignment) => assignments.push(assignment),
                    Leading::Word(word) if assignments.is_empty() && redirects.is_empty() => {
                        if self.token() == Token::Operator("(") && self.parentheses_of_function(start) {
                            return self.function_body(&word, start);
                        }
                        words.push(word);
                    }
                    Leading::Word(word) => words.push(word),
                }
            }
            end = self.cursor.at();
        }
        Command {
            kind: CommandKind::Simple { assignments, words },
            redirects,
            span: self.cursor.span(start, end.max(start)),
        }
    }

    fn parentheses_of_function(&mut self, start: usize) -> bool {
        let opened = self.cursor.at();
        self.bump_operator("(");
        let closed = self.eat_operator(")");
        if !closed {
            self.misplaced(start);
            self.cursor.go_to(opened);
            self.stay_stopped();
        }
        closed
    }

    fn argument(&mut self, before: &[Word]) -> Word {
        let command = before.first().and_then(Word::bare);
        let declares = command.is_some_and(|name| DECLARING.contains(&name));
        self.word(if declares {
            &places::DECLARATION
        } else {
            &places::ARGUMENT
        })
    }

    /// An assignment, or the first word.
    fn leading(&mut self) -> Leading {
        let start = self.cursor.at();
        let Some(name) = self.name_before_assignment() else {
            return Leading::Word(self.word(&places::ARGUMENT));
        };
        let index = if self.cursor.peek() == Some(b'[') {
            Some(self.index())
        } else {
            None
        };
        let append = self.cursor.peek() == Some(b'+') && self.cursor.second() == Some(b'=');
        if append {
            self.cursor.bump();
        }
        if !self.cursor.eat(b'=') {
            return Leading::Word(self.word_with_index(start, &name, index));
        }
        let value = self.assigned();
        Leading::Assignment(Assignment {
            name,
            index,
            append,
            value,
        })
    }

    fn array_ahead(&mut self) -> bool {
        if self.token() != Token::Word {
            return false;
        }
        let start = self.cursor.at();
        let named = self.name_before_assignment().is_some();
        self.cursor.eat(b'+');
        let array = named && self.cursor.eat(b'=') && self.cursor.peek() == Some(b'(');
        self.cursor.go_to(start);
        array
    }

    /// A name that `=`, `+=` or `[` follows. Where it is not followed by one of them, nothing is read.
    fn name_before_assignment(&mut self) -> Option<String> {
        let start = self.cursor.at();
        let name = self.name();
        let follows = match self.cursor.peek() {
            Some(b'=' | b'[') => !name.is_empty(),
            Some(b'+') => !name.is_empty() && self.cursor.second() == Some(b'='),
            _ => false,
        };
        if !follows {
            self.cursor.go_to(start);
        }
        follows.then_some(name)
    }

    /// A word that looked like `name[index]=` until its last sign.
    fn word_with_index(&mut self, start: usize, name: &str, index: Option<Word>) -> Word {
        let mut pieces = Pieces::default();
        pieces.text(name, false);
        if let Some(index) = index {
            pieces.text("[", false);
            pieces.extend(index.pieces);
            pieces.text("]", false);
        }
        self.word_from(start, pieces, &places::ARGUMENT)
    }

    /// What stands after the `=` of an assignment.
    pub(super) fn assigned(&mut self) -> Assigned {
        let start = self.cursor.at();
        if self.cursor.peek() != Some(b'(') {
            return Assigned::Word(self.word(&places::VALUE));
        }
        let elements = self.array();
        let rest = self.word(&places::VALUE);
        if rest.pieces.is_empty() {
            return Assigned::Array(elements);
        }
        // With something attached to it, it is no array but a text.
        let mut pieces = vec![Piece::Array(elements)];
        pieces.extend(rest.pieces);
        let span = self.cursor.span(start, self.cursor.at());
        Assigned::Word(Word { pieces, span })
    }
}
