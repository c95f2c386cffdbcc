//! Every fault has a file that is named after it, and a message that says where it is and what to write instead.

mod documents;
mod hooks;
mod settings;

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use snell_test_support::files::find_repository_root;

use crate::support::CliSandbox;

/// A file with its contract, the number of hooks that are loaded anyway, and the diagnostics.
type ConfigFaultRow = (&'static str, usize, &'static [&'static str]);

fn iter_faults() -> impl Iterator<Item = &'static ConfigFaultRow> {
    let tables = [documents::FAULTS, hooks::FAULTS, settings::FAULTS];
    tables.into_iter().flatten()
}

fn locate_fixtures() -> PathBuf {
    find_repository_root().join("fixtures/invalid")
}

#[test]
fn every_fault_is_found_where_it_is_and_its_neighbours_are_loaded() {
    for (written, hooks, findings) in iter_faults() {
        let (_, fixture) = written.split_once(':').unwrap();
        let text = fs::read_to_string(locate_fixtures().join(fixture)).unwrap();
        let sandbox = CliSandbox::new().file(fixture, &text);
        let ran = sandbox.run_snell(&["lint", "--config", written], "");
        let lines = ran.lint_lines();
        let (summary, found) = lines.split_last().unwrap();
        let expected: Vec<_> = findings.iter().map(|finding| format!("{fixture}:{finding}")).collect();
        assert_eq!(found, expected, "{written}");
        let plural = if *hooks == 1 { "" } else { "s" };
        assert!(summary.ends_with(&format!("({hooks} hook{plural} loaded).")), "{written}: {summary}");
        let erroneous = findings.iter().any(|finding| finding.contains(": error: "));
        assert_eq!(ran.code, i32::from(erroneous), "{written}");
        assert_eq!(ran.stderr, "", "{written}");
    }
}

#[test]
fn every_file_of_a_fault_stands_in_the_table() {
    let files: BTreeSet<_> = fs::read_dir(locate_fixtures())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let rows = iter_faults().map(|(written, _, _)| written.split_once(':').unwrap().1.to_owned());
    assert_eq!(files, rows.collect::<BTreeSet<_>>());
}

#[test]
fn the_findings_are_the_warnings_of_a_run() {
    for (written, _, findings) in iter_faults() {
        let (_, fixture) = written.split_once(':').unwrap();
        let text = fs::read_to_string(locate_fixtures().join(fixture)).unwrap();
        let sandbox = CliSandbox::new().file(fixture, &text);
        // An event that none of the files has a hook for: nothing is run, and the files are still talked about.
        let ran = sandbox.run_snell(&["run", "PostCompact", "--config", written], "{}");
        let expected: Vec<_> = findings.iter().map(|finding| format!("{fixture}:{finding}")).collect();
        assert_eq!((ran.code, ran.warnings()), (0, expected), "{written}");
    }
}

#[test]
fn a_misspelled_tool_is_reported() {
    let hook = |tool: &str| format!("[[hook]]\nevent = 'PreToolUse'\ntool = '{tool}'\nrun = 'true'\n");
    let entry = |tool: &str| format!("[[guard.ask]]\ntool = '{tool}'\nhost = '*.example.com'\n");
    for (tool, near) in [
        ("shel", Some("shell")),
        ("Edit|Wriet", Some("Write")),
        ("shell", None),
        ("run_shell_command", None),
        ("mcp__memory__read", None),
        ("Bash.*", None),
        ("my_own_deployment_tool", None),
    ] {
        for (text, position) in [(hook(tool), "1:1"), (entry(tool), "2:8")] {
            let ran = CliSandbox::new().home_file(".config/snell/snell.toml", &text).run_snell(&["lint"], "");
            assert_eq!(ran.code, 0, "{text}{ran:?}");
            let wrong = tool.rsplit('|').next().unwrap_or_default();
            let expected = match near {
                Some(near) => format!(
                    "~/.config/snell/snell.toml:{position}: warning: no agent has a tool \"{wrong}\"\n  hint: did you mean \"{near}\"?\n"
                ),
                None => "No problems in 1 file (".to_owned(),
            };
            assert!(ran.stdout.starts_with(&expected), "{text}{}", ran.stdout);
        }
    }
}

#[test]
fn a_token_that_cannot_be_used_is_reported() {
    let settings = "[server]\nurl = 'https://box.example'\ntoken_file = 'token'\n";
    let sandbox = || CliSandbox::new().home_file(".config/snell/snell.toml", settings);
    let lint = |sandbox: CliSandbox| sandbox.run_snell(&["lint"], "");
    let kept = lint(sandbox().secret_home_file("token", "mine"));
    assert_eq!((kept.code, kept.stdout.as_str()), (0, "No problems in 1 file (0 hooks).\n"));
    for (case, sandbox, why) in [
        (
            "open",
            sandbox().open_home_file("token", "mine"),
            "has mode 644, so other users can read it\n  hint: run `chmod 600 ",
        ),
        ("gone", sandbox(), "cannot read the token file "),
        ("two words", sandbox().secret_home_file("token", "not mine"), "must contain one word "),
    ] {
        let ran = lint(sandbox);
        let found = "~/.config/snell/snell.toml:3:14: warning: cannot use the token: ";
        assert!(ran.stdout.starts_with(found) && ran.stdout.contains(why), "{case}: {}", ran.stdout);
        assert!(!ran.stdout.contains("mine"), "{case}: {}", ran.stdout);
        assert!(ran.stdout.ends_with("0 errors, 1 warning in 1 file (0 hooks loaded).\n"), "{case}: {}", ran.stdout);
        assert_eq!(ran.code, 0, "{case}");
    }
}
