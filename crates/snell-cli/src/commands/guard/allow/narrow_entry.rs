//! The narrowest entry that covers a call.

use std::path::Path;

use jiff::civil::Date;
use serde_json::Value;
use snell_guard::explain::quote_toml_string;
use snell_guard::{GuardJudgement, PolicyEntry, find_address_host};

use super::asked_call::AskedCall;
use super::refuse;

/// The tool whose calls are commands.
const SHELL_TOOL: &str = "Bash";
/// The keys of a file, and of an address.
const FILE_KEYS: &[&str] = &["file_path", "notebook_path"];
const URL_KEY: &str = "url";

/// The conditions of an entry, in the order in which they are written.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NarrowEntry {
    conditions: Vec<(&'static str, String)>,
}

impl NarrowEntry {
    /// The entry for a call, or why there is none.
    pub(super) fn for_call(call: &AskedCall, judgement: &GuardJudgement) -> anyhow::Result<Self> {
        let text = |key: &str| call.input.get(key).and_then(Value::as_str);
        let mut conditions = match (call.tool.as_str(), text("command")) {
            (SHELL_TOOL, Some(command)) => vec![("command", find_blamed_command(command, judgement)?)],
            _ => {
                let file = FILE_KEYS.iter().find_map(|key| text(key));
                let host = text(URL_KEY).and_then(find_address_host).filter(|host| !host.is_empty());
                let found = match (file, host) {
                    (Some(file), _) => ("path", literal_pattern(&locate_file(file, &call.cwd))?),
                    (None, Some(host)) => ("host", literal_pattern(&host)?),
                    (None, None) => {
                        let what = format!("an entry cannot tell calls of {} apart", call.tool);
                        return Err(refuse(&what, "write [[guard.allow]] with tool = \"…\" to allow all of them"));
                    }
                };
                vec![("tool", call.tool.clone()), found]
            }
        };
        conditions.extend(call.agent.clone().map(|agent| ("agent", agent)));
        Ok(Self { conditions })
    }

    /// The entry as lines of TOML.
    pub(super) fn to_toml(&self, reason: &str, until: Option<Date>) -> String {
        let mut text = "[[guard.allow]]\n".to_owned();
        for (key, value) in &self.conditions {
            text.push_str(&format!("{key} = {}\n", quote_toml_string(value)));
        }
        text.push_str(&format!("reason = {}\n", quote_toml_string(reason)));
        if let Some(until) = until {
            text.push_str(&format!("until = \"{until}\"\n"));
        }
        text
    }
}

/// The simple command that the guard asked about.
fn find_blamed_command(command: &str, judgement: &GuardJudgement) -> anyhow::Result<String> {
    let is_simple = |text: &str| PolicyEntry::allow(text, "").pattern_error().is_none();
    let blamed: Vec<&str> = judgement.spans.iter().filter_map(|span| command.get(span.clone())).collect();
    let written = match blamed.as_slice() {
        [one] => one.trim(),
        [] => command.trim(),
        _ => return Err(refuse("the guard asks about several commands of this call", "run them one by one")),
    };
    if !is_simple(written) || written.contains('*') {
        let what = format!("an entry cannot express \"{written}\" exactly");
        return Err(refuse(&what, "write [[guard.allow]] by hand"));
    }
    Ok(written.to_owned())
}

/// The absolute path of a file, with `~/` as the agent writes it.
fn locate_file(file: &str, cwd: &str) -> String {
    if file.starts_with("~/") {
        return file.to_owned();
    }
    snell_guard::paths::normalize_path(&Path::new(cwd).join(file))
}

/// A text without wildcards.
fn literal_pattern(text: &str) -> anyhow::Result<String> {
    if text.contains(['*', '?']) {
        return Err(refuse(&format!("\"{text}\" has wildcards, which would match more"), "write the entry by hand"));
    }
    Ok(text.to_owned())
}
