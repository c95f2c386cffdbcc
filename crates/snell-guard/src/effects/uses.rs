//! The tables applied: which uses of a program a command line is, and what each does to what.

use std::borrow::Cow;

use super::scene::Scene;
use super::{Kind, What, names, send};
use crate::invocation::{Part, Unknown, Value};
use crate::line::Line;
use crate::paths::{Class, Classes, Place, fits};
use crate::programs::{Does, Program, Recursive, Style, Target, Use};
use crate::world::World;

/// Before a path in an address.
const FILE_URL: &str = "file://";

/// Asking a program for help does nothing else. A version that is named is another matter: `yank --version 1.0`.
const HELP: &[&str] = &["--help", "--version="];

/// Applies every use that fits.
pub(super) fn apply(scene: &mut Scene<'_>, program: &'static Program) {
    if scene.is_idle() {
        return;
    }
    for usage in fitting(&scene.line, program, scene.world) {
        let recursive = goes_down(&scene.line, usage.recursive);
        match usage.does {
            Does::Prints(_) => {}
            Does::Rule(number) => judged(scene, usage, number),
            Does::Effect(kind @ (Kind::Send | Kind::SendRaw)) => send::apply(scene, usage, kind, recursive),
            Does::Effect(kind) => {
                for value in targets(scene, usage) {
                    if kind == Kind::Read && names::are_all(scene, &value) {
                        continue;
                    }
                    if program.style == Style::Old && matches!(usage.on, Target::Flag(_)) {
                        // `tar -f` is opened before `-C` is followed.
                        scene.on_from_start(kind, &value);
                    } else if usage.new {
                        scene.make(kind, &value);
                    } else {
                        scene.on(kind, &value, recursive);
                    }
                }
            }
        }
    }
}

/// The uses that a line is.
pub(super) fn fitting(line: &Line<'_>, program: &'static Program, world: &World) -> Vec<&'static Use> {
    if line.surely_has_any(HELP) || line.surely_has_any(program.idle_flags) {
        return Vec::new();
    }
    program
        .uses
        .iter()
        .filter(|usage| is_used(line, usage, world))
        .collect()
}

/// A rule judges the use as such; what it is used on is only told, as it was written.
fn judged(scene: &mut Scene<'_>, usage: &Use, number: usize) {
    let all = targets(scene, usage);
    let alone = scene.invocation.variables.iter().map(|(name, _)| name);
    let set: Vec<_> = alone.chain(&scene.invocation.exported).collect();
    let is_set = |wanted: &&str| set.iter().any(|name| fits(name, wanted));
    let unset = !usage.variable.is_empty() && !usage.variable.iter().any(is_set);
    if unset || is_for_free(scene, usage, &all) || is_excused(scene, usage.unless_variable) {
        return;
    }
    let first = all.into_iter().next();
    let told = first.or_else(|| scene.line.operands.last().map(|value| Cow::Borrowed(*value)));
    let place = told.map(|value| Place {
        written: value.to_string(),
        ..Place::default()
    });
    scene.add(What::Rule(number), place, false);
}

/// Whether what it works on lies in a temporary directory, where everything is the agent's own, or in the project, where
/// some things are. If nothing is said, that is the directory in which it runs.
fn is_for_free(scene: &Scene<'_>, usage: &Use, targets: &[Cow<'_, Value>]) -> bool {
    if !usage.unless_in_temp && !usage.unless_in_project {
        return false;
    }
    let lies = |value: &Value| {
        let classes = scene.locate(value).classes;
        classes == Classes::from([Class::Temp])
            || (usage.unless_in_project && classes == Classes::from([Class::Project]))
    };
    if targets.is_empty() {
        lies(&Value::text("."))
    } else {
        targets.iter().all(|target| lies(target))
    }
}

/// Whether one of these variables is set for it alone.
fn is_excused(scene: &Scene<'_>, unless: &[&str]) -> bool {
    let variables = &scene.invocation.variables;
    unless
        .iter()
        .filter_map(|written| written.split_once('='))
        .any(|(name, wanted)| {
            variables
                .iter()
                .any(|(set, value)| set == name && value.as_text() == Some(wanted))
        })
}

fn is_used(line: &Line<'_>, usage: &Use, world: &World) -> bool {
    let said = |words: &&[&str], operand: &&Value| {
        operand
            .as_text()
            .is_some_and(|text| words.iter().any(|word| fits(text, word)))
    };
    let rest = || line.operands.iter().skip(usage.words.len());
    let fits_one = |globs: &[&str]| rest().any(|operand| globs.iter().any(|glob| value_fits(operand, glob)));
    usage.words.len() <= line.operands.len()
        && usage
            .words
            .iter()
            .zip(&line.operands)
            .all(|(words, operand)| said(words, operand))
        && usage.needs.iter().all(|spellings| line.has_any(spellings))
        && (usage.any.is_empty() || line.has_any(usage.any))
        && !line.surely_has_any(usage.unless)
        && (usage.operand.is_empty() || fits_one(usage.operand))
        && (usage.unless_operand.is_empty() || !fits_one(usage.unless_operand))
        && usage.operands.is_none_or(|wanted| rest().next().is_some() == wanted)
        && (!usage.looked_up || line.holds(Unknown::Processes))
        && (!usage.on_agent || is_on_agent(line, world))
}

/// Whether a line names the agent's own process, by its number or by a search for it.
fn is_on_agent(line: &Line<'_>, world: &World) -> bool {
    let is_number = |value: Cow<'_, Value>| value.as_text().is_some_and(|text| world.is_agent_process(text));
    line.holds(Unknown::Agent) || world.agent_pid.is_some() && line.given_values().any(is_number)
}

/// Whether a value fits a pattern as far as it is known: `https://example.com/$ID` is an address all the same.
fn value_fits(value: &Value, glob: &str) -> bool {
    match value.as_text() {
        Some(text) => fits(text, glob),
        None => fits(&value.to_string(), glob),
    }
}

fn goes_down(line: &Line<'_>, recursive: Recursive) -> bool {
    match recursive {
        Recursive::Never => false,
        Recursive::Always => true,
        Recursive::With(flags) => line.has_any(flags),
    }
}

/// The values that a use is about.
pub(super) fn targets<'a>(scene: &Scene<'a>, usage: &Use) -> Vec<Cow<'a, Value>> {
    let operands = scene.line.operands.get(usage.words.len()..).unwrap_or_default();
    let borrowed = |values: &[&'a Value]| values.iter().map(|value| Cow::Borrowed(*value)).collect();
    match usage.on {
        Target::Nothing | Target::Stdin => Vec::new(),
        Target::Operands => borrowed(operands),
        Target::First => borrowed(operands.get(..1).unwrap_or_default()),
        Target::Last => borrowed(operands.last().map(std::slice::from_ref).unwrap_or_default()),
        Target::AllButFirst => borrowed(operands.get(1..).unwrap_or_default()),
        Target::AllButLast => borrowed(operands.split_last().map(|(_, rest)| rest).unwrap_or_default()),
        Target::Flag(spellings) => scene.line.values(spellings).collect(),
        Target::FlagAt(spellings) => scene
            .line
            .values(spellings)
            .filter_map(|value| file_after_at(&value))
            .map(Cow::Owned)
            .collect(),
        Target::OperandsAt => operands
            .iter()
            .filter(|value| !value.leading().contains("://"))
            .filter_map(|value| file_after_at(value))
            .map(Cow::Owned)
            .collect(),
        Target::Renamed => match operands {
            [from, to] if is_another_file(from, to) => vec![Cow::Borrowed(*to)],
            _ => Vec::new(),
        },
        Target::FlagHost(spellings) => scene
            .line
            .values(spellings)
            .filter_map(|value| Some(value.as_text()?.split(':').next()?.to_owned()))
            .filter(|directory| directory.contains('/'))
            .map(|directory| Cow::Owned(Value::text(directory)))
            .collect(),
        Target::Into(spellings) => match (scene.line.values(spellings).last(), operands.split_last()) {
            (Some(directory), _) => dropped(scene, operands, &directory),
            (None, Some((directory, rest))) => dropped(scene, rest, directory),
            (None, None) => Vec::new(),
        },
        Target::Key(keys) => operands
            .iter()
            .filter_map(|value| {
                let key = keys.iter().find(|key| value.leading().starts_with(**key))?;
                Some(Cow::Owned(value.after(key.len())))
            })
            .collect(),
        Target::FileUrls => operands
            .iter()
            .filter(|value| value.leading().starts_with(FILE_URL))
            .map(|value| Cow::Owned(value.after(FILE_URL.len())))
            .collect(),
        Target::Cwd => vec![Cow::Owned(Value::text("."))],
        Target::Arguments => scene
            .arguments()
            .iter()
            .filter(|value| value.holds(Unknown::Private))
            .map(Cow::Borrowed)
            .collect(),
    }
}

/// Whether something gets another name, and one that looks like a file's rather than a directory's.
fn is_another_file(from: &Value, to: &Value) -> bool {
    let name = |value: &Value| Some(value.as_text()?.rsplit('/').next()?.to_owned());
    let Some(name_of_it) = name(to) else { return false };
    let has_ending = name_of_it.trim_start_matches('.').contains('.');
    has_ending && name(from).as_ref() != Some(&name_of_it)
}

/// The names of files in a directory. An unknown name is left to the rules about the directory. The files of a pattern
/// may have any name that fits it, except in a whole project: `cp x/* .` is everyday work.
pub(super) fn dropped<'a>(scene: &Scene<'_>, files: &[&Value], directory: &Value) -> Vec<Cow<'a, Value>> {
    let takes_patterns = || {
        let classes = scene.locate(directory).classes;
        classes.has(Class::HoldsOwn) && !classes.has(Class::ProjectRoot)
    };
    let names = files.iter().filter_map(|file| match file.as_text() {
        Some(text) => {
            let name = text.trim_end_matches('/').rsplit('/').next()?;
            (!matches!(name, "" | "." | "..")).then(|| Value::text(name))
        }
        None => last_name(file).filter(|_| takes_patterns()),
    });
    names
        .map(|name| {
            let mut path = directory.clone();
            path.push_text("/");
            path.append(&name);
            Cow::Owned(path)
        })
        .collect()
}

/// The last name of a path, if that is a pattern.
fn last_name(file: &Value) -> Option<Value> {
    let mut name = Value::default();
    for part in &file.parts {
        match part {
            Part::Text(text) => match text.rsplit_once('/') {
                Some((_, after)) => name = Value::text(after),
                None => name.push_text(text),
            },
            part => name.push(part.clone()),
        }
    }
    let is_pattern = |part: &Part| matches!(part, Part::Pattern(_));
    name.parts.iter().any(is_pattern).then_some(name)
}

/// `@file`, `name@file`, `name=@file;type=…`, `name=<file`
fn file_after_at(value: &Value) -> Option<Value> {
    let text = value.leading();
    let from = match text.find('@') {
        Some(at) => at + 1,
        None => text.find("=<")? + 2,
    };
    let file = value.after(from);
    match file.as_text().and_then(|text| text.split_once(';')) {
        Some((path, _)) => Some(Value::text(path)),
        None => Some(file),
    }
}
