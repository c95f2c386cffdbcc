//! Code that a tool runs. A key, a name or the code itself shows the language. The code is judged like an argument of
//! the language's interpreter.

use crate::interpret::quote_shell_word;
use crate::tools::mcp::findings::{FindingSink, MAX_REQUEST_TEXTS};
use crate::tools::mcp::request::{McpRequest, has_key_suffix, is_key_named};
use crate::tools::mcp::tables::{find_meaning, keys, programs, servers, texts, verbs};
use crate::tools::mcp::tool_name::split_identifier;

pub(in crate::tools::mcp) fn analyze_code_execution(request: &McpRequest<'_>, sink: &mut FindingSink<'_>) -> bool {
    if !is_code_execution(request) {
        return false;
    }
    let is_code = |key: &str| {
        has_key_suffix(key, keys::CODE_SUFFIXES)
            || (is_key_named(key, &["input", "text"]) && request.is_about(&["repl"]))
    };
    let texts: Vec<_> = request.leaves.iter().filter(|leaf| is_code(leaf.key)).collect();
    for leaf in sink.limit_texts(&texts) {
        let interpreter = detect_interpreter(request, leaf.key, leaf.text);
        if interpreter.starts_with("python") {
            analyze_notebook_cell(leaf.text, sink);
        } else {
            analyze_snippet(interpreter, leaf.text, sink);
        }
    }
    !texts.is_empty()
}

fn is_code_execution(request: &McpRequest<'_>) -> bool {
    request.has_action_word(verbs::RUNS_CODE)
        || (request.has_server_word(servers::CODE_RUNNERS) && !request.has_action_word(verbs::KEEPS_CODE))
}

fn analyze_snippet(interpreter: &str, text: &str, sink: &mut FindingSink<'_>) {
    if interpreter.is_empty() {
        sink.analyze_equivalent_command(text, None);
    } else {
        sink.analyze_equivalent_command(&format!("{interpreter} {}", quote_shell_word(text)), None);
    }
}

/// The language of the code: by a key, by a name, or by its looks.
fn detect_interpreter(request: &McpRequest<'_>, key: &str, text: &str) -> &'static str {
    let by_language = |name: &str| {
        let name = name.to_ascii_lowercase();
        find_meaning(programs::INTERPRETERS, |names| names.contains(&name.as_str()))
    };
    let by_key = || split_identifier(key).iter().find_map(|word| by_language(word));
    let by_name = || find_meaning(programs::INTERPRETERS, |names| request.is_about(names));
    let by_shape = || {
        if text.trim_start().starts_with(['%', '!']) {
            return Some("python3 -c");
        }
        find_meaning(texts::CODE_MARKS, |marks| marks.iter().any(|mark| text.contains(mark)))
    };
    let given = request.find_texts(keys::LANGUAGES).into_iter().find_map(by_language);
    given.or_else(by_key).or_else(by_name).or_else(by_shape).unwrap_or_default()
}

/// Python in a notebook, with lines and cells for the shell.
fn analyze_notebook_cell(text: &str, sink: &mut FindingSink<'_>) {
    let (first, body) = text.trim_start().split_once('\n').unwrap_or((text.trim_start(), ""));
    let is_magic = |magics: &[&str]| magics.iter().any(|magic| first.starts_with(magic));
    if let Some(interpreter) = find_meaning(texts::CELL_MAGICS, is_magic) {
        return analyze_snippet(interpreter, body, sink);
    }
    let mut python = String::with_capacity(text.len());
    let mut commands = 0;
    for line in text.lines() {
        match parse_magic_command(line) {
            Some(_) if commands >= MAX_REQUEST_TEXTS => sink.mark_limited(),
            Some(command) => {
                commands += 1;
                sink.analyze_equivalent_command(&command, None);
            }
            None => {
                python.push_str(line);
                python.push('\n');
            }
        }
    }
    analyze_snippet("python3 -c", &python, sink);
}

/// The command of a line such as `!ls`, `files = !ls` or `%rm -rf x`.
fn parse_magic_command(line: &str) -> Option<String> {
    let line = line.trim();
    let mark = texts::LINE_MAGICS.iter().find(|mark| line.starts_with(**mark));
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
