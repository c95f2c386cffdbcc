//! Which events a hook reacts to: one type for the matcher grammars of all contracts.
//!
//! | grammar | read by |
//! |---|---|
//! | names, `A\|B`, wildcards, any case | `wave` |
//! | `ToolCall(argument)` | `microai` |
//! | a list of exact names, else a regular expression | `claude` |
//! | wildcards | `whale` |
//! | `claude`'s, and classes of tools | `snell.toml` |
//! | a regular expression, for a part or for the whole of a name | hook files of other agents |
//! | wildcards in any case, or `re:` and a regular expression | `vibe` |

mod command_words;
mod glob;
mod hook_filters;
mod host;
mod permission_rule;
mod regular_expression;
mod subcommands;
mod tool_names;
mod tool_pattern;

use std::borrow::Cow;

use self::regular_expression::MatcherRegex;
use self::tool_pattern::ToolPattern;
use crate::diagnostic::UserMessage;
use crate::event::{ToolCall, ToolClass};

pub use self::command_words::CommandMatcher;
pub(crate) use self::command_words::{PlainCommandMatcher, find_command_pattern_fault};
pub use self::glob::Glob;
pub(crate) use self::glob::GlobDialect;
pub(crate) use self::hook_filters::{FilterScene, HookFilters};
pub(crate) use self::permission_rule::{PermissionRule, RuleRoots, normalize_path};
pub(crate) use self::subcommands::SubcommandList;
pub use self::tool_names::find_misspelled_tool;

/// A matcher: its text and its meaning.
#[derive(Clone, Debug)]
pub(crate) struct Matcher {
    written: Option<String>,
    test: MatcherTest,
}

/// Two matchers of one grammar are equal if their texts are.
impl PartialEq for Matcher {
    fn eq(&self, other: &Self) -> bool {
        self.written == other.written
    }
}

#[derive(Clone, Debug)]
enum MatcherTest {
    Everything,
    AnyOf(Vec<NamePattern>),
    Pattern(ToolPattern),
}

/// One item of a list.
#[derive(Clone, Debug)]
enum NamePattern {
    Exact(String),
    Class(ToolClass),
    Glob(Glob),
    Expression(MatcherRegex),
    /// An expression with anchors of its own, for the whole text.
    WholeExpression(MatcherRegex),
}

impl NamePattern {
    fn is_expression(&self) -> bool {
        matches!(self, Self::Expression(_) | Self::WholeExpression(_))
    }

    fn matches(&self, text: &str) -> bool {
        match self {
            Self::Exact(name) => name == text,
            Self::Class(class) => class.contains(text),
            Self::Glob(glob) => glob.matches(text),
            Self::Expression(expression) | Self::WholeExpression(expression) => expression.is_match(text),
        }
    }
}

/// The value that a matcher compares.
#[derive(Clone, Debug)]
pub(crate) struct MatchSubject<'a> {
    /// The name of the value: `tool`, `source`, `reason` …
    pub(crate) what: &'a str,
    /// The value, and further names that it has. A matcher needs to match one of them.
    pub(crate) texts: Vec<Cow<'a, str>>,
    /// Names that only exact names, classes and wildcards are compared with: an expression such as `^(?!Bash)` would match
    /// any of them.
    pub(crate) aliases: Vec<Cow<'a, str>>,
    pub(crate) tool: Option<&'a ToolCall>,
}

/// Tools whose input is a patch, and the tools whose matchers also match them.
const PATCH_TOOLS: &[&str] = &["apply_patch", "ApplyPatch"];
const PATCH_ALIASES: &[&str] = &["Edit", "Write"];

/// Other names of a tool: the agent's own, and for a patch those of tools that change files.
pub(crate) fn tool_aliases(tool: &ToolCall) -> impl Iterator<Item = &str> {
    let own = tool.native_name.as_deref();
    let is_patch = PATCH_TOOLS.contains(&tool.name.as_str()) || own.is_some_and(|own| PATCH_TOOLS.contains(&own));
    own.into_iter().chain(PATCH_ALIASES.iter().copied().filter(move |_| is_patch))
}

impl<'a> MatchSubject<'a> {
    /// A value that is not a tool.
    pub(crate) fn from_text(what: &'a str, text: Option<&'a str>) -> Self {
        Self { what, texts: text.map(Cow::Borrowed).into_iter().collect(), aliases: Vec::new(), tool: None }
    }

    /// The tool of a call, by its canonical name.
    pub(crate) fn from_tool(tool: Option<&'a ToolCall>) -> Self {
        let name = tool.map(|tool| tool.name.as_str()).filter(|name| !name.is_empty());
        let aliases = tool.into_iter().flat_map(tool_aliases).map(Cow::Borrowed).collect();
        Self { aliases, tool, ..Self::from_text("tool", name) }
    }
}

impl Matcher {
    /// Matches everything.
    pub(crate) fn match_all(written: Option<String>) -> Self {
        Self { written, test: MatcherTest::Everything }
    }

    fn new(written: String, test: MatcherTest) -> Self {
        Self { test: if is_match_all(&written) { MatcherTest::Everything } else { test }, written: Some(written) }
    }

    /// Names or wildcards, separated by `|`, in any case.
    pub(crate) fn from_caseless_globs(written: String) -> Self {
        let parts = written.split('|').map(str::trim);
        let globs = parts.map(|part| NamePattern::Glob(Glob::new(part, GlobDialect::CASELESS))).collect();
        Self::new(written, MatcherTest::AnyOf(globs))
    }

    /// A wildcard pattern for the whole name.
    pub(crate) fn from_glob(written: String) -> Self {
        let glob = Glob::new(&written, GlobDialect::PLAIN);
        Self::new(written, MatcherTest::AnyOf(vec![NamePattern::Glob(glob)]))
    }

    /// `ToolCall` or `ToolCall(argument)`.
    pub(crate) fn from_tool_pattern(written: String) -> Result<Self, UserMessage> {
        let pattern = ToolPattern::parse(&written)?;
        Ok(Self::new(written, MatcherTest::Pattern(pattern)))
    }

    /// A list of exact names, or a regular expression.
    pub(crate) fn from_names_or_expression(written: String, list: NameListCharset) -> Result<Self, UserMessage> {
        if is_match_all(&written) || written.chars().all(|c| list.allows(c)) {
            return Ok(Self::from_names(written, &['|', ',']));
        }
        let expression = MatcherRegex::parse(&written)?;
        Ok(Self::new(written, MatcherTest::AnyOf(vec![NamePattern::Expression(expression)])))
    }

    /// A list of exact names.
    pub(crate) fn from_names(written: String, separators: &[char]) -> Self {
        let names = written.split(separators).map(|name| NamePattern::Exact(name.trim().to_owned()));
        let names = names.collect();
        Self::new(written, MatcherTest::AnyOf(names))
    }

    /// As [`Matcher::from_names_or_expression`], but a class of tools may stand for a name.
    pub(crate) fn from_names_classes_or_expression(written: String) -> Result<Self, UserMessage> {
        let items: Vec<_> = written.split(['|', ',']).map(str::trim).collect();
        if !items.iter().any(|item| ToolClass::parse(item).is_some()) {
            return Self::from_names_or_expression(written, NameListCharset::Wide);
        }
        let name = |item: &str| match ToolClass::parse(item) {
            Some(class) => Ok(NamePattern::Class(class)),
            None if item.chars().all(|c| NameListCharset::Wide.allows(c)) => Ok(NamePattern::Exact(item.to_owned())),
            None => MatcherRegex::parse(item).map(NamePattern::Expression),
        };
        let names: Result<Vec<_>, UserMessage> = items.into_iter().map(name).collect();
        Ok(Self::new(written, MatcherTest::AnyOf(names?)))
    }

    /// A regular expression that may match a part of the text.
    pub(crate) fn from_expression(written: String) -> Result<Self, UserMessage> {
        let expression = MatcherRegex::parse(&written)?;
        Ok(Self::new(written, MatcherTest::AnyOf(vec![NamePattern::Expression(expression)])))
    }

    /// A regular expression for the whole text.
    pub(crate) fn from_whole_expression(written: String) -> Result<Self, UserMessage> {
        MatcherRegex::parse(&written)?;
        let expression = MatcherRegex::parse(&format!("^(?:{written})$"))?;
        Ok(Self::new(written, MatcherTest::AnyOf(vec![NamePattern::WholeExpression(expression)])))
    }

    /// One wildcard pattern in any case, or `re:` and a regular expression for the whole text in any case.
    pub(crate) fn from_glob_or_marked_expression(written: String) -> Result<Self, UserMessage> {
        let pattern = match written.strip_prefix("re:") {
            Some(expression) => {
                MatcherRegex::parse(expression)?;
                NamePattern::WholeExpression(MatcherRegex::parse(&format!("^(?i:{expression})$"))?)
            }
            None => NamePattern::Glob(Glob::new(written.trim(), GlobDialect::CASELESS)),
        };
        Ok(Self::new(written, MatcherTest::AnyOf(vec![pattern])))
    }

    pub(crate) fn source_text(&self) -> Option<&str> {
        self.written.as_deref()
    }

    pub(crate) fn matches(&self, subject: &MatchSubject<'_>) -> bool {
        match &self.test {
            MatcherTest::Everything => true,
            MatcherTest::Pattern(pattern) => subject.tool.is_some_and(|tool| pattern.matches(tool)),
            MatcherTest::AnyOf(names) => {
                let is_named = |name: &NamePattern| subject.texts.iter().any(|text| name.matches(text));
                let is_alias =
                    |name: &NamePattern| !name.is_expression() && subject.aliases.iter().any(|text| name.matches(text));
                names.iter().any(|name| is_named(name) || is_alias(name))
            }
        }
    }

    /// Explains the comparison, for `snell explain`.
    pub(crate) fn explain(&self, subject: &MatchSubject<'_>) -> String {
        let verb = if self.matches(subject) { "matches" } else { "does not match" };
        let what = subject.what;
        let written = self.source_text().unwrap_or_default();
        let compared = subject.texts.first();
        let compared = compared.map_or_else(|| format!("a missing {what}"), |text| format!("{what} \"{text}\""));
        match &self.test {
            MatcherTest::Everything => match self.source_text() {
                None => format!("it has no matcher, so every {what} matches"),
                Some(written) => format!("matcher \"{written}\" matches every {what}"),
            },
            MatcherTest::Pattern(pattern) if pattern.checks_argument() => {
                let argument = subject.tool.and_then(ToolCall::principal_argument).map_or_else(
                    || "no principal argument".to_owned(),
                    |text| format!("its principal argument \"{}\"", shorten_line(&text)),
                );
                format!("matcher \"{written}\" {verb} {compared} with {argument}")
            }
            MatcherTest::AnyOf(names) if matches!(names[..], [NamePattern::Expression(_)]) => {
                format!("matcher /{written}/ (an unanchored regular expression) {verb} {compared}")
            }
            MatcherTest::AnyOf(_) | MatcherTest::Pattern(_) => {
                format!("matcher \"{written}\" {verb} {compared}")
            }
        }
    }
}

/// Which characters keep a `claude` matcher an exact list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameListCharset {
    /// Letters, digits, `_`, `-`, `,`, `|` and space.
    Wide,
    /// Letters, digits, `_` and `|`.
    Narrow,
}

impl NameListCharset {
    pub(crate) fn allows(self, c: char) -> bool {
        c.is_ascii_alphanumeric()
            || match self {
                Self::Wide => "_-,| ".contains(c),
                Self::Narrow => "_|".contains(c),
            }
    }
}

fn is_match_all(written: &str) -> bool {
    matches!(written.trim(), "" | "*")
}

/// At most 80 characters of a text, on one line.
fn shorten_line(text: &str) -> String {
    let mut line: String = text.chars().take(80).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().nth(80).is_some() {
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn subject_with_text(text: &str) -> MatchSubject<'_> {
        MatchSubject::from_text("tool", Some(text))
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
            let parsed = Matcher::from_names_or_expression(matcher.into(), NameListCharset::Wide).unwrap();
            assert_eq!(parsed.matches(&subject_with_text(tool)), expected, "{matcher} on {tool}");
        }
        assert!(Matcher::from_names_or_expression("(".into(), NameListCharset::Wide).is_err());
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
                Matcher::from_caseless_globs(matcher.into()).matches(&subject_with_text(tool)),
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
                Matcher::from_names_classes_or_expression(matcher.into()).unwrap().matches(&subject_with_text(tool)),
                expected,
                "{matcher} on {tool}"
            );
        }
    }

    #[test]
    fn names_and_wildcards_but_no_expressions_also_match_the_agents_own_name_of_a_tool() {
        let call = |name: &str, native: Option<&str>| ToolCall {
            name: name.into(),
            native_name: native.map(str::to_owned),
            ..ToolCall::default()
        };
        let shell = call("Bash", Some("run_shell_command"));
        let patch = call("apply_patch", None);
        let cases = [
            ("run_shell_command", &shell, true),
            ("Bash", &shell, true),
            ("run_.*", &shell, false),
            ("^(?!Bash).*$", &shell, false),
            ("Edit|Read", &patch, true),
            ("Write", &patch, true),
            ("^Edit$", &patch, false),
            ("MultiEdit", &patch, false),
        ];
        for (matcher, tool, expected) in cases {
            let parsed = Matcher::from_names_classes_or_expression(matcher.into()).unwrap();
            assert_eq!(parsed.matches(&MatchSubject::from_tool(Some(tool))), expected, "{matcher} on {}", tool.name);
        }
        assert!(Matcher::from_caseless_globs("RUN_*".into()).matches(&MatchSubject::from_tool(Some(&shell))));
        let pattern = Matcher::from_tool_pattern("run_shell_command".into()).unwrap();
        assert!(pattern.matches(&MatchSubject::from_tool(Some(&shell))));
    }

    #[test]
    fn a_missing_subject_matches_only_what_matches_everything() {
        let missing = MatchSubject::from_text("tool", None);
        assert!(Matcher::match_all(None).matches(&missing));
        assert!(!Matcher::from_glob("read_*".into()).matches(&missing));
        assert!(!Matcher::from_tool_pattern("Bash".into()).unwrap().matches(&missing));
    }

    proptest! {
        #[test]
        fn no_matcher_panics(written in r"\PC{0,16}", text in r"\PC{0,16}") {
            let matchers = [
                Some(Matcher::from_caseless_globs(written.clone())),
                Matcher::from_tool_pattern(written.clone()).ok(),
                Matcher::from_names_or_expression(written.clone(), NameListCharset::Wide).ok(),
                Matcher::from_names_or_expression(written.clone(), NameListCharset::Narrow).ok(),
                Some(Matcher::from_glob(written.clone())),
                Matcher::from_names_classes_or_expression(written).ok(),
            ];
            for matcher in matchers.into_iter().flatten() {
                matcher.matches(&subject_with_text(&text));
                matcher.explain(&subject_with_text(&text));
            }
        }
    }
}
