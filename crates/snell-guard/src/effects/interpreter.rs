//! Shells and interpreters: would they run what nobody has seen?

use std::borrow::Cow;

use super::output_of;
use super::scene::Scene;
use crate::invocation::{Stdin, Unknown, Value};
use crate::programs::Program;

/// Names of standard input.
const STDIN: &[&str] = &["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"];

/// Words that only say that something is to be run: `deno run`.
const RUN: &[(&str, &str)] = &[("deno", "run"), ("bun", "run")];

/// Flags with which an interpreter lets code do what it likes: without them, deno keeps it in.
const LOOSE: &[&str] = &["-A", "--allow-all", "--allow-run", "--allow-write", "--allow-ffi"];

/// How addresses begin.
const ADDRESSES: &[&str] = &["http://", "https://", "git+http://", "git+https://"];

/// Files that hold no text: what is cut out of them is no script that anybody has read.
const NO_TEXT: &[&str] = &[
    ".bin", ".bmp", ".bz2", ".dat", ".gif", ".gz", ".ico", ".iso", ".jpeg", ".jpg", ".mp3", ".mp4", ".pdf", ".png",
    ".tgz", ".ttf", ".wav", ".webp", ".woff", ".woff2", ".xz", ".zip", ".zst",
];

/// Whether a file holds no text, by its name.
pub(super) fn is_no_text(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    NO_TEXT.iter().any(|ending| lower.ends_with(ending))
}

/// A program by its address: `npx https://…`
pub(super) fn address(scene: &mut Scene<'_>, name: &str) {
    if is_address(name) && !scene.invocation.via.is_empty() {
        scene.rule("network.run-unseen");
    }
}

fn is_address(text: &str) -> bool {
    ADDRESSES.iter().any(|start| text.starts_with(start))
}

/// Judges the code that would run, if it came from another machine or out of an encoding.
pub(super) fn apply(scene: &mut Scene<'_>, program: &Program) {
    let handed = code(scene, program).any(|value| value.holds(Unknown::Unseen));
    let loose = scene.name() == "deno" && scene.line.has_any(LOOSE);
    let fetched = loose
        && scene
            .line
            .operands
            .iter()
            .take(2)
            .any(|value| is_address(value.leading()));
    if handed || fetched || (reads_stdin(scene, program) && unseen(scene.stdin(), scene)) {
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
    let operands: Vec<_> = operands(scene).take(count).map(Cow::Borrowed).collect();
    flags.into_iter().chain(operands)
}

/// The operands, without a word that only says that the next is to be run.
fn operands<'a>(scene: &Scene<'a>) -> impl Iterator<Item = &'a Value> {
    let first = scene.line.operands.first().and_then(|value| value.as_text());
    let told = RUN
        .iter()
        .any(|(name, word)| scene.name() == *name && first == Some(word));
    scene.line.operands.clone().into_iter().skip(usize::from(told))
}

fn reads_stdin(scene: &Scene<'_>, program: &Program) -> bool {
    // `python -m module` reads data.
    let is_module = scene.line.has("-m");
    let has_code = is_module || program.code_flags.iter().any(|spellings| scene.line.has_any(spellings));
    // `bash +x` sets an option.
    let first = operands(scene).find(|operand| !operand.leading().starts_with('+'));
    let named = first.is_some_and(|first| first.as_text().is_some_and(|text| STDIN.contains(&text)));
    !has_code && (first.is_none() || named || scene.line.letters().any(|letter| letter == "s"))
}

fn unseen(stdin: &Stdin, scene: &Scene<'_>) -> bool {
    match stdin {
        Stdin::Inherited => false,
        Stdin::Text(value) => value.holds(Unknown::Unseen),
        Stdin::File(value) => value.holds(Unknown::Unseen) || is_no_text(value.leading()),
        Stdin::Pipe(left) => output_of(left, scene.world) == Unknown::Unseen,
    }
}
