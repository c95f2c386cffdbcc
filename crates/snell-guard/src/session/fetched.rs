//! Files and directories that came from elsewhere, and calls that run or read them.

use super::trail::CommandWords;
use super::{FetchedPath, SessionScene, words};
use crate::effects::sequences::download_exec::find_executed_file;
use crate::effects::sequences::fetched_files::parse_url_file_name;
use crate::effects::sequences::file_aliases::FileAliases;
use crate::effects::{Effect, EffectKind, PathAction, build_rule_effect};
use crate::invocation::{FileOpenMode, Invocation, StdinSource, SymbolicText};
use crate::judge::CallAnalysis;
use crate::judge::context::JudgeContext;
use crate::paths::{PathClass, is_within_directory, locate_path};
use crate::policy::hosts::find_address_host;
use crate::programs::{self, ProgramHandler};
use crate::rules::shorten_text;

/// The rule for a file that was fetched in an earlier call.
const RUN_RULE: &str = "session.run-fetched";

/// How much of a path is shown.
const MAX_SHOWN_CHARS: usize = 200;

/// The files and directories that a program fetches.
pub(super) fn list_fetched_paths(invocation: &Invocation, context: &JudgeContext) -> Vec<FetchedPath> {
    let Some(command) = CommandWords::read(invocation, context).filter(|_| !invocation.elsewhere) else {
        return Vec::new();
    };
    let cwd = command.cwd.as_deref();
    let locate = |value: &SymbolicText| {
        let place = locate_path(value, cwd, context);
        place.path.filter(|_| !place.classes.contains(PathClass::Harmless))
    };
    let file = |path| FetchedPath { path, is_directory: false };
    if let Some(directory) = find_fetched_directory(&command) {
        let path = locate(&directory).into_iter();
        return path.map(|path| FetchedPath { path, is_directory: true }).collect();
    }
    if command.words.first().is_some_and(|program| words::fetch::COPYING.contains(&program.as_str())) {
        return find_copied_file(&command).and_then(|copy| locate(&copy)).map(file).into_iter().collect();
    }
    let mut files = list_written_files(&command);
    if prints_fetched_content(&command) {
        let opened = invocation.files.iter().filter(|opened| opened.mode != FileOpenMode::Read);
        files.extend(opened.map(|opened| opened.path.clone()));
    }
    files.iter().filter_map(locate).map(file).collect()
}

/// Whether a program prints what it fetches from another machine.
pub(super) fn prints_fetched_content(command: &CommandWords<'_>) -> bool {
    let row = words::fetch::PRINTING.iter().find(|(program, _)| command.is_program(program));
    let prints = row.is_some_and(|(_, flags)| !command.args.has_any_flag(flags));
    prints || list_output_flags(command).iter().any(|file| matches!(file.as_text(), Some("-" | "/dev/stdout")))
}

/// The files that flags name.
fn list_output_flags(command: &CommandWords<'_>) -> Vec<SymbolicText> {
    let row = words::fetch::WRITING.iter().find(|(program, _)| command.starts_with(program, ""));
    let values = row.map(|(_, flags)| command.args.flag_values(flags).map(|value| value.into_owned()).collect());
    values.unwrap_or_default()
}

/// The files that a program writes: those that flags name, or else one for each address.
fn list_written_files(command: &CommandWords<'_>) -> Vec<SymbolicText> {
    let named = list_output_flags(command);
    if !named.is_empty() {
        return named.into_iter().filter(|file| !matches!(file.as_text(), Some("-" | "/dev/stdout"))).collect();
    }
    let row = words::fetch::WRITING.iter().find(|(program, _)| command.is_program(program));
    if row.is_none() || prints_fetched_content(command) {
        return Vec::new();
    }
    let directory = command.args.flag_values(programs::words::downloads::DIRECTORY_FLAGS).last();
    let names = command.args.operands.iter().filter_map(|address| parse_url_file_name(address));
    names
        .map(|name| match &directory {
            Some(directory) => SymbolicText::from_text(format!("{directory}/{name}")),
            None => name,
        })
        .collect()
}

/// The directory that a program fetches from another machine.
fn find_fetched_directory(command: &CommandWords<'_>) -> Option<SymbolicText> {
    let (program, flags) = words::fetch::DIRECTORIES.iter().find(|(program, _)| command.starts_with(program, ""))?;
    let named = command.args.flag_values(flags).last().map(|value| value.into_owned());
    if named.is_some() || *program == "gh release" {
        return named;
    }
    let is_clone = |word: &&String| *word == "clone";
    let clone = command.words.iter().position(|word| is_clone(&word))?;
    let address = command.words.get(clone + 1)?;
    // A clone of a directory of this machine comes from nowhere else.
    let is_elsewhere = find_address_host(address).is_some() || *program == "gh repo";
    let directory = command.words.get(clone + 2).cloned();
    let from_address = || address.trim_end_matches('/').rsplit(['/', ':']).next().map(str::to_owned);
    let directory = directory.or_else(from_address).filter(|_| is_elsewhere)?;
    Some(SymbolicText::from_text(directory.trim_end_matches(".git")))
}

/// The file that `scp` copies to this machine.
fn find_copied_file(command: &CommandWords<'_>) -> Option<SymbolicText> {
    let [from, to] = command.args.operands.as_slice() else {
        return None;
    };
    let remote = from.to_string();
    let (host, path) = remote.split_once(':').filter(|(host, _)| !host.contains('/') && !host.is_empty())?;
    let name = path.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(host);
    let target = to.as_text().filter(|target| !target.contains(':'))?;
    let is_directory = matches!(target, "." | "..") || target.ends_with('/');
    Some(SymbolicText::from_text(if is_directory { format!("{target}/{name}") } else { target.to_owned() }))
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
    if words::running::SOURCING.contains(&invocation.base_name()) {
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
