//! What must not even be read must not be handed to a program either, unless that only looks at names.

use std::borrow::Cow;

use super::abroad::place;
use super::{Effect, Kind, What, limit};
use crate::invocation::{Invocation, Value};
use crate::paths::Class;
use crate::policy::{Guarded, Protected};
use crate::programs::{self, Called, Does, Handler, Program};
use crate::unwrap;
use crate::world::World;

/// What stands around a path in one argument: `--file=path`, `id=x,src=path`, `name@path`.
const AROUND: &[char] = &['=', ',', '@', ':'];

/// More of what a call hands over is not looked at.
pub(crate) const MAX_HANDED: usize = 1 << 14;

/// Adds what programs are handed, if the user has named places that must not be read. Of a program whose entry says what
/// it reads, that counts; of any other, every argument that names such a place.
pub(crate) fn sealed(invocations: &[Invocation], protected: &[Protected], world: &World) -> Vec<Effect> {
    if !protected.iter().any(|entry| entry.from == Guarded::Look) {
        return Vec::new();
    }
    let mut list = Vec::new();
    let mut looked_at = 0;
    for (number, invocation) in invocations.iter().enumerate() {
        let called = programs::called(&invocation.argv);
        if called.as_ref().is_some_and(is_known) {
            continue;
        }
        let name = called.as_ref().map_or("the program", |called| called.name);
        let seen = |value: &Value| {
            let mut place = place(value, invocation.cwd.as_deref(), invocation, world);
            place.protect(protected, world);
            Some(place).filter(|place| place.classes.has(Class::Sealed))
        };
        let own = unwrap::own_arguments(&invocation.argv);
        // A bare word is rather a command than a file, unless it is said where such files are.
        let inside = seen(&Value::text(".")).is_some();
        let is_meant = |value: &Cow<'_, Value>| inside || value.leading().contains(['/', '.']);
        for value in own.iter().flat_map(candidates).filter(is_meant) {
            looked_at += 1;
            if looked_at > MAX_HANDED {
                list.push(limit(name, invocation.span.clone()));
                return list;
            }
            if let Some(place) = seen(&value) {
                list.push(Effect {
                    what: What::Kind(Kind::Use),
                    place: Some(place),
                    recursive: false,
                    program: name,
                    by: Some(number),
                    allowed: invocation.allowed,
                    span: invocation.span.clone(),
                });
            }
        }
    }
    list
}

/// Whether its entry says all there is to say about what it reads.
fn is_known(called: &Called<'_>) -> bool {
    let programs = || called.outer.iter().map(|(outer, _)| *outer).chain([called.program]);
    let reads = |program: &Program| {
        let tells = |does: Does| matches!(does, Does::Effect(Kind::Read | Kind::Use));
        program.uses.iter().any(|usage| tells(usage.does)) || program.handler == Some(Handler::RemoteCopy)
    };
    let runs_files = called.program.handler == Some(Handler::Interpreter);
    programs().any(|program| program.names_only) || (programs().any(reads) && !runs_files)
}

/// What of an argument may be a path. A text with blanks is a path only from the root.
fn candidates(value: &Value) -> impl Iterator<Item = Cow<'_, Value>> {
    let is_prose = |text: &str| text.contains(char::is_whitespace) && !text.starts_with('/');
    let text = value.as_text();
    let whole = text.is_none_or(|text| !text.is_empty() && !is_prose(text));
    let pieces = text.unwrap_or_default().split(AROUND).skip(1);
    let pieces = pieces.filter(move |piece| piece.contains('/') && !is_prose(piece));
    let whole = whole.then_some(Cow::Borrowed(value));
    whole
        .into_iter()
        .chain(pieces.map(|piece| Cow::Owned(Value::text(piece))))
}
