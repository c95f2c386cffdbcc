//! Further conditions of a hook in a `snell.toml`: files, commands, agents, notifications and projects. All must hold.

use std::path::Path;

use serde_json::Value;

use super::glob::{Glob, GlobDialect};
use super::{CommandMatcher, MatchSubject, Matcher, PATCH_TOOLS, normalize_path, tool_aliases};
use crate::event::{Event, EventName, ToolCall, ToolClass};

/// The lines of a patch that name its files.
const PATCH_FILE_LINES: &[&str] = &["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];
/// The keys of one file, and of lists of files.
const FILE_KEYS: &[&str] = &["file_path", "notebook_path", "path"];
const FILE_LIST_KEYS: &[&str] = &["paths", "file_paths", "files", "edits"];

/// The further conditions of a hook.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct HookFilters {
    /// Files that the tool reads or changes.
    pub(crate) file: Option<String>,
    /// Words of a command that a shell tool would run.
    pub(crate) command: Option<String>,
    /// Agents, by the names of their products; empty for all.
    pub(crate) agents: Vec<String>,
    /// The type or the message of a notification.
    pub(crate) notification: Option<Matcher>,
    /// The project's directory.
    pub(crate) project: Option<String>,
}

/// The surroundings of an event that conditions need.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FilterScene<'a> {
    pub(crate) project: &'a Path,
    pub(crate) home: Option<&'a Path>,
    pub(crate) commands: &'a dyn CommandMatcher,
}

/// The result of one condition.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FilterResult {
    pub(crate) holds: bool,
    /// The comparison, for `snell explain`.
    pub(crate) why: String,
}

impl HookFilters {
    /// Whether all conditions hold.
    pub(crate) fn matches(&self, event: &Event, scene: FilterScene<'_>) -> bool {
        self.check_agent(event).is_none_or(|result| result.holds)
            && self.check_project(scene).is_none_or(|result| result.holds)
            && self.check_notification(event).is_none_or(|result| result.holds)
            && self.check_file(event, scene).is_none_or(|result| result.holds)
            && self.check_command(event, scene).is_none_or(|result| result.holds)
    }

    /// The comparisons, in order, up to the first that fails.
    pub(crate) fn explain(&self, event: &Event, scene: FilterScene<'_>) -> Vec<String> {
        let all = [
            self.check_agent(event),
            self.check_project(scene),
            self.check_notification(event),
            self.check_file(event, scene),
            self.check_command(event, scene),
        ];
        let mut said = Vec::new();
        for result in all.into_iter().flatten() {
            said.push(result.why);
            if !result.holds {
                break;
            }
        }
        said
    }

    /// The files of the call that match, as the call names them.
    pub(crate) fn find_matching_files<'e>(&self, event: &'e Event, scene: FilterScene<'_>) -> Vec<&'e str> {
        let Some(pattern) = &self.file else {
            return Vec::new();
        };
        let cwd = event.cwd.as_deref().unwrap_or(scene.project);
        let mut files: Vec<&str> = Vec::new();
        for file in event.tool.as_ref().map(find_tool_files).unwrap_or_default() {
            if !files.contains(&file) && matches_path(pattern, &cwd.join(file), scene) {
                files.push(file);
            }
        }
        files
    }

    fn check_agent(&self, event: &Event) -> Option<FilterResult> {
        let written = (!self.agents.is_empty()).then(|| self.agents.join(", "))?;
        let agent = event.platform.as_deref();
        let holds = agent.is_some_and(|agent| self.agents.iter().any(|name| name == agent));
        Some(compare(holds, "agent", &written, agent.map_or_else(|| "an unknown agent".into(), quote_text)))
    }

    fn check_project(&self, scene: FilterScene<'_>) -> Option<FilterResult> {
        let pattern = self.project.as_deref()?;
        let holds = matches_path(pattern, scene.project, scene);
        Some(compare(holds, "project", pattern, format!("the project {}", scene.project.display())))
    }

    fn check_notification(&self, event: &Event) -> Option<FilterResult> {
        let matcher = self.notification.as_ref()?;
        let kind = event.raw.get("notification_type").and_then(Value::as_str);
        let texts: Vec<&str> = kind.into_iter().chain(event.message.as_deref()).collect();
        let matches_text = |text: &&str| matcher.matches(&MatchSubject::from_text("notification", Some(text)));
        let holds = event.name == EventName::Notification && texts.iter().any(matches_text);
        let compared = match texts.as_slice() {
            [] => "an event without a notification".to_owned(),
            texts => texts.iter().map(|text| quote_text(text)).collect::<Vec<_>>().join(" or "),
        };
        Some(compare(holds, "notification", matcher.source_text().unwrap_or_default(), compared))
    }

    fn check_file(&self, event: &Event, scene: FilterScene<'_>) -> Option<FilterResult> {
        let pattern = self.file.as_deref()?;
        let matching = self.find_matching_files(event, scene);
        let files = event.tool.as_ref().map(find_tool_files).unwrap_or_default();
        let compared = match (matching.first(), files.as_slice()) {
            (Some(file), _) => quote_text(file),
            (None, []) => "a call without files".to_owned(),
            (None, files) => files.iter().map(|file| quote_text(file)).collect::<Vec<_>>().join(", "),
        };
        Some(compare(!matching.is_empty(), "file", pattern, compared))
    }

    fn check_command(&self, event: &Event, scene: FilterScene<'_>) -> Option<FilterResult> {
        let pattern = self.command.as_deref()?;
        let command = event.tool.as_ref().filter(|tool| is_shell_tool(tool)).and_then(ToolCall::command);
        let cwd = event.cwd.as_deref().unwrap_or(scene.project);
        let holds = command.as_deref().is_some_and(|line| scene.commands.runs_command(pattern, line, cwd));
        let compared = command.map_or_else(|| "a call without a command".to_owned(), |line| quote_text(&line));
        Some(compare(holds, "command", pattern, compared))
    }
}

fn is_shell_tool(tool: &ToolCall) -> bool {
    ToolClass::Shell.contains(&tool.name) || tool_aliases(tool).any(|name| ToolClass::Shell.contains(name))
}

fn compare(holds: bool, key: &str, written: &str, compared: String) -> FilterResult {
    let verb = if holds { "matches" } else { "does not match" };
    FilterResult { holds, why: format!("{key} \"{written}\" {verb} {compared}") }
}

fn quote_text(text: &str) -> String {
    format!("\"{}\"", super::shorten_line(text))
}

/// The files that a tool reads or changes; for a patch, all files in it.
fn find_tool_files(tool: &ToolCall) -> Vec<&str> {
    let Some(input) = tool.input.as_ref() else {
        return Vec::new();
    };
    let own = tool.native_name.as_deref().unwrap_or_default();
    if PATCH_TOOLS.contains(&tool.name.as_str()) || PATCH_TOOLS.contains(&own) {
        let texts: Vec<&str> = match input {
            Value::Object(fields) => fields.values().filter_map(Value::as_str).collect(),
            Value::String(text) => vec![text],
            _ => Vec::new(),
        };
        let lines = texts.into_iter().flat_map(str::lines);
        let named = |line: &'_ str| {
            PATCH_FILE_LINES.iter().find_map(|start| Some(line.len() - line.strip_prefix(start)?.len()))
        };
        let files: Vec<&str> = lines.filter_map(|line| line.get(named(line)?..)).map(str::trim).collect();
        if !files.is_empty() {
            return files;
        }
    }
    let one = |value: &'_ Value| FILE_KEYS.iter().any(|key| value.get(key).is_some());
    let mut files: Vec<&str> = FILE_KEYS.iter().filter_map(|key| input.get(key)?.as_str()).collect();
    for list in FILE_LIST_KEYS.iter().filter_map(|key| input.get(key)?.as_array()) {
        files.extend(list.iter().filter_map(Value::as_str));
        let objects = list.iter().filter(|item| one(item));
        files.extend(objects.flat_map(|item| FILE_KEYS.iter().filter_map(|key| item.get(key)?.as_str())));
    }
    files
}

/// Whether a pattern matches a path. A pattern without a slash is for the name alone; `/` and `~/` begin an absolute
/// one; any other is relative to the project, and `**/` also matches outside it.
fn matches_path(pattern: &str, path: &Path, scene: FilterScene<'_>) -> bool {
    let path = normalize_path(path);
    let whole = path.to_string_lossy();
    let is_match = |pattern: &str, text: &str| Glob::new(pattern, GlobDialect::PATHS).matches(text);
    if let Some(rest) = pattern.strip_prefix("~/") {
        let below = scene.home.and_then(|home| path.strip_prefix(home).ok());
        return below.is_some_and(|below| is_match(rest, &below.to_string_lossy()));
    }
    if pattern.starts_with('/') {
        return is_match(pattern, &whole);
    }
    let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
    if !pattern.contains('/') {
        return path.file_name().is_some_and(|name| is_match(pattern, &name.to_string_lossy()));
    }
    let relative = path.strip_prefix(scene.project).ok();
    relative.is_some_and(|relative| is_match(pattern, &relative.to_string_lossy()))
        || (pattern.starts_with("**/") && is_match(pattern, whole.trim_start_matches('/')))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matcher::PlainCommandMatcher;
    use serde_json::json;

    fn test_scene() -> FilterScene<'static> {
        FilterScene {
            project: Path::new("/home/me/work/api"),
            home: Some(Path::new("/home/me")),
            commands: &PlainCommandMatcher,
        }
    }

    #[test]
    fn a_path_matches_by_its_name_in_its_project_or_as_a_whole() {
        for (pattern, path, expected) in [
            ("*.rs", "/home/me/work/api/src/a.rs", true),
            ("*.rs", "/elsewhere/a.rs", true),
            ("*.rs", "/home/me/work/api/src/a.md", false),
            ("**/*.rs", "/home/me/work/api/a.rs", true),
            ("**/*.rs", "/home/me/work/api/src/deep/a.rs", true),
            ("**/*.rs", "/elsewhere/a.rs", true),
            ("src/**", "/home/me/work/api/src/x/y", true),
            ("./src/*.rs", "/home/me/work/api/src/a.rs", true),
            ("src/*.rs", "/home/me/work/api/src/x/a.rs", false),
            ("src/**", "/src/x", false),
            ("src/*.rs", "/home/me/work/api/other/../src/a.rs", true),
            ("/etc/*", "/etc/hosts", true),
            ("~/notes/**", "/home/me/notes/a", true),
            ("~/notes/**", "/home/you/notes/a", false),
        ] {
            assert_eq!(matches_path(pattern, Path::new(path), test_scene()), expected, "{pattern}: {path}");
        }
    }

    #[test]
    fn the_files_of_a_call_are_found_under_all_its_keys() {
        let patch = "*** Begin Patch\n*** Update File: src/a.rs\n@@\n+x\n*** Add File: b.md\n+y\n*** End Patch\n";
        for (name, input, expected) in [
            ("Edit", json!({"file_path": "a.rs"}), &["a.rs"][..]),
            ("NotebookEdit", json!({"notebook_path": "n.ipynb"}), &["n.ipynb"]),
            ("apply_patch", json!({"command": patch}), &["src/a.rs", "b.md"]),
            ("apply_patch", json!({"file_path": "a"}), &["a"]),
            ("read_many", json!({"paths": ["a", "b"]}), &["a", "b"]),
            ("edit_many", json!({"edits": [{"path": "a"}, {"path": "b"}]}), &["a", "b"]),
            ("Bash", json!({"command": "ls"}), &[]),
        ] {
            let call = ToolCall { name: name.into(), input: Some(input), ..ToolCall::default() };
            assert_eq!(find_tool_files(&call), expected, "{name}");
        }
    }
}
