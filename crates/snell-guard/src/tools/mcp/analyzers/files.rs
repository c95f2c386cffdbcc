//! Files of this machine: effects by the verbs of tools, and files that are sent.

use crate::effects::PathAction;
use crate::tools::join_shell_words;
use crate::tools::mcp::findings::FindingSink;
use crate::tools::mcp::request::{McpRequest, has_key_suffix, is_key_named};
use crate::tools::mcp::tables::{keys, servers, verbs};

/// Verbs and their actions, gravest first.
const FILE_VERBS: &[(&[&str], PathAction)] = &[
    (verbs::DELETES_FILES, PathAction::Delete),
    (verbs::CHANGES_FILES, PathAction::Overwrite),
    (verbs::READS_FILES, PathAction::Read),
];

pub(in crate::tools::mcp) fn analyze_files(request: &McpRequest<'_>, sink: &mut FindingSink<'_>) -> bool {
    if request.has_server_word(servers::REMOTE) {
        return analyze_remote_files(request, sink);
    }
    add_sent_files(request, sink);
    add_possible_edits(request, sink);
    let at_home = request.has_server_word(servers::FILES);
    if (request.has_server_word(servers::FARAWAY) || request.has_server_word(&["git"])) && !at_home {
        return false;
    }
    let world = sink.world;
    let paths = |is_path: &dyn Fn(&str) -> bool| -> Vec<&str> {
        let at = request.leaves.iter().filter(|leaf| is_path(leaf.key)).map(|leaf| leaf.text);
        at.filter(|path| at_home || is_local_path(path, world)).collect()
    };
    let source = paths(&|key| is_key_named(key, keys::SOURCES));
    let target = paths(&|key| is_key_named(key, keys::TARGETS));
    let others = || paths(&|key| has_key_suffix(key, keys::PATH_SUFFIXES) && !is_key_named(key, keys::BASE_DIRS));
    if request.has_action_word(&["move", "rename"]) {
        sink.add_file_effects(PathAction::Take, source);
        sink.add_file_effects(PathAction::Overwrite, target);
    } else if request.has_action_word(&["copy", "duplicate"]) {
        sink.add_file_effects(PathAction::Read, source);
        sink.add_file_effects(PathAction::Overwrite, target);
    } else if request.has_action_word(&["create", "make", "mkdir"])
        && request.has_action_word(&["directory", "folder", "dir", "mkdir"])
    {
        sink.add_file_effects(PathAction::Put, others());
    } else if let Some((_, kind)) = FILE_VERBS.iter().find(|(verbs, _)| request.has_action_word(verbs)) {
        sink.add_file_effects(*kind, others());
    }
    false
}

/// Adds possible edits of Snell's own paths under any key, unless the tool only reads.
fn add_possible_edits(request: &McpRequest<'_>, sink: &mut FindingSink<'_>) {
    let is_read = (request.has_action_word(verbs::READS_FILES) || request.has_tool_word(verbs::READS))
        && !request.has_action_word(&["download", "save", "export"]);
    if is_read || request.has_action_word(verbs::SENDS_FILES) {
        return;
    }
    let paths = request.leaves.iter().map(|leaf| leaf.text);
    let paths = paths.filter(|text| text.starts_with(['/', '~']) && !text.contains(char::is_whitespace));
    let paths: Vec<&str> = paths.collect();
    sink.add_file_effects(PathAction::MayEdit, paths);
}

/// Adds the files that leave the machine.
fn add_sent_files(request: &McpRequest<'_>, sink: &mut FindingSink<'_>) {
    let sends = request.has_action_word(verbs::SENDS_FILES);
    let goes = |key: &str| {
        has_key_suffix(key, &["attachment", "attachments", "localpath", "localfile"])
            || (sends && (has_key_suffix(key, keys::PATH_SUFFIXES) || is_key_named(key, keys::SOURCES)))
    };
    let at = request.leaves.iter().filter(|leaf| goes(leaf.key));
    let paths: Vec<&str> = at.map(|leaf| leaf.text).filter(|path| is_possible_path(path, sink.world)).collect();
    sink.add_file_effects(PathAction::Send, paths);
}

/// Whether a path is certainly on this machine.
fn is_local_path(path: &str, world: &crate::judge::context::JudgeContext) -> bool {
    const LOCAL_PREFIXES: &[&str] = &["file://", "~/", "/etc/", "/root/", "/proc/", "/dev/", "/Users/", "/home/"];
    LOCAL_PREFIXES.iter().any(|start| path.starts_with(start))
        || (!world.home.is_empty() && path.starts_with(&world.home))
}

/// Whether a text may be a path on this machine, not prose or a URL.
fn is_possible_path(path: &str, world: &crate::judge::context::JudgeContext) -> bool {
    const MAX_PATH: usize = 4096;
    is_local_path(path, world)
        || (path.len() < MAX_PATH && !path.contains("://") && !path.contains('\n') && !path.contains(' '))
}

/// Judges files of another machine by the equivalent commands there.
fn analyze_remote_files(request: &McpRequest<'_>, sink: &mut FindingSink<'_>) -> bool {
    let Some((_, kind)) = FILE_VERBS.iter().find(|(verbs, _)| request.has_action_word(verbs)) else {
        add_sent_files(request, sink);
        return false;
    };
    let program = match kind {
        PathAction::Delete => "rm -rf",
        PathAction::Overwrite => "tee",
        _ => "cat",
    };
    let paths = join_shell_words(request.texts_at_suffix(&["path", "paths", "file", "filename"]));
    if !paths.is_empty() {
        sink.analyze_remote_command(&format!("{program} {paths}"));
    }
    false
}
