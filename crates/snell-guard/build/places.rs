//! `data/places.toml`: lists of patterns.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use crate::{BuildError, format_list, parse_toml};

/// The lists there are, and the name of each table.
const PATTERN_LISTS: &[(&str, &str)] = &[
    ("system", "SYSTEM"),
    ("device", "DEVICE"),
    ("harmless", "HARMLESS"),
    ("network", "NETWORK"),
    ("temp", "TEMP"),
    ("cache", "CACHE"),
    ("loose", "LOOSE"),
    ("start_up", "START_UP"),
    ("secret", "SECRET"),
    ("public", "PUBLIC"),
    ("secret_dir", "SECRET_DIR"),
    ("git", "GIT"),
    ("hook", "HOOK"),
    ("vital", "VITAL"),
];

/// All lists as static tables.
pub(crate) fn generate_place_tables(path: &Path) -> Result<String, BuildError> {
    let mut lists: BTreeMap<String, Vec<String>> = parse_toml(path)?;
    let mut out = String::new();
    for (key, name) in PATTERN_LISTS {
        let patterns = lists.remove(*key).ok_or_else(|| format!("{}: the list `{key}` is missing", path.display()))?;
        writeln!(out, "pub(super) static {name}: &[PathPattern] = &[")?;
        for pattern in &patterns {
            writeln!(
                out,
                "    {},",
                compile_pattern(pattern).map_err(|fault| format!("{}: {key}: {fault}", path.display()))?
            )?;
        }
        writeln!(out, "];")?;
    }
    match lists.keys().next() {
        Some(key) => Err(format!("{}: nobody reads the list `{key}`", path.display()).into()),
        None => Ok(out),
    }
}

fn compile_pattern(pattern: &str) -> Result<String, BuildError> {
    let (anchor, rest) = if let Some(rest) = pattern.strip_prefix("**/") {
        ("Anywhere", rest)
    } else if let Some(rest) = pattern.strip_prefix("~/") {
        ("Home", rest)
    } else if let Some(rest) = pattern.strip_prefix('/') {
        ("Root", rest)
    } else {
        return Err(format!("`{pattern}` begins with none of `/`, `~/` and `**/`").into());
    };
    let (rest, below) = rest.strip_suffix("/**").map_or((rest, false), |rest| (rest, true));
    let names: Vec<&str> = rest.split('/').collect();
    if names.iter().any(|name| name.is_empty() || matches!(*name, "." | ".." | "**")) {
        return Err(format!("`{pattern}` has a name that no file has").into());
    }
    Ok(format!("PathPattern {{ anchor: PatternAnchor::{anchor}, names: {}, below: {below} }}", format_list(&names)))
}
