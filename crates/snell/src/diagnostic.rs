//! What is wrong with a configuration or a payload, where, and what to write instead.

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
    /// What is wrong and what to write instead, as a sentence.
    pub message: String,
}

impl Diagnostic {
    /// A warning about the event itself, rather than a file.
    pub(crate) fn for_event(message: impl Into<String>) -> Self {
        Self::for_file(Severity::Warning, "<event>", message)
    }

    pub(crate) fn for_file(severity: Severity, path: &str, message: impl Into<String>) -> Self {
        Self { severity, path: path.to_owned(), line: 1, column: 1, message: message.into() }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { severity, path, line, column, message } = self;
        write!(f, "{path}:{line}:{column}: {severity}: {message}")
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
        // Of equals the first one: tables name what is canonical before its aliases.
        .reduce(|best, next| if next.0 > best.0 { next } else { best })
        .map(|(_, candidate)| candidate)
}

/// ` (did you mean "…"?)`, or nothing.
pub(crate) fn format_suggestion<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    did_you_mean(word, known).map_or_else(String::new, |near| format!(" (did you mean \"{near}\"?)"))
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
