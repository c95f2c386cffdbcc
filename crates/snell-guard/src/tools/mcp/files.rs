//! Files of this machine: what servers do to them by their tools' verbs, and what is sent away.

use super::desk::Desk;
use super::request::{Request, ends_with, is_key};
use super::tables::{servers, verbs};
use crate::effects::Kind;
use crate::tools::quoted;

/// How the keys end at which paths stand.
const PATHS: &[&str] = &[
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
const BASES: &[&str] = &[
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
const SOURCE: &[&str] = &["source", "from", "src", "oldpath", "sourcepath", "sources", "oldname"];
const TARGET: &[&str] = &[
    "destination",
    "to",
    "dest",
    "target",
    "newpath",
    "destinationpath",
    "targetpath",
    "outputpath",
    "output",
];
/// Verbs, gravest first, and what they do.
const VERBS: &[(&[&str], Kind)] = &[
    (&["delete", "remove", "unlink", "rm", "trash", "erase"], Kind::Delete),
    (
        &[
            "write", "edit", "create", "save", "update", "replace", "append", "insert", "put", "modify", "patch",
            "set", "format",
        ],
        Kind::Overwrite,
    ),
    (
        &[
            "read", "get", "view", "cat", "open", "load", "show", "head", "tail", "convert", "parse", "extract",
            "print", "tool",
        ],
        Kind::Read,
    ),
];
/// Verbs that send a file away.
const SENDS: &[&str] = &["upload", "attach", "send", "share", "publish", "import"];

pub(super) fn look(request: &Request<'_>, desk: &mut Desk<'_>) -> bool {
    if request.serves(servers::REMOTE) {
        return elsewhere(request, desk);
    }
    sent(request, desk);
    hand_own(request, desk);
    let at_home = request.serves(servers::FILES);
    if (request.serves(servers::FARAWAY) || request.serves(&["git"])) && !at_home {
        return false;
    }
    let paths = |keys: &[&str]| -> Vec<&str> {
        let at = request
            .leaves
            .iter()
            .filter(|leaf| ends_with(leaf.key, keys) && !is_key(leaf.key, BASES));
        at.map(|leaf| leaf.text)
            .filter(|path| at_home || is_local(path, desk.world))
            .collect()
    };
    let (source, target) = (
        exactly(request, SOURCE, at_home, desk),
        exactly(request, TARGET, at_home, desk),
    );
    if request.does(&["move", "rename"]) {
        desk.files(Kind::Take, source);
        desk.files(Kind::Overwrite, target);
    } else if request.does(&["copy", "duplicate"]) {
        desk.files(Kind::Read, source);
        desk.files(Kind::Overwrite, target);
    } else if request.does(&["create", "make", "mkdir"]) && request.does(&["directory", "folder", "dir", "mkdir"]) {
        let paths = paths(PATHS);
        desk.files(Kind::Put, paths);
    } else if let Some((_, kind)) = VERBS.iter().find(|(verbs, _)| request.does(verbs)) {
        let paths = paths(PATHS);
        desk.files(*kind, paths);
    }
    false
}

/// A path of Snell's own under any key, if the tool is not one that reads.
fn hand_own(request: &Request<'_>, desk: &mut Desk<'_>) {
    let reads = VERBS
        .iter()
        .any(|(verbs, kind)| *kind == Kind::Read && request.does(verbs));
    let is_read = (reads || request.says(verbs::READS)) && !request.does(&["download", "save", "export"]);
    if is_read || request.does(SENDS) {
        return;
    }
    let paths = request.leaves.iter().map(|leaf| leaf.text);
    let paths = paths.filter(|text| text.starts_with(['/', '~']) && !text.contains(char::is_whitespace));
    let paths: Vec<&str> = paths.collect();
    desk.files(Kind::MayEdit, paths);
}

fn exactly<'a>(request: &Request<'a>, keys: &[&str], at_home: bool, desk: &Desk<'_>) -> Vec<&'a str> {
    let at = request.leaves.iter().filter(|leaf| is_key(leaf.key, keys));
    at.map(|leaf| leaf.text)
        .filter(|path| at_home || is_local(path, desk.world))
        .collect()
}

/// Files that leave the machine.
fn sent(request: &Request<'_>, desk: &mut Desk<'_>) {
    let sends = request.does(SENDS);
    let goes = |key: &str| {
        ends_with(key, &["attachment", "attachments", "localpath", "localfile"])
            || (sends && (ends_with(key, PATHS) || is_key(key, SOURCE)))
    };
    let at = request.leaves.iter().filter(|leaf| goes(leaf.key));
    let paths: Vec<&str> = at
        .map(|leaf| leaf.text)
        .filter(|path| is_path(path, desk.world))
        .collect();
    desk.files(Kind::Send, paths);
}

/// A path that surely is one of this machine's, wherever a server keeps its own.
fn is_local(path: &str, world: &crate::world::World) -> bool {
    const LOCAL: &[&str] = &[
        "file://", "~/", "/etc/", "/root/", "/proc/", "/dev/", "/Users/", "/home/",
    ];
    LOCAL.iter().any(|start| path.starts_with(start)) || (!world.home.is_empty() && path.starts_with(&world.home))
}

/// What may be a path of this machine: not a text, not an address.
fn is_path(path: &str, world: &crate::world::World) -> bool {
    const MAX_PATH: usize = 4096;
    is_local(path, world)
        || (path.len() < MAX_PATH && !path.contains("://") && !path.contains('\n') && !path.contains(' '))
}

/// Files of another machine: what a shell there would be told.
fn elsewhere(request: &Request<'_>, desk: &mut Desk<'_>) -> bool {
    let Some((_, kind)) = VERBS.iter().find(|(verbs, _)| request.does(verbs)) else {
        sent(request, desk);
        return false;
    };
    let program = match kind {
        Kind::Delete => "rm -rf",
        Kind::Overwrite => "tee",
        _ => "cat",
    };
    let at = request
        .leaves
        .iter()
        .filter(|leaf| ends_with(leaf.key, &["path", "paths", "file", "filename"]));
    let paths: Vec<String> = at.map(|leaf| quoted(leaf.text)).collect();
    if !paths.is_empty() {
        desk.elsewhere(&format!("{program} {}", paths.join(" ")));
    }
    false
}
