//! One fact of a session as a line of JSON. JSON escapes line breaks, so a fact is always one line. A line that cannot be read, for
//! example because its process was killed, is skipped.

use std::rc::Rc;

use serde::{Deserialize, Serialize};
use snell_guard::{DeniedEffect, FetchedPath, MadePath, SessionFacts, SessionTaint};

/// How many facts of one kind are kept when a file is shortened.
const MAX_KEPT: usize = 128;

/// Facts on longer paths are not kept.
const MAX_PATH_BYTES: usize = 1024;

/// One fact of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum FactLine {
    /// When the session started, in nanoseconds since 1970.
    Started(i64),
    /// A path that the session made, and its stamp.
    Made(String, u64),
    /// A path that it fetched, and whether that is a directory.
    Fetched(String, bool),
    /// A fetched path that the agent wrote anew.
    Rewritten(String),
    /// Hashes of lines of untrusted text.
    Lines(Vec<u32>),
    /// Where untrusted text came from.
    Taint(String),
    /// The user's prompt, which ends a taint.
    Prompt(()),
    /// A denied effect: rule, action, path, program, and the key of the call.
    Denied(String, String, String, String, String),
}

impl FactLine {
    pub(super) fn from_made(path: &str, stamp: u64) -> Self {
        Self::Made(path.to_owned(), stamp)
    }

    pub(super) fn from_fetched(fetched: &FetchedPath) -> Self {
        Self::Fetched(fetched.path.clone(), fetched.is_directory)
    }

    pub(super) fn from_denied(denied: &DeniedEffect, call_key: &str) -> Self {
        let DeniedEffect { rule, action, path, program } = denied.clone();
        Self::Denied(rule, action, path, program, call_key.to_owned())
    }

    /// Whether the line can be kept: it must not be too long.
    fn is_short(&self) -> bool {
        match self {
            Self::Made(path, _) | Self::Fetched(path, _) | Self::Rewritten(path) | Self::Denied(_, _, path, ..) => {
                path.len() <= MAX_PATH_BYTES
            }
            Self::Started(_) | Self::Lines(_) | Self::Taint(_) | Self::Prompt(()) => true,
        }
    }

    /// Whether forgetting it makes the guard only stricter.
    pub(super) fn only_relaxes(&self) -> bool {
        matches!(self, Self::Made(..))
    }
}

/// The text of facts. It starts with a line break, because the last line before it may be incomplete.
pub(super) fn format_lines(lines: &[FactLine]) -> String {
    let mut text = String::new();
    for line in lines.iter().filter(|line| line.is_short()) {
        text.push('\n');
        text.push_str(&serde_json::to_string(line).unwrap_or_default());
    }
    text.push('\n');
    text
}

pub(super) fn parse_lines(bytes: &[u8]) -> Vec<FactLine> {
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.filter_map(|line| serde_json::from_slice(line).ok()).collect()
}

/// The facts as the guard takes them, for the call with this key: several hooks may judge one call.
pub(super) fn to_facts(lines: &[FactLine], call_key: &str) -> Rc<SessionFacts> {
    let mut facts = SessionFacts::default();
    for line in lines {
        match line.clone() {
            FactLine::Started(started) => facts.started_ns = facts.started_ns.or(Some(started)),
            FactLine::Made(path, stamp) => facts.made.push(MadePath { path, stamp }),
            FactLine::Fetched(path, is_directory) => facts.fetched.push(FetchedPath { path, is_directory }),
            FactLine::Rewritten(path) => facts.fetched.retain(|fetched| fetched.path != path),
            FactLine::Taint(source) => facts.taint = Some(SessionTaint { source }),
            FactLine::Prompt(()) => facts.taint = None,
            FactLine::Denied(.., key) if key == call_key => {}
            FactLine::Denied(rule, action, path, program, _) => {
                facts.denied.push(DeniedEffect { rule, action, path, program });
            }
            FactLine::Lines(_) => {}
        }
    }
    Rc::new(facts)
}

/// The facts that still matter, each once and at most so many of a kind: the newest.
pub(super) fn shorten_lines(lines: &[FactLine]) -> Vec<FactLine> {
    let facts = to_facts(lines, "");
    let mut newest_first: Vec<FactLine> = Vec::new();
    let made = facts.made.iter().rev().map(|made| FactLine::from_made(&made.path, made.stamp));
    let fetched = facts.fetched.iter().rev().map(FactLine::from_fetched);
    let denied = facts.denied.iter().rev().map(|denied| FactLine::from_denied(denied, "-"));
    let texts = lines.iter().rev().filter(|line| matches!(line, FactLine::Lines(_))).cloned();
    extend_with_distinct(&mut newest_first, made);
    extend_with_distinct(&mut newest_first, fetched);
    extend_with_distinct(&mut newest_first, denied);
    newest_first.extend(texts.take(8));
    let taint = facts.taint.iter().map(|taint| FactLine::Taint(taint.source.clone()));
    let started = facts.started_ns.map(FactLine::Started).into_iter();
    started.chain(newest_first.into_iter().rev()).chain(taint).collect()
}

/// Adds the first facts, each once; of several with the same path the first one.
fn extend_with_distinct(list: &mut Vec<FactLine>, lines: impl Iterator<Item = FactLine>) {
    let before = list.len();
    for line in lines {
        let is_known = list.get(before..).unwrap_or_default().iter().any(|known| match (known, &line) {
            (FactLine::Made(one, _), FactLine::Made(other, _)) => one == other,
            (one, other) => one == other,
        });
        if !is_known {
            list.push(line);
        }
        if list.len() - before >= MAX_KEPT {
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fact_is_one_line_whatever_it_holds() {
        let lines = [
            FactLine::Started(7),
            FactLine::Fetched("/a\n{\"made\":[\"/home\",1]}\n\u{0}\u{2028}\"".into(), false),
            FactLine::Taint("`gh issue view`\r\n".into()),
            FactLine::Denied("r".into(), "deletion".into(), "/x\ty".into(), "rm".into(), "t1".into()),
            FactLine::Prompt(()),
        ];
        let text = format_lines(&lines);
        assert_eq!(text.lines().filter(|line| !line.is_empty()).count(), lines.len(), "{text}");
        assert_eq!(parse_lines(text.as_bytes()), lines);
    }

    #[test]
    fn incomplete_and_foreign_lines_are_skipped() {
        let torn =
            b"\n{\"started\":7}\n{\"made\":[\"/a\"\n\n{\"taint\":\"x\"}\n\xff\xfe\n{\"new\":1}\n{\"prompt\":null";
        assert_eq!(parse_lines(torn), [FactLine::Started(7), FactLine::Taint("x".into())]);
    }

    #[test]
    fn a_prompt_ends_a_taint_and_nothing_else() {
        let taint = |text: &str| FactLine::Taint(text.into());
        let cases = [
            (vec![taint("a")], Some("a")),
            (vec![taint("a"), FactLine::Prompt(())], None),
            (vec![taint("a"), FactLine::Prompt(()), taint("b")], Some("b")),
            (vec![FactLine::Prompt(()), taint("b"), FactLine::Started(1)], Some("b")),
        ];
        for (lines, expected) in cases {
            for lines in [shorten_lines(&lines), lines] {
                assert_eq!(
                    to_facts(&lines, "").taint.as_ref().map(|taint| taint.source.as_str()),
                    expected,
                    "{lines:?}"
                );
            }
        }
    }

    #[test]
    fn a_long_list_is_shortened_to_the_newest_of_each_kind() {
        let mut lines = vec![FactLine::Started(1), FactLine::Started(2)];
        for number in 0..1000 {
            lines.push(FactLine::Made(format!("/m{}", number % 300), number));
            lines.push(FactLine::Fetched(format!("/f{number}"), false));
            lines.push(FactLine::Denied("r".into(), "deletion".into(), format!("/d{number}"), "rm".into(), "t".into()));
            lines.push(FactLine::Lines(vec![7; 100]));
        }
        lines.push(FactLine::Taint("x".into()));
        let facts = to_facts(&shorten_lines(&lines), "");
        assert_eq!(facts.started_ns, Some(1));
        assert_eq!([facts.made.len(), facts.fetched.len(), facts.denied.len()], [MAX_KEPT; 3]);
        assert_eq!(facts.made.last().map(|made| made.stamp), Some(999));
        assert_eq!(facts.fetched.last().map(|fetched| fetched.path.as_str()), Some("/f999"));
        assert!(facts.taint.is_some());
        assert!(format_lines(&shorten_lines(&lines)).len() < 64 * 1024);
    }

    #[test]
    fn a_path_that_is_too_long_is_not_kept() {
        let long = FactLine::Fetched("x".repeat(1_000_000), false);
        assert_eq!(format_lines(&[long]), "\n");
    }
}
