//! Where a path leads, and whose place that is. Nothing here touches a disk: symbolic links are not followed.

mod class;
mod glob;
mod relation;
mod shape;
mod tables;

pub use class::{CLASSES, Class, Classes};
pub(crate) use glob::{ANY, fits, stands_for};

use crate::invocation::{Part, Unknown, Value};
use crate::policy::{Guarded, Protected};
use crate::world::{Owned, World};
use relation::Relation;
pub(crate) use shape::MAX_PATH;
use shape::{Shape, Start};
use tables::{Names, any};

/// A place that something would happen to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Its path, if all of it is known.
    pub path: Option<String>,
    /// As it was written.
    pub written: String,
    /// What it is.
    pub classes: Classes,
    /// Its path as far as it is known; nothing if it is none of this machine.
    pub(crate) shape: Option<Shape>,
}

impl Place {
    /// As it is told to people: the path if it is known, else what was written.
    pub fn told(&self) -> &str {
        self.path.as_deref().unwrap_or(&self.written)
    }
}

impl Place {
    /// The beginning of its path that is known for sure, and whether that is all of it. What the system makes up while it
    /// is looked at leads nowhere.
    pub(crate) fn known(&self) -> Option<(String, bool)> {
        let shape = self
            .shape
            .as_ref()
            .filter(|shape| shape.start == Start::Root && !shape.astray)?;
        let names = shape.names();
        let literal: Vec<&str> = names
            .iter()
            .copied()
            .take_while(|name| glob::is_literal(name))
            .collect();
        let is_made_up = matches!(literal.first(), Some(&("dev" | "proc" | "sys")));
        let is_all = literal.len() == names.len();
        (!is_made_up).then(|| (format!("/{}", literal.join("/")), is_all))
    }

    /// Whether this may be its path.
    pub(crate) fn may_be(&self, path: &str) -> bool {
        let names = self.shape.as_ref().map(Shape::names).unwrap_or_default();
        relation::of(&names, path) == Some(Relation::Within)
    }

    /// Goes where a link leads: from the beginning of its path to that one.
    pub(crate) fn go(&mut self, known: &str, real: &str, world: &World) {
        let Some(shape) = self.shape.as_mut() else {
            return;
        };
        shape.begin_with(known, real);
        self.classes = classify(shape, world);
        if self.path.is_some() {
            self.path = Some(shape.path().to_owned());
        }
    }

    /// Whether it is the project or lies in it.
    fn is_in_project(&self) -> bool {
        let beyond = [
            Class::Root,
            Class::HomeRoot,
            Class::Home,
            Class::System,
            Class::Elsewhere,
        ];
        let inside = [Class::Project, Class::ProjectRoot, Class::ProjectGit];
        self.classes.meets(inside.into()) && !self.classes.meets(beyond.into())
    }

    /// Adds what the user wants to be left alone.
    pub(crate) fn protect(&mut self, protected: &[Protected], world: &World) {
        let Some(shape) = self.shape.as_ref().filter(|shape| shape.start == Start::Root) else {
            return;
        };
        let names = shape.names();
        for entry in protected {
            let seals = entry.from == Guarded::Look;
            self.classes = match related(&names, &entry.path, world) {
                Some(Relation::Within) if seals => self.classes.with(Class::Protected).with(Class::Sealed),
                Some(Relation::Within) => self.classes.with(Class::Protected),
                // Whoever searches the whole project is not after this; nor do other secrets in it stop a search.
                Some(Relation::Holds) if seals && !self.is_in_project() => {
                    self.classes.with(Class::HoldsProtected).with(Class::HoldsSealed)
                }
                Some(Relation::Holds) => self.classes.with(Class::HoldsProtected),
                None => self.classes,
            };
        }
    }
}

/// The place that a value names, seen from a directory.
pub fn locate(value: &Value, cwd: Option<&str>, world: &World) -> Place {
    let shape = shape_of(value, cwd);
    let literal = value.parts.iter().all(|part| matches!(part, Part::Text(_)));
    let classes = shape
        .as_ref()
        .map_or(Classes::from([Class::Unknown]), |shape| classify(shape, world));
    let told = value.parts.first() == Some(&Part::Unknown(Unknown::Told));
    Place {
        classes: if told { classes.with(Class::Told) } else { classes },
        path: shape
            .as_ref()
            .filter(|shape| literal && shape.start == Start::Root)
            .map(|shape| shape.path().to_owned()),
        written: value.to_string(),
        shape,
    }
}

/// Whether a path in a container is something that it lives from, or where something is kept.
pub(crate) fn is_vital(value: &Value, cwd: Option<&str>) -> bool {
    let Some(shape) = shape_of(value, cwd).filter(|shape| shape.start == Start::Root) else {
        return false;
    };
    let all = shape.names();
    let names = Names {
        root: Some(all.as_slice()),
        home: None,
        all: &all,
    };
    any(tables::VITAL, &names)
}

/// Nothing if no file can have such a name: empty, or longer than any path may be.
fn shape_of(value: &Value, cwd: Option<&str>) -> Option<Shape> {
    let length: usize = value.parts.iter().map(length).sum();
    (1..=MAX_PATH).contains(&length).then(|| Shape::of(value, cwd))
}

fn length(part: &Part) -> usize {
    match part {
        Part::Text(text) => text.len(),
        Part::Pattern(_) | Part::Unknown(_) => 1,
    }
}

fn classify(shape: &Shape, world: &World) -> Classes {
    let all = shape.names();
    let rooted = shape.start == Start::Root;
    let home = if rooted { below_home(&all, world) } else { None };
    let names = Names {
        root: rooted.then_some(all.as_slice()),
        home,
        all: &all,
    };
    let mut classes = nature(&names);
    if rooted {
        classes = classes.and(zone(&names, world)).and(owned(&all, world));
    }
    if shape.root_if_empty && empty_is_grave(&all, world) {
        classes = classes.with(Class::RootIfEmpty);
    }
    if !rooted || shape.astray {
        classes = classes.with(Class::Unknown);
    }
    if rooted && shape.astray && all.len() == 1 && all.iter().all(|name| glob::is_opaque(name)) {
        // `/$x`: the root, if `x` is empty.
        classes = classes.with(Class::RootIfEmpty);
    }
    classes
}

/// What the name itself says, wherever it is.
fn nature(names: &Names<'_>) -> Classes {
    let mut classes = Classes::default();
    if any(tables::SECRET, names) && !is_public(names) {
        classes = classes.with(Class::Secret);
    }
    if any(tables::SECRET_DIR, names) {
        classes = classes.with(Class::SecretDir);
    }
    if any(tables::START_UP, names) {
        classes = classes.with(Class::StartUp);
    }
    if any(tables::HOOK, names) {
        classes = classes.with(Class::Hook);
    }
    classes
}

/// An exception counts only for a name that is known: a pattern may hit both.
fn is_public(names: &Names<'_>) -> bool {
    names.all.iter().all(|name| glob::is_literal(name)) && any(tables::PUBLIC, names)
}

/// Where it lies: one class, and for patterns the gravest that they may hit.
fn zone(names: &Names<'_>, world: &World) -> Classes {
    let all = names.all;
    let project = shape::names(&world.project);
    let mut classes = Classes::default();
    match all {
        [] => return [Class::Root].into(),
        [only] if glob::is_everything(only) => return [Class::Root].into(),
        _ => {}
    }
    if is_home_root(names, world) {
        classes = classes.with(Class::HomeRoot);
    }
    if !project.is_empty() {
        if holds(all, &project) {
            classes = classes.with(Class::ProjectRoot);
        }
        if let Some(inside) = strip(all, &project) {
            return classes.and(in_project(inside, is_a_home(&project, world)));
        }
    }
    if classes.has(Class::HomeRoot) {
        return classes;
    }
    classes.and(outside(names, world))
}

fn in_project(inside: &[&str], is_home: bool) -> Classes {
    let names = Names {
        root: Some(inside),
        home: None,
        all: inside,
    };
    let class = match inside {
        [] => Class::ProjectRoot,
        [only] if glob::is_everything(only) && !only.starts_with('.') => Class::ProjectRoot,
        _ if any(tables::GIT, &names) => Class::ProjectGit,
        _ if is_home => Class::HomeProject,
        _ => Class::Project,
    };
    [class].into()
}

/// Whether a directory is somebody's home: an agent that is started there has all of it for its project.
fn is_a_home(directory: &[&str], world: &World) -> bool {
    matches!(below_home(directory, world), Some([]))
}

/// Whether a path belongs to the machine, wherever the project is.
pub fn is_system(path: &str) -> bool {
    let all = shape::names(path);
    let names = Names {
        root: Some(&all),
        home: None,
        all: &all,
    };
    any(tables::SYSTEM, &names)
}

/// The zones outside of the project. A pattern that *may* lead to a harmless place may lead elsewhere as well, so only a
/// path that surely does is excused.
fn outside(names: &Names<'_>, world: &World) -> Classes {
    let class = if let Some(class) = in_temp(names.all, world) {
        class
    } else if surely(tables::NETWORK, names.all).is_some() {
        Class::Network
    } else if surely(tables::HARMLESS, names.all).is_some() {
        Class::Harmless
    } else if any(tables::DEVICE, names) {
        Class::Device
    } else if names.home.is_some_and(|below| surely(tables::CACHE, below).is_some()) {
        Class::Cache
    } else if names.home.is_some() {
        let kept = !any(tables::LOOSE, names);
        return if kept {
            [Class::Home, Class::Personal].into()
        } else {
            [Class::Home].into()
        };
    } else if any(tables::SYSTEM, names) {
        Class::System
    } else {
        Class::Elsewhere
    };
    [class].into()
}

/// What is left of a path below one of these, if it is surely there.
fn surely<'a>(patterns: &[tables::Pattern], all: &'a [&'a str]) -> Option<&'a [&'a str]> {
    let below = |pattern: &tables::Pattern| strip(all, pattern.names).filter(|rest| pattern.below || rest.is_empty());
    patterns.iter().find_map(below)
}

/// In a temporary directory: one of those that are set, or one that every machine has.
fn in_temp(all: &[&str], world: &World) -> Option<Class> {
    let set = world.temp.iter().find_map(|temp| {
        let temp = shape::names(temp);
        strip(all, &temp).filter(|_| !temp.is_empty()).map(<[_]>::len)
    });
    let rest = set.or_else(|| surely(tables::TEMP, all).map(<[_]>::len))?;
    Some(if rest == 0 { Class::TempRoot } else { Class::Temp })
}

/// The home of the user or of anybody, the directory that holds all homes, or everything in a home.
fn is_home_root(names: &Names<'_>, world: &World) -> bool {
    let whole = match names.home {
        Some([]) => true,
        Some([only]) => glob::is_everything(only),
        _ => false,
    };
    let home = shape::names(&world.home);
    let holds_homes = matches!(names.all, [only] if glob::may_be(only, "home") || glob::may_be(only, "Users"));
    whole || holds_homes || (!home.is_empty() && holds(names.all, &home))
}

/// What stands below somebody's home, if the path is in one.
fn below_home<'a>(all: &'a [&'a str], world: &World) -> Option<&'a [&'a str]> {
    let home = shape::names(&world.home);
    if !home.is_empty()
        && let Some(rest) = strip(all, &home)
    {
        return Some(rest);
    }
    match all {
        ["home" | "Users", _, rest @ ..] | ["root", rest @ ..] => Some(rest),
        [homes, _, rest @ ..] if !glob::is_literal(homes) && glob::may_be(homes, "home") => Some(rest),
        _ => None,
    }
}

/// Whether a path is a directory or lies in it. Both are known and plain.
pub(crate) fn is_within(path: &str, directory: &str) -> bool {
    let rest = path.strip_prefix(directory.trim_end_matches('/'));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// What follows a known beginning.
fn strip<'a>(all: &'a [&'a str], beginning: &[&str]) -> Option<&'a [&'a str]> {
    let (head, rest) = all.split_at_checked(beginning.len())?;
    (head == beginning).then_some(rest)
}

/// Whether these names may lead to a directory or to one that holds it.
fn holds(all: &[&str], directory: &[&str]) -> bool {
    all.len() <= directory.len()
        && all
            .iter()
            .zip(directory)
            .all(|(name, wanted)| glob::may_be(name, wanted))
}

/// How names lie to a place, by whatever case the disk tells names apart.
fn related(names: &[&str], place: &str, world: &World) -> Option<Relation> {
    let found = relation::of(names, place);
    if !world.ignores_case || found == Some(Relation::Within) {
        return found;
    }
    let names: Vec<String> = names.iter().map(|name| name.to_lowercase()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    relation::of(&names, &place.to_lowercase())
}

/// Whether it is Snell's own, or in it, or holds it.
fn owned(all: &[&str], world: &World) -> Classes {
    let mut classes = Classes::default();
    for own in &world.own {
        let class = match (related(all, &own.path, world), own.what) {
            (Some(Relation::Within), Owned::Hooks) => Class::OwnHooks,
            // Whoever removes a whole project hears of other rules.
            (Some(Relation::Holds), Owned::Hooks) | (None, _) => continue,
            (Some(Relation::Within), Owned::Program) => {
                classes = classes.with(Class::OwnProgram);
                Class::Own
            }
            (Some(Relation::Within), _) => Class::Own,
            (Some(Relation::Holds), _) => Class::HoldsOwn,
        };
        classes = classes.with(class);
    }
    classes
}

/// Whether what is left of `$x/…` would be a place of the machine if `x` were empty.
fn empty_is_grave(all: &[&str], world: &World) -> bool {
    let Some(rest) = all.split_first().map(|(_, rest)| rest) else {
        return true;
    };
    let names = Names {
        root: Some(rest),
        home: below_home(rest, world),
        all: rest,
    };
    zone(&names, world).meets([Class::Root, Class::System, Class::HomeRoot, Class::Device].into())
}

#[cfg(test)]
mod tests;
