//! Servers that work with git: a call says in words what a command line says in flags.

use super::desk::Desk;
use super::request::{Request, is_key};
use super::tables::servers;

/// What a key that is true means as a flag.
const FLAGS: &[(&[&str], &str)] = &[
    (&["force", "forcepush"], "--force"),
    (&["forcewithlease"], "--force-with-lease"),
    (&["hard"], "--hard"),
    (&["directories", "removedirectories", "includedirectories"], "-d"),
    (&["ignored", "includeignored"], "-x"),
    (&["delete", "deleteremote"], "--delete"),
    (&["mirror"], "--mirror"),
    (&["all"], "--all"),
    (&["dryrun"], "--dry-run"),
    (&["staged", "cached"], "--staged"),
    (&["discardchanges", "discard"], "--discard-changes"),
    (&["interactive"], "--interactive"),
];
/// What says which way of a command is meant.
const MODE: &[&str] = &["mode", "operation", "action", "op", "subcommand", "resettype", "type"];
/// Where the names are that a command works on, in the order in which it takes them.
const OPERANDS: &[&[&str]] = &[
    &["remote"],
    &[
        "branch",
        "branchname",
        "name",
        "refspec",
        "ref",
        "tagname",
        "stashref",
        "worktreepath",
        "branchorpath",
    ],
    &["target", "commit", "revision", "sha", "startpoint", "treeish"],
];
/// Where files are named.
const FILES: &[&str] = &["files", "paths", "pathspec", "pathspecs", "filepaths", "file"];
/// Where the repository is.
const REPOSITORY: &[&str] = &[
    "repopath",
    "path",
    "repositorypath",
    "workingdir",
    "workingdirectory",
    "cwd",
    "directory",
    "repo",
];
/// Commands by which work may be lost.
const COMMANDS: &[&str] = &[
    "reset", "clean", "push", "branch", "stash", "checkout", "switch", "restore", "tag", "worktree", "reflog",
    "rebase", "gc", "update", "filter", "rm", "revert", "discard", "delete", "remote", "prune",
];

pub(super) fn look(request: &Request<'_>, desk: &mut Desk<'_>) -> bool {
    if request.serves(servers::HOSTS) {
        return hosted(request, desk);
    }
    if !request.is_about(&["git", "gitkraken", "gitbutler"]) {
        return false;
    }
    let cwd = request.text(REPOSITORY);
    if let Some(text) = request
        .text(&["command", "args", "arguments", "gitcommand"])
        .filter(|text| text.contains(' '))
    {
        let begun = text.trim_start().starts_with("git ");
        let text = if begun { text.to_owned() } else { format!("git {text}") };
        desk.same_as(&text, cwd);
        return true;
    }
    let words = if request.serves(&["git"]) || request.tool().first().is_some_and(|word| word == "git") {
        request.tool().iter().chain(&request.action)
    } else {
        request.tool().iter().chain(&[])
    };
    let Some(command) = words.map(String::as_str).find(|word| COMMANDS.contains(word)) else {
        return true;
    };
    let line = line(command, request);
    let quoted: Vec<String> = line.iter().map(|word| crate::tools::quoted(word)).collect();
    desk.same_as(&quoted.join(" "), cwd);
    true
}

/// The command line that does the same.
fn line<'a>(command: &'a str, request: &Request<'a>) -> Vec<&'a str> {
    let command = match command {
        "delete" => "branch",
        "discard" => "restore",
        other => other,
    };
    let mut line = vec!["git", command];
    let mode = request.text(MODE).unwrap_or_default();
    match (command, mode) {
        ("reset", "hard" | "--hard") => line.push("--hard"),
        ("reset", "keep") => line.push("--keep"),
        ("reset", "merge") => line.push("--merge"),
        ("branch" | "tag", "delete" | "remove" | "-d" | "-D") => line.push("--delete"),
        ("stash", "drop" | "clear" | "pop" | "push" | "list" | "apply" | "show" | "save") => line.push(mode),
        ("worktree", "remove" | "add" | "list" | "prune") => line.push(mode),
        ("reflog", "expire" | "delete" | "show") => line.push(mode),
        _ => {}
    }
    if request.says(&["delete", "remove"]) && matches!(command, "branch" | "tag") {
        line.push("--delete");
    }
    for word in ["drop", "clear", "hard", "remove", "expire"] {
        if request.says(&[word]) && command != word {
            match (command, word) {
                ("stash", "drop" | "clear") | ("worktree", "remove") | ("reflog", "expire") => line.push(word),
                ("reset", "hard") => line.push("--hard"),
                _ => {}
            }
        }
    }
    let flags = FLAGS.iter().filter(|(keys, _)| request.flag(keys));
    line.extend(flags.map(|(_, flag)| *flag));
    let written = request.texts(&["args", "arguments", "flags", "options"]);
    line.extend(written.into_iter().filter(|word| word.starts_with('-')));
    operands(command, request, &mut line);
    line
}

fn operands<'a>(command: &str, request: &Request<'a>, line: &mut Vec<&'a str>) {
    if !matches!(command, "clean" | "gc" | "prune") {
        let named = OPERANDS.iter().filter_map(|keys| request.text(keys));
        line.extend(named.filter(|name| !name.is_empty()));
    }
    let files: Vec<&str> = request
        .leaves
        .iter()
        .filter(|leaf| is_key(leaf.key, FILES))
        .map(|leaf| leaf.text)
        .collect();
    if !files.is_empty() {
        line.push("--");
        line.extend(files);
    }
}

/// Hosts of repositories: what is published there is pushed, and deleted, without git.
fn hosted(request: &Request<'_>, desk: &mut Desk<'_>) -> bool {
    let changes = request.does(&["update", "edit", "patch", "set", "change"]);
    if request.flag(&["force"]) && (changes || request.does(&["push", "ref", "reference"])) {
        desk.mark("git.push-force");
    }
    if request.does(&["delete", "remove"]) && request.does(&["branch", "branches", "ref", "tag", "tags", "reference"]) {
        desk.mark("git.push-delete");
        return true;
    }
    let opens = request.text(&["visibility"]) == Some("public")
        || request.value(&["private"]).and_then(serde_json::Value::as_bool) == Some(false);
    if changes && opens && request.does(&["repo", "repository", "project", "settings", "visibility"]) {
        desk.mark("hosting.visibility");
    }
    if request.does(&["transfer"]) && request.does(&["repo", "repository", "project", "ownership"]) {
        desk.mark("hosting.delete");
    }
    false
}
