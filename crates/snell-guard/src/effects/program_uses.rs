//! Applies the tables: finds the uses that match a command line, and adds their effects.

use crate::effects::EffectDepth;
use std::borrow::Cow;

use super::collector::EffectCollector;
use super::{EffectKind, PathAction, network_send};
use crate::effects::secrets::env_file_names;
use crate::invocation::{SymbolicPart, SymbolicText, UnknownKind};
use crate::judge::context::JudgeContext;
use crate::paths::{ClassifiedPath, PathClass, PathClasses, matches_glob};
use crate::programs::argv::ParsedArgs;
use crate::programs::{FlagStyle, ProgramSpec, ProgramUse, UseEffect, UseRecursion, UseTarget};
use crate::rules::RULES;

/// The prefix of a path in a URL.
const FILE_URL_PREFIX: &str = "file://";

/// Rules for commands that write files of unknown names into the working directory.
const RESTORING_RULES: &[&str] = &["git.discard-changes", "git.reset-hard"];

/// A request for help has no other effect. A flag with a value is something else: `yank --version 1.0`.
const HELP_FLAGS: &[&str] = &["--help", "--version="];

/// Applies every use that matches.
pub(super) fn apply_uses(collector: &mut EffectCollector<'_>, program: &'static ProgramSpec) {
    if collector.is_dry_run() {
        return;
    }
    for usage in find_matching_uses(&collector.args, program, collector.context) {
        let depth = EffectDepth::from(is_recursive_use(&collector.args, usage.recursive));
        match usage.does {
            UseEffect::Prints(_) => {}
            UseEffect::Rule(number) => add_use_rule(collector, usage, number),
            UseEffect::Effect(kind @ (PathAction::Send | PathAction::SendRaw)) => {
                network_send::apply_send(collector, usage, kind, depth)
            }
            UseEffect::Effect(kind) => {
                for value in find_targets(collector, usage) {
                    if kind == PathAction::Read && env_file_names::prints_only_names(collector, &value) {
                        continue;
                    }
                    if program.style == FlagStyle::Old && matches!(usage.on, UseTarget::Flag(_)) {
                        // `tar` opens the file of `-f` before it follows `-C`.
                        collector.add_effect_from_start_dir(kind, &value);
                    } else if usage.new {
                        collector.add_new_file_effect(kind, &value);
                    } else {
                        collector.add_path_effect(kind, &value, depth);
                    }
                }
            }
        }
    }
}

/// The uses that match a command line.
pub(super) fn find_matching_uses(
    line: &ParsedArgs<'_>,
    program: &'static ProgramSpec,
    context: &JudgeContext,
) -> Vec<&'static ProgramUse> {
    if line.surely_has_any_flag(HELP_FLAGS) || line.only_previews(program.idle_flags) {
        return Vec::new();
    }
    program.uses.iter().filter(|usage| matches_use(line, usage, context)).collect()
}

/// Adds the rule of a use. The target is only shown, as it was written.
pub(super) fn add_use_rule(collector: &mut EffectCollector<'_>, usage: &ProgramUse, number: usize) {
    let all = find_targets(collector, usage);
    let is_set = |wanted: &&str| is_variable_set(collector, wanted);
    let unset = !usage.variable.is_empty() && !usage.variable.iter().any(is_set);
    if unset || is_harmless_location(collector, usage, &all) || is_excused_by_variable(collector, usage.unless_variable)
    {
        return;
    }
    let first = all.into_iter().next();
    let target = first.or_else(|| collector.args.operands.last().map(|value| Cow::Borrowed(*value)));
    let place = target.map(|value| ClassifiedPath { written: value.to_string(), ..ClassifiedPath::default() });
    collector.push_effect(EffectKind::Rule(number), place, EffectDepth::Single);
    if RULES.get(number).is_some_and(|rule| RESTORING_RULES.contains(&rule.id)) {
        collector.add_path_effect(PathAction::Unpack, &SymbolicText::from_text("."), EffectDepth::Recursive);
    }
}

/// Whether a variable is set for this command: `NAME`, or `NAME=value`. Both may have stars.
fn is_variable_set(collector: &EffectCollector<'_>, wanted: &str) -> bool {
    let (wanted_name, wanted_value) = wanted.split_once('=').unwrap_or((wanted, "*"));
    let invocation = collector.invocation;
    let own = invocation.variables.iter().map(|(name, value)| (name, value.to_string()));
    let exported = invocation.exported.iter().map(|set| match set.split_once('=') {
        Some((name, value)) => (name.to_owned(), value.to_owned()),
        None => (set.clone(), String::new()),
    });
    own.map(|(name, value)| (name.clone(), value))
        .chain(exported)
        .any(|(name, value)| matches_glob(&name, wanted_name) && matches_glob(&value, wanted_value))
}

/// Whether the target is in a temporary directory, or of an allowed kind in the project. Without a target, the working
/// directory is checked.
fn is_harmless_location(
    collector: &EffectCollector<'_>,
    usage: &ProgramUse,
    targets: &[Cow<'_, SymbolicText>],
) -> bool {
    if !usage.unless_in_temp && !usage.unless_in_project {
        return false;
    }
    let lies = |value: &SymbolicText| {
        let classes = collector.locate_path(value).classes;
        classes == PathClasses::from([PathClass::Temp])
            || (usage.unless_in_project && classes == PathClasses::from([PathClass::Project]))
    };
    if targets.is_empty() { lies(&SymbolicText::from_text(".")) } else { targets.iter().all(|target| lies(target)) }
}

/// Whether one of these variables is set for this command.
fn is_excused_by_variable(collector: &EffectCollector<'_>, unless: &[&str]) -> bool {
    let variables = &collector.invocation.variables;
    let is_known = |value: &SymbolicText, wanted: &str| value.as_text().is_some_and(|text| matches_glob(text, wanted));
    unless
        .iter()
        .filter_map(|written| written.split_once('='))
        .any(|(name, wanted)| variables.iter().any(|(set, value)| set == name && is_known(value, wanted)))
}

fn matches_use(line: &ParsedArgs<'_>, usage: &ProgramUse, context: &JudgeContext) -> bool {
    let word_matches = |words: &&[&str], operand: &&SymbolicText| {
        operand.as_text().is_some_and(|text| words.iter().any(|word| matches_glob(text, word)))
    };
    let rest = || line.operands.iter().skip(usage.words.len());
    let fits_one =
        |globs: &[&str]| rest().any(|operand| globs.iter().any(|glob| matches_glob(&operand.to_string(), glob)));
    usage.words.len() <= line.operands.len()
        && usage.words.iter().zip(&line.operands).all(|(words, operand)| word_matches(words, operand))
        && usage.needs.iter().all(|spellings| line.has_any_flag(spellings))
        && (usage.any.is_empty() || line.has_any_flag(usage.any))
        && !line.surely_has_any_flag(usage.unless)
        && (usage.operand.is_empty() || fits_one(usage.operand))
        && (usage.unless_operand.is_empty() || !fits_one(usage.unless_operand))
        && usage.operands.is_none_or(|wanted| rest().next().is_some() == wanted)
        && (!usage.looked_up || line.contains_unknown(UnknownKind::Processes))
        && (!usage.on_agent || targets_agent(line, context))
}

/// Whether the arguments name the agent's own process, by id or by a search.
fn targets_agent(line: &ParsedArgs<'_>, context: &JudgeContext) -> bool {
    let is_number = |value: Cow<'_, SymbolicText>| value.as_text().is_some_and(|text| context.is_agent_process(text));
    line.contains_unknown(UnknownKind::Agent)
        || context.agent_pid.is_some() && line.operands_and_values().any(is_number)
}

fn is_recursive_use(line: &ParsedArgs<'_>, recursive: UseRecursion) -> bool {
    match recursive {
        UseRecursion::Never => false,
        UseRecursion::Always => true,
        UseRecursion::With(flags) => line.has_any_flag(flags),
    }
}

/// The values that a use affects.
pub(super) fn find_targets<'a>(collector: &EffectCollector<'a>, usage: &ProgramUse) -> Vec<Cow<'a, SymbolicText>> {
    let operands = collector.args.operands.get(usage.words.len()..).unwrap_or_default();
    let borrowed = |values: &[&'a SymbolicText]| values.iter().map(|value| Cow::Borrowed(*value)).collect();
    match usage.on {
        UseTarget::Nothing | UseTarget::Stdin => Vec::new(),
        UseTarget::Operands => borrowed(operands),
        UseTarget::First => borrowed(operands.get(..1).unwrap_or_default()),
        UseTarget::Last => borrowed(operands.last().map(std::slice::from_ref).unwrap_or_default()),
        UseTarget::AllButFirst => borrowed(operands.get(1..).unwrap_or_default()),
        UseTarget::AllButLast => borrowed(operands.split_last().map(|(_, rest)| rest).unwrap_or_default()),
        UseTarget::Flag(spellings) => collector.args.flag_values(spellings).collect(),
        UseTarget::FlagAt(spellings) => {
            collector.args.flag_values(spellings).filter_map(|value| parse_at_file(&value)).map(Cow::Owned).collect()
        }
        UseTarget::OperandsAt => operands
            .iter()
            .filter(|value| !value.leading_text().contains("://"))
            .filter_map(|value| parse_at_file(value))
            .map(Cow::Owned)
            .collect(),
        UseTarget::Renamed => match operands {
            [from, to] if is_renamed_file(from, to) => vec![Cow::Borrowed(*to)],
            _ => Vec::new(),
        },
        UseTarget::FlagHost(spellings) => collector
            .args
            .flag_values(spellings)
            .filter_map(|value| Some(value.as_text()?.split(':').next()?.to_owned()))
            .filter(|directory| directory.contains('/'))
            .map(|directory| Cow::Owned(SymbolicText::from_text(directory)))
            .collect(),
        UseTarget::Into(spellings) => match (collector.args.flag_values(spellings).last(), operands.split_last()) {
            (Some(directory), _) => paths_in_directory(collector, operands, &directory),
            (None, Some((directory, rest))) => paths_in_directory(collector, rest, directory),
            (None, None) => Vec::new(),
        },
        UseTarget::Argument(prefixes) => strip_prefixes(collector.arguments().iter(), prefixes),
        UseTarget::Key(keys) => strip_prefixes(operands.iter().copied(), keys),
        UseTarget::FileUrls => operands
            .iter()
            .filter(|value| value.leading_text().starts_with(FILE_URL_PREFIX))
            .map(|value| Cow::Owned(value.skip_leading_bytes(FILE_URL_PREFIX.len())))
            .collect(),
        UseTarget::Cwd => vec![Cow::Owned(SymbolicText::from_text("."))],
        UseTarget::Arguments => collector
            .arguments()
            .iter()
            .filter(|value| value.contains_unknown(UnknownKind::Private))
            .map(Cow::Borrowed)
            .collect(),
    }
}

/// The rests of the values that begin with one of these prefixes.
fn strip_prefixes<'a>(values: impl Iterator<Item = &'a SymbolicText>, prefixes: &[&str]) -> Vec<Cow<'a, SymbolicText>> {
    let strip = |value: &'a SymbolicText| {
        let prefix = prefixes.iter().find(|prefix| value.leading_text().starts_with(**prefix))?;
        Some(Cow::Owned(value.skip_leading_bytes(prefix.len())))
    };
    values.filter_map(strip).collect()
}

/// Whether a file gets another name that looks like a file's, not a directory's.
fn is_renamed_file(from: &SymbolicText, to: &SymbolicText) -> bool {
    let name = |value: &SymbolicText| Some(value.as_text()?.rsplit('/').next()?.to_owned());
    let Some(name_of_it) = name(to) else { return false };
    let has_ending = name_of_it.trim_start_matches('.').contains('.');
    has_ending && name(from).as_ref() != Some(&name_of_it)
}

/// The files in a directory. Unknown names are left to the rules for the directory. A pattern may match any name,
/// except in a whole project: `cp x/* .` is everyday work.
pub(super) fn paths_in_directory<'a>(
    collector: &EffectCollector<'_>,
    files: &[&SymbolicText],
    directory: &SymbolicText,
) -> Vec<Cow<'a, SymbolicText>> {
    let takes_patterns = || {
        let classes = collector.locate_path(directory).classes;
        classes.contains(PathClass::HoldsOwn) && !classes.contains(PathClass::ProjectRoot)
    };
    let names = files.iter().filter_map(|file| match file.as_text() {
        Some(text) => {
            let name = text.trim_end_matches('/').rsplit('/').next()?;
            (!matches!(name, "" | "." | "..")).then(|| SymbolicText::from_text(name))
        }
        None => last_pattern_name(file).filter(|_| takes_patterns()),
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

/// The last name of a path, if it is a pattern.
fn last_pattern_name(file: &SymbolicText) -> Option<SymbolicText> {
    let mut name = SymbolicText::default();
    for part in &file.parts {
        match part {
            SymbolicPart::Text(text) => match text.rsplit_once('/') {
                Some((_, after)) => name = SymbolicText::from_text(after),
                None => name.push_text(text),
            },
            part => name.push(part.clone()),
        }
    }
    name.has_pattern().then_some(name)
}

/// `@file`, `name@file`, `name=@file;type=…`, `name=<file`
fn parse_at_file(value: &SymbolicText) -> Option<SymbolicText> {
    let text = value.leading_text();
    let from = match text.find('@') {
        Some(at) => at + 1,
        None => text.find("=<")? + 2,
    };
    let file = value.skip_leading_bytes(from);
    match file.as_text().and_then(|text| text.split_once(';')) {
        Some((path, _)) => Some(SymbolicText::from_text(path)),
        None => Some(file),
    }
}
