//! The simple commands inside a shell command line, as far as a permission rule needs them.
//!
//! It does not judge what a command would do. It only finds the parts that Claude Code's `if` compares, and prefers to
//! find too many: a hook that runs too often asks a question, but one that does not run is a gap.

/// The maximum nesting of substitutions. A deeper line is invalid.
const MAX_DEPTH: usize = 32;

/// Words that may come before a command.
const LEADING_WORDS: &[&str] = &["if", "then", "else", "elif", "while", "until", "do", "!", "time", "{"];

/// The parts of a command line.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct SubcommandList {
    /// Each simple command, without leading assignments and redirections, substitution bodies included.
    pub(crate) commands: Vec<ShellSubcommand>,
    /// Whether the line has a variable or a substitution.
    pub(crate) expands: bool,
}

/// A simple command.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ShellSubcommand {
    /// Its text in the line.
    pub(crate) written: String,
    /// Without quotes and backslashes, and with one space between words.
    pub(crate) plain: String,
}

impl SubcommandList {
    /// Splits a command line. Returns `None` if it is invalid.
    pub(crate) fn parse(line: &str) -> Option<Self> {
        let mut found = Self::default();
        let characters: Vec<char> = line.replace("\\\n", "").chars().collect();
        found.scan_text(&characters, 0)?;
        Some(found)
    }

    fn scan_text(&mut self, text: &[char], depth: usize) -> Option<()> {
        if depth > MAX_DEPTH {
            return None;
        }
        let mut command = String::new();
        let mut at = 0;
        while let Some(&c) = text.get(at) {
            let next = text.get(at + 1).copied();
            let end = match c {
                '\\' => at + 2,
                '\'' => at + 2 + text[at + 1..].iter().position(|c| *c == '\'')?,
                '"' => self.scan_double_quoted(text, at + 1, depth)?,
                '`' => self.scan_backticks(text, at + 1, depth)?,
                '$' => self.scan_expansion(text, at, depth)?,
                '#' if command.is_empty() || command.ends_with(char::is_whitespace) => {
                    at += text[at..].iter().position(|c| *c == '\n').unwrap_or(text.len() - at);
                    continue;
                }
                '&' if next == Some('>') || command.ends_with(['>', '<']) => at + 1,
                ';' | '&' | '|' | '\n' | '(' | ')' => {
                    self.finish_command(&mut command);
                    at += 1;
                    continue;
                }
                _ => at + 1,
            };
            let end = end.min(text.len());
            command.extend(&text[at..end]);
            at = end;
        }
        self.finish_command(&mut command);
        Some(())
    }

    fn finish_command(&mut self, command: &mut String) {
        let mut rest = command.trim();
        loop {
            let word_length = find_word_end(rest);
            let word = &rest[..word_length];
            // `function` and a separate redirection include the word after them.
            let takes_next = word == "function" || (is_redirection(word) && word.ends_with(['>', '<']));
            let leads = LEADING_WORDS.contains(&word) || is_assignment(word) || is_redirection(word);
            if word.is_empty() || !(leads || takes_next) {
                break;
            }
            rest = rest[word_length..].trim_start();
            if takes_next {
                rest = rest[find_word_end(rest)..].trim_start();
            }
        }
        if !rest.is_empty() {
            self.commands.push(ShellSubcommand { written: rest.to_owned(), plain: unquote_command(rest) });
        }
        command.clear();
    }

    /// The end of a double-quoted string, where `at` is after the opening quote.
    fn scan_double_quoted(&mut self, text: &[char], mut at: usize, depth: usize) -> Option<usize> {
        loop {
            at = match text.get(at)? {
                '"' => return Some(at + 1),
                '\\' => at + 2,
                '`' => self.scan_backticks(text, at + 1, depth)?,
                '$' => self.scan_expansion(text, at, depth)?,
                _ => at + 1,
            };
        }
    }

    /// Finds commands inside a `${…}`: a default may have a substitution.
    fn scan_substitutions(&mut self, text: &[char], depth: usize) -> Option<()> {
        if depth > MAX_DEPTH {
            return None;
        }
        let mut at = 0;
        while let Some(c) = text.get(at) {
            at = match c {
                '\\' => at + 2,
                '\'' => at + 2 + text[at + 1..].iter().position(|c| *c == '\'')?,
                '`' => self.scan_backticks(text, at + 1, depth)?,
                '$' => self.scan_expansion(text, at, depth)?,
                _ => at + 1,
            };
        }
        Some(())
    }

    fn scan_backticks(&mut self, text: &[char], start: usize, depth: usize) -> Option<usize> {
        self.expands = true;
        let end = find_unescaped(text, start, '`')?;
        self.scan_text(&text[start..end], depth + 1)?;
        Some(end + 1)
    }

    /// The end of the expansion that a `$` at `at` starts.
    fn scan_expansion(&mut self, text: &[char], at: usize, depth: usize) -> Option<usize> {
        match text.get(at + 1) {
            Some('(') => {
                self.expands = true;
                let end = find_closing(text, at + 2, '(', ')')?;
                self.scan_text(&text[at + 2..end], depth + 1)?;
                Some(end + 1)
            }
            Some('{') => {
                self.expands = true;
                let end = find_closing(text, at + 2, '{', '}')?;
                self.scan_substitutions(&text[at + 2..end], depth + 1)?;
                Some(end + 1)
            }
            // In `$'…'`, unlike in `'…'`, a backslash escapes a quote.
            Some('\'') => Some(find_unescaped(text, at + 2, '\'')? + 1),
            Some(c) if c.is_alphanumeric() || "_@*#?!-$".contains(*c) => {
                self.expands = true;
                Some(at + 2)
            }
            _ => Some(at + 1),
        }
    }
}

/// The next position of this character without a backslash before it.
fn find_unescaped(text: &[char], mut at: usize, wanted: char) -> Option<usize> {
    loop {
        match *text.get(at)? {
            c if c == wanted => return Some(at),
            '\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// The position of the bracket that closes one before `at`, outside quotes.
fn find_closing(text: &[char], mut at: usize, open: char, close: char) -> Option<usize> {
    let mut depth = 1_usize;
    loop {
        let c = *text.get(at)?;
        match c {
            '\\' => at += 1,
            '\'' => at += 1 + text[at + 1..].iter().position(|c| *c == '\'')?,
            '"' => at = find_unescaped(text, at + 1, '"')?,
            _ if c == open => depth += 1,
            _ if c == close => {
                depth -= 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
        at += 1;
    }
}

/// The length of the first word in bytes, with its quotes.
fn find_word_end(text: &str) -> usize {
    let mut quote = None;
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            _ if escaped => escaped = false,
            (None | Some('"'), '\\') => escaped = true,
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            (None, _) if c.is_whitespace() => return at,
            _ => {}
        }
    }
    text.len()
}

/// `>file`, `2>`, `&>>log`, `<in` …
fn is_redirection(word: &str) -> bool {
    let rest = word.trim_start_matches(|c: char| c.is_ascii_digit() || c == '&');
    rest.starts_with(['>', '<'])
}

/// The command without quotes and backslashes, with one space between words.
fn unquote_command(command: &str) -> String {
    let mut words = Vec::new();
    let mut rest = command.trim_start();
    while !rest.is_empty() {
        let end = find_word_end(rest);
        words.push(rest[..end].replace(['\'', '"', '\\'], ""));
        rest = rest[end..].trim_start();
    }
    words.join(" ")
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        let name = name.strip_suffix('+').unwrap_or(name);
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_simple_command_is_found() {
        let cases: &[(&str, &[&str], bool)] = &[
            ("git status", &["git status"], false),
            ("cd x && git push; ls", &["cd x", "git push", "ls"], false),
            ("A=1 B='x y' git push", &["git push"], false),
            ("echo \"a && b\"", &["echo \"a && b\""], false),
            ("echo $(git log)", &["git log", "echo $(git log)"], true),
            ("echo \"`git log`\"", &["git log", "echo \"`git log`\""], true),
            ("echo $HOME", &["echo $HOME"], true),
            ("if git diff; then ls; fi", &["git diff", "ls", "fi"], false),
            ("make 2>&1 | tee log", &["make 2>&1", "tee log"], false),
            ("make &> log", &["make &> log"], false),
            ("(git pull)", &["git pull"], false),
            ("ls # && rm x", &["ls"], false),
            ("echo $(echo $(rm x))", &["rm x", "echo $(rm x)", "echo $(echo $(rm x))"], true),
            ("diff <(git show) b", &["diff <", "git show", "b"], false),
        ];
        for (line, commands, expands) in cases {
            let found = SubcommandList::parse(line).unwrap();
            let written: Vec<_> = found.commands.iter().map(|command| &command.written).collect();
            assert_eq!(written, *commands, "{line}");
            assert_eq!(found.expands, *expands, "{line}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_said_to_be_unreadable() {
        let deep = "$(".repeat(40) + &")".repeat(40);
        for line in ["echo 'x", "echo \"x", "echo $(x", "echo `x", "echo ${x", deep.as_str()] {
            assert_eq!(SubcommandList::parse(line), None, "{line}");
        }
    }

    proptest! {
        #[test]
        fn no_line_panics(line in r#"[a-z $(){}`'"\\;&|<>#=\n]{0,60}"#) {
            let _ = SubcommandList::parse(&line);
        }
    }
}
