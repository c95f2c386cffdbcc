//! Word lists: `data/*_words.toml`, `data/builtin_tools.toml` and `[words]` in `data/wrappers.toml`. Each section becomes a module, each list of it a constant.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

use serde::Deserialize;

use crate::{BuildError, format_list, parse_toml};

/// The sections of a file, with their lists.
pub(crate) type WordSections = BTreeMap<String, BTreeMap<String, WordList>>;

/// Words, or a table whose rows start with a key.
#[derive(Deserialize)]
#[serde(untagged)]
pub(crate) enum WordList {
    Words(Vec<String>),
    Rows(Vec<Vec<String>>),
}

/// Sections whose lists are compared with texts instead of words of names.
const TEXT_SECTIONS: &[&str] = &["texts"];

/// The words in names of MCP tools and their input fields.
pub(crate) fn generate_mcp_words(path: &Path) -> Result<String, BuildError> {
    let sections: WordSections = parse_toml(path)?;
    for (section, lists) in sections.iter().filter(|(section, _)| !TEXT_SECTIONS.contains(&section.as_str())) {
        for (name, list) in lists {
            check_lowercase(list).map_err(|fault| format!("{}: {section}.{name}: {fault}", path.display()))?;
        }
    }
    generate_word_tables(path, &sections)
}

/// Lists of words with any characters.
pub(crate) fn generate_plain_words(path: &Path) -> Result<String, BuildError> {
    generate_word_tables(path, &parse_toml(path)?)
}

pub(crate) fn generate_word_tables(path: &Path, sections: &WordSections) -> Result<String, BuildError> {
    let mut out = String::new();
    for (section, lists) in sections {
        writeln!(out, "pub(crate) mod {section} {{")?;
        for (name, list) in lists {
            let compiled = compile_list(list).map_err(|fault| format!("{}: {section}.{name}: {fault}", path.display()));
            writeln!(out, "    pub(crate) const {}: {};", name.to_ascii_uppercase(), compiled?)?;
        }
        out.push_str("}\n");
    }
    Ok(out)
}

/// The type and the value of a list.
fn compile_list(list: &WordList) -> Result<String, BuildError> {
    match list {
        WordList::Words(words) => {
            check_duplicates(words)?;
            Ok(format!("&[&str] = {}", format_list(words)))
        }
        WordList::Rows(rows) => {
            let rows = rows.iter().map(|row| match row.split_first() {
                Some((meaning, words)) if !words.is_empty() => {
                    check_duplicates(words)?;
                    Ok(format!("({meaning:?}, {})", format_list(words)))
                }
                _ => Err(format!("the row {row:?} has too few words").into()),
            });
            let rows = rows.collect::<Result<Vec<_>, BuildError>>()?;
            Ok(format!("&[(&str, &[&str])] = &[{}]", rows.join(", ")))
        }
    }
}

fn check_duplicates(words: &[String]) -> Result<(), BuildError> {
    let mut seen = BTreeSet::new();
    match words.iter().find(|word| !seen.insert(*word)) {
        Some(word) => Err(format!("duplicate word `{word}`").into()),
        None => Ok(()),
    }
}

impl WordList {
    /// All words to search for.
    fn words(&self) -> impl Iterator<Item = &String> {
        let (words, rows) = match self {
            Self::Words(words) => (words.as_slice(), [].as_slice()),
            Self::Rows(rows) => ([].as_slice(), rows.as_slice()),
        };
        words.iter().chain(rows.iter().flat_map(|row| row.iter().skip(1)))
    }
}

/// Names are split into words of lower-case letters and digits, so no other word can match.
fn check_lowercase(list: &WordList) -> Result<(), BuildError> {
    let is_word = |word: &&String| {
        !word.is_empty() && word.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit())
    };
    match list.words().find(|word| !is_word(word)) {
        Some(word) => Err(format!("`{word}` must have only lower-case letters and digits").into()),
        None => Ok(()),
    }
}
