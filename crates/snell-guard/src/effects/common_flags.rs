//! Flags with the same meaning in nearly all programs, for programs without an entry: `--output` names a file to write.

use crate::effects::EffectDepth;
use std::borrow::Cow;

use super::{collector::EffectCollector, program_uses};
use crate::invocation::SymbolicText;
use crate::programs::argv::ParsedArgs;
use crate::programs::{self, ProgramSpec, ProgramUse, UseEffect, UseTarget};
use crate::wrappers;

/// Adds the effects of common flags. For a program with an entry, only long flags are used that the entry does not
/// list.
pub(super) fn apply_common_flags(collector: &mut EffectCollector<'_>, known: Option<&'static ProgramSpec>) {
    let is_long = |value: &SymbolicText| value.leading_text().starts_with("--");
    if known.is_some() && !collector.arguments().iter().any(is_long) {
        return;
    }
    let Some(general) = programs::fallback_program() else { return };
    let line = ParsedArgs::parse(general, wrappers::own_arguments(&collector.invocation.argv));
    for usage in program_uses::find_matching_uses(&line, general, collector.context) {
        let UseEffect::Effect(kind) = usage.does else { continue };
        let values: Vec<SymbolicText> = match (usage.on, known) {
            (UseTarget::Flag(spellings), _) => spellings
                .iter()
                .filter(|flag| line.flag_values(std::slice::from_ref(*flag)).next().is_some())
                .filter(|flag| known.is_none_or(|program| is_unlisted_long_flag(program, flag)))
                .flat_map(|flag| {
                    let values = line.flag_values(std::slice::from_ref(flag));
                    values.map(Cow::into_owned).collect::<Vec<_>>()
                })
                .collect(),
            (UseTarget::Operands, None) => line.operands.iter().map(|value| (*value).clone()).collect(),
            _ => Vec::new(),
        };
        for value in values.iter().filter(|value| value.leading_text().contains(['/', '.'])) {
            collector.add_path_effect(kind, value, EffectDepth::Single);
        }
    }
}

/// Whether this is a long flag that the program's entry does not list.
fn is_unlisted_long_flag(program: &ProgramSpec, flag: &str) -> bool {
    let tells = |usage: &ProgramUse| {
        let needed = usage.needs.iter().flat_map(|spellings| spellings.iter());
        let target: &[&str] = match usage.on {
            UseTarget::Flag(flags) | UseTarget::FlagAt(flags) | UseTarget::FlagHost(flags) | UseTarget::Into(flags) => {
                flags
            }
            _ => &[],
        };
        let mut all = needed.chain(usage.any).chain(usage.unless).chain(target);
        all.any(|listed| listed.split('=').next() == Some(flag))
    };
    flag.starts_with("--")
        && !program.value_flags.contains(&flag)
        && !program.attached_flags.contains(&flag)
        && !program.uses.iter().any(tells)
}
