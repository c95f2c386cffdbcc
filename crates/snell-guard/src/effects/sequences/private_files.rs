//! Files that get the environment or a secret, and that a later program of the same call sends: `env > e; curl -T e …`.

use crate::effects::{Effect, EffectKind, PathAction, build_rule_effect, classify_output};
use crate::invocation::{FileOpenMode, Invocation, SymbolicText, UnknownKind};
use crate::judge::context::JudgeContext;
use crate::paths::locate_path;

/// How many files are tracked.
const MAX_FILES: usize = 64;

/// Adds an effect for each such file that is sent.
pub(crate) fn add_private_file_effects(invocations: &[Invocation], context: &JudgeContext, list: &mut Vec<Effect>) {
    let is_sent = |effect: &&Effect| matches!(effect.kind, EffectKind::Path(PathAction::Send | PathAction::SendRaw));
    if !list.iter().any(|effect| is_sent(&effect)) {
        return;
    }
    let written = list_private_files(invocations, context);
    let finds = |effect: &Effect| {
        let path = effect.place.as_ref()?.path.as_ref()?;
        written.iter().find(|(number, file)| effect.by.is_some_and(|by| by > *number) && file == path)
    };
    let sent = list.iter().filter(is_sent).filter(|effect| finds(effect).is_some());
    let found: Vec<Effect> = sent
        .map(|effect| Effect {
            place: effect.place.clone(),
            by: effect.by,
            ..build_rule_effect("secret.send-private", effect.program, effect.span.clone())
        })
        .collect();
    list.extend(found);
}

/// The numbers of programs that print something private, and the files that their output goes to.
fn list_private_files(invocations: &[Invocation], context: &JudgeContext) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (number, invocation) in invocations.iter().enumerate() {
        let written = invocation.files.iter().filter(|file| file.mode != FileOpenMode::Read).map(|file| &file.path);
        let is_tee = invocation.base_name() == "tee";
        let operands = invocation.arguments().iter().filter(|word| is_tee && !word.leading_text().starts_with('-'));
        let mut files = written.chain(operands).peekable();
        let is_private = |left: &[Invocation]| classify_output(left, context) == UnknownKind::Private;
        if files.peek().is_none()
            || found.len() >= MAX_FILES
            || !(is_private(std::slice::from_ref(invocation)) || is_private(invocation.stdin.pipeline()))
        {
            continue;
        }
        let locate = |file: &SymbolicText| locate_path(file, invocation.cwd.as_deref(), context).path;
        found.extend(files.filter_map(locate).map(|path| (number, path)));
    }
    found
}
