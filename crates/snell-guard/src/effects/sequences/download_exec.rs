//! Files that are downloaded or copied from elsewhere and run in the same call, so that they are not reviewed.

use crate::effects::remote::is_fresh_container;
use crate::effects::sequences::fetched_files::{FetchedFiles, FileOrigin, resolve_file_path};
use crate::effects::{Effect, build_rule_effect};
use crate::invocation::{Invocation, StdinSource, StdoutTarget, SymbolicText, UnknownKind};
use crate::judge::context::JudgeContext;
use crate::paths::locate_path;
use crate::programs::argv::ParsedArgs;
use crate::programs::words::downloads as words;
use crate::programs::{self, ProgramHandler, ProgramSpec};
use crate::wrappers::reads_build_file;

/// How many words of code are compared with fetched files.
const MAX_LITERALS: usize = 256;

/// How many programs before a shell may give it its code.
const MAX_READERS: usize = 8;

/// Adds an effect for each program that runs a downloaded file.
pub(crate) fn add_download_exec_effects(invocations: &[Invocation], context: &JudgeContext, list: &mut Vec<Effect>) {
    let mut files = FetchedFiles::default();
    for (number, invocation) in invocations.iter().enumerate() {
        if invocation.argv.is_empty() && invocation.files.is_empty() || is_fresh_container(invocation) {
            continue;
        }
        if !files.is_empty() {
            let before = invocations.get(..number).unwrap_or_default();
            if let Some((file, origin)) = find_fetched_code(invocation, before, &files, context) {
                let rule = match origin {
                    FileOrigin::Downloaded => "network.run-fetched",
                    FileOrigin::Copied | FileOrigin::Cloned => "network.run-copied",
                };
                let place = Some(locate_path(&file, invocation.cwd.as_deref(), context));
                let run = build_rule_effect(rule, "the shell", invocation.span.clone());
                list.push(Effect { place, by: Some(number), ..run });
            }
        }
        files.add_from_invocation(invocation, context);
    }
}

/// The fetched file whose code an invocation runs.
fn find_fetched_code(
    invocation: &Invocation,
    before: &[Invocation],
    files: &FetchedFiles,
    context: &JudgeContext,
) -> Option<(SymbolicText, FileOrigin)> {
    let executed = list_executed_files(invocation);
    let fetched = executed.into_iter().find_map(|file| {
        let path = resolve_file_path(&file, invocation.cwd.as_deref(), context)?;
        let origin = files.find_origin(&path)?;
        (origin != FileOrigin::Cloned || FetchedFiles::is_installer(&path)).then_some((file, origin))
    });
    let installed = || {
        let name = invocation.name().filter(|name| !name.contains('/') && programs::find_program(name).is_none())?;
        Some((SymbolicText::from_text(name), files.find_program_origin(name)?))
    };
    let named = || find_code_literal(invocation, files, context);
    fetched.or_else(installed).or_else(named).or_else(|| find_read_code(invocation, before, files, context)).or_else(
        || {
            let path =
                files.iter_beside(invocation.cwd.as_deref()).find(|path| reads_build_file(&invocation.argv, path))?;
            Some((SymbolicText::from_text(path), FileOrigin::Downloaded))
        },
    )
}

/// The files that a program runs: itself, the script of an interpreter, or a file that it loads.
fn list_executed_files(invocation: &Invocation) -> Vec<SymbolicText> {
    let mut found: Vec<SymbolicText> = Vec::new();
    let loads = |name: &str| words::LOADING_VARIABLES.contains(&name);
    for (_, value) in invocation.variables.iter().filter(|(name, _)| loads(name)) {
        found.push(value.clone());
        found.extend(value.as_text().and_then(|text| text.split_whitespace().last()).map(SymbolicText::from_text));
    }
    let Some(name) = invocation.argv.first() else { return found };
    match name.as_text().and_then(programs::find_program) {
        Some((_, program)) if program.handler == Some(ProgramHandler::Interpreter) => {
            let line = ParsedArgs::parse(program, invocation.arguments());
            found.extend(find_scripts(&line).cloned());
            if line.operands.is_empty()
                && let StdinSource::File(path) = &invocation.stdin
            {
                found.push(path.clone());
            }
        }
        _ if name.leading_text().contains('/') => found.push(name.clone()),
        _ => {}
    }
    let loader = words::LOADERS.iter().find(|(loader, _)| *loader == invocation.base_name());
    if let Some((_, flags)) = loader {
        found.extend(list_loaded_files(invocation, flags));
    }
    found
}

/// The path of the file that a program runs.
pub(crate) fn find_executed_file(invocation: &Invocation, context: &JudgeContext) -> Option<String> {
    let cwd = invocation.cwd.as_deref();
    list_executed_files(invocation).iter().find_map(|file| locate_path(file, cwd, context).path)
}

/// A fetched file that code in the arguments loads or runs.
fn find_code_literal(
    invocation: &Invocation,
    files: &FetchedFiles,
    context: &JudgeContext,
) -> Option<(SymbolicText, FileOrigin)> {
    let (_, program) = invocation.name().and_then(programs::find_program)?;
    if program.handler != Some(ProgramHandler::Interpreter) {
        return None;
    }
    let codes = invocation.arguments().iter().filter_map(SymbolicText::as_text);
    let calls = codes.flat_map(|code| words::LOADING_CALLS.iter().flat_map(move |call| code.split(call).skip(1)));
    // The arguments of the call.
    let arguments = calls.map(|after| after.split([')', ';', '\n']).next().unwrap_or_default());
    let is_end = |c: char| matches!(c, '"' | '\'' | '`' | ' ' | ',' | '(' | '[' | ']');
    let parts =
        arguments.flat_map(|text| text.split(is_end)).filter(|part| !part.is_empty() && !part.ends_with(".json"));
    let parts = parts.take(MAX_LITERALS);
    parts.flat_map(|part| [part.to_owned(), format!("{part}.py"), format!("{part}.js")]).find_map(|file| {
        let file = SymbolicText::from_text(file);
        let path = locate_path(&file, invocation.cwd.as_deref(), context).path?;
        let origin = files.find_origin(&path).filter(|origin| *origin != FileOrigin::Cloned)?;
        Some((file, origin))
    })
}

/// The first operand, after words such as `run`.
fn find_scripts<'a>(line: &ParsedArgs<'a>) -> impl Iterator<Item = &'a SymbolicText> {
    let is_word = |operand: &&&SymbolicText| matches!(operand.as_text(), Some("run" | "exec" | "-"));
    let skipped = line.operands.iter().take_while(is_word).count();
    line.operands.clone().into_iter().skip(skipped).take(1)
}

/// The values of the flags, or all operands.
fn list_loaded_files(invocation: &Invocation, flags: &[&str]) -> Vec<SymbolicText> {
    let arguments = invocation.arguments();
    if flags.contains(&"operands") {
        let is_file = |word: &&SymbolicText| {
            let text = word.leading_text();
            !text.starts_with('-') && !words::LOADER_WORDS.contains(&text)
        };
        return arguments.iter().filter(is_file).cloned().collect();
    }
    let mut found = Vec::new();
    for (at, word) in arguments.iter().enumerate() {
        let text = word.leading_text();
        for flag in flags {
            if text == *flag {
                found.extend(arguments.get(at + 1).cloned());
            } else if let Some(value) = text.strip_prefix(flag) {
                found.push(SymbolicText::from_text(value.trim_start_matches('=')));
            }
        }
    }
    found
}

/// `sh -c "$(cat file)"`, `cat file | sh`: the code comes from programs that read a fetched file.
fn find_read_code(
    invocation: &Invocation,
    before: &[Invocation],
    files: &FetchedFiles,
    context: &JudgeContext,
) -> Option<(SymbolicText, FileOrigin)> {
    let (name, program) = invocation.name().and_then(programs::find_program)?;
    if program.handler != Some(ProgramHandler::Interpreter) {
        return None;
    }
    let readers: Vec<&Invocation> = match &invocation.stdin {
        StdinSource::Pipe(left) if !has_code(invocation, program) => left.iter().collect(),
        _ if runs_unknown_code(invocation, name, program) => {
            // `$(< file)` is a `cat` without a pipe.
            let gives = |other: &&Invocation| other.stdout == StdoutTarget::Captured || other.base_name() == "cat";
            before.iter().rev().take(MAX_READERS).take_while(gives).collect()
        }
        _ => Vec::new(),
    };
    readers.into_iter().find_map(|reader| files.find_input(reader, context))
}

/// Whether an interpreter has a script or code in its arguments.
fn has_code(invocation: &Invocation, program: &'static ProgramSpec) -> bool {
    let line = ParsedArgs::parse(program, invocation.arguments());
    let is_stdin = |operand: &&SymbolicText| matches!(operand.as_text(), Some("-" | "/dev/stdin"));
    let named = line.operands.first().is_some_and(|first| !is_stdin(first));
    let by_flag = program.code_flags.iter().any(|flags| line.has_any_flag(flags));
    (named && !line.has_flag("-s")) || by_flag || line.has_flag("-m")
}

/// Whether the code in the arguments of an interpreter is partly unknown.
fn runs_unknown_code(invocation: &Invocation, name: &str, program: &'static ProgramSpec) -> bool {
    let line = ParsedArgs::parse(program, invocation.arguments());
    let is_unknown = |value: &SymbolicText| {
        value.contains_unknown(UnknownKind::Anything) || value.contains_unknown(UnknownKind::FromInput)
    };
    let by_flag = program.code_flags.iter().any(|flags| line.flag_values(flags).any(|value| is_unknown(&value)));
    by_flag || (name == "eval" && line.operands.iter().any(|value| is_unknown(value)))
}
