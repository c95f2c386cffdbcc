//! Files that are downloaded and run in the same call, so that they are not reviewed.

use crate::programs::words::downloads as words;
use std::borrow::Cow;

use crate::effects::remote::is_fresh_container;
use crate::effects::{Effect, build_rule_effect, classify_output};
use crate::invocation::{Invocation, StdinSource, SymbolicText, UnknownKind};
use crate::judge::context::JudgeContext;
use crate::paths::{PathClass, locate_path};
use crate::programs::argv::ParsedArgs;
use crate::programs::{self, ProgramHandler};

/// Adds an effect for each program that runs a downloaded file.
pub(crate) fn add_download_exec_effects(invocations: &[Invocation], context: &JudgeContext, list: &mut Vec<Effect>) {
    let mut files: Vec<String> = Vec::new();
    let mut directories: Vec<String> = Vec::new();
    for (number, invocation) in invocations.iter().enumerate() {
        let Some(name) = invocation.argv.first() else {
            continue;
        };
        if is_fresh_container(invocation) {
            continue;
        }
        let is_fetched = |path: String| {
            let below =
                |directory: &String| path.strip_prefix(directory.as_str()).is_some_and(|rest| rest.starts_with('/'));
            files.contains(&path) || directories.iter().any(below)
        };
        let nothing = files.is_empty() && directories.is_empty();
        if !nothing && find_executed_file(invocation, name, context).is_some_and(is_fetched) {
            let place = Some(locate_path(name, invocation.cwd.as_deref(), context));
            let run = build_rule_effect("network.run-fetched", "the shell", invocation.span.clone());
            list.push(Effect { place, by: Some(number), ..run });
        }
        directories.extend(find_unpack_directory(invocation, name, &files, context));
        files.extend(find_downloaded_files(invocation, name, context));
    }
}

/// The directory into which a program unpacks a download. A project, a home or the root is not returned: it holds other
/// programs too.
fn find_unpack_directory(
    invocation: &Invocation,
    name: &SymbolicText,
    files: &[String],
    context: &JudgeContext,
) -> Option<String> {
    let (known, program) = name.as_text().and_then(programs::find_program)?;
    let (_, into) = words::UNPACKERS.iter().find(|(unpacker, _)| *unpacker == known)?;
    let line = ParsedArgs::parse(program, invocation.argv.get(1..)?);
    let cwd = invocation.cwd.as_deref();
    let archives =
        line.flag_values(words::ARCHIVE_FLAGS).chain(line.operands.iter().map(|value| Cow::Borrowed(*value)));
    let named = archives.filter_map(|value| locate_path(&value, cwd, context).path).any(|path| files.contains(&path));
    let piped = match &invocation.stdin {
        StdinSource::Pipe(left) => classify_output(left, context) == UnknownKind::Unseen,
        StdinSource::Text(text) => text.contains_unknown(UnknownKind::Unseen),
        StdinSource::Inherited | StdinSource::File(_) => false,
    };
    let place = line.flag_values(into).last().map(|directory| locate_path(&directory, cwd, context))?;
    let of_its_own = !place.classes.intersects([PathClass::ProjectRoot, PathClass::HomeRoot, PathClass::Root].into());
    place.path.filter(|_| (named || piped) && of_its_own)
}

/// The file that a program runs: itself, or the script of an interpreter.
pub(crate) fn find_executed_file(
    invocation: &Invocation,
    name: &SymbolicText,
    context: &JudgeContext,
) -> Option<String> {
    let known = name.as_text().and_then(programs::find_program);
    let script = match known {
        Some((_, program)) if program.handler == Some(ProgramHandler::Interpreter) => {
            *ParsedArgs::parse(program, invocation.argv.get(1..)?).operands.first()?
        }
        _ if name.leading_text().contains('/') => name,
        _ => return None,
    };
    locate_path(script, invocation.cwd.as_deref(), context).path
}

/// The files that a program downloads.
fn find_downloaded_files(invocation: &Invocation, name: &SymbolicText, context: &JudgeContext) -> Vec<String> {
    let Some((known, program)) = name.as_text().and_then(programs::find_program) else {
        return Vec::new();
    };
    let Some((_, flags)) = words::FETCHERS.iter().find(|(fetcher, _)| *fetcher == known) else {
        return Vec::new();
    };
    let line = ParsedArgs::parse(program, invocation.arguments());
    let mut files: Vec<SymbolicText> = line.flag_values(flags).map(|value| value.into_owned()).collect();
    let mut cwd = invocation.cwd.clone();
    if files.is_empty() {
        files.extend(line.operands.iter().filter_map(|url| file_name_from_url(url)));
        if let Some(directory) = line.flag_values(words::DIRECTORY_FLAGS).last() {
            cwd = locate_path(&directory, cwd.as_deref(), context).path;
        }
    }
    files.iter().filter_map(|file| locate_path(file, cwd.as_deref(), context).path).collect()
}

pub(crate) fn file_name_from_url(url: &SymbolicText) -> Option<SymbolicText> {
    let text = url.as_text()?;
    let path = text.split(['?', '#']).next()?;
    path.rsplit('/').next().filter(|name| !name.is_empty()).map(SymbolicText::from_text)
}
