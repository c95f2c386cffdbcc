//! Does the guard judge what agents do, and is what settings say about it right?

use snell::{GuardChoice, GuardPreset, Handler, Origin, Settings, Timestamp};

use super::{Found, Patient, note, ok, problem, warning};
use crate::around;
use crate::caller::Caller;
use crate::guard::findings;
use crate::output;

pub(super) fn check(patient: &Patient) -> Vec<Found> {
    let engine = Caller::engine(Caller::project_at(&patient.project)).map(|builder| builder.survey().require_trust());
    let looked = engine.and_then(|engine| Ok((engine.load().0.settings(), around::now()?)));
    match looked {
        Ok((settings, now)) => about(&settings, now.unwrap_or_else(Timestamp::now)),
        Err(error) => vec![problem(format!("{error:#}"), "run: snell lint")],
    }
}

fn about(settings: &Settings, now: Timestamp) -> Vec<Found> {
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
    let of_settings = findings(&settings.guard, now);
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
