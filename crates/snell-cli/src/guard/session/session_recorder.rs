//! Writes the facts of a session: before a call what it may make and what was denied, after it what it made, fetched and read.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use serde_json::Value;
use snell::{AgentProduct, Event, EventName, ToolCall};
use snell_guard::session::{may_leave_trail, stamp_path};
use snell_guard::{FetchedPath, GuardToolCall, SessionFacts, SessionNotes};

use super::fact_line::FactLine;
use super::session_file::{ExpectedPath, SessionFile, now_ns};
use super::web_lines::{hash_lines, is_mostly_known};
use crate::guard::ProjectGuard;
use crate::guard::local_file_system::LocalFileSystem;

/// The tool that writes a whole file.
const WRITE_TOOL: &str = "Write";

/// Whether a call will run, as far as the guard knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallFate {
    /// The guard denied it.
    Denied,
    /// The guard asks about it.
    Asked,
    /// The guard has nothing against it.
    Allowed,
}

/// Writes what an event tells of its session, before the agent is answered.
pub(crate) fn note_event(file: &SessionFile, event: &Event, product: &AgentProduct) {
    match event.name {
        EventName::SessionStart => file.start_if_new(),
        EventName::UserPromptSubmit if file.exists() => file.append(&[FactLine::Prompt(())]),
        EventName::UserPromptSubmit => file.start_if_new(),
        // Without prompts, a turn ends here.
        EventName::Stop if file.exists() && !product.sends_event(&EventName::UserPromptSubmit) => {
            file.append(&[FactLine::Prompt(())]);
        }
        _ => {}
    }
}

/// Writes what the guard found out about a call, before the agent is answered.
pub(crate) fn note_call(file: &SessionFile, event: &Event, notes: &SessionNotes, fate: CallFate) {
    if fate == CallFate::Denied {
        let key = event.tool.as_ref().map(find_call_key).unwrap_or_default();
        let lines = notes.denied.iter().map(|denied| FactLine::from_denied(denied, &key));
        return file.append(&lines.collect::<Vec<_>>());
    }
    if event.name != EventName::PreToolUse {
        return;
    }
    file.start_if_new();
    let mut lines: Vec<FactLine> = notes.fetched.iter().map(FactLine::from_fetched).collect();
    lines.extend(notes.taint.clone().filter(|_| fate == CallFate::Allowed).map(FactLine::Taint));
    file.append(&lines);
    if let Some(tool) = event.tool.as_ref().filter(|_| !notes.may_make.is_empty()) {
        file.expect_paths(&find_call_key(tool), &list_expected_paths(&file.facts(), &notes.may_make));
    }
}

fn list_expected_paths(facts: &SessionFacts, may_make: &[String]) -> Vec<ExpectedPath> {
    let now = now_ns();
    let expect = |path: &String| {
        let made = facts.made.iter().rev().find(|made| made.path == *path);
        ExpectedPath {
            path: path.clone(),
            since_ns: made.and(facts.started_ns).unwrap_or(now),
            stamp: made.map(|made| made.stamp),
        }
    };
    may_make.iter().map(expect).collect()
}

/// Writes what a call did that is over.
pub(crate) fn follow_call(file: &SessionFile, event: &Event, guard: &dyn Fn() -> ProjectGuard) {
    let is_over = matches!(event.name, EventName::PostToolUse | EventName::PostToolUseFailure);
    let Some(tool) = event.tool.as_ref().filter(|_| is_over) else {
        return;
    };
    let mut lines: Vec<FactLine> = Vec::new();
    for expected in file.take_expected_paths(&find_call_key(tool)) {
        let stamp = stamp_path(Path::new(&expected.path), expected.since_ns, &LocalFileSystem);
        let stamp = stamp.filter(|stamp| Some(*stamp) != expected.stamp);
        lines.extend(stamp.map(|stamp| FactLine::from_made(&expected.path, stamp)));
    }
    let input = tool.input.as_ref().unwrap_or(&Value::Null);
    if may_leave_trail(&GuardToolCall { tool: &tool.name, input }) {
        let trail = guard().follow(&tool.name, input, event.cwd.as_deref());
        lines.extend(trail.fetched.iter().map(FactLine::from_fetched));
        if let Some(source) = trail.taint {
            lines.push(FactLine::Taint(source));
            let text = tool.output.as_ref().map(join_texts).unwrap_or_default();
            lines.extend(Some(hash_lines(&text)).filter(|hashes| !hashes.is_empty()).map(FactLine::Lines));
        }
    }
    if tool.name == WRITE_TOOL && file.exists() {
        lines.extend(recognise_written_text(file, input, event.cwd.as_deref()));
    }
    file.append(&lines);
}

/// A file that was written: with text that was fetched, or anew.
fn recognise_written_text(file: &SessionFile, input: &Value, cwd: Option<&Path>) -> Option<FactLine> {
    let path = Path::new(input.get("file_path")?.as_str()?);
    let path = snell_guard::paths::normalize_path(&cwd.unwrap_or(Path::new("/")).join(path));
    let content = input.get("content")?.as_str()?;
    let hashes = file.lines().iter().filter_map(|line| match line {
        FactLine::Lines(hashes) => Some(hashes),
        _ => None,
    });
    let known: HashSet<u32> = hashes.flatten().copied().collect();
    if !known.is_empty() && is_mostly_known(content, &known) {
        return Some(FactLine::from_fetched(&FetchedPath { path, is_directory: false }));
    }
    let is_fetched = file.facts().fetched.iter().any(|fetched| fetched.path == path);
    is_fetched.then_some(FactLine::Rewritten(path))
}

/// The id of a call, or else a hash of it: the events before and after it have the same.
pub(crate) fn find_call_key(tool: &ToolCall) -> String {
    tool.use_id.clone().unwrap_or_else(|| {
        let mut hasher = DefaultHasher::new();
        (&tool.name, tool.input.as_ref().map(Value::to_string)).hash(&mut hasher);
        format!("{:x}", hasher.finish())
    })
}

/// All texts of an output.
fn join_texts(output: &Value) -> String {
    match output {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(join_texts).collect::<Vec<_>>().join("\n"),
        Value::Object(fields) => fields.values().map(join_texts).collect::<Vec<_>>().join("\n"),
        Value::Null | Value::Bool(_) | Value::Number(_) => String::new(),
    }
}
