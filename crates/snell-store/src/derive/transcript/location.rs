//! The file of a session's transcript, and the session of a transcript's file.

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use serde_json::Value;
use snell::{AgentProduct, FileAccess, RegularFile, SessionIdPlace, TranscriptFormat, TranscriptLocation};

/// How many files of a directory are listed.
const MAX_LISTED_FILES: usize = 10_000;

/// A longer first line does not name a session.
const MAX_FIRST_LINE_BYTES: u64 = 64 * 1024;

/// The transcript of a session, by the path that its events name; nothing if Snell does not read such a file.
///
/// Lines in a product's own format do not name their session, so the path must, or the first line.
pub(crate) fn locate_transcript(product: &AgentProduct, named: &str, session_id: &str) -> Option<String> {
    let TranscriptFormat::JsonLines(lines) = product.transcript else {
        return (product.transcript == TranscriptFormat::ClaudeJsonl).then(|| named.to_owned());
    };
    let path = Path::new(named);
    let is_named_after = |stem: &OsStr| stem.to_str().is_some_and(|stem| stem.ends_with(session_id));
    let is_in_path = || path.iter().any(|part| part == session_id) || path.file_stem().is_some_and(is_named_after);
    let is_own = match product.transcript_files.map(|files| files.session) {
        Some(place @ SessionIdPlace::FirstLine(_)) => find_session_id(place, path).as_deref() == Some(session_id),
        _ => is_in_path(),
    };
    if session_id.is_empty() || !is_own {
        return None;
    }
    match lines.location {
        TranscriptLocation::LastFileBelow(directory) if !path.is_file() => {
            find_last_file(&path.join(directory))?.to_str().map(str::to_owned)
        }
        TranscriptLocation::NamedFile | TranscriptLocation::BelowSession(_) | TranscriptLocation::LastFileBelow(_) => {
            Some(named.to_owned())
        }
    }
}

/// The session of a transcript, without reading more than its first line.
pub(crate) fn find_session_id(place: SessionIdPlace, path: &Path) -> Option<String> {
    let stem = path.file_stem()?.to_str()?;
    let id = match place {
        SessionIdPlace::FileStem => stem.to_owned(),
        SessionIdPlace::FileStemEnd(length) => stem.get(stem.len().checked_sub(length)?..)?.to_owned(),
        SessionIdPlace::Ancestor(levels) => path.ancestors().nth(levels)?.file_name()?.to_str()?.to_owned(),
        SessionIdPlace::FirstLine(place) => read_first_line(path)?.pointer(place)?.as_str()?.to_owned(),
    };
    (!id.is_empty()).then_some(id)
}

fn read_first_line(path: &Path) -> Option<Value> {
    let file = RegularFile::open(path, FileAccess::Read).ok()?.into_file();
    let mut line = Vec::new();
    BufReader::new(file.take(MAX_FIRST_LINE_BYTES)).read_until(b'\n', &mut line).ok()?;
    serde_json::from_slice(&line).ok()
}

/// The last file by name that has content. A new one is empty at first.
fn find_last_file(directory: &Path) -> Option<PathBuf> {
    let mut files: Vec<_> = fs::read_dir(directory).ok()?.take(MAX_LISTED_FILES).flatten().collect();
    files.sort_by_key(|file| std::cmp::Reverse(file.file_name()));
    let has_content = |file: &&fs::DirEntry| file.metadata().is_ok_and(|metadata| metadata.len() > 0);
    files.iter().find(has_content).map(fs::DirEntry::path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn locate(product: &str, named: &str, session_id: &str) -> Option<String> {
        locate_transcript(AgentProduct::find_by_name(product).unwrap(), named, session_id)
    }

    #[test]
    fn a_path_that_does_not_name_the_session_is_refused() {
        for (product, path, is_accepted) in [
            ("copilot", "/home/me/.copilot/session-state/s1/events.jsonl", true),
            ("copilot", "/home/me/.copilot/session-state/s2/events.jsonl", false),
            ("copilot", "/home/me/secrets.jsonl", false),
            ("codex", "/home/me/.codex/sessions/rollout-2026-s1.jsonl", true),
            ("codex", "/home/me/.codex/sessions/rollout-2026-s2.jsonl", false),
            // Its lines name their session.
            ("claude", "/home/me/.claude/projects/p/other.jsonl", true),
            ("gemini", "/home/me/.gemini/s1.jsonl", false),
        ] {
            assert_eq!(locate(product, path, "s1").is_some(), is_accepted, "{product}: {path}");
        }
        assert_eq!(locate("copilot", "/home/me/events.jsonl", ""), None);
    }

    #[test]
    fn the_first_line_names_the_session_where_the_path_does_not() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("session-2026-11-12T09-46-5d1c04aa.jsonl");
        fs::write(&path, "{\"sessionId\": \"s1\"}\n{\"sessionId\": \"s2\"}\n").unwrap();
        let named = path.to_str().unwrap();
        assert_eq!(locate("gemini", named, "s1").as_deref(), Some(named));
        assert_eq!(locate("gemini", named, "s2"), None);
    }

    #[test]
    fn the_last_file_with_content_is_the_transcript() {
        let directory = tempfile::tempdir().unwrap();
        let session = directory.path().join("s1");
        assert_eq!(locate("vibe", session.to_str().unwrap(), "s1"), None);
        fs::create_dir_all(session.join("journal")).unwrap();
        for (name, text) in [("01.jsonl", "{}\n"), ("12.jsonl", "{}\n"), ("36.jsonl", "")] {
            fs::write(session.join("journal").join(name), text).unwrap();
        }
        let found = locate("vibe", session.to_str().unwrap(), "s1");
        assert_eq!(found.as_deref(), session.join("journal/12.jsonl").to_str());
    }
}
