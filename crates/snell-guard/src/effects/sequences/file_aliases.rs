//! Names that a command line itself gives to files: what runs or writes under one of them later is what lies behind it.

use std::borrow::Cow;

use crate::effects::AnalysisScope;
use crate::effects::collector::EffectCollector;
use crate::effects::{Effect, EffectKind, PathAction};
use crate::invocation::{Invocation, SymbolicText, base_name};
use crate::judge::context::JudgeContext;
use crate::paths::{PathClass, is_within_directory, locate_path};
use crate::programs;

/// Programs that give a file another name, and so does what they copy.
const RENAMERS: &[&str] = &["cp", "gcp", "ln", "gln", "link", "mv", "gmv", "install", "ginstall"];

/// More of them are not looked at.
const MAX_NAMES: usize = 1024;

/// No more links are followed on one way.
const MAX_LINKS: usize = 8;

/// Classes of places that must be left alone wherever they lie. The user has put anything else behind a link.
const GUARDED_CLASSES: [PathClass; 8] = [
    PathClass::Own,
    PathClass::HoldsOwn,
    PathClass::Secret,
    PathClass::SecretDir,
    PathClass::Root,
    PathClass::HomeRoot,
    PathClass::System,
    PathClass::Device,
];

/// A new name of a file or a directory.
struct FileAlias {
    /// Which of the invocations gives it.
    by: usize,
    path: String,
    /// The path that it had before.
    from: String,
    /// Whether what is written under the new name is written to the old one.
    is_link: bool,
}

/// The new names of a command line.
#[derive(Default)]
pub(crate) struct FileAliases(Vec<FileAlias>);

impl FileAliases {
    /// Finds the new names that invocations give.
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

    /// The invocation with its program's first name, if the program runs under a new one: of this command line, or of this
    /// disk.
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

    /// Moves effects behind new links to where the links lead.
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
                let is_itself = |new: &FileAlias| takes_away && is_all && path == new.path;
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
    // A relative target of a symbolic link begins where the link lies.
    let around = to.rsplit_once('/').map(|(directory, _)| directory);
    let from = if is_symbolic && around.is_some() {
        locate_path(from, around, context).path?
    } else {
        scene.locate_path(from).path?
    };
    (from != to && from != "/").then_some(FileAlias { by, path: to, from, is_link })
}
