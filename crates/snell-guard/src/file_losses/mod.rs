//! The files that a call would delete or overwrite, so that a caller can copy them aside before.
//!
//! This reads only the analysis of a call. Which files exist, and which of them git has, is for the caller to find out.

use std::path::Path;

use crate::effects::{Effect, EffectKind, PathAction};
use crate::invocation::{Invocation, SymbolicText};
use crate::judge::review::CallReview;
use crate::paths::{ClassifiedPath, PathClass, is_literal, is_opaque, matches_shell_pattern, normalize_path};
use crate::rules::RULES;

/// Programs that run another one for every file below a directory.
const FILE_FINDERS: &[&str] = &["find", "fd", "fdfind"];

/// Rules about git commands that lose files of a working tree.
const GIT_LOSSES: &[(&str, LossKind)] = &[
    ("git.reset-hard", LossKind::TrackedChanges),
    ("git.discard-changes", LossKind::TrackedChanges),
    ("git.clean", LossKind::UntrackedFiles),
    ("git.stash-drop", LossKind::Stashes),
];

/// Files that a call would delete or overwrite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileLoss {
    /// How they are lost.
    pub kind: LossKind,
    /// Which ones.
    pub scope: LossScope,
    /// Whether it includes everything below a directory.
    pub recursive: bool,
}

/// How files are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossKind {
    /// Their names are removed. The contents stay as they are.
    Deleted,
    /// Their contents are replaced or changed, perhaps in place.
    Overwritten,
    /// Git replaces changed files by those that it has.
    TrackedChanges,
    /// Git removes files that it does not have.
    UntrackedFiles,
    /// Git forgets changes that it put aside.
    Stashes,
}

/// Which files are lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LossScope {
    /// The file or directory with this path.
    Path(String),
    /// Files whose names below a directory match these patterns.
    Pattern {
        /// The directory.
        directory: String,
        /// One pattern for each name of the path below it.
        names: Vec<FileNamePattern>,
    },
    /// Files of the working tree of a git repository.
    GitTree {
        /// The directory in which git would run.
        directory: String,
        /// The paths that the command may name. If none of them exists, it is about the whole working tree.
        operands: Vec<String>,
    },
    /// Files that nobody knows before the call runs, as the call names them.
    Unknown(String),
}

/// A pattern of the shell for the name of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileNamePattern {
    text: String,
}

impl FileNamePattern {
    /// Whether a file's name matches.
    pub fn matches(&self, name: &[u8]) -> bool {
        matches_shell_pattern(&self.text, name)
    }
}

impl CallReview {
    /// The files that the call would delete or overwrite, in the order of its effects.
    pub fn list_file_losses(&self) -> Vec<FileLoss> {
        let mut losses: Vec<FileLoss> = Vec::new();
        for effect in &self.effects {
            let invocation = effect.by.and_then(|number| self.invocations.get(number));
            if invocation.is_some_and(|invocation| invocation.elsewhere) {
                continue;
            }
            let loss = match effect.kind {
                EffectKind::Path(action) => self.find_path_loss(effect, action, invocation),
                EffectKind::Rule(rule) => find_git_loss(effect, rule, invocation),
                EffectKind::Watched(_) => None,
            };
            losses.extend(loss.filter(|loss| !losses.contains(loss)));
        }
        losses
    }

    fn find_path_loss(&self, effect: &Effect, action: PathAction, invocation: Option<&Invocation>) -> Option<FileLoss> {
        let place = effect.place.as_ref().filter(|place| !is_no_file(place))?;
        let kind = match action {
            PathAction::Delete => LossKind::Deleted,
            PathAction::Take if !self.stays_in_project(effect) => LossKind::Deleted,
            PathAction::Overwrite
            | PathAction::Edit
            | PathAction::MayEdit
            | PathAction::Put
            | PathAction::Replace
            | PathAction::Fetch => LossKind::Overwritten,
            _ => return None,
        };
        let scope = find_scope(place);
        // Only a deletion is worth a note if its files are unknown: most programs that write make new files.
        if matches!(scope, LossScope::Unknown(_)) && kind != LossKind::Deleted {
            return None;
        }
        let recursive = kind == LossKind::Deleted && (effect.recursive || is_run_for_found_files(invocation));
        Some(FileLoss { kind, scope, recursive })
    }

    /// Whether a file that is moved gets another name in the project.
    fn stays_in_project(&self, taken: &Effect) -> bool {
        let is_inside = |place: &ClassifiedPath| place.classes.contains(PathClass::Project);
        let puts = |effect: &&Effect| effect.kind == EffectKind::Path(PathAction::Put) && effect.by == taken.by;
        taken.by.is_some() && self.effects.iter().filter(puts).any(|put| put.place.as_ref().is_some_and(is_inside))
    }
}

/// Whether nothing is lost by writing there.
fn is_no_file(place: &ClassifiedPath) -> bool {
    place.classes.intersects([PathClass::Harmless, PathClass::Device, PathClass::Network].into())
}

/// Whether the program gets files from all levels below a directory, which the analysis knows only by a pattern.
fn is_run_for_found_files(invocation: Option<&Invocation>) -> bool {
    let finds = |via: &String| via.split(' ').next().is_some_and(|program| FILE_FINDERS.contains(&program));
    invocation.is_some_and(|invocation| invocation.via.iter().any(finds))
}

fn find_scope(place: &ClassifiedPath) -> LossScope {
    if let Some(path) = &place.path {
        return LossScope::Path(path.clone());
    }
    let names = place.name_patterns().unwrap_or_default();
    let literal = names.iter().take_while(|name| is_literal(name)).count();
    let (directory, patterns) = names.split_at(literal);
    if patterns.is_empty() || patterns.iter().any(|name| is_opaque(name)) {
        return LossScope::Unknown(place.written.clone());
    }
    let names = patterns.iter().map(|name| FileNamePattern { text: (*name).to_owned() }).collect();
    LossScope::Pattern { directory: format!("/{}", directory.join("/")), names }
}

/// Files that a git command loses.
fn find_git_loss(effect: &Effect, rule: usize, invocation: Option<&Invocation>) -> Option<FileLoss> {
    let id = RULES.get(rule)?.id;
    let (_, kind) = GIT_LOSSES.iter().find(|(lossy, _)| *lossy == id)?;
    let directory = invocation.and_then(|invocation| invocation.cwd.clone());
    let scope = match directory {
        Some(directory) => LossScope::GitTree { operands: list_git_operands(invocation, &directory), directory },
        None => LossScope::Unknown(effect.program.to_owned()),
    };
    Some(FileLoss { kind: *kind, scope, recursive: true })
}

/// The operands of a git command as paths. Some may be branches.
fn list_git_operands(invocation: Option<&Invocation>, directory: &str) -> Vec<String> {
    let words = invocation.map(Invocation::arguments).unwrap_or_default().iter().map(SymbolicText::as_text);
    let operands = words.flatten().filter(|word| !word.starts_with('-')).skip(1);
    operands.map(|word| normalize_path(&Path::new(directory).join(word))).collect()
}

#[cfg(test)]
mod tests;
