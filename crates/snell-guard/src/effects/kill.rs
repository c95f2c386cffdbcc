//! `kill`: who would be ended?

use super::scene::Scene;
use super::{is_of_others, output_of};
use crate::invocation::{Invocation, Part, Stdin, Unknown, Value};

/// Judges each process that would be ended. A number that was written down, or a job of the shell, is the agent's own.
pub(super) fn apply(scene: &mut Scene<'_>) {
    let Some(processes) = processes(scene.arguments()) else {
        return;
    };
    for process in processes {
        match process.as_text() {
            Some("-1" | "0" | "1" | "-0") => scene.rule("process.kill-everything"),
            Some(number) if scene.world.is_agent_process(number) => scene.rule("self.process"),
            Some(_) => {}
            None if is_looked_up(process, scene) => scene.rule("process.kill-found"),
            None => {}
        }
    }
}

/// The operands; nothing if no signal is sent.
fn processes(arguments: &[Value]) -> Option<&[Value]> {
    let first = arguments.first().map(Value::leading).unwrap_or_default();
    match first {
        "-l" | "-L" | "--list" | "--table" | "-0" | "--help" | "--version" => None,
        "-s" | "-n" | "--signal" | "-q" if arguments.get(1).and_then(Value::as_text) == Some("0") => None,
        "-s" | "-n" | "--signal" | "-q" => Some(without_dashes(arguments.get(2..)?)),
        "--" => arguments.get(1..),
        _ if first.starts_with('-') => Some(without_dashes(arguments.get(1..)?)),
        _ => Some(arguments),
    }
}

fn without_dashes(arguments: &[Value]) -> &[Value] {
    match arguments.split_first() {
        Some((first, rest)) if first.as_text() == Some("--") => rest,
        _ => arguments,
    }
}

fn is_looked_up(process: &Value, scene: &Scene<'_>) -> bool {
    let listed = process.parts.iter().any(|part| matches!(part, Part::Pattern(_)));
    listed || process.holds(Unknown::Processes) || handed_over(scene.invocation, scene)
}

/// Behind `xargs`, the numbers come out of a pipe: the shell's own jobs and files of numbers are fine, searches are not.
fn handed_over(invocation: &Invocation, scene: &Scene<'_>) -> bool {
    const OWN: &[&str] = &["cat", "echo", "jobs", "printf", "head", "tail"];
    let by_xargs = invocation
        .via
        .iter()
        .any(|via| matches!(via.split(' ').next(), Some("xargs" | "parallel")));
    let left = match scene.stdin() {
        Stdin::Pipe(left) => left,
        Stdin::File(file) => return by_xargs && is_of_others(&scene.locate(file)),
        Stdin::Inherited | Stdin::Text(_) => return by_xargs,
    };
    let first = left.first().and_then(|left| left.argv.first()).and_then(Value::as_text);
    by_xargs
        && (matches!(output_of(left, scene.world), Unknown::Processes | Unknown::Agent)
            || !first.is_some_and(|first| OWN.contains(&first)))
}
