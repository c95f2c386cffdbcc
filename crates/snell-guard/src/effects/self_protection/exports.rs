//! Exported variables of Snell. An export before a program is for that program; an export without one affects what the
//! agent starts later.

use crate::effects::{Effect, EffectKind, find_rule_index};
use crate::invocation::Invocation;
use crate::programs::words::own_files as words;

/// Drops the effects of exports that a later program of the call uses.
pub(crate) fn drop_excused_exports(invocations: &[Invocation], list: &mut Vec<Effect>) {
    let rule = EffectKind::Rule(find_rule_index("self.environment"));
    let is_for_a_program = |effect: &Effect| {
        let later = invocations.iter().skip(effect.by.map_or(0, |number| number + 1));
        let mut names = later.filter_map(Invocation::name);
        names.any(|name| !words::TRIVIAL_PROGRAMS.contains(&name))
    };
    let is_export = |effect: &Effect| {
        let by = effect.by.and_then(|number| invocations.get(number));
        by.and_then(Invocation::name) == Some("export")
    };
    list.retain(|effect| effect.kind != rule || !is_export(effect) || !is_for_a_program(effect));
}
