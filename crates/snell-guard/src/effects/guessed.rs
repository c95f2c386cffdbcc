//! Programs of which nothing is known but what their flags are called: `--output` is written to, whoever takes it.

use std::borrow::Cow;

use super::{scene::Scene, uses};
use crate::invocation::Value;
use crate::line::Line;
use crate::programs::{self, Does, Program, Target, Use};
use crate::unwrap;

/// Judges what a program is told by flags that mean the same nearly everywhere. Of one that is known, only long flags
/// count, and only those of which its entry says nothing.
pub(super) fn apply(scene: &mut Scene<'_>, known: Option<&'static Program>) {
    let is_long = |value: &Value| value.leading().starts_with("--");
    if known.is_some() && !scene.arguments().iter().any(is_long) {
        return;
    }
    let Some(general) = programs::any_other() else { return };
    let line = Line::read(general, unwrap::own_arguments(&scene.invocation.argv));
    for usage in uses::fitting(&line, general, scene.world) {
        let Does::Effect(kind) = usage.does else { continue };
        let values: Vec<Value> = match (usage.on, known) {
            (Target::Flag(spellings), _) => spellings
                .iter()
                .filter(|flag| known.is_none_or(|program| is_new_to(program, flag)))
                .flat_map(|flag| {
                    let values = line.values(std::slice::from_ref(flag));
                    values.map(Cow::into_owned).collect::<Vec<_>>()
                })
                .collect(),
            (Target::Operands, None) => line.operands.iter().map(|value| (*value).clone()).collect(),
            _ => Vec::new(),
        };
        for value in values.iter().filter(|value| is_like_a_path(value)) {
            scene.on(kind, value, false);
        }
    }
}

/// Whether a flag is a long one of which a program's entry says nothing.
fn is_new_to(program: &Program, flag: &str) -> bool {
    let tells = |usage: &Use| {
        let needed = usage.needs.iter().flat_map(|spellings| spellings.iter());
        let target: &[&str] = match usage.on {
            Target::Flag(flags) | Target::FlagAt(flags) | Target::FlagHost(flags) | Target::Into(flags) => flags,
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

/// Whether a value looks like a file rather than like a word: `-o json`.
fn is_like_a_path(value: &Value) -> bool {
    value.leading().contains(['/', '.'])
}
