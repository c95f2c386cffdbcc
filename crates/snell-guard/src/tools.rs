//! What a tool would do: those that run commands, those that work on files, those that fetch. What MCP servers offer is
//! in `mcp`.

mod fields;
mod mcp;
mod patch;
pub(crate) mod settings;

use serde_json::Value as Json;

use crate::allowed::Permit;
use crate::effects::{Effect, Kind, effect_on, effects, effects_of};
use crate::inline;
use crate::invocation::{Invocation, Part, Stdin, Value};
use crate::judge::{Call, Seen};
use crate::paths::{MAX_PATH, locate};
use crate::shell;
use crate::world::World;

/// More paths of one call are not looked at.
pub(crate) const MAX_PATHS: usize = 4096;

/// Longer commands are not looked at: no agent writes them, and no system runs them.
pub(crate) const MAX_COMMAND: usize = 16 << 20;

/// What a tool is, whatever an agent calls it.
#[derive(Clone, Copy)]
enum Tool {
    /// Runs a command.
    Shell,
    /// Runs a command of PowerShell.
    PowerShell,
    /// Does this to the files that it is told.
    File(Kind),
    /// Shows a file or changes it, as it is told.
    Editor,
    /// Searches in files, and shows what it finds.
    Search,
    /// Applies a patch.
    Patch,
    /// Fetches an address.
    Fetch,
}

/// Names in small letters. What is not here and no MCP server's does nothing that a rule minds: it lists, plans, asks.
const TOOLS: &[(&str, Tool)] = &[
    ("bash", Tool::Shell),
    ("shell", Tool::Shell),
    ("local_shell", Tool::Shell),
    ("shell_command", Tool::Shell),
    ("exec_command", Tool::Shell),
    ("unified_exec", Tool::Shell),
    ("execute_command", Tool::Shell),
    ("run_command", Tool::Shell),
    ("run_shell_command", Tool::Shell),
    ("run_terminal_cmd", Tool::Shell),
    ("run_terminal_command", Tool::Shell),
    ("run_in_terminal", Tool::Shell),
    ("runinterminal", Tool::Shell),
    ("terminal", Tool::Shell),
    ("monitor", Tool::Shell),
    ("execute", Tool::Shell),
    ("execute_bash", Tool::Shell),
    ("executebash", Tool::Shell),
    ("powershell", Tool::PowerShell),
    ("read", Tool::File(Kind::Read)),
    ("read_file", Tool::File(Kind::Read)),
    ("read_many_files", Tool::File(Kind::Read)),
    ("readfile", Tool::File(Kind::Read)),
    ("view", Tool::File(Kind::Read)),
    ("view_image", Tool::File(Kind::Read)),
    ("notebookread", Tool::File(Kind::Read)),
    ("fs_read", Tool::File(Kind::Read)),
    ("read_code", Tool::File(Kind::Read)),
    ("write", Tool::File(Kind::Overwrite)),
    ("write_file", Tool::File(Kind::Overwrite)),
    ("write_to_file", Tool::File(Kind::Overwrite)),
    ("create", Tool::File(Kind::Overwrite)),
    ("create_file", Tool::File(Kind::Overwrite)),
    ("edit", Tool::File(Kind::Overwrite)),
    ("edit_file", Tool::File(Kind::Overwrite)),
    ("multiedit", Tool::File(Kind::Overwrite)),
    ("notebookedit", Tool::File(Kind::Overwrite)),
    ("replace", Tool::File(Kind::Overwrite)),
    ("search_replace", Tool::File(Kind::Overwrite)),
    ("str_replace", Tool::File(Kind::Overwrite)),
    ("fs_write", Tool::File(Kind::Overwrite)),
    ("write_code", Tool::File(Kind::Overwrite)),
    ("replace_string_in_file", Tool::File(Kind::Overwrite)),
    ("multi_replace_string_in_file", Tool::File(Kind::Overwrite)),
    ("insert_edit_into_file", Tool::File(Kind::Overwrite)),
    ("edit_notebook_file", Tool::File(Kind::Overwrite)),
    ("str_replace_editor", Tool::Editor),
    ("str_replace_based_edit_tool", Tool::Editor),
    ("delete_file", Tool::File(Kind::Delete)),
    ("grep", Tool::Search),
    ("grep_search", Tool::Search),
    ("search_file_content", Tool::Search),
    ("apply_patch", Tool::Patch),
    ("applypatch", Tool::Patch),
    ("patch", Tool::Patch),
    ("webfetch", Tool::Fetch),
    ("web_fetch", Tool::Fetch),
    ("fetch", Tool::Fetch),
    ("fetchurl", Tool::Fetch),
    ("fetch_webpage", Tool::Fetch),
];

/// What most tools call the field in which a command is written.
const COMMAND_FIELD: &str = "command";
/// Where a command is written.
const COMMAND: &[&str] = &["command", "cmd", "script", "commandLine", "command_line", "commands"];
/// Where it is said in which directory a command runs.
const CWD: &[&str] = &[
    "cwd",
    "workdir",
    "working_directory",
    "workingDirectory",
    "directory",
    "dir_path",
];
/// Where a path is written.
const PATH: &[&str] = &[
    "file_path",
    "path",
    "paths",
    "filePath",
    "file",
    "files",
    "file_paths",
    "notebook_path",
    "absolute_path",
    "relative_path",
    "target_file",
    "targetFile",
    "filename",
    "include",
    "operations",
    "replacements",
];
/// Where it is said in which directory is searched.
const SEARCHED: &[&str] = &["path", "dir_path", "directory"];
/// Where it is said in which files is searched.
const GLOBS: &[&str] = &["glob", "include", "include_pattern", "includePattern"];
/// Where an address is written.
const URL: &[&str] = &["url", "urls", "uri", "prompt"];

/// What a call would do.
pub(crate) fn look(call: &Call<'_>, permits: &[Option<Permit>], world: &World) -> Seen {
    let mut seen = Seen::default();
    if call.tool.is_empty() {
        seen.unread("tool_name");
        return seen;
    }
    let known = TOOLS.iter().find(|(name, _)| call.tool.eq_ignore_ascii_case(name));
    let Some((_, tool)) = known else {
        if let Some(named) = mcp::Named::read(call.tool) {
            mcp::look(&named, call.input, permits, world, &mut seen);
        }
        return seen;
    };
    match tool {
        Tool::Shell => run(call.input, permits, world, &mut seen),
        Tool::PowerShell => match command(call.input) {
            Some(command) => command_in(
                &format!("pwsh -Command {}", quoted(&command)),
                permits,
                world,
                &mut seen,
            ),
            None => seen.unread(COMMAND_FIELD),
        },
        Tool::Editor => {
            let shows = call.input.get("command").and_then(Json::as_str) == Some("view");
            if shows {
                files_of(Kind::Read, call.input, world, &mut seen);
            } else {
                change(call.input, world, &mut seen);
            }
        }
        Tool::File(Kind::Overwrite) => change(call.input, world, &mut seen),
        Tool::File(kind) => files_of(*kind, call.input, world, &mut seen),
        Tool::Search => search(call.input, world, &mut seen),
        Tool::Patch => patch::look(call.input, world, &mut seen),
        Tool::Fetch => fetch(call.input, world, &mut seen),
    }
    seen
}

/// A command, as text or as words. A tool that runs commands and is given none is not understood.
fn run(input: &Json, permits: &[Option<Permit>], world: &World, seen: &mut Seen) {
    let Some(command) = command(input) else {
        seen.unread(COMMAND_FIELD);
        return;
    };
    match strings(input, CWD).first().map(|cwd| located(cwd, world)) {
        Some(Some(cwd)) => command_in(&command, permits, &World { cwd, ..world.clone() }, seen),
        _ => command_in(&command, permits, world, seen),
    }
}

/// What a command would do, here.
fn command_in(command: &str, permits: &[Option<Permit>], world: &World, seen: &mut Seen) {
    if command.len() > MAX_COMMAND {
        seen.limit("length");
        return;
    }
    let found = shell::invocations_among(command, world, permits);
    seen.fork_bombs(found.fork_bombs);
    for invocation in &found.invocations {
        patched(invocation, world, seen);
    }
    let effects = effects(&found.invocations, world);
    if effects.too_many {
        seen.limit("effects");
    }
    // A call may hold several commands.
    let before = seen.invocations.len();
    seen.effects.extend(effects.list.into_iter().map(|effect| Effect {
        by: effect.by.map(|number| before + number),
        ..effect
    }));
    for code in &found.inline {
        if let Some(invocation) = found.invocations.get(code.invocation) {
            let effects = inline::effects(code, invocation, world);
            seen.effects.extend(effects.into_iter().map(|effect| Effect {
                by: Some(before + code.invocation),
                allowed: invocation.allowed,
                ..effect
            }));
        }
    }
    seen.invocations.extend(found.invocations);
    seen.cover(found.coverage);
}

/// Some agents offer their patch tool as a program too: `apply_patch <<'EOF'`.
fn patched(invocation: &Invocation, world: &World, seen: &mut Seen) {
    let name = invocation.argv.first().and_then(Value::as_text);
    if !matches!(name, Some("apply_patch" | "applypatch")) {
        return;
    }
    let stdin = match &invocation.stdin {
        Stdin::Text(text) => Some(text),
        _ => None,
    };
    for text in invocation.argv.iter().skip(1).chain(stdin) {
        let cwd = invocation.cwd.clone().unwrap_or_else(|| world.cwd.clone());
        patch::apply(&text.to_string(), &World { cwd, ..world.clone() }, seen);
    }
}

/// What a command would do on another machine.
fn command_elsewhere(command: &str, world: &World, seen: &mut Seen) {
    command_in(&format!("ssh host {}", quoted(command)), &[], world, seen);
}

/// The key and the text of a command that is one text.
pub(crate) fn command_text<'a>(call: &Call<'a>) -> Option<(&'static str, &'a str)> {
    let written = |key: &&'static str| Some((*key, call.input.get(key)?.as_str()?));
    let runs = mcp::Named::read(call.tool).is_some()
        || TOOLS
            .iter()
            .any(|(name, tool)| matches!(tool, Tool::Shell) && call.tool.eq_ignore_ascii_case(name));
    COMMAND.iter().find_map(written).filter(|_| runs)
}

/// The keys and the texts of paths.
pub(crate) fn path_texts<'a>(call: &Call<'a>) -> Vec<(&'static str, &'a str)> {
    let written = |key: &&'static str| Some((*key, call.input.get(key)?.as_str()?));
    PATH.iter().filter_map(written).collect()
}

pub(crate) fn command(input: &Json) -> Option<String> {
    let written = COMMAND.iter().find_map(|key| input.get(key)).or(Some(input))?;
    match written {
        Json::String(text) => Some(text.clone()),
        Json::Array(words) => {
            let words: Option<Vec<String>> = words.iter().map(|word| word.as_str().map(shell_word)).collect();
            words.filter(|words| !words.is_empty()).map(|words| words.join(" "))
        }
        _ => None,
    }
}

/// A word of a list, as shell. Some tools start the program without a shell, some put the words into a line for one: so a home
/// directory or a variable in a plain word counts as one that a shell would replace.
fn shell_word(word: &str) -> String {
    let is_replaced = word.starts_with('~') || word.contains('$');
    let is_plain = word
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || "_./~${}-".contains(c));
    if is_replaced && is_plain {
        word.to_owned()
    } else {
        quoted(word)
    }
}

/// A word that a shell reads as it is.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Files are changed. Most changes are judged by where they are, some by what they are.
fn change(input: &Json, world: &World, seen: &mut Seen) {
    fields::expect(input, PATH, seen);
    let mut paths = strings(input, PATH);
    if let [path] = paths.as_slice()
        && settings::look(path, input, world, seen)
    {
        paths.clear();
    }
    files(Kind::Overwrite, paths, world, seen);
}

/// The same to all files that a call names.
fn files_of(kind: Kind, input: &Json, world: &World, seen: &mut Seen) {
    fields::expect(input, PATH, seen);
    files(kind, strings(input, PATH), world, seen);
}

/// The same to all these files.
fn files(kind: Kind, paths: Vec<&str>, world: &World, seen: &mut Seen) {
    // A tool may shorten a path before it asks the system, which would not take it.
    if paths.len() > MAX_PATHS || paths.iter().any(|path| path.len() > MAX_PATH) {
        seen.limit("paths");
    }
    let effects = paths.into_iter().take(MAX_PATHS).map(|path| on(kind, path, world));
    seen.effects.extend(effects);
}

/// What happens to one file.
fn on(kind: Kind, path: &str, world: &World) -> Effect {
    effect_on(kind, &expanded(path, world), "the tool", world)
}

/// Tools, unlike programs, expand `~` themselves, and some take addresses of files.
fn expanded(path: &str, world: &World) -> String {
    let path = path.strip_prefix("file://").unwrap_or(path);
    match path.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{}{rest}", world.home),
        _ => path.to_owned(),
    }
}

fn located(path: &str, world: &World) -> Option<String> {
    locate(&Value::text(expanded(path, world)), Some(&world.cwd), world).path
}

/// Searching shows what is found, unless only names or numbers are wanted.
fn search(input: &Json, world: &World, seen: &mut Seen) {
    let shows = |mode: &str| !matches!(mode, "files_with_matches" | "count");
    if !input.get("output_mode").and_then(Json::as_str).is_none_or(shows) {
        return;
    }
    fields::expect_texts(input, SEARCHED, seen);
    fields::expect_texts(input, GLOBS, seen);
    let path = strings(input, SEARCHED).first().copied();
    if let Some(path) = path {
        seen.effects.push(Effect {
            recursive: true,
            ..on(Kind::Read, path, world)
        });
    }
    for glob in strings(input, GLOBS) {
        if glob.len() > MAX_PATH {
            seen.limit("paths");
            continue;
        }
        let value = pattern(&expanded(path.unwrap_or("."), world), glob);
        seen.effects.push(Effect {
            place: Some(locate(&value, Some(&world.cwd), world)),
            ..on(Kind::Read, "", world)
        });
    }
}

/// The files in a directory whose names fit. How deep they lie does not matter.
fn pattern(directory: &str, glob: &str) -> Value {
    let glob = glob.replace("**/", "");
    let mut parts = vec![Part::Text(format!("{directory}/"))];
    for piece in glob.split_inclusive(['*', '?']) {
        let text = piece.trim_end_matches(['*', '?']);
        if !text.is_empty() {
            match parts.last_mut() {
                Some(Part::Text(before)) => before.push_str(text),
                _ => parts.push(Part::Text(text.to_owned())),
            }
        }
        if text.len() < piece.len() {
            parts.push(Part::Pattern(piece.get(text.len()..).unwrap_or_default().to_owned()));
        }
    }
    Value { parts }
}

/// Fetching an address is judged as if `curl` did it. Some tools find the address in a text.
fn fetch(input: &Json, world: &World, seen: &mut Seen) {
    fields::expect_texts(input, URL, seen);
    for text in strings(input, URL) {
        for address in text.split_whitespace().filter(|word| word.contains("://")) {
            fetch_address(address, world, seen);
        }
    }
}

fn fetch_address(address: &str, world: &World, seen: &mut Seen) {
    seen.effects.extend(as_program(&["curl", address], world));
}

/// What a program with these arguments would do.
fn as_program(argv: &[&str], world: &World) -> Vec<Effect> {
    let invocation = Invocation {
        argv: argv.iter().map(|word| Value::text(*word)).collect(),
        cwd: Some(world.cwd.clone()),
        ..Invocation::default()
    };
    effects_of(&invocation, world)
}

/// The texts at these keys: a text, a list of texts, or a list of objects with such keys again.
fn strings<'a>(input: &'a Json, keys: &[&str]) -> Vec<&'a str> {
    let mut all = Vec::new();
    for value in keys.iter().filter_map(|key| input.get(key)) {
        match value {
            Json::String(text) => all.push(text.as_str()),
            Json::Array(list) => {
                for item in list {
                    let inner = keys.iter().filter_map(|key| item.get(key));
                    all.extend(item.as_str().into_iter().chain(inner.filter_map(Json::as_str)));
                }
            }
            _ => {}
        }
    }
    all
}
