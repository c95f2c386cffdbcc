//! What programs print, as far as that matters to whoever uses it.

use super::{Effect, Kind, What, effects_alone, interpreter, shown, uses};
use crate::invocation::{Invocation, Unknown, Value};
use crate::line::Line;
use crate::paths::{Class, Classes, Place};
use crate::programs::{self, Does};
use crate::world::World;

/// So many stages of a pipe are looked at.
pub(super) const MAX_STAGES: usize = 64;

/// What the output of a pipe (or of a list of commands) is: fetched, private, numbers of processes, or just anything.
pub fn output_of(invocations: &[Invocation], world: &World) -> Unknown {
    const GRAVEST_FIRST: [Unknown; 4] = [Unknown::Unseen, Unknown::Private, Unknown::Agent, Unknown::Processes];
    let mut found: Vec<Unknown> = invocations
        .iter()
        .filter_map(|invocation| printed(invocation, world))
        .collect();
    if found.contains(&Unknown::Processes) && invocations.iter().any(names_the_agent) {
        found.push(Unknown::Agent);
    }
    GRAVEST_FIRST
        .into_iter()
        .find(|kind| found.contains(kind))
        .or_else(|| shown::carried(invocations).map(Unknown::Credential))
        .or_else(|| is_of_a_file(invocations, world).then_some(Unknown::Told))
        .unwrap_or(Unknown::Anything)
}

/// Whether an agent or Snell is looked for, by its name.
fn names_the_agent(invocation: &Invocation) -> bool {
    let is_agent = |word: &Value| {
        let text = word.to_string();
        let mut words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
        words.any(|word| word == "snell" || word == "ppid" || programs::is_agent(word))
    };
    invocation.argv.iter().skip(1).any(is_agent)
}

/// Whether these print lines of a file.
fn is_of_a_file(invocations: &[Invocation], world: &World) -> bool {
    const READERS: &[&str] = &["cat", "head", "tail", "sort", "uniq", "tac", "shuf"];
    invocations.first().is_some_and(|first| {
        let name = first.argv.first().and_then(Value::as_text);
        let reads = |effect: &Effect| effect.what == What::Kind(Kind::Read);
        name.is_some_and(|name| READERS.contains(&name)) && effects_alone(first, world).iter().any(reads)
    })
}

fn printed(invocation: &Invocation, world: &World) -> Option<Unknown> {
    let carried = [Unknown::Unseen, Unknown::Private, Unknown::Agent, Unknown::Processes];
    let argument = carried
        .into_iter()
        .find(|kind| invocation.argv.iter().any(|value| value.holds(*kind)));
    by_table(invocation, world)
        .or_else(|| by_files(invocation, world))
        .or(argument)
}

fn by_table(invocation: &Invocation, world: &World) -> Option<Unknown> {
    let called = programs::called(&invocation.argv)?;
    let line = Line::read(called.program, called.arguments);
    uses::fitting(&line, called.program, world)
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
    let places: Vec<&Place> = read.filter_map(|effect| effect.place.as_ref()).collect();
    let all = places
        .iter()
        .fold(Classes::default(), |all, place| all.and(place.classes));
    if all.has(Class::Secret) {
        Some(Unknown::Private)
    } else if places.iter().any(|place| interpreter::is_no_text(place.told())) {
        Some(Unknown::Unseen)
    } else if places.iter().any(|place| is_of_others(place)) {
        Some(Unknown::Processes)
    } else {
        None
    }
}

/// Whether a file says the number of a process that somebody else has started: Snell's, and what lies neither in the
/// project nor in a temporary directory.
pub(crate) fn is_of_others(place: &Place) -> bool {
    const OTHERS: [Class; 4] = [Class::System, Class::Home, Class::HomeRoot, Class::Elsewhere];
    let names_a_process = place.told().ends_with(".pid");
    place.classes.has(Class::Own) || (names_a_process && place.classes.meets(OTHERS.into()))
}
