//! Files of the project without another copy: git does not have them, no program writes them again, and they were there
//! before the session.
//!
//! Only a file for which all of that is certain counts. If the repository cannot be read, or a line of `.gitignore` may be about the
//! file, it does not.

use std::path::{Path, PathBuf};

use super::{SessionScene, stamp, words};
use crate::effects::{Effect, EffectKind, PathAction, build_rule_effect};
use crate::file_system::{FileKind, FileSystem};
use crate::git_index::GitIndex;
use crate::git_repository::{find_git_dir, read_excludes_files};
use crate::invocation::{Invocation, SymbolicText};
use crate::judge::CallAnalysis;
use crate::paths::{ClassifiedPath, PathClass, is_within_directory, locate_path, matches_glob};
use crate::wrappers::FindTests;

const RULE: &str = "session.sole-copy";

/// Larger indexes are not read, because that takes time.
const MAX_INDEX_BYTES: u64 = 4 << 20;
/// How many files of one call are checked.
const MAX_FILES: usize = 256;
/// How deep directories are searched.
const MAX_DEPTH: usize = 8;
/// Larger lists of ignored files are not read, and then nothing is certain.
const MAX_IGNORE_BYTES: u64 = 1 << 16;

/// Adds an effect for each sole copy that a call would delete or replace.
pub(super) fn add_sole_copy_effects(scene: &SessionScene<'_>, analysis: &mut CallAnalysis) {
    let loses = |effect: &&Effect| {
        matches!(effect.kind, EffectKind::Path(PathAction::Delete | PathAction::Replace)) && effect.session.is_none()
    };
    let targets: Vec<&Effect> = analysis.effects.iter().filter(loses).collect();
    if targets.is_empty() || scene.facts.started_ns.is_none() {
        return;
    }
    let mut finder = SoleCopyFinder { scene, seen: 0, repository: None };
    let mut found: Vec<Effect> = Vec::new();
    for effect in targets {
        let sole = match &effect.place {
            Some(place) if place.known_prefix().is_some() => finder.find_in_place(place, effect.recursive),
            Some(_) => {
                effect.by.and_then(|by| analysis.invocations.get(by)).and_then(|search| finder.find_by_name(search))
            }
            None => None,
        };
        if let Some(path) = sole {
            let place = Some(ClassifiedPath { written: path, ..ClassifiedPath::default() });
            let lost = build_rule_effect(RULE, effect.program, effect.span.clone());
            found.push(Effect { place, by: effect.by, allowed: effect.allowed, ..lost });
        }
    }
    analysis.effects.extend(found);
}

struct SoleCopyFinder<'a> {
    scene: &'a SessionScene<'a>,
    /// How many files were checked.
    seen: usize,
    /// The repository of the project; nothing if it cannot be read.
    repository: Option<Option<Repository>>,
}

/// The files that git has, and those that it ignores.
struct Repository {
    root: PathBuf,
    index: GitIndex,
    /// Patterns of ignored files that apply everywhere.
    ignored: Vec<String>,
}

impl SoleCopyFinder<'_> {
    /// The first sole copy in a place.
    fn find_in_place(&mut self, place: &ClassifiedPath, recursive: bool) -> Option<String> {
        if !place.classes.contains(PathClass::Project) && !place.classes.contains(PathClass::ProjectRoot) {
            return None;
        }
        let (start, is_all) = place.known_prefix()?;
        let fits = |path: &str| is_all || place.can_be_path(path);
        if !is_within_directory(&start, &self.scene.context.project) {
            return None;
        }
        self.find_below(Path::new(&start), &fits, if recursive || !is_all { MAX_DEPTH } else { 0 })
    }

    /// The first sole copy that a search of the whole project by name finds: `find . -name 'a*' -delete`.
    fn find_by_name(&mut self, invocation: &Invocation) -> Option<String> {
        if !matches!(invocation.base_name(), "find" | "gfind") {
            return None;
        }
        let tests = FindTests::parse(invocation.arguments());
        if !selects_by_name_only(tests.expression) {
            return None;
        }
        let names: Vec<&str> = tests.names.iter().filter_map(SymbolicText::as_text).collect();
        let fits = |path: &str| {
            let name = path.rsplit('/').next().unwrap_or_default();
            names.iter().any(|pattern| matches_glob(name, pattern))
        };
        let context = self.scene.context;
        let starts =
            tests.starts.iter().filter_map(|start| locate_path(start, invocation.cwd.as_deref(), context).path);
        let inside: Vec<String> = starts.filter(|start| is_within_directory(start, &context.project)).collect();
        inside.iter().find_map(|start| self.find_below(Path::new(start), &fits, MAX_DEPTH))
    }

    fn find_below(&mut self, path: &Path, fits: &dyn Fn(&str) -> bool, depth: usize) -> Option<String> {
        self.seen += 1;
        let name = path.file_name()?.to_str()?;
        let status = self.scene.disk.symlink_metadata(path).ok().filter(|_| self.seen <= MAX_FILES)?;
        match status.kind {
            FileKind::Regular => {
                let text = path.to_str().filter(|text| fits(text) && status.len > 0 && status.hard_links == 1)?;
                self.is_sole_copy(path).then(|| text.to_owned())
            }
            FileKind::Directory if depth > 0 && name != ".git" && !is_expendable_dir(name) => {
                let entries = self.scene.disk.list_directory(path, MAX_FILES);
                entries.iter().find_map(|entry| self.find_below(entry, fits, depth - 1))
            }
            FileKind::Directory | FileKind::Other => None,
        }
    }

    fn is_sole_copy(&mut self, path: &Path) -> bool {
        let scene = self.scene;
        let created = stamp::find_creation_time(path, scene.disk).zip(scene.facts.started_ns);
        if created.is_none_or(|(created, started)| created >= started) || is_expendable(path, scene) {
            return false;
        }
        let repository = self.repository.get_or_insert_with(|| Repository::read(scene)).as_ref();
        repository.is_some_and(|repository| repository.surely_lacks(path, scene.disk))
    }
}

/// Whether an expression of `find` surely selects every file with one of its names.
fn selects_by_name_only(expression: &[SymbolicText]) -> bool {
    const PLAIN: &[&str] = &["-name", "-type", "f", "(", ")", "-o", "-or", "-print", "-delete"];
    let words: Vec<&str> = expression.iter().map(|word| word.as_text().unwrap_or_default()).collect();
    let is_value = |at: usize| at.checked_sub(1).and_then(|before| words.get(before)) == Some(&"-name");
    let is_plain = words.iter().enumerate().all(|(at, word)| is_value(at) || PLAIN.contains(word));
    // Without parentheses, an alternative may have no action.
    is_plain && (words.contains(&"(") || !words.iter().any(|word| matches!(*word, "-o" | "-or")))
}

fn is_expendable(path: &Path, scene: &SessionScene<'_>) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let inside = path.strip_prefix(&scene.context.project).unwrap_or(path);
    words::sole_copies::EXPENDABLE.iter().any(|pattern| matches_glob(name, pattern))
        || inside.components().any(|part| part.as_os_str().to_str().is_some_and(is_expendable_dir))
}

fn is_expendable_dir(name: &str) -> bool {
    words::sole_copies::EXPENDABLE_DIRS.contains(&name)
}

impl Repository {
    fn read(scene: &SessionScene<'_>) -> Option<Self> {
        let project = Path::new(&scene.context.project);
        let (root, git_dir) = find_git_dir(project, scene.disk)?;
        let index = GitIndex::read(&scene.disk.read_bytes(&git_dir.join("index"), MAX_INDEX_BYTES).ok()?)?;
        let mut ignored = read_patterns(&git_dir.join("info/exclude"), scene.disk)?;
        for file in read_excludes_files(&git_dir, Path::new(&scene.context.home), scene.disk)? {
            ignored.extend(read_patterns(&file, scene.disk)?);
        }
        Some(Self { root, index, ignored })
    }

    /// Whether git surely neither has nor ignores a file.
    fn surely_lacks(&self, path: &Path, disk: &dyn FileSystem) -> bool {
        let Ok(relative) = path.strip_prefix(&self.root) else {
            return false;
        };
        let Some(text) = relative.to_str() else {
            return false;
        };
        let parts: Vec<&str> = text.split('/').collect();
        let mut patterns = self.ignored.clone();
        let mut directory = path.parent();
        while let Some(current) = directory.filter(|current| current.starts_with(&self.root)) {
            // A repository in the repository.
            if current != self.root && disk.symlink_metadata(&current.join(".git")).is_ok() {
                return false;
            }
            let Some(more) = read_patterns(&current.join(".gitignore"), disk) else {
                return false;
            };
            patterns.extend(more);
            directory = current.parent();
        }
        let is_ignored = |pattern: &String| parts.iter().any(|part| matches_glob(part, pattern));
        !self.index.contains(text.as_bytes()) && !patterns.iter().any(is_ignored)
    }
}

/// The last names of the patterns in a list of ignored files: if none of them matches a part of a path, git does not ignore it. `None`
/// if the list cannot be read.
fn read_patterns(file: &Path, disk: &dyn FileSystem) -> Option<Vec<String>> {
    let text = match disk.read_text(file, MAX_IGNORE_BYTES) {
        Ok(text) => text,
        Err(error) => return (error.kind() == std::io::ErrorKind::NotFound).then(Vec::new),
    };
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let names = lines.map(|line| line.trim_end_matches(['/', '*']).rsplit('/').next().unwrap_or_default());
    // Sets of characters match any.
    Some(names.map(|name| if name.is_empty() || name.contains(['[', '\\']) { "*" } else { name }.to_owned()).collect())
}
