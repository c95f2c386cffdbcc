//! Files that a search below Snell's own directories prints, and that a later program gets in a way that the guard
//! cannot follow: by an array, a file or a shell.

use crate::effects::{Effect, EffectKind, PathAction};
use crate::invocation::{Invocation, StdinSource, StdoutTarget};
use crate::judge::context::JudgeContext;
use crate::paths::{ClassifiedPath, PathClass, locate_path};
use crate::programs::words::own_files as words;

/// Actions that are forbidden on Snell's own files.
const CHANGE_ACTIONS: &[PathAction] = &[
    PathAction::Delete,
    PathAction::Overwrite,
    PathAction::Put,
    PathAction::Take,
    PathAction::Mode,
    PathAction::Lock,
    PathAction::Edit,
    PathAction::Replace,
];

/// Adds an effect for each program that may change the listed files.
pub(crate) fn add_listed_file_effects(invocations: &[Invocation], context: &JudgeContext, list: &mut Vec<Effect>) {
    let mut searches = invocations.iter().enumerate();
    let first = searches.find_map(|(number, search)| Some((number, find_self_search_root(search, context)?)));
    let Some((number, place)) = first else { return };
    let is_unknown = |path: &ClassifiedPath| path.classes.contains(PathClass::Unknown) && path.known_prefix().is_none();
    let changes = |effect: &&Effect| {
        let kind = CHANGE_ACTIONS.iter().any(|kind| effect.kind == EffectKind::Path(*kind));
        kind && effect.by > Some(number) && effect.place.as_ref().is_some_and(is_unknown)
    };
    let changed = list.iter().find(changes).and_then(|effect| effect.by);
    let shell = || invocations.iter().rposition(|later| is_fed_by_search(later, context));
    let Some(by) = changed.or_else(shell) else { return };
    let invocation = invocations.get(by);
    let span = invocation.map(|invocation| invocation.span.clone()).unwrap_or_default();
    list.push(Effect {
        place: Some(ClassifiedPath { classes: place.classes.with(PathClass::Own), ..place }),
        by: Some(by),
        allowed: invocation.and_then(|invocation| invocation.allowed),
        ..Effect::new(EffectKind::Path(PathAction::MayEdit), "the command", span)
    });
}

/// The start directory of a search whose output goes to another program, if Snell has files there.
fn find_self_search_root(search: &Invocation, context: &JudgeContext) -> Option<ClassifiedPath> {
    let is_lister =
        words::LISTERS.contains(&search.base_name()) && search.stdout != StdoutTarget::Inherited && !search.elsewhere;
    let mut places = search.argv.iter().skip(1).filter(|_| is_lister);
    places.find_map(|value| {
        let place = locate_path(value, search.cwd.as_deref(), context);
        let holds = place.classes.contains(PathClass::HoldsOwn) && !place.classes.contains(PathClass::ProjectRoot);
        (holds || place.classes.contains(PathClass::Own)).then_some(place)
    })
}

/// Whether it is a shell that reads the output of such a search.
fn is_fed_by_search(shell: &Invocation, context: &JudgeContext) -> bool {
    let StdinSource::Pipe(left) = &shell.stdin else { return false };
    words::SHELLS.contains(&shell.base_name())
        && shell.argv.len() == 1
        && left.iter().any(|invocation| find_self_search_root(invocation, context).is_some())
}
