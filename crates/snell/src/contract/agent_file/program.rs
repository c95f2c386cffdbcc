//! A directory of programs, each named after an event.

use std::path::Path;
use std::time::Duration;

use super::AgentFileFormat;
use crate::config::ConfigReader;
use crate::contract::{CONTRACTS, Contract, ContractReader, FileSyntax};
use crate::diagnostic::{UserMessage, did_you_mean};
use crate::hook::{AgentHookEntry, Hook, HookAction, HookTimeout};

const TIMEOUT: Duration = Duration::from_secs(30);

/// Extensions of programs, and the command that runs them. A program without an extension runs by its first line.
const INTERPRETERS: &[(&str, &[&str])] = &[
    ("sh", &["bash"]),
    ("bash", &["bash"]),
    ("zsh", &["bash"]),
    ("js", &["node"]),
    ("mjs", &["node"]),
    ("cjs", &["node"]),
    ("ts", &["bun", "run"]),
    ("mts", &["bun", "run"]),
    ("cts", &["bun", "run"]),
    ("py", &["python3"]),
    ("ps1", &["pwsh", "-File"]),
];

/// Whether a file has the name of an event, or nearly.
pub(crate) fn is_program_name(path: &Path) -> bool {
    let mut formats = CONTRACTS.iter().filter_map(|contract| match contract.reader {
        ContractReader::Agent(format) if contract.syntax == FileSyntax::Program => Some(format),
        _ => None,
    });
    formats.any(|format| find_name(format, path).is_some() || suggest_name(format, path).is_some())
}

/// The event of a program, in any case of letters.
fn find_name(format: &AgentFileFormat, path: &Path) -> Option<&'static str> {
    let stem = find_stem(path)?;
    format.event_names().iter().find(|name| name.eq_ignore_ascii_case(stem)).copied()
}

fn suggest_name(format: &AgentFileFormat, path: &Path) -> Option<&'static str> {
    did_you_mean(find_stem(path)?, format.event_names().iter().copied())
}

/// The name of a program without its extension.
fn find_stem(path: &Path) -> Option<&str> {
    let is_program = path.extension().is_none_or(|extension| find_interpreter(extension.to_str()).is_some());
    path.file_stem()?.to_str().filter(|_| is_program)
}

fn find_interpreter(extension: Option<&str>) -> Option<&'static [&'static str]> {
    INTERPRETERS.iter().find(|(known, _)| Some(*known) == extension).map(|(_, command)| *command)
}

/// Reads a program: the file itself is the hook.
pub(crate) fn read_program(contract: &'static Contract, reader: &mut ConfigReader<'_>) {
    let ContractReader::Agent(format) = contract.reader else {
        return;
    };
    let path = reader.source.path.clone();
    let event = find_name(format, &path).and_then(|name| format.find_event(name));
    let (Some(event), Some(program)) = (event, path.to_str()) else {
        let message = UserMessage::new("its name is not the name of an event (the file is ignored)");
        let hint = suggest_name(format, &path).map(|name| format!("did you mean {name}?"));
        reader.add_warning(0, hint.into_iter().fold(message, UserMessage::with_hint));
        return;
    };
    let extension = path.extension().and_then(|extension| extension.to_str());
    let first_line = reader.source.text.lines().next().unwrap_or_default();
    let by_first_line: Option<Vec<_>> =
        first_line.strip_prefix("#!").map(|line| line.split_whitespace().map(str::to_owned).collect());
    let by_extension = find_interpreter(extension).map(|words| words.iter().map(|word| (*word).to_owned()).collect());
    let command = by_first_line.filter(|words: &Vec<String>| !words.is_empty()).or(by_extension);
    let mut words = command.unwrap_or_else(|| vec!["bash".to_owned()]).into_iter();
    let interpreter = words.next().unwrap_or_default();
    let action =
        HookAction::Exec { program: interpreter, args: words.chain([program.to_owned()]).collect::<Vec<String>>() };
    let Some((first, more)) = event.canonical.split_first() else {
        return;
    };
    let origin = reader.locate_offset(0);
    let mut hook = Hook::new(contract, first.clone(), action, HookTimeout::Default(TIMEOUT), origin);
    hook.events.extend_from_slice(more);
    hook.may_modify = true;
    hook.agent_entry =
        AgentHookEntry { native_event: Some(event.native), tool_class: event.tool_class, ..AgentHookEntry::default() };
    reader.hooks.push(hook);
}
