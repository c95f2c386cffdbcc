//! A file that is fetched and run in the same call: nobody has seen it either.

use std::borrow::Cow;

use super::abroad::is_fresh;
use super::{Effect, What, number_of, output_of};
use crate::invocation::{Invocation, Stdin, Unknown, Value};
use crate::line::Line;
use crate::paths::{Class, locate};
use crate::programs::{self, Handler};
use crate::world::World;

/// Programs that fetch, the flags that name the file, and whether the address names it otherwise.
const FETCHERS: &[(&str, &[&str])] = &[("curl", &["-o", "--output"]), ("wget", &["-O", "--output-document"])];

/// Flags that name the directory for it.
const DIRECTORY_FLAGS: &[&str] = &["-P", "--directory-prefix", "--output-dir"];

/// Programs that unpack, and the flags that say where to.
const UNPACKERS: &[(&str, &[&str])] = &[
    ("tar", &["-C", "--directory"]),
    ("bsdtar", &["-C", "--directory"]),
    ("gtar", &["-C", "--directory"]),
    ("unzip", &["-d"]),
];

/// Flags that name an archive.
const ARCHIVE_FLAGS: &[&str] = &["-f", "--file"];

/// Adds an effect for each program that runs what an earlier one fetched.
pub(super) fn run_later(invocations: &[Invocation], world: &World, list: &mut Vec<Effect>) {
    let mut files: Vec<String> = Vec::new();
    let mut directories: Vec<String> = Vec::new();
    for (number, invocation) in invocations.iter().enumerate() {
        let Some(name) = invocation.argv.first() else {
            continue;
        };
        if is_fresh(invocation) {
            continue;
        }
        let is_fetched = |path: String| {
            let below = |directory: &String| {
                path.strip_prefix(directory.as_str())
                    .is_some_and(|rest| rest.starts_with('/'))
            };
            files.contains(&path) || directories.iter().any(below)
        };
        let nothing = files.is_empty() && directories.is_empty();
        if !nothing && ran(invocation, name, world).is_some_and(is_fetched) {
            let place = Some(locate(name, invocation.cwd.as_deref(), world));
            let what = What::Rule(number_of("network.run-fetched"));
            list.push(Effect {
                what,
                place,
                recursive: false,
                program: "the shell",
                by: Some(number),
                allowed: None,
                span: invocation.span.clone(),
            });
        }
        directories.extend(unpacked(invocation, name, &files, world));
        files.extend(fetched(invocation, name, world));
    }
}

/// The directory into which a program unpacks what was fetched. Where that is the directory in which everything else
/// runs as well, nobody knows which of its programs came with it.
fn unpacked(invocation: &Invocation, name: &Value, files: &[String], world: &World) -> Option<String> {
    let (known, program) = name.as_text().and_then(programs::find)?;
    let (_, into) = UNPACKERS.iter().find(|(unpacker, _)| *unpacker == known)?;
    let line = Line::read(program, invocation.argv.get(1..)?);
    let cwd = invocation.cwd.as_deref();
    let archives = line
        .values(ARCHIVE_FLAGS)
        .chain(line.operands.iter().map(|value| Cow::Borrowed(*value)));
    let named = archives
        .filter_map(|value| locate(&value, cwd, world).path)
        .any(|path| files.contains(&path));
    let piped = match &invocation.stdin {
        Stdin::Pipe(left) => output_of(left, world) == Unknown::Unseen,
        Stdin::Text(text) => text.holds(Unknown::Unseen),
        Stdin::Inherited | Stdin::File(_) => false,
    };
    let place = line
        .values(into)
        .last()
        .map(|directory| locate(&directory, cwd, world))?;
    let of_its_own = !place
        .classes
        .meets([Class::ProjectRoot, Class::HomeRoot, Class::Root].into());
    place.path.filter(|_| (named || piped) && of_its_own)
}

/// The file that a program runs: itself, or the script of an interpreter.
fn ran(invocation: &Invocation, name: &Value, world: &World) -> Option<String> {
    let known = name.as_text().and_then(programs::find);
    let script = match known {
        Some((_, program)) if program.handler == Some(Handler::Interpreter) => {
            *Line::read(program, invocation.argv.get(1..)?).operands.first()?
        }
        _ if name.leading().contains('/') => name,
        _ => return None,
    };
    locate(script, invocation.cwd.as_deref(), world).path
}

/// The files that a program fetches.
fn fetched(invocation: &Invocation, name: &Value, world: &World) -> Vec<String> {
    let Some((known, program)) = name.as_text().and_then(programs::find) else {
        return Vec::new();
    };
    let Some((_, flags)) = FETCHERS.iter().find(|(fetcher, _)| *fetcher == known) else {
        return Vec::new();
    };
    let line = Line::read(program, invocation.argv.get(1..).unwrap_or_default());
    let mut files: Vec<Value> = line.values(flags).map(|value| value.into_owned()).collect();
    let mut cwd = invocation.cwd.clone();
    if files.is_empty() {
        files.extend(line.operands.iter().filter_map(|url| last_name(url)));
        if let Some(directory) = line.values(DIRECTORY_FLAGS).last() {
            cwd = locate(&directory, cwd.as_deref(), world).path;
        }
    }
    files
        .iter()
        .filter_map(|file| locate(file, cwd.as_deref(), world).path)
        .collect()
}

fn last_name(url: &Value) -> Option<Value> {
    let text = url.as_text()?;
    let path = text.split(['?', '#']).next()?;
    path.rsplit('/').next().filter(|name| !name.is_empty()).map(Value::text)
}
