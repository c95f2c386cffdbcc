//! Files of variables that are made from their templates: `cp .env.example .env`, `sed … .env.example > .env`.

use crate::effects::{Effect, EffectKind, PathAction};
use crate::invocation::{FileOpenMode, Invocation, StdinSource, SymbolicText, base_name};
use crate::paths::PathClass;

/// Words in the names of templates.
const TEMPLATE_WORDS: &[&str] = &["example", "sample", "template", "dist", "defaults", "tpl"];

/// Programs whose arguments are texts, not files.
const PRINTERS: &[&str] = &["echo", "printf"];

/// A file of variables that is copied from its template holds no secret yet.
pub(in crate::effects) fn forget_template_copies(invocation: &Invocation, effects: &mut [Effect]) {
    let is_made = |effect: &&mut Effect| {
        let writes = [PathAction::Overwrite, PathAction::Put, PathAction::Replace].map(EffectKind::Path);
        let is_near = |classes: crate::paths::PathClasses| {
            classes.contains(PathClass::Secret) && classes.intersects([PathClass::Project, PathClass::Temp].into())
        };
        writes.contains(&effect.kind) && effect.place.as_ref().is_some_and(|place| is_near(place.classes))
    };
    let mut made = effects.iter_mut().filter(is_made).peekable();
    if made.peek().is_none() || !reads_template(invocation) {
        return;
    }
    for place in made.filter_map(|effect| effect.place.as_mut()) {
        place.classes = place.classes.difference([PathClass::Secret].into());
    }
}

/// Whether a program, or one before it in the pipe, reads a template and no other file of variables.
fn reads_template(invocation: &Invocation) -> bool {
    let opened = invocation.files.iter().filter(|file| file.mode == FileOpenMode::Read).map(|file| &file.path);
    let is_printer = PRINTERS.contains(&invocation.base_name());
    let arguments = invocation.arguments().iter().filter(|_| !is_printer);
    let from_pipe = match &invocation.stdin {
        StdinSource::Pipe(left) => left.iter().any(reads_template),
        StdinSource::File(path) => is_env_template(path),
        StdinSource::Inherited | StdinSource::Text(_) => false,
    };
    from_pipe || opened.chain(arguments).any(is_env_template)
}

/// `.env.example`, `env.template`
fn is_env_template(path: &SymbolicText) -> bool {
    let words: Vec<&str> =
        path.as_text().map(|path| base_name(path).split(['.', '-', '_']).collect()).unwrap_or_default();
    words.contains(&"env") && words.iter().any(|word| TEMPLATE_WORDS.contains(word))
}
