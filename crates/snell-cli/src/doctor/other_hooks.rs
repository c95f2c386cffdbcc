//! Lists hooks of other tools on the same events, and other agents that read the same files.

use super::{DoctorFinding, DoctorSubject, note_finding};
use crate::output;

/// How many hooks of other tools are listed.
const MAX_NAMED_HOOKS: usize = 10;

pub(super) fn check_other_hooks(subject: &DoctorSubject) -> Vec<DoctorFinding> {
    let mut findings = Vec::new();
    for inspected in &subject.agents {
        let is_ours =
            |event: &str| inspected.files.iter().any(|file| file.own_handlers().any(|own| own.event == event));
        let others: Vec<_> = inspected
            .files
            .iter()
            .flat_map(|file| file.handlers().iter().map(move |handler| (file, handler)))
            .filter(|(_, handler)| handler.way.is_none() && is_ours(&handler.event))
            .map(|(file, handler)| {
                let (path, line) = (file.path.display(), handler.line);
                format!(
                    "{path}:{line}: {} also calls: {}",
                    handler.event,
                    output::shorten_to_one_line(&handler.description, 100)
                )
            })
            .collect();
        let more = others.len().saturating_sub(MAX_NAMED_HOOKS);
        findings.extend(others.into_iter().take(MAX_NAMED_HOOKS).map(note_finding));
        if more > 0 {
            findings.push(note_finding(format!("{} of other tools", output::format_count(more, "more hook"))));
        }
        let readers = inspected.agent.find_other_readers(&inspected.around.home);
        if !readers.is_empty() && inspected.files.iter().any(|file| file.own_handlers().next().is_some()) {
            findings.push(note_finding(format!(
                "{} may read these settings files too and call Snell; Snell answers only agents that it supports",
                readers.join(", ")
            )));
        }
    }
    findings
}
