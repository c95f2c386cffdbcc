//! Regular expressions in JavaScript's syntax.
//!
//! Compiling one takes about 45 µs, for every hook at every start of `snell run`. Most matchers are a name with `.*` in it,
//! which is also a wildcard pattern, and that needs no compilation.

use fancy_regex::Regex;

use super::glob::{Glob, GlobDialect};
use crate::diagnostic::UserMessage;

/// An expression that searches for a match anywhere in a text.
#[derive(Clone, Debug)]
pub(super) enum MatcherRegex {
    /// The expression as wildcard patterns, one of them for the whole text, and its source.
    Simple {
        alternatives: Vec<Glob>,
        written: String,
    },
    Compiled(Box<Regex>),
}

impl MatcherRegex {
    /// Parses an expression. The error is a predicate, to follow the name of the key.
    pub(super) fn parse(written: &str) -> Result<Self, UserMessage> {
        let alternatives: Option<Vec<_>> = written.split('|').map(glob_from_alternative).collect();
        match alternatives {
            Some(alternatives) => Ok(Self::Simple { alternatives, written: written.to_owned() }),
            None => compile_regex(written).map(|regex| Self::Compiled(Box::new(regex))),
        }
    }

    pub(super) fn is_match(&self, text: &str) -> bool {
        match self {
            // In an expression a dot does not match the end of a line, but a wildcard does.
            Self::Simple { written, .. } if text.contains(['\n', '\r']) => {
                compile_regex(written).is_ok_and(|regex| finds_match(&regex, text))
            }
            Self::Simple { alternatives, .. } => alternatives.iter().any(|glob| glob.matches(text)),
            Self::Compiled(regex) => finds_match(regex, text),
        }
    }
}

/// An expression that exceeds its backtracking limit counts as a match: the hook must not be skipped.
fn finds_match(regex: &Regex, text: &str) -> bool {
    regex.is_match(text).unwrap_or(true)
}

fn compile_regex(written: &str) -> Result<Regex, UserMessage> {
    Regex::new(written).map_err(|error| {
        let first_line = error.to_string().lines().next().unwrap_or_default().to_owned();
        let message = UserMessage::new(format!("has the invalid regular expression \"{written}\": {first_line}"));
        match written.strip_prefix('*') {
            Some(end) => {
                message.with_hint(format!("write \"*\" for everything, or \".*{end}\" for names with this end"))
            }
            None => message,
        }
    })
}

/// The wildcard pattern for one alternative, if it has only names, `.`, `.*`, `.+`, and anchors at its ends.
fn glob_from_alternative(alternative: &str) -> Option<Glob> {
    let (anchored_start, rest) = match alternative.strip_prefix('^') {
        Some(rest) => (true, rest),
        None => (false, alternative),
    };
    let (anchored_end, body) = match rest.strip_suffix('$') {
        Some(body) => (true, body),
        None => (false, rest),
    };
    let mut pattern = String::new();
    let mut characters = body.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '.' => {
                pattern.push_str(match characters.peek() {
                    Some('*') => "*",
                    Some('+') => "?*",
                    _ => "?",
                });
                characters.next_if(|next| matches!(next, '*' | '+'));
            }
            c if c.is_ascii_alphanumeric() || "_-:/@ ,".contains(c) => pattern.push(c),
            _ => return None,
        }
    }
    let start = if anchored_start { "" } else { "*" };
    let end = if anchored_end { "" } else { "*" };
    Some(Glob::new(&format!("{start}{pattern}{end}"), GlobDialect::PLAIN))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_usual_matchers_need_no_compiling() {
        let cases = [
            ("mcp__.*", true),
            ("mcp__memory__.*", true),
            ("^Edit$", true),
            ("Edit.*|^Write", true),
            (".*", true),
            ("Notebook.", true),
            ("(Edit|Write)", false),
            ("^(?!Bash)", false),
            ("Bash[12]", false),
            ("a*", false),
            ("\\w+", false),
        ];
        for (written, simple) in cases {
            let parsed = MatcherRegex::parse(written).unwrap();
            assert_eq!(matches!(parsed, MatcherRegex::Simple { .. }), simple, "{written}");
        }
    }

    proptest! {
        #[test]
        fn a_simple_expression_matches_like_the_compiled_one(
            written in r"(\^|)([ab_]|\.|\.\*|\.\+){0,6}(\$|)(\|[ab.]{0,3}\$?)?",
            text in "[ab_é\n\r]{0,8}",
        ) {
            // The compiled expression reads `.+.*.+` as `.+`, so it matches a single character.
            let mut once = written.clone();
            while once.contains(".*.*") {
                once = once.replace(".*.*", ".*");
            }
            if once.contains(".+.*.+") {
                return Ok(());
            }
            let MatcherRegex::Simple { .. } = MatcherRegex::parse(&written).unwrap() else {
                return Err(TestCaseError::fail(format!("{written} is simple")));
            };
            let regex = Regex::new(&written).unwrap();
            prop_assert_eq!(MatcherRegex::parse(&written).unwrap().is_match(&text), regex.is_match(&text).unwrap());
        }
    }
}
