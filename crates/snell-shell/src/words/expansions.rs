//! Expansions with `$`, and process substitution: the manual's section "Shell Expansions".

use super::lexical_context::QuotingMode;
use super::word_parts::WordBuilder;
use crate::ast::{ParameterExpansion, ParameterOperation, ShellScript, WordPart};
use crate::parser::ShellParser;
use crate::tokens::ShellToken;

/// Parameters with a one-character name.
const SPECIAL: &[u8] = b"@*#?-$!0123456789";

impl ShellParser<'_> {
    /// `$` and the text after it.
    pub(crate) fn parse_dollar(&mut self, quoting: QuotingMode, parts: &mut WordBuilder) {
        self.count_node();
        let quoted = quoting.is_quoted();
        let start = self.cursor.position();
        let next = self.cursor.peek_second();
        self.cursor.bump();
        match next {
            Some(b'(') if self.is_arithmetic_ahead() => parts.push(self.parse_arithmetic_expansion(start)),
            Some(b'(') => {
                let script = self.parse_command_substitution(start);
                parts.push(WordPart::Substitution { script, quoted });
            }
            Some(b'{') => parts.push(self.parse_nested_part(|parser| parser.parse_braced_parameter(quoting, start))),
            Some(b'[') => parts.push(self.parse_legacy_arithmetic(start)),
            Some(b'\'') if quoting.has_single_quotes() => {
                self.cursor.peek();
                self.parse_ansi_quotes(parts);
            }
            Some(b'"') if matches!(quoting, QuotingMode::Plain | QuotingMode::Arithmetic) => {
                self.cursor.peek();
                self.parse_double_quotes(parts);
            }
            Some(byte) if byte == b'_' || byte.is_ascii_alphabetic() => {
                let name = self.parse_name();
                parts.push(build_plain_parameter(name, quoted));
            }
            Some(byte) if SPECIAL.contains(&byte) => {
                self.cursor.peek();
                self.cursor.bump();
                parts.push(build_plain_parameter(char::from(byte).to_string(), quoted));
            }
            _ => parts.push_char('$', quoted.into()),
        }
    }

    /// Reads a part one level deeper. Returns an empty text if that is too deep.
    pub(crate) fn parse_nested_part(&mut self, read: impl FnOnce(&mut Self) -> WordPart) -> WordPart {
        let piece = self.parse_nested(|parser| Some(read(parser)));
        piece.unwrap_or(WordPart::Text { text: String::new(), quoted: false })
    }

    /// `$(…)`. If it starts with another parenthesis, bash treats it as arithmetic until it runs it, and only searches
    /// for its end.
    fn parse_command_substitution(&mut self, start: usize) -> ShellScript {
        if self.cursor.peek_second() != Some(b'(') {
            return self.parse_substitution_body(start);
        }
        let Some(end) = self.find_parenthesis_end() else {
            self.report_unterminated(start);
            return self.parse_substitution_body(start);
        };
        let script = self.parse_up_to(end, |parser| parser.parse_substitution_body(start));
        self.cursor.seek_to(end);
        self.seek_end_if_stopped();
        script
    }

    /// Parses up to this end of the text.
    pub(crate) fn parse_up_to<T>(&mut self, end: usize, read: impl FnOnce(&mut Self) -> T) -> T {
        let line = self.line_start.take();
        let outer_end = self.cursor.set_end(end);
        let result = read(self);
        self.cursor.set_end(outer_end);
        self.line_start = line;
        self.seek_end_if_stopped();
        result
    }

    /// `( … )` of `$(…)`, `<(…)` and `>(…)`.
    fn parse_substitution_body(&mut self, start: usize) -> ShellScript {
        // Here-documents of the surrounding command wait until its own line ends. Those that are still pending at the
        // end of the substitution join them.
        self.count_node();
        let around = std::mem::take(&mut self.pending_here_docs);
        let outer = std::mem::replace(&mut self.in_substitution, true);
        self.cursor.peek();
        self.cursor.bump();
        let script = self.parse_nested(|parser| parser.parse_list_to_parenthesis(start));
        self.in_substitution = outer;
        let left = std::mem::replace(&mut self.pending_here_docs, around);
        self.pending_here_docs.extend(left);
        script
    }

    /// A list up to its `)`. Unexpected tokens are skipped, so that all commands in it are visible.
    fn parse_list_to_parenthesis(&mut self, start: usize) -> ShellScript {
        let mut script = self.parse_list();
        loop {
            match self.peek_token() {
                ShellToken::Operator(")") => {
                    self.cursor.bump();
                    return script;
                }
                ShellToken::End => {
                    self.report_unterminated(start);
                    return script;
                }
                other => {
                    self.report_unexpected(start);
                    if !self.is_command_ahead() {
                        self.skip_token(other);
                    }
                    script.items.extend(self.parse_list().items);
                }
            }
        }
    }

    /// `${ …; }` and `${| …; }`: newer versions of bash run the commands in it.
    pub(crate) fn parse_list_to_brace(&mut self, start: usize) -> ShellScript {
        let outer = std::mem::replace(&mut self.in_substitution, false);
        let script = self.parse_list();
        self.in_substitution = outer;
        if !self.eat_reserved("}") {
            self.report_unexpected(start);
            if self.cursor.take_until(b'}').is_none() {
                self.report_unterminated(start);
            }
        }
        script
    }

    /// `<(…)` and `>(…)`
    pub(crate) fn parse_process_substitution(&mut self) -> WordPart {
        let start = self.cursor.position();
        let writes = self.cursor.peek() == Some(b'>');
        self.cursor.bump();
        let script = self.parse_substitution_body(start);
        WordPart::Process { writes, script }
    }
}

fn build_plain_parameter(name: String, quoted: bool) -> WordPart {
    WordPart::Parameter(Box::new(ParameterExpansion {
        name,
        index: None,
        operation: ParameterOperation::None,
        indirect: false,
        quoted,
    }))
}
