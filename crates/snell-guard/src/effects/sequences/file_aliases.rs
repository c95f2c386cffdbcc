//! New names that a command line gives to files. Programs and effects under a new name are judged by the original file.

use std::borrow::Cow;

use crate::effects::AnalysisScope;
use crate::effects::collector::EffectCollector;
use crate::effects::{Effect, EffectKind, PathAction};
use crate::invocation::{Invocation, SymbolicText, base_name};
use crate::judge::context::JudgeContext;
use crate::paths::{PathClass, is_within_directory, locate_path};
use crate::programs;

/// Programs that give a file another name, including copies.
const RENAMERS: &[&str] = &["cp", "gcp", "ln", "gln", "link", "mv", "gmv", "install", "ginstall"];

/// How many new names are tracked.
const MAX_NAMES: usize = 1024;

/// How many links are followed for one path.
const MAX_LINKS: usize = 8;

/// Classes that are protected wherever they are. For all others, a link is the user's choice.
const GUARDED_CLASSES: [PathClass; 9] = [
    PathClass::Own,
    PathClass::HoldsOwn,
    PathClass::Secret,
    PathClass::SecretDir,
    PathClass::Root,
    PathClass::HomeRoot,
    PathClass::System,
    PathClass::Device,
    PathClass::StartUp,
];

/// A new name of a file or a directory.
struct FileAlias {
    /// Index of the invocation that creates it.
    by: usize,
    path: String,
    /// The original path.
    from: String,
    /// Whether writing to the new name changes the original file.
    is_link: bool,
}

/// The new names of a command line.
#[derive(Default)]
pub(crate) struct FileAliases(Vec<FileAlias>);

impl FileAliases {
    /// Finds the new names.
    pub(crate) fn from_invocations(invocations: &[Invocation], context: &JudgeContext) -> Self {
        let mut names = Vec::new();
        for (by, invocation) in invocations.iter().enumerate() {
            if names.len() >= MAX_NAMES {
                break;
            }
            names.extend(find_alias(by, invocation, context));
        }
        Self(names)
    }

    /// The original path and the new name of each file.
    pub(crate) fn into_pairs(self) -> impl Iterator<Item = (String, String)> {
        self.0.into_iter().map(|alias| (alias.from, alias.path))
    }

    /// The invocation with its program's original name, if the program has a new one on this command line or on disk.
    pub(crate) fn restore_program_name<'a>(
        &self,
        number: usize,
        invocation: &'a Invocation,
        context: &JudgeContext,
    ) -> Cow<'a, Invocation> {
        let name = invocation.name();
        let is_new = !self.0.is_empty() || !context.links.is_empty();
        let Some(name) = name.filter(|name| name.contains('/') && is_new) else {
            return Cow::Borrowed(invocation);
        };
        let path = locate_path(&SymbolicText::from_text(name), invocation.cwd.as_deref(), context).path;
        let new = self.0.iter().find(|new| new.by < number && Some(&new.path) == path.as_ref());
        let linked = || context.links.iter().find(|(link, _)| Some(link) == path.as_ref());
        let from = new.map(|new| &new.from).or_else(|| linked().map(|(_, real)| real));
        let mut renamed = Cow::Borrowed(invocation);
        if let Some(from) = from
            && let Some(first) = renamed.to_mut().argv.first_mut()
        {
            *first = SymbolicText::from_text(from.clone());
        }
        renamed
    }

    /// Moves effects on new links to the links' targets.
    pub(crate) fn follow_links(&self, list: &mut [Effect], context: &JudgeContext) {
        if !self.0.iter().any(|new| new.is_link) {
            return;
        }
        for effect in list {
            let takes_away = matches!(effect.kind, EffectKind::Path(PathAction::Delete | PathAction::Take));
            let Some(place) = effect.place.as_mut() else { continue };
            let mut real = place.clone();
            for _ in 0..MAX_LINKS {
                let Some((path, is_all)) = real.known_prefix() else { break };
                // With a slash at the end, some systems follow the link.
                let is_through = place.written.ends_with('/') || place.written.ends_with("/.");
                let is_itself = |new: &FileAlias| takes_away && is_all && path == new.path && !is_through;
                let leads = |new: &&FileAlias| {
                    new.is_link && effect.by > Some(new.by) && is_within_directory(&path, &new.path) && !is_itself(new)
                };
                let Some(new) = self.0.iter().find(leads) else { break };
                real.follow_link(&new.path, &new.from, context);
            }
            if real.classes.intersects(GUARDED_CLASSES.into()) {
                *place = real;
            }
        }
    }
}

/// The new name that a program gives to one file.
fn find_alias(by: usize, invocation: &Invocation, context: &JudgeContext) -> Option<FileAlias> {
    let program = invocation.argv.first()?.as_text()?;
    let base = base_name(program);
    let called = programs::resolve_program_call(&invocation.argv).filter(|_| RENAMERS.contains(&base))?;
    let mut none = Vec::new();
    let name = called.name;
    let scene = EffectCollector::new(invocation, context, Some(called), AnalysisScope::ProgramOnly, &mut none);
    let [from, to] = scene.args.operands.as_slice() else {
        return None;
    };
    let is_symbolic = scene.args.has_any_flag(&["-s", "--symbolic", "--symbolic-link"]);
    let is_link = name.ends_with("ln") || name == "link" || is_symbolic || scene.args.has_any_flag(&["-l", "--link"]);
    let to = scene.locate_path(to).path?;
    // A relative target of a symlink is relative to the link's directory.
    let around = to.rsplit_once('/').map(|(directory, _)| directory);
    let from = if is_symbolic && around.is_some() {
        locate_path(from, around, context).path?
    } else {
        scene.locate_path(from).path?
    };
    (from != to).then_some(FileAlias { by, path: to, from, is_link })
}
