//! `data/approvals/*.toml`: the programs, flags and operands that may be approved.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

use serde::Deserialize;

use crate::{BuildError, format_alternatives, format_list, format_variant, parse_toml};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ApprovalFile {
    approval: Vec<ApprovalEntry>,
}

#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ApprovalEntry {
    names: Vec<String>,
    class: Option<String>,
    words: Vec<String>,
    flags: Vec<String>,
    operands: Vec<String>,
    min: usize,
    needs: Vec<String>,
    pattern_flags: Vec<String>,
    style: Option<String>,
    expands: bool,
    installed: bool,
    rest: bool,
    #[serde(rename = "match")]
    matches: Vec<String>,
    not_match: Vec<String>,
}

/// All entries as static tables, and their names in order. A name may have several entries, which are tried in order.
pub(crate) fn generate_approval_table(files: &[PathBuf]) -> Result<String, BuildError> {
    let mut out = String::from("pub(crate) static APPROVALS: &[ApprovalSpec] = &[\n");
    let mut names: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let mut count = 0;
    for path in files {
        for entry in parse_toml::<ApprovalFile>(path)?.approval {
            let name = entry.names.first().map_or("?", String::as_str);
            let compiled =
                compile_entry(&entry).map_err(|fault| format!("{}: approval `{name}`: {fault}", path.display()))?;
            writeln!(out, "    {compiled},")?;
            for name in &entry.names {
                names.entry(name.clone()).or_default().push(count);
            }
            count += 1;
        }
    }
    out.push_str("];\npub(crate) static APPROVAL_NAMES: &[(&str, &[usize])] = &[\n");
    for (name, entries) in names {
        writeln!(out, "    ({name:?}, {}),", format_list(&entries))?;
    }
    out.push_str("];\n");
    Ok(out)
}

fn compile_entry(entry: &ApprovalEntry) -> Result<String, BuildError> {
    if entry.names.is_empty() {
        return Err("it has no names".into());
    }
    let is_checked = !entry.matches.is_empty() && !entry.not_match.is_empty();
    if entry.class.is_some() && !is_checked {
        return Err("it has no `match` or no `not_match`".into());
    }
    let class = match &entry.class {
        Some(class) => format!("Some({})", format_variant("ApprovalClass", class)),
        None => "None".to_owned(),
    };
    let style = entry.style.as_deref().unwrap_or("gnu");
    if !matches!(style, "gnu" | "words") {
        return Err(format!("its style `{style}` is unknown").into());
    }
    let any_flag = entry.flags.iter().any(|flag| flag == "*");
    let flags: Vec<String> = entry.flags.iter().filter(|flag| *flag != "*").map(|flag| compile_flag(flag)).collect();
    let repeats = entry.operands.last().is_some_and(|role| role.ends_with('*'));
    let roles: Vec<String> =
        entry.operands.iter().map(|role| format_variant("OperandRole", role.trim_end_matches('*'))).collect();
    Ok(format!(
        "ApprovalSpec {{ class: {class}, words: {}, any_flag: {any_flag}, flags: &[{}], operands: &[{}], \
         repeats: {repeats}, min_operands: {}, needs: {}, pattern_flags: {}, word_flags: {}, expands: {}, installed: {}, rest: {}, \
         matches: {}, not_matches: {} }}",
        format_alternatives(&entry.words),
        flags.join(", "),
        roles.join(", "),
        entry.min,
        format_list(&entry.needs),
        format_list(&entry.pattern_flags),
        style == "words",
        entry.expands,
        entry.installed,
        entry.rest,
        format_list(&entry.matches),
        format_list(&entry.not_match),
    ))
}

/// `-n`, `-n=` (a text), `-f=read` (a path), `--color?` (an attached value, if any), `--arg==` (two texts), `-exec;` (a command).
fn compile_flag(flag: &str) -> String {
    if let Some(name) = flag.strip_suffix('?') {
        return format!("({name:?}, FlagShape::Optional)");
    }
    if let Some(name) = flag.strip_suffix(';') {
        return format!("({name:?}, FlagShape::Command)");
    }
    if let Some(name) = flag.strip_suffix("==") {
        return format!("({name:?}, FlagShape::Pair)");
    }
    match flag.split_once('=') {
        None => format!("({flag:?}, FlagShape::Plain)"),
        Some((name, "")) => format!("({name:?}, FlagShape::Value(OperandRole::Text))"),
        Some((name, role)) => format!("({name:?}, FlagShape::Value({}))", format_variant("OperandRole", role)),
    }
}
