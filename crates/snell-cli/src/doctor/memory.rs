//! What is recorded, what waits, what is trusted, and whether the configuration is right.

use snell::{Engine, Severity};
use snell_store::{Recorder, Store};

use super::{Found, Patient, note, ok, problem, warning};
use crate::around::{Around, lint_of};
use crate::commands::status;
use crate::output;

/// Of what `snell status` says, this belongs here.
const LABELS: &[&str] = &["Database", "Waiting", "To be sent", "Project"];

pub(super) fn check(patient: &Patient) -> Vec<Found> {
    let health = match status::health(patient.project.clone()) {
        Ok(health) => health,
        Err(error) => return vec![problem(format!("{error:#}"), "run: snell status")],
    };
    let is_well = health.attention.is_empty();
    let lines = health.lines.into_iter().filter(|(label, _)| LABELS.contains(label));
    let lines = lines.map(|(label, text)| {
        let line = format!("{}: {text}", label.to_lowercase());
        if is_well { ok(line) } else { note(line) }
    });
    let attention = health.attention.into_iter().map(|(what, remedy)| warning(what, remedy));
    lines.chain(attention).chain(soundness(patient)).collect()
}

/// Whether the database is whole. One that cannot be opened has been told of.
fn soundness(patient: &Patient) -> Option<Found> {
    let path = Recorder::database_in(&patient.data);
    let answer = Store::open_to_look(&path).and_then(|mut store| store.damage());
    match answer.ok()? {
        None => Some(ok("every page of the database is sound")),
        Some(fault) => Some(problem(
            format!("{} is damaged: {}", path.display(), output::in_brief(&fault, 200)),
            "save what can be saved: `snell docs memory` says how; it is set aside when an event cannot be stored",
        )),
    }
}

/// How many hooks there are. Snell's own entries are none: they are how it is called, and nobody wrote them.
fn hooks_of(engine: &Engine) -> String {
    let hooks = engine.hooks();
    let own = hooks.iter().filter(|hook| hook.is_left_out).count();
    let others = output::count(hooks.len() - own, "hook");
    if own == 0 {
        others
    } else {
        format!("{others} beside Snell's own")
    }
}

pub(super) fn check_configuration(patient: &Patient) -> Vec<Found> {
    let loaded = Around::of(Some(patient.project.clone()), None)
        .engine()
        .map(|builder| builder.load());
    let (engine, mut found) = match loaded {
        Ok(loaded) => loaded,
        Err(error) => {
            return vec![problem(
                format!("{error:#}"),
                format!("run: {}", lint_of(&patient.project)),
            )];
        }
    };
    found.extend(engine.check());
    let files = output::count(engine.files().len(), "file");
    let hooks = hooks_of(&engine);
    let errors = found.iter().filter(|one| one.severity == Severity::Error).count();
    let warnings = output::count(found.len() - errors, "warning");
    if errors > 0 {
        let what = format!("{} and {warnings} in {files}", output::count(errors, "error"));
        return vec![problem(what, format!("run: {}", lint_of(&patient.project)))];
    }
    if found.is_empty() {
        vec![ok(format!("{hooks} in {files}, and nothing is wrong with them"))]
    } else {
        vec![note(format!(
            "{hooks} in {files}, with {warnings}; `{}` shows them",
            lint_of(&patient.project)
        ))]
    }
}
