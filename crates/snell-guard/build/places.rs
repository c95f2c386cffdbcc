//! `data/places.toml`: lists of patterns.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use crate::{BuildError, format_list, parse_toml};

/// All lists as static tables.
pub(crate) fn generate_place_tables(path: &Path) -> Result<String, BuildError> {
    let lists: BTreeMap<String, Vec<String>> = parse_toml(path)?;
    let mut out = String::new();
    for (key, patterns) in &lists {
        let compiled = patterns.iter().map(|pattern| compile_pattern(pattern)).collect::<Result<Vec<_>, _>>();
        let rows = compiled.map_err(|fault| format!("{}: {key}: {fault}", path.display()))?.join(",\n    ");
        let name = key.to_ascii_uppercase();
        writeln!(out, "pub(super) static {name}: &[PathPattern] = &[\n    {rows},\n];")?;
    }
    Ok(out)
}

fn compile_pattern(pattern: &str) -> Result<String, BuildError> {
    let (anchor, rest) = if let Some(rest) = pattern.strip_prefix("**/") {
        ("Anywhere", rest)
    } else if let Some(rest) = pattern.strip_prefix("~/") {
        ("Home", rest)
    } else if let Some(rest) = pattern.strip_prefix('/') {
        ("Root", rest)
    } else {
        return Err(format!("`{pattern}` must start with `/`, `~/` or `**/`").into());
    };
    let (rest, below) = rest.strip_suffix("/**").map_or((rest, false), |rest| (rest, true));
    let names: Vec<&str> = rest.split('/').collect();
    if names.iter().any(|name| name.is_empty() || matches!(*name, "." | ".." | "**")) {
        return Err(format!("`{pattern}` has an invalid file name").into());
    }
    Ok(format!("PathPattern {{ anchor: PatternAnchor::{anchor}, names: {}, below: {below} }}", format_list(&names)))
}
