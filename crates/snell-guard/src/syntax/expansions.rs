//! What begins with `$`, and process substitution: the manual's section "Shell Expansions".

use super::ast::{Operation, Parameter, Piece, Script};
use super::parser::Parser;
use super::pieces::Pieces;
use super::places::Quoting;
use super::tokens::Token;

/// Parameters of one sign.
const SPECIAL: &[u8] = b"@*#?-$!0123456789";

impl Parser<'_> {
    /// `$` and what follows it.
    pub(super) fn dollar(&mut self, quoting: Quoting, pieces: &mut Pieces) {
        self.node();
        let quoted = quoting.quotes();
        let start = self.cursor.at();
        let next = self.cursor.second();
        self.cursor.bump();
        match next {
            Some(b'(') if self.arithmetic_ahead() => pieces.push(self.arithmetic_expansion(start)),
            Some(b'(') => {
                let script = self.dollar_parenthesis(start);
                pieces.push(Piece::Substitution { script, quoted });
            }
            Some(b'{') => pieces.push(self.deeper_piece(|parser| parser.braced(quoting, start))),
            Some(b'[') => pieces.push(self.old_arithmetic(start)),
            Some(b'\'') if quoting.has_single_quotes() => {
                self.cursor.peek();
                self.ansi_quotes(pieces);
            }
            Some(b'"') if matches!(quoting, Quoting::Plain | Quoting::Arithmetic) => {
                self.cursor.peek();
                self.double_quotes(pieces);
            }
            Some(byte) if byte == b'_' || byte.is_ascii_alphabetic() => {
                let name = self.name();
                pieces.push(plain_parameter(name, quoted));
            }
            Some(byte) if SPECIAL.contains(&byte) => {
                self.cursor.peek();
                self.cursor.bump();
                pieces.push(plain_parameter(char::from(byte).to_string(), quoted));
            }
            _ => pieces.character('$', quoted),
        }
    }

    /// Reads a piece one level deeper; an empty text if that is too deep.
    pub(super) fn deeper_piece(&mut self, read: impl FnOnce(&mut Self) -> Piece) -> Piece {
        let piece = self.deeper(|parser| Some(read(parser)));
        piece.unwrap_or(Piece::Text {
            text: String::new(),
            quoted: false,
        })
    }

    /// `$(…)`. If it begins with another parenthesis, bash takes it for arithmetic until it runs it: it only looks where it
    /// ends.
    fn dollar_parenthesis(&mut self, start: usize) -> Script {
        if self.cursor.second() != Some(b'(') {
            return self.substitution(start);
        }
        let Some(end) = self.end_of_parenthesis() else {
            self.unterminated(start);
            return self.substitution(start);
        };
        let line = self.line.take();
        let outer_end = self.cursor.end_at(end);
        let script = self.substitution(start);
        self.cursor.end_at(outer_end);
        self.line = line;
        self.cursor.go_to(end);
        self.stay_stopped();
        script
    }

    /// `( … )` of `$(…)`, `<(…)` and `>(…)`.
    fn substitution(&mut self, start: usize) -> Script {
        // Here-documents of the command around it wait until its own line ends; those in it that are still waiting when it
        // is closed join them.
        self.node();
        let around = std::mem::take(&mut self.waiting);
        let outer = std::mem::replace(&mut self.in_substitution, true);
        self.cursor.peek();
        self.cursor.bump();
        let script = self.deeper(|parser| parser.list_to_parenthesis(start));
        self.in_substitution = outer;
        let left = std::mem::replace(&mut self.waiting, around);
        self.waiting.extend(left);
        script
    }

    /// A list up to its `)`. What does not belong there is passed over, so that all commands in it are seen.
    fn list_to_parenthesis(&mut self, start: usize) -> Script {
        let mut script = self.list();
        loop {
            match self.token() {
                Token::Operator(")") => {
                    self.cursor.bump();
                    return script;
                }
                Token::End => {
                    self.unterminated(start);
                    return script;
                }
                other => {
                    self.misplaced(start);
                    if !self.command_ahead() {
                        self.skip_token(other);
                    }
                    script.items.extend(self.list().items);
                }
            }
        }
    }

    /// `${ …; }` and `${| …; }`: newer versions of bash run what is in it.
    pub(super) fn list_to_brace(&mut self, start: usize) -> Script {
        let outer = std::mem::replace(&mut self.in_substitution, false);
        let script = self.list();
        self.in_substitution = outer;
        if !self.eat_reserved("}") {
            self.misplaced(start);
            if self.cursor.until(b'}').is_none() {
                self.unterminated(start);
            }
        }
        script
    }

    /// `<(…)` and `>(…)`
    pub(super) fn process(&mut self) -> Piece {
        let start = self.cursor.at();
        let writes = self.cursor.peek() == Some(b'>');
        self.cursor.bump();
        let script = self.substitution(start);
        Piece::Process { writes, script }
    }
}

fn plain_parameter(name: String, quoted: bool) -> Piece {
    Piece::Parameter(Box::new(Parameter {
        name,
        index: None,
        operation: Operation::None,
        indirect: false,
        quoted,
    }))
}
