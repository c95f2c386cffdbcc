//! Commands that show only the names in files of variables: `cut -d= -f1 .env`.

use crate::effects::collector::EffectCollector;
use crate::invocation::SymbolicText;
use crate::programs::argv::ParsedArgs;

/// Whether a program shows only names from a file of variables. In other files the end of a name is unknown.
pub(in crate::effects) fn prints_only_names(collector: &EffectCollector<'_>, file: &SymbolicText) -> bool {
    let shows: fn(&ParsedArgs<'_>) -> bool = match collector.name() {
        "cut" => cuts_names,
        "awk" | "gawk" | "mawk" | "nawk" => prints_first_field,
        "sed" | "gsed" => replaces_values,
        "grep" | "egrep" | "ggrep" | "rg" => greps_names,
        _ => return false,
    };
    is_env_file(file) && shows(&collector.args)
}

/// `.env`, `.env.local`, `app.env`
fn is_env_file(file: &SymbolicText) -> bool {
    let name = file.as_text().and_then(|path| path.rsplit('/').next());
    name.is_some_and(|name| name == ".env" || name.starts_with(".env.") || name.ends_with(".env"))
}

fn cuts_names(line: &ParsedArgs<'_>) -> bool {
    line.has_any_flag(&["-f=1", "--fields=1"]) && line.has_any_flag(&["-d==", "--delimiter=="])
}

fn prints_first_field(line: &ParsedArgs<'_>) -> bool {
    let script: String = first_operand_text(line).chars().filter(|c| !c.is_whitespace()).collect();
    line.has_any_flag(&["-F==", "--field-separator=="]) && matches!(script.as_str(), "{print$1}" | "{print($1)}")
}

/// `s/=.*/=***/`: replaces everything after the name.
fn replaces_values(line: &ParsedArgs<'_>) -> bool {
    let script = first_operand_text(line);
    let Some(sign) = script.strip_prefix('s').and_then(|rest| rest.chars().next()) else {
        return false;
    };
    let parts: Vec<&str> = script.split(sign).collect();
    let hidden = |from: &str, to: &str| matches!(from, "=.*" | "=.*$") && !to.contains(['&', '\\']);
    matches!(parts.as_slice(), ["s", from, to, "" | "g"] if hidden(from, to))
        && !line.has_any_flag(&["-i", "-f", "-e", "-n"])
}

/// `grep -o '^[A-Z_]*'`, `grep -oE '^[^=]+'`
fn greps_names(line: &ParsedArgs<'_>) -> bool {
    const NAMES: &[&str] =
        &["[^=]", "[A-Z_]", "[A-Z0-9_]", "[A-Z_0-9]", "[A-Za-z_]", "[A-Za-z0-9_]", "[A-Za-z_0-9]", "\\w"];
    let pattern = first_operand_text(line);
    let picked = pattern.strip_prefix('^').map(|rest| rest.trim_end_matches('=').trim_end_matches(['*', '+']));
    line.has_any_flag(&["-o", "--only-matching"]) && picked.is_some_and(|picked| NAMES.contains(&picked))
}

fn first_operand_text<'a>(line: &ParsedArgs<'a>) -> &'a str {
    line.operands.first().and_then(|value| value.as_text()).unwrap_or_default()
}
