//! PowerShell as POSIX shell.

mod arguments;
mod commands;
mod expressions;
mod literals;
mod members;
mod operators;
mod rendering;
mod statements;

use std::collections::{BTreeMap, BTreeSet};

use super::shell_words::ForeignWord;
use super::words::powershell as words;
use super::{MAX_DEPTH, ShellTranslation};

/// Translates a PowerShell text.
pub(crate) fn translate_powershell(text: &str) -> ShellTranslation {
    let mut reader = PowerShellReader::new(text);
    let mut code = reader.read_statements(None);
    let lower = text.to_ascii_lowercase();
    for (command, _) in words::MARKS.iter().filter(|(_, marks)| marks.iter().all(|mark| lower.contains(mark))) {
        code.push_str(&format!("\n{command}"));
    }
    ShellTranslation { text: code, is_partial: reader.is_partial, is_limited: reader.is_limited }
}

/// Reads a text from its start to its end, and writes what it means.
struct PowerShellReader {
    chars: Vec<char>,
    at: usize,
    depth: usize,
    is_partial: bool,
    is_limited: bool,
    /// Other names of commands, which the text defines.
    aliases: BTreeMap<String, String>,
    /// Functions, which the text defines.
    functions: BTreeSet<String>,
    /// Variables that hold lists.
    lists: BTreeSet<String>,
    /// Variables that hold hash tables: their keys and values.
    tables: BTreeMap<String, Vec<(String, Vec<ForeignWord>)>>,
}

impl PowerShellReader {
    fn new(text: &str) -> Self {
        Self {
            chars: text.chars().map(to_plain_sign).collect(),
            at: 0,
            depth: 0,
            is_partial: false,
            is_limited: false,
            aliases: BTreeMap::new(),
            functions: BTreeSet::new(),
            lists: BTreeSet::new(),
            tables: BTreeMap::new(),
        }
    }

    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn peek_at(&self, offset: usize) -> Option<char> {
        self.chars.get(self.at + offset).copied()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += 1;
        Some(c)
    }

    /// Skips this character, if it is next.
    fn take(&mut self, c: char) -> bool {
        let is_next = self.peek() == Some(c);
        self.at += usize::from(is_next);
        is_next
    }

    fn starts_with(&self, text: &str) -> bool {
        text.chars().enumerate().all(|(offset, c)| self.peek_at(offset) == Some(c))
    }

    /// The text between two places.
    fn text_between(&self, start: usize, end: usize) -> String {
        self.chars.get(start..end).unwrap_or_default().iter().collect()
    }

    /// Skips blanks, comments and continued lines.
    fn skip_blanks(&mut self) {
        loop {
            match self.peek() {
                Some(' ' | '\t' | '\r' | '\u{a0}') => self.at += 1,
                Some('`') if matches!(self.peek_at(1), Some('\n' | '\r')) => self.at += 2,
                Some('<') if self.peek_at(1) == Some('#') => self.skip_block_comment(),
                Some('#') => {
                    while self.peek().is_some_and(|c| c != '\n') {
                        self.at += 1;
                    }
                }
                _ => return,
            }
        }
    }

    /// The same, and ends of lines.
    fn skip_lines(&mut self) {
        self.skip_blanks();
        while matches!(self.peek(), Some('\n')) {
            self.at += 1;
            self.skip_blanks();
        }
    }

    fn skip_block_comment(&mut self) {
        while self.at < self.chars.len() && !self.starts_with("#>") {
            self.at += 1;
        }
        self.at += 2;
    }

    /// Reads something one level deeper, unless the limit is reached.
    fn with_depth<T: Default>(&mut self, read: impl FnOnce(&mut Self) -> T) -> T {
        if self.depth >= MAX_DEPTH {
            self.is_limited = true;
            self.at = self.chars.len();
            return T::default();
        }
        self.depth += 1;
        let found = read(self);
        self.depth -= 1;
        found
    }

    /// The word at this place in lower case, without reading it.
    fn peek_word(&self) -> String {
        let rest = self.chars.get(self.at..).unwrap_or_default();
        rest.iter()
            .take_while(|c| c.is_alphanumeric() || matches!(c, '-' | '_'))
            .map(char::to_ascii_lowercase)
            .collect()
    }
}

/// PowerShell takes typographic quotes and dashes for plain ones.
fn to_plain_sign(c: char) -> char {
    match c {
        '\u{2018}' | '\u{2019}' | '\u{201a}' | '\u{201b}' => '\'',
        '\u{201c}' | '\u{201d}' | '\u{201e}' => '"',
        '\u{2013}' | '\u{2014}' | '\u{2015}' => '-',
        other => other,
    }
}

/// A name of a variable as the shell takes it.
fn to_shell_name(name: &str) -> String {
    let mut shell: String =
        name.to_lowercase().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if shell.is_empty() || shell.starts_with(|c: char| c.is_ascii_digit()) {
        shell.insert_str(0, "ps_");
    }
    shell
}

#[cfg(test)]
mod tests;
