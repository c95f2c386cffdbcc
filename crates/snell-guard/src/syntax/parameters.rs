//! `${…}`: the manual's section "Shell Parameter Expansion".

use super::ast::{Operation, Parameter, Piece, ProblemKind, Word};
use super::parser::Parser;
use super::pieces::Pieces;
use super::places::{self, Place, Quoting};

/// Parameters of one sign that can stand in `${…}`.
const SPECIAL: &[u8] = b"@*#?-$!";

/// Conditional expressions in an offset that are looked for: `${x:a?b:c}`.
const TERNARIES: usize = 16;

impl Parser<'_> {
    /// `{…}` after a `$`.
    pub(super) fn braced(&mut self, quoting: Quoting, start: usize) -> Piece {
        self.cursor.peek();
        self.cursor.bump();
        if let Some(byte @ (b' ' | b'\t' | b'\n' | b'|')) = self.cursor.peek() {
            if byte == b'|' {
                self.cursor.bump();
            }
            let script = self.list_to_brace(start);
            let quoted = quoting.quotes();
            return Piece::Substitution { script, quoted };
        }
        let mut parameter = Parameter {
            name: String::new(),
            index: None,
            operation: Operation::None,
            indirect: false,
            quoted: quoting.quotes(),
        };
        let understood = self.parameter(&mut parameter, quoting);
        if self.cursor.peek().is_none() {
            self.unterminated(start);
        } else if !understood || self.cursor.peek() != Some(b'}') {
            self.bad_substitution(&mut parameter, quoting, start);
        }
        self.cursor.eat(b'}');
        Piece::Parameter(Box::new(parameter))
    }

    /// Name, index and operation; whether they could be read.
    fn parameter(&mut self, parameter: &mut Parameter, quoting: Quoting) -> bool {
        let length = self.sign_before_name(b'#', SPECIAL);
        parameter.indirect = !length && self.sign_before_name(b'!', b"#?@*");
        parameter.name = self.parameter_name();
        if parameter.name.is_empty() {
            return false;
        }
        if self.cursor.peek() == Some(b'[') {
            parameter.index = Some(self.index_in(&places::INDEX_IN_BRACES));
            if !self.cursor.eat(b']') {
                return false;
            }
        }
        if length {
            parameter.operation = Operation::Length;
            return true;
        }
        if parameter.indirect && matches!(self.cursor.peek(), Some(b'*' | b'@')) && self.cursor.second() == Some(b'}') {
            self.cursor.bump();
            parameter.indirect = false;
            parameter.operation = Operation::Names;
            return true;
        }
        match self.operation(quoting) {
            Some(operation) => parameter.operation = operation,
            None => return false,
        }
        true
    }

    /// `#` or `!` before a name, which may also be a parameter of their own: a name must follow, or one sign and the end.
    fn sign_before_name(&mut self, sign: u8, specials: &[u8]) -> bool {
        if self.cursor.peek() != Some(sign) {
            return false;
        }
        let next = self.cursor.joined(self.cursor.at() + 1);
        let after = self.cursor.byte(self.cursor.joined(next + 1));
        let before_name = self.cursor.byte(next).is_some_and(|byte| {
            byte == b'_' || byte.is_ascii_alphanumeric() || (specials.contains(&byte) && after == Some(b'}'))
        });
        if before_name {
            self.cursor.bump();
        }
        before_name
    }

    /// A name, a number or a sign.
    fn parameter_name(&mut self) -> String {
        let mut name = self.name();
        while let Some(digit @ b'0'..=b'9') = self.cursor.peek() {
            name.push(char::from(digit));
            self.cursor.bump();
        }
        let sign = self
            .cursor
            .peek()
            .filter(|byte| name.is_empty() && SPECIAL.contains(byte));
        // `${${x}}` is wrong, but its inner part is one of its own.
        let nested = sign == Some(b'$') && matches!(self.cursor.second(), Some(b'{' | b'(' | b'['));
        if let Some(byte) = sign.filter(|_| !nested) {
            name.push(char::from(byte));
            self.cursor.bump();
        }
        name
    }

    /// What is done with the value; nothing if bash does not know it.
    fn operation(&mut self, quoting: Quoting) -> Option<Operation> {
        let sign = match self.cursor.peek() {
            None | Some(b'}') => return Some(Operation::None),
            Some(sign) => sign,
        };
        self.cursor.bump();
        match sign {
            b':' => self.after_colon(quoting),
            b'-' | b'=' | b'?' | b'+' => Some(self.conditional(sign, false, quoting)),
            b'#' | b'%' => {
                let longest = self.cursor.eat(sign);
                let pattern = self.word(&places::OPERAND_OF_REMOVAL);
                Some(if sign == b'#' {
                    Operation::RemovePrefix { longest, pattern }
                } else {
                    Operation::RemoveSuffix { longest, pattern }
                })
            }
            b'/' => Some(self.replacement(quoting)),
            b'^' | b',' => {
                let how = match (sign, self.cursor.eat(sign)) {
                    (b'^', false) => "^",
                    (b'^', true) => "^^",
                    (_, false) => ",",
                    (_, true) => ",,",
                };
                let pattern = self.word(&places::OPERAND_OF_REMOVAL);
                let pattern = Some(pattern).filter(|word| !word.pieces.is_empty());
                Some(Operation::Case { how, pattern })
            }
            b'@' => {
                let letter = self.cursor.peek().filter(u8::is_ascii_alphabetic)?;
                self.cursor.bump();
                Some(Operation::Transform(char::from(letter)))
            }
            _ => {
                self.cursor.go_to(self.cursor.at().saturating_sub(1));
                None
            }
        }
    }

    fn after_colon(&mut self, quoting: Quoting) -> Option<Operation> {
        if let Some(sign @ (b'-' | b'=' | b'?' | b'+')) = self.cursor.peek() {
            self.cursor.bump();
            return Some(self.conditional(sign, true, quoting));
        }
        let start = self.cursor.at();
        let mut pieces = self.pieces(&places::OFFSET, Pieces::default());
        for _ in 0..TERNARIES {
            if !(self.cursor.peek() == Some(b':') && ends_in_question(&pieces)) {
                break;
            }
            self.cursor.bump();
            pieces.text(":", true);
            pieces = self.pieces(&places::OFFSET, pieces);
        }
        let offset = self.finish(pieces, &places::OFFSET, start);
        let length = self.cursor.eat(b':').then(|| self.word(&places::LENGTH));
        Some(Operation::Slice { offset, length })
    }

    fn conditional(&mut self, sign: u8, colon: bool, quoting: Quoting) -> Operation {
        let word = self.operand(quoting);
        match sign {
            b'-' => Operation::Default { colon, word },
            b'=' => Operation::Assign { colon, word },
            b'+' => Operation::Alternative { colon, word },
            _ => Operation::Required { colon, word },
        }
    }

    fn operand(&mut self, quoting: Quoting) -> Word {
        let place: Place = places::operand(quoting.of_operand());
        self.word(&place)
    }

    fn replacement(&mut self, quoting: Quoting) -> Operation {
        let how = match self.cursor.peek() {
            Some(sign @ (b'/' | b'#' | b'%')) => {
                self.cursor.bump();
                Some(char::from(sign))
            }
            _ => None,
        };
        let start = self.cursor.at();
        let mut pieces = Pieces::default();
        // A slash at the beginning is part of the pattern: `${x////_}`.
        if how == Some('/') && self.cursor.eat(b'/') {
            pieces.text("/", false);
        }
        let pattern = self.word_from(start, pieces, &places::OPERAND_TO_REPLACE);
        let by = if self.cursor.eat(b'/') {
            self.operand(quoting)
        } else {
            Word::default()
        };
        Operation::Replace { how, pattern, by }
    }

    /// Bash complains when it comes to it. What stands in it is kept like a default, because other shells may run it.
    fn bad_substitution(&mut self, parameter: &mut Parameter, quoting: Quoting, start: usize) {
        let word = self.operand(quoting);
        let span = self.cursor.span(start, self.cursor.at());
        self.problem_beside(ProblemKind::Unexpected, span);
        if self.cursor.peek().is_none() {
            self.unterminated(start);
        }
        if parameter.operation == Operation::None {
            parameter.operation = Operation::Default { colon: false, word };
        }
    }
}

/// Whether a `?` is open: the `:` that follows is its own.
fn ends_in_question(pieces: &Pieces) -> bool {
    let texts = pieces.as_slice().iter().filter_map(|piece| match piece {
        Piece::Text { text, .. } => Some(text),
        _ => None,
    });
    let (questions, colons) = texts.fold((0, 0), |(questions, colons), text| {
        let count = |sign| text.matches(sign).count();
        (questions + count('?'), colons + count(':'))
    });
    questions > colons
}
