//! Paths that the session made: it may remove them again, as long as nothing else changed them.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;

use super::trail::CommandWords;
use super::{SessionMark, SessionScene, fetched, stamp, words};
use crate::effects::{Effect, EffectKind, PathAction};
use crate::file_system::FileKind;
use crate::git_repository::{find_branch_file, has_packed_branch};
use crate::invocation::Invocation;
use crate::judge::CallAnalysis;
use crate::paths::{PathClass, is_within_directory, locate_path};
use crate::rules::{GuardRule, RULES};

/// How many paths of one call are remembered.
const MAX_PATHS: usize = 32;

/// Actions that may make a file or a directory.
const MAKING: [PathAction; 5] =
    [PathAction::Put, PathAction::Append, PathAction::Overwrite, PathAction::Replace, PathAction::Make];

/// Actions that the rules for made paths are about.
const CHANGING: [PathAction; 9] = [
    PathAction::Put,
    PathAction::Append,
    PathAction::Overwrite,
    PathAction::Replace,
    PathAction::Make,
    PathAction::Delete,
    PathAction::Take,
    PathAction::Edit,
    PathAction::MayEdit,
];

/// Paths that no session can make its own, and paths that need no permission.
const NOT_REMEMBERED: [PathClass; 14] = [
    PathClass::Project,
    PathClass::Temp,
    PathClass::TempRoot,
    PathClass::System,
    PathClass::Device,
    PathClass::Harmless,
    PathClass::Network,
    PathClass::StartUp,
    PathClass::Secret,
    PathClass::SecretDir,
    PathClass::Own,
    PathClass::OwnProgram,
    PathClass::OwnHooks,
    PathClass::Hook,
];

/// The programs whose rules are about a branch or a worktree.
const BRANCH_RULE: &str = "git.branch-delete";
const WORKTREE_RULE: &str = "git.worktree-remove";

/// Whether a rule does not apply to what the session made.
pub(crate) fn is_relaxed_rule(rule: &GuardRule) -> bool {
    words::made::RELAXED_RULES.contains(&rule.id) && !rule.locked
}

/// Marks the effects on what the session made.
pub(super) fn mark_made_targets(scene: &SessionScene<'_>, analysis: &mut CallAnalysis) {
    if scene.facts.made.is_empty() {
        return;
    }
    let made = MadePaths { scene, known: RefCell::default() };
    let is_made = |effect: &Effect| match effect.kind {
        EffectKind::Path(action) if CHANGING.contains(&action) => {
            let place = effect.place.as_ref().filter(|place| !place.classes.intersects(NOT_REMEMBERED.into()));
            place.and_then(|place| place.path.as_ref()).is_some_and(|path| made.contains(path))
        }
        EffectKind::Rule(number) => {
            let by = effect.by.and_then(|by| analysis.invocations.get(by));
            let rule = RULES.get(number).filter(|rule| is_relaxed_rule(rule));
            rule.zip(by).is_some_and(|(rule, by)| made.contains_operands(rule.id, by))
        }
        EffectKind::Path(_) | EffectKind::Watched(_) => false,
    };
    let marks: Vec<bool> = analysis.effects.iter().map(is_made).collect();
    for (effect, _) in analysis.effects.iter_mut().zip(marks).filter(|(_, is_made)| *is_made) {
        effect.session = Some(SessionMark::Made);
    }
}

/// The paths that a call may make, or change if the session made them.
pub(super) fn list_paths_to_make(scene: &SessionScene<'_>, analysis: &CallAnalysis) -> Vec<String> {
    let takes = |effect: &Effect| effect.kind == EffectKind::Path(PathAction::Take);
    let mut paths: Vec<String> = Vec::new();
    // A file that moves here was made elsewhere.
    if !analysis.effects.iter().any(takes) {
        let targets = analysis.effects.iter().filter_map(|effect| find_new_path(scene, effect));
        paths.extend(targets.take(MAX_PATHS));
        for invocation in &analysis.invocations {
            paths.extend(list_new_branches(scene, invocation));
            let clones = fetched::list_fetched_paths(invocation, scene.context).into_iter();
            paths.extend(clones.filter_map(|clone| find_missing_start(scene, &clone.path)));
        }
    }
    let made = MadePaths { scene, known: RefCell::default() };
    let touched = scene.facts.made.iter().filter(|known| touches_path(&known.path, analysis));
    paths.extend(touched.filter(|known| made.contains(&known.path)).map(|known| known.path.clone()));
    paths.sort();
    paths.dedup();
    paths.truncate(MAX_PATHS);
    paths
}

/// Whether a call may change a path of the session, or something in it.
fn touches_path(path: &str, analysis: &CallAnalysis) -> bool {
    let is_in = |other: Option<&String>| other.is_some_and(|other| is_within_directory(other, path));
    let is_branch = path.contains("/refs/heads/");
    let moves_branches = |invocation: &Invocation| {
        let mut words = invocation.arguments().iter().filter_map(|word| word.as_text());
        invocation.base_name() == "git" && words.any(|word| words::made::BRANCH_MOVERS.contains(&word))
    };
    analysis.effects.iter().any(|effect| is_in(effect.place.as_ref().and_then(|place| place.path.as_ref())))
        || analysis
            .invocations
            .iter()
            .any(|invocation| is_in(invocation.cwd.as_ref()) || (is_branch && moves_branches(invocation)))
}

/// The path that an effect makes, if it does not exist.
fn find_new_path(scene: &SessionScene<'_>, effect: &Effect) -> Option<String> {
    let makes = matches!(effect.kind, EffectKind::Path(action) if MAKING.contains(&action));
    let place = effect.place.as_ref().filter(|place| makes && !place.classes.intersects(NOT_REMEMBERED.into()))?;
    find_missing_start(scene, place.path.as_ref()?)
}

/// The first part of a path that does not exist: `mkdir -p` makes it too.
fn find_missing_start(scene: &SessionScene<'_>, path: &str) -> Option<String> {
    let is_missing = |path: &Path| {
        let status = scene.disk.symlink_metadata(path);
        status.is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
    };
    let missing = Path::new(path).ancestors().take_while(|part| is_missing(part)).last()?;
    missing.to_str().filter(|missing| *missing != "/" && !missing.is_empty()).map(str::to_owned)
}

/// The branches that a command of git may make and that do not exist, as files of the repository.
fn list_new_branches(scene: &SessionScene<'_>, invocation: &Invocation) -> Vec<String> {
    let Some(command) = CommandWords::read(invocation, scene.context).filter(|command| command.is_program("git"))
    else {
        return Vec::new();
    };
    let phrase = command.phrase();
    let maker = words::made::BRANCH_MAKERS.iter().find(|(maker, _)| phrase.starts_with(maker));
    let named: Vec<String> = match maker {
        Some((_, flags)) => command.args.flag_values(flags).map(|name| name.to_string()).collect(),
        None if phrase.starts_with("git branch") => command.words.get(2).cloned().into_iter().collect(),
        None => Vec::new(),
    };
    let Some(cwd) = command.cwd.as_deref() else {
        return Vec::new();
    };
    let is_new = |name: &&String| !has_packed_branch(cwd, name, scene.disk);
    let files = named.iter().filter(is_new).filter_map(|name| find_branch_file(cwd, name, scene.disk));
    files.filter(|file| find_missing_start(scene, file).is_some()).collect()
}

/// The paths of the session that are still as it left them.
struct MadePaths<'a> {
    scene: &'a SessionScene<'a>,
    /// Whether each is unchanged, by its number.
    known: RefCell<HashMap<usize, bool>>,
}

impl MadePaths<'_> {
    /// Whether the session made this path, or a directory around it.
    fn contains(&self, path: &str) -> bool {
        let mut made = self.scene.facts.made.iter().enumerate();
        made.any(|(number, made)| {
            is_within_directory(path, &made.path)
                && self.is_unchanged(number)
                && !self.leads_through_symlink(&made.path, path)
        })
    }

    /// Whether the session made all targets of a command of git.
    fn contains_operands(&self, rule: &str, invocation: &Invocation) -> bool {
        let context = self.scene.context;
        let Some(command) = CommandWords::read(invocation, context).filter(|_| !invocation.elsewhere) else {
            return false;
        };
        let Some(cwd) = command.cwd.as_deref() else {
            return false;
        };
        let targets: Vec<_> = match rule {
            BRANCH_RULE => {
                let names = command.words.iter().skip(2);
                names.map(|name| find_branch_file(cwd, name, self.scene.disk)).collect()
            }
            // After `remove`.
            WORKTREE_RULE => {
                let paths = command.args.operands.iter().skip(1);
                paths.map(|path| locate_path(path, Some(cwd), context).path).collect()
            }
            _ => Vec::new(),
        };
        !targets.is_empty() && targets.iter().all(|target| target.as_ref().is_some_and(|path| self.contains(path)))
    }

    fn is_unchanged(&self, number: usize) -> bool {
        *self.known.borrow_mut().entry(number).or_insert_with(|| {
            let facts = self.scene.facts;
            let made = facts.made.get(number).zip(facts.started_ns);
            made.is_some_and(|(made, started)| {
                stamp::stamp_path(Path::new(&made.path), started, self.scene.disk) == Some(made.stamp)
            })
        })
    }

    /// Whether a path is a symlink, or leads through one below a directory.
    fn leads_through_symlink(&self, directory: &str, path: &str) -> bool {
        let mut parts = Path::new(path).ancestors().take_while(|part| part.starts_with(directory));
        parts.any(|part| {
            let status = self.scene.disk.symlink_metadata(part);
            status.is_ok_and(|status| status.kind == FileKind::Other)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::RuleTier;

    #[test]
    fn every_relaxed_rule_exists_and_none_is_grave() {
        for id in words::made::RELAXED_RULES {
            let rule = RULES.iter().find(|rule| rule.id == *id);
            assert!(rule.is_some_and(|rule| is_relaxed_rule(rule) && rule.tier > RuleTier::Secret), "{id}");
        }
    }
}
