//! Calls through another agent's hook file. Several agents read the files of others, so one event may call Snell twice: through the
//! agent's own file, and through that of the other. Snell answers the first and stays silent for the second.

use std::path::Path;

use serde_json::{Map, Value};
use snell::AgentProduct;

use crate::env::{ConfigArgs, read_dir_variable};
use crate::install::agents::{AgentDirs, InstallAgent};
use crate::install::atomic_file;
use crate::install::recognize::EntryRecognizer;
use crate::install::scan;

/// Whether the agent's own file calls Snell for the same event. `registered` is the agent that the calling file names; agents that
/// ignore a handler's arguments drop it.
pub(super) fn is_answered_by_own_file(
    product: &'static AgentProduct,
    registered: Option<&str>,
    payload: &Map<String, Value>,
) -> bool {
    let Some(agent) = InstallAgent::from_product(product).filter(|agent| reads_file_of(agent, registered)) else {
        return false;
    };
    let (Some(event), Some(home)) =
        (AgentProduct::find_any_event_name(payload), ConfigArgs::new(None, None).home_dir())
    else {
        return false;
    };
    let around = AgentDirs {
        home,
        project: payload.get("cwd").and_then(Value::as_str).map(Path::new).unwrap_or(Path::new("/")).to_owned(),
        directory: agent.directory_variable().and_then(read_dir_variable),
    };
    let signs = EntryRecognizer::new(agent, &around, Path::new("snell"));
    let mut files = agent.answering_scopes.iter().flat_map(|scope| agent.files_in_scope(*scope, &around));
    files.any(|file| {
        let text = atomic_file::read_text(&file.path).unwrap_or_default();
        let own = scan::find_own_in_text(&text, &file.events, &signs).unwrap_or_default();
        own.iter().any(|handler| {
            let names_agent = handler.call.as_ref().is_some_and(|call| signs.names_agent(call));
            names_agent
                && has_program(&handler.words)
                && handler.limits().is_empty()
                && is_same_event(&handler.event, &event)
        })
    })
}

/// Whether the program of a command exists, as far as its path tells.
fn has_program(words: &[String]) -> bool {
    words.first().map(Path::new).is_none_or(|program| program.is_relative() || program.exists())
}

/// Whether the agent reads a file that names another agent, or a file whose arguments it would drop.
fn reads_file_of(agent: &InstallAgent, registered: Option<&str>) -> bool {
    let is_reader = |owner: &InstallAgent| owner.readers.iter().any(|reader| reader.product == Some(agent.name));
    match registered {
        Some(name) if name == agent.name => false,
        Some(name) => InstallAgent::find_by_name(name).is_ok_and(|owner| is_reader(&owner)),
        None => InstallAgent::all().any(|owner| owner.registers_arguments() && is_reader(&owner)),
    }
}

/// Whether two names are spellings of one event: `PreToolUse`, `preToolUse`, `pre_tool_use`.
fn is_same_event(one: &str, other: &str) -> bool {
    let letters =
        |name: &str| name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    letters(one) == letters(other)
}
