//! `data/build_files.toml`: files that programs run code from by themselves.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use serde::Deserialize;

use crate::{BuildError, format_list, format_split, format_variant, parse_toml};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BuildFileTable {
    extensions: KeyedRows,
    spawns: KeyedRows,
    calls: KeyedRows,
    build_file: Vec<BuildFileEntry>,
}

/// Rows that begin with their key.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyedRows {
    rows: Vec<Vec<String>>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct BuildFileEntry {
    names: Vec<String>,
    files: Vec<String>,
    operands: bool,
    mentioned: bool,
    words: Option<String>,
    unless: Option<String>,
    reads: Option<String>,
}

/// Formats that are not languages.
const FORMATS: &[&str] = &["recipes", "scripts", "shell", "texts", "containers", "compiled", "statements"];

/// All entries as static tables, and the entries of each program.
pub(crate) fn generate_build_file_table(path: &Path) -> Result<String, BuildError> {
    let table: BuildFileTable = parse_toml(path)?;
    let mut names: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let mut out = String::from("static BUILD_FILES: &[BuildFileSpec] = &[\n");
    for (at, entry) in table.build_file.iter().enumerate() {
        if entry.names.is_empty() || (entry.files.is_empty() && !entry.operands) {
            return Err(format!("{}: entry {at} has no names or no files", path.display()).into());
        }
        let reads =
            entry.reads.as_deref().map_or_else(|| "None".to_owned(), |word| format!("Some({})", format_kind(word)));
        let files = format_list(&entry.files);
        let list = |written: &Option<String>| written.as_deref().map_or_else(|| "&[]".to_owned(), format_split);
        let (words, unless) = (list(&entry.words), list(&entry.unless));
        writeln!(
            out,
            "    BuildFileSpec {{ files: {files}, operands: {}, mentioned: {}, words: {words}, unless: {unless}, reads: {reads} }},",
            entry.operands, entry.mentioned
        )?;
        for name in &entry.names {
            let entries = names.entry(name).or_default();
            if entries.contains(&at) {
                return Err(format!("{}: `{name}` twice in one entry", path.display()).into());
            }
            entries.push(at);
        }
    }
    writeln!(out, "];\nstatic RUNNERS: &[(&str, &[usize])] = &[")?;
    for (name, entries) in names {
        writeln!(out, "    ({name:?}, {}),", format_list(&entries))?;
    }
    writeln!(out, "];\nstatic EXTENSIONS: &[(&str, BuildFileFormat)] = &[")?;
    for (kind, endings) in table.extensions.rows.iter().filter_map(|row| row.split_first()) {
        for ending in endings {
            writeln!(out, "    ({ending:?}, {}),", format_kind(kind))?;
        }
    }
    let spawns: Vec<&String> = table.spawns.rows.iter().flat_map(|row| row.iter().skip(1)).collect();
    writeln!(out, "];\nstatic SPAWN_CALLS: &[&str] = {};", format_list(&spawns))?;
    writeln!(out, "static COMPILED_CALLS: &[(&str, &[&str])] = &[")?;
    for (command, calls) in table.calls.rows.iter().filter_map(|row| row.split_first()) {
        writeln!(out, "    ({command:?}, {}),", format_list(calls))?;
    }
    out.push_str("];\n");
    Ok(out)
}

fn format_kind(word: &str) -> String {
    if FORMATS.contains(&word) {
        format_variant("BuildFileFormat", word)
    } else {
        format!("BuildFileFormat::Code({})", format_variant("CodeLanguage", word))
    }
}
