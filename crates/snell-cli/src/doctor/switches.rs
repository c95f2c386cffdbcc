//! Whether hooks are switched off.

use super::patient::{Content, File, Inhabited};
use super::{Found, Patient, note, problem};
use crate::install::agents::Scope;
use crate::install::document::{Node, Step};

/// Of these, the first that says something counts.
const PRECEDENCE: &[Scope] = &[Scope::Managed, Scope::Local, Scope::Project, Scope::User];

pub(super) fn check(patient: &Patient) -> Vec<Found> {
    let findings = patient
        .agents
        .iter()
        .flat_map(|inhabited| switched_off(&inhabited.files).into_iter().chain(held_back(inhabited)));
    findings.collect()
}

/// Whether the agent waits for its user's word before it runs hooks here.
fn held_back(inhabited: &Inhabited) -> Option<Found> {
    let is_held_back = inhabited.agent.is_trusting(&inhabited.around) == Some(false);
    let is_here = inhabited.files.iter().any(|file| file.own().next().is_some());
    let (title, project) = (inhabited.agent.title(), inhabited.around.project.display());
    (is_held_back && is_here).then(|| {
        note(format!(
            "{title} runs no hooks in {project} until you have told it that you trust this directory: it asks when it is started there"
        ))
    })
}

fn switched_off(files: &[File]) -> Vec<Found> {
    let mut findings = Vec::new();
    if let Some((place, true)) = said(files, PRECEDENCE, "disableAllHooks") {
        findings.push(problem(
            format!("{place}: \"disableAllHooks\" switches all hooks off, Snell's too"),
            "remove it, or write false",
        ));
    }
    let is_managed = |file: &File| file.scope == Scope::Managed && file.own().next().is_some();
    if let Some((place, true)) = said(files, &[Scope::Managed], "allowManagedHooksOnly")
        && !files.iter().any(is_managed)
    {
        findings.push(problem(
            format!("{place}: \"allowManagedHooksOnly\" lets only managed hooks run, and Snell's are not"),
            "ask whoever manages this machine to register Snell there",
        ));
    }
    findings
}

/// What the first of these scopes says about a switch, and where.
fn said(files: &[File], scopes: &[Scope], switch: &str) -> Option<(String, bool)> {
    let in_order = scopes
        .iter()
        .flat_map(|scope| files.iter().filter(move |file| file.scope == *scope));
    in_order.into_iter().find_map(|file| {
        let Content::Settings { document, .. } = &file.content else {
            return None;
        };
        let node: &Node = document.at(&[Step::Key(switch)])?;
        Some((
            format!("{}:{}", file.path.display(), document.line_of(node)),
            node.is_true(),
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_that_counts_most_decides_whether_hooks_run() {
        use Scope::{Local, Managed, Project, User};
        let off = "{\n\"disableAllHooks\": true}";
        let on = "{\"disableAllHooks\": false}";
        let only = "{\"allowManagedHooksOnly\": true}";
        let ours = r#"{"allowManagedHooksOnly": true,
            "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "/bin/snell", "args": ["hook"]}]}]}}"#;
        type Case<'a> = (&'a [(Scope, &'a str)], &'a [&'a str]);
        let cases: [Case<'_>; 8] = [
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
                .map(|(scope, text)| File::saying(*scope, scope.title(), text))
                .collect();
            let found = switched_off(&files);
            assert_eq!(found.len(), expected.len(), "{files:?}");
            for (found, expected) in found.iter().zip(expected) {
                assert!(found.what.starts_with(expected), "{}", found.what);
            }
        }
    }
}
