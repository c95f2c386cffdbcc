//! What a project wants of the guard: whoever trusts it should have seen that.

use serde::Serialize;
use snell::{GuardAuthor, GuardChoice, GuardSettings, ProjectFile, SourceLocation};

use crate::output::TextTable;

/// Something that a project wants to be done.
#[derive(Debug, Serialize)]
pub(super) struct ProjectGuardRequest<'a> {
    /// `allow`, `ask` or `deny` for a rule or a command, `protect` or `secrets` for a place, or a preset.
    choice: &'static str,
    /// The rule that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<&'a str>,
    /// The place that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    /// The command that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<&'a str>,
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

/// The presets that a project can choose.
const PRESET_STRICT: &str = "preset strict";

/// What its files say about everything, about rules, commands and places.
pub(super) fn collect_guard_requests<'a>(
    settings: &'a GuardSettings,
    files: &[ProjectFile],
) -> Vec<ProjectGuardRequest<'a>> {
    let is_projects = |author| author == GuardAuthor::Project;
    let rules = settings.rules.iter().filter(|said| is_projects(said.author));
    let rules = rules.map(|said| ProjectGuardRequest {
        rule: Some(&said.rule),
        ..ProjectGuardRequest::new(said.choice.name(), &said.origin)
    });
    let allowed = settings.allow.iter().filter(|said| is_projects(said.author));
    let allowed = allowed.map(|said| ProjectGuardRequest {
        command: Some(&said.command),
        reason: Some(&said.reason),
        until: said.until.map(|until| until.to_string()),
        ..ProjectGuardRequest::new(GuardChoice::Allow.name(), &said.origin)
    });
    let is_from_files = |origin: &&SourceLocation| files.iter().any(|file| file.display_path == origin.display_path);
    let strict = settings.preset_origin.iter().filter(is_from_files);
    let strict = strict.map(|origin| ProjectGuardRequest::new(PRESET_STRICT, origin));
    let places = [("protect", &settings.protect), ("secrets", &settings.secrets)];
    let places = places.into_iter().flat_map(|(choice, places)| {
        let places = places.iter().filter(|said| is_projects(said.author));
        places.map(move |said| ProjectGuardRequest {
            path: Some(said.path.to_string_lossy().into_owned()),
            ..ProjectGuardRequest::new(choice, &said.origin)
        })
    });
    strict.chain(rules).chain(allowed).chain(places).collect()
}

pub(super) fn print_guard_requests(wishes: &[ProjectGuardRequest<'_>]) {
    let mut table = TextTable::new(["GUARD", "RULE, COMMAND OR PLACE", "WHY", "SOURCE"], 1);
    for wish in wishes {
        let until = wish.until.as_ref().map(|until| format!(" (until {until})"));
        table.add_row([
            wish.choice.to_owned(),
            wish.rule.or(wish.command).or(wish.path.as_deref()).unwrap_or("-").to_owned(),
            format!("{}{}", wish.reason.unwrap_or("-"), until.unwrap_or_default()),
            format!("{}:{}", wish.source, wish.line),
        ]);
    }
    table.print_full_width();
}
