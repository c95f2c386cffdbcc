//! `data/programs/*.toml`: what programs do with their arguments.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::rules::RuleEntry;
use crate::{BuildError, format_alternatives, format_list, format_split, format_variant, parse_toml};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProgramFile {
    program: Vec<ProgramEntry>,
}

#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ProgramEntry {
    names: Vec<String>,
    value_flags: Vec<String>,
    attached_flags: Vec<String>,
    long_flags: Vec<String>,
    cwd_flags: Vec<String>,
    code_flags: Vec<String>,
    idle_flags: Vec<String>,
    flags_first: bool,
    style: Option<String>,
    handler: Option<String>,
    /// Whether it does not show what it reads from standard input.
    discreet: bool,
    /// Whether it uses only the names of files, not their contents.
    names_only: bool,
    /// Whether it is an agent.
    agent: bool,
    #[serde(rename = "use")]
    uses: Vec<ProgramUseEntry>,
    /// Whether some of its subcommands have entries of their own.
    #[serde(skip)]
    has_commands: bool,
}

#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ProgramUseEntry {
    words: Vec<String>,
    needs: Vec<String>,
    any: Vec<String>,
    unless: Vec<String>,
    operand: Option<String>,
    unless_operand: Option<String>,
    /// Whether the use requires operands (`true`) or their absence (`false`).
    operands: Option<bool>,
    looked_up: bool,
    on_agent: bool,
    unless_in_temp: bool,
    unless_in_project: bool,
    unless_variable: Option<String>,
    variable: Option<String>,
    new: bool,
    rule: Option<String>,
    effect: Option<String>,
    prints: Option<String>,
    on: Option<String>,
    /// Flags that make it recurse into directories; `always` if it does so by default.
    recursive: Option<String>,
}

/// All programs as static tables, and their names in order. A name may occur in several entries, which are merged: one
/// file has what it sends, another what it destroys.
pub(crate) fn generate_program_table(files: &[PathBuf], rules: &[RuleEntry]) -> Result<String, BuildError> {
    let mut entries: Vec<ProgramEntry> = Vec::new();
    let mut said: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for path in files {
        for program in parse_toml::<ProgramFile>(path)?.program {
            compile_program(&program, rules).map_err(|fault| program_error(path, &program, &*fault))?;
            for name in &program.names {
                said.entry(name.clone()).or_default().push(entries.len());
            }
            entries.push(program);
        }
    }
    let outer: BTreeSet<String> = said.keys().filter_map(|name| Some(name.rsplit_once(' ')?.0.to_owned())).collect();
    if let Some(name) = outer.iter().find(|name| !said.contains_key(*name)) {
        return Err(format!("program `{name}`: its subcommand has an entry, but the program has none").into());
    }
    let with_commands: BTreeSet<&Vec<usize>> = outer.iter().filter_map(|name| said.get(name)).collect();
    let mut out = String::from("pub(crate) static PROGRAMS: &[ProgramSpec] = &[\n");
    let mut written: BTreeMap<Vec<usize>, usize> = BTreeMap::new();
    let mut names: Vec<(String, usize)> = Vec::new();
    for (name, parts) in &said {
        let count = written.len();
        if !written.contains_key(parts) {
            let mut whole = merge_program_entries(name, parts.iter().filter_map(|part| entries.get(*part)))?;
            whole.has_commands = with_commands.contains(parts);
            writeln!(out, "    {},", compile_program(&whole, rules)?)?;
        }
        names.push((name.clone(), *written.entry(parts.clone()).or_insert(count)));
    }
    writeln!(out, "];\npub(crate) static NAMES: &[(&str, usize)] = {};", format_list(&names))?;
    Ok(out)
}

/// Merges several entries of one program.
fn merge_program_entries<'a>(
    name: &str,
    mut parts: impl Iterator<Item = &'a ProgramEntry>,
) -> Result<ProgramEntry, BuildError> {
    let mut whole = parts.next().cloned().ok_or("the program has no entry")?;
    for part in parts {
        whole.value_flags.extend(part.value_flags.iter().cloned());
        whole.attached_flags.extend(part.attached_flags.iter().cloned());
        whole.long_flags.extend(part.long_flags.iter().cloned());
        whole.cwd_flags.extend(part.cwd_flags.iter().cloned());
        whole.code_flags.extend(part.code_flags.iter().cloned());
        whole.idle_flags.extend(part.idle_flags.iter().cloned());
        whole.flags_first |= part.flags_first;
        whole.uses.extend(part.uses.iter().cloned());
        whole.discreet |= part.discreet;
        whole.names_only |= part.names_only;
        whole.agent |= part.agent;
        merge_setting(name, "style", &mut whole.style, part.style.as_ref())?;
        merge_setting(name, "handler", &mut whole.handler, part.handler.as_ref())?;
    }
    Ok(whole)
}

fn merge_setting(name: &str, what: &str, one: &mut Option<String>, other: Option<&String>) -> Result<(), BuildError> {
    match (&*one, other) {
        (Some(one), Some(other)) if one != other => {
            Err(format!("program `{name}`: one entry has the {what} `{one}`, another `{other}`").into())
        }
        (None, Some(other)) => {
            *one = Some(other.clone());
            Ok(())
        }
        _ => Ok(()),
    }
}

fn program_error(path: &Path, program: &ProgramEntry, fault: &(impl std::fmt::Display + ?Sized)) -> BuildError {
    let name = program.names.first().map_or("?", String::as_str);
    format!("{}: program `{name}`: {fault}", path.display()).into()
}

fn compile_program(program: &ProgramEntry, rules: &[RuleEntry]) -> Result<String, BuildError> {
    if program.names.is_empty() {
        return Err("the entry has no name".into());
    }
    let lists = [
        &program.value_flags,
        &program.attached_flags,
        &program.long_flags,
        &program.cwd_flags,
        &program.code_flags,
        &program.idle_flags,
    ];
    lists.into_iter().flatten().try_for_each(|flag| parse_flags(flag).map(drop))?;
    let uses = program.uses.iter().map(|usage| compile_program_use(usage, rules)).collect::<Result<Vec<_>, _>>()?;
    let style = format_variant("FlagStyle", program.style.as_deref().unwrap_or("gnu"));
    let handler = program.handler.as_ref().map(|handler| format_variant("ProgramHandler", handler));
    let handler = handler.map_or_else(|| "None".to_owned(), |handler| format!("Some({handler})"));
    Ok(format!(
        "ProgramSpec {{ value_flags: {}, attached_flags: {}, long_flags: {}, cwd_flags: {}, code_flags: {}, \
         idle_flags: {}, flags_first: {}, has_commands: {}, style: {style}, handler: {handler}, discreet: {}, names_only: {}, agent: {}, uses: &[{}] }}",
        format_flat_list(&program.value_flags),
        format_flat_list(&program.attached_flags),
        format_list(&collect_long_flags(program)),
        format_alternatives(&program.cwd_flags),
        format_alternatives(&program.code_flags),
        format_flat_list(&program.idle_flags),
        program.flags_first,
        program.has_commands,
        program.discreet,
        program.names_only,
        program.agent,
        uses.join(", "),
    ))
}

/// All long flags of a program that accepts abbreviated flags.
fn collect_long_flags(program: &ProgramEntry) -> Vec<&str> {
    if program.long_flags.is_empty() {
        return Vec::new();
    }
    let used = program.uses.iter().flat_map(|usage| usage.needs.iter().chain(&usage.any).chain(&usage.unless));
    let recursive = program.uses.iter().filter_map(|usage| usage.recursive.as_ref());
    let all = program
        .long_flags
        .iter()
        .chain(&program.value_flags)
        .chain(&program.attached_flags)
        .chain(&program.idle_flags)
        .chain(used)
        .chain(recursive);
    let mut long: Vec<&str> =
        all.flat_map(|flags| flags.split('|')).filter_map(|flag| flag.strip_prefix("--")).collect();
    long.retain(|flag| !flag.is_empty());
    long.extend(["help", "version"]);
    long.iter_mut().for_each(|flag| *flag = flag.split('=').next().unwrap_or(flag));
    long.sort_unstable();
    long.dedup();
    long
}

fn compile_program_use(usage: &ProgramUseEntry, rules: &[RuleEntry]) -> Result<String, BuildError> {
    let does = match (&usage.rule, &usage.effect, &usage.prints) {
        (Some(id), None, None) => {
            let number = rules.iter().position(|rule| rule.id == *id).ok_or_else(|| format!("unknown rule `{id}`"))?;
            format!("UseEffect::Rule({number})")
        }
        (None, Some(kind), None) => format!("UseEffect::Effect({})", format_variant("PathAction", kind)),
        (None, None, Some(what)) => format!("UseEffect::Prints({})", format_variant("UnknownKind", what)),
        _ => return Err("a use must have exactly one of `rule`, `effect` and `prints`".into()),
    };
    if usage.effect.is_some() && usage.on.is_none() {
        return Err("an `effect` must have `on`".into());
    }
    let recursive = match usage.recursive.as_deref() {
        None => "UseRecursion::Never".to_owned(),
        Some("always") => "UseRecursion::Always".to_owned(),
        Some(written) => format!("UseRecursion::With({})", format_list(&parse_flags(written)?)),
    };
    Ok(format!(
        "ProgramUse {{ words: {}, needs: {}, any: {}, unless: {}, operand: {}, unless_operand: {}, operands: {:?}, looked_up: {}, on_agent: {}, unless_in_temp: {}, unless_in_project: {}, unless_variable: {}, variable: {}, new: {}, does: {does}, on: {}, recursive: {recursive} }}",
        format_alternatives(&usage.words),
        format_alternatives(&usage.needs),
        format_flat_list(&usage.any),
        format_flat_list(&usage.unless),
        format_globs(usage.operand.as_deref()),
        format_globs(usage.unless_operand.as_deref()),
        usage.operands,
        usage.looked_up,
        usage.on_agent,
        usage.unless_in_temp,
        usage.unless_in_project,
        format_globs(usage.unless_variable.as_deref()),
        format_globs(usage.variable.as_deref()),
        usage.new,
        compile_target(usage.on.as_deref())?,
    ))
}

fn format_globs(written: Option<&str>) -> String {
    written.map_or_else(|| "&[]".to_owned(), format_split)
}

fn compile_target(on: Option<&str>) -> Result<String, BuildError> {
    let Some(on) = on else {
        return Ok("UseTarget::Nothing".to_owned());
    };
    let Some((kind, written)) = on.split_once(':') else {
        return Ok(format_variant("UseTarget", on));
    };
    match kind {
        "key" => Ok(format!("UseTarget::Key({})", format_list(&[format!("{written}=")]))),
        "argument" => Ok(format!("UseTarget::Argument({})", format_split(written))),
        "prefix" => Ok(format!("UseTarget::Key({})", format_split(written))),
        _ => Ok(format!("{}({})", format_variant("UseTarget", kind), format_list(&parse_flags(written)?))),
    }
}

/// Splits `-f|--force`, and checks that each part looks like a flag.
fn parse_flags(written: &str) -> Result<Vec<&str>, BuildError> {
    let flags: Vec<&str> = written.split('|').collect();
    match flags.iter().find(|flag| !flag.starts_with(['-', '+']) || flag.len() < 2) {
        Some(flag) => Err(format!("`{flag}` in `{written}` is not a flag").into()),
        None => Ok(flags),
    }
}

/// A list in which every alternative is an item.
fn format_flat_list(items: &[String]) -> String {
    format_list(&items.iter().flat_map(|item| item.split('|')).collect::<Vec<_>>())
}
