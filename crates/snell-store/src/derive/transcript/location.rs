//! The file of a session's transcript.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use snell::{TranscriptFormat, TranscriptLocation};

/// How many files of a directory are listed.
const MAX_LISTED_FILES: usize = 10_000;

/// The transcript of a session, by the path that its events name; nothing if Snell does not read such a file.
///
/// Lines in a product's own format do not name their session, so the path must.
pub(crate) fn locate_transcript(format: TranscriptFormat, named: &str, session_id: &str) -> Option<String> {
    let TranscriptFormat::JsonLines(lines) = format else {
        return (format == TranscriptFormat::ClaudeJsonl).then(|| named.to_owned());
    };
    let path = Path::new(named);
    let is_named_after = |stem: &OsStr| stem.to_str().is_some_and(|stem| stem.ends_with(session_id));
    if session_id.is_empty()
        || !(path.iter().any(|part| part == session_id) || path.file_stem().is_some_and(is_named_after))
    {
        return None;
    }
    match lines.location {
        TranscriptLocation::NamedFile | TranscriptLocation::BelowSession(_) => Some(named.to_owned()),
        TranscriptLocation::LastFileBelow(directory) => {
            find_last_file(&path.join(directory))?.to_str().map(str::to_owned)
        }
    }
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
    use snell::AgentProduct;

    use super::*;

    fn locate(product: &str, named: &str, session_id: &str) -> Option<String> {
        locate_transcript(AgentProduct::find_by_name(product).unwrap().transcript, named, session_id)
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
