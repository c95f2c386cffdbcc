//! Shells and interpreters: would they run what nobody has seen?

use std::borrow::Cow;

use super::output_of;
use super::scene::Scene;
use crate::invocation::{Stdin, Unknown, Value};
use crate::programs::Program;

/// Names of standard input.
const STDIN: &[&str] = &["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"];

/// Judges the code that would run, if it came from another machine or out of an encoding.
pub(super) fn apply(scene: &mut Scene<'_>, program: &Program) {
    let handed = code(scene, program).any(|value| value.holds(Unknown::Unseen));
    if handed || (reads_stdin(scene, program) && unseen(scene.stdin(), scene)) {
        scene.rule("network.run-unseen");
    }
}

/// What is certainly code: the value of `-c`, or the first operand, which names a file.
fn code<'a>(scene: &Scene<'a>, program: &Program) -> impl Iterator<Item = Cow<'a, Value>> {
    let flags: Vec<_> = program
        .code_flags
        .iter()
        .flat_map(|spellings| scene.line.values(spellings))
        .collect();
    let everything = scene.name() == "eval";
    let count = if everything { usize::MAX } else { 1 };
    let operands: Vec<_> = scene
        .line
        .operands
        .iter()
        .take(count)
        .map(|value| Cow::Borrowed(*value))
        .collect();
    flags.into_iter().chain(operands)
}

fn reads_stdin(scene: &Scene<'_>, program: &Program) -> bool {
    // `python -m module` reads data.
    let is_module = scene.line.has("-m");
    let has_code = is_module || program.code_flags.iter().any(|spellings| scene.line.has_any(spellings));
    // `bash +x` sets an option.
    let first = scene
        .line
        .operands
        .iter()
        .find(|operand| !operand.leading().starts_with('+'));
    let named = first.is_some_and(|first| first.as_text().is_some_and(|text| STDIN.contains(&text)));
    !has_code && (first.is_none() || named || scene.line.letters().any(|letter| letter == "s"))
}

fn unseen(stdin: &Stdin, scene: &Scene<'_>) -> bool {
    match stdin {
        Stdin::Inherited => false,
        Stdin::Text(value) | Stdin::File(value) => value.holds(Unknown::Unseen),
        Stdin::Pipe(left) => output_of(left, scene.world) == Unknown::Unseen,
    }
}
