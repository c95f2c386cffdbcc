//! Loops that never end and start something in every round without waiting for it: soon there is room for nothing else.

use crate::syntax::{Command, CommandKind, Pipeline, Script, Word};

/// Commands that take no time, so that the next round comes at once.
const INSTANT: &[&str] = &[
    ":", "[", "declare", "disown", "echo", "export", "false", "let", "local", "printf", "set", "shift", "test", "true",
    "unset",
];

/// Conditions that always hold.
const ALWAYS: &[&[&str]] = &[&[":"], &["true"], &["/bin/true"], &["[", "1", "]"], &["test", "1"]];

/// Conditions that never hold.
const NEVER: &[&[&str]] = &[&["false"], &["/bin/false"]];

/// Whether this is such a loop.
pub(super) fn is_bomb(kind: &CommandKind) -> bool {
    match kind {
        CommandKind::While { until, condition, body } => is_constant(condition, !*until) && only_starts(body),
        CommandKind::ArithmeticFor { expressions, body } => has_no_end(expressions) && only_starts(body),
        _ => false,
    }
}

/// `while true`, `until false`
fn is_constant(condition: &Script, wanted: bool) -> bool {
    let [item] = condition.items.as_slice() else {
        return false;
    };
    let [(_, pipeline)] = item.pipelines.as_slice() else {
        return false;
    };
    let [command] = pipeline.commands.as_slice() else {
        return false;
    };
    let conditions = if wanted == pipeline.negated { NEVER } else { ALWAYS };
    let is_one = |word: &Word| word.literal().is_some_and(|text| text.trim() == "1");
    match &command.kind {
        CommandKind::Simple { words, .. } => conditions.iter().any(|condition| {
            condition.len() == words.len()
                && words
                    .iter()
                    .zip(*condition)
                    .all(|(word, wanted)| word.literal().as_deref() == Some(*wanted))
        }),
        CommandKind::Test(words) => wanted != pipeline.negated && matches!(words.as_slice(), [word] if is_one(word)),
        CommandKind::Arithmetic(word) => wanted != pipeline.negated && is_one(word),
        _ => false,
    }
}

/// `for ((;;))`
fn has_no_end(expressions: &Word) -> bool {
    let text = expressions.literal().unwrap_or_default();
    let mut parts = text.split(';');
    matches!((parts.next(), parts.next().map(str::trim)), (Some(_), Some("" | "1")))
}

/// Whether something is started in the background, and nothing takes time or leaves the loop.
fn only_starts(body: &Script) -> bool {
    let starts = body.items.iter().any(|item| item.background);
    let mut others = body.items.iter().filter(|item| !item.background);
    starts
        && others.all(|item| {
            let pipelines = item.pipelines.iter().map(|(_, pipeline)| pipeline);
            pipelines.flat_map(commands).all(is_instant)
        })
}

fn commands(pipeline: &Pipeline) -> &[Command] {
    &pipeline.commands
}

/// What is more than a simple command may do anything, and is not looked into.
fn is_instant(command: &Command) -> bool {
    match &command.kind {
        CommandKind::Simple { words, .. } => words
            .first()
            .is_none_or(|word| word.bare().is_some_and(|name| INSTANT.contains(&name))),
        CommandKind::Arithmetic(_) | CommandKind::Test(_) => true,
        _ => false,
    }
}
