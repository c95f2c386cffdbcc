//! Wildcard patterns, in the dialects of the contracts.
//!
//! A pattern is a few tokens that need no compilation: loading a hundred hooks must take microseconds, so patterns do
//! not become regular expressions. Matching is the usual two-pointer walk with one point to return to per kind of star,
//! so it takes at most pattern × text steps.

/// The syntax of a pattern, and what a star matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GlobDialect {
    /// `[a-z]` and `\` are special. An unclosed `[` is a literal.
    pub(crate) classes: bool,
    pub(crate) ignore_case: bool,
    /// `*` and `?` stop at `/`, and `**` does not.
    pub(crate) paths: bool,
}

impl GlobDialect {
    /// Only `*` and `?`.
    pub(crate) const PLAIN: Self = Self { classes: false, ignore_case: false, paths: false };
    /// The same, in any case.
    pub(crate) const PLAIN_CASELESS: Self = Self { ignore_case: true, ..Self::PLAIN };
    /// Also `[a-z]`.
    pub(crate) const CLASSES: Self = Self { classes: true, ..Self::PLAIN };
    /// Also `[a-z]`, in any case.
    pub(crate) const CASELESS: Self = Self { ignore_case: true, ..Self::CLASSES };
    /// File paths, as in `.gitignore`.
    pub(crate) const PATHS: Self = Self { paths: true, ..Self::CLASSES };
}

/// A wildcard pattern that must match the whole text.
#[derive(Debug, Clone, PartialEq)]
pub struct Glob {
    tokens: Vec<GlobToken>,
    dialect: GlobDialect,
}

#[derive(Debug, Clone, PartialEq)]
enum GlobToken {
    Char(char),
    AnyChar,
    Star,
    /// `**` in a path.
    DoubleStar,
    Class {
        negated: bool,
        ranges: Vec<(char, char)>,
    },
}

impl Glob {
    /// A pattern for a file name: `*`, `?`, `[a-z]`, and `\` before a literal character.
    pub fn for_file_names(pattern: &str) -> Self {
        Self::new(pattern, GlobDialect::CLASSES)
    }

    /// The only text that it matches, if there is exactly one.
    pub fn literal(&self) -> Option<String> {
        let only = |token: &GlobToken| match token {
            GlobToken::Char(c) if !self.dialect.ignore_case => Some(*c),
            _ => None,
        };
        self.tokens.iter().map(only).collect()
    }

    pub(crate) fn new(pattern: &str, dialect: GlobDialect) -> Self {
        let characters: Vec<char> = pattern.chars().collect();
        let mut tokens = Vec::with_capacity(characters.len());
        let mut at = 0;
        while let Some(&c) = characters.get(at) {
            at += 1;
            let token = match c {
                '*' if dialect.paths && characters.get(at) == Some(&'*') => {
                    at += 1;
                    // `**/` also matches no directory at all.
                    if characters.get(at) == Some(&'/') {
                        at += 1;
                    }
                    GlobToken::DoubleStar
                }
                '*' => GlobToken::Star,
                '?' => GlobToken::AnyChar,
                '\\' if dialect.classes && at < characters.len() => {
                    at += 1;
                    GlobToken::Char(characters[at - 1])
                }
                '[' if dialect.classes => match parse_class(&characters[at..]) {
                    Some((token, length)) => {
                        at += length;
                        token
                    }
                    None => GlobToken::Char('['),
                },
                other => GlobToken::Char(other),
            };
            tokens.push(token);
        }
        Self { tokens, dialect }
    }

    /// Whether it matches the whole text.
    pub fn matches(&self, text: &str) -> bool {
        let text: Vec<char> = text.chars().collect();
        let (mut token, mut at) = (0, 0);
        // Where to continue after the last star of each kind, if the rest does not match here.
        let mut shallow: Option<(usize, usize)> = None;
        let mut deep: Option<(usize, usize)> = None;
        loop {
            match self.tokens.get(token) {
                Some(GlobToken::DoubleStar) => {
                    deep = Some((token, at));
                    shallow = None;
                    token += 1;
                    continue;
                }
                Some(GlobToken::Star) => {
                    shallow = Some((token, at));
                    token += 1;
                    continue;
                }
                Some(single) if text.get(at).is_some_and(|c| self.matches_char(single, *c)) => {
                    token += 1;
                    at += 1;
                    continue;
                }
                None if at == text.len() => return true,
                _ => {}
            }
            let stretch = |from: usize| text.get(from).is_some_and(|c| !(self.dialect.paths && *c == '/'));
            if let Some((star, from)) = shallow.filter(|(_, from)| stretch(*from)) {
                shallow = Some((star, from + 1));
                (token, at) = (star + 1, from + 1);
            } else if let Some((star, from)) = deep.filter(|(_, from)| *from < text.len()) {
                deep = Some((star, from + 1));
                shallow = None;
                (token, at) = (star + 1, from + 1);
            } else {
                return false;
            }
        }
    }

    fn matches_char(&self, token: &GlobToken, c: char) -> bool {
        let same = |a: char, b: char| a == b || (self.dialect.ignore_case && a.to_lowercase().eq(b.to_lowercase()));
        match token {
            GlobToken::Char(expected) => same(*expected, c),
            GlobToken::AnyChar => !(self.dialect.paths && c == '/'),
            GlobToken::Class { negated, ranges } => {
                let within = |c: char| ranges.iter().any(|(low, high)| (*low..=*high).contains(&c));
                let inside = within(c)
                    || (self.dialect.ignore_case && (c.to_lowercase().any(within) || c.to_uppercase().any(within)));
                inside != *negated && !(self.dialect.paths && c == '/')
            }
            GlobToken::Star | GlobToken::DoubleStar => false,
        }
    }
}

/// A `[…]`, where `rest` starts after the bracket: the token and its length in characters.
fn parse_class(rest: &[char]) -> Option<(GlobToken, usize)> {
    let negated = matches!(rest.first(), Some('!' | '^'));
    let start = usize::from(negated);
    // A `]` in first place is a literal, as in every shell.
    let end = start + 1 + rest.get(start + 1..)?.iter().position(|c| *c == ']')?;
    let body = &rest[start..end];
    let mut ranges = Vec::new();
    let mut at = 0;
    while at < body.len() {
        if at + 2 < body.len() && body[at + 1] == '-' {
            ranges.push((body[at], body[at + 2]));
            at += 3;
        } else {
            ranges.push((body[at], body[at]));
            at += 1;
        }
    }
    Some((GlobToken::Class { negated, ranges }, end + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn each_dialect_reads_its_own_patterns() {
        let cases = [
            (GlobDialect::PLAIN, "read_*", "read_file", true),
            (GlobDialect::PLAIN, "read_*", "xread_file", false),
            (GlobDialect::PLAIN, "*", "", true),
            (GlobDialect::PLAIN, "a?c", "abc", true),
            (GlobDialect::PLAIN, "a?c", "ac", false),
            (GlobDialect::PLAIN, "a.c", "abc", false),
            (GlobDialect::PLAIN, "Read", "read", false),
            (GlobDialect::PLAIN, "[ab]", "a", false),
            (GlobDialect::PLAIN, "[ab]", "[ab]", true),
            (GlobDialect::PLAIN, "*a*b*c", "xaxbxc", true),
            (GlobDialect::PLAIN, "*a*b*c", "xaxcxb", false),
            (GlobDialect::PLAIN, "rm -rf /*", "rm -rf /a/b", true),
            (GlobDialect::PLAIN_CASELESS, "mcp__*__SEND", "MCP__[a]__send", true),
            (GlobDialect::PLAIN_CASELESS, "[ab]", "a", false),
            (GlobDialect::CASELESS, "EDIT", "edit", true),
            (GlobDialect::CASELESS, "mcp__*", "MCP__x", true),
            (GlobDialect::CASELESS, "[a-c]dit", "Bdit", true),
            (GlobDialect::CASELESS, "[!a-c]dit", "Bdit", false),
            (GlobDialect::CASELESS, "[!a-c]dit", "edit", true),
            (GlobDialect::CASELESS, "ÄB*", "äbc", true),
            (GlobDialect::CLASSES, "[]x]", "]", true),
            (GlobDialect::CLASSES, "[ -f", "[ -f", true),
            (GlobDialect::CLASSES, "a\\*", "a*", true),
            (GlobDialect::CLASSES, "a\\*", "ab", false),
            (GlobDialect::PATHS, "src/*.rs", "src/a.rs", true),
            (GlobDialect::PATHS, "src/*.rs", "src/a/b.rs", false),
            (GlobDialect::PATHS, "src/**/*.rs", "src/a/b.rs", true),
            (GlobDialect::PATHS, "src/**/*.rs", "src/b.rs", true),
            (GlobDialect::PATHS, "src/**", "src/a/b", true),
            (GlobDialect::PATHS, "**/x*/y", "a/xb/c/xd/y", true),
            (GlobDialect::PATHS, "**/x*/y", "a/xb/c/zd/y", false),
        ];
        for (dialect, pattern, text, expected) in cases {
            assert_eq!(Glob::new(pattern, dialect).matches(text), expected, "{pattern} on {text}");
        }
    }

    #[test]
    fn a_pattern_without_wildcards_is_the_text_it_matches() {
        let cases = [
            ("TODAY.md", Some("TODAY.md")),
            ("a\\*b", Some("a*b")),
            ("[ -f", Some("[ -f")),
            ("", Some("")),
            ("*.md", None),
            ("a?", None),
            ("[a]", None),
        ];
        for (pattern, expected) in cases {
            assert_eq!(Glob::for_file_names(pattern).literal().as_deref(), expected, "{pattern}");
        }
    }

    proptest! {
        #[test]
        fn a_pattern_agrees_with_the_regular_expression_it_stands_for(
            pattern in "[abA*?]{0,8}",
            text in "[abA\n]{0,12}",
            ignore_case in any::<bool>(),
        ) {
            let body = pattern.replace('*', "[^Q]*").replace('?', "[^Q]");
            let flags = if ignore_case { "(?i)" } else { "" };
            let regex = fancy_regex::Regex::new(&format!("{flags}^{body}\\z")).unwrap();
            let dialect = GlobDialect { ignore_case, ..GlobDialect::PLAIN };
            prop_assert_eq!(Glob::new(&pattern, dialect).matches(&text), regex.is_match(&text).unwrap());
        }

        #[test]
        fn no_pattern_panics(pattern in r"\PC{0,20}", text in r"\PC{0,20}") {
            for dialect in [GlobDialect::PLAIN, GlobDialect::CLASSES, GlobDialect::CASELESS, GlobDialect::PATHS] {
                Glob::new(&pattern, dialect).matches(&text);
            }
        }
    }
}
