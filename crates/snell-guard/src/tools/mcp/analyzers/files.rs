//! Files of this machine: what servers do to them by their tools' verbs, and what is sent away.

use crate::effects::PathAction;
use crate::tools::mcp::findings::FindingSink;
use crate::tools::mcp::request::{McpRequest, has_key_suffix, is_key_named};
use crate::tools::mcp::tables::{servers, verbs};
use crate::tools::quote_shell_word;

/// How the keys end at which paths stand.
const PATH_KEY_SUFFIXES: &[&str] = &[
    "path",
    "paths",
    "file",
    "files",
    "filename",
    "filepaths",
    "uri",
    "attachments",
    "attachment",
    "directory",
    "folder",
    "document",
    "pathinproject",
];
/// Where it is said in which directory a tool works, which says nothing about what it does there.
const BASE_DIR_KEYS: &[&str] = &[
    "repopath",
    "projectpath",
    "workspacepath",
    "rootpath",
    "basepath",
    "repositorypath",
    "vaultpath",
    "workingdirectory",
    "workdirectory",
    "basedirectory",
    "projectdirectory",
];
/// Where something comes from, and where it goes.
const SOURCE_KEYS: &[&str] = &["source", "from", "src", "oldpath", "sourcepath", "sources", "oldname"];
const TARGET_KEYS: &[&str] =
    &["destination", "to", "dest", "target", "newpath", "destinationpath", "targetpath", "outputpath", "output"];
/// Verbs, gravest first, and what they do.
const FILE_VERBS: &[(&[&str], PathAction)] = &[
    (&["delete", "remove", "unlink", "rm", "trash", "erase"], PathAction::Delete),
    (
        &[
            "write", "edit", "create", "save", "update", "replace", "append", "insert", "put", "modify", "patch",
            "set", "format",
        ],
        PathAction::Overwrite,
    ),
    (
        &[
            "read", "get", "view", "cat", "open", "load", "show", "head", "tail", "convert", "parse", "extract",
            "print", "tool",
        ],
        PathAction::Read,
    ),
];
/// Verbs that send a file away.
const SEND_VERBS: &[&str] = &["upload", "attach", "send", "share", "publish", "import"];

pub(in crate::tools::mcp) fn analyze_files(request: &McpRequest<'_>, desk: &mut FindingSink<'_>) -> bool {
    if request.has_server_word(servers::REMOTE) {
        return analyze_remote_files(request, desk);
    }
    add_sent_files(request, desk);
    add_possible_edits(request, desk);
    let at_home = request.has_server_word(servers::FILES);
    if (request.has_server_word(servers::FARAWAY) || request.has_server_word(&["git"])) && !at_home {
        return false;
    }
    let paths = |keys: &[&str]| -> Vec<&str> {
        let at = request
            .leaves
            .iter()
            .filter(|leaf| has_key_suffix(leaf.key, keys) && !is_key_named(leaf.key, BASE_DIR_KEYS));
        at.map(|leaf| leaf.text).filter(|path| at_home || is_local_path(path, desk.world)).collect()
    };
    let (source, target) = (
        collect_exact_paths(request, SOURCE_KEYS, at_home, desk),
        collect_exact_paths(request, TARGET_KEYS, at_home, desk),
    );
    if request.has_action_word(&["move", "rename"]) {
        desk.add_file_effects(PathAction::Take, source);
        desk.add_file_effects(PathAction::Overwrite, target);
    } else if request.has_action_word(&["copy", "duplicate"]) {
        desk.add_file_effects(PathAction::Read, source);
        desk.add_file_effects(PathAction::Overwrite, target);
    } else if request.has_action_word(&["create", "make", "mkdir"])
        && request.has_action_word(&["directory", "folder", "dir", "mkdir"])
    {
        let paths = paths(PATH_KEY_SUFFIXES);
        desk.add_file_effects(PathAction::Put, paths);
    } else if let Some((_, kind)) = FILE_VERBS.iter().find(|(verbs, _)| request.has_action_word(verbs)) {
        let paths = paths(PATH_KEY_SUFFIXES);
        desk.add_file_effects(*kind, paths);
    }
    false
}

/// A path of Snell's own under any key, if the tool is not one that reads.
fn add_possible_edits(request: &McpRequest<'_>, desk: &mut FindingSink<'_>) {
    let reads = FILE_VERBS.iter().any(|(verbs, kind)| *kind == PathAction::Read && request.has_action_word(verbs));
    let is_read =
        (reads || request.has_tool_word(verbs::READS)) && !request.has_action_word(&["download", "save", "export"]);
    if is_read || request.has_action_word(SEND_VERBS) {
        return;
    }
    let paths = request.leaves.iter().map(|leaf| leaf.text);
    let paths = paths.filter(|text| text.starts_with(['/', '~']) && !text.contains(char::is_whitespace));
    let paths: Vec<&str> = paths.collect();
    desk.add_file_effects(PathAction::MayEdit, paths);
}

fn collect_exact_paths<'a>(
    request: &McpRequest<'a>,
    keys: &[&str],
    at_home: bool,
    desk: &FindingSink<'_>,
) -> Vec<&'a str> {
    let at = request.leaves.iter().filter(|leaf| is_key_named(leaf.key, keys));
    at.map(|leaf| leaf.text).filter(|path| at_home || is_local_path(path, desk.world)).collect()
}

/// Files that leave the machine.
fn add_sent_files(request: &McpRequest<'_>, desk: &mut FindingSink<'_>) {
    let sends = request.has_action_word(SEND_VERBS);
    let goes = |key: &str| {
        has_key_suffix(key, &["attachment", "attachments", "localpath", "localfile"])
            || (sends && (has_key_suffix(key, PATH_KEY_SUFFIXES) || is_key_named(key, SOURCE_KEYS)))
    };
    let at = request.leaves.iter().filter(|leaf| goes(leaf.key));
    let paths: Vec<&str> = at.map(|leaf| leaf.text).filter(|path| is_possible_path(path, desk.world)).collect();
    desk.add_file_effects(PathAction::Send, paths);
}

/// A path that surely is one of this machine's, wherever a server keeps its own.
fn is_local_path(path: &str, world: &crate::judge::context::JudgeContext) -> bool {
    const LOCAL_PREFIXES: &[&str] = &["file://", "~/", "/etc/", "/root/", "/proc/", "/dev/", "/Users/", "/home/"];
    LOCAL_PREFIXES.iter().any(|start| path.starts_with(start))
        || (!world.home.is_empty() && path.starts_with(&world.home))
}

/// What may be a path of this machine: not a text, not an address.
fn is_possible_path(path: &str, world: &crate::judge::context::JudgeContext) -> bool {
    const MAX_PATH: usize = 4096;
    is_local_path(path, world)
        || (path.len() < MAX_PATH && !path.contains("://") && !path.contains('\n') && !path.contains(' '))
}

/// Files of another machine: what a shell there would be told.
fn analyze_remote_files(request: &McpRequest<'_>, desk: &mut FindingSink<'_>) -> bool {
    let Some((_, kind)) = FILE_VERBS.iter().find(|(verbs, _)| request.has_action_word(verbs)) else {
        add_sent_files(request, desk);
        return false;
    };
    let program = match kind {
        PathAction::Delete => "rm -rf",
        PathAction::Overwrite => "tee",
        _ => "cat",
    };
    let at = request.leaves.iter().filter(|leaf| has_key_suffix(leaf.key, &["path", "paths", "file", "filename"]));
    let paths: Vec<String> = at.map(|leaf| quote_shell_word(leaf.text)).collect();
    if !paths.is_empty() {
        desk.analyze_remote_command(&format!("{program} {}", paths.join(" ")));
    }
    false
}
