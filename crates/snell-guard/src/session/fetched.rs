//! Files and directories that came from elsewhere, and calls that run or read them.

use super::trail::CommandWords;
use super::{FetchedPath, SessionScene};
use crate::effects::sequences::download_exec::find_executed_file;
use crate::effects::sequences::fetched_files::FetchedFiles;
use crate::effects::sequences::file_aliases::FileAliases;
use crate::effects::{Effect, EffectKind, PathAction, build_rule_effect};
use crate::invocation::{Invocation, StdinSource, SymbolicText};
use crate::judge::CallAnalysis;
use crate::judge::context::JudgeContext;
use crate::paths::{PathClass, is_within_directory, locate_path};
use crate::programs::words::downloads as words;
use crate::programs::{self, ProgramHandler};
use crate::rules::shorten_text;

/// The rule for a file that was fetched in an earlier call.
const RUN_RULE: &str = "session.run-fetched";

/// How much of a path is shown.
const MAX_SHOWN_CHARS: usize = 200;

/// The files and directories that a program fetches.
pub(super) fn list_fetched_paths(invocation: &Invocation, context: &JudgeContext) -> Vec<FetchedPath> {
    if invocation.elsewhere {
        return Vec::new();
    }
    let is_harmless = |path: &str| {
        let place = locate_path(&SymbolicText::from_text(path), None, context);
        place.classes.contains(PathClass::Harmless)
    };
    let found = FetchedFiles::from_invocation(invocation, context).into_paths();
    let found = found.filter(|(path, _)| !is_harmless(path));
    found.map(|(path, is_directory)| FetchedPath { path, is_directory }).collect()
}

/// Whether a program prints what it fetches from another machine.
pub(super) fn prints_fetched_content(command: &CommandWords<'_>) -> bool {
    const HEADERS_ONLY: &[&str] = &["-I", "--head"];
    let find_flags = |rows: &[(&str, &'static [&'static str])]| {
        rows.iter().find(|(program, _)| command.is_program(program)).map(|(_, flags)| *flags)
    };
    let named = find_flags(words::FETCHERS).unwrap_or_default();
    let mut files = command.args.flag_values(named);
    let is_kept = |flags: &[&str]| command.args.has_any_flag(flags) || command.args.has_any_flag(HEADERS_ONLY);
    let prints =
        find_flags(words::STDOUT_FETCHERS).is_some_and(|flags| !command.args.has_any_flag(named) && !is_kept(flags));
    prints || files.any(|file| matches!(file.as_text(), Some("-" | "/dev/stdout")))
}

/// The new names that a call gives to fetched files.
pub(super) fn list_new_names(scene: &SessionScene<'_>, analysis: &CallAnalysis) -> Vec<FetchedPath> {
    if scene.facts.fetched.is_empty() {
        return Vec::new();
    }
    let mut new: Vec<FetchedPath> = Vec::new();
    for (from, to) in FileAliases::from_invocations(&analysis.invocations, scene.context).into_pairs() {
        let fetched = find_fetched(scene.facts.fetched.iter().chain(&new), &from);
        let renamed = fetched.map(|fetched| FetchedPath { path: to, is_directory: fetched.is_directory });
        new.extend(renamed);
    }
    new
}

fn find_fetched<'a>(mut all: impl Iterator<Item = &'a FetchedPath>, path: &str) -> Option<&'a FetchedPath> {
    all.find(|fetched| fetched.path == path || (fetched.is_directory && is_within_directory(path, &fetched.path)))
}

/// Adds an effect for each program that runs a file which an earlier call fetched.
pub(super) fn add_run_effects(scene: &SessionScene<'_>, analysis: &mut CallAnalysis) {
    if scene.facts.fetched.is_empty() {
        return;
    }
    let new = list_new_names(scene, analysis);
    let mut found: Vec<Effect> = Vec::new();
    for (number, invocation) in analysis.invocations.iter().enumerate() {
        let paths = list_run_files(invocation, scene.context);
        let is_fetched = |path: &&String| find_fetched(scene.facts.fetched.iter().chain(&new), path).is_some();
        let Some(path) = paths.iter().find(is_fetched).filter(|_| !invocation.elsewhere) else {
            continue;
        };
        let place = Some(locate_path(&SymbolicText::from_text(path.as_str()), None, scene.context));
        let effect = build_rule_effect(RUN_RULE, "the shell", invocation.span.clone());
        found.push(Effect { place, by: Some(number), allowed: invocation.allowed, ..effect });
    }
    analysis.effects.extend(found);
}

/// The files that a program runs: itself, a script, or its standard input.
fn list_run_files(invocation: &Invocation, context: &JudgeContext) -> Vec<String> {
    let cwd = invocation.cwd.as_deref();
    let locate = |value: &SymbolicText| locate_path(value, cwd, context).path;
    let Some(name) = invocation.argv.first() else {
        return Vec::new();
    };
    let mut files: Vec<String> = find_executed_file(invocation, context).into_iter().collect();
    if super::words::running::SOURCING.contains(&invocation.base_name()) {
        files.extend(invocation.arguments().first().and_then(locate));
    }
    let program = name.as_text().and_then(programs::find_program).map(|(_, program)| program);
    if program.is_some_and(|program| program.handler == Some(ProgramHandler::Interpreter)) {
        match &invocation.stdin {
            StdinSource::File(file) => files.extend(locate(file)),
            // `cat x.sh | sh`
            StdinSource::Pipe(left) => files.extend(left.iter().flat_map(Invocation::arguments).filter_map(locate)),
            StdinSource::Inherited | StdinSource::Text(_) => {}
        }
    }
    files
}

/// A fetched file that a call reads, as part of a sentence.
pub(super) fn find_read_fetch(scene: &SessionScene<'_>, analysis: &CallAnalysis) -> Option<String> {
    analysis.effects.iter().find_map(|effect| {
        let path =
            effect.place.as_ref().filter(|_| effect.kind == EffectKind::Path(PathAction::Read))?.path.as_ref()?;
        let mut files = scene.facts.fetched.iter().filter(|fetched| !fetched.is_directory);
        files
            .any(|fetched| fetched.path == *path)
            .then(|| format!("{}, which was fetched", shorten_text(path, MAX_SHOWN_CHARS)))
    })
}
