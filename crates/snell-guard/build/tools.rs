//! `data/tools.toml`: words in the names of servers and tools, as lists by section.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

use crate::{Fault, list, parse};

/// Each section as a module, each list of it as a constant.
pub(crate) fn table(path: &Path) -> Result<String, Fault> {
    let sections: BTreeMap<String, BTreeMap<String, Vec<String>>> = parse(path)?;
    let mut out = String::new();
    for (section, lists) in sections {
        writeln!(out, "pub(crate) mod {section} {{")?;
        for (name, words) in lists {
            check(&words).map_err(|fault| format!("{}: {section}.{name}: {fault}", path.display()))?;
            writeln!(
                out,
                "    pub(crate) const {}: &[&str] = {};",
                name.to_ascii_uppercase(),
                list(&words)
            )?;
        }
        out.push_str("}\n");
    }
    Ok(out)
}

/// Names are taken apart into words of small letters and digits: nothing else can ever be found.
fn check(words: &[String]) -> Result<(), Fault> {
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
