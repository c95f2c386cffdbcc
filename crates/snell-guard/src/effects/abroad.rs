//! Programs on another machine or in a container: what of it concerns this machine, and what is vital there.

use crate::invocation::{Container, Invocation, Part, Value};
use crate::paths::{Class, Classes, Place, is_vital, locate};
use crate::rules::{RULES, Tier};
use crate::world::World;

/// What still means the same on another machine.
const ON_A_MACHINE: [Class; 6] = [
    Class::Root,
    Class::System,
    Class::HomeRoot,
    Class::Device,
    Class::Secret,
    Class::StartUp,
];

/// What still means the same for a path that is relative to a directory of another machine: what a deployment works on
/// lies in the system's directories, and it goes there first.
const RELATIVE_ON_A_MACHINE: [Class; 4] = [Class::Root, Class::HomeRoot, Class::Device, Class::Secret];

/// Whether it runs in a container, which has its own users, processes and directories.
fn is_contained(invocation: &Invocation) -> bool {
    const CONTAINERS: &[&str] = &[
        "docker",
        "podman",
        "nerdctl",
        "kubectl",
        "oc",
        "lxc",
        "docker-compose",
        "podman-compose",
    ];
    let is_container = |via: &String| via.split(' ').next().is_some_and(|via| CONTAINERS.contains(&via));
    invocation.elsewhere && invocation.via.iter().any(is_container)
}

/// Whether the container was made for it: nothing in there is anybody's.
pub(super) fn is_fresh(invocation: &Invocation) -> bool {
    invocation.container.as_ref().is_some_and(|container| container.fresh)
}

/// Rights and processes of a container are those of whoever started it. Code that nobody has seen is another matter,
/// unless the container is made for it.
pub(super) fn is_own_business(invocation: &Invocation, rule: usize) -> bool {
    let Some(rule) = RULES.get(rule) else { return false };
    let about_itself = match rule.tier {
        Tier::Process => true,
        Tier::Privilege => is_fresh(invocation) || !rule.id.starts_with("network."),
        _ => false,
    };
    about_itself && is_contained(invocation)
}

/// The place of a value as a program sees it.
pub(super) fn place(value: &Value, cwd: Option<&str>, invocation: &Invocation, world: &World) -> Place {
    if !invocation.elsewhere {
        return locate(value, cwd, world);
    }
    let seen = invocation.container.as_ref();
    if let Some(place) = seen.and_then(|container| mounted(value, cwd, container, world)) {
        return place;
    }
    let mut place = locate(value, cwd, world);
    place.shape = None;
    let is_absolute = value.leading().starts_with('/');
    place.classes = if is_fresh(invocation) {
        Classes::default()
    } else if is_contained(invocation) {
        let vital = is_vital(value, cwd).then_some(Class::Vital);
        let same = place.classes.only([Class::Root, Class::Secret].into());
        vital.map_or(same, |vital| same.with(vital))
    } else if is_absolute {
        place.classes.only(ON_A_MACHINE.into())
    } else {
        place.classes.only(RELATIVE_ON_A_MACHINE.into())
    };
    if !is_absolute && cwd.is_none() {
        // A relative path there has nothing to do with ours.
        place.classes = place.classes.only([Class::Secret].into());
        place.path = None;
    }
    place
}

/// The place on the machine that a path in a container is, if it is one: below a mount, or above it.
fn mounted(value: &Value, cwd: Option<&str>, container: &Container, world: &World) -> Option<Place> {
    if container.mounts.is_empty() {
        return None;
    }
    let (path, rest) = absolute(value, cwd)?;
    let found = container.mounts.iter().filter_map(|mount| {
        let here = if path.is_empty() || !is_below(&path, &mount.there) {
            let above = match rest.first() {
                None => is_below(&mount.there, path.trim_end_matches('/')),
                Some(Part::Pattern(_)) => mount.there.starts_with(&path),
                Some(Part::Text(_) | Part::Unknown(_)) => false,
            };
            above.then(|| from_root(&mount.here, ""))?
        } else {
            let below = path.get(mount.there.len()..).unwrap_or_default();
            let mut here = from_root(&mount.here, below);
            here.parts.extend(rest.iter().cloned());
            here
        };
        let mut place = locate(&here, None, world);
        if container.abroad {
            place.classes = place.classes.only(ON_A_MACHINE.into());
        }
        Some(place)
    });
    found.reduce(|one, other| Place {
        classes: one.classes.and(other.classes),
        ..one
    })
}

fn from_root(directory: &str, below: &str) -> Value {
    Value::text(match (directory, below) {
        ("", "") => "/".to_owned(),
        (directory, below) => format!("{directory}{below}"),
    })
}

fn is_below(path: &str, directory: &str) -> bool {
    path.strip_prefix(directory)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// A path from the root, without `.` and `..`, as far as it is known, and what follows that. The root itself is empty.
fn absolute(value: &Value, cwd: Option<&str>) -> Option<(String, Vec<Part>)> {
    let leading = value.leading();
    let rest: Vec<Part> = match value.parts.first() {
        Some(Part::Text(_)) => value.parts.get(1..).unwrap_or_default().to_vec(),
        _ => value.parts.clone(),
    };
    let written = if leading.starts_with('/') {
        leading.to_owned()
    } else {
        format!("{}/{leading}", cwd?)
    };
    let mut path = String::new();
    for name in written.split('/') {
        match name {
            "" | "." => {}
            ".." => path.truncate(path.rfind('/').unwrap_or_default()),
            name => {
                path.push('/');
                path.push_str(name);
            }
        }
    }
    if !rest.is_empty() && (written.ends_with('/') || written.ends_with("/.")) {
        path.push('/');
    }
    Some((path, rest))
}
