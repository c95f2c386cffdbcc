//! Reads Python code as tokens. Anything that Python could read in another way is an error.

/// Signs of more than one character, longest first.
const LONG_SIGNS: &[&str] = &[
    "**=", "//=", ">>=", "<<=", "...", "==", "!=", "<=", ">=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "@=",
    "//", "**", "->", ":=", "<<", ">>",
];

/// Nesting of f-strings.
const MAX_NESTED: usize = 3;

/// A token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PythonToken<'a> {
    Name(&'a str),
    Number(&'a str),
    /// A string; `None` if its text is not exactly as it is written.
    Text(Option<&'a str>),
    Sign(&'a str),
    LineEnd,
}

/// The tokens of a code, and those of each expression in its f-strings.
#[derive(Debug, Default)]
pub(super) struct PythonTokens<'a> {
    pub(super) parts: Vec<Vec<PythonToken<'a>>>,
}

impl<'a> PythonTokens<'a> {
    /// Reads code; `None` if it is not plain.
    pub(super) fn read(code: &'a str) -> Option<Self> {
        let mut all = Self::default();
        // Such a comment changes how the rest is decoded.
        let is_declared = code.lines().take(2).any(|line| line.contains("coding"));
        if is_declared {
            return None;
        }
        all.read_part(code, 0)?;
        Some(all)
    }

    fn read_part(&mut self, code: &'a str, depth: usize) -> Option<()> {
        let mut reader = TokenReader { rest: code, tokens: Vec::new(), snippets: Vec::new() };
        reader.read_all()?;
        self.parts.push(join_lines(reader.tokens)?);
        for snippet in reader.snippets {
            (depth < MAX_NESTED).then_some(())?;
            self.read_part(snippet, depth + 1)?;
        }
        Some(())
    }
}

struct TokenReader<'a> {
    rest: &'a str,
    tokens: Vec<PythonToken<'a>>,
    snippets: Vec<&'a str>,
}

impl<'a> TokenReader<'a> {
    fn read_all(&mut self) -> Option<()> {
        while let Some(c) = self.rest.chars().next() {
            match c {
                '\n' => {
                    self.skip(1);
                    self.tokens.push(PythonToken::LineEnd);
                }
                ' ' | '\t' => self.skip(1),
                '#' => {
                    let end = self.rest.find('\n').unwrap_or(self.rest.len());
                    self.skip(end);
                }
                '\\' => self.rest = self.rest.strip_prefix("\\\n")?,
                '\'' | '"' => self.read_string("")?,
                '0'..='9' => self.read_number()?,
                // Python also takes other letters, and normalizes them.
                'a'..='z' | 'A'..='Z' | '_' => self.read_name()?,
                _ => self.read_sign()?,
            }
        }
        Some(())
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
    }

    fn take_while(&mut self, is_taken: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|c| !is_taken(c)).unwrap_or(self.rest.len());
        let taken = self.rest.get(..end).unwrap_or_default();
        self.skip(end);
        taken
    }

    fn read_name(&mut self) -> Option<()> {
        let name = self.take_while(|c| c.is_ascii_alphanumeric() || c == '_');
        if self.rest.starts_with(['\'', '"']) {
            return self.read_string(name);
        }
        self.tokens.push(PythonToken::Name(name));
        Some(())
    }

    fn read_number(&mut self) -> Option<()> {
        let number = self.take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.'));
        let is_hexadecimal = number.starts_with("0x") && number.bytes().skip(2).all(|byte| byte.is_ascii_hexdigit());
        let is_plain = number.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'_' | b'.' | b'e'));
        // `1else` is a number and a name.
        (is_hexadecimal || is_plain && number.matches('e').count() <= 1).then_some(())?;
        self.tokens.push(PythonToken::Number(number));
        Some(())
    }

    fn read_sign(&mut self) -> Option<()> {
        let long = LONG_SIGNS.iter().find(|sign| self.rest.starts_with(**sign));
        let bytes = match long {
            Some(sign) => sign.len(),
            None => self.rest.starts_with(|c: char| "()[]{}.,:;=+-*/%<>&|^~@!".contains(c)).then_some(1)?,
        };
        self.tokens.push(PythonToken::Sign(self.rest.get(..bytes)?));
        self.skip(bytes);
        Some(())
    }

    fn read_string(&mut self, prefix: &str) -> Option<()> {
        let prefix = prefix.to_ascii_lowercase();
        let is_known = matches!(prefix.as_str(), "" | "r" | "u" | "b" | "f" | "rb" | "br" | "rf" | "fr");
        is_known.then_some(())?;
        let quote = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quote| self.rest.starts_with(quote))?;
        self.skip(quote.len());
        let end = self.find_string_end(quote)?;
        let text = self.rest.get(..end)?;
        self.skip(end + quote.len());
        if prefix.contains('f') {
            self.read_replacements(text)?;
        }
        let is_exact = matches!(prefix.as_str(), "" | "r" | "u") && !text.contains('\\');
        self.tokens.push(PythonToken::Text(is_exact.then_some(text)));
        Some(())
    }

    fn find_string_end(&self, quote: &str) -> Option<usize> {
        let mut is_escaped = false;
        for (at, c) in self.rest.char_indices() {
            if is_escaped {
                is_escaped = false;
            } else if c == '\\' {
                is_escaped = true;
            } else if self.rest.get(at..).is_some_and(|rest| rest.starts_with(quote)) {
                return Some(at);
            } else if c == '\n' && quote.len() == 1 {
                return None;
            }
        }
        None
    }

    /// The expressions within `{…}`. Braces must be balanced within the quotes: newer versions of Python would read on.
    fn read_replacements(&mut self, text: &'a str) -> Option<()> {
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            let from = rest.get(at..)?;
            if let Some(after) = from.strip_prefix("{{").or_else(|| from.strip_prefix("}}")) {
                rest = after;
                continue;
            }
            let inner = from.strip_prefix('{')?;
            let end = find_replacement_end(inner)?;
            let (expression, format) = split_format(inner.get(..end)?);
            self.snippets.push(expression);
            self.read_replacements(format)?;
            rest = inner.get(end + 1..)?;
        }
        Some(())
    }
}

/// Without line ends within brackets; `None` if the brackets are not balanced.
fn join_lines(tokens: Vec<PythonToken<'_>>) -> Option<Vec<PythonToken<'_>>> {
    let mut depth = 0_usize;
    let mut joined = Vec::with_capacity(tokens.len());
    for token in tokens {
        match token {
            PythonToken::Sign("(" | "[" | "{") => depth += 1,
            PythonToken::Sign(")" | "]" | "}") => depth = depth.checked_sub(1)?,
            PythonToken::LineEnd if depth > 0 => continue,
            _ => {}
        }
        joined.push(token);
    }
    (depth == 0).then_some(joined)
}

/// Where the brace closes. Quotes within are allowed if they hold no brace.
fn find_replacement_end(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match (c, quote) {
            ('\\' | '#', _) => return None,
            (_, Some(open)) if c == open => quote = None,
            ('{' | '}', Some(_)) => return None,
            (_, Some(_)) => {}
            ('\'' | '"', None) => quote = Some(c),
            ('{' | '(' | '[', None) => depth += 1,
            ('}', None) if depth == 0 => return Some(at),
            ('}' | ')' | ']', None) => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    None
}

/// The expression, and the format after `:` or `!r`.
fn split_format(text: &str) -> (&str, &str) {
    let mut depth = 0_usize;
    let mut quote = None;
    for (at, c) in text.char_indices() {
        let rest = text.get(at + 1..).unwrap_or_default();
        match (c, quote) {
            (_, Some(open)) if c == open => quote = None,
            (_, Some(_)) => {}
            ('\'' | '"', None) => quote = Some(c),
            ('{' | '(' | '[', None) => depth += 1,
            ('}' | ')' | ']', None) => depth = depth.saturating_sub(1),
            (':', None) if depth == 0 => return (text.get(..at).unwrap_or_default(), rest),
            ('!', None) if depth == 0 && !rest.starts_with('=') => {
                let format = rest.split_once(':').map_or("", |(_, format)| format);
                return (text.get(..at).unwrap_or_default(), format);
            }
            _ => {}
        }
    }
    (text.trim_end().trim_end_matches('='), "")
}
