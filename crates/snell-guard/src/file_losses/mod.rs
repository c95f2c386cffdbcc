//! The files that a call would delete or overwrite, so that a caller can copy them aside before.
//!
//! This reads only the analysis of a call. Which files exist, and which of them git has, is for the caller to find out.

use std::path::Path;

use crate::effects::{Effect, EffectKind, PathAction};
use crate::invocation::{Invocation, SymbolicText};
use crate::judge::review::CallReview;
use crate::paths::{
    ClassifiedPath, LeadingDot, PathClass, encode_glob, is_literal, is_opaque, matches_shell_pattern, normalize_path,
};
use crate::rules::RULES;

/// Programs that run another one for every file below a directory.
const FILE_FINDERS: &[&str] = &["find", "fd", "fdfind"];

/// Programs and languages that delete a file by removing its name.
const UNLINKING_PROGRAMS: &[&str] =
    &["rm", "rmdir", "unlink", "find", "git rm", "the tool", "Python", "JavaScript", "Perl", "Ruby", "PHP"];

/// Words of `find` with which a test does not decide alone.
const FIND_OPERATORS: &[&str] = &["-o", "-or", "!", "-not", ",", "(", "\\("];

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
    /// Below a directory, only files with such names are lost.
    pub only: Option<FileNamePattern>,
}

/// How files are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossKind {
    /// Only their names are removed. The contents stay as they are.
    Deleted,
    /// They are moved away, or something removes them that may also change them.
    Removed,
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
    /// Files that are unknown before the call runs, as the call names them.
    Unknown(String),
}

/// A pattern of the shell for the name of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileNamePattern {
    /// With the signs of `paths::glob`.
    text: String,
    leading_dot: LeadingDot,
}

impl FileNamePattern {
    /// Whether a file's name matches.
    pub fn matches(&self, name: &[u8]) -> bool {
        matches_shell_pattern(&self.text, name, self.leading_dot)
    }

    fn from_find(glob: &str) -> Self {
        Self { text: encode_glob(glob), leading_dot: LeadingDot::Plain }
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
            PathAction::Delete if UNLINKING_PROGRAMS.contains(&effect.program) => LossKind::Deleted,
            PathAction::Delete => LossKind::Removed,
            PathAction::Take if !self.stays_in_project(effect) => LossKind::Removed,
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
        let removes = matches!(kind, LossKind::Deleted | LossKind::Removed);
        if matches!(scope, LossScope::Unknown(_)) && !removes {
            return None;
        }
        let recursive = removes && (effect.recursive || is_run_for_found_files(invocation));
        let only = invocation.filter(|_| effect.program == "find").and_then(find_name_test);
        Some(FileLoss { kind, scope, recursive, only })
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
    let names = patterns
        .iter()
        .map(|name| FileNamePattern { text: (*name).to_owned(), leading_dot: LeadingDot::Special })
        .collect();
    LossScope::Pattern { directory: format!("/{}", directory.join("/")), names }
}

/// The only test of names of a `find`, if nothing else could select files too.
fn find_name_test(invocation: &Invocation) -> Option<FileNamePattern> {
    let words: Vec<&str> = invocation.arguments().iter().map(|word| word.as_text().unwrap_or_default()).collect();
    if words.iter().any(|word| FIND_OPERATORS.contains(word)) {
        return None;
    }
    let test = words.iter().position(|word| *word == "-name")?;
    words.get(test + 1).map(|glob| FileNamePattern::from_find(glob))
}

/// Files that a git command loses.
fn find_git_loss(effect: &Effect, rule: usize, invocation: Option<&Invocation>) -> Option<FileLoss> {
    let id = RULES.get(rule)?.id;
    let (_, kind) = GIT_LOSSES.iter().find(|(lossy, _)| *lossy == id)?;
    let scope = invocation.and_then(find_git_tree).unwrap_or_else(|| LossScope::Unknown(effect.program.to_owned()));
    Some(FileLoss { kind: *kind, scope, recursive: true, only: None })
}

/// The directory in which git runs, and its operands as paths. Some may be branches.
fn find_git_tree(invocation: &Invocation) -> Option<LossScope> {
    let mut directory = invocation.cwd.clone()?;
    let mut words = invocation.arguments().iter();
    while let Some(word) = words.next() {
        match word.as_text() {
            Some("-C") => directory = normalize_path(&Path::new(&directory).join(words.next()?.as_text()?)),
            Some("-c" | "--git-dir" | "--work-tree" | "--namespace") => {
                words.next();
            }
            Some(flag) if flag.starts_with('-') => {}
            // The subcommand.
            _ => break,
        }
    }
    let operands = words.filter_map(SymbolicText::as_text).filter(|word| !word.starts_with('-'));
    let operands = operands.map(|word| normalize_path(&Path::new(&directory).join(word))).collect();
    Some(LossScope::GitTree { directory, operands })
}

#[cfg(test)]
mod tests;
