//! From a text to the programs that would run.

mod bash_comparison;
mod expansion;
mod flow;
mod limits;
mod script_generator;
mod wrappers;

use snell_guard::interpret::{ShellAnalysis, interpret_script};
use snell_guard::invocation::{Invocation, SymbolicPart, SymbolicText};
use snell_guard::{JudgeContext, SelfFile, SelfPath};

/// The context of all cases.
pub(crate) fn build_shell_context() -> JudgeContext {
    JudgeContext {
        cwd: "/home/ann/work/app".into(),
        home: "/home/ann".into(),
        user: "ann".into(),
        project: "/home/ann/work/app".into(),
        temp: vec!["/tmp".into(), "/var/tmp".into()],
        self_paths: vec![SelfPath::new("/home/ann/.snell", SelfFile::Data)],
        links: Vec::new(),
        current_push: None,
        ignores_case: false,
        agent_pid: None,
        variables: Vec::new(),
    }
}

pub(crate) fn find_invocations(text: &str) -> ShellAnalysis {
    interpret_script(text, &build_shell_context())
}

/// A value as the tables write it: unknown parts are `‹?›`, values with blanks are quoted.
pub(crate) fn render_value(value: &SymbolicText) -> String {
    let text: String = value
        .parts
        .iter()
        .map(|part| match part {
            SymbolicPart::Text(text) | SymbolicPart::Pattern(text) => text.as_str(),
            SymbolicPart::Unknown(_) => "‹?›",
        })
        .collect();
    if text.is_empty() || text.contains([' ', '\n', '\t']) {
        return format!("'{}'", text.replace('\n', "\\n").replace('\t', "\\t"));
    }
    text
}

pub(crate) fn render_invocation(invocation: &Invocation) -> String {
    let words: Vec<String> = invocation.argv.iter().map(render_value).collect();
    words.join(" ")
}

/// Texts, and the programs that each runs, separated by ` ; `.
pub(crate) fn check_invocations(table: &[(&str, &str)]) {
    let mut faults = Vec::new();
    for (text, expected) in table {
        let found = find_invocations(text);
        let lines: Vec<String> = found.invocations.iter().map(render_invocation).collect();
        let lines = lines.join(" ; ");
        if lines != *expected {
            faults.push(format!("{text}\n  expected {expected}\n  found    {lines}"));
        }
    }
    assert!(faults.is_empty(), "{} differ:\n{}", faults.len(), faults.join("\n"));
}

/// Texts, and whether their analysis is complete.
pub(crate) fn check_coverage(table: &[(&str, bool)]) {
    for (text, full) in table {
        let coverage = find_invocations(text).coverage;
        assert_eq!(coverage.is_full(), *full, "{text}: {coverage:?}");
    }
}
