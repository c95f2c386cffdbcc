//! A text to the programs that would run.

mod bash;
mod expansion;
mod flow;
mod limits;
mod maker;
mod unwrap;

use snell_guard::invocation::{Invocation, Part, Value};
use snell_guard::shell::{Coverage, Found, invocations};
use snell_guard::{Own, Owned, World};

/// The world of all cases.
pub(crate) fn world() -> World {
    World {
        cwd: "/home/ann/work/app".into(),
        home: "/home/ann".into(),
        user: "ann".into(),
        project: "/home/ann/work/app".into(),
        temp: vec!["/tmp".into(), "/var/tmp".into()],
        own: vec![Own::new("/home/ann/.snell", Owned::Data)],
        links: Vec::new(),
        ignores_case: false,
        agent_pid: None,
        variables: Vec::new(),
    }
}

pub(crate) fn found(text: &str) -> Found {
    invocations(text, &world())
}

/// A value as it is written in the tables: what is unknown is `‹?›`, what holds blanks stands in quotes.
pub(crate) fn shown(value: &Value) -> String {
    let text: String = value
        .parts
        .iter()
        .map(|part| match part {
            Part::Text(text) | Part::Pattern(text) => text.as_str(),
            Part::Unknown(_) => "‹?›",
        })
        .collect();
    if text.is_empty() || text.contains([' ', '\n', '\t']) {
        return format!("'{}'", text.replace('\n', "\\n").replace('\t', "\\t"));
    }
    text
}

pub(crate) fn line(invocation: &Invocation) -> String {
    let words: Vec<String> = invocation.argv.iter().map(shown).collect();
    words.join(" ")
}

/// Texts, and the programs that each leads to, divided by ` ; `.
pub(crate) fn check(table: &[(&str, &str)]) {
    let mut faults = Vec::new();
    for (text, expected) in table {
        let found = found(text);
        let lines: Vec<String> = found.invocations.iter().map(line).collect();
        let lines = lines.join(" ; ");
        if lines != *expected {
            faults.push(format!("{text}\n  expected {expected}\n  found    {lines}"));
        }
    }
    assert!(faults.is_empty(), "{} differ:\n{}", faults.len(), faults.join("\n"));
}

/// Texts of which everything that runs is known, or not.
pub(crate) fn check_coverage(table: &[(&str, bool)]) {
    for (text, full) in table {
        let coverage = found(text).coverage;
        assert_eq!(coverage == Coverage::Full, *full, "{text}: {coverage:?}");
    }
}
