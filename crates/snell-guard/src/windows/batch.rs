//! The language of cmd as POSIX shell.

use super::shell_words::{ForeignWord, WordPiece, WordUse, render_words};
use super::templates::{CommandValues, fill_first_template};
use super::words::{batch as words, powershell, programs};
use super::{MAX_DEPTH, ShellTranslation};
use crate::programs::find_program;

/// Translates a text for cmd.
pub(crate) fn translate_batch(text: &str) -> ShellTranslation {
    translate_nested_batch(text, 0)
}

fn translate_nested_batch(text: &str, depth: usize) -> ShellTranslation {
    let mut reader = BatchReader { chars: text.chars().collect(), depth, ..BatchReader::default() };
    let mut code = String::new();
    while reader.at < reader.chars.len() {
        let before = reader.at;
        code.push_str(&reader.read_list());
        code.push('\n');
        if reader.at == before {
            reader.at += 1;
        }
    }
    ShellTranslation { text: code, is_partial: reader.is_partial, is_limited: reader.is_limited }
}

#[derive(Default)]
struct BatchReader {
    chars: Vec<char>,
    at: usize,
    depth: usize,
    is_partial: bool,
    is_limited: bool,
}

/// A word, or a sign between commands.
enum BatchToken {
    Word(ForeignWord),
    Redirect(String),
    End,
}

impl BatchReader {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn starts_with(&self, text: &str) -> bool {
        text.chars().enumerate().all(|(offset, c)| self.chars.get(self.at + offset) == Some(&c))
    }

    fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(' ' | '\t' | '\r' | ',' | ';' | '=')) {
            self.at += 1;
        }
    }

    /// Commands with `&`, `&&`, `||` and `|` between, up to a closing bracket.
    fn read_list(&mut self) -> String {
        let mut code = String::new();
        loop {
            let command = self.read_command();
            code.push_str(if command.is_empty() { ":" } else { &command });
            self.skip_blanks();
            let (sign, length) = match self.peek() {
                Some('&') if self.starts_with("&&") => (" && ", 2),
                Some('|') if self.starts_with("||") => (" || ", 2),
                Some('&') => ("\n", 1),
                Some('|') => (" | ", 1),
                Some('\n') => ("\n", 1),
                _ => break,
            };
            self.at += length;
            code.push_str(sign);
        }
        code
    }

    /// `( … )`
    fn read_group(&mut self) -> String {
        self.at += 1;
        let mut code = String::new();
        loop {
            code.push_str(&self.read_list());
            code.push('\n');
            match self.peek() {
                Some(')') => {
                    self.at += 1;
                    return format!("{{ {code}}}");
                }
                None => return format!("{{ {code}}}"),
                Some(_) => self.at += 1,
            }
        }
    }

    /// A command, one level deeper, unless the limit is reached.
    fn read_command(&mut self) -> String {
        if self.depth >= MAX_DEPTH {
            self.is_limited = true;
            self.at = self.chars.len();
            return ":".to_owned();
        }
        self.depth += 1;
        let code = self.read_one_command();
        self.depth -= 1;
        code
    }

    fn read_one_command(&mut self) -> String {
        while matches!(self.peek(), Some(c) if c.is_whitespace() || matches!(c, '@' | ';' | ',' | '=')) {
            self.at += 1;
        }
        if self.peek() == Some('(') {
            return self.read_group();
        }
        if self.starts_with("::") {
            self.skip_line();
            return String::new();
        }
        let (mut found, mut redirects) = (Vec::new(), String::new());
        loop {
            let is_name = found.is_empty();
            match self.read_token(is_name) {
                BatchToken::Word(word) => found.push(word),
                BatchToken::Redirect(code) => {
                    redirects.push_str(&format!(" {code}"));
                    continue;
                }
                BatchToken::End => break,
            }
            if is_name && let Some(code) = self.read_statement(&found) {
                return code;
            }
        }
        let Some((name, rest)) = found.split_first() else {
            return String::new();
        };
        format!("{}{redirects}", self.translate_command(name, rest))
    }

    fn skip_line(&mut self) {
        while self.peek().is_some_and(|c| c != '\n') {
            self.at += 1;
        }
    }

    /// `if`, `for`, `rem`, `call`, `start` and `set`, which take the rest of the line.
    fn read_statement(&mut self, found: &[ForeignWord]) -> Option<String> {
        let name = found.first()?.as_literal()?.to_lowercase();
        Some(match name.as_str() {
            "if" => self.read_if(),
            "for" => self.read_for(),
            "rem" => {
                self.skip_line();
                String::new()
            }
            "call" => self.read_command(),
            "else" => self.read_command(),
            "start" => self.read_start(),
            "set" => self.read_set(),
            _ => return None,
        })
    }

    /// `if [not] exist path command`, `if a==b command [else command]`
    fn read_if(&mut self) -> String {
        let mut first = self.read_lower_word();
        while matches!(first.as_str(), "not" | "/i") {
            first = self.read_lower_word();
        }
        // `a==b`, `a equ b`: equal signs separate words too.
        let second = self.read_lower_word();
        let is_test = matches!(first.as_str(), "exist" | "defined" | "errorlevel" | "cmdextversion");
        if !is_test && ["equ", "neq", "lss", "leq", "gtr", "geq"].contains(&second.as_str()) {
            self.read_token(false);
        }
        let mut code = format!("if [ -n \"${{batch_condition}}\" ]; then\n{}\n", self.read_command());
        self.skip_blanks();
        let rest: String = self.chars.iter().skip(self.at).take(4).collect();
        if rest.eq_ignore_ascii_case("else") {
            self.at += 4;
            code.push_str(&format!("else\n{}\n", self.read_command()));
        }
        code.push_str("fi");
        code
    }

    /// The next word in lower case; empty if it is not completely known.
    fn read_lower_word(&mut self) -> String {
        match self.read_token(false) {
            BatchToken::Word(word) => word.as_literal().unwrap_or_default().to_lowercase(),
            BatchToken::Redirect(_) | BatchToken::End => String::new(),
        }
    }

    /// `for [/d|/r path|/f "options"] %i in (values) do command`
    fn read_for(&mut self) -> String {
        let (mut mode, mut root) = (String::new(), None);
        let mut variable = "batch_item".to_owned();
        while let BatchToken::Word(word) = self.read_token(false) {
            let text = word.as_literal().unwrap_or_default().to_owned();
            if text.starts_with('/') {
                mode = text.to_lowercase();
            } else if text.eq_ignore_ascii_case("in") {
                break;
            } else if let [WordPiece::Code(code)] = word.pieces.as_slice() {
                variable = code.trim_matches(['"', '$', '{', '}']).to_owned();
            } else {
                root = Some(word);
            }
        }
        self.skip_blanks();
        let start = self.at + usize::from(self.peek() == Some('('));
        while self.peek().is_some_and(|c| c != ')') {
            self.at += 1;
        }
        let values: String = self.chars.get(start..self.at).unwrap_or_default().iter().collect();
        self.at = (self.at + 1).min(self.chars.len());
        self.read_token(false);
        let body = self.read_command();
        let values = match (mode.as_str(), values.trim()) {
            ("/f", command) if command.starts_with(['\'', '`']) => {
                let inner = translate_nested_batch(command.trim_matches(['\'', '`']), self.depth + 1);
                self.is_partial |= inner.is_partial;
                self.is_limited |= inner.is_limited;
                format!("$({})", inner.text)
            }
            ("/f", file) => format!("$(cat -- {})", render_batch_words(file)),
            ("/r", pattern) => {
                let root = root.map_or_else(|| ".".to_owned(), |root| root.render(WordUse::Path));
                format!("$(find {root} -name {})", render_batch_words(pattern))
            }
            (_, values) => render_batch_words(values),
        };
        format!("for {variable} in {values}; do\n{body}\ndone")
    }

    /// `start ["title"] [/flags] program arguments`
    fn read_start(&mut self) -> String {
        loop {
            let before = self.at;
            match self.read_token(false) {
                BatchToken::Word(word) if word.as_literal().is_some_and(|text| text.starts_with('/')) => {}
                BatchToken::Word(word)
                    if !word.is_bare && word.as_literal().is_some_and(|text| !text.contains('\\')) => {}
                _ => {
                    self.at = before;
                    return self.read_command();
                }
            }
        }
    }

    /// `set NAME=value`; without a value it shows variables.
    fn read_set(&mut self) -> String {
        let start = self.at;
        let mut is_quoted = false;
        while let Some(c) = self.peek() {
            is_quoted ^= c == '"';
            if !is_quoted && matches!(c, '&' | '|' | '\n' | ')' | '>' | '<') {
                break;
            }
            self.at += 1;
        }
        let text: String = self.chars.get(start..self.at).unwrap_or_default().iter().collect();
        let text = text.trim().trim_matches('"');
        match text.split_once('=') {
            Some((name, value)) if !name.starts_with('/') => {
                let name = to_variable(name);
                format!("export {name}={}", expand_variables(value, true).render(WordUse::Text))
            }
            Some(_) => String::new(),
            None if text.is_empty() => "printenv".to_owned(),
            None => format!("printenv {}", to_variable(text)),
        }
    }

    /// The next word or redirection of this command.
    fn read_token(&mut self, is_name: bool) -> BatchToken {
        self.skip_blanks();
        match self.peek() {
            None | Some('&' | '|' | '\n' | ')') => BatchToken::End,
            Some('>' | '<') => self.read_redirect(""),
            Some(number @ '0'..='9') if self.chars.get(self.at + 1) == Some(&'>') => {
                self.at += 1;
                self.read_redirect(if number == '2' { "2" } else { "" })
            }
            Some(_) => BatchToken::Word(self.read_word(is_name)),
        }
    }

    fn read_redirect(&mut self, number: &str) -> BatchToken {
        let mut sign = String::new();
        while let Some(c @ ('>' | '<')) = self.peek() {
            sign.push(c);
            self.at += 1;
        }
        if self.peek() == Some('&') {
            self.at += 2;
            return BatchToken::Redirect(if number == "2" { "2>&1".to_owned() } else { String::new() });
        }
        self.skip_blanks();
        let target = self.read_word(false);
        let is_null = target.as_literal().is_some_and(|text| text.eq_ignore_ascii_case("nul"));
        let target = if is_null { "/dev/null".to_owned() } else { target.render(WordUse::Path) };
        BatchToken::Redirect(format!("{number}{sign} {target}"))
    }

    fn read_word(&mut self, is_name: bool) -> ForeignWord {
        let (mut text, mut is_quoted, start) = (String::new(), false, self.at);
        let mut was_quoted = false;
        while let Some(c) = self.peek() {
            match c {
                '^' if !is_quoted => {
                    self.at += 1;
                    if let Some(next) = self.peek().filter(|next| *next != '\n') {
                        text.push(next);
                    }
                }
                '"' => {
                    is_quoted = !is_quoted;
                    was_quoted = true;
                }
                _ if is_quoted => text.push(c),
                ' ' | '\t' | '\r' | '\n' | '&' | '|' | '<' | '>' | ')' | ',' | ';' => break,
                // `curl -F file=@name`
                '=' if !text.starts_with('-') && self.chars.get(self.at + 1) != Some(&'@') => break,
                // `del/s`, `cd\`
                '/' | '\\' | '.' if is_name && is_builtin(&text) => break,
                // `/s/q`
                '/' if text.starts_with('/') && text.chars().count() <= 3 => break,
                '(' if is_name => break,
                _ => text.push(c),
            }
            self.at += 1;
        }
        if self.at == start {
            self.at += 1;
        }
        expand_variables(&text, !was_quoted)
    }

    fn translate_command(&mut self, name: &ForeignWord, rest: &[ForeignWord]) -> String {
        let Some(written) = name.as_literal() else {
            return format!("{} {}", name.render(WordUse::Text), render_words(rest, WordUse::Text));
        };
        let lower = written.to_lowercase();
        let base = lower.rsplit(['\\', '/']).next().unwrap_or(&lower);
        let base = base.strip_suffix(".exe").or_else(|| base.strip_suffix(".com")).unwrap_or(base);
        if base.starts_with("echo") {
            return format!("echo {}", render_words(rest, WordUse::Text));
        }
        if rest.iter().any(|word| word.as_literal() == Some("/?")) && programs::WINDOWS.contains(&base) {
            return ":".to_owned();
        }
        if written.starts_with("http") {
            return format!("xdg-open {}", name.render(WordUse::Text));
        }
        let templates =
            words::COMMANDS.iter().filter(|(_, names)| names.contains(&base)).map(|(template, _)| *template);
        if let Some(code) = fill_first_template(templates, &collect_values(rest)) {
            return code;
        }
        if base == "format" && rest.iter().any(|word| word.as_literal().is_some_and(|text| text.contains(':'))) {
            return "mkfs.ntfs /dev/sda".to_owned();
        }
        if programs::WINDOWS.contains(&base) {
            return format!("{base} {}", render_words(rest, WordUse::Plain));
        }
        let is_shell = ["powershell", "pwsh", "cmd"].contains(&base);
        let is_here = !written.contains(['\\', '/']) && [".bat", ".cmd", ".exe"].iter().any(|end| lower.ends_with(end));
        let program = match base {
            _ if is_shell => base.to_owned(),
            // cmd also searches for programs in the working directory.
            _ if is_here && find_program(base).is_none() => format!("./{written}"),
            _ => written.to_owned(),
        };
        let program = ForeignWord { is_bare: true, ..ForeignWord::from_literal(program) };
        format!("{} {}", program.render(WordUse::Text), render_words(rest, WordUse::Text))
    }
}

/// The equivalent of a program of Windows that copies files.
pub(super) fn translate_copy_program(name: &str, words: &[ForeignWord]) -> Option<String> {
    let templates = words::COMMANDS.iter().filter(|(_, names)| names.contains(&name)).map(|(template, _)| *template);
    fill_first_template(templates, &collect_values(words))
}

/// Switches (`/s`, `/q:x`) and other words.
fn collect_values(rest: &[ForeignWord]) -> CommandValues {
    let mut values = CommandValues::default();
    for word in rest {
        let switch = word.as_literal().filter(|_| word.is_bare).and_then(|text| text.strip_prefix(['/', '-']));
        match switch.filter(|name| !name.contains(['/', '\\'])) {
            Some(name) => {
                let name = name.split(':').next().unwrap_or(name);
                values.named.push((name.to_lowercase(), Vec::new()));
            }
            None => values.placed.push(vec![word.clone()]),
        }
    }
    values
}

fn is_builtin(name: &str) -> bool {
    let lower = name.to_lowercase();
    words::COMMANDS.iter().any(|(_, names)| names.contains(&lower.as_str())) || lower == "echo"
}

/// Words separated by blanks, as paths.
fn render_batch_words(text: &str) -> String {
    let words: Vec<ForeignWord> =
        text.split_whitespace().map(|word| expand_variables(word.trim_matches('"'), true)).collect();
    render_words(&words, WordUse::Path)
}

/// `%NAME%`, `%NAME:~0,3%`, `%1`, `%i` and `!NAME!`
fn expand_variables(text: &str, is_bare: bool) -> ForeignWord {
    let mut word = ForeignWord { is_bare, ..ForeignWord::from_literal("") };
    let mut rest = text;
    while let Some(at) = rest.find(['%', '!']) {
        let sign = rest.get(at..=at).unwrap_or("%");
        word.push_text(rest.get(..at).unwrap_or_default());
        let after = rest.get(at + 1..).unwrap_or_default();
        let name_end =
            after.find(sign).filter(|end| *end > 0 && !after.get(..*end).is_some_and(|name| name.contains(' ')));
        if let Some(end) = name_end {
            let name = after.get(..end).unwrap_or_default();
            word.push_word(find_variable(name.split(':').next().unwrap_or(name)));
            rest = after.get(end + 1..).unwrap_or_default();
            continue;
        }
        let modifiers = after.bytes().take(4).take_while(|byte| matches!(byte, b'%' | b'~')).count();
        let letters = after.get(modifiers..).unwrap_or_default();
        let count = letters.bytes().take(8).take_while(u8::is_ascii_alphanumeric).count();
        match letters.as_bytes().get(count.wrapping_sub(1)).filter(|_| sign == "%") {
            Some(letter) => {
                let name = char::from(*letter).to_ascii_lowercase();
                word.push_word(ForeignWord::from_code(format!("\"${{batch_{name}}}\"")));
                rest = letters.get(count..).unwrap_or_default();
            }
            None => {
                word.push_text(sign);
                rest = after;
            }
        }
    }
    word.push_text(rest);
    if word.pieces.len() > 1 {
        word.pieces.retain(|piece| *piece != WordPiece::Literal(String::new()));
    }
    word
}

fn find_variable(name: &str) -> ForeignWord {
    let lower = name.to_lowercase();
    let known =
        powershell::VARIABLES.iter().find(|(_, names)| names.iter().any(|known| *known == format!("env:{lower}")));
    match (known, lower.as_str()) {
        (Some((code, _)), _) if *code != "''" => ForeignWord::from_code(*code),
        (Some(_), _) => ForeignWord::from_literal(""),
        (None, "cd") => ForeignWord::from_code("\"$PWD\""),
        (None, "random" | "date" | "time") => ForeignWord::from_code("\"${batch_value:?}\""),
        _ => ForeignWord::from_code(format!("\"${{{}}}\"", to_variable(name))),
    }
}

/// A name of a variable as the shell takes it.
fn to_variable(name: &str) -> String {
    let name = name.trim().to_uppercase();
    let mut shell: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if shell.is_empty() || shell.starts_with(|c: char| c.is_ascii_digit()) {
        shell.insert(0, '_');
    }
    shell
}

#[cfg(test)]
mod tests {
    use super::translate_batch;

    #[test]
    fn long_and_deep_texts_are_read_to_their_end() {
        for piece in [
            "(",
            "if a==b ",
            "for /f %i in ('",
            "for %i in (a) do ",
            "start ",
            "call ",
            "%",
            "^",
            "\"",
            "&",
            "a|",
            "set ",
        ] {
            let found = translate_batch(&piece.repeat(20_000 / piece.len()));
            assert!(found.text.len() < 8_000_000, "{piece}: {}", found.text.len());
        }
    }
}
