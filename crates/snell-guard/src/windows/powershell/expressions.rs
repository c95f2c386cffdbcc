//! Expressions: values and their operators.

use super::PowerShellReader;
use crate::windows::shell_words::{ForeignWord, WordPiece};
use crate::windows::words::powershell as words;

/// The longest text that repetition makes.
const MAX_REPEATED: usize = 4096;

impl PowerShellReader {
    /// Whether an expression starts here, not a command.
    pub(super) fn is_expression_next(&self) -> bool {
        match self.peek() {
            Some('$' | '"' | '\'' | '(' | '@' | '{' | ',') => true,
            Some('[') => true,
            Some('!') => true,
            Some('-') => {
                self.peek_at(1).is_some_and(|c| c.is_ascii_digit() || c == '(' || c == '$')
                    || ["-not", "-join", "-split", "-bnot", "-isplit", "-csplit"]
                        .iter()
                        .any(|word| self.peek_word() == *word)
            }
            Some('+') => self.peek_at(1) == Some('+'),
            Some(c) if c.is_ascii_digit() => {
                let rest = self.chars.iter().skip(self.at).take_while(|c| c.is_alphanumeric() || **c == '.');
                let word: String = rest.collect();
                word.chars().all(|c| c.is_ascii_hexdigit() || "xX._kKmMgGbBlL".contains(c)) && !word.contains("..z")
            }
            _ => false,
        }
    }

    /// An expression with its operators: its values.
    pub(super) fn read_operands(&mut self) -> Vec<ForeignWord> {
        let mut values = self.read_list();
        loop {
            self.skip_blanks();
            let next = self.peek_at(1);
            let length = match self.peek() {
                Some('-') if next.is_some_and(char::is_alphabetic) => {
                    values = self.read_named_operator(values);
                    continue;
                }
                Some('?') if next.is_some_and(char::is_whitespace) => {
                    values = self.read_choice();
                    continue;
                }
                // `$x++`
                Some('+' | '-') if next == self.peek() => {
                    self.at += 2;
                    continue;
                }
                Some('+' | '-' | '*' | '/' | '%') => 1,
                Some('?' | '.') if next == self.peek() => 2,
                _ => return values,
            };
            let sign = self.peek();
            self.at += length;
            self.skip_lines();
            let right = self.read_list();
            values = match sign {
                Some('+') => join_values(values, right),
                Some('*') => repeat_value(values, &right),
                _ => values.into_iter().chain(right).collect(),
            };
        }
    }

    /// `left -name right`
    fn read_named_operator(&mut self, mut values: Vec<ForeignWord>) -> Vec<ForeignWord> {
        self.at += 1;
        let name = self.peek_word();
        let is_known = words::OPERATORS.contains(&name.as_str());
        if is_known {
            self.at += name.chars().count();
        }
        self.skip_lines();
        let right = self.read_list();
        if is_known {
            return self.apply_operator(&name, values, right);
        }
        values.extend(right);
        values
    }

    /// `? a : b` after a condition: both values.
    fn read_choice(&mut self) -> Vec<ForeignWord> {
        self.at += 1;
        self.skip_lines();
        let mut values = self.with_depth(Self::read_operands);
        self.skip_lines();
        if self.take(':') {
            self.skip_lines();
            let other = self.with_depth(Self::read_operands);
            values.extend(other);
        }
        values
    }

    /// Values with commas between.
    fn read_list(&mut self) -> Vec<ForeignWord> {
        let mut values = self.with_depth(Self::read_value);
        loop {
            let before = self.at;
            self.skip_blanks();
            if !self.take(',') {
                self.at = before;
                return values;
            }
            self.skip_lines();
            let next = self.with_depth(Self::read_value);
            values.extend(next);
        }
    }

    /// One value with its members.
    pub(super) fn read_value(&mut self) -> Vec<ForeignWord> {
        match self.peek() {
            Some('!' | ',') => {
                self.at += 1;
                self.skip_blanks();
                self.with_depth(Self::read_value)
            }
            Some('+') if self.peek_at(1) == Some('+') => {
                self.at += 2;
                self.read_value_in_depth()
            }
            Some('-') if self.peek_at(1).is_some_and(|c| c.is_alphabetic()) => {
                self.at += 1;
                let name = self.peek_word();
                self.at += name.chars().count();
                self.skip_blanks();
                let values = self.with_depth(Self::read_list);
                if name == "join" { vec![concatenate(values, "")] } else { values }
            }
            Some('-') => {
                self.at += 1;
                let mut values = self.read_value_in_depth();
                if let Some(first) = values.first_mut() {
                    first.pieces.insert(0, WordPiece::Literal("-".to_owned()));
                }
                values
            }
            Some('[') => self.read_type_value(),
            Some('(') => {
                let values = self.read_parenthesized();
                self.read_members(values)
            }
            Some('{') => vec![self.read_block_value()],
            Some('\'' | '"' | '@' | '$') => {
                let values = self.read_quoted_value();
                self.read_members(values)
            }
            Some(c) if c.is_alphanumeric() || matches!(c, '.' | '_') => vec![self.read_bare_value()],
            _ => {
                self.is_partial = true;
                Vec::new()
            }
        }
    }

    /// A string, an array, a hash table or a variable, without its members.
    fn read_quoted_value(&mut self) -> Vec<ForeignWord> {
        match self.peek() {
            Some('\'') => vec![self.read_single_quoted()],
            Some('"') => vec![self.read_double_quoted()],
            Some('@') => self.read_at_value(),
            _ => {
                self.at += 1;
                self.read_dollar().into_iter().collect()
            }
        }
    }

    /// A number, or a word that is the key of a hash table.
    fn read_bare_value(&mut self) -> ForeignWord {
        let start = self.at;
        while self.peek().is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '.'))
            && !(self.peek() == Some('.') && self.peek_at(1) == Some('.'))
        {
            self.at += 1;
        }
        self.at = self.at.max(start + 1);
        ForeignWord::from_literal(self.text_between(start, self.at))
    }

    fn read_value_in_depth(&mut self) -> Vec<ForeignWord> {
        self.skip_blanks();
        self.with_depth(Self::read_value)
    }

    /// `{ … }` as a value: its text, and its translation.
    pub(super) fn read_block_value(&mut self) -> ForeignWord {
        let start = self.at + 1;
        let code = self.read_block();
        let end = self.at.saturating_sub(1).max(start);
        ForeignWord { block: Some(code), ..ForeignWord::from_literal(self.text_between(start, end)) }
    }

    /// `@( … )`, `@{ … }`, here-strings, `@name`.
    pub(super) fn read_at_value(&mut self) -> Vec<ForeignWord> {
        match self.peek_at(1) {
            Some('(') => {
                self.at += 1;
                self.read_array()
            }
            Some('{') => vec![self.read_hash_table().0],
            Some('"' | '\'') => vec![self.read_here_string()],
            _ => {
                self.at += 1;
                self.read_dollar().into_iter().collect()
            }
        }
    }

    /// `( … )` of an array: values, or the output of commands, on several lines.
    fn read_array(&mut self) -> Vec<ForeignWord> {
        self.at += 1;
        self.with_depth(|reader| {
            let mut all = Vec::new();
            loop {
                reader.skip_lines();
                while reader.take(';') || reader.take(',') {
                    reader.skip_lines();
                }
                if reader.peek().is_none() || reader.take(')') {
                    return all;
                }
                let before = reader.at;
                if reader.is_expression_next() {
                    let values = reader.read_operands();
                    reader.skip_blanks();
                    if reader.peek() == Some('|') {
                        let code = reader.read_pipeline_after(values);
                        all.push(ForeignWord::from_commands(&code));
                    } else {
                        all.extend(values);
                    }
                } else {
                    let code = reader.read_chain();
                    all.push(ForeignWord::from_commands(&code));
                }
                if reader.at == before {
                    reader.at += 1;
                    reader.is_partial = true;
                }
            }
        })
    }

    /// `@{ key = value; … }`: all values in one word, and the entries.
    pub(super) fn read_hash_table(&mut self) -> (ForeignWord, Vec<(String, Vec<ForeignWord>)>) {
        self.at += 2;
        self.with_depth(|reader| {
            let (mut all, mut entries) = (ForeignWord::default(), Vec::new());
            loop {
                reader.skip_lines();
                while reader.take(';') {
                    reader.skip_lines();
                }
                if reader.peek().is_none() || reader.take('}') {
                    return (all, entries);
                }
                let before = reader.at;
                let key = reader.read_value();
                reader.skip_lines();
                if reader.take('=') {
                    reader.skip_lines();
                    let values = if reader.is_expression_next() {
                        reader.read_operands()
                    } else {
                        vec![ForeignWord::from_commands(&reader.read_chain())]
                    };
                    let name = key.first().and_then(ForeignWord::as_literal).unwrap_or_default().to_lowercase();
                    all.push_text(&format!("{name}="));
                    for value in &values {
                        all.push_word(value.clone());
                        all.push_text(" ");
                    }
                    entries.push((name, values));
                }
                if reader.at == before {
                    reader.at += 1;
                    reader.is_partial = true;
                }
            }
        })
    }
}

/// All values as one text.
pub(super) fn concatenate(values: Vec<ForeignWord>, between: &str) -> ForeignWord {
    let mut all = ForeignWord::from_literal("");
    for (at, value) in values.into_iter().enumerate() {
        if at > 0 && !between.is_empty() {
            all.push_text(between);
        }
        all.push_word(value);
    }
    all
}

/// `a + b`: one text of two, or a longer list.
fn join_values(mut left: Vec<ForeignWord>, mut right: Vec<ForeignWord>) -> Vec<ForeignWord> {
    if let ([only], 1) = (left.as_mut_slice(), right.len()) {
        right.into_iter().for_each(|word| only.push_word(word));
    } else {
        left.append(&mut right);
    }
    left
}

/// `'ab' * 3`
fn repeat_value(left: Vec<ForeignWord>, right: &[ForeignWord]) -> Vec<ForeignWord> {
    let count = right.first().and_then(ForeignWord::as_literal).and_then(|text| text.parse::<usize>().ok());
    match (left.as_slice(), count) {
        ([only], Some(count)) => match only.as_literal() {
            Some(text) if text.len().saturating_mul(count) <= MAX_REPEATED => {
                vec![ForeignWord::from_literal(text.repeat(count))]
            }
            _ => left,
        },
        _ => left,
    }
}
