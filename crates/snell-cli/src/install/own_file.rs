//! Files that belong to Snell as a whole: plugins, and scripts in a directory of hooks. The recipe has their text.

use super::handler::{HandlerCommand, InstallMode, join_shell_words, split_shell_words};
use super::jsonc::SettingsFault;
use super::plan::{DesiredRegistration, InstallPlan, PriorContent};
use super::recognize::EntryRecognizer;
use super::scan::RegisteredHandler;

/// The command in a template, and how it is written.
const PLACES: &[(&str, CommandForm)] = &[
    ("@ARGV@", CommandForm::JsonArray),
    ("@COMMAND_STRING@", CommandForm::JsonString),
    ("@COMMAND@", CommandForm::ShellLine),
];

/// The agent's name in a template.
const AGENT_PLACE: &str = "@AGENT@";

/// The beginning of the line that tells who wrote a file, if its template has one.
const AUTHOR_MARK: &str = "Made by `snell install";

/// How a file writes a command.
#[derive(Clone, Copy, Debug)]
enum CommandForm {
    JsonArray,
    JsonString,
    ShellLine,
}

impl CommandForm {
    fn render(self, words: &[&str]) -> String {
        let line = || join_shell_words(words.iter().copied());
        match self {
            Self::JsonArray => serde_json::Value::from(words).to_string(),
            Self::JsonString => serde_json::Value::from(line()).to_string(),
            Self::ShellLine => line(),
        }
    }

    fn parse(self, text: &str, home: &str) -> Option<Vec<String>> {
        match self {
            Self::JsonArray => serde_json::from_str(text).ok(),
            Self::JsonString => split_shell_words(&serde_json::from_str::<String>(text).ok()?, home),
            Self::ShellLine => split_shell_words(text, home),
        }
    }
}

/// The text of a file.
fn render_file(template: &str, call: &HandlerCommand) -> String {
    let HandlerCommand::Exec { command, args } = call else {
        return String::new();
    };
    let words: Vec<_> = std::iter::once(command).chain(args).map(String::as_str).collect();
    let agent = words.last().copied().unwrap_or_default();
    // The path of the program may contain the name of a place, so it comes last.
    let text = template.replace(AGENT_PLACE, agent);
    let place = PLACES.iter().find(|(place, _)| text.contains(place));
    place.map_or_else(|| text.clone(), |(place, form)| text.replace(place, &form.render(&words)))
}

/// The command in a file that was made from this template, and its line.
fn find_command(text: &str, template: &str, home: &str) -> Option<(usize, HandlerCommand)> {
    let has_author = |text: &str| text.lines().any(|line| line.contains(AUTHOR_MARK));
    if has_author(template) && !has_author(text) {
        return None;
    }
    let (line, (place, form)) =
        template.lines().find_map(|line| Some((line, PLACES.iter().find(|(place, _)| line.contains(place))?)))?;
    let (start, end) = line.split_once(place)?;
    text.lines().enumerate().find_map(|(number, line)| {
        let written = line.strip_prefix(start)?.strip_suffix(end)?;
        let (command, args) =
            form.parse(written, home)?.split_first().map(|(one, rest)| (one.clone(), rest.to_vec()))?;
        Some((number + 1, HandlerCommand::Exec { command, args }))
    })
}

/// The handlers of a file: one for each event, if the file is Snell's.
pub(super) fn scan_file(
    text: &str,
    template: &str,
    events: &[&'static str],
    signs: &EntryRecognizer,
) -> Vec<RegisteredHandler> {
    let Some((line, call)) = find_command(text, template, &signs.home_text()) else {
        return Vec::new();
    };
    let way = signs.recognize(&call);
    let handler = |event: &&'static str| RegisteredHandler {
        event: (*event).to_owned(),
        group: 0,
        handler: None,
        line,
        words: signs.command_words(&call).unwrap_or_default(),
        way,
        matcher: None,
        conditions: Vec::new(),
        description: call.to_string(),
        call: Some(call.clone()),
    };
    events.iter().map(handler).collect()
}

/// Plans the installation: the file is written anew. A file of another author is refused.
pub(super) fn plan_install(
    current: Option<&str>,
    before: &PriorContent<'_>,
    template: &str,
    wanted: &DesiredRegistration,
) -> Result<InstallPlan, SettingsFault> {
    let after = wanted.entries.first().map(|entry| render_file(template, &entry.call)).unwrap_or_default();
    let is_own = |text: &str| {
        let found = find_command(text, template, &wanted.recognizer.home_text());
        found.is_some_and(|(_, call)| wanted.recognizer.recognize(&call) == Some(InstallMode::Hook))
    };
    if current.is_some_and(|text| text != after && !is_own(text)) {
        let message = "Snell did not write this file and leaves it as it is; to install Snell, rename it".into();
        return Err(SettingsFault { at: 0, message });
    }
    Ok(InstallPlan {
        before: match before {
            PriorContent::Known(text) => text.map(str::to_owned),
            PriorContent::Changed { .. } | PriorContent::Unknown => None,
        },
        was_ours: current.is_some(),
        after,
        containers: Vec::new(),
    })
}
