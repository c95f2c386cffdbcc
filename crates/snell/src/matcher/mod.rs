//! Which events a hook reacts to: one type for the matcher grammars of all contracts.
//!
//! | grammar | read by |
//! |---|---|
//! | names, `A\|B`, wildcards, any case | `wave` |
//! | `Tool(argument)` | `microai` |
//! | a list of exact names, else a regular expression | `claude` |
//! | wildcards | `whale` |
//! | `claude`'s, and classes of tools | `snell.toml` |

mod expression;
mod glob;
mod host;
mod permission_rule;
mod subcommands;
mod tool_pattern;

use self::expression::Expression;
use self::tool_pattern::ToolPattern;
use crate::event::{Tool, ToolClass};

pub(crate) use self::glob::Dialect;
pub use self::glob::Glob;
pub(crate) use self::permission_rule::{PermissionRule, Roots};
pub(crate) use self::subcommands::Subcommands;

/// A matcher: what was written, and what it means.
#[derive(Clone, Debug)]
pub(crate) struct Matcher {
    written: Option<String>,
    test: Test,
}

#[derive(Clone, Debug)]
enum Test {
    Everything,
    Names(Vec<Name>),
    Globs(Vec<Glob>),
    Pattern(ToolPattern),
    Expression(Expression),
}

/// One item of an exact list.
#[derive(Clone, Debug)]
enum Name {
    Exact(String),
    Class(ToolClass),
    Expression(Expression),
}

/// What a matcher is held against.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subject<'a> {
    /// What is compared, in words: `tool`, `source`, `reason` …
    pub(crate) what: &'a str,
    pub(crate) text: Option<&'a str>,
    pub(crate) tool: Option<&'a Tool>,
}

impl Matcher {
    /// Matches whatever comes.
    pub(crate) fn everything(written: Option<String>) -> Self {
        Self {
            written,
            test: Test::Everything,
        }
    }

    fn new(written: String, test: Test) -> Self {
        Self {
            test: if is_wildcard(&written) { Test::Everything } else { test },
            written: Some(written),
        }
    }

    /// Names or wildcards, separated by `|`, whatever their case.
    pub(crate) fn caseless_globs(written: String) -> Self {
        let parts = written.split('|').map(str::trim);
        let globs = parts.map(|part| Glob::new(part, Dialect::CASELESS)).collect();
        Self::new(written, Test::Globs(globs))
    }

    /// A wildcard pattern for the whole name.
    pub(crate) fn glob(written: String) -> Self {
        let glob = Glob::new(&written, Dialect::PLAIN);
        Self::new(written, Test::Globs(vec![glob]))
    }

    /// `Tool` or `Tool(argument)`.
    pub(crate) fn tool_pattern(written: String) -> Result<Self, String> {
        let pattern = ToolPattern::parse(&written)?;
        Ok(Self::new(written, Test::Pattern(pattern)))
    }

    /// A list of exact names, or a regular expression.
    pub(crate) fn names_or_expression(written: String, list: ListCharacters) -> Result<Self, String> {
        if is_wildcard(&written) || written.chars().all(|c| list.allows(c)) {
            return Ok(Self::names(written, &['|', ',']));
        }
        let expression = Expression::parse(&written)?;
        Ok(Self::new(written, Test::Expression(expression)))
    }

    /// A list of exact names.
    pub(crate) fn names(written: String, separators: &[char]) -> Self {
        let names = written
            .split(separators)
            .map(|name| Name::Exact(name.trim().to_owned()));
        let names = names.collect();
        Self::new(written, Test::Names(names))
    }

    /// As [`Matcher::names_or_expression`], but a class of tools may stand for a name.
    pub(crate) fn names_classes_or_expression(written: String) -> Result<Self, String> {
        let items: Vec<_> = written.split(['|', ',']).map(str::trim).collect();
        if !items.iter().any(|item| ToolClass::parse(item).is_some()) {
            return Self::names_or_expression(written, ListCharacters::Wide);
        }
        let name = |item: &str| match ToolClass::parse(item) {
            Some(class) => Ok(Name::Class(class)),
            None if item.chars().all(|c| ListCharacters::Wide.allows(c)) => Ok(Name::Exact(item.to_owned())),
            None => Expression::parse(item).map(Name::Expression),
        };
        let names: Result<Vec<_>, String> = items.into_iter().map(name).collect();
        Ok(Self::new(written, Test::Names(names?)))
    }

    pub(crate) fn written(&self) -> Option<&str> {
        self.written.as_deref()
    }

    pub(crate) fn matches(&self, subject: &Subject<'_>) -> bool {
        if matches!(self.test, Test::Everything) {
            return true;
        }
        if let (Test::Pattern(pattern), Some(tool)) = (&self.test, subject.tool) {
            return pattern.matches(tool);
        }
        let Some(text) = subject.text else {
            return false;
        };
        match &self.test {
            Test::Everything => true,
            Test::Names(names) => names.iter().any(|name| match name {
                Name::Exact(name) => name == text,
                Name::Class(class) => class.contains(text),
                Name::Expression(expression) => expression.is_match(text),
            }),
            Test::Globs(globs) => globs.iter().any(|glob| glob.matches(text)),
            Test::Expression(expression) => expression.is_match(text),
            Test::Pattern(_) => false,
        }
    }

    /// What is compared with what, in words, for people who ask why.
    pub(crate) fn explain(&self, subject: &Subject<'_>) -> String {
        let verb = if self.matches(subject) {
            "matches"
        } else {
            "does not match"
        };
        let what = subject.what;
        let written = self.written().unwrap_or_default();
        let compared = subject
            .text
            .map_or_else(|| format!("a missing {what}"), |text| format!("{what} \"{text}\""));
        match &self.test {
            Test::Everything => match self.written() {
                None => format!("it has no matcher, so every {what} matches"),
                Some(written) => format!("matcher \"{written}\" matches every {what}"),
            },
            Test::Pattern(pattern) if pattern.looks_at_argument() => {
                let argument = subject.tool.and_then(Tool::principal_argument).map_or_else(
                    || "no principal argument".to_owned(),
                    |text| format!("its principal argument \"{}\"", shortened(&text)),
                );
                format!("matcher \"{written}\" {verb} {compared} with {argument}")
            }
            Test::Expression(_) => {
                format!("matcher /{written}/ (an unanchored regular expression) {verb} {compared}")
            }
            Test::Names(_) | Test::Globs(_) | Test::Pattern(_) => {
                format!("matcher \"{written}\" {verb} {compared}")
            }
        }
    }
}

/// Which characters keep a `claude` matcher an exact list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListCharacters {
    /// Letters, digits, `_`, `-`, `,`, `|` and space.
    Wide,
    /// Letters, digits, `_` and `|`.
    Narrow,
}

impl ListCharacters {
    fn allows(self, c: char) -> bool {
        c.is_ascii_alphanumeric()
            || match self {
                Self::Wide => "_-,| ".contains(c),
                Self::Narrow => "_|".contains(c),
            }
    }
}

fn is_wildcard(written: &str) -> bool {
    matches!(written.trim(), "" | "*")
}

/// At most 80 characters of a text, on one line.
fn shortened(text: &str) -> String {
    let mut line: String = text
        .chars()
        .take(80)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if text.chars().nth(80).is_some() {
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn on(text: &str) -> Subject<'_> {
        Subject {
            what: "tool",
            text: Some(text),
            tool: None,
        }
    }

    #[test]
    fn claude_reads_a_list_or_an_expression_by_its_characters() {
        let cases = [
            ("", "Bash", true),
            ("*", "Bash", true),
            ("Bash", "Bash", true),
            ("Bash", "BashOutput", false),
            ("bash", "Bash", false),
            ("Edit|Write", "Write", true),
            ("Edit, Write", "Write", true),
            ("Edit|Write", "MultiEdit", false),
            ("my-tool", "my-tool", true),
            ("mcp__memory", "mcp__memory__read", false),
            ("mcp__memory__.*", "mcp__memory__read", true),
            (".*Edit", "MultiEdit", true),
            ("Edit.*", "NotebookEditX", true),
            ("^Edit$", "NotebookEdit", false),
            ("^(?!Bash).*$", "Bash", false),
            ("^(?!Bash).*$", "Edit", true),
        ];
        for (matcher, tool, expected) in cases {
            let parsed = Matcher::names_or_expression(matcher.into(), ListCharacters::Wide).unwrap();
            assert_eq!(parsed.matches(&on(tool)), expected, "{matcher} on {tool}");
        }
        assert!(Matcher::names_or_expression("(".into(), ListCharacters::Wide).is_err());
    }

    #[test]
    fn wave_reads_names_lists_and_wildcards_in_any_case() {
        let cases = [
            ("Edit|Write", "edit", true),
            ("Edit|Write", "Write", true),
            ("Edit|Write", "MultiEdit", false),
            ("*edit", "MultiEdit", true),
            ("mcp__?__*", "mcp__a__b", true),
            ("[a-m]*", "Read", false),
            ("[a-m]*", "Edit", true),
            ("", "x", true),
            ("*", "x", true),
        ];
        for (matcher, tool, expected) in cases {
            assert_eq!(
                Matcher::caseless_globs(matcher.into()).matches(&on(tool)),
                expected,
                "{matcher} on {tool}"
            );
        }
    }

    #[test]
    fn snell_reads_classes_of_tools_beside_names() {
        let cases = [
            ("shell", "run_shell_command", true),
            ("shell|Read", "Read", true),
            ("file.write", "Edit", true),
            ("file.write|web", "WebFetch", true),
            ("file.write|mcp__.*", "Edit", true),
            ("file.write|mcp__.*", "mcp__a__b", true),
            ("file.write", "Read", false),
            ("mcp", "mcp__a__b", true),
            ("Bash.*", "BashOutput", true),
        ];
        for (matcher, tool, expected) in cases {
            assert_eq!(
                Matcher::names_classes_or_expression(matcher.into())
                    .unwrap()
                    .matches(&on(tool)),
                expected,
                "{matcher} on {tool}"
            );
        }
    }

    #[test]
    fn a_missing_subject_matches_only_what_matches_everything() {
        let missing = Subject {
            what: "tool",
            text: None,
            tool: None,
        };
        assert!(Matcher::everything(None).matches(&missing));
        assert!(!Matcher::glob("read_*".into()).matches(&missing));
        assert!(!Matcher::tool_pattern("Bash".into()).unwrap().matches(&missing));
    }

    proptest! {
        #[test]
        fn no_matcher_panics(written in r"\PC{0,16}", text in r"\PC{0,16}") {
            let matchers = [
                Some(Matcher::caseless_globs(written.clone())),
                Matcher::tool_pattern(written.clone()).ok(),
                Matcher::names_or_expression(written.clone(), ListCharacters::Wide).ok(),
                Matcher::names_or_expression(written.clone(), ListCharacters::Narrow).ok(),
                Some(Matcher::glob(written.clone())),
                Matcher::names_classes_or_expression(written).ok(),
            ];
            for matcher in matchers.into_iter().flatten() {
                matcher.matches(&on(&text));
                matcher.explain(&on(&text));
            }
        }
    }
}
