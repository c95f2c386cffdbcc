//! The small agents of "Build an agent" that call `snell run`: each is run as it stands on the page.

use std::fs;

use snell_test_support::files::find_repository_root;
use snell_test_support::skip::report_skipped;

use super::list_code_blocks;
use super::scenes::{SceneRequirement, create_first_hook_project};
use crate::support::CliSandbox;

fn read_guide() -> String {
    fs::read_to_string(find_repository_root().join("docs/guide/build-an-agent.md")).unwrap()
}

/// Runs a program in the project of the first hook, and answers what it printed.
fn run_and_capture(sandbox: &CliSandbox, program: &str, args: &[&str]) -> String {
    let output = sandbox.program(program).args(args).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_agent_in_python_prints_what_the_page_says() {
    if let Some(missing) = SceneRequirement::Program("python3").describe_missing() {
        return report_skipped(&missing);
    }
    let [program] = &list_code_blocks(&read_guide(), "python")[..] else {
        panic!("there is one program in Python");
    };
    let sandbox = create_first_hook_project().file("agent.py", program);
    let texts = list_code_blocks(&read_guide(), "text");
    let expected = texts.iter().find(|text| text.starts_with("running")).unwrap();
    assert_eq!(run_and_capture(&sandbox, "python3", &["agent.py"]), *expected);
}

#[test]
fn the_agent_in_shell_goes_on_or_says_why_not() {
    if let Some(missing) = SceneRequirement::Program("jq").describe_missing() {
        return report_skipped(&missing);
    }
    let scripts = list_code_blocks(&read_guide(), "sh");
    let script = scripts.iter().find(|script| script.contains("May this command run?")).unwrap();
    let sandbox = create_first_hook_project().file("may-run.sh", script);
    for (command, answer) in [("ls", "go on\n"), ("rm -rf build", "blocked: rm -rf is not allowed here\n")] {
        assert_eq!(run_and_capture(&sandbox, "/bin/sh", &["may-run.sh", command]), answer);
    }
}
