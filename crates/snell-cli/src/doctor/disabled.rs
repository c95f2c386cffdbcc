//! Checks whether hooks are disabled.

use snell::SpannedNode;

use super::subject::{InspectedAgent, InspectedSettingsFile, SettingsContent};
use super::{DoctorFinding, DoctorSubject, note_finding, problem_finding, warning_finding};
use crate::install::agents::SettingsScope;
use crate::install::jsonc::JsonPathStep;
use crate::install::scan::RegisteredHandler;

/// The order of precedence: the first file that has the switch decides.
const PRECEDENCE: &[SettingsScope] =
    &[SettingsScope::Managed, SettingsScope::Local, SettingsScope::Project, SettingsScope::User];

pub(super) fn check_disabled_hooks(subject: &DoctorSubject) -> Vec<DoctorFinding> {
    let findings = subject.agents.iter().flat_map(|inspected| {
        let trust = check_directory_trust(inspected).into_iter().chain(check_handler_trust(inspected));
        find_disabling_switches(&inspected.files).into_iter().chain(trust)
    });
    findings.collect()
}

/// Checks whether the agent waits until its user trusts the directory.
fn check_directory_trust(inspected: &InspectedAgent) -> Option<DoctorFinding> {
    let is_held_back = inspected.agent.is_project_trusted(&inspected.around) == Some(false);
    let is_here = inspected.files.iter().any(|file| file.own_handlers().next().is_some());
    let (title, project) = (inspected.agent.title(), inspected.around.project.display());
    (is_held_back && is_here).then(|| {
        note_finding(format!(
            "{title} runs no hooks in {project} until you trust this directory in {title}; start {title} there, and it asks you"
        ))
    })
}

/// Checks whether the agent skips handlers until its user trusts them.
fn check_handler_trust(inspected: &InspectedAgent) -> Option<DoctorFinding> {
    let trusted = inspected.agent.find_trusted_handlers(&inspected.around)?;
    let title = inspected.agent.title();
    let mut untrusted = Vec::new();
    for file in &inspected.files {
        let real = file.path.canonicalize().unwrap_or_else(|_| file.path.clone());
        let is_trusted = |handler: &RegisteredHandler| {
            let place = handler_place(handler);
            [&file.path, &real].iter().any(|path| trusted.contains(&format!("{}:{place}", path.display())))
        };
        let skipped = file.own_handlers().filter(|handler| !is_trusted(handler));
        untrusted.extend(skipped.map(|handler| handler.event.clone()));
    }
    let count = inspected.files.iter().flat_map(InspectedSettingsFile::own_handlers).count();
    let events = if untrusted.len() == count { "all events".to_owned() } else { untrusted.join(", ") };
    let what = format!("{title} skips Snell on {events} until you trust its hooks");
    let remedy = format!("start {title}, enter /hooks, and trust them");
    (!untrusted.is_empty()).then(|| warning_finding(what, remedy))
}

/// The place of a handler in a file, as it is recorded: `pre_tool_use:0:0`.
fn handler_place(handler: &RegisteredHandler) -> String {
    let mut event = String::new();
    for letter in handler.event.chars() {
        if letter.is_ascii_uppercase() && !event.is_empty() {
            event.push('_');
        }
        event.push(letter.to_ascii_lowercase());
    }
    format!("{event}:{}:{}", handler.group, handler.handler.unwrap_or_default())
}

fn find_disabling_switches(files: &[InspectedSettingsFile]) -> Vec<DoctorFinding> {
    let mut findings = Vec::new();
    if let Some((place, true)) = find_switch(files, PRECEDENCE, "disableAllHooks") {
        findings.push(problem_finding(
            format!("{place}: \"disableAllHooks\" disables all hooks, including Snell's"),
            "remove it, or set it to false",
        ));
    }
    let is_managed =
        |file: &InspectedSettingsFile| file.scope == SettingsScope::Managed && file.own_handlers().next().is_some();
    if let Some((place, true)) = find_switch(files, &[SettingsScope::Managed], "allowManagedHooksOnly")
        && !files.iter().any(is_managed)
    {
        findings.push(problem_finding(
            format!("{place}: \"allowManagedHooksOnly\" allows only managed hooks, and Snell's are not managed"),
            "ask the administrator of this machine to register Snell there",
        ));
    }
    findings
}

/// The value of a switch in the first of these scopes that has it, and its position.
fn find_switch(files: &[InspectedSettingsFile], scopes: &[SettingsScope], switch: &str) -> Option<(String, bool)> {
    let in_order = scopes.iter().flat_map(|scope| files.iter().filter(move |file| file.scope == *scope));
    in_order.into_iter().find_map(|file| {
        let SettingsContent::Settings { document: Some(document), .. } = &file.content else {
            return None;
        };
        let node: &SpannedNode = document.node_at(&[JsonPathStep::Key(switch)])?;
        Some((format!("{}:{}", file.path.display(), document.line_number(node)), node.is_true()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_that_counts_most_decides_whether_hooks_run() {
        use SettingsScope::{Local, Managed, Project, User};
        let off = "{\n\"disableAllHooks\": true}";
        let on = "{\"disableAllHooks\": false}";
        let only = "{\"allowManagedHooksOnly\": true}";
        let ours = r#"{"allowManagedHooksOnly": true,
            "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "/bin/snell", "args": ["hook"]}]}]}}"#;
        type DisabledHooksCase<'a> = (&'a [(SettingsScope, &'a str)], &'a [&'a str]);
        let cases: [DisabledHooksCase<'_>; 8] = [
            (&[(User, "{}")], &[]),
            (&[(User, off)], &["user:2: \"disableAllHooks\""]),
            (&[(User, off), (Project, on)], &[]),
            (&[(User, on), (Project, off), (Local, on)], &[]),
            (&[(User, on), (Managed, off)], &["managed:2: \"disableAllHooks\""]),
            (&[(User, only)], &[]),
            (&[(Managed, only)], &["managed:1: \"allowManagedHooksOnly\""]),
            (&[(Managed, ours)], &[]),
        ];
        for (files, expected) in cases {
            let files: Vec<_> = files
                .iter()
                .map(|(scope, text)| InspectedSettingsFile::with_content(*scope, scope.title(), text))
                .collect();
            let found = find_disabling_switches(&files);
            assert_eq!(found.len(), expected.len(), "{files:?}");
            for (found, expected) in found.iter().zip(expected) {
                assert!(found.what.starts_with(expected), "{}", found.what);
            }
        }
    }
}
