//! Programs that list files, and what is then known of the names that others are handed.

use super::many::MOST;
use super::search::{MAX_OWN, found_by_text, own_found_by};
use crate::effects::output_of;
use crate::find;
use crate::invocation::{Invocation, Part, Unknown, Value};
use crate::shell::{Walker, limits};
use crate::world::World;

/// Programs that pick some of the lines that they are fed.
const PICKERS: &[&str] = &[
    "grep", "egrep", "fgrep", "rg", "sort", "uniq", "head", "tail", "cat", "tee", "shuf", "tr",
];

/// What programs print that list files: so far as names are known, they are worth more than nothing. What only picks
/// lines behind them is looked through.
pub(crate) fn searched(found: &[Invocation], world: &World) -> Option<Vec<Value>> {
    if let Some(values) = text_search(found, world) {
        return Some(values);
    }
    let (listing, picked) = lister(found)?;
    let arguments = listing.argv.get(1..).unwrap_or_default();
    let mut values = match base(listing) {
        "ls" => listed_by_ls(arguments, |_| Value::unknown(Unknown::Name)),
        _ => found_by(arguments, listing.cwd.as_deref(), world),
    };
    values.truncate(limits::VALUES);
    Some(some_of(values, picked)).filter(|_| !listing.elsewhere)
}

/// What the left side of a pipe lists, if it is known to list.
pub(super) fn produced(left: &[Invocation], walker: &mut Walker<'_>) -> Vec<Value> {
    walker.spend(left.iter().map(|invocation| invocation.argv.len()).sum());
    if let Some(values) = text_search(left, walker.world) {
        return values;
    }
    let Some((listing, picked)) = lister(left) else {
        return vec![Value::unknown(output_of(left, walker.world))];
    };
    let arguments = listing.argv.get(1..).unwrap_or_default();
    // Whoever hands on bare names mostly means the files that have them.
    let values = match base(listing) {
        "ls" => listed_by_ls(arguments, |start| below(start, Part::Pattern("*".to_owned()))),
        _ => found_by(arguments, listing.cwd.as_deref(), walker.world),
    };
    some_of(values, picked)
}

/// The output of a search in files, or of programs that pick lines of it, if it may name something of Snell's own.
fn text_search(found: &[Invocation], world: &World) -> Option<Vec<Value>> {
    for invocation in found.iter().rev().take(limits::STAGES) {
        let values = found_by_text(invocation, world).filter(|_| !invocation.elsewhere);
        if values.is_some() || !PICKERS.contains(&base(invocation)) {
            return values;
        }
    }
    None
}

/// Which of these programs lists files, and whether some of those are picked behind it.
fn lister(found: &[Invocation]) -> Option<(&Invocation, bool)> {
    let mut picked = false;
    for invocation in found.iter().rev().take(limits::STAGES) {
        match base(invocation) {
            "find" | "gfind" | "ls" | "gls" => return Some((invocation, picked)),
            name if PICKERS.contains(&name) && reads_only(invocation.argv.get(1..).unwrap_or_default()) => {
                picked = true
            }
            _ => return None,
        }
    }
    None
}

fn base(invocation: &Invocation) -> &str {
    let name = invocation.argv.first().and_then(Value::as_text).unwrap_or_default();
    match name.rsplit('/').next().unwrap_or(name) {
        "gls" => "ls",
        base => base,
    }
}

/// What `ls` prints: what it is told, with `-d` and for patterns, which mostly stand for files; else the names in a
/// directory.
fn listed_by_ls(arguments: &[Value], names_in: impl Fn(&Value) -> Value) -> Vec<Value> {
    let is_flag = |value: &&Value| value.leading().starts_with('-');
    let itself = arguments.iter().filter(is_flag).any(|flag| {
        !flag.leading().starts_with("--") && flag.leading().contains('d') || flag.leading() == "--directory"
    });
    let is_pattern = |value: &Value| value.parts.iter().any(|part| matches!(part, Part::Pattern(_)));
    let operands = arguments.iter().filter(|value| !is_flag(value));
    let mut all: Vec<Value> = operands
        .map(|start| {
            if itself || is_pattern(start) {
                start.clone()
            } else {
                names_in(start)
            }
        })
        .collect();
    if all.is_empty() {
        all.push(Value {
            parts: vec![Part::Pattern("*".to_owned())],
        });
    }
    all
}

/// Whether it reads standard input only.
fn reads_only(arguments: &[Value]) -> bool {
    let operands = arguments
        .iter()
        .filter(|value| !value.leading().starts_with('-'))
        .count();
    operands <= 2
}

/// Some of what is listed rather than all.
fn some_of(values: Vec<Value>, picked: bool) -> Vec<Value> {
    if !picked {
        return values;
    }
    let some = |value: Value| {
        let parts = value.parts.into_iter().map(|part| match part {
            Part::Pattern(text) if text == "*" => Part::Unknown(Unknown::Name),
            part => part,
        });
        Value { parts: parts.collect() }
    };
    values.into_iter().map(some).collect()
}

pub(super) fn below(start: &Value, part: Part) -> Value {
    let mut value = start.clone();
    if !value.leading().ends_with('/') || value.parts.len() > 1 {
        value.push_text("/");
    }
    value.push(part);
    value
}

/// The arguments of `find`: its starting points, and the tests that pick files.
#[derive(Default)]
pub(crate) struct FindTests {
    pub(crate) starts: Vec<Value>,
    /// Patterns of names.
    pub(crate) names: Vec<Value>,
    /// Patterns of whole paths.
    pub(crate) paths: Vec<Value>,
    /// Whether it picks something out by more than names.
    pub(crate) picks: bool,
}

impl FindTests {
    pub(crate) fn read(arguments: &[Value]) -> Self {
        let is_start = |value: &&Value| {
            let text = value.leading();
            !text.starts_with(['-', '(', '!']) || matches!(text, "-H" | "-L" | "-P")
        };
        let starts = arguments
            .iter()
            .take_while(is_start)
            .filter(|value| !value.leading().starts_with('-'));
        let mut tests = Self {
            starts: starts.cloned().collect(),
            ..Self::default()
        };
        if tests.starts.is_empty() {
            tests.starts.push(Value::text("."));
        }
        let expression = arguments.iter().skip_while(is_start);
        let expression: Vec<&Value> = expression
            .take_while(|value| !value.leading().starts_with("-exec"))
            .collect();
        let mut before = "";
        for (at, word) in expression.iter().enumerate() {
            let text = word.as_text().unwrap_or_default();
            if matches!(std::mem::replace(&mut before, text), "!" | "-not") {
                continue;
            }
            let pattern = || expression.get(at + 1).map(|pattern| (*pattern).clone());
            match text {
                "-name" | "-iname" => tests.names.extend(pattern()),
                "-path" | "-ipath" | "-wholename" | "-iwholename" => tests.paths.extend(pattern()),
                _ => {}
            }
            tests.picks |= find::picks_beside_names(text);
        }
        tests
    }
}

/// What `find` finds: below each start, what its expression picks; first of all what may be Snell's own.
pub(super) fn found_by(arguments: &[Value], cwd: Option<&str>, world: &World) -> Vec<Value> {
    let tests = FindTests::read(arguments);
    let mut values = own_found_by(&tests, cwd, world);
    let FindTests {
        starts, names, picks, ..
    } = tests;
    for start in &starts {
        // One more than are followed is enough to know that there are too many.
        if values.len() > MOST + MAX_OWN {
            break;
        }
        if names.is_empty() {
            let part = if start.leading().trim_end_matches('/') == "/proc" {
                Part::Unknown(Unknown::Processes)
            } else if picks {
                Part::Unknown(Unknown::Name)
            } else {
                Part::Pattern("*".to_owned())
            };
            values.push(below(start, part));
        }
        for name in names.iter().take(MOST + 1) {
            let mut value = start.clone();
            if !value.to_string().ends_with('/') {
                value.push_text("/");
            }
            for part in &name.parts {
                match part {
                    Part::Text(text) => crate::shell::push_globs(&mut value, text),
                    part => value.push(part.clone()),
                }
            }
            values.push(value);
        }
    }
    values
}
