//! Splits code into tokens, and recognises strings and comments.

pub(crate) mod heredoc;

use super::languages::LanguageSpec;

/// A token of code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ScriptToken {
    /// A name, with its sigil: `os`, `$file`.
    Name(String),
    /// A string, and whether it runs as a command, as between backquotes.
    Text { pieces: Vec<ScriptStringPart>, command: bool },
    /// A list of words: `qw(a b)`, `%w[a b]`.
    Words(Vec<String>),
    /// A number, as it is written.
    Number(String),
    /// An operator that accesses a member: `.`, `->`, `::`.
    Dot,
    /// An operator that concatenates strings.
    Join,
    /// Any other sign.
    Sign(&'static str),
    /// The end of a line.
    Newline,
}

/// A part of a string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ScriptStringPart {
    /// Literal text.
    Text(String),
    /// Code whose value is inserted here.
    Interpolation(String),
}

/// Signs of several characters that must not be split.
const PUNCTUATION: &[&str] = &[
    "===", "!==", "...", "**=", "<=>", "=>", "==", "!=", "=~", "!~", "<=", ">=", "&&", "||", "??", "+=", "-=", "*=",
    "/=", "++", "--", "//", "**", "<<", ">>", "(", ")", "[", "]", "{", "}", ",", ";", ":", "=", "/", "+", "-", "*",
    "%", "<", ">", "!", "?", "&", "|", "@", "\\", ".", "~", "^", "#", "$", "`",
];

/// The longest pattern between slashes. Otherwise the slash is a division: reading the whole line at each slash would
/// take too long.
const MAX_PATTERN: usize = 256;

/// Delimiters that come in pairs.
const BRACKET_PAIRS: &[(char, char)] = &[('(', ')'), ('[', ']'), ('{', '}'), ('<', '>')];

/// The tokens of a text.
pub(super) fn tokenize_code(text: &str, language: &'static LanguageSpec) -> Vec<ScriptToken> {
    let mut scanner = ScriptLexer { rest: text, language, tokens: Vec::new(), heredoc_bytes: 0, heredoc_lookups: 0 };
    while !scanner.rest.is_empty() {
        scanner.scan_token();
    }
    scanner.tokens
}

struct ScriptLexer<'a> {
    rest: &'a str,
    language: &'static LanguageSpec,
    tokens: Vec<ScriptToken>,
    /// Bytes of the lines below that belong to here-documents.
    heredoc_bytes: usize,
    /// How many here-documents were searched for.
    heredoc_lookups: usize,
}

/// How many here-documents are searched for: each search reads to the end of the text.
const MAX_HEREDOC_LOOKUPS: usize = 64;

impl<'a> ScriptLexer<'a> {
    fn scan_token(&mut self) {
        let Some(first) = self.rest.chars().next() else { return };
        if first == '\n' {
            self.tokens.push(ScriptToken::Newline);
            let below = std::mem::take(&mut self.heredoc_bytes);
            self.skip_bytes(1 + below);
        } else if first.is_whitespace() {
            self.skip_bytes(first.len_utf8());
        } else if self.scan_special_variable(first)
            || self.skip_comment()
            || self.scan_heredoc()
            || self.scan_string()
            || self.scan_named_quote(first)
            || self.scan_regex(first)
        {
        } else if first.is_ascii_digit() {
            let number = self.take_while(|c| c.is_ascii_alphanumeric() || c == '_');
            self.tokens.push(ScriptToken::Number(number.to_owned()));
        } else if self.is_name_start(first) {
            self.scan_name(first);
        } else {
            self.scan_punctuation(first);
        }
    }

    fn skip_bytes(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
    }

    fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|c| !wanted(c)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    /// Skips a comment. Returns whether there was one.
    fn skip_comment(&mut self) -> bool {
        let line = self.language.line_comments.iter().any(|mark| self.rest.starts_with(mark));
        // Longer marks start like shorter ones: `--[[` is a block.
        for (open, close) in self.language.block_comments {
            if let Some(body) = self.rest.strip_prefix(open) {
                self.rest = body.split_once(close).map_or("", |(_, rest)| rest);
                return true;
            }
        }
        if line {
            self.take_while(|c| c != '\n');
        }
        line
    }

    /// Reads a here-document. Returns whether there was one.
    fn scan_heredoc(&mut self) -> bool {
        let sign = self.language.heredoc_sign;
        if sign.is_empty() || !self.rest.starts_with(sign) || self.heredoc_lookups >= MAX_HEREDOC_LOOKUPS {
            return false;
        }
        self.heredoc_lookups += 1;
        let Some(here) = heredoc::parse_heredoc(self.rest, sign, self.heredoc_bytes) else {
            return false;
        };
        let raw = here.quote == Some('\'');
        self.tokens.push(ScriptToken::Text {
            pieces: parse_string_parts(here.text, raw, if raw { "" } else { self.double_quote_interpolation() }),
            command: here.quote == Some('`'),
        });
        self.heredoc_bytes += here.consumed_len;
        self.skip_bytes(here.marker_len);
        true
    }

    /// The start of interpolated code in double quotes.
    fn double_quote_interpolation(&self) -> &'static str {
        let quote = self.language.quotes.iter().find(|quote| quote.mark == "\"");
        quote.map_or("", |quote| quote.interpolation)
    }

    /// Reads a string with its prefix, such as `rb'…'`. Returns whether there was one.
    fn scan_string(&mut self) -> bool {
        let prefix: String = match self.language.prefixes {
            "" => String::new(),
            letters => self.rest.chars().take_while(|c| letters.contains(*c)).take(3).collect(),
        };
        let body = self.rest.get(prefix.len()..).unwrap_or_default();
        let Some(quote) = self.language.quotes.iter().find(|quote| body.starts_with(quote.mark)) else {
            return false;
        };
        let raw = prefix.contains(['r', 'R']);
        let holes = match self.language.prefixes {
            "" => quote.interpolation,
            _ if prefix.contains(['f', 'F']) => "{",
            _ => "",
        };
        let body = body.get(quote.mark.len()..).unwrap_or_default();
        let end = find_string_end(body, quote.mark);
        let (inside, after) = body.split_at(end);
        self.rest = after.get(quote.mark.len()..).unwrap_or_default();
        self.tokens.push(ScriptToken::Text { pieces: parse_string_parts(inside, raw, holes), command: quote.command });
        true
    }

    /// Reads a named quote: `qw(…)`, `q{…}`, `%x(…)`, or a pattern, which is dropped. Returns whether there was one.
    fn scan_named_quote(&mut self, first: char) -> bool {
        let is_after_dot = self.tokens.last() == Some(&ScriptToken::Dot);
        if !self.language.named_quotes || !(first.is_ascii_lowercase() || first == '%') || is_after_dot {
            return false;
        }
        let names: &[&str] = if first == '%' {
            if self.is_after_value() {
                return false;
            }
            &["%w", "%W", "%i", "%q", "%Q", "%x"]
        } else {
            &["qw", "qq", "qx", "qr", "q", "tr", "s", "m", "y"]
        };
        let Some(name) = names.iter().find(|name| self.rest.starts_with(**name)) else {
            return false;
        };
        let body = self.rest.get(name.len()..).unwrap_or_default();
        let Some(open) = body.chars().next() else { return false };
        let fits = open.is_ascii_punctuation() && !matches!(open, '_' | ',' | ';' | ')' | '=' | '.' | '-');
        if !fits || (first != '%' && matches!(open, '\'' | '"') && !matches!(*name, "q" | "qq" | "qw" | "qx")) {
            return false;
        }
        let close = BRACKET_PAIRS.iter().find(|pair| pair.0 == open).map_or(open, |pair| pair.1);
        let body = body.get(open.len_utf8()..).unwrap_or_default();
        let end = find_closing_delimiter(body, open, close);
        let (inside, after) = body.split_at(end);
        self.rest = after.get(close.len_utf8()..).unwrap_or_default();
        match *name {
            "qw" | "%w" | "%W" | "%i" => {
                let words = inside.split_whitespace().map(str::to_owned).collect();
                self.tokens.push(ScriptToken::Words(words));
            }
            "s" | "tr" | "y" => {
                let end = find_closing_delimiter(self.rest, open, close);
                self.skip_bytes((end + close.len_utf8()).min(self.rest.len()));
            }
            "m" | "qr" => {}
            _ => self.tokens.push(ScriptToken::Text {
                pieces: parse_string_parts(inside, matches!(*name, "q" | "%q"), self.language.interpolation),
                command: matches!(*name, "qx" | "%x"),
            }),
        }
        true
    }

    /// `$/`, `$"`: a variable whose name is a sign. Returns whether there was one.
    fn scan_special_variable(&mut self, first: char) -> bool {
        const SIGNS: &str = "/\\,;!&\"'`+~.";
        let has_them = first == '$' && self.language.has_regex_literals && self.language.sigils.contains('$');
        let Some(sign) = self.rest.chars().nth(1).filter(|sign| has_them && SIGNS.contains(*sign)) else {
            return false;
        };
        self.skip_bytes(1 + sign.len_utf8());
        self.tokens.push(ScriptToken::Name(format!("${sign}")));
        true
    }

    /// Skips a pattern between slashes. Returns whether there was one.
    fn scan_regex(&mut self, first: char) -> bool {
        if first != '/' || !self.language.has_regex_literals || self.is_after_value() {
            return false;
        }
        let near = (1..=MAX_PATTERN.min(self.rest.len())).rev();
        let end = near.into_iter().find(|at| self.rest.is_char_boundary(*at));
        let near = self.rest.get(1..end.unwrap_or(1)).unwrap_or_default();
        let body = near.split('\n').next().unwrap_or_default();
        let end = find_string_end(body, "/");
        let ends = end < body.len();
        if ends {
            self.skip_bytes(end + 2);
            self.take_while(|c| c.is_ascii_lowercase());
            self.tokens.push(ScriptToken::Number(String::new()));
        }
        ends
    }

    fn is_after_value(&self) -> bool {
        match self.tokens.last() {
            Some(ScriptToken::Name(_) | ScriptToken::Number(_) | ScriptToken::Text { .. } | ScriptToken::Words(_)) => {
                true
            }
            Some(ScriptToken::Sign(sign)) => matches!(*sign, ")" | "]" | "}"),
            _ => false,
        }
    }

    fn is_name_start(&self, first: char) -> bool {
        let sigil = self.language.sigils.contains(first) && {
            let next = self.rest.chars().nth(1);
            next.is_some_and(|c| c.is_alphabetic() || c == '_')
        };
        first.is_alphabetic() || first == '_' || sigil || (first == '$' && self.language.dollar_names)
    }

    fn scan_name(&mut self, first: char) {
        let mut name = String::from(first);
        self.skip_bytes(first.len_utf8());
        name.push_str(self.take_while(|c| c.is_alphanumeric() || c == '_'));
        if matches!(self.rest.chars().next(), Some('!' | '?')) && self.language.marked_names {
            let next = self.rest.chars().nth(1);
            if next != Some('=') && first.is_ascii_lowercase() {
                self.skip_bytes(1);
            }
        }
        self.tokens.push(ScriptToken::Name(name));
    }

    fn scan_punctuation(&mut self, first: char) {
        for (mark, token) in self.language.operators {
            if self.rest.starts_with(mark) {
                self.skip_bytes(mark.len());
                return self.tokens.push(token.clone());
            }
        }
        match PUNCTUATION.iter().find(|sign| self.rest.starts_with(**sign)) {
            Some(sign) => {
                self.skip_bytes(sign.len());
                self.tokens.push(ScriptToken::Sign(sign));
            }
            None => self.skip_bytes(first.len_utf8()),
        }
    }
}

/// The end of the block that starts here, or of the tokens.
pub(super) fn find_block_end(tokens: &[ScriptToken]) -> usize {
    let mut depth = 0usize;
    let end = tokens.iter().position(|token| {
        match token {
            ScriptToken::Sign("{") => depth += 1,
            ScriptToken::Sign("}") => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    });
    end.unwrap_or(tokens.len())
}

/// The end of a string: its mark without a backslash before it.
fn find_string_end(body: &str, mark: &str) -> usize {
    let bytes = body.as_bytes();
    let mark = mark.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes.get(at..) {
            Some([b'\\', ..]) => at += 2,
            Some(rest) if rest.starts_with(mark) => return at,
            _ => at += 1,
        }
    }
    body.len()
}

/// The closing delimiter; delimiters may be nested.
fn find_closing_delimiter(body: &str, open: char, close: char) -> usize {
    let mut depth = 0usize;
    let mut escaped = false;
    for (at, c) in body.char_indices() {
        if std::mem::take(&mut escaped) {
            continue;
        }
        if c == '\\' {
            escaped = true;
        } else if c == close {
            if depth == 0 {
                return at;
            }
            depth -= 1;
        } else if c == open {
            depth += 1;
        }
    }
    body.len()
}

/// The parts of a string, with its interpolations.
fn parse_string_parts(inside: &str, raw: bool, holes: &str) -> Vec<ScriptStringPart> {
    let mut list = Vec::new();
    let mut text = String::new();
    let mut rest = inside;
    while let Some(c) = rest.chars().next() {
        let hole = if holes.is_empty() { None } else { parse_interpolation(rest, holes) };
        if let Some((code, length)) = hole {
            if !text.is_empty() {
                list.push(ScriptStringPart::Text(std::mem::take(&mut text)));
            }
            list.push(ScriptStringPart::Interpolation(code));
            rest = rest.get(length..).unwrap_or_default();
        } else if c == '\\' && !raw {
            rest = parse_escape(rest, &mut text);
        } else if holes == "{" && (rest.starts_with("{{") || rest.starts_with("}}")) {
            text.push(c);
            rest = rest.get(2..).unwrap_or_default();
        } else {
            text.push(c);
            rest = rest.get(c.len_utf8()..).unwrap_or_default();
        }
    }
    if !text.is_empty() || list.is_empty() {
        list.push(ScriptStringPart::Text(text));
    }
    list
}

/// The interpolated code at the start, and its length. `$` stands for the syntax of Perl and PHP.
fn parse_interpolation(rest: &str, holes: &str) -> Option<(String, usize)> {
    if holes == "$" {
        let braces = usize::from(rest.starts_with('{'));
        let name = rest.get(braces..)?.strip_prefix('$')?;
        let inner = usize::from(name.starts_with('{'));
        let name = name.get(inner..)?;
        let end = name.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(name.len());
        let mut length = braces + 1 + inner + end + inner;
        let mut code = format!("${}", name.get(..end)?);
        if name.get(end..).is_some_and(|after| after.starts_with('{') || after.starts_with('[')) && inner == 0 {
            let close = name.get(end..)?.find(['}', ']'])? + 1;
            code.push_str(name.get(end..end + close)?);
            length += close;
        }
        return (end > 0).then_some((code, (length + braces).min(rest.len())));
    }
    let body = rest.strip_prefix(holes)?;
    if holes == "{" && body.starts_with('{') {
        return None;
    }
    let end = find_closing_delimiter(body, '{', '}');
    let code = body.get(..end)?;
    Some((code.to_owned(), (holes.len() + end + 1).min(rest.len())))
}

/// Adds the text of an escape. Returns the rest after it.
fn parse_escape<'a>(rest: &'a str, text: &mut String) -> &'a str {
    let after = rest.get(1..).unwrap_or_default();
    let Some(c) = after.chars().next() else { return "" };
    let behind = after.get(c.len_utf8()..).unwrap_or_default();
    let (digits, radix) = match c {
        'x' => (2, 16),
        'u' => (4, 16),
        '0'..='7' => (3, 8),
        _ => {
            match c {
                'n' => text.push('\n'),
                't' => text.push('\t'),
                'r' => text.push('\r'),
                '\n' => {}
                other => text.push(other),
            }
            return behind;
        }
    };
    let from = if radix == 8 { after } else { behind };
    let from = from.strip_prefix('{').unwrap_or(from);
    let end = from.char_indices().take_while(|(at, c)| *at < digits && c.is_digit(radix)).count();
    let (code, behind) = from.split_at(end);
    text.extend(u32::from_str_radix(code, radix).ok().and_then(char::from_u32));
    behind.strip_prefix('}').filter(|_| after.contains('{')).unwrap_or(behind)
}
