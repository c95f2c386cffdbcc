//! The flat format's matchers: `ToolCall`, `ToolCall(exact)`, `ToolCall(prefix:*)`, `ToolCall(glob)`, `ToolCall(domain:host)`, `*`.

use super::glob::{Glob, GlobDialect};
use super::host::address_matches;
use super::tool_aliases;
use crate::diagnostic::UserMessage;
use crate::event::ToolCall;

/// A tool and a pattern for its principal argument.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ToolPattern {
    /// The name of the tool. `None` means every tool.
    tool: Option<String>,
    argument: ArgumentPattern,
}

#[derive(Debug, Clone, PartialEq)]
enum ArgumentPattern {
    Any,
    Exact(String),
    /// The words before `:*`. Any further words may follow them.
    Prefix(String),
    Glob(Glob),
    Domain(String),
}

impl ToolPattern {
    /// Parses a pattern. The error is a predicate, to follow the name of the key.
    pub(crate) fn parse(written: &str) -> Result<Self, UserMessage> {
        let (tool, argument) = split_tool_argument(written)?;
        Ok(Self {
            tool: (tool != "*").then(|| tool.to_owned()),
            argument: argument.map_or(ArgumentPattern::Any, ArgumentPattern::parse),
        })
    }

    pub(crate) fn matches(&self, tool: &ToolCall) -> bool {
        let is_tool = |name: &String| *name == tool.name || tool_aliases(tool).any(|alias| alias == name);
        self.tool.as_ref().is_none_or(is_tool)
            && match &self.argument {
                ArgumentPattern::Any => true,
                argument => tool.principal_argument().is_some_and(|text| argument.matches(&text)),
            }
    }

    /// Whether the pattern checks more than the tool's name.
    pub(crate) fn checks_argument(&self) -> bool {
        self.argument != ArgumentPattern::Any
    }
}

impl ArgumentPattern {
    fn parse(written: &str) -> Self {
        if written == "*" {
            Self::Any
        } else if let Some(host) = written.strip_prefix("domain:") {
            Self::Domain(host.to_owned())
        } else if let Some(prefix) = written.strip_suffix(":*") {
            Self::Prefix(prefix.to_owned())
        } else if written.contains(['*', '?']) {
            Self::Glob(Glob::new(written, GlobDialect::CLASSES))
        } else {
            Self::Exact(written.to_owned())
        }
    }

    fn matches(&self, text: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Exact(expected) => expected == text,
            Self::Prefix(prefix) => starts_with_words(text, prefix),
            Self::Glob(glob) => glob.matches(text),
            Self::Domain(pattern) => address_matches(pattern, text),
        }
    }
}

/// Splits `ToolCall` or `ToolCall(argument)`.
pub(crate) fn split_tool_argument(written: &str) -> Result<(&str, Option<&str>), UserMessage> {
    let written = written.trim();
    let Some((tool, rest)) = written.split_once('(') else {
        return Ok((written, None));
    };
    let tool = tool.trim();
    match rest.strip_suffix(')') {
        _ if tool.is_empty() => Err(UserMessage::new(format!("has no tool name in \"{written}\""))
            .with_hint("write a rule such as \"Bash(…)\"")),
        Some(argument) => Ok((tool, Some(argument))),
        None if rest.contains(')') => {
            let text = format!("has text after the closing parenthesis in \"{written}\"");
            Err(UserMessage::new(text).with_hint("write one rule per entry"))
        }
        None => {
            let text = format!("has no closing parenthesis in \"{written}\"");
            Err(UserMessage::new(text).with_hint(format!("write \"{written})\"")))
        }
    }
}

/// Whether `text` is `prefix`, or goes on after it with another word.
pub(crate) fn starts_with_words(text: &str, prefix: &str) -> bool {
    text.trim_start().strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn each_form_looks_at_the_principal_argument() {
        let cases = [
            ("Bash", "Bash", "anything", true),
            ("bash", "Bash", "anything", false),
            ("*", "Edit", "x", true),
            ("Bash(*)", "Bash", "x", true),
            ("*(git:*)", "Bash", "git x", true),
            ("Bash(git status)", "Bash", "git status", true),
            ("Bash(git status)", "Bash", "git status -s", false),
            ("Bash(git:*)", "Bash", "git", true),
            ("Bash(git:*)", "Bash", "git push", true),
            ("Bash(git:*)", "Bash", "gitk", false),
            ("Bash(git:*)", "Bash", "echo git", false),
            ("Bash(npm run:*)", "Bash", "npm run build", true),
            ("Bash(npm run:*)", "Bash", "npm runs", false),
            ("Bash(rm -rf /*)", "Bash", "rm -rf /etc/x", true),
            ("Read(*.[ch])", "Read", "/src/a.c", true),
            ("Read(src/[id].tsx)", "Read", "src/[id].tsx", true),
            ("WebFetch(domain:x.com)", "WebFetch", "https://x.com/a", true),
            ("WebFetch(domain:*.x.com)", "WebFetch", "https://a.x.com", true),
            ("WebFetch(domain:*.x.com)", "WebFetch", "https://evilx.com", false),
            ("Bash((a|b):*)", "Bash", "(a|b) c", true),
        ];
        for (pattern, tool, argument, expected) in cases {
            let field = if tool == "Bash" {
                "command"
            } else if tool == "WebFetch" {
                "url"
            } else {
                "file_path"
            };
            let call = ToolCall { name: tool.into(), input: Some(json!({ field: argument })), ..ToolCall::default() };
            assert_eq!(ToolPattern::parse(pattern).unwrap().matches(&call), expected, "{pattern} on {argument}");
        }
    }

    #[test]
    fn a_pattern_that_looks_at_an_argument_needs_one() {
        let call = ToolCall { name: "Bash".into(), ..ToolCall::default() };
        assert!(!ToolPattern::parse("Bash(git:*)").unwrap().matches(&call));
        assert!(ToolPattern::parse("Bash").unwrap().matches(&call));
    }

    #[test]
    fn an_unfinished_pattern_says_what_to_write() {
        let error = ToolPattern::parse("Bash(git:*").unwrap_err();
        assert_eq!(error.to_string(), "has no closing parenthesis in \"Bash(git:*\" (hint: write \"Bash(git:*)\")");
        assert!(ToolPattern::parse("Bash(git:*)|Edit").unwrap_err().text.contains("after the closing parenthesis"));
    }

    proptest! {
        #[test]
        fn no_pattern_panics(pattern in r"\PC{0,20}", text in r"\PC{0,20}") {
            if let Ok(pattern) = ToolPattern::parse(&pattern) {
                pattern.matches(&ToolCall { name: "Bash".into(), input: Some(json!({"command": text})), ..ToolCall::default() });
            }
        }
    }
}
