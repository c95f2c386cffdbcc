//! `data/wrappers.toml`: programs that run programs.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use serde::Deserialize;

use crate::words::{WordSections, generate_word_tables};
use crate::{BuildError, format_alternatives, format_list, format_split, format_variant, parse_toml};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrapperFile {
    wrapper: Vec<WrapperEntry>,
    variables: Vec<String>,
    load_variables: Vec<String>,
    search_variables: Vec<String>,
    option_variable: Vec<OptionVariableEntry>,
    config_file: Vec<ConfigFileEntry>,
    search: Vec<SearchEntry>,
    words: WordSections,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OptionVariableEntry {
    names: Vec<String>,
    program: String,
    #[serde(default)]
    before: Vec<String>,
    #[serde(default)]
    whole: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ConfigFileEntry {
    names: Vec<String>,
    flags: Vec<String>,
    option: String,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct SearchEntry {
    names: Vec<String>,
    by_name: bool,
    values: Vec<String>,
    globs: Vec<String>,
    lists: Vec<String>,
    hidden: Vec<String>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct WrapperEntry {
    names: Vec<String>,
    words: Vec<String>,
    value_flags: Vec<String>,
    attached_flags: Vec<String>,
    cwd_flags: Vec<String>,
    code: Vec<String>,
    inline: Vec<String>,
    refuse: Vec<String>,
    writes: Vec<String>,
    language: Option<String>,
    runs: Option<String>,
    operands: usize,
    keep: bool,
    privileged: bool,
    elsewhere: bool,
    fresh: bool,
    assignments: bool,
    stdin: bool,
    abbreviates: bool,
}

/// All wrappers as static tables, and the wrappers of each name.
pub(crate) fn generate_wrapper_table(path: &Path) -> Result<String, BuildError> {
    let file: WrapperFile = parse_toml(path)?;
    let mut out = String::from("pub(crate) static WRAPPERS: &[WrapperSpec] = &[\n");
    let mut names: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, wrapper) in file.wrapper.iter().enumerate() {
        let first = wrapper.names.first().map_or("?", String::as_str);
        let compiled = compile_wrapper(wrapper).map_err(|fault| format!("{}: `{first}`: {fault}", path.display()))?;
        writeln!(out, "    {compiled},")?;
        for name in &wrapper.names {
            names.entry(name).or_default().push(at);
        }
    }
    writeln!(out, "];\npub(crate) static NAMES: &[(&str, &[usize])] = &[")?;
    for (name, entries) in names {
        writeln!(out, "    ({name:?}, {}),", format_list(&entries))?;
    }
    let mut variables = file.variables;
    variables.sort_unstable();
    writeln!(out, "];\npub(crate) static CODE_VARIABLES: &[&str] = {};", format_list(&variables))?;
    let mut loading = file.load_variables;
    loading.sort_unstable();
    writeln!(out, "pub(super) static LOAD_VARIABLES: &[&str] = {};", format_list(&loading))?;
    let mut searching = file.search_variables;
    searching.sort_unstable();
    writeln!(out, "pub(super) static SEARCH_VARIABLES: &[&str] = {};", format_list(&searching))?;
    writeln!(out, "pub(super) static OPTION_VARIABLES: &[OptionVariable] = &[")?;
    for entry in &file.option_variable {
        let names = format_list(&entry.names);
        let before = format_list(&entry.before);
        let (program, whole) = (&entry.program, entry.whole);
        writeln!(
            out,
            "    OptionVariable {{ names: {names}, program: {program:?}, before: {before}, whole: {whole} }},"
        )?;
    }
    writeln!(out, "];\npub(super) static CONFIG_FILES: &[ConfigFileSpec] = &[")?;
    for entry in &file.config_file {
        let (names, flags) = (format_list(&entry.names), format_list(&entry.flags));
        writeln!(out, "    ConfigFileSpec {{ names: {names}, flags: {flags}, option: {:?} }},", entry.option)?;
    }
    writeln!(out, "];")?;
    writeln!(out, "pub(super) static SEARCH_PROGRAMS: &[SearchProgram] = &[")?;
    for search in &file.search {
        let compiled = compile_search(search).map_err(|fault| format!("{}: search: {fault}", path.display()))?;
        writeln!(out, "    {compiled},")?;
    }
    writeln!(out, "];")?;
    writeln!(out, "pub(super) mod words {{\n{}}}", generate_word_tables(path, &file.words)?)?;
    Ok(out)
}

fn compile_search(search: &SearchEntry) -> Result<String, BuildError> {
    if let Some(flag) = search.globs.iter().find(|flag| !search.values.contains(flag)) {
        return Err(format!("`{flag}` is in `globs` but not in `values`").into());
    }
    Ok(format!(
        "SearchProgram {{ names: {}, by_name: {}, values: {}, globs: {}, lists: {}, hidden: {} }}",
        format_list(&search.names),
        search.by_name,
        format_list(&search.values),
        format_list(&search.globs),
        format_list(&search.lists),
        format_list(&search.hidden),
    ))
}

fn compile_wrapper(wrapper: &WrapperEntry) -> Result<String, BuildError> {
    if wrapper.names.is_empty() {
        return Err("the entry has no name".into());
    }
    let runs = format_variant("WrapperMode", wrapper.runs.as_deref().unwrap_or("nothing"));
    let language = wrapper.language.as_ref().map(|language| format_variant("CodeLanguage", language));
    let language = language.map_or_else(|| "None".to_owned(), |language| format!("Some({language})"));
    let mut value_flags = wrapper.value_flags.clone();
    let with_value = wrapper.code.iter().chain(&wrapper.inline).chain(&wrapper.cwd_flags);
    for flags in with_value.chain(&wrapper.writes) {
        let flags = flags.split(':').next().unwrap_or(flags);
        value_flags.extend(flags.split('|').map(str::to_owned));
    }
    let all = value_flags.iter().chain(&wrapper.attached_flags).chain(&wrapper.refuse);
    if let Some(flag) = all.into_iter().find(|flag| !flag.starts_with(['-', '+'])) {
        return Err(format!("`{flag}` is not a flag").into());
    }
    let code: Vec<String> = wrapper
        .code
        .iter()
        .map(|written| {
            let (flags, prefixes) = written.split_once(':').unwrap_or((written, ""));
            let prefixes: Vec<&str> = prefixes.split('|').filter(|prefix| !prefix.is_empty()).collect();
            format!("({}, {})", format_split(flags), format_list(&prefixes))
        })
        .collect();
    Ok(format!(
        "WrapperSpec {{ words: {}, value_flags: {}, attached_flags: {}, cwd_flags: {}, code: &[{}], inline: {}, refuse: {}, writes: {}, \
         language: {language}, runs: {runs}, operands: {}, keep: {}, privileged: {}, elsewhere: {}, fresh: {}, \
         assignments: {}, stdin: {}, abbreviates: {} }}",
        format_alternatives(&wrapper.words),
        format_list(&value_flags),
        format_list(&wrapper.attached_flags),
        format_alternatives(&wrapper.cwd_flags),
        code.join(", "),
        format_alternatives(&wrapper.inline),
        format_list(&wrapper.refuse),
        format_alternatives(&wrapper.writes),
        wrapper.operands,
        wrapper.keep,
        wrapper.privileged,
        wrapper.elsewhere,
        wrapper.fresh,
        wrapper.assignments,
        wrapper.stdin,
        wrapper.abbreviates,
    ))
}
