//! `snell guard test`: the cases beside entries.

use crate::support::CliSandbox;

const PASSING: &str = r#"
[[guard.deny]]
command = "git push --force **"
match = ["git push origin main --force", "sh -c 'git push --force'"]
not_match = ["git push origin main", "git push --force-with-lease"]

[[guard.ask]]
tool = "Edit|Write"
path = "infra/**"
match = ['Write {"file_path": "infra/a", "content": ""}']
not_match = ['Write {"file_path": "src/a", "content": ""}', 'Read {"file_path": "infra/a"}', "touch infra/a"]

[[guard.allow]]
command = "docker compose down **"
reason = "mine"
agent = "codex"
match = ["docker compose down -v"]
not_match = ["docker volume rm x"]

[[guard.deny]]
host = "*.example.com"
match = ["curl https://a.example.com", 'WebFetch {"url": "https://b.example.com"}']
not_match = ["curl https://example.com.org"]
"#;

#[test]
fn the_cases_of_all_entries_run() {
    let sandbox = CliSandbox::new().file("snell.toml", PASSING);
    let ran = sandbox.run_snell(&["guard", "test"], "");
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "13 cases of 4 entries: all pass.\n"), "{ran:?}");
    let ran = sandbox.run_snell(&["guard", "test", "snell.toml", "--json"], "");
    let told = ran.json();
    assert_eq!((ran.code, told["cases"].as_u64(), told["entries"].as_u64()), (0, Some(13), Some(4)), "{told}");
}

#[test]
fn a_case_that_fails_is_named_with_its_position() {
    let text = "[[guard.deny]]\ncommand = \"git push **\"\nmatch = [\"git push\",\n  \"git pull\"]\nnot_match = [\"sudo git push x\"]\n";
    let sandbox = CliSandbox::new().file("rules.toml", text);
    let ran = sandbox.run_snell(&["guard", "test", "rules.toml"], "");
    assert_eq!(ran.code, 1, "{ran:?}");
    for expected in [
        "rules.toml:4:3: error: [[guard.deny]] in line 2 does not match \"git pull\"",
        "rules.toml:5:14: error: [[guard.deny]] in line 2 matches \"sudo git push x\"",
        "3 cases of 1 entry: 2 failures.",
    ] {
        assert!(ran.stdout.contains(expected), "{expected}\n{}", ran.stdout);
    }
    let told = sandbox.run_snell(&["guard", "test", "rules.toml", "--json"], "").json();
    assert_eq!(told["failures"][0]["line"], 4, "{told}");
}

#[test]
fn faults_of_the_settings_are_counted_apart_from_cases() {
    let deny = "[[guard.deny]]\ncommand = \"git push **\"\n";
    let faults = "[[guard.deny]]\ncomand = 'x'\n[[guard.ask]]\nuntil = 'never'\ncommand = 'y'\n";
    for (cases, faults, expected) in [
        ("match = ['git push', 'git pull']\n", "", "2 cases of 1 entry: 1 failure.\n"),
        ("match = ['git push', 'git pull']\n", faults, "2 cases of 1 entry: 1 failure. 2 errors in the settings.\n"),
        ("match = ['git push']\n", faults, "1 case of 1 entry: all pass. 2 errors in the settings.\n"),
        ("match = ['git push', 3]\n", "", "1 case of 1 entry: all pass. 1 error in the settings.\n"),
    ] {
        let sandbox = CliSandbox::new().file("rules.toml", &[deny, cases, faults].concat());
        let ran = sandbox.run_snell(&["guard", "test", "rules.toml"], "");
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(ran.stdout.ends_with(&format!("\n{expected}")), "{expected}\n{}", ran.stdout);
    }
}

#[test]
fn a_file_that_cannot_be_tested_is_an_error() {
    let sandbox = CliSandbox::new().file("bad.toml", "[[guard.deny]]\ncommand = 'x'\nmatch = [3]\n");
    let ran = sandbox.run_snell(&["guard", "test", "none.toml"], "");
    assert_eq!((ran.code, ran.stderr.as_str()), (1, "error: none.toml is not a file\n"), "{ran:?}");
    let ran = sandbox.run_snell(&["guard", "test", "bad.toml"], "");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stdout.contains("bad.toml:3:10: error: \"match\" must be a string"), "{ran:?}");
    let ran = CliSandbox::new().run_snell(&["guard", "test"], "");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stdout.starts_with("No cases in 0 entries."), "{ran:?}");
}
