//! Copies of Snell's program: commands that make one, and programs that may be one.

use crate::effects::EffectDepth;
use crate::effects::collector::EffectCollector;
use crate::effects::{Effect, EffectKind, PathAction, collect_effects_without_input};
use crate::invocation::{StdinSource, StdoutTarget, SymbolicText};
use crate::paths::PathClass;
use crate::programs;
use crate::programs::words::own_files as words;

/// How many programs of a pipe are checked.
const MAX_PIPED: usize = 16;

/// `cat program > file`, `base64 program | base64 -d > file`: these copy the program.
pub(in crate::effects) fn find_program_copies(collector: &mut EffectCollector<'_>) {
    let writes =
        collector.invocation.stdout == StdoutTarget::File || words::WRITERS.contains(&collector.invocation.base_name());
    if !writes || !collector.includes_input() || words::DESCRIBERS.contains(&collector.invocation.base_name()) {
        return;
    }
    let mut place = collector.find_self_program_read();
    let mut stdin = collector.stdin();
    let mut looked_at = 0;
    while let (StdinSource::Pipe(left), None) = (stdin, &place) {
        let Some(last) = left.last().filter(|_| looked_at < MAX_PIPED) else {
            break;
        };
        if words::DESCRIBERS.contains(&last.base_name()) {
            break;
        }
        for invocation in left.iter().take(MAX_PIPED) {
            let mut effects = collect_effects_without_input(invocation, collector.context).into_iter();
            let is_copied = |effect: &Effect| effect.kind == EffectKind::Path(PathAction::Read);
            let found = effects.find(|effect| is_copied(effect) && is_snell_program(effect));
            place = place.or(found.and_then(|effect| effect.place));
        }
        stdin = &last.stdin;
        looked_at += 1;
    }
    if let Some(place) = place {
        collector.push_path_effect(PathAction::Copy, place, EffectDepth::Single);
    }
}

fn is_snell_program(effect: &Effect) -> bool {
    let place = effect.place.as_ref();
    place.is_some_and(|place| place.classes.contains(PathClass::OwnProgram))
}

/// A program that gets a command of Snell may be a copy of Snell under another name, unless it is a known program.
pub(in crate::effects) fn find_renamed_program(collector: &mut EffectCollector<'_>) {
    let name = collector.invocation.name();
    let by_path = name.is_none_or(|name| name.contains('/'));
    if collector.program().is_some() && !name.is_some_and(|name| by_path && !name.starts_with('/')) {
        return;
    }
    let arguments = collector.invocation.arguments();
    let mut arguments = arguments.iter().map(SymbolicText::as_text);
    let (Some(Some(command)), object) = (arguments.next(), arguments.next()) else {
        return;
    };
    let on_agent = object.flatten().is_some_and(programs::is_agent_program);
    let is_own = words::SNELL_COMMANDS.contains(&command);
    if is_own && (on_agent || by_path && command.ends_with("trust")) {
        collector.add_rule_effect("self.renamed");
    }
}
