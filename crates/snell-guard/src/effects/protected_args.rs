//! Paths that must not be read must not be passed to a program either, unless it uses only their names.

use std::borrow::Cow;

use super::remote::locate_for_invocation;
use super::{Effect, EffectKind, PathAction, build_limit_effect};
use crate::invocation::{Invocation, SymbolicText};
use crate::judge::context::JudgeContext;
use crate::paths::PathClass;
use crate::policy::{ForbiddenAccess, PathProtection};
use crate::programs::{self, ProgramCall, ProgramHandler, ProgramSpec, UseEffect};
use crate::wrappers;

/// Characters around a path in one argument: `--file=path`, `id=x,src=path`, `name@path`.
const PATH_DELIMITERS: &[char] = &['=', ',', '@', ':'];

/// Further arguments are not checked.
pub(crate) const MAX_CHECKED_ARGS: usize = 1 << 14;

/// Adds effects for protected paths in arguments. If a program's entry lists what it reads, that applies; otherwise
/// every argument that names such a path does.
pub(crate) fn find_protected_args(
    invocations: &[Invocation],
    protected: &[PathProtection],
    context: &JudgeContext,
) -> Vec<Effect> {
    if !protected.iter().any(|entry| entry.from == ForbiddenAccess::Read) {
        return Vec::new();
    }
    let mut list = Vec::new();
    let mut looked_at = 0;
    for (number, invocation) in invocations.iter().enumerate() {
        let called = programs::resolve_program_call(&invocation.argv);
        if called.as_ref().is_some_and(has_known_reads) {
            continue;
        }
        let name = called.as_ref().map_or("the program", |called| called.name);
        let seen = |value: &SymbolicText| {
            let mut place = locate_for_invocation(value, invocation.cwd.as_deref(), invocation, context);
            place.apply_protections(protected, context);
            Some(place).filter(|place| place.classes.contains(PathClass::Sealed))
        };
        let own = wrappers::own_arguments(&invocation.argv);
        // A bare word is probably a subcommand, unless the working directory is protected.
        let inside = seen(&SymbolicText::from_text(".")).is_some();
        let is_meant = |value: &Cow<'_, SymbolicText>| inside || value.leading_text().contains(['/', '.']);
        for value in own.iter().flat_map(path_candidates).filter(is_meant) {
            looked_at += 1;
            if looked_at > MAX_CHECKED_ARGS {
                list.push(build_limit_effect(name, invocation.span.clone()));
                return list;
            }
            if let Some(place) = seen(&value) {
                list.push(Effect {
                    place: Some(place),
                    by: Some(number),
                    allowed: invocation.allowed,
                    ..Effect::new(EffectKind::Path(PathAction::Use), name, invocation.span.clone())
                });
            }
        }
    }
    list
}

/// Whether the program's entry lists everything that it reads.
fn has_known_reads(called: &ProgramCall<'_>) -> bool {
    let programs = || called.outer.iter().map(|(outer, _)| *outer).chain([called.program]);
    let reads = |program: &ProgramSpec| {
        let tells = |does: UseEffect| matches!(does, UseEffect::Effect(PathAction::Read | PathAction::Use));
        program.uses.iter().any(|usage| tells(usage.does)) || program.handler == Some(ProgramHandler::RemoteCopy)
    };
    let runs_files = called.program.handler == Some(ProgramHandler::Interpreter);
    programs().any(|program| program.names_only) || (programs().any(reads) && !runs_files)
}

/// The parts of an argument that may be paths. A text with blanks is a path only if it is absolute.
fn path_candidates(value: &SymbolicText) -> impl Iterator<Item = Cow<'_, SymbolicText>> {
    let is_prose = |text: &str| text.contains(char::is_whitespace) && !text.starts_with('/');
    let text = value.as_text();
    let whole = text.is_none_or(|text| !text.is_empty() && !is_prose(text));
    let pieces = text.unwrap_or_default().split(PATH_DELIMITERS).skip(1);
    let pieces = pieces.filter(move |piece| piece.contains('/') && !is_prose(piece));
    let whole = whole.then_some(Cow::Borrowed(value));
    whole.into_iter().chain(pieces.map(|piece| Cow::Owned(SymbolicText::from_text(piece))))
}
