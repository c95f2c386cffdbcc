//! Files of variables, of which only the names are shown: `cut -d= -f1 .env`.

use super::scene::Scene;
use crate::invocation::Value;
use crate::line::Line;

/// Whether a program shows nothing but names of a file of variables. Of any other file, nobody knows where a name ends.
pub(super) fn are_all(scene: &Scene<'_>, file: &Value) -> bool {
    let shows: fn(&Line<'_>) -> bool = match scene.name() {
        "cut" => cuts,
        "awk" | "gawk" | "mawk" | "nawk" => prints_first,
        "sed" | "gsed" => hides_rest,
        "grep" | "egrep" | "ggrep" | "rg" => picks_beginning,
        _ => return false,
    };
    is_of_variables(file) && shows(&scene.line)
}

/// `.env`, `.env.local`, `app.env`
fn is_of_variables(file: &Value) -> bool {
    let name = file.as_text().and_then(|path| path.rsplit('/').next());
    name.is_some_and(|name| name == ".env" || name.starts_with(".env.") || name.ends_with(".env"))
}

fn cuts(line: &Line<'_>) -> bool {
    line.has_any(&["-f=1", "--fields=1"]) && line.has_any(&["-d==", "--delimiter=="])
}

fn prints_first(line: &Line<'_>) -> bool {
    let script: String = first(line).chars().filter(|c| !c.is_whitespace()).collect();
    line.has_any(&["-F==", "--field-separator=="]) && matches!(script.as_str(), "{print$1}" | "{print($1)}")
}

/// `s/=.*/=***/`: all that follows the name is replaced by something else.
fn hides_rest(line: &Line<'_>) -> bool {
    let script = first(line);
    let Some(sign) = script.strip_prefix('s').and_then(|rest| rest.chars().next()) else {
        return false;
    };
    let parts: Vec<&str> = script.split(sign).collect();
    let hidden = |from: &str, to: &str| matches!(from, "=.*" | "=.*$") && !to.contains(['&', '\\']);
    matches!(parts.as_slice(), ["s", from, to, "" | "g"] if hidden(from, to))
        && !line.has_any(&["-i", "-f", "-e", "-n"])
}

/// `grep -o '^[A-Z_]*'`, `grep -oE '^[^=]+'`
fn picks_beginning(line: &Line<'_>) -> bool {
    const NAMES: &[&str] = &[
        "[^=]",
        "[A-Z_]",
        "[A-Z0-9_]",
        "[A-Z_0-9]",
        "[A-Za-z_]",
        "[A-Za-z0-9_]",
        "[A-Za-z_0-9]",
        "\\w",
    ];
    let pattern = first(line);
    let picked = pattern
        .strip_prefix('^')
        .map(|rest| rest.trim_end_matches('=').trim_end_matches(['*', '+']));
    line.has_any(&["-o", "--only-matching"]) && picked.is_some_and(|picked| NAMES.contains(&picked))
}

fn first<'a>(line: &Line<'a>) -> &'a str {
    line.operands
        .first()
        .and_then(|value| value.as_text())
        .unwrap_or_default()
}
