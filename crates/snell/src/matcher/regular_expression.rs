//! Regular expressions, as JavaScript's are written, without paying for what most of them do not need.
//!
//! Compiling an expression takes some 45 µs, and every start of `snell run` would pay that for every hook. Most matchers
//! are a name with `.*` in it, which a wildcard pattern says as well, and that needs no compiling.

use fancy_regex::Regex;

use super::glob::{Glob, GlobDialect};

/// An expression that looks for a match anywhere in a text.
#[derive(Clone, Debug)]
pub(super) enum MatcherRegex {
    /// Wildcard patterns of which one must match the whole text; and the expression that they stand for.
    Simple {
        alternatives: Vec<Glob>,
        written: String,
    },
    Compiled(Box<Regex>),
}

impl MatcherRegex {
    /// Reads an expression, or says what is wrong with it.
    pub(super) fn parse(written: &str) -> Result<Self, String> {
        let alternatives: Option<Vec<_>> = written.split('|').map(glob_from_alternative).collect();
        match alternatives {
            Some(alternatives) => Ok(Self::Simple { alternatives, written: written.to_owned() }),
            None => compile_regex(written).map(|regex| Self::Compiled(Box::new(regex))),
        }
    }

    pub(super) fn is_match(&self, text: &str) -> bool {
        match self {
            // In an expression a dot does not reach over the end of a line; a wildcard does.
            Self::Simple { written, .. } if text.contains(['\n', '\r']) => {
                compile_regex(written).is_ok_and(|regex| finds_match(&regex, text))
            }
            Self::Simple { alternatives, .. } => alternatives.iter().any(|glob| glob.matches(text)),
            Self::Compiled(regex) => finds_match(regex, text),
        }
    }
}

/// An expression that gives up (it may backtrack without end) has not said no.
fn finds_match(regex: &Regex, text: &str) -> bool {
    regex.is_match(text).unwrap_or(true)
}

fn compile_regex(written: &str) -> Result<Regex, String> {
    Regex::new(written).map_err(|error| {
        let first_line = error.to_string().lines().next().unwrap_or_default().to_owned();
        let hint = if written.starts_with('*') {
            "; for everything write \"*\", for names that end so write \".*…\""
        } else {
            ""
        };
        format!("\"{written}\" is not a valid regular expression ({first_line}){hint}")
    })
}

/// The wildcard pattern that says what one alternative says, if it holds nothing but names, `.`, `.*`, `.+`, and anchors
/// at its ends.
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
        fn an_expression_without_compiling_says_what_it_says_compiled(
            written in r"(\^|)([ab_]|\.|\.\*|\.\+){0,6}(\$|)(\|[ab.]{0,3}\$?)?",
            text in "[ab_é\n\r]{0,8}",
        ) {
            // The compiled expression takes `.+.*.+` for `.+`, and so finds it in a single character.
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
