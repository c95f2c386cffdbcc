//! Commands in unknown fields. A tool that runs commands may give the field any name, so a text that looks like a
//! command is judged as one, unless the tool, the server or the key shows that it is only stored, shown or searched
//! for.

use crate::invocation::base_name;
use serde_json::{Map, Value as Json};

use crate::interpret::quote_shell_word;
use crate::programs;
use crate::tools::join_shell_words;
use crate::tools::mcp::findings::{FindingFilter, FindingSink};
use crate::tools::mcp::request::{McpRequest, is_key_named, walk_json};
use crate::tools::mcp::tables::{keys, servers, texts, verbs};
use crate::tools::mcp::tool_name::split_identifier;
use crate::wrappers;
use snell_shell::is_variable_name;

/// How many texts that look like commands are judged: each may take as long as a command.
const MAX_GUESSES: usize = 32;

/// How many texts are read.
const MAX_TEXTS: usize = 16_384;

pub(in crate::tools::mcp) fn analyze_embedded_commands(request: &McpRequest<'_>, sink: &mut FindingSink<'_>) -> bool {
    let keeps = request.has_action_word(verbs::STORES_TEXT) || request.has_tool_word(verbs::READS);
    let executes = request.has_tool_word(verbs::EXECUTES) || request.has_server_word(verbs::EXECUTES) && !keeps;
    let spoken_of = keeps || request.has_server_word(servers::STORES_TEXT);
    let is_far = is_remote_server(request)
        && !(request.has_tool_word(verbs::EXECUTES) && request.has_server_word(servers::PUBLIC));
    if sink.has_commands() || is_far || spoken_of && !executes {
        return false;
    }
    let runs = executes || request.is_about(verbs::RUNNERS);
    let mut found = 0;
    let texts = collect_texts(request);
    if texts.len() > MAX_TEXTS {
        sink.mark_limited();
    }
    for (key, text) in texts.into_iter().take(MAX_TEXTS) {
        let is_script = is_script(&text);
        let is_code = split_identifier(key).iter().any(|word| keys::CODE_WORDS.contains(&word.as_str()));
        if is_key_named(key, keys::TAGS) || is_key_named(key, keys::PROSE) && !is_script && !executes {
            continue;
        }
        let Some(command) = extract_command(&text) else { continue };
        found += 1;
        if found > MAX_GUESSES {
            sink.mark_limited();
            break;
        }
        let gravity = if runs || is_code || is_script { FindingFilter::Any } else { FindingFilter::Gravest };
        sink.analyze_possible_command(&command, gravity);
    }
    false
}

/// The command in a text, or the command that runs its code.
fn extract_command(text: &str) -> Option<String> {
    let text = text.trim();
    let interpreter = |name: &str| Some(format!("{name} {}", quote_shell_word(text)));
    if let Some((_, block)) = text.split_once("```") {
        let (language, code) = block.split_once('\n')?;
        let code = code.split("```").next().unwrap_or(code);
        let is_shell = matches!(language.trim(), "sh" | "bash" | "zsh" | "shell" | "console");
        return (is_shell && is_command_like(code)).then(|| code.to_owned());
    }
    let first = text.lines().find(|line| !line.starts_with('#') || line.starts_with("#!"))?;
    if first.starts_with("import ") || first.starts_with("from ") || first.starts_with("#!") && first.contains("python")
    {
        return interpreter("python3 -c");
    }
    if text.contains("require(") && !is_command_like(text) {
        return interpreter("node -e");
    }
    let command = text.strip_prefix("$ ").unwrap_or(text);
    is_command_like(command).then(|| command.to_owned())
}

/// Whether a text can only be a script: its first line shows it, or each of several lines starts like a command.
fn is_script(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    text.trim_start().starts_with("#!") || (text.trim().contains('\n') && lines.all(is_command_like))
}

/// Whether the server works on other machines, where paths differ.
fn is_remote_server(request: &McpRequest<'_>) -> bool {
    let servers = [
        servers::PUBLIC,
        servers::FARAWAY,
        servers::REMOTE,
        servers::CLOUDS,
        servers::SQL,
        servers::SEARCHES,
        servers::GRAPHS,
        servers::FETCHERS,
        servers::STORES,
    ];
    let is_remote = |word: &str| servers.iter().any(|names| names.contains(&word));
    request.server_words().iter().any(|word| is_remote(word) && !servers::AMBIGUOUS.contains(&word.as_str()))
}

/// Every text with its key, and every list of words as one command line.
fn collect_texts<'a>(request: &McpRequest<'a>) -> Vec<(&'a str, String)> {
    let mut all = Vec::new();
    walk_json(request.input, |key, value| match value {
        Json::String(text) => all.push((key, text.clone())),
        Json::Array(list) => {
            let words: Option<Vec<&str>> = list.iter().map(Json::as_str).collect();
            if let Some([first, _, ..]) = words.as_deref()
                && is_known_program(first)
            {
                all.push((key, join_shell_words(list.iter().filter_map(Json::as_str))));
            }
        }
        Json::Object(fields) => all.extend(join_separate_command(fields).map(|line| ("command", line))),
        _ => {}
    });
    all
}

/// A program and its arguments in separate fields.
fn join_separate_command(fields: &Map<String, Json>) -> Option<String> {
    let at = |keys| fields.iter().find(|(key, _)| is_key_named(key, keys)).map(|(_, value)| value);
    let program = at(keys::PROGRAMS)?.as_str().filter(|name| is_known_program(name))?;
    let arguments = match at(keys::PROGRAM_ARGUMENTS)? {
        Json::String(text) => text.clone(),
        Json::Array(list) => join_shell_words(list.iter().filter_map(Json::as_str)),
        _ => return None,
    };
    Some(format!("{program} {arguments}"))
}

/// Whether a text starts like a command and goes on unlike a sentence. After a word that may also be a program, any
/// further command counts.
fn is_command_like(text: &str) -> bool {
    let mut lines = text.trim_start().lines();
    let is_remark = |line: &str| line.trim_start().starts_with('#') && !line.starts_with("#!");
    let Some(line) = lines.find(|line| !is_remark(line) && !line.trim().is_empty()) else {
        return false;
    };
    if line.starts_with("#!") {
        return true;
    }
    let line = line.split_once(" #").map_or(line, |(command, _)| command).trim_end();
    let mut parts = line.split([';', '&', '|', '{']).map(str::trim).filter(|part| !part.is_empty());
    let Some(first) = parts.next() else { return false };
    is_command_start(first) || may_be_command(first) && parts.any(is_command_start)
}

/// Whether the first word is a program, and the others do not form a sentence.
fn is_command_start(part: &str) -> bool {
    let is_assignment = |word: &str| word.split_once('=').is_some_and(|(name, _)| is_variable_name(name));
    let mut words = part
        .split_whitespace()
        .skip_while(|word| matches!(*word, "$" | "!" | "sudo" | "exec" | "time" | "(" | "{") || is_assignment(word));
    let is_begun = words.next().is_some_and(|first| {
        let first = first.trim_start_matches(['(', '{', '!', '\\']).trim_end_matches(';').trim_matches(['\'', '"']);
        is_known_program(first) || texts::SCRIPT_STARTS.contains(&first)
    });
    is_begun && count_sentence_words(words) < 2 && !is_sentence_end(part)
}

/// Whether it ends with a punctuation mark after a word: `rm -rf .` and `while :` do not.
fn is_sentence_end(part: &str) -> bool {
    let words = part.trim_end_matches(['.', '?', ':']);
    words.len() < part.len() && words.ends_with(char::is_alphanumeric)
}

/// Whether this may call an unknown program: `./deploy.sh`, `mytool x`, `f()`, `[[ -d x ]]`, `x=rm`.
fn may_be_command(part: &str) -> bool {
    let mut words = part.split_whitespace();
    let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-./~+$@:()[=".contains(c);
    let is_begun = words.next().is_some_and(|first| first.chars().all(is_name));
    is_begun && count_sentence_words(words) == 0
}

fn count_sentence_words<'a>(words: impl Iterator<Item = &'a str>) -> usize {
    let is_common = |word: &&str| {
        texts::SENTENCE_WORDS.contains(&word.to_ascii_lowercase().trim_matches(['.', ',', '?', '!', ':']))
    };
    words.filter(is_common).count()
}

fn is_known_program(word: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || "_-./~+$@:".contains(c);
    let base = base_name(word);
    !word.is_empty()
        && word.chars().all(is_name)
        && (programs::find_program(word).is_some() || wrappers::wrapper_names().any(|name| name == base))
}
