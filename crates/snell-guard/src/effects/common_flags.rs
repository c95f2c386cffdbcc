//! Flags with the same meaning in nearly all programs, for programs without an entry: `--output` names a file to write.

use crate::effects::EffectDepth;
use std::borrow::Cow;

use super::{PathAction, collector::EffectCollector, program_uses};
use crate::invocation::SymbolicText;
use crate::paths::{PathClass, matches_glob};
use crate::programs::argv::ParsedArgs;
use crate::programs::words::cmdlets as words;
use crate::programs::{self, ProgramSpec, ProgramUse, UseEffect, UseTarget};
use crate::wrappers;

/// How many arguments of an unknown program are looked up.
const MAX_OPERANDS: usize = 64;

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
        let kind = match usage.does {
            UseEffect::Effect(kind) => kind,
            UseEffect::Rule(number) if known.is_none() && is_tool(collector) => {
                program_uses::add_use_rule(collector, usage, number);
                continue;
            }
            UseEffect::Rule(_) | UseEffect::Prints(_) => continue,
        };
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

/// Adds effects that the names of an unknown program and of its arguments show: a cmdlet that deletes something of a service,
/// or a program that gets a secret of the user.
pub(super) fn apply_unknown_program(collector: &mut EffectCollector<'_>, name: &str) {
    let cmdlet = name.to_ascii_lowercase();
    if words::REMOVERS.iter().any(|pattern| matches_glob(&cmdlet, pattern)) {
        collector.add_rule_effect("infra.unknown-delete");
    }
    if collector.invocation.elsewhere || wrappers::is_wrapper(name) {
        return;
    }
    let sends =
        collector.arguments().iter().filter_map(SymbolicText::as_text).any(|word| words::SENDERS.contains(&word));
    let mut after_flag = false;
    for argument in collector.arguments().iter().take(MAX_OPERANDS) {
        let text = argument.leading_text();
        // A flag names the key with which a program logs in: `--kubeconfig FILE`.
        let is_value = std::mem::replace(&mut after_flag, text.starts_with('-'));
        if !text.starts_with(['/', '~', '.']) || (is_value && !sends) {
            continue;
        }
        let place = collector.locate_path(argument);
        let is_secret = place.classes.intersects([PathClass::Secret, PathClass::SecretDir].into());
        let is_personal = place.classes.contains(PathClass::Home) && !place.classes.contains(PathClass::Project);
        if is_secret && sends {
            collector.push_path_effect(PathAction::Send, place, EffectDepth::Recursive);
        } else if is_secret && is_personal {
            collector.push_path_effect(PathAction::Read, place, EffectDepth::Recursive);
        }
    }
}

/// Whether the program is neither a script of the project nor a program that runs others.
fn is_tool(collector: &EffectCollector<'_>) -> bool {
    let name = collector.invocation.argv.first().and_then(SymbolicText::as_text);
    name.is_some_and(|name| !name.contains('/') && !wrappers::is_wrapper(name))
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
