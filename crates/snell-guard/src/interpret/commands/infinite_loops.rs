//! Endless loops that start a process in each iteration without waiting for it. They exhaust the machine.

use crate::programs::words::shell as words;
use snell_shell::{ShellCommand, ShellCommandKind, ShellScript, ShellWord};

/// Conditions that are always true.
const ALWAYS: &[&[&str]] = &[&[":"], &["true"], &["/bin/true"], &["[", "1", "]"], &["test", "1"]];

/// Conditions that are never true.
const NEVER: &[&[&str]] = &[&["false"], &["/bin/false"]];

/// Whether this is such a loop.
pub(crate) fn is_fork_bomb_loop(kind: &ShellCommandKind) -> bool {
    match kind {
        ShellCommandKind::While { until, condition, body } => {
            is_constant_condition(condition, !*until) && is_spawn_only(body)
        }
        ShellCommandKind::ArithmeticFor { expressions, body } => is_endless_for(expressions) && is_spawn_only(body),
        _ => false,
    }
}

/// `while true`, `until false`
fn is_constant_condition(condition: &ShellScript, wanted: bool) -> bool {
    let Some((pipeline, command)) = condition.single_command() else {
        return false;
    };
    let conditions = if wanted == pipeline.negated { NEVER } else { ALWAYS };
    let is_one = |word: &ShellWord| word.to_literal().is_some_and(|text| text.trim() == "1");
    match &command.kind {
        ShellCommandKind::Simple { words, .. } => conditions.iter().any(|condition| {
            condition.len() == words.len()
                && words.iter().zip(*condition).all(|(word, wanted)| word.to_literal().as_deref() == Some(*wanted))
        }),
        ShellCommandKind::Test(words) => {
            wanted != pipeline.negated && matches!(words.as_slice(), [word] if is_one(word))
        }
        ShellCommandKind::Arithmetic(word) => wanted != pipeline.negated && is_one(word),
        _ => false,
    }
}

/// `for ((;;))`
fn is_endless_for(expressions: &ShellWord) -> bool {
    let text = expressions.to_literal().unwrap_or_default();
    let mut parts = text.split(';');
    matches!((parts.next(), parts.next().map(str::trim)), (Some(_), Some("" | "1")))
}

/// Whether the body starts something in the background, and nothing waits or leaves the loop.
fn is_spawn_only(body: &ShellScript) -> bool {
    let starts = body.items.iter().any(|item| item.background);
    let mut others = body.items.iter().filter(|item| !item.background);
    starts
        && others.all(|item| {
            let pipelines = item.pipelines.iter().map(|(_, pipeline)| pipeline);
            pipelines.flat_map(|pipeline| &pipeline.commands).all(is_instant_command)
        })
}

/// A command that is not simple may do anything, and is not checked.
fn is_instant_command(command: &ShellCommand) -> bool {
    matches!(command.kind, ShellCommandKind::Arithmetic(_) | ShellCommandKind::Test(_))
        || command.kind.is_simple_one_of(words::INSTANT_COMMANDS)
}
