//! The small agents of "Getting started" that call `snell run`: each is run as it stands on the page.

use std::fs;

use super::super::root;
use super::blocks;
use super::scenes::{Need, first_hook_project};
use crate::support::{Sandbox, skipped};

fn page() -> String {
    fs::read_to_string(root().join("docs/getting-started.md")).unwrap()
}

/// Runs a program in the project of the first hook, and answers what it printed.
fn printed(sandbox: &Sandbox, program: &str, args: &[&str]) -> String {
    let output = sandbox.program(program).args(args).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_agent_in_python_prints_what_the_page_says() {
    if let Some(missing) = Need::Program("python3").missing() {
        return skipped(&missing);
    }
    let [program] = &blocks(&page(), "python")[..] else {
        panic!("there is one program in Python");
    };
    let sandbox = first_hook_project().file("agent.py", program);
    let texts = blocks(&page(), "text");
    let expected = texts.iter().find(|text| text.starts_with("running")).unwrap();
    assert_eq!(printed(&sandbox, "python3", &["agent.py"]), *expected);
}

#[test]
fn the_agent_in_shell_goes_on_or_says_why_not() {
    if let Some(missing) = Need::Program("jq").missing() {
        return skipped(&missing);
    }
    let scripts = blocks(&page(), "sh");
    let script = scripts
        .iter()
        .find(|script| script.contains("May this command run?"))
        .unwrap();
    let sandbox = first_hook_project().file("may-run.sh", script);
    for (command, answer) in [
        ("ls", "go on\n"),
        ("rm -rf build", "blocked: rm -rf is not allowed here\n"),
    ] {
        assert_eq!(printed(&sandbox, "/bin/sh", &["may-run.sh", command]), answer);
    }
}
