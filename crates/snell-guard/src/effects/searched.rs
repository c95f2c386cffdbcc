//! Names that a search below Snell's own directories has printed, and that a later program of the same call is handed in
//! a way that cannot be followed: by an array, by a file, by a shell.

use super::{Effect, Kind, What};
use crate::invocation::{Invocation, Stdin, Stdout, Value};
use crate::paths::{Class, Place, locate};
use crate::world::World;

/// Programs that print names of files.
const LISTERS: &[&str] = &[
    "ack", "ag", "bfs", "compgen", "du", "egrep", "exa", "eza", "fd", "fdfind", "fgrep", "find", "grep", "ls", "lsof",
    "rg", "stat", "tree",
];

/// Shells that run what they are fed.
const SHELLS: &[&str] = &["bash", "dash", "ksh", "sh", "zsh"];

/// What is done to files that must not be done to Snell's own.
const CHANGES: &[Kind] = &[
    Kind::Delete,
    Kind::Overwrite,
    Kind::Put,
    Kind::Take,
    Kind::Mode,
    Kind::Lock,
    Kind::Edit,
    Kind::Replace,
];

/// Adds an effect for each program that may change what such a search has found.
pub(super) fn follow(invocations: &[Invocation], world: &World, list: &mut Vec<Effect>) {
    let mut searches = invocations.iter().enumerate();
    let first = searches.find_map(|(number, search)| Some((number, own_start(search, world)?)));
    let Some((number, place)) = first else { return };
    let is_unknown = |place: &Place| place.classes.has(Class::Unknown) && place.known().is_none();
    let changes = |effect: &&Effect| {
        let kind = CHANGES.iter().any(|kind| effect.what == What::Kind(*kind));
        kind && effect.by > Some(number) && effect.place.as_ref().is_some_and(is_unknown)
    };
    let changed = list.iter().find(changes).and_then(|effect| effect.by);
    let shell = || invocations.iter().rposition(|later| is_fed_by_search(later, world));
    let Some(by) = changed.or_else(shell) else { return };
    list.push(Effect {
        what: What::Kind(Kind::MayEdit),
        place: Some(Place {
            classes: place.classes.with(Class::Own),
            ..place
        }),
        recursive: false,
        program: "the command",
        by: Some(by),
        allowed: invocations.get(by).and_then(|invocation| invocation.allowed),
        span: invocations
            .get(by)
            .map(|invocation| invocation.span.clone())
            .unwrap_or_default(),
    });
}

/// Where a search starts whose output goes to another program, if Snell has something of its own there.
fn own_start(search: &Invocation, world: &World) -> Option<Place> {
    let is_lister = LISTERS.contains(&base_name(search)) && search.stdout != Stdout::Inherited && !search.elsewhere;
    let mut places = search.argv.iter().skip(1).filter(|_| is_lister);
    places.find_map(|value| {
        let place = locate(value, search.cwd.as_deref(), world);
        let holds = place.classes.has(Class::HoldsOwn) && !place.classes.has(Class::ProjectRoot);
        (holds || place.classes.has(Class::Own)).then_some(place)
    })
}

/// Whether it is a shell that is fed by such a search.
fn is_fed_by_search(shell: &Invocation, world: &World) -> bool {
    let Stdin::Pipe(left) = &shell.stdin else { return false };
    SHELLS.contains(&base_name(shell))
        && shell.argv.len() == 1
        && left.iter().any(|invocation| own_start(invocation, world).is_some())
}

fn base_name(invocation: &Invocation) -> &str {
    let name = invocation.argv.first().and_then(Value::as_text).unwrap_or_default();
    name.rsplit('/').next().unwrap_or(name)
}
