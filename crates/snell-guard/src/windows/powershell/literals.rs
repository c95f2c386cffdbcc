//! Strings and variables.

use super::{PowerShellReader, to_shell_name};
use crate::windows::shell_words::{ForeignWord, WordPiece};
use crate::windows::words::powershell as words;

impl PowerShellReader {
    /// `'text'`
    pub(super) fn read_single_quoted(&mut self) -> ForeignWord {
        self.at += 1;
        let mut text = String::new();
        while let Some(c) = self.next() {
            if c == '\'' && !self.take('\'') {
                break;
            }
            text.push(c);
        }
        ForeignWord::from_literal(text)
    }

    /// `"text with $variables"`
    pub(super) fn read_double_quoted(&mut self) -> ForeignWord {
        self.at += 1;
        let mut word = ForeignWord::from_literal("");
        while let Some(c) = self.peek() {
            match c {
                '"' if self.peek_at(1) == Some('"') => {
                    self.at += 2;
                    word.push_text("\"");
                }
                '"' => {
                    self.at += 1;
                    break;
                }
                _ => self.read_expanding_char(&mut word),
            }
        }
        word
    }

    /// `@"…"@` and `@'…'@`
    pub(super) fn read_here_string(&mut self) -> ForeignWord {
        let quote = self.peek_at(1).unwrap_or('"');
        self.at += 2;
        while self.next().is_some_and(|c| c != '\n') {}
        let end = ['\n', quote, '@'];
        let mut word = ForeignWord::from_literal("");
        while self.at < self.chars.len() {
            if self.chars.get(self.at..self.at + 3) == Some(end.as_slice()) {
                self.at += 3;
                break;
            }
            if self.starts_with(&format!("{quote}@")) && self.at > 0 && self.chars.get(self.at - 1) == Some(&'\n') {
                self.at += 2;
                break;
            }
            if quote == '"' {
                self.read_expanding_char(&mut word);
            } else if let Some(c) = self.next() {
                word.push_text(c.encode_utf8(&mut [0; 4]));
            }
        }
        word
    }

    /// A character, an escape or a variable of a text that expands them.
    fn read_expanding_char(&mut self, word: &mut ForeignWord) {
        match self.next() {
            Some('`') => {
                let text = self.read_escape();
                word.push_text(&text);
            }
            Some('$') => match self.read_dollar() {
                Some(variable) => word.push_word(quote_word(variable)),
                None => word.push_text("$"),
            },
            Some(c) => word.push_text(c.encode_utf8(&mut [0; 4])),
            None => {}
        }
    }

    /// The character after a backtick.
    pub(super) fn read_escape(&mut self) -> String {
        match self.next() {
            Some('n') => "\n".to_owned(),
            Some('t') => "\t".to_owned(),
            Some('r') => "\r".to_owned(),
            Some('0') | None => String::new(),
            Some('\r' | '\n') => " ".to_owned(),
            Some(other) => other.to_string(),
        }
    }

    /// A variable or a subexpression after a dollar sign. `None` if it is only a sign.
    pub(super) fn read_dollar(&mut self) -> Option<ForeignWord> {
        match self.peek()? {
            '(' => {
                self.at += 1;
                let code = self.with_depth(|reader| reader.read_statements(Some(')')));
                Some(ForeignWord::from_commands(&code))
            }
            '{' => {
                self.at += 1;
                let start = self.at;
                while self.peek().is_some_and(|c| c != '}') {
                    self.at += 1;
                }
                let name = self.text_between(start, self.at);
                self.at += 1;
                Some(self.find_variable(&name))
            }
            c @ ('_' | '?' | '^' | '$') if !self.peek_at(1).is_some_and(|next| next.is_alphanumeric()) => {
                self.at += 1;
                Some(self.find_variable(&c.to_string()))
            }
            c if c.is_alphanumeric() || c == '_' => {
                let start = self.at;
                while self.peek().is_some_and(|c| c.is_alphanumeric() || c == '_')
                    || (self.peek() == Some(':') && self.peek_at(1).is_some_and(|c| c.is_alphanumeric() || c == '_'))
                {
                    self.at += 1;
                }
                let name = self.text_between(start, self.at);
                Some(self.find_variable(&name))
            }
            _ => None,
        }
    }

    /// The value of a variable.
    fn find_variable(&self, written: &str) -> ForeignWord {
        let name = strip_scope(&written.to_lowercase()).to_owned();
        let known = words::VARIABLES.iter().find(|(_, names)| names.contains(&name.as_str()));
        if let Some((code, _)) = known {
            return match code.trim_matches('\'') {
                "" => ForeignWord::from_literal(""),
                _ => ForeignWord::from_code(*code),
            };
        }
        if let Some(variable) = name.strip_prefix("env:") {
            return ForeignWord::from_code(format!("\"${{{}}}\"", to_environment_name(variable)));
        }
        let shell = to_shell_name(&name);
        if self.lists.contains(&shell) {
            return ForeignWord::from_code(format!("\"${{{shell}[@]}}\""));
        }
        ForeignWord::from_code(format!("\"${{{shell}}}\""))
    }
}

/// `$script:name`, `$using:name`
pub(super) fn strip_scope(name: &str) -> &str {
    const SCOPES: &[&str] = &["global:", "script:", "local:", "private:", "using:", "variable:"];
    SCOPES.iter().find_map(|scope| name.strip_prefix(scope)).unwrap_or(name)
}

/// The name of an environment variable. Windows ignores its case.
pub(super) fn to_environment_name(name: &str) -> String {
    name.to_uppercase().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

/// A word inside double quotes: its values are one text.
fn quote_word(word: ForeignWord) -> ForeignWord {
    let pieces = word.pieces.into_iter().map(|piece| match piece {
        WordPiece::Code(code) if code.starts_with("$(") => WordPiece::Code(format!("\"{code}\"")),
        WordPiece::Code(code) => WordPiece::Code(code.replace("[@]}", "[*]}")),
        literal => literal,
    });
    ForeignWord { pieces: pieces.collect(), ..ForeignWord::default() }
}
