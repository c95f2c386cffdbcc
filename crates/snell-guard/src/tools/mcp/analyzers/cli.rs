//! Tools that run command lines: shells, and servers for one program.

use serde_json::Value as Json;

use crate::interpret::quote_shell_word;
use crate::tools::mcp::findings::FindingSink;
use crate::tools::mcp::request::{McpRequest, has_key_suffix, is_key_named};
use crate::tools::mcp::tables::{find_meaning, find_singular, keys, nouns, programs, servers, verbs};
use crate::tools::{join_shell_words, words};

pub(in crate::tools::mcp) fn analyze_cli(request: &McpRequest<'_>, sink: &mut FindingSink<'_>) -> bool {
    let program = find_meaning(programs::COMMAND_LINES, |names| request.is_about(names));
    let runs = request.is_about(servers::SHELLS);
    if request.has_tool_word(verbs::MENTIONS_COMMANDS) || !(runs || program.is_some()) {
        return false;
    }
    let is_understood = program.is_some_and(|program| analyze_named_subcommand(program, request, sink));
    let commands = collect_command_lines(request);
    for command in sink.limit_texts(&commands) {
        analyze_command_line(command, program, request, sink);
    }
    is_understood
}

fn analyze_command_line(
    command: &McpCommandLine,
    program: Option<&str>,
    request: &McpRequest<'_>,
    sink: &mut FindingSink<'_>,
) {
    let cwd = request.find_text(&normalize_keys(words::keys::CWD).iter().map(String::as_str).collect::<Vec<_>>());
    let text = &command.text;
    match program {
        Some(program) if request.has_tool_word(&["exec", "ssh"]) && !has_program_name(text, program) => {
            if matches!(program, "docker" | "podman") {
                sink.analyze_equivalent_command(&format!("{program} exec x {text}"), cwd);
            } else {
                sink.analyze_remote_command(text);
            }
        }
        Some(program) if !has_program_name(text, program) => {
            sink.analyze_equivalent_command(&format!("{program} {text}"), cwd)
        }
        _ if request.has_server_word(servers::REMOTE) => sink.analyze_remote_command(text),
        _ if request.is_about(&["powershell", "pwsh", "winrm"]) => {
            sink.analyze_equivalent_command(&format!("pwsh -Command {}", quote_shell_word(text)), cwd);
        }
        _ if command.is_verbatim => sink.analyze_command(text, cwd),
        _ => sink.analyze_equivalent_command(text, cwd),
    }
}

/// Whether the text already names the program.
fn has_program_name(text: &str, program: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default().trim_matches('\'');
    first.rsplit('/').next() == Some(program)
}

/// `terraform_destroy`, `remove_volume`: the tool's name is the command line. Returns whether the tables know it.
fn analyze_named_subcommand(program: &str, request: &McpRequest<'_>, sink: &mut FindingSink<'_>) -> bool {
    if request.is_dry_run() || !programs::NAMED_SUBCOMMANDS.contains(&program) {
        return false;
    }
    let says = |word: &&str| *word != program && *word != "cli";
    let words: Vec<&str> = request.tool_words().iter().map(String::as_str).filter(says).collect();
    let given =
        request.find_text(&["name", "id", "release", "releasename", "volume", "volumename", "container", "network"]);
    let given = given.filter(|name| !name.starts_with('-')).unwrap_or("x");
    if let Some((verb, noun)) = find_docker_subcommand(program, &words) {
        sink.analyze_program(&[program, noun, verb, given]);
        return true;
    }
    let mut argv = vec![program];
    argv.extend(words.iter().copied());
    argv.push(given);
    sink.analyze_program(&argv)
}

/// Docker's tools have `remove_volume` for `volume rm`.
fn find_docker_subcommand<'a>(program: &str, words: &[&'a str]) -> Option<(&'static str, &'a str)> {
    if !matches!(program, "docker" | "podman") {
        return None;
    }
    let verb = find_meaning(verbs::DOCKER, |names| names.iter().any(|name| words.contains(name)))?;
    let noun = words.iter().find_map(|word| find_singular(word, nouns::DOCKER_KINDS))?;
    Some((verb, noun))
}

/// A command line, and whether it is literally in the input.
struct McpCommandLine {
    text: String,
    is_verbatim: bool,
}

/// The command lines of a request: strings, lists of strings, lists of words, and separate words.
fn collect_command_lines(request: &McpRequest<'_>) -> Vec<McpCommandLine> {
    let mut commands = Vec::new();
    if let Some(written) = find_value(request.input, &|key| has_key_suffix(key, keys::COMMAND_SUFFIXES)) {
        add_command_lines(written, &mut commands);
    }
    let rest = join_arguments(request);
    match commands.as_mut_slice() {
        [] if !rest.is_empty() => commands.push(McpCommandLine { text: rest, is_verbatim: false }),
        [only] if !rest.is_empty() => {
            only.text = format!("{} {rest}", only.text);
            only.is_verbatim = false;
        }
        _ => {}
    }
    if commands.is_empty() && request.has_tool_word(verbs::TYPES) {
        commands.extend(request.find_texts(keys::TYPED_TEXTS).into_iter().map(build_verbatim_command));
    }
    commands
}

fn build_verbatim_command(text: &str) -> McpCommandLine {
    McpCommandLine { text: text.to_owned(), is_verbatim: true }
}

fn add_command_lines(written: &Json, commands: &mut Vec<McpCommandLine>) {
    match written {
        Json::String(text) => commands.push(build_verbatim_command(text)),
        Json::Array(list) => {
            let texts: Vec<&str> = list.iter().filter_map(Json::as_str).collect();
            let are_words = texts.first().is_some_and(|first| !first.trim().contains(' '));
            // One shell runs several commands one after the other.
            let text = if are_words { join_shell_words(texts) } else { texts.join("\n") };
            commands.push(McpCommandLine { text, is_verbatim: false });
            // `[{"command": …}, …]`
            let inner =
                list.iter().filter_map(|item| find_value(item, &|key| has_key_suffix(key, keys::COMMAND_SUFFIXES)));
            inner.filter(|inner| inner.is_string()).for_each(|inner| add_command_lines(inner, commands));
        }
        _ => {}
    }
}

/// The words beside the command: `"args": ["-rf", "/"]`, or one string.
fn join_arguments(request: &McpRequest<'_>) -> String {
    let mut words = Vec::new();
    let mut add = |value: &Json| match value {
        Json::String(text) => words.push(text.clone()),
        Json::Array(list) => words.extend(list.iter().filter_map(Json::as_str).map(quote_shell_word)),
        Json::Object(flags) => {
            for (flag, value) in flags {
                let dashes = if flag.len() == 1 { "-" } else { "--" };
                match value {
                    Json::Bool(true) => words.push(format!("{dashes}{flag}")),
                    Json::String(text) => words.push(quote_shell_word(&format!("{dashes}{flag}={text}"))),
                    _ => {}
                }
            }
        }
        _ => {}
    };
    for object in collect_objects(request.input) {
        let here = object.iter().filter(|(key, _)| is_key_named(key, keys::COMMAND_ARGUMENTS));
        here.for_each(|(_, value)| add(value));
    }
    words.join(" ")
}

/// The value of the first matching key, in the input itself or in an object that wraps it (`params`, `arguments`).
fn find_value<'a>(input: &'a Json, fits: &dyn Fn(&str) -> bool) -> Option<&'a Json> {
    let fitting = |object: &'a serde_json::Map<String, Json>| {
        let texts = object.iter().filter(|(_, value)| value.is_string() || value.is_array());
        texts.filter(|(key, _)| fits(key)).map(|(_, value)| value).next()
    };
    collect_objects(input).into_iter().find_map(fitting)
}

/// The input itself, and the objects directly in it.
fn collect_objects(input: &Json) -> Vec<&serde_json::Map<String, Json>> {
    let top = input.as_object();
    let below = top.into_iter().flat_map(|object| object.values().filter_map(Json::as_object));
    top.into_iter().chain(below).collect()
}

/// Keys for comparison: lower case, without separators.
fn normalize_keys(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| name.replace('_', "").to_ascii_lowercase()).collect()
}
