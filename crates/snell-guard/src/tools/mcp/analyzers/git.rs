//! Git servers: a call has words for the flags of a command line.

use crate::tools::join_shell_words;
use crate::tools::mcp::findings::FindingSink;
use crate::tools::mcp::request::McpRequest;
use crate::tools::mcp::tables::{keys, servers, verbs};

pub(in crate::tools::mcp) fn analyze_git(request: &McpRequest<'_>, sink: &mut FindingSink<'_>) -> bool {
    if request.has_server_word(servers::HOSTS) {
        return analyze_git_hosting(request, sink);
    }
    if !request.is_about(&["git", "gitkraken", "gitbutler"]) {
        return false;
    }
    let cwd = request.find_text(keys::GIT_REPOSITORIES);
    if let Some(text) =
        request.find_text(&["command", "args", "arguments", "gitcommand"]).filter(|text| text.contains(' '))
    {
        let begun = text.trim_start().starts_with("git ");
        let text = if begun { text.to_owned() } else { format!("git {text}") };
        sink.analyze_equivalent_command(&text, cwd);
        return true;
    }
    let words = if request.has_server_word(&["git"]) || request.tool_words().first().is_some_and(|word| word == "git") {
        request.tool_words().iter().chain(&request.action)
    } else {
        request.tool_words().iter().chain(&[])
    };
    let Some(command) = words.map(String::as_str).find(|word| verbs::GIT_RISKY.contains(word)) else {
        return true;
    };
    let line = build_git_command(command, request);
    sink.analyze_equivalent_command(&join_shell_words(line), cwd);
    true
}

/// The equivalent command line.
fn build_git_command<'a>(command: &'a str, request: &McpRequest<'a>) -> Vec<&'a str> {
    let command = match command {
        "delete" => "branch",
        "discard" => "restore",
        other => other,
    };
    let mut line = vec!["git", command];
    let mode = request.find_text(keys::GIT_MODES).unwrap_or_default();
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
    let flags = keys::GIT_FLAGS.iter().filter(|(_, keys)| request.has_flag(keys));
    line.extend(flags.map(|(flag, _)| *flag));
    let written = request.find_texts(&["args", "arguments", "flags", "options"]);
    line.extend(written.into_iter().filter(|word| word.starts_with('-')));
    push_operands(command, request, &mut line);
    line
}

fn push_operands<'a>(command: &str, request: &McpRequest<'a>, line: &mut Vec<&'a str>) {
    if !matches!(command, "clean" | "gc" | "prune") {
        let named = keys::GIT_OPERANDS.iter().filter_map(|(_, keys)| request.find_text(keys));
        line.extend(named.filter(|name| !name.is_empty()));
    }
    let files = request.find_texts(keys::GIT_FILES);
    if !files.is_empty() {
        line.push("--");
        line.extend(files);
    }
}

/// Hosts of repositories: pushes and deletes without git.
fn analyze_git_hosting(request: &McpRequest<'_>, sink: &mut FindingSink<'_>) -> bool {
    let changes = request.has_action_word(&["update", "edit", "patch", "set", "change"]);
    if request.has_flag(&["force"]) && (changes || request.has_action_word(&["push", "ref", "reference"])) {
        sink.mark_rule("git.push-force");
    }
    if request.has_action_word(&["delete", "remove"])
        && request.has_action_word(&["branch", "branches", "ref", "tag", "tags", "reference"])
    {
        sink.mark_rule("git.push-delete");
        return true;
    }
    let opens = request.find_text(&["visibility"]) == Some("public")
        || request.find_value(&["private"]).and_then(serde_json::Value::as_bool) == Some(false);
    if changes && opens && request.has_action_word(&["repo", "repository", "project", "settings", "visibility"]) {
        sink.mark_rule("hosting.visibility");
    }
    if request.has_action_word(&["transfer"])
        && request.has_action_word(&["repo", "repository", "project", "ownership"])
    {
        sink.mark_rule("hosting.delete");
    }
    false
}
