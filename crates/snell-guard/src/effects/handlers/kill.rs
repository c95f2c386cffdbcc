//! `kill`: which processes would end.

use crate::effects::collector::EffectCollector;
use crate::effects::{classify_output, is_foreign_pid_file};
use crate::interpret::skip_dashes;
use crate::invocation::{Invocation, StdinSource, SymbolicText, UnknownKind};

/// Judges each process that would end. A literal number or a job of the shell is assumed to be the agent's own.
pub(crate) fn apply_kill(collector: &mut EffectCollector<'_>) {
    let Some(processes) = process_operands(collector.arguments()) else {
        return;
    };
    for process in processes {
        match process.as_text() {
            Some("-1" | "0" | "1" | "-0") => collector.add_rule_effect("process.kill-everything"),
            Some(number) if collector.context.is_agent_process(number) => collector.add_rule_effect("self.process"),
            Some(_) => {}
            None if is_process_lookup(process, collector) => collector.add_rule_effect("process.kill-found"),
            None => {}
        }
    }
}

/// The operands; `None` if no signal is sent.
fn process_operands(arguments: &[SymbolicText]) -> Option<&[SymbolicText]> {
    let first = arguments.first().map(SymbolicText::leading_text).unwrap_or_default();
    match first {
        "-l" | "-L" | "--list" | "--table" | "-0" | "--help" | "--version" => None,
        "-s" | "-n" | "--signal" | "-q" if arguments.get(1).and_then(SymbolicText::as_text) == Some("0") => None,
        "-s" | "-n" | "--signal" | "-q" => Some(skip_dashes(arguments.get(2..)?)),
        "--" => arguments.get(1..),
        _ if first.starts_with('-') => Some(skip_dashes(arguments.get(1..)?)),
        _ => Some(arguments),
    }
}

fn is_process_lookup(process: &SymbolicText, collector: &EffectCollector<'_>) -> bool {
    process.has_pattern()
        || process.contains_unknown(UnknownKind::Processes)
        || is_found_by_xargs(collector.invocation, collector)
}

/// After `xargs`, process ids come from a pipe: jobs of the shell and pid files are fine, searches are not.
fn is_found_by_xargs(invocation: &Invocation, collector: &EffectCollector<'_>) -> bool {
    const OWN: &[&str] = &["cat", "echo", "jobs", "printf", "head", "tail"];
    let by_xargs = invocation.via.iter().any(|via| matches!(via.split(' ').next(), Some("xargs" | "parallel")));
    let left = match collector.stdin() {
        StdinSource::Pipe(left) => left,
        StdinSource::File(file) => return by_xargs && is_foreign_pid_file(&collector.locate_path(file)),
        StdinSource::Inherited | StdinSource::Text(_) => return by_xargs,
    };
    let first = left.first().and_then(|left| left.argv.first()).and_then(SymbolicText::as_text);
    by_xargs
        && (matches!(classify_output(left, collector.context), UnknownKind::Processes | UnknownKind::Agent)
            || !first.is_some_and(|first| OWN.contains(&first)))
}
