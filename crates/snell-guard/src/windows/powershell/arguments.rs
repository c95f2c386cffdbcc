//! Words of commands.

use super::PowerShellReader;
use crate::windows::shell_words::{ForeignWord, WordUse};

/// An argument of a command.
#[derive(Clone, Debug)]
pub(super) enum CommandArgument {
    /// `-Name`, `-Name:value`: the name as written, and an attached value.
    Parameter(String, Option<Vec<ForeignWord>>),
    /// `a`, `a, b`
    Values(Vec<ForeignWord>),
    /// `@name`: the entries of a hash table or a list.
    Splat(String),
    /// A redirection as shell code.
    Redirect(String),
}

impl PowerShellReader {
    /// All arguments up to the end of the command.
    pub(super) fn read_arguments(&mut self) -> Vec<CommandArgument> {
        let mut all = Vec::new();
        loop {
            self.skip_blanks();
            let before = self.at;
            match self.peek() {
                None | Some('|' | ';' | '\n' | ')' | '}' | '&') => return all,
                Some(_) => all.extend(self.read_next_argument()),
            }
            if self.at == before {
                self.at += 1;
                self.is_partial = true;
            }
        }
    }

    fn read_next_argument(&mut self) -> Vec<CommandArgument> {
        if let Some(redirect) = self.read_redirect() {
            return vec![CommandArgument::Redirect(redirect)];
        }
        if self.starts_with("--%") {
            return self.read_verbatim_arguments();
        }
        if self.peek() == Some('-') && self.peek_at(1).is_some_and(|c| c.is_alphabetic() || c == '?') {
            return vec![self.read_parameter()];
        }
        if self.peek() == Some('@') && self.peek_at(1).is_some_and(|c| c.is_alphabetic() || c == '_') {
            self.at += 1;
            let name = self.peek_word();
            self.at += name.chars().count();
            return vec![CommandArgument::Splat(name)];
        }
        vec![CommandArgument::Values(self.read_argument_list())]
    }

    /// `-Name` or `-Name:value`. The words of other programs look the same: `-rf`, `-DNAME=value`.
    fn read_parameter(&mut self) -> CommandArgument {
        let start = self.at;
        self.at += 1;
        while self.peek().is_some_and(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '?')) {
            self.at += 1;
        }
        let written = self.text_between(start, self.at);
        match self.peek() {
            Some(':') => {
                self.at += 1;
                self.skip_blanks();
                CommandArgument::Parameter(written, Some(self.read_argument_list()))
            }
            Some(c) if !c.is_whitespace() && !matches!(c, '|' | ';' | ')' | '}' | ',') => {
                let mut word = ForeignWord::from_literal(written);
                if let Some(rest) = self.read_argument() {
                    word.push_word(rest);
                }
                CommandArgument::Values(vec![word])
            }
            _ => CommandArgument::Parameter(written, None),
        }
    }

    /// `a, b, c`
    fn read_argument_list(&mut self) -> Vec<ForeignWord> {
        let mut values = self.read_argument_values();
        loop {
            let before = self.at;
            self.skip_blanks();
            if !self.take(',') {
                self.at = before;
                return values;
            }
            self.skip_lines();
            let next = self.read_argument_values();
            if next.is_empty() {
                return values;
            }
            values.extend(next);
        }
    }

    /// One argument, which may be an array in brackets.
    fn read_argument_values(&mut self) -> Vec<ForeignWord> {
        match self.peek() {
            Some('(') => {
                let values = self.read_parenthesized();
                self.read_members(values)
            }
            Some('@') if matches!(self.peek_at(1), Some('(' | '{' | '"' | '\'')) => self.read_at_value(),
            Some('{') => vec![self.read_block_value()],
            _ => self.read_argument().into_iter().collect(),
        }
    }

    /// One word: plain text, strings and variables without a blank between.
    pub(super) fn read_argument(&mut self) -> Option<ForeignWord> {
        let mut word = ForeignWord { is_bare: true, ..ForeignWord::default() };
        let start = self.at;
        while let Some(c) = self.peek() {
            match c {
                ' ' | '\t' | '\r' | '\n' | '\u{a0}' | ';' | '|' | ')' | '}' | ',' | '(' => break,
                '{' if self.at > start => break,
                '&' if self.at > start || matches!(self.peek_at(1), Some('&') | None) => break,
                '<' | '>' if self.at > start => break,
                '\'' => {
                    word.is_bare &= self.at > start;
                    let part = self.read_single_quoted();
                    word.push_word(part);
                }
                '"' => {
                    word.is_bare &= self.at > start;
                    let part = self.read_double_quoted();
                    word.push_word(part);
                }
                '`' => {
                    self.at += 1;
                    let text = self.read_escape();
                    word.push_text(&text);
                }
                '$' => {
                    self.at += 1;
                    match self.read_dollar() {
                        Some(value) => {
                            let values = self.read_members(vec![value]);
                            values.into_iter().for_each(|value| word.push_word(value));
                        }
                        None => word.push_text("$"),
                    }
                }
                other => {
                    self.at += 1;
                    word.push_text(other.encode_utf8(&mut [0; 4]));
                }
            }
        }
        (self.at > start).then_some(word)
    }

    /// `> file`, `2>&1`, `*> $null`
    pub(super) fn read_redirect(&mut self) -> Option<String> {
        let has_number = matches!(self.peek(), Some('1'..='6' | '*')) && self.peek_at(1) == Some('>');
        if !has_number && self.peek() != Some('>') {
            return None;
        }
        let stream = if has_number { self.next() } else { None };
        self.at += 1;
        let appends = self.take('>');
        if self.take('&') {
            self.at += 1;
            return Some(if stream == Some('2') { "2>&1".to_owned() } else { String::new() });
        }
        self.skip_blanks();
        let target = self.read_argument_values();
        let target = target.first().map(|word| word.render(WordUse::Path)).unwrap_or_default();
        let target = match target.as_str() {
            "" | "''" => "/dev/null".to_owned(),
            name if name.eq_ignore_ascii_case("nul") => "/dev/null".to_owned(),
            _ => target,
        };
        let sign = if appends { ">>" } else { ">" };
        let number = match stream {
            Some('2') => "2",
            Some('3'..='6') => return Some(String::new()),
            _ => "",
        };
        Some(format!("{number}{sign} {target}"))
    }

    /// `--% text`: the rest of the line is not PowerShell.
    fn read_verbatim_arguments(&mut self) -> Vec<CommandArgument> {
        self.at += "--%".len();
        let start = self.at;
        while self.peek().is_some_and(|c| !matches!(c, '\n' | '|')) {
            self.at += 1;
        }
        let text = self.text_between(start, self.at).replace('"', "");
        let words = text.split_whitespace();
        words.map(|word| CommandArgument::Values(vec![ForeignWord::from_literal(word)])).collect()
    }
}
