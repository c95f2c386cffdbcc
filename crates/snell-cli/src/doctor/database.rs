//! Checks the database, pending events, trust and the configuration.

use snell::{Engine, Severity, Timestamp};
use snell_store::{EventRecorder, Store};

use super::{DoctorFinding, DoctorSubject, note_finding, ok_finding, problem_finding, warning_finding};
use crate::commands::status::{self, failed_hooks};
use crate::env::{ConfigArgs, format_lint_command, read_clock_override};
use crate::output;

/// The lines of `snell status` that are shown.
const LABELS: &[&str] = &["Database", "Waiting", "To be sent", "Project"];

pub(super) fn check_database(subject: &DoctorSubject) -> Vec<DoctorFinding> {
    let (lines, attention) = match status::summarize_status(subject.project.clone()) {
        Ok(status) => status,
        Err(error) => return vec![problem_finding(format!("{error:#}"), "run `snell status`")],
    };
    let is_well = attention.is_empty();
    let lines = lines.into_iter().filter(|(label, _)| LABELS.contains(label));
    let lines = lines.map(|(label, text)| {
        let line = format!("{}: {text}", label.to_lowercase());
        if is_well { ok_finding(line) } else { note_finding(line) }
    });
    let attention = attention.into_iter().map(|item| warning_finding(item.what, item.remedy));
    lines.chain(attention).chain(check_integrity(subject)).chain(report_failed_hooks(subject)).collect()
}

/// Reports hooks that failed in the last day.
fn report_failed_hooks(subject: &DoctorSubject) -> Option<DoctorFinding> {
    let now = read_clock_override().unwrap_or_else(Timestamp::now);
    let mut store = Store::open_read_only(&EventRecorder::database_path(&subject.data)).ok()?;
    let failed = store.list_failed_hooks(failed_hooks::start_of_recent(now)).ok()?;
    let what = failed_hooks::describe_failed_hooks(&failed, now)?;
    Some(warning_finding(what, "`snell log` shows the events, and the page of `snell serve` the output of the hooks"))
}

/// Checks the database for damage. A database that cannot be opened is reported elsewhere.
fn check_integrity(subject: &DoctorSubject) -> Option<DoctorFinding> {
    let path = EventRecorder::database_path(&subject.data);
    let answer = Store::open_read_only(&path).and_then(|mut store| store.check_integrity());
    match answer.ok()? {
        None => Some(ok_finding("the database has no damage")),
        Some(fault) => Some(problem_finding(
            format!("{} is damaged: {}", path.display(), output::shorten_to_one_line(&fault, 200)),
            "save the readable records as `snell docs records` describes; Snell moves the file aside when it cannot store an event",
        )),
    }
}

/// The number of hooks, without Snell's own entries.
fn describe_hooks(engine: &Engine) -> String {
    let hooks = engine.hooks();
    let own = hooks.iter().filter(|hook| hook.is_excluded).count();
    let others = output::format_count(hooks.len() - own, "hook");
    if own == 0 { others } else { format!("{others} (without Snell's own)") }
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
        let names: Vec<_> = engine.files().iter().map(|file| file.display().to_string()).collect();
        let names = if names.is_empty() { String::new() } else { format!(": {}", names.join(", ")) };
        vec![ok_finding(format!("{hooks} in {files}, without problems{names}"))]
    } else {
        vec![note_finding(format!(
            "{hooks} in {files}, with {warnings}; to show them, run: {}",
            format_lint_command(&subject.project)
        ))]
    }
}
