//! What programs print, as far as that matters to whoever uses it.

use super::{Kind, What, effects_alone, uses};
use crate::invocation::{Invocation, Unknown};
use crate::line::Line;
use crate::paths::{Class, Classes};
use crate::programs::{self, Does};
use crate::world::World;

/// So many stages of a pipe are looked at.
pub(super) const MAX_STAGES: usize = 64;

/// What the output of a pipe (or of a list of commands) is: fetched, private, numbers of processes, or just anything.
pub fn output_of(invocations: &[Invocation], world: &World) -> Unknown {
    const GRAVEST_FIRST: [Unknown; 3] = [Unknown::Unseen, Unknown::Private, Unknown::Processes];
    let found: Vec<Unknown> = invocations
        .iter()
        .filter_map(|invocation| printed(invocation, world))
        .collect();
    GRAVEST_FIRST
        .into_iter()
        .find(|kind| found.contains(kind))
        .unwrap_or(Unknown::Anything)
}

fn printed(invocation: &Invocation, world: &World) -> Option<Unknown> {
    let carried = [Unknown::Unseen, Unknown::Private, Unknown::Processes];
    let argument = carried
        .into_iter()
        .find(|kind| invocation.argv.iter().any(|value| value.holds(*kind)));
    by_table(invocation)
        .or_else(|| by_files(invocation, world))
        .or(argument)
}

fn by_table(invocation: &Invocation) -> Option<Unknown> {
    let called = programs::called(&invocation.argv)?;
    let line = Line::read(called.program, called.arguments);
    uses::fitting(&line, called.program)
        .into_iter()
        .find_map(|usage| match usage.does {
            Does::Prints(what) => Some(what),
            Does::Rule(_) | Does::Effect(_) => None,
        })
}

/// What stands in the files that it shows. Numbers of processes that Snell keeps are those of Snell.
fn by_files(invocation: &Invocation, world: &World) -> Option<Unknown> {
    let effects = effects_alone(invocation, world);
    let read = effects.iter().filter(|effect| effect.what == What::Kind(Kind::Read));
    let classes = read
        .filter_map(|effect| effect.place.as_ref())
        .map(|place| place.classes);
    let all = classes.fold(Classes::default(), Classes::and);
    if all.has(Class::Secret) {
        Some(Unknown::Private)
    } else if all.has(Class::Own) {
        Some(Unknown::Processes)
    } else {
        None
    }
}
