//! Names that a command line itself gives to files: what runs or writes under one of them later is what lies behind it.

use std::borrow::Cow;

use super::{Effect, Kind, What, scene::Scene};
use crate::effects::View;
use crate::invocation::{Invocation, Value};
use crate::paths::{Class, is_within, locate};
use crate::programs;
use crate::world::World;

/// Programs that give a file another name, and so does what they copy.
const RENAMERS: &[&str] = &["cp", "gcp", "ln", "gln", "link", "mv", "gmv", "install", "ginstall"];

/// More of them are not looked at.
const MAX_NAMES: usize = 1024;

/// No more links are followed on one way.
const MAX_LINKS: usize = 8;

/// Classes of places that must be left alone wherever they lie. The user has put anything else behind a link.
const GUARDED: [Class; 8] = [
    Class::Own,
    Class::HoldsOwn,
    Class::Secret,
    Class::SecretDir,
    Class::Root,
    Class::HomeRoot,
    Class::System,
    Class::Device,
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
pub(super) struct FileAliases(Vec<FileAlias>);

impl FileAliases {
    /// Finds the new names that invocations give.
    pub(super) fn of(invocations: &[Invocation], world: &World) -> Self {
        let mut names = Vec::new();
        for (by, invocation) in invocations.iter().enumerate() {
            if names.len() >= MAX_NAMES {
                break;
            }
            names.extend(given(by, invocation, world));
        }
        Self(names)
    }

    /// The invocation with its program's first name, if the program runs under a new one: of this command line, or of this
    /// disk.
    pub(super) fn first_name<'a>(
        &self,
        number: usize,
        invocation: &'a Invocation,
        world: &World,
    ) -> Cow<'a, Invocation> {
        let name = invocation.argv.first().and_then(Value::as_text);
        let is_new = !self.0.is_empty() || !world.links.is_empty();
        let Some(name) = name.filter(|name| name.contains('/') && is_new) else {
            return Cow::Borrowed(invocation);
        };
        let path = locate(&Value::text(name), invocation.cwd.as_deref(), world).path;
        let new = self
            .0
            .iter()
            .find(|new| new.by < number && Some(&new.path) == path.as_ref());
        let linked = || world.links.iter().find(|(link, _)| Some(link) == path.as_ref());
        let from = new.map(|new| &new.from).or_else(|| linked().map(|(_, real)| real));
        let mut renamed = Cow::Borrowed(invocation);
        if let Some(from) = from
            && let Some(first) = renamed.to_mut().argv.first_mut()
        {
            *first = Value::text(from.clone());
        }
        renamed
    }

    /// Moves effects behind new links to where the links lead.
    pub(super) fn follow_links(&self, list: &mut [Effect], world: &World) {
        if !self.0.iter().any(|new| new.is_link) {
            return;
        }
        for effect in list {
            let takes_away = matches!(effect.what, What::Kind(Kind::Delete | Kind::Take));
            let Some(place) = effect.place.as_mut() else { continue };
            let mut real = place.clone();
            for _ in 0..MAX_LINKS {
                let Some((path, is_all)) = real.known() else { break };
                let is_itself = |new: &FileAlias| takes_away && is_all && path == new.path;
                let leads = |new: &&FileAlias| {
                    new.is_link && effect.by > Some(new.by) && is_within(&path, &new.path) && !is_itself(new)
                };
                let Some(new) = self.0.iter().find(leads) else { break };
                real.go(&new.path, &new.from, world);
            }
            if real.classes.meets(GUARDED.into()) {
                *place = real;
            }
        }
    }
}

/// The new name that a program gives to one file.
fn given(by: usize, invocation: &Invocation, world: &World) -> Option<FileAlias> {
    let program = invocation.argv.first()?.as_text()?;
    let base = program.rsplit('/').next().unwrap_or(program);
    let called = programs::called(&invocation.argv).filter(|_| RENAMERS.contains(&base))?;
    let mut none = Vec::new();
    let name = called.name;
    let scene = Scene::new(invocation, world, Some(called), View::Alone, &mut none);
    let [from, to] = scene.line.operands.as_slice() else {
        return None;
    };
    let is_symbolic = scene.line.has_any(&["-s", "--symbolic", "--symbolic-link"]);
    let is_link = name.ends_with("ln") || name == "link" || is_symbolic || scene.line.has_any(&["-l", "--link"]);
    let to = scene.locate(to).path?;
    // A relative target of a symbolic link begins where the link lies.
    let around = to.rsplit_once('/').map(|(directory, _)| directory);
    let from = if is_symbolic && around.is_some() {
        locate(from, around, world).path?
    } else {
        scene.locate(from).path?
    };
    (from != to && from != "/").then_some(FileAlias {
        by,
        path: to,
        from,
        is_link,
    })
}
