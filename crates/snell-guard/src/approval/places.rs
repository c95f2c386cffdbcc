//! The paths of calls that may be approved: in the project or a temporary directory, and nothing that is secret, runs by itself or belongs
//! to Snell.

use super::ApprovalDraft;
use super::table::words;
use crate::invocation::{SymbolicPart, SymbolicText};
use crate::judge::context::JudgeContext;
use crate::paths::{ClassifiedPath, PathClass, PathClasses, is_within_directory, locate_path, matches_glob};

/// How a path is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AccessKind {
    /// The contents of the file, or of files in the directory, are shown.
    Read,
    /// The contents of the file, or of all files below the directory, are shown.
    Contents,
    /// Names, dates and sizes are shown.
    List,
    /// Everything below is searched, also hidden files.
    Search,
    /// Something new is made, or it stays as it is.
    Make,
    /// It is changed so that no content is lost without a trace.
    Edit,
    /// Its content is lost.
    Overwrite,
    /// It is deleted or moved.
    Delete,
    /// It is a directory of generated files, and deleted with everything in it.
    DeleteTree,
    /// It becomes executable, or only its owner may write it.
    Mode,
    /// It runs, as a script of the project.
    Run,
    /// Its code or its configuration runs, so it must be of the project.
    Code,
    /// Everything below is shown, also hidden files.
    Tree,
    /// The files below with such names are shown, also hidden ones, but no symlinks.
    Found,
    /// It must be there, because it would be downloaded otherwise.
    Exist,
    /// It must not be there, because its name would mean it.
    Absent,
    /// No module of the project in this directory may take the place of Python's own.
    Modules,
}

/// A path that the disk must confirm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlaceAccess {
    /// The known start of the path.
    pub(crate) path: String,
    /// The pattern after it; empty if all of it is known.
    pub(crate) pattern: String,
    pub(crate) kind: AccessKind,
}

impl AccessKind {
    pub(crate) fn is_change(self) -> bool {
        matches!(self, Self::Make | Self::Edit | Self::Overwrite | Self::Delete | Self::DeleteTree | Self::Mode)
    }
}

/// Files that are no place: writing there changes nothing.
const DISCARDING: &[&str] = &["/dev/null", "/dev/stdout", "/dev/stderr"];
/// The same for reading.
const EMPTY: &[&str] = &["/dev/null", "/dev/stdin"];
/// The start of the files that `<(…)` names.
const DESCRIPTORS: &str = "/dev/fd/";

/// Classes of paths that are never read.
const UNREADABLE: [PathClass; 9] = [
    PathClass::Secret,
    PathClass::SecretDir,
    PathClass::Sealed,
    PathClass::HoldsSealed,
    PathClass::Device,
    PathClass::Network,
    PathClass::FromInput,
    PathClass::RootIfEmpty,
    PathClass::SystemIfEmpty,
];

/// Classes of paths that are never changed.
const UNCHANGEABLE: [PathClass; 12] = [
    PathClass::Secret,
    PathClass::SecretDir,
    PathClass::Sealed,
    PathClass::Protected,
    PathClass::HoldsProtected,
    PathClass::Own,
    PathClass::HoldsOwn,
    PathClass::OwnHooks,
    PathClass::Hook,
    PathClass::StartUp,
    PathClass::ProjectGit,
    PathClass::HomeProject,
];

/// Whether the project is one: not a home directory, nor one that contains it.
pub(super) fn is_project_narrow(context: &JudgeContext) -> bool {
    let depth = context.project.split('/').filter(|name| !name.is_empty()).count();
    depth >= 2 && (context.home.is_empty() || !is_within_directory(&context.home, &context.project))
}

/// Whether a path is in the project or a temporary directory.
pub(crate) fn is_in_reach(path: &str, context: &JudgeContext) -> bool {
    let is_temporary = |path: &str| {
        let classes = locate_path(&SymbolicText::from_text(path), None, context).classes;
        classes.intersects([PathClass::Temp, PathClass::TempRoot].into())
    };
    is_within_directory(path, &context.project) || is_temporary(path)
}

/// Notes that a value is used as a path; `None` if that may do harm.
pub(super) fn add_place(
    draft: &mut ApprovalDraft<'_>,
    value: &SymbolicText,
    cwd: Option<&str>,
    kind: AccessKind,
) -> Option<()> {
    if let Some(text) = value.as_text()
        && is_no_place(text, kind)
    {
        return Some(());
    }
    if value.parts.iter().any(|part| matches!(part, SymbolicPart::Unknown(_))) {
        return None;
    }
    let place = locate_path(value, cwd, draft.context);
    let access = check_place(&place, kind, draft.context)?;
    draft.add_access(access);
    Some(())
}

fn is_no_place(text: &str, kind: AccessKind) -> bool {
    match kind.is_change() {
        true => DISCARDING.contains(&text),
        false => EMPTY.contains(&text) || is_descriptor(text) || is_public_file(text),
    }
}

/// Whether a file describes the system, and holds no secrets.
pub(super) fn is_public_file(path: &str) -> bool {
    words::files::PUBLIC.contains(&path)
}

/// `/dev/fd/63`, and nothing behind it.
fn is_descriptor(text: &str) -> bool {
    text.strip_prefix(DESCRIPTORS).is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The access, if its text does not show any harm.
pub(crate) fn check_place(place: &ClassifiedPath, kind: AccessKind, context: &JudgeContext) -> Option<PlaceAccess> {
    let (path, is_all) = place.known_prefix()?;
    if !is_in_reach(&path, context) || place.classes.contains(PathClass::Unknown) {
        return None;
    }
    let forbidden: PathClasses = if kind.is_change() { UNCHANGEABLE.into() } else { UNREADABLE.into() };
    let is_listing = matches!(
        kind,
        AccessKind::List | AccessKind::Exist | AccessKind::Absent | AccessKind::Modules | AccessKind::Code
    );
    if kind == AccessKind::Code && (!is_all || !is_within_directory(&path, &context.project)) {
        return None;
    }
    if !is_listing && place.classes.intersects(forbidden) {
        return None;
    }
    let names: Vec<&str> = path.split('/').filter(|name| !name.is_empty()).collect();
    if !is_listing && names.contains(&".git") {
        return None;
    }
    if !is_listing && !is_all && pattern_after(place, &path).split('/').any(|name| name.starts_with('.')) {
        return None;
    }
    // `.ENV` may be the same file.
    let is_environment = |name: &&str| name.to_lowercase().starts_with(".env") && !name.starts_with(".env");
    if !is_listing && (names.iter().any(is_environment) || names.last().is_some_and(|name| is_private_name(name))) {
        return None;
    }
    let is_named_to_run = match kind {
        AccessKind::Mode => has_hidden_name(&path, context),
        AccessKind::DeleteTree if is_generated(&path, context) => false,
        _ => kind.is_change() && has_running_name(&path, context),
    };
    if (kind == AccessKind::Run || kind.is_change()) && !is_all || is_named_to_run {
        return None;
    }
    // Other programs run what is installed there.
    if kind.is_change() && kind != AccessKind::DeleteTree && path.contains("/node_modules/") {
        return None;
    }
    if kind == AccessKind::DeleteTree && !is_generated(&format!("{path}/x"), context) {
        return None;
    }
    let pattern = if is_all { String::new() } else { pattern_after(place, &path) };
    Some(PlaceAccess { path, pattern, kind })
}

fn pattern_after(place: &ClassifiedPath, path: &str) -> String {
    let names = place.to_glob_names();
    let known = path.split('/').filter(|name| !name.is_empty()).count();
    names.get(known..).unwrap_or_default().join("/")
}

/// Whether a file may be run by a program that finds it, or is below such a directory.
fn has_running_name(path: &str, context: &JudgeContext) -> bool {
    let last = path.rsplit('/').next().unwrap_or_default().to_lowercase();
    let is_running = || words::files::RUNNING.iter().any(|pattern| matches_glob(&last, pattern));
    // Nothing looks for such files in temporary directories.
    has_hidden_name(path, context) || is_within_directory(path, &context.project) && is_running()
}

/// Whether a path is hidden, and may mean something to programs.
fn has_hidden_name(path: &str, context: &JudgeContext) -> bool {
    let inside = path.strip_prefix(context.project.as_str()).unwrap_or(path);
    let is_hidden = |name: &str| {
        name.starts_with('.') && !words::files::INERT_HIDDEN.contains(&name) && !words::files::GENERATED.contains(&name)
    };
    inside.split('/').any(is_hidden)
}

/// Whether a file of this name often holds secrets of its project.
pub(super) fn is_private_name(name: &str) -> bool {
    let name = name.to_lowercase();
    words::files::PRIVATE.iter().any(|pattern| matches_glob(&name, pattern))
}

/// Whether a pattern of names only matches files without secrets: it excludes files, or ends like the name of a source file.
pub(super) fn is_source_pattern(pattern: &str) -> bool {
    let name = pattern.rsplit('/').next().unwrap_or(pattern);
    let is_source = words::files::SOURCE_ENDINGS.iter().any(|ending| name.ends_with(ending))
        || words::files::SOURCE_NAMES.contains(&name);
    pattern.starts_with('!') || is_source && !name.starts_with('.')
}

/// Whether a path is below a directory of generated files of the project, and not that directory itself.
pub(crate) fn is_generated(path: &str, context: &JudgeContext) -> bool {
    let Some(inside) = path.strip_prefix(context.project.as_str()) else { return false };
    let names: Vec<&str> = inside.split('/').filter(|name| !name.is_empty()).collect();
    names.split_last().is_some_and(|(_, above)| above.iter().any(|name| words::files::GENERATED.contains(name)))
}
