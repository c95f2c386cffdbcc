//! Lists hooks of other tools on the same events, and other agents that read the same files.

use snell::SettingsReader;

use super::subject::InspectedAgent;
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
        if inspected.calls_snell() {
            findings.extend(check_readers(subject, inspected));
        }
    }
    findings
}

/// Reports other agents that read the same files and call Snell through them.
fn check_readers(subject: &DoctorSubject, inspected: &InspectedAgent) -> Vec<DoctorFinding> {
    let title = inspected.agent.title();
    let readers = inspected.agent.readers.iter().filter(|reader| inspected.around.home.join(reader.sign).exists());
    let describe = |reader: &SettingsReader| {
        let other = subject.agents.iter().find(|other| Some(other.agent.name) == reader.product);
        let outcome = match other {
            Some(other) if other.calls_snell() => "Snell answers it through its own file".to_owned(),
            Some(other) => format!(
                "Snell answers it, but only on the events of {title}; to register it, run: snell install {}",
                other.agent.name
            ),
            None => "Snell answers only agents that it supports".to_owned(),
        };
        note_finding(format!("{} may read the files of {title} too and call Snell; {outcome}", reader.title))
    };
    readers.map(describe).collect()
}
