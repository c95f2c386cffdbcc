//! Classifies paths. Never touches a disk: symlinks are not followed here.

mod class;
mod glob;
mod partial_path;
mod patterns;
mod relation;

use std::path::{Component, Path, PathBuf};

pub(crate) use class::CLASS_PHRASES;
pub use class::{PathClass, PathClasses};
pub(crate) use glob::{
    LeadingDot, STAR_CHAR, encode_glob, is_literal, is_opaque, matches_glob, matches_shell_pattern, matches_wildcards,
    star_pattern_matches,
};

use crate::invocation::{SymbolicPart, SymbolicText, UnknownKind};
use crate::judge::context::{JudgeContext, SelfFile};
use crate::policy::{ForbiddenAccess, PathProtection};
pub(crate) use partial_path::MAX_PATH;
use partial_path::{PartialPath, PathStart, split_names};
use patterns::{PathComponents, matches_any_pattern};
use relation::PathRelation;

/// How a path relates to a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PathMatch {
    /// It matches, or is below a directory that matches.
    Inside,
    /// It may contain a path that matches.
    Around,
    /// Neither.
    Other,
}

/// A path that an effect is on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClassifiedPath {
    /// Its path, if all of it is known.
    pub path: Option<String>,
    /// As it was written.
    pub written: String,
    /// Its classes.
    pub classes: PathClasses,
    /// Its path as far as it is known; `None` if it is not on this machine.
    pub(crate) shape: Option<PartialPath>,
}

impl ClassifiedPath {
    /// As people read it: the path if it is known, or else as written.
    pub fn display_path(&self) -> &str {
        self.path.as_deref().unwrap_or(&self.written)
    }

    /// The known start of its path, and whether that is all of it. `None` in file systems that the kernel generates.
    pub(crate) fn known_prefix(&self) -> Option<(String, bool)> {
        let shape = self.shape.as_ref().filter(|shape| shape.start == PathStart::Root && !shape.may_escape)?;
        let names = shape.names();
        let literal: Vec<&str> = names.iter().copied().take_while(|name| glob::is_literal(name)).collect();
        let is_made_up = matches!(literal.first(), Some(&("dev" | "proc" | "sys")));
        let is_all = literal.len() == names.len();
        (!is_made_up).then(|| (format!("/{}", literal.join("/")), is_all))
    }

    /// The names of its path, where a name may be a pattern; `None` if it may be anywhere.
    pub(crate) fn name_patterns(&self) -> Option<Vec<&str>> {
        let shape = self.shape.as_ref().filter(|shape| shape.start == PathStart::Root && !shape.may_escape)?;
        Some(shape.names())
    }

    /// Its names, with `*`, `?` and `**` for what a shell would match.
    pub(crate) fn to_glob_names(&self) -> Vec<String> {
        let names = self.shape.as_ref().map(PartialPath::names).unwrap_or_default();
        names.into_iter().map(glob::to_pattern_text).collect()
    }

    /// Whether this may be its path.
    pub(crate) fn can_be_path(&self, path: &str) -> bool {
        let own = self.shape.as_ref().map(PartialPath::text).unwrap_or_default();
        relation::relate_path(own, path) == Some(PathRelation::Within)
    }

    /// Replaces the start of its path by the target of a symlink.
    pub(crate) fn follow_link(&mut self, known: &str, real: &str, context: &JudgeContext) {
        let Some(shape) = self.shape.as_mut() else {
            return;
        };
        shape.replace_prefix(known, real);
        self.classes = classify_path(shape, context);
        if self.path.is_some() {
            self.path = Some(shape.path().to_owned());
        }
    }

    /// Whether it is the project or inside it.
    fn is_in_project(&self) -> bool {
        let beyond = [PathClass::Root, PathClass::HomeRoot, PathClass::Home, PathClass::System, PathClass::Elsewhere];
        let inside = [PathClass::Project, PathClass::ProjectRoot, PathClass::ProjectGit];
        self.classes.intersects(inside.into()) && !self.classes.intersects(beyond.into())
    }

    /// Compares it with a pattern of absolute paths.
    pub(crate) fn compare(&self, pattern: &str, context: &JudgeContext) -> PathMatch {
        let shape = self.shape.as_ref().filter(|shape| shape.start == PathStart::Root);
        match shape.and_then(|shape| relate_with_case_rules(shape.text(), pattern, context)) {
            Some(PathRelation::Within) => PathMatch::Inside,
            Some(PathRelation::Holds) => PathMatch::Around,
            None => PathMatch::Other,
        }
    }

    /// Adds the classes of the user's protected paths.
    pub(crate) fn apply_protections(&mut self, protected: &[PathProtection], context: &JudgeContext) {
        let Some(shape) = self.shape.as_ref().filter(|shape| shape.start == PathStart::Root) else {
            return;
        };
        for entry in protected {
            let seals = entry.from == ForbiddenAccess::Read;
            self.classes = match relate_with_case_rules(shape.text(), &entry.path, context) {
                Some(PathRelation::Within) if seals => self.classes.with(PathClass::Protected).with(PathClass::Sealed),
                Some(PathRelation::Within) => self.classes.with(PathClass::Protected),
                // A search of the whole project is not aimed at this path; other secrets in it do not stop a search
                // either.
                Some(PathRelation::Holds) if seals && !self.is_in_project() => {
                    self.classes.with(PathClass::HoldsProtected).with(PathClass::HoldsSealed)
                }
                Some(PathRelation::Holds) => self.classes.with(PathClass::HoldsProtected),
                None => self.classes,
            };
        }
    }
}

/// The path that a value names, relative to a directory.
pub fn locate_path(value: &SymbolicText, cwd: Option<&str>, context: &JudgeContext) -> ClassifiedPath {
    let shape = parse_partial_path(value, cwd);
    let literal = value.parts.iter().all(|part| matches!(part, SymbolicPart::Text(_)));
    let classes = shape.as_ref().map_or(PathClasses::from([PathClass::Unknown]), |shape| classify_path(shape, context));
    let is_from_input = value.parts.first() == Some(&SymbolicPart::Unknown(UnknownKind::FromInput));
    ClassifiedPath {
        classes: if is_from_input { classes.with(PathClass::FromInput) } else { classes },
        path: shape
            .as_ref()
            .filter(|shape| literal && shape.start == PathStart::Root)
            .map(|shape| shape.path().to_owned()),
        written: value.to_string(),
        shape,
    }
}

/// Whether a running container needs a path, or keeps data in it.
pub(crate) fn is_vital_container_path(value: &SymbolicText, cwd: Option<&str>) -> bool {
    let Some(shape) = parse_partial_path(value, cwd).filter(|shape| shape.start == PathStart::Root) else {
        return false;
    };
    let all = shape.names();
    let names = PathComponents::new(Some(all.as_slice()), None, &all);
    matches_any_pattern(patterns::VITAL, &names)
}

/// `None` if no file can have such a name: it is empty or too long.
fn parse_partial_path(value: &SymbolicText, cwd: Option<&str>) -> Option<PartialPath> {
    let length: usize = value.parts.iter().map(part_length).sum();
    (1..=MAX_PATH).contains(&length).then(|| PartialPath::from_value(value, cwd))
}

fn part_length(part: &SymbolicPart) -> usize {
    match part {
        SymbolicPart::Text(text) => text.len(),
        SymbolicPart::Pattern(_) | SymbolicPart::Unknown(_) => 1,
    }
}

fn classify_path(shape: &PartialPath, context: &JudgeContext) -> PathClasses {
    let all = shape.names();
    let rooted = shape.start == PathStart::Root;
    let home = if rooted { strip_home(&all, context) } else { None };
    let names = PathComponents::new(rooted.then_some(all.as_slice()), home, &all);
    let mut classes = classify_by_name(&names);
    if rooted {
        classes = classes.union(classify_by_location(&names, context)).union(classify_self_paths(shape, context));
    }
    if classes.contains(PathClass::Temp) && is_literal_path(&names) {
        // A test made it; a copy of a real one is judged when it is made.
        classes = classes.difference([PathClass::Hook].into());
        if matches_any_pattern(patterns::ENVIRONMENT, &names) {
            classes = classes.difference([PathClass::Secret].into());
        }
    }
    if shape.root_if_empty && is_grave_if_empty(&all, context) {
        classes = classes.with(match all.as_slice() {
            [_, name] | [_, name, _] if COMMON_NAMES.contains(name) => PathClass::SystemIfEmpty,
            _ => PathClass::RootIfEmpty,
        });
    }
    if !rooted || shape.may_escape {
        classes = classes.with(PathClass::Unknown);
    }
    if rooted && shape.may_escape && all.len() == 1 && all.iter().all(|name| glob::is_opaque(name)) {
        // `/$x`: the root, if `x` is empty.
        classes = classes.with(PathClass::RootIfEmpty);
    }
    classes
}

/// The classes of a name, wherever it is.
fn classify_by_name(names: &PathComponents<'_>) -> PathClasses {
    let mut classes = PathClasses::default();
    if matches_any_pattern(patterns::SECRET, names) && !is_public_exception(names) {
        classes = classes.with(PathClass::Secret);
    }
    if matches_any_pattern(patterns::SECRET_DIR, names) {
        classes = classes.with(PathClass::SecretDir);
    }
    if matches_any_pattern(patterns::START_UP, names) {
        classes = classes.with(PathClass::StartUp);
    }
    if matches_any_pattern(patterns::HOOK, names) && !is_public_exception(names) {
        classes = classes.with(PathClass::Hook);
    }
    classes
}

/// An exception applies only to a known name: a pattern may match both.
fn is_public_exception(names: &PathComponents<'_>) -> bool {
    is_literal_path(names) && matches_any_pattern(patterns::PUBLIC, names)
}

fn is_literal_path(names: &PathComponents<'_>) -> bool {
    names.all.iter().all(|name| glob::is_literal(name))
}

/// The class of its location; for patterns, the gravest that may match.
fn classify_by_location(names: &PathComponents<'_>, context: &JudgeContext) -> PathClasses {
    let all = names.all;
    let project = partial_path::split_names(&context.project);
    let mut classes = PathClasses::default();
    match all {
        [] => return [PathClass::Root].into(),
        [only] if glob::is_match_all(only) => return [PathClass::Root].into(),
        // A whole drive of Windows.
        ["mnt", drive] | ["mnt", drive, "*"] if is_drive_letter(drive) => return [PathClass::Root].into(),
        ["mnt", drive, only] if is_drive_letter(drive) && glob::is_match_all(only) => return [PathClass::Root].into(),
        ["c"] => return [PathClass::Root].into(),
        _ => {}
    }
    if is_home_root(names, context) {
        classes = classes.with(PathClass::HomeRoot);
    }
    if !project.is_empty() {
        if can_hold_directory(all, &project) {
            classes = classes.with(PathClass::ProjectRoot);
        }
        if let Some(inside) = strip_leading_names(all, &project) {
            return classes.union(classify_in_project(inside, is_home_directory(&project, context)));
        }
    }
    if classes.contains(PathClass::HomeRoot) {
        return classes;
    }
    classes.union(classify_outside_project(names, context))
}

fn classify_in_project(inside: &[&str], is_home: bool) -> PathClasses {
    let names = PathComponents::new(Some(inside), None, inside);
    let class = match inside {
        [] => PathClass::ProjectRoot,
        [only] if glob::is_match_all(only) && !only.starts_with('.') => PathClass::ProjectRoot,
        _ if matches_any_pattern(patterns::GIT, &names) => PathClass::ProjectGit,
        _ if is_home => PathClass::HomeProject,
        _ => PathClass::Project,
    };
    [class].into()
}

/// Whether a directory is a home directory: the project of an agent that was started there is the whole of it.
fn is_home_directory(directory: &[&str], context: &JudgeContext) -> bool {
    matches!(strip_home(directory, context), Some([]))
}

/// Whether a path belongs to the system, wherever the project is.
pub fn is_system_path(path: &str) -> bool {
    let all = partial_path::split_names(path);
    let names = PathComponents::new(Some(&all), None, &all);
    matches_any_pattern(patterns::SYSTEM, &names)
}

/// The classes outside the project. A pattern that *may* lead to a harmless path may also lead elsewhere, so only a
/// certain path is excused.
fn classify_outside_project(names: &PathComponents<'_>, context: &JudgeContext) -> PathClasses {
    let class = if let Some(class) = classify_in_temp(names.all, context) {
        class
    } else if strip_known_pattern(patterns::NETWORK, names.all).is_some() {
        PathClass::Network
    } else if strip_known_pattern(patterns::HARMLESS, names.all).is_some() {
        PathClass::Harmless
    } else if matches_any_pattern(patterns::DEVICE, names) {
        PathClass::Device
    } else if names.home.is_some_and(|below| strip_known_pattern(patterns::CACHE, below).is_some() || is_runtime(names))
    {
        PathClass::Cache
    } else if names.home.is_some() {
        let kept = !matches_any_pattern(patterns::LOOSE, names);
        return if kept { [PathClass::Home, PathClass::Personal].into() } else { [PathClass::Home].into() };
    } else if matches_any_pattern(patterns::SYSTEM, names) {
        PathClass::System
    } else {
        PathClass::Elsewhere
    };
    [class].into()
}

/// Whether a program makes the file again when it starts.
fn is_runtime(names: &PathComponents<'_>) -> bool {
    is_literal_path(names) && matches_any_pattern(patterns::RUNTIME, names)
}

/// The rest of a path below one of these patterns, if it certainly matches.
fn strip_known_pattern<'a>(patterns: &[patterns::PathPattern], all: &'a [&'a str]) -> Option<&'a [&'a str]> {
    let below = |pattern: &patterns::PathPattern| {
        strip_leading_names(all, pattern.names).filter(|rest| pattern.below || rest.is_empty())
    };
    patterns.iter().find_map(below)
}

/// In a temporary directory: a configured one, or one that every machine has. A home directory below a temporary directory
/// is still a home directory.
fn classify_in_temp(all: &[&str], context: &JudgeContext) -> Option<PathClass> {
    let home = partial_path::split_names(&context.home);
    let is_in_home = !home.is_empty() && strip_leading_names(all, &home).is_some();
    // The number of names below a temporary directory of so many names.
    let rest_below = |temp_len: usize| {
        let rest = all.len().checked_sub(temp_len)?;
        (!is_in_home || temp_len >= home.len()).then_some(rest)
    };
    let set = context.temp.iter().find_map(|temp| {
        let temp = partial_path::split_names(temp);
        strip_leading_names(all, &temp).filter(|_| !temp.is_empty())?;
        rest_below(temp.len())
    });
    let known = || strip_known_pattern(patterns::TEMP, all).and_then(|rest| rest_below(all.len() - rest.len()));
    let rest = set.or_else(known)?;
    let is_everything = rest == 1 && all.last().is_some_and(|last| glob::is_match_all(last));
    Some(if rest == 0 || is_everything { PathClass::TempRoot } else { PathClass::Temp })
}

fn is_drive_letter(name: &str) -> bool {
    matches!(name.as_bytes(), [letter] if letter.is_ascii_lowercase())
}

/// A home directory, the directory of all homes, or everything in a home.
fn is_home_root(names: &PathComponents<'_>, context: &JudgeContext) -> bool {
    let whole = match names.home {
        Some([]) => true,
        Some([only]) => glob::is_match_all(only),
        _ => false,
    };
    let home = partial_path::split_names(&context.home);
    let holds_homes = match names.all {
        [only] => glob::can_match(only, "home") || glob::can_match(only, "Users"),
        ["c" | "C", "Users" | "users"] => true,
        ["mnt", drive, "Users" | "users"] => is_drive_letter(drive),
        _ => false,
    };
    whole || holds_homes || (!home.is_empty() && can_hold_directory(names.all, &home))
}

/// The rest of a path below a home directory.
fn strip_home<'a>(all: &'a [&'a str], context: &JudgeContext) -> Option<&'a [&'a str]> {
    let home = partial_path::split_names(&context.home);
    if !home.is_empty()
        && let Some(rest) = strip_leading_names(all, &home)
    {
        return Some(rest);
    }
    match all {
        ["home" | "Users", _, rest @ ..] | ["root", rest @ ..] => Some(rest),
        ["c" | "C", "Users" | "users", _, rest @ ..] => Some(rest),
        ["mnt", drive, "Users" | "users", _, rest @ ..] if is_drive_letter(drive) => Some(rest),
        [homes, _, rest @ ..] if !glob::is_literal(homes) && glob::can_match(homes, "home") => Some(rest),
        _ => None,
    }
}

/// Whether a path is a directory or inside it. Both are known and normalized.
pub(crate) fn is_within_directory(path: &str, directory: &str) -> bool {
    let rest = path.strip_prefix(directory.trim_end_matches('/'));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The names after a known start.
fn strip_leading_names<'a>(all: &'a [&'a str], beginning: &[&str]) -> Option<&'a [&'a str]> {
    let (head, rest) = all.split_at_checked(beginning.len())?;
    (head == beginning).then_some(rest)
}

/// Whether these names may be a directory or one that contains it.
fn can_hold_directory(all: &[&str], directory: &[&str]) -> bool {
    all.len() <= directory.len() && all.iter().zip(directory).all(|(name, wanted)| glob::can_match(name, wanted))
}

/// The relation of a path to a place, with the case rules of the disk.
fn relate_with_case_rules(path: &str, place: &str, context: &JudgeContext) -> Option<PathRelation> {
    let found = relation::relate_path(path, place);
    if !context.ignores_case || found == Some(PathRelation::Within) {
        return found;
    }
    relation::relate_path(&path.to_lowercase(), &place.to_lowercase())
}

/// In Snell's data directory: copies of files that calls deleted or overwrote.
const BACKUP_DIR: &str = "backups";

/// The classes for Snell's own files: the path is one, is inside one, or contains one.
fn classify_self_paths(shape: &PartialPath, context: &JudgeContext) -> PathClasses {
    let mut classes = PathClasses::default();
    for own in &context.self_paths {
        let class = match (relate_with_case_rules(shape.text(), &own.path, context), own.kind) {
            (Some(PathRelation::Within), SelfFile::Hooks) => PathClass::OwnHooks,
            // Other rules judge the removal of a whole project.
            (Some(PathRelation::Holds), SelfFile::Hooks) | (None, _) => continue,
            (Some(PathRelation::Within), SelfFile::Program) => {
                classes = classes.with(PathClass::OwnProgram);
                PathClass::Own
            }
            (Some(PathRelation::Within), SelfFile::Data) => {
                // A copy of a file may be a copy of a secret.
                if shape.names().get(split_names(&own.path).len()) == Some(&BACKUP_DIR) {
                    classes = classes.with(PathClass::Secret);
                }
                PathClass::Own
            }
            (Some(PathRelation::Within), _) => PathClass::Own,
            (Some(PathRelation::Holds), _) => PathClass::HoldsOwn,
        };
        classes = classes.with(class);
    }
    classes
}

/// System directories whose names are common below other directories, too: `$INSTALL_DIR/lib`.
const COMMON_NAMES: &[&str] = &["bin", "lib", "opt", "run", "srv", "var"];

/// Whether `$x/…` would be a system path if `x` were empty.
fn is_grave_if_empty(all: &[&str], context: &JudgeContext) -> bool {
    let Some(rest) = all.split_first().map(|(_, rest)| rest) else {
        return true;
    };
    // `$x/etc` is a whole directory of the system, `$x/lib/cmake` only looks like a part of one.
    let is_whole = match rest {
        [] | [_] | ["usr" | "var" | "home" | "Users" | "System" | "Library", _] => true,
        [_, last] => glob::is_match_all(last),
        _ => false,
    };
    if !is_whole {
        return false;
    }
    let names = PathComponents::new(Some(rest), strip_home(rest, context), rest);
    classify_by_location(&names, context)
        .intersects([PathClass::Root, PathClass::System, PathClass::HomeRoot, PathClass::Device].into())
}

/// A path without `.`, `..` or a trailing slash, by its text alone.
pub fn normalize_path(path: &Path) -> String {
    let mut tidy = PathBuf::from("/");
    for part in path.components() {
        match part {
            Component::ParentDir => {
                tidy.pop();
            }
            Component::Normal(name) => tidy.push(name),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    tidy.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests;
