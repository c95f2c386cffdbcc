//! The guard settings that a project requests, shown before it is trusted.

use serde::Serialize;
use snell::{GuardAuthor, GuardSettings, ProjectFile, SourceLocation};

use crate::output::{TableColumn, TextTable};

/// A setting of the guard in a project's file.
#[derive(Debug, Serialize)]
pub(super) struct ProjectGuardRequest<'a> {
    /// `allow`, `ask` or `deny` for a rule or a command, `protect` or `secrets` for a path, or a preset.
    choice: &'static str,
    /// The rule, if the setting is for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<&'a str>,
    /// The path, if the setting is for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    /// The command or the other conditions, if the setting is an entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<String>,
    source: &'a str,
    line: usize,
}

impl<'a> ProjectGuardRequest<'a> {
    fn new(choice: &'static str, origin: &'a SourceLocation) -> Self {
        Self {
            choice,
            rule: None,
            path: None,
            command: None,
            reason: None,
            until: None,
            source: &origin.display_path,
            line: origin.line,
        }
    }
}

/// The only preset that a project can choose.
const PRESET_STRICT: &str = "preset strict";

/// The project's settings: its preset, rules, commands and paths.
pub(super) fn collect_guard_requests<'a>(
    settings: &'a GuardSettings,
    files: &[ProjectFile],
) -> Vec<ProjectGuardRequest<'a>> {
    let is_projects = |author| author == GuardAuthor::Project;
    let rules = settings.rules.iter().filter(|entry| is_projects(entry.author));
    let rules = rules.map(|entry| ProjectGuardRequest {
        rule: Some(&entry.rule),
        ..ProjectGuardRequest::new(entry.choice.name(), &entry.origin)
    });
    let entries = settings.entries.iter().filter(|entry| is_projects(entry.author));
    let entries = entries.map(|entry| ProjectGuardRequest {
        command: Some(entry.describe_conditions()),
        reason: entry.reason.as_deref(),
        until: entry.until.map(|until| until.to_string()),
        ..ProjectGuardRequest::new(entry.action.name(), &entry.origin)
    });
    let is_from_files = |origin: &&SourceLocation| files.iter().any(|file| file.display_path == origin.display_path);
    let strict = settings.preset_origin.iter().filter(is_from_files);
    let strict = strict.map(|origin| ProjectGuardRequest::new(PRESET_STRICT, origin));
    let places = [("protect", &settings.protect), ("secrets", &settings.secrets)];
    let places = places.into_iter().flat_map(|(choice, places)| {
        let places = places.iter().filter(|entry| is_projects(entry.author));
        places.map(move |entry| ProjectGuardRequest {
            path: Some(entry.path.to_string_lossy().into_owned()),
            ..ProjectGuardRequest::new(choice, &entry.origin)
        })
    });
    strict.chain(rules).chain(entries).chain(places).collect()
}

pub(super) fn print_guard_requests(requests: &[ProjectGuardRequest<'_>]) {
    let mut table = TextTable::new([
        TableColumn::new("GUARD"),
        TableColumn::new("RULE, COMMAND OR PATH"),
        TableColumn::new("REASON"),
        TableColumn::new("SOURCE"),
    ]);
    for request in requests {
        let until = request.until.as_ref().map(|until| format!(" (until {until})"));
        table.add_row([
            request.choice.to_owned(),
            request.rule.or(request.command.as_deref()).or(request.path.as_deref()).unwrap_or("-").to_owned(),
            format!("{}{}", request.reason.unwrap_or("-"), until.unwrap_or_default()),
            format!("{}:{}", request.source, request.line),
        ]);
    }
    table.print_full_width();
}
