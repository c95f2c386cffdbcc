//! Classifies the output of programs.

use super::{Effect, EffectKind, PathAction, collect_effects_without_input, program_uses};
use crate::effects::handlers::interpreter;
use crate::effects::secrets::exposure;
use crate::invocation::{Invocation, SymbolicText, UnknownKind};
use crate::judge::context::JudgeContext;
use crate::paths::{ClassifiedPath, PathClass, PathClasses};
use crate::programs::argv::ParsedArgs;
use crate::programs::{self, UseEffect};

/// How many stages of a pipe are checked.
pub(super) const MAX_STAGES: usize = 64;

/// The kind of output of a pipe or a list of commands: downloaded, private, process ids, or unknown.
pub fn classify_output(invocations: &[Invocation], context: &JudgeContext) -> UnknownKind {
    let mut found: Vec<UnknownKind> =
        invocations.iter().filter_map(|invocation| classify_invocation_output(invocation, context)).collect();
    if found.contains(&UnknownKind::Processes) && invocations.iter().any(names_agent) {
        found.push(UnknownKind::Agent);
    }
    UnknownKind::CARRIED
        .into_iter()
        .find(|kind| found.contains(kind))
        .or_else(|| exposure::find_carried_secret(invocations).map(UnknownKind::Credential))
        .or_else(|| prints_file_lines(invocations, context).then_some(UnknownKind::FromInput))
        .unwrap_or(UnknownKind::Anything)
}

/// Whether the arguments name an agent or Snell.
pub(super) fn names_agent(invocation: &Invocation) -> bool {
    let is_agent = |word: &SymbolicText| {
        let text = word.to_string();
        let mut words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
        words.any(|word| word == "snell" || word == "ppid" || programs::is_agent_program(word))
    };
    invocation.argv.iter().skip(1).any(is_agent)
}

/// Whether these programs print lines of a file.
fn prints_file_lines(invocations: &[Invocation], context: &JudgeContext) -> bool {
    const READERS: &[&str] = &["cat", "head", "tail", "sort", "uniq", "tac", "shuf", "base64", "xxd", "od", "hexdump"];
    invocations.first().is_some_and(|first| {
        let name = first.name();
        let reads = |effect: &Effect| effect.kind == EffectKind::Path(PathAction::Read);
        name.is_some_and(|name| READERS.contains(&name))
            && collect_effects_without_input(first, context).iter().any(reads)
    })
}

fn classify_invocation_output(invocation: &Invocation, context: &JudgeContext) -> Option<UnknownKind> {
    let mut carried = UnknownKind::CARRIED.into_iter();
    let argument = carried.find(|kind| invocation.argv.iter().any(|value| value.contains_unknown(*kind)));
    output_from_table(invocation, context).or_else(|| output_from_files(invocation, context)).or(argument)
}

fn output_from_table(invocation: &Invocation, context: &JudgeContext) -> Option<UnknownKind> {
    let called = programs::resolve_program_call(&invocation.argv)?;
    let line = ParsedArgs::parse(called.program, called.arguments);
    program_uses::find_matching_uses(&line, called.program, context).into_iter().find_map(|usage| match usage.does {
        UseEffect::Prints(what) => Some(what),
        UseEffect::Rule(_) | UseEffect::Effect(_) => None,
    })
}

/// The kind of output by the files that a program shows. Snell's pid files hold ids of Snell's processes.
fn output_from_files(invocation: &Invocation, context: &JudgeContext) -> Option<UnknownKind> {
    let effects = collect_effects_without_input(invocation, context);
    let read = effects.iter().filter(|effect| effect.kind == EffectKind::Path(PathAction::Read));
    let places: Vec<&ClassifiedPath> = read.filter_map(|effect| effect.place.as_ref()).collect();
    let all = places.iter().fold(PathClasses::default(), |all, place| all.union(place.classes));
    if all.contains(PathClass::Secret) {
        Some(UnknownKind::Private)
    } else if places.iter().any(|place| interpreter::is_binary_file_name(place.display_path())) {
        Some(UnknownKind::Unseen)
    } else if places.iter().any(|place| is_foreign_pid_file(place)) {
        Some(UnknownKind::Processes)
    } else {
        None
    }
}

/// Whether a pid file is not the agent's own: Snell's, or one outside the project and temporary directories.
pub(crate) fn is_foreign_pid_file(path: &ClassifiedPath) -> bool {
    const OTHERS: [PathClass; 4] = [PathClass::System, PathClass::Home, PathClass::HomeRoot, PathClass::Elsewhere];
    let names_a_process = path.display_path().ends_with(".pid");
    path.classes.contains(PathClass::Own) || (names_a_process && path.classes.intersects(OTHERS.into()))
}
