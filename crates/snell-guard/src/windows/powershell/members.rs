//! Members of values: properties, methods, static methods of types and casts.

use super::PowerShellReader;
use super::expressions::concatenate;
use crate::windows::shell_words::ForeignWord;
use crate::windows::templates::{CommandValues, fill_first_template};
use crate::windows::words::powershell as words;

/// Properties that say something about a value, and are not that value.
const MEASURES: &[&str] = &["length", "count", "exists", "keys", "statuscode", "major", "minor", "id"];

impl PowerShellReader {
    /// `.Member`, `.Method(…)`, `[index]` and `::member` after a value.
    pub(super) fn read_members(&mut self, mut values: Vec<ForeignWord>) -> Vec<ForeignWord> {
        loop {
            match self.peek() {
                Some('.') if self.is_member_next(1) => {
                    self.at += 1;
                    values = self.read_member(values, "");
                }
                Some('?') if self.peek_at(1) == Some('.') && self.is_member_next(2) => {
                    self.at += 2;
                    values = self.read_member(values, "");
                }
                Some(':') if self.peek_at(1) == Some(':') && self.is_member_next(2) => {
                    self.at += 2;
                    values = self.read_member(values, "");
                }
                Some('[') => values = self.read_index(values),
                Some('+') if self.peek_at(1) == Some('+') => self.at += 2,
                Some('-') if self.peek_at(1) == Some('-') => self.at += 2,
                _ => return values,
            }
        }
    }

    fn is_member_next(&self, offset: usize) -> bool {
        self.peek_at(offset).is_some_and(|c| c.is_alphabetic() || matches!(c, '_' | '\'' | '"' | '('))
            && !(self.peek_at(offset) == Some('(') && offset == 0)
    }

    /// `[0]`, `['key']`
    fn read_index(&mut self, values: Vec<ForeignWord>) -> Vec<ForeignWord> {
        self.at += 1;
        self.skip_lines();
        let index =
            self.with_depth(|reader| if reader.peek() == Some(']') { Vec::new() } else { reader.read_operands() });
        self.skip_lines();
        if !self.take(']') {
            self.is_partial = true;
            while self.peek().is_some_and(|c| !matches!(c, ']' | '\n')) {
                self.at += 1;
            }
            self.take(']');
        }
        pick_items(&values, &index).unwrap_or(values)
    }

    /// A property or a method of a value, or of a type.
    fn read_member(&mut self, values: Vec<ForeignWord>, owner: &str) -> Vec<ForeignWord> {
        let name = match self.peek() {
            Some('\'') => self.read_single_quoted().as_literal().unwrap_or_default().to_owned(),
            Some('"') => self.read_double_quoted().as_literal().unwrap_or_default().to_owned(),
            Some('(') => {
                let inner = self.read_parenthesized();
                inner.first().and_then(ForeignWord::as_literal).unwrap_or_default().to_owned()
            }
            _ => {
                let start = self.at;
                while self.peek().is_some_and(|c| c.is_alphanumeric() || c == '_') {
                    self.at += 1;
                }
                self.text_between(start, self.at)
            }
        };
        let name = name.to_lowercase();
        if self.peek() == Some('(') {
            let arguments = self.read_method_arguments();
            return self.call_method(owner, &name, values, arguments);
        }
        if self.peek() == Some('{') {
            let block = self.read_block_value();
            return vec![ForeignWord::from_commands(&block.block.unwrap_or_default())];
        }
        if MEASURES.contains(&name.as_str()) && values.iter().all(|word| word.as_literal().is_none()) {
            return vec![ForeignWord::from_code("\"${ps_value:?}\"")];
        }
        values
    }

    fn read_method_arguments(&mut self) -> Vec<Vec<ForeignWord>> {
        self.at += 1;
        self.with_depth(|reader| {
            let mut all = Vec::new();
            loop {
                reader.skip_lines();
                while reader.take(',') {
                    reader.skip_lines();
                }
                if reader.peek().is_none() || reader.take(')') {
                    return all;
                }
                let before = reader.at;
                // A comma separates arguments here, so each is read alone.
                let mut values = reader.read_value();
                reader.skip_blanks();
                if !matches!(reader.peek(), Some(',' | ')')) {
                    values = reader.read_operators_after(values);
                }
                all.push(values);
                if reader.at == before {
                    reader.at += 1;
                    reader.is_partial = true;
                }
            }
        })
    }

    /// `a + b` of an argument whose first value is read.
    fn read_operators_after(&mut self, mut values: Vec<ForeignWord>) -> Vec<ForeignWord> {
        while self.peek() == Some('+') {
            self.at += 1;
            self.skip_lines();
            let right = self.with_depth(Self::read_value);
            values = vec![concatenate(values.into_iter().chain(right).collect(), "")];
            self.skip_blanks();
        }
        if matches!(self.peek(), Some(',' | ')') | None) {
            return values;
        }
        if self.peek() == Some('-') || self.peek() == Some('*') {
            let mut more = self.read_operands();
            values.append(&mut more);
        }
        values
    }

    fn call_method(
        &mut self,
        owner: &str,
        name: &str,
        base: Vec<ForeignWord>,
        arguments: Vec<Vec<ForeignWord>>,
    ) -> Vec<ForeignWord> {
        let full = format!("{owner}::{name}");
        let is_named = |known: &&str| **known == full || **known == *name;
        let rows = words::METHODS.iter().filter(|(_, names)| names.iter().any(is_named));
        let mut values = CommandValues::default();
        values.named.push(("0".to_owned(), base.clone()));
        for (at, argument) in arguments.iter().enumerate() {
            values.named.push(((at + 1).to_string(), argument.clone()));
        }
        if let Some(code) = fill_first_template(rows.map(|(template, _)| *template), &values) {
            return vec![ForeignWord::from_commands(&code)];
        }
        let first = arguments.first().cloned().unwrap_or_default();
        match name {
            "replace" => {
                let right: Vec<ForeignWord> = arguments.into_iter().flatten().collect();
                self.replace_in_values(base, &right)
            }
            "join" if arguments.len() > 1 => {
                let between = first.first().and_then(ForeignWord::as_literal).unwrap_or_default().to_owned();
                vec![concatenate(arguments.into_iter().skip(1).flatten().collect(), &between)]
            }
            "add" | "addrange" | "append" | "set_item" => {
                base.into_iter().chain(arguments.into_iter().flatten()).collect()
            }
            _ if words::ARGUMENT_METHODS.contains(&name) && !first.is_empty() => first,
            _ if base.is_empty() => arguments.into_iter().flatten().collect(),
            _ => base,
        }
    }

    /// `[Type]::member(…)`, or a cast of the value that follows.
    pub(super) fn read_type_value(&mut self) -> Vec<ForeignWord> {
        let start = self.at + 1;
        self.skip_brackets();
        let written = self.text_between(start, self.at.saturating_sub(1)).to_lowercase();
        let owner = written.rsplit('.').next().unwrap_or_default().to_owned();
        if self.peek() == Some(':') && self.peek_at(1) == Some(':') {
            self.at += 2;
            let values = self.read_member(Vec::new(), &owner);
            return self.read_members(values);
        }
        self.skip_blanks();
        if !self.is_expression_next() {
            return vec![ForeignWord::from_literal(written)];
        }
        let values = self.with_depth(Self::read_value);
        match owner.as_str() {
            "char" => values.into_iter().map(to_char).collect(),
            "char[]" => values.into_iter().map(to_char).collect(),
            "string" | "void" | "scriptblock" => values,
            _ => values,
        }
    }
}

/// `[char]73`
fn to_char(word: ForeignWord) -> ForeignWord {
    let text = word.as_literal().unwrap_or_default();
    let code = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    };
    match code.and_then(char::from_u32) {
        Some(c) => ForeignWord::from_literal(c.to_string()),
        None => word,
    }
}

/// The items with these numbers, of a list or of a text.
fn pick_items(values: &[ForeignWord], index: &[ForeignWord]) -> Option<Vec<ForeignWord>> {
    let numbers: Option<Vec<i64>> = index.iter().map(|word| word.as_literal()?.parse().ok()).collect();
    let numbers = numbers.filter(|numbers| !numbers.is_empty())?;
    let place = |number: i64, len: usize| -> Option<usize> {
        usize::try_from(if number < 0 { number + i64::try_from(len).ok()? } else { number }).ok()
    };
    if let [only] = values {
        let chars: Vec<char> = only.as_literal()?.chars().collect();
        let picked = numbers.iter().filter_map(|number| chars.get(place(*number, chars.len())?));
        return Some(picked.map(|c| ForeignWord::from_literal(c.to_string())).collect());
    }
    Some(numbers.iter().filter_map(|number| values.get(place(*number, values.len())?).cloned()).collect())
}
