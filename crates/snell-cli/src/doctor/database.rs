//! What is recorded, what waits, what is trusted, and whether the configuration is right.

use snell::{Engine, Severity};
use snell_store::{EventRecorder, Store};

use super::{DoctorFinding, DoctorSubject, note_finding, ok_finding, problem_finding, warning_finding};
use crate::commands::status;
use crate::env::{ConfigArgs, format_lint_command};
use crate::output;

/// Of what `snell status` says, this belongs here.
const LABELS: &[&str] = &["Database", "Waiting", "To be sent", "Project"];

pub(super) fn check_database(subject: &DoctorSubject) -> Vec<DoctorFinding> {
    let (lines, attention) = match status::summarize_status(subject.project.clone()) {
        Ok(status) => status,
        Err(error) => return vec![problem_finding(format!("{error:#}"), "run: snell status")],
    };
    let is_well = attention.is_empty();
    let lines = lines.into_iter().filter(|(label, _)| LABELS.contains(label));
    let lines = lines.map(|(label, text)| {
        let line = format!("{}: {text}", label.to_lowercase());
        if is_well { ok_finding(line) } else { note_finding(line) }
    });
    let attention = attention.into_iter().map(|item| warning_finding(item.what, item.remedy));
    lines.chain(attention).chain(check_integrity(subject)).collect()
}

/// Whether the database is whole. One that cannot be opened has been told of.
fn check_integrity(subject: &DoctorSubject) -> Option<DoctorFinding> {
    let path = EventRecorder::database_path(&subject.data);
    let answer = Store::open_read_only(&path).and_then(|mut store| store.check_integrity());
    match answer.ok()? {
        None => Some(ok_finding("every page of the database is sound")),
        Some(fault) => Some(problem_finding(
            format!("{} is damaged: {}", path.display(), output::shorten_to_one_line(&fault, 200)),
            "save what can be saved: `snell docs memory` says how; it is set aside when an event cannot be stored",
        )),
    }
}

/// How many hooks there are. Snell's own entries are none: they are how it is called, and nobody wrote them.
fn describe_hooks(engine: &Engine) -> String {
    let hooks = engine.hooks();
    let own = hooks.iter().filter(|hook| hook.is_excluded).count();
    let others = output::format_count(hooks.len() - own, "hook");
    if own == 0 { others } else { format!("{others} beside Snell's own") }
}

pub(super) fn check_configuration(subject: &DoctorSubject) -> Vec<DoctorFinding> {
    let loaded = ConfigArgs::new(Some(subject.project.clone()), None).engine_builder().map(|builder| builder.load());
    let (engine, mut found) = match loaded {
        Ok(loaded) => loaded,
        Err(error) => {
            return vec![problem_finding(
                format!("{error:#}"),
                format!("run: {}", format_lint_command(&subject.project)),
            )];
        }
    };
    found.extend(engine.check_hooks());
    let files = output::format_count(engine.files().len(), "file");
    let hooks = describe_hooks(&engine);
    let errors = found.iter().filter(|one| one.severity == Severity::Error).count();
    let warnings = output::format_count(found.len() - errors, "warning");
    if errors > 0 {
        let what = format!("{} and {warnings} in {files}", output::format_count(errors, "error"));
        return vec![problem_finding(what, format!("run: {}", format_lint_command(&subject.project)))];
    }
    if found.is_empty() {
        vec![ok_finding(format!("{hooks} in {files}, and nothing is wrong with them"))]
    } else {
        vec![note_finding(format!(
            "{hooks} in {files}, with {warnings}; `{}` shows them",
            format_lint_command(&subject.project)
        ))]
    }
}
