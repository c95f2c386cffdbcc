//! Compiles the files in `data/` into tables: approvals, build files, languages, places, programs, rules, words and wrappers. An
//! invalid entry is a build error that names the file and the entry.
#![expect(clippy::print_stdout, reason = "a build script speaks to cargo by printing")]

mod approvals;
mod build_files;
mod languages;
mod places;
mod programs;
mod rules;
mod words;
mod wrappers;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// An error message that names its file.
type BuildError = Box<dyn Error>;

fn main() -> Result<(), BuildError> {
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-changed=data");
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let rules = rules::load_rules(&list_data_files("data/rules")?)?;
    let languages = languages::generate_language_table(&list_data_files("data/languages")?)?;
    let build_files = build_files::generate_build_file_table(Path::new("data/build_files.toml"))?;
    fs::write(out.join("build_files.rs"), build_files)?;
    fs::write(out.join("approvals.rs"), approvals::generate_approval_table(&list_data_files("data/approvals")?)?)?;
    let approval_words = words::generate_plain_words(Path::new("data/approval_words.toml"))?;
    fs::write(out.join("approval_words.rs"), approval_words)?;
    fs::write(out.join("languages.rs"), languages)?;
    fs::write(out.join("places.rs"), places::generate_place_tables(Path::new("data/places.toml"))?)?;
    fs::write(out.join("program_words.rs"), words::generate_plain_words(Path::new("data/program_words.toml"))?)?;
    fs::write(out.join("programs.rs"), programs::generate_program_table(&list_data_files("data/programs")?, &rules)?)?;
    fs::write(out.join("rules.rs"), rules::generate_rule_table(&rules)?)?;
    let builtin_tools = words::generate_plain_words(Path::new("data/builtin_tools.toml"))?;
    fs::write(out.join("builtin_tools.rs"), builtin_tools)?;
    let windows_shells = words::generate_plain_words(Path::new("data/windows_shells.toml"))?;
    fs::write(out.join("windows_shells.rs"), windows_shells)?;
    fs::write(out.join("code_words.rs"), words::generate_plain_words(Path::new("data/code_words.toml"))?)?;
    fs::write(out.join("mcp_words.rs"), words::generate_mcp_words(Path::new("data/mcp_words.toml"))?)?;
    fs::write(out.join("session_words.rs"), words::generate_plain_words(Path::new("data/session_words.toml"))?)?;
    fs::write(out.join("wrappers.rs"), wrappers::generate_wrapper_table(Path::new("data/wrappers.toml"))?)?;
    Ok(())
}

/// The data files of a directory, in the order of their names.
fn list_data_files(directory: &str) -> Result<Vec<PathBuf>, BuildError> {
    let mut files = fs::read_dir(directory)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>, BuildError>>()?;
    files.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    Ok(files)
}

/// Reads one file into its type.
fn parse_toml<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, BuildError> {
    let text = fs::read_to_string(path).map_err(|fault| format!("{}: {fault}", path.display()))?;
    toml::from_str(&text).map_err(|fault| format!("{}: {fault}", path.display()).into())
}

/// A list of strings as Rust code.
fn format_list<T: std::fmt::Debug>(items: &[T]) -> String {
    format!("&{items:?}")
}

/// `a|b` as a list.
fn format_split(written: &str) -> String {
    format_list(&written.split('|').collect::<Vec<_>>())
}

/// A list whose items have alternatives, as in `a|b`.
fn format_alternatives(items: &[String]) -> String {
    let inner: Vec<String> = items.iter().map(|item| format_split(item)).collect();
    format!("&[{}]", inner.join(", "))
}

/// The variant for a name in the data: `home-root` is `HomeRoot`. An unknown name is a compiler error at its row of the
/// table.
fn format_variant(kind: &str, word: &str) -> String {
    let capitalize = |part: &str| part.get(..1).unwrap_or_default().to_uppercase() + part.get(1..).unwrap_or_default();
    let name: String = word.split('-').map(capitalize).collect();
    format!("{kind}::{name}")
}
