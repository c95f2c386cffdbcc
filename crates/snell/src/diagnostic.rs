//! Problems in configurations and payloads: the problem, its position, and a hint.

use std::fmt;

use serde::Serialize;

/// How bad a [`Diagnostic`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Something works differently from what its author may have meant.
    Warning,
    /// Something does not work as written.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

/// One finding about a configuration file or a payload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// The file: relative to the project where it is inside it, with `~/` where it is under the home directory.
    pub path: String,
    /// The line, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
    /// The problem, in one sentence.
    pub message: String,
    /// The remedy, in one sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// A message to people: what happened, and a hint what to do about it. Each is one sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserMessage {
    /// The problem.
    pub text: String,
    /// The remedy.
    pub hint: Option<String>,
}

impl UserMessage {
    /// A message without a hint.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), hint: None }
    }

    /// The same message with a hint.
    #[must_use]
    pub fn with_hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// The same message with the known word nearest to `word` as its hint, if one is near.
    #[must_use]
    pub(crate) fn with_suggestion<'a>(self, word: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        match did_you_mean(word, known) {
            Some(near) => self.with_hint(format!("did you mean \"{near}\"?")),
            None => self,
        }
    }

    /// The same hint with another text.
    pub(crate) fn map_text(self, map: impl FnOnce(String) -> String) -> Self {
        Self { text: map(self.text), ..self }
    }
}

impl From<String> for UserMessage {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl From<&str> for UserMessage {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<&String> for UserMessage {
    fn from(text: &String) -> Self {
        Self::new(text.as_str())
    }
}

/// On one line, for answers to agents and for records.
impl fmt::Display for UserMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        self.hint.as_ref().map_or(Ok(()), |hint| write!(f, " (hint: {hint})"))
    }
}

impl Diagnostic {
    /// A warning about the event itself, rather than a file.
    pub(crate) fn for_event(message: impl Into<UserMessage>) -> Self {
        Self::for_file(Severity::Warning, "<event>", message)
    }

    pub(crate) fn for_file(severity: Severity, path: &str, message: impl Into<UserMessage>) -> Self {
        let UserMessage { text, hint } = message.into();
        Self { severity, path: path.to_owned(), line: 1, column: 1, message: text, hint }
    }

    /// The problem and the hint, without severity and position.
    pub fn user_message(&self) -> UserMessage {
        UserMessage { text: self.message.clone(), hint: self.hint.clone() }
    }
}

/// On one line: `path:line:column: severity: message (hint: …)`.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { severity, path, line, column, .. } = self;
        write!(f, "{path}:{line}:{column}: {severity}: {}", self.user_message())
    }
}

/// The known word nearest to `word`, if one is near enough to have been meant.
pub fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lowered = word.to_lowercase();
    known
        .into_iter()
        .map(|candidate| {
            let score = strsim::normalized_damerau_levenshtein(&lowered, &candidate.to_lowercase());
            (score, candidate)
        })
        .filter(|(score, _)| *score >= 0.6)
        // Of equally near words the first one: tables have canonical names before aliases.
        .reduce(|best, next| if next.0 > best.0 { next } else { best })
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_word_is_suggested_and_a_far_one_is_not() {
        let known = ["PreToolUse", "PostToolUse", "Stop", "stop", "tool"];
        let cases = [
            ("PreToolUSe", Some("PreToolUse")),
            ("pretooluse", Some("PreToolUse")),
            ("PosToolUse", Some("PostToolUse")),
            ("Stopp", Some("Stop")),
            ("tool", Some("tool")),
            ("Banana", None),
        ];
        for (word, expected) in cases {
            assert_eq!(did_you_mean(word, known), expected, "{word}");
        }
    }
}
