//! Servers that work with git: a call says in words what a command line says in flags.

use crate::tools::mcp::findings::FindingSink;
use crate::tools::mcp::request::{McpRequest, is_key_named};
use crate::tools::mcp::tables::servers;

/// What a key that is true means as a flag.
const FLAG_KEYS: &[(&[&str], &str)] = &[
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
const MODE_KEYS: &[&str] = &["mode", "operation", "action", "op", "subcommand", "resettype", "type"];
/// Where the names are that a command works on, in the order in which it takes them.
const OPERAND_KEYS: &[&[&str]] = &[
    &["remote"],
    &["branch", "branchname", "name", "refspec", "ref", "tagname", "stashref", "worktreepath", "branchorpath"],
    &["target", "commit", "revision", "sha", "startpoint", "treeish"],
];
/// Where files are named.
const FILE_KEYS: &[&str] = &["files", "paths", "pathspec", "pathspecs", "filepaths", "file"];
/// Where the repository is.
const REPOSITORY_KEYS: &[&str] =
    &["repopath", "path", "repositorypath", "workingdir", "workingdirectory", "cwd", "directory", "repo"];
/// Commands by which work may be lost.
const RISKY_SUBCOMMANDS: &[&str] = &[
    "reset", "clean", "push", "branch", "stash", "checkout", "switch", "restore", "tag", "worktree", "reflog",
    "rebase", "gc", "update", "filter", "rm", "revert", "discard", "delete", "remote", "prune",
];

pub(in crate::tools::mcp) fn analyze_git(request: &McpRequest<'_>, desk: &mut FindingSink<'_>) -> bool {
    if request.has_server_word(servers::HOSTS) {
        return analyze_git_hosting(request, desk);
    }
    if !request.is_about(&["git", "gitkraken", "gitbutler"]) {
        return false;
    }
    let cwd = request.find_text(REPOSITORY_KEYS);
    if let Some(text) =
        request.find_text(&["command", "args", "arguments", "gitcommand"]).filter(|text| text.contains(' '))
    {
        let begun = text.trim_start().starts_with("git ");
        let text = if begun { text.to_owned() } else { format!("git {text}") };
        desk.analyze_equivalent_command(&text, cwd);
        return true;
    }
    let words = if request.has_server_word(&["git"]) || request.tool_words().first().is_some_and(|word| word == "git") {
        request.tool_words().iter().chain(&request.action)
    } else {
        request.tool_words().iter().chain(&[])
    };
    let Some(command) = words.map(String::as_str).find(|word| RISKY_SUBCOMMANDS.contains(word)) else {
        return true;
    };
    let line = build_git_command(command, request);
    let quoted: Vec<String> = line.iter().map(|word| crate::tools::quote_shell_word(word)).collect();
    desk.analyze_equivalent_command(&quoted.join(" "), cwd);
    true
}

/// The command line that does the same.
fn build_git_command<'a>(command: &'a str, request: &McpRequest<'a>) -> Vec<&'a str> {
    let command = match command {
        "delete" => "branch",
        "discard" => "restore",
        other => other,
    };
    let mut line = vec!["git", command];
    let mode = request.find_text(MODE_KEYS).unwrap_or_default();
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
    if request.has_tool_word(&["delete", "remove"]) && matches!(command, "branch" | "tag") {
        line.push("--delete");
    }
    for word in ["drop", "clear", "hard", "remove", "expire"] {
        if request.has_tool_word(&[word]) && command != word {
            match (command, word) {
                ("stash", "drop" | "clear") | ("worktree", "remove") | ("reflog", "expire") => line.push(word),
                ("reset", "hard") => line.push("--hard"),
                _ => {}
            }
        }
    }
    let flags = FLAG_KEYS.iter().filter(|(keys, _)| request.has_flag(keys));
    line.extend(flags.map(|(_, flag)| *flag));
    let written = request.find_texts(&["args", "arguments", "flags", "options"]);
    line.extend(written.into_iter().filter(|word| word.starts_with('-')));
    push_operands(command, request, &mut line);
    line
}

fn push_operands<'a>(command: &str, request: &McpRequest<'a>, line: &mut Vec<&'a str>) {
    if !matches!(command, "clean" | "gc" | "prune") {
        let named = OPERAND_KEYS.iter().filter_map(|keys| request.find_text(keys));
        line.extend(named.filter(|name| !name.is_empty()));
    }
    let files: Vec<&str> =
        request.leaves.iter().filter(|leaf| is_key_named(leaf.key, FILE_KEYS)).map(|leaf| leaf.text).collect();
    if !files.is_empty() {
        line.push("--");
        line.extend(files);
    }
}

/// Hosts of repositories: what is published there is pushed, and deleted, without git.
fn analyze_git_hosting(request: &McpRequest<'_>, desk: &mut FindingSink<'_>) -> bool {
    let changes = request.has_action_word(&["update", "edit", "patch", "set", "change"]);
    if request.has_flag(&["force"]) && (changes || request.has_action_word(&["push", "ref", "reference"])) {
        desk.mark_rule("git.push-force");
    }
    if request.has_action_word(&["delete", "remove"])
        && request.has_action_word(&["branch", "branches", "ref", "tag", "tags", "reference"])
    {
        desk.mark_rule("git.push-delete");
        return true;
    }
    let opens = request.find_text(&["visibility"]) == Some("public")
        || request.find_value(&["private"]).and_then(serde_json::Value::as_bool) == Some(false);
    if changes && opens && request.has_action_word(&["repo", "repository", "project", "settings", "visibility"]) {
        desk.mark_rule("hosting.visibility");
    }
    if request.has_action_word(&["transfer"])
        && request.has_action_word(&["repo", "repository", "project", "ownership"])
    {
        desk.mark_rule("hosting.delete");
    }
    false
}
