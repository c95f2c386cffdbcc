//! `data/tools.toml`: words in the names of servers and tools, as lists by section.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

use crate::{BuildError, format_list, parse_toml};

/// Each section as a module, each list of it as a constant.
pub(crate) fn generate_tool_tables(path: &Path) -> Result<String, BuildError> {
    let sections: BTreeMap<String, BTreeMap<String, Vec<String>>> = parse_toml(path)?;
    let mut out = String::new();
    for (section, lists) in sections {
        writeln!(out, "pub(crate) mod {section} {{")?;
        for (name, words) in lists {
            check_words(&words).map_err(|fault| format!("{}: {section}.{name}: {fault}", path.display()))?;
            writeln!(out, "    pub(crate) const {}: &[&str] = {};", name.to_ascii_uppercase(), format_list(&words))?;
        }
        out.push_str("}\n");
    }
    Ok(out)
}

/// Names are taken apart into words of small letters and digits: nothing else can ever be found.
fn check_words(words: &[String]) -> Result<(), BuildError> {
    let mut seen = BTreeSet::new();
    for word in words {
        if !word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit()) || word.is_empty() {
            return Err(format!("`{word}` is no word of small letters").into());
        }
        if !seen.insert(word) {
            return Err(format!("`{word}` is there twice").into());
        }
    }
    Ok(())
}
