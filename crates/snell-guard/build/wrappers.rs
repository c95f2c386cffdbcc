//! `data/wrappers.toml`: programs that run programs.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use serde::Deserialize;

use crate::words::{WordSections, generate_word_tables};
use crate::{BuildError, format_list, parse_toml};

/// What a wrapper runs.
const WRAPPER_MODES: &[(&str, &str)] = &[
    ("nothing", "Nothing"),
    ("words", "Words"),
    ("code", "Code"),
    ("dashes", "AfterDashes"),
    ("package", "Package"),
    ("each", "EachIsCode"),
    ("shell", "Shell"),
    ("xargs", "Xargs"),
    ("parallel", "Parallel"),
    ("find", "Find"),
    ("fd", "Fd"),
    ("env", "Env"),
    ("git", "Git"),
    ("awk", "Awk"),
    ("sed", "Sed"),
    ("editor", "Editor"),
    ("client", "Client"),
    ("make", "Make"),
    ("keys", "Keys"),
    ("crontab", "Crontab"),
];
/// Languages of code that is no shell's.
pub(crate) const LANGUAGES: &[(&str, &str)] = &[
    ("python", "Python"),
    ("node", "Node"),
    ("perl", "Perl"),
    ("ruby", "Ruby"),
    ("php", "Php"),
    ("lua", "Lua"),
    ("r", "R"),
    ("julia", "Julia"),
    ("elixir", "Elixir"),
    ("applescript", "AppleScript"),
    ("tcl", "Tcl"),
    ("powershell", "PowerShell"),
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrapperFile {
    wrapper: Vec<WrapperEntry>,
    variables: Vec<String>,
    search: Vec<SearchEntry>,
    words: WordSections,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SearchEntry {
    names: Vec<String>,
    #[serde(default)]
    by_name: bool,
    values: Vec<String>,
    #[serde(default)]
    globs: Vec<String>,
    #[serde(default)]
    lists: Vec<String>,
    #[serde(default)]
    hidden: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrapperEntry {
    names: Vec<String>,
    #[serde(default)]
    words: Vec<String>,
    #[serde(default)]
    value_flags: Vec<String>,
    #[serde(default)]
    attached_flags: Vec<String>,
    #[serde(default)]
    cwd_flags: Vec<String>,
    #[serde(default)]
    code: Vec<String>,
    #[serde(default)]
    inline: Vec<String>,
    #[serde(default)]
    refuse: Vec<String>,
    #[serde(default)]
    writes: Vec<String>,
    language: Option<String>,
    runs: Option<String>,
    #[serde(default)]
    operands: usize,
    #[serde(default)]
    keep: bool,
    #[serde(default)]
    privileged: bool,
    #[serde(default)]
    elsewhere: bool,
    #[serde(default)]
    fresh: bool,
    #[serde(default)]
    assignments: bool,
    #[serde(default)]
    stdin: bool,
}

/// All wrappers as static tables, and which of them a name may be.
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
        return Err(format!("`{flag}` is in `globs` and not in `values`").into());
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
        return Err("it has no name".into());
    }
    let find = |table: &[(&'static str, &'static str)], name: &str| {
        let found = table.iter().find(|(known, _)| *known == name);
        found.map(|(_, rust)| *rust).ok_or_else(|| format!("`{name}` is not known"))
    };
    let runs = find(WRAPPER_MODES, wrapper.runs.as_deref().unwrap_or("nothing"))?;
    let language = match &wrapper.language {
        Some(language) => format!("Some(CodeLanguage::{})", find(LANGUAGES, language)?),
        None => "None".to_owned(),
    };
    let mut value_flags = wrapper.value_flags.clone();
    let with_value = wrapper.code.iter().chain(&wrapper.inline).chain(&wrapper.cwd_flags);
    for flags in with_value.chain(&wrapper.writes) {
        let flags = flags.split(':').next().unwrap_or(flags);
        value_flags.extend(flags.split('|').map(str::to_owned));
    }
    let all = value_flags.iter().chain(&wrapper.attached_flags).chain(&wrapper.refuse);
    if let Some(flag) = all.into_iter().find(|flag| !flag.starts_with(['-', '+'])) {
        return Err(format!("`{flag}` is no flag").into());
    }
    let alternatives = |items: &[String]| {
        let inner: Vec<String> = items.iter().map(|item| format_list(&item.split('|').collect::<Vec<_>>())).collect();
        format!("&[{}]", inner.join(", "))
    };
    let code: Vec<String> = wrapper
        .code
        .iter()
        .map(|written| {
            let (flags, prefixes) = written.split_once(':').unwrap_or((written, ""));
            let prefixes: Vec<&str> = prefixes.split('|').filter(|prefix| !prefix.is_empty()).collect();
            format!("({}, {})", format_list(&flags.split('|').collect::<Vec<_>>()), format_list(&prefixes))
        })
        .collect();
    Ok(format!(
        "WrapperSpec {{ words: {}, value_flags: {}, attached_flags: {}, cwd_flags: {}, code: &[{}], inline: {}, refuse: {}, writes: {}, \
         language: {language}, runs: WrapperMode::{runs}, operands: {}, keep: {}, privileged: {}, elsewhere: {}, fresh: {}, \
         assignments: {}, stdin: {} }}",
        alternatives(&wrapper.words),
        format_list(&value_flags),
        format_list(&wrapper.attached_flags),
        alternatives(&wrapper.cwd_flags),
        code.join(", "),
        alternatives(&wrapper.inline),
        format_list(&wrapper.refuse),
        alternatives(&wrapper.writes),
        wrapper.operands,
        wrapper.keep,
        wrapper.privileged,
        wrapper.elsewhere,
        wrapper.fresh,
        wrapper.assignments,
        wrapper.stdin,
    ))
}
