//! Programs on another machine or in a container: their effects on this machine, and on vital paths there.

use crate::invocation::{ContainerSpec, Invocation, SymbolicPart, SymbolicText};
use crate::judge::context::JudgeContext;
use crate::paths::{ClassifiedPath, PathClass, PathClasses, is_vital_container_path, is_within_directory, locate_path};
use crate::rules::{RULES, RuleTier};

/// Classes that mean the same on another machine.
const REMOTE_CLASSES: [PathClass; 6] =
    [PathClass::Root, PathClass::System, PathClass::HomeRoot, PathClass::Device, PathClass::Secret, PathClass::StartUp];

/// Classes that mean the same for a relative path on another machine. A deployment changes into a system directory
/// first.
const RELATIVE_REMOTE_CLASSES: [PathClass; 4] =
    [PathClass::Root, PathClass::HomeRoot, PathClass::Device, PathClass::Secret];

/// Whether it runs in a container, which has its own users, processes and directories.
fn is_in_container(invocation: &Invocation) -> bool {
    const CONTAINERS: &[&str] =
        &["docker", "podman", "nerdctl", "kubectl", "oc", "lxc", "docker-compose", "podman-compose"];
    let is_container = |via: &String| via.split(' ').next().is_some_and(|via| CONTAINERS.contains(&via));
    invocation.elsewhere && invocation.via.iter().any(is_container)
}

/// Whether the container is created for this command, so that it holds no data yet.
pub(super) fn is_fresh_container(invocation: &Invocation) -> bool {
    invocation.container.as_ref().is_some_and(|container| container.fresh)
}

/// Whether a rule does not apply inside a container, which has its own rights and processes. Unreviewed code is judged,
/// unless the container is created for it.
pub(super) fn is_container_internal(invocation: &Invocation, rule: usize) -> bool {
    let Some(rule) = RULES.get(rule) else { return false };
    let about_itself = match rule.tier {
        RuleTier::Process => true,
        RuleTier::Privilege => is_fresh_container(invocation) || !rule.id.starts_with("network."),
        _ => false,
    };
    about_itself && is_in_container(invocation)
}

/// The path that a value names for this program.
pub(super) fn locate_for_invocation(
    value: &SymbolicText,
    cwd: Option<&str>,
    invocation: &Invocation,
    context: &JudgeContext,
) -> ClassifiedPath {
    if !invocation.elsewhere {
        return locate_path(value, cwd, context);
    }
    let seen = invocation.container.as_ref();
    if let Some(place) = seen.and_then(|container| locate_in_mounts(value, cwd, container, context)) {
        return place;
    }
    let mut place = locate_path(value, cwd, context);
    place.shape = None;
    let is_absolute = value.leading_text().starts_with('/');
    place.classes = if is_fresh_container(invocation) {
        PathClasses::default()
    } else if is_in_container(invocation) {
        let vital = is_vital_container_path(value, cwd).then_some(PathClass::Vital);
        let same = place.classes.intersection([PathClass::Root, PathClass::Secret].into());
        vital.map_or(same, |vital| same.with(vital))
    } else if is_absolute {
        place.classes.intersection(REMOTE_CLASSES.into())
    } else {
        place.classes.intersection(RELATIVE_REMOTE_CLASSES.into())
    };
    if !is_absolute && cwd.is_none() {
        // A relative path there is unrelated to ours.
        place.classes = place.classes.intersection([PathClass::Secret].into());
        place.path = None;
    }
    place
}

/// The path on this machine that a path in a container stands for: below a mount, or above it.
fn locate_in_mounts(
    value: &SymbolicText,
    cwd: Option<&str>,
    container: &ContainerSpec,
    context: &JudgeContext,
) -> Option<ClassifiedPath> {
    if container.mounts.is_empty() {
        return None;
    }
    let (path, rest) = resolve_absolute(value, cwd)?;
    let found = container.mounts.iter().filter_map(|mount| {
        let here = if path.is_empty() || !is_within_directory(&path, &mount.container_path) {
            let above = match rest.first() {
                None => is_within_directory(&mount.container_path, path.trim_end_matches('/')),
                Some(SymbolicPart::Pattern(_)) => mount.container_path.starts_with(&path),
                Some(SymbolicPart::Text(_) | SymbolicPart::Unknown(_)) => false,
            };
            above.then(|| join_absolute(&mount.host_path, ""))?
        } else {
            let below = path.get(mount.container_path.len()..).unwrap_or_default();
            let mut here = join_absolute(&mount.host_path, below);
            here.parts.extend(rest.iter().cloned());
            here
        };
        let mut place = locate_path(&here, None, context);
        if container.on_remote_host {
            place.classes = place.classes.intersection(REMOTE_CLASSES.into());
        }
        Some(place)
    });
    found.reduce(|one, other| ClassifiedPath { classes: one.classes.union(other.classes), ..one })
}

fn join_absolute(directory: &str, below: &str) -> SymbolicText {
    SymbolicText::from_text(match (directory, below) {
        ("", "") => "/".to_owned(),
        (directory, below) => format!("{directory}{below}"),
    })
}

/// The known part of an absolute path, without `.` and `..`, and the rest. The root is empty.
fn resolve_absolute(value: &SymbolicText, cwd: Option<&str>) -> Option<(String, Vec<SymbolicPart>)> {
    let leading = value.leading_text();
    let rest: Vec<SymbolicPart> = match value.parts.first() {
        Some(SymbolicPart::Text(_)) => value.parts.get(1..).unwrap_or_default().to_vec(),
        _ => value.parts.clone(),
    };
    let written = if leading.starts_with('/') { leading.to_owned() } else { format!("{}/{leading}", cwd?) };
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
