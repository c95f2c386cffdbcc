//! Programs of which nothing is known but what their flags are called: `--output` is written to, whoever takes it.

use crate::effects::EffectDepth;
use std::borrow::Cow;

use super::{collector::EffectCollector, program_uses};
use crate::invocation::SymbolicText;
use crate::programs::argv::ParsedArgs;
use crate::programs::{self, ProgramSpec, ProgramUse, UseEffect, UseTarget};
use crate::wrappers;

/// Judges what a program is told by flags that mean the same nearly everywhere. Of one that is known, only long flags
/// count, and only those of which its entry says nothing.
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

/// Whether a flag is a long one of which a program's entry says nothing.
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
        all.any(|told| told.split('=').next() == Some(flag))
    };
    flag.starts_with("--")
        && !program.value_flags.contains(&flag)
        && !program.attached_flags.contains(&flag)
        && !program.uses.iter().any(tells)
}
