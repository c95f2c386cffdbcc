//! Variables of Snell's that a shell hands on to what it starts. Set for a program that follows, they are that program's
//! business; set for nothing that follows, they are there for what the agent starts later.

use super::{Effect, What, number_of};
use crate::invocation::{Invocation, Value};

/// Programs that no variable of Snell's is set for.
const TRIVIAL: &[&str] = &[
    "echo", "printf", "true", ":", "false", "ls", "pwd", "cat", "env", "printenv", "export", "test", "[", "sleep",
    "date",
];

/// Takes back what is excused by a program that runs behind it.
pub(super) fn drop_excused(invocations: &[Invocation], list: &mut Vec<Effect>) {
    let rule = What::Rule(number_of("self.environment"));
    let is_for_a_program = |effect: &Effect| {
        let later = invocations.iter().skip(effect.by.map_or(0, |number| number + 1));
        let mut names = later.filter_map(|invocation| invocation.argv.first().and_then(Value::as_text));
        names.any(|name| !TRIVIAL.contains(&name))
    };
    let is_export = |effect: &Effect| {
        let by = effect.by.and_then(|number| invocations.get(number));
        by.and_then(|by| by.argv.first()).and_then(Value::as_text) == Some("export")
    };
    list.retain(|effect| effect.what != rule || !is_export(effect) || !is_for_a_program(effect));
}
