//! Who else is there: hooks of other tools on the same events, and other agents that read the same files.

use super::{Found, Patient, note};
use crate::output;

/// Hooks of other tools that are named one by one.
const NAMED: usize = 10;

pub(super) fn check(patient: &Patient) -> Vec<Found> {
    let mut findings = Vec::new();
    for inhabited in &patient.agents {
        let is_ours = |event: &str| {
            inhabited
                .files
                .iter()
                .any(|file| file.own().any(|own| own.event == event))
        };
        let others: Vec<_> = inhabited
            .files
            .iter()
            .flat_map(|file| file.handlers().iter().map(move |handler| (file, handler)))
            .filter(|(_, handler)| handler.way.is_none() && is_ours(&handler.event))
            .map(|(file, handler)| {
                let (path, line) = (file.path.display(), handler.line);
                format!(
                    "{path}:{line}: {} also calls: {}",
                    handler.event,
                    output::in_brief(&handler.shown, 100)
                )
            })
            .collect();
        let more = others.len().saturating_sub(NAMED);
        findings.extend(others.into_iter().take(NAMED).map(note));
        if more > 0 {
            findings.push(note(format!("and {} of other tools", output::count(more, "more hook"))));
        }
        let readers = inhabited.agent.readers_here(&inhabited.around.home);
        if !readers.is_empty() && inhabited.files.iter().any(|file| file.own().next().is_some()) {
            findings.push(note(format!(
                "{} may read these files too; Snell knows who calls, and only answers those whom it can",
                readers.join(", ")
            )));
        }
    }
    findings
}
