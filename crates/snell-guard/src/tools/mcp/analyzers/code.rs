//! Code that a tool runs. The language is told by a key, a name, or what the code looks like; the code then is what the
//! language's interpreter is handed on a command line.

use crate::tools::mcp::findings::{FindingSink, MAX_REQUEST_TEXTS};
use crate::tools::mcp::request::{McpRequest, has_key_suffix, is_key_named};
use crate::tools::quote_shell_word;

/// Verbs of tools that run what they are given.
const EXECUTION_VERBS: &[&str] = &[
    "run",
    "execute",
    "exec",
    "eval",
    "evaluate",
    "interpret",
    "interpreter",
    "repl",
    "sandbox",
    "executor",
    "runner",
];
/// Servers that are there to run code.
const CODE_RUNNER_SERVERS: &[&str] = &[
    "python",
    "jupyter",
    "ipython",
    "notebook",
    "e2b",
    "pyodide",
    "interpreter",
    "node",
    "deno",
    "javascript",
    "applescript",
    "osascript",
    "automator",
    "repl",
    "sandbox",
    "daytona",
    "powershell",
];
/// Verbs with which even they do not run it.
const NON_EXECUTING_VERBS: &[&str] = &[
    "insert",
    "edit",
    "overwrite",
    "read",
    "list",
    "search",
    "save",
    "write",
    "format",
    "lint",
    "validate",
    "explain",
    "get",
    "delete",
    "clear",
    "restart",
];
/// How the keys end at which code stands.
const CODE_KEY_SUFFIXES: &[&str] =
    &["code", "source", "snippet", "script", "scriptcontent", "program", "expression", "kernelcode"];
/// Where the language is written.
const LANGUAGE_KEYS: &[&str] = &["language", "lang", "kernel", "kernelname", "runtime", "interpreter", "codelanguage"];

/// Languages by their names, with the command line of their interpreter.
const LANGUAGE_INTERPRETERS: &[(&[&str], &str)] = &[
    (&["python", "python3", "py", "ipython", "ipykernel", "jupyter", "notebook", "pyodide", "cell"], "python3 -c"),
    (&["javascript", "js", "node", "nodejs", "typescript", "ts", "deno", "bun", "playwright"], "node -e"),
    (&["applescript", "osascript", "automator"], "osascript -e"),
    (&["jxa"], "osascript -l JavaScript -e"),
    (&["bash", "sh", "shell", "zsh", "shellscript"], ""),
    (&["powershell", "pwsh", "ps1"], "pwsh -Command"),
    (&["ruby", "rb"], "ruby -e"),
    (&["perl"], "perl -e"),
    (&["php"], "php -r"),
    (&["lua"], "lua -e"),
    (&["r", "rscript"], "Rscript -e"),
];

/// What code looks like, if nothing says which it is. The first that occurs decides.
const CODE_MARKERS: &[(&[&str], &str)] = &[
    (&["do shell script", "tell application", "end tell"], "osascript -e"),
    (&["require(", "const ", "let ", "=>", "await import(", "console.log", "process.", "Deno."], "node -e"),
    (&["#!/bin/sh", "#!/bin/bash", "#!/usr/bin/env bash"], ""),
    (&["Remove-Item", "Get-ChildItem", "$env:"], "pwsh -Command"),
    (&["import ", "def ", "print(", "with open(", "os.", " = ", "("], "python3 -c"),
];

pub(in crate::tools::mcp) fn analyze_code_execution(request: &McpRequest<'_>, desk: &mut FindingSink<'_>) -> bool {
    if !is_code_execution(request) {
        return false;
    }
    let is_code = |key: &str| {
        has_key_suffix(key, CODE_KEY_SUFFIXES) || (is_key_named(key, &["input", "text"]) && request.is_about(&["repl"]))
    };
    let texts: Vec<_> = request.leaves.iter().filter(|leaf| is_code(leaf.key)).collect();
    if texts.len() > MAX_REQUEST_TEXTS {
        desk.mark_limited();
    }
    for leaf in texts.iter().take(MAX_REQUEST_TEXTS) {
        let interpreter = detect_interpreter(request, leaf.key, leaf.text);
        if interpreter.starts_with("python") {
            analyze_notebook_cell(leaf.text, desk);
        } else {
            analyze_snippet(interpreter, leaf.text, desk);
        }
    }
    !texts.is_empty()
}

fn is_code_execution(request: &McpRequest<'_>) -> bool {
    request.has_action_word(EXECUTION_VERBS)
        || (request.has_server_word(CODE_RUNNER_SERVERS) && !request.has_action_word(NON_EXECUTING_VERBS))
}

fn analyze_snippet(interpreter: &str, text: &str, desk: &mut FindingSink<'_>) {
    if interpreter.is_empty() {
        desk.analyze_equivalent_command(text, None);
    } else {
        desk.analyze_equivalent_command(&format!("{interpreter} {}", quote_shell_word(text)), None);
    }
}

/// What the code is written in: as it is said, else as the names say, else as it looks.
fn detect_interpreter(request: &McpRequest<'_>, key: &str, text: &str) -> &'static str {
    let said = request.find_texts(LANGUAGE_KEYS);
    let named = |name: &str| {
        let name = name.to_ascii_lowercase();
        let by = |(names, _): &&(&[&str], &str)| names.contains(&name.as_str());
        LANGUAGE_INTERPRETERS.iter().find(by).map(|(_, interpreter)| *interpreter)
    };
    let by_key = || {
        let words = crate::tools::mcp::tool_name::split_identifier(key);
        words.iter().find_map(|word| named(word))
    };
    let by_name = || {
        let about = |(names, _): &&(&[&str], &str)| request.is_about(names);
        LANGUAGE_INTERPRETERS.iter().find(about).map(|(_, interpreter)| *interpreter)
    };
    let by_shape = || {
        if text.trim_start().starts_with(['%', '!']) {
            return Some("python3 -c");
        }
        let looks = |(marks, _): &&(&[&str], &str)| marks.iter().any(|mark| text.contains(mark));
        CODE_MARKERS.iter().find(looks).map(|(_, interpreter)| *interpreter)
    };
    said.into_iter().find_map(named).or_else(by_key).or_else(by_name).or_else(by_shape).unwrap_or_default()
}

/// Whole cells in another language, by their first line.
const CELL_MAGICS: &[(&str, &str)] = &[
    ("%%bash", ""),
    ("%%sh", ""),
    ("%%script", ""),
    ("%%system", ""),
    ("%%sx", ""),
    ("%%!", ""),
    ("%%perl", "perl -e"),
    ("%%ruby", "ruby -e"),
    ("%%javascript", "node -e"),
    ("%%js", "node -e"),
];
/// What stands before a command in a line of Python that a notebook runs.
const LINE_MAGICS: &[&str] = &["!!", "!", "%sx ", "%system ", "%cat ", "%rm ", "%mv ", "%cp "];

/// Python as a notebook runs it: with lines and whole cells for the shell.
fn analyze_notebook_cell(text: &str, desk: &mut FindingSink<'_>) {
    let (first, body) = text.trim_start().split_once('\n').unwrap_or((text.trim_start(), ""));
    if let Some((_, interpreter)) = CELL_MAGICS.iter().find(|(magic, _)| first.starts_with(magic)) {
        return analyze_snippet(interpreter, body, desk);
    }
    let mut python = String::with_capacity(text.len());
    let mut commands = 0;
    for line in text.lines() {
        match parse_magic_command(line) {
            Some(_) if commands >= MAX_REQUEST_TEXTS => desk.mark_limited(),
            Some(command) => {
                commands += 1;
                desk.analyze_equivalent_command(&command, None);
            }
            None => {
                python.push_str(line);
                python.push('\n');
            }
        }
    }
    analyze_snippet("python3 -c", &python, desk);
}

/// The command of a line such as `!ls`, `files = !ls` or `%rm -rf x`.
fn parse_magic_command(line: &str) -> Option<String> {
    let line = line.trim();
    let mark = LINE_MAGICS.iter().find(|mark| line.starts_with(**mark));
    match mark {
        Some(mark) if mark.starts_with('!') => line.get(mark.len()..).map(str::to_owned),
        Some(mark) if mark.starts_with("%s") => line.get(mark.len()..).map(str::to_owned),
        Some(_) => line.get(1..).map(str::to_owned),
        None => {
            let (name, command) = line.split_once('=')?;
            let command = command.trim_start().strip_prefix('!')?;
            let is_name = name.trim().chars().all(|c| c.is_alphanumeric() || "_, ".contains(c));
            is_name.then(|| command.to_owned())
        }
    }
}
