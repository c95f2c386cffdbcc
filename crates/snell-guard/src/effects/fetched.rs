//! A file that is fetched and run in the same call: nobody has seen it either.

use super::{Effect, What, number_of};
use crate::invocation::{Invocation, Value};
use crate::line::Line;
use crate::paths::locate;
use crate::programs::{self, Handler};
use crate::world::World;

/// Programs that fetch, the flags that name the file, and whether the address names it otherwise.
const FETCHERS: &[(&str, &[&str])] = &[("curl", &["-o", "--output"]), ("wget", &["-O", "--output-document"])];

/// Flags that name the directory for it.
const DIRECTORY_FLAGS: &[&str] = &["-P", "--directory-prefix", "--output-dir"];

/// Adds an effect for each program that runs what an earlier one fetched.
pub(super) fn run_later(invocations: &[Invocation], world: &World, list: &mut Vec<Effect>) {
    let mut files: Vec<String> = Vec::new();
    for invocation in invocations {
        let Some(name) = invocation.argv.first() else {
            continue;
        };
        if !files.is_empty() && ran(invocation, name, world).is_some_and(|path| files.contains(&path)) {
            let place = Some(locate(name, invocation.cwd.as_deref(), world));
            let what = What::Rule(number_of("network.run-fetched"));
            list.push(Effect {
                what,
                place,
                recursive: false,
                program: "the shell",
                span: invocation.span.clone(),
            });
        }
        files.extend(fetched(invocation, name, world));
    }
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
