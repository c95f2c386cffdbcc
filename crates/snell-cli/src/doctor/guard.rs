//! Does the guard judge what agents do, and is what settings say about it right?

use std::path::Path;

use snell::{GuardChoice, GuardPreset, Handler, Origin, Settings, Timestamp};

use super::{Found, Patient, note, ok, problem, warning};
use crate::around;
use crate::caller::Caller;
use crate::guard::findings;
use crate::install::entry::Way;
use crate::output;

pub(super) fn check(patient: &Patient) -> Vec<Found> {
    let project = patient.project.clone();
    let engine = Caller::engine(project.clone()).map(|builder| builder.survey().require_trust());
    let looked = engine.map(|engine| (engine.load().0.settings(), around::now()));
    match looked {
        Ok((settings, now)) => {
            let mut found = about(&settings, &project, now.unwrap_or_else(Timestamp::now));
            // What is in force is in force for nobody where nobody asks.
            if let Some(unasked) = unasked(patient).filter(|_| settings.handlers.is_on(Handler::Guard)) {
                found[0] = unasked;
            }
            found
        }
        Err(error) => vec![problem(
            format!("{error:#}"),
            format!("run: {}", around::lint_of(&patient.project)),
        )],
    }
}

/// That no agent asks the guard, if none does.
fn unasked(patient: &Patient) -> Option<Found> {
    let homes = patient.homes();
    let mut own = homes.iter().flat_map(|(_, file)| file.own());
    if own.any(|handler| handler.way == Some(Way::Hook) && handler.event == BEFORE_TOOLS) {
        return None;
    }
    Some(note(if homes.is_empty() {
        "it judges no tool call, because no agent calls Snell; `snell install` changes that"
    } else {
        "it judges no tool call, because Snell is only told what happens; `snell install` without --notify changes that"
    }))
}

/// The event with which an agent asks.
const BEFORE_TOOLS: &str = "PreToolUse";

fn about(settings: &Settings, project: &Path, now: Timestamp) -> Vec<Found> {
    let mut found = Vec::new();
    if settings.handlers.is_on(Handler::Guard) {
        found.push(in_force(settings));
    } else {
        found.push(warning(
            "it is switched off: no tool call is judged",
            "remove `guard = false` below [handlers] in your own snell.toml",
        ));
    }
    if settings.guard.on_failure == GuardChoice::Allow {
        found.push(warning(
            format!(
                "{}what the guard fails to judge is let through",
                place(settings.guard.on_failure_origin.as_ref())
            ),
            "remove `on_failure = \"allow\"`, or write \"ask\"",
        ));
    }
    let of_settings = findings(settings, project, now);
    found.extend(of_settings.into_iter().map(|finding| {
        let what = format!("{}{}", place(Some(&finding.origin)), finding.what);
        warning(what, finding.remedy)
    }));
    found
}

/// What is in force.
fn in_force(settings: &Settings) -> Found {
    let guard = &settings.guard;
    let chosen = output::count(guard.rules.len(), "rule");
    let allowed = output::count(guard.allow.len(), "command");
    let judges = |preset: &str| {
        ok(format!(
            "it judges every tool call by the preset {preset}; settings choose for {chosen} and allow {allowed}"
        ))
    };
    match guard.preset {
        GuardPreset::Standard => judges("standard"),
        GuardPreset::Strict => judges("strict"),
        GuardPreset::Audit => note(format!(
            "{}it only watches: every tool call is judged and recorded, and none is stopped",
            place(guard.preset_origin.as_ref())
        )),
    }
}

/// Where something was written, before what is said about it.
fn place(origin: Option<&Origin>) -> String {
    origin.map_or_else(String::new, |at| format!("{}:{}:{}: ", at.shown, at.line, at.column))
}
