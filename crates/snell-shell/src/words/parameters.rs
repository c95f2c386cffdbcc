//! `${…}`: the manual's section "Shell Parameter Expansion".

use super::lexical_context::{self, LexicalContext, QuotingMode};
use super::word_parts::WordBuilder;
use crate::ast::{ParameterExpansion, ParameterOperation, ShellWord, SyntaxProblemKind, WordPart};
use crate::parser::ShellParser;
use crate::words::word_parts::TextQuoting;

/// Parameters with a one-character name that can be in `${…}`.
const SPECIAL: &[u8] = b"@*#?-$!";

/// Conditional expressions that are recognized in an offset: `${x:a?b:c}`.
const TERNARIES: usize = 16;

impl ShellParser<'_> {
    /// `{…}` after a `$`.
    pub(crate) fn parse_braced_parameter(&mut self, quoting: QuotingMode, start: usize) -> WordPart {
        self.cursor.peek();
        self.cursor.bump();
        if let Some(byte @ (b' ' | b'\t' | b'\n' | b'|')) = self.cursor.peek() {
            if byte == b'|' {
                self.cursor.bump();
            }
            let script = self.parse_list_to_brace(start);
            let quoted = quoting.is_quoted();
            return WordPart::Substitution { script, quoted };
        }
        let mut parameter = ParameterExpansion {
            name: String::new(),
            index: None,
            operation: ParameterOperation::None,
            indirect: false,
            quoted: quoting.is_quoted(),
        };
        let understood = self.parse_parameter(&mut parameter, quoting);
        if self.cursor.peek().is_none() {
            self.report_unterminated(start);
        } else if !understood || self.cursor.peek() != Some(b'}') {
            self.recover_bad_substitution(&mut parameter, quoting, start);
        }
        self.cursor.eat(b'}');
        WordPart::Parameter(Box::new(parameter))
    }

    /// Name, index and operation. Returns whether they are valid.
    fn parse_parameter(&mut self, parameter: &mut ParameterExpansion, quoting: QuotingMode) -> bool {
        let length = self.eat_name_prefix(b'#', SPECIAL);
        parameter.indirect = !length && self.eat_name_prefix(b'!', b"#?@*");
        parameter.name = self.parse_parameter_name();
        if parameter.name.is_empty() {
            return false;
        }
        if self.cursor.peek() == Some(b'[') {
            parameter.index = Some(self.parse_index_body(&lexical_context::INDEX_IN_BRACES));
            if !self.cursor.eat(b']') {
                return false;
            }
        }
        if length {
            parameter.operation = ParameterOperation::Length;
            return true;
        }
        if parameter.indirect
            && matches!(self.cursor.peek(), Some(b'*' | b'@'))
            && self.cursor.peek_second() == Some(b'}')
        {
            self.cursor.bump();
            parameter.indirect = false;
            parameter.operation = ParameterOperation::Names;
            return true;
        }
        match self.parse_operation(quoting) {
            Some(operation) => parameter.operation = operation,
            None => return false,
        }
        true
    }

    /// `#` or `!` before a name, which may also be parameters themselves: a name must follow, or one character and the
    /// end.
    fn eat_name_prefix(&mut self, sign: u8, specials: &[u8]) -> bool {
        if self.cursor.peek() != Some(sign) {
            return false;
        }
        let next = self.cursor.skip_line_continuations(self.cursor.position() + 1);
        let after = self.cursor.byte_at(self.cursor.skip_line_continuations(next + 1));
        let before_name = self.cursor.byte_at(next).is_some_and(|byte| {
            byte == b'_' || byte.is_ascii_alphanumeric() || (specials.contains(&byte) && after == Some(b'}'))
        });
        if before_name {
            self.cursor.bump();
        }
        before_name
    }

    /// A name, a number or one special character.
    fn parse_parameter_name(&mut self) -> String {
        let mut name = self.parse_name();
        while let Some(digit @ b'0'..=b'9') = self.cursor.peek() {
            name.push(char::from(digit));
            self.cursor.bump();
        }
        let sign = self.cursor.peek().filter(|byte| name.is_empty() && SPECIAL.contains(byte));
        // `${${x}}` is invalid, but its inner part is a valid expansion.
        let nested = sign == Some(b'$') && matches!(self.cursor.peek_second(), Some(b'{' | b'(' | b'['));
        if let Some(byte) = sign.filter(|_| !nested) {
            name.push(char::from(byte));
            self.cursor.bump();
        }
        name
    }

    /// The operation on the value. `None` if bash does not know it.
    fn parse_operation(&mut self, quoting: QuotingMode) -> Option<ParameterOperation> {
        let sign = match self.cursor.peek() {
            None | Some(b'}') => return Some(ParameterOperation::None),
            Some(sign) => sign,
        };
        self.cursor.bump();
        match sign {
            b':' => self.parse_colon_operation(quoting),
            b'-' | b'=' | b'?' | b'+' => Some(self.parse_conditional_operation(sign, false, quoting)),
            b'#' | b'%' => {
                let longest = self.cursor.eat(sign);
                let pattern = self.parse_word(&lexical_context::OPERAND_OF_REMOVAL);
                Some(if sign == b'#' {
                    ParameterOperation::RemovePrefix { longest, pattern }
                } else {
                    ParameterOperation::RemoveSuffix { longest, pattern }
                })
            }
            b'/' => Some(self.parse_replacement(quoting)),
            b'^' | b',' => {
                let how = match (sign, self.cursor.eat(sign)) {
                    (b'^', false) => "^",
                    (b'^', true) => "^^",
                    (_, false) => ",",
                    (_, true) => ",,",
                };
                let pattern = self.parse_word(&lexical_context::OPERAND_OF_REMOVAL);
                let pattern = Some(pattern).filter(|word| !word.parts.is_empty());
                Some(ParameterOperation::Case { how, pattern })
            }
            b'@' => {
                let letter = self.cursor.peek().filter(u8::is_ascii_alphabetic)?;
                self.cursor.bump();
                Some(ParameterOperation::Transform(char::from(letter)))
            }
            _ => {
                self.cursor.seek_to(self.cursor.position().saturating_sub(1));
                None
            }
        }
    }

    fn parse_colon_operation(&mut self, quoting: QuotingMode) -> Option<ParameterOperation> {
        if let Some(sign @ (b'-' | b'=' | b'?' | b'+')) = self.cursor.peek() {
            self.cursor.bump();
            return Some(self.parse_conditional_operation(sign, true, quoting));
        }
        let start = self.cursor.position();
        let mut pieces = self.parse_parts(&lexical_context::OFFSET, WordBuilder::default());
        for _ in 0..TERNARIES {
            if !(self.cursor.peek() == Some(b':') && has_open_ternary(&pieces)) {
                break;
            }
            self.cursor.bump();
            pieces.push_text(":", TextQuoting::Quoted);
            pieces = self.parse_parts(&lexical_context::OFFSET, pieces);
        }
        let offset = self.finish_word(pieces, &lexical_context::OFFSET, start);
        let length = self.cursor.eat(b':').then(|| self.parse_word(&lexical_context::LENGTH));
        Some(ParameterOperation::Slice { offset, length })
    }

    fn parse_conditional_operation(&mut self, sign: u8, colon: bool, quoting: QuotingMode) -> ParameterOperation {
        let word = self.parse_parameter_operand(quoting);
        match sign {
            b'-' => ParameterOperation::Default { colon, word },
            b'=' => ParameterOperation::Assign { colon, word },
            b'+' => ParameterOperation::Alternative { colon, word },
            _ => ParameterOperation::Required { colon, word },
        }
    }

    fn parse_parameter_operand(&mut self, quoting: QuotingMode) -> ShellWord {
        let place: LexicalContext = lexical_context::build_operand_context(quoting.for_operand());
        self.parse_word(&place)
    }

    fn parse_replacement(&mut self, quoting: QuotingMode) -> ParameterOperation {
        let how = match self.cursor.peek() {
            Some(sign @ (b'/' | b'#' | b'%')) => {
                self.cursor.bump();
                Some(char::from(sign))
            }
            _ => None,
        };
        let start = self.cursor.position();
        let mut pieces = WordBuilder::default();
        // A slash at the start is part of the pattern: `${x////_}`.
        if how == Some('/') && self.cursor.eat(b'/') {
            pieces.push_text("/", TextQuoting::Plain);
        }
        let pattern = self.continue_word(start, pieces, &lexical_context::OPERAND_TO_REPLACE);
        let by = if self.cursor.eat(b'/') { self.parse_parameter_operand(quoting) } else { ShellWord::default() };
        ParameterOperation::Replace { how, pattern, by }
    }

    /// Bash reports the error when it runs the expansion. Its text is kept like a default, because other shells may run
    /// it.
    fn recover_bad_substitution(&mut self, parameter: &mut ParameterExpansion, quoting: QuotingMode, start: usize) {
        let word = self.parse_parameter_operand(quoting);
        let span = self.cursor.span(start, self.cursor.position());
        self.report_nonfatal_problem(SyntaxProblemKind::Unexpected, span);
        if self.cursor.peek().is_none() {
            self.report_unterminated(start);
        }
        if parameter.operation == ParameterOperation::None {
            parameter.operation = ParameterOperation::Default { colon: false, word };
        }
    }
}

/// Whether a `?` is open. Then the `:` that follows belongs to it.
fn has_open_ternary(parts: &WordBuilder) -> bool {
    let texts = parts.as_slice().iter().filter_map(|piece| match piece {
        WordPart::Text { text, .. } => Some(text),
        _ => None,
    });
    let (questions, colons) = texts.fold((0, 0), |(questions, colons), text| {
        let count = |sign| text.matches(sign).count();
        (questions + count('?'), colons + count(':'))
    });
    questions > colons
}
