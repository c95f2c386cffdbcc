//! `snell guard check` and one call.

use serde_json::json;

use crate::support::CliSandbox;

#[test]
fn a_denied_command_is_shown_with_its_place_the_reason_and_what_to_do_instead() {
    let ran = CliSandbox::new().run_snell(&["guard", "check", "cd / && rm -rf etc; echo 'rm -rf /'"], "");
    assert_eq!((ran.code, ran.stderr.as_str()), (2, ""));
    insta::assert_snapshot!(ran.stdout, @"
    deny  files.delete-system (catastrophic)
      cd / && rm -rf etc; echo 'rm -rf /'
              ^^^^^^^^^^
    Why       rm would delete /etc, which belongs to the system.
    Instead   Delete only inside the project or in a temporary directory, for example `rm -rf build`.
    ");
}

#[test]
fn the_exit_code_tells_what_snell_run_would() {
    let cases = [
        ("ls -l", 0, "allow"),
        ("rm -rf /", 2, "deny"),
        ("history -c", 0, "ask"),
        ("git commit -m 'sudo rm -rf /'", 0, "allow"),
    ];
    let sandbox = CliSandbox::new();
    for (command, code, decision) in cases {
        let ran = sandbox.run_snell(&["guard", "check", command], "");
        assert_eq!(ran.code, code, "{command}: {ran:?}");
        assert!(ran.stdout.starts_with(decision), "{command}: {}", ran.stdout);
        let ran = sandbox.run_snell(&["guard", "check", command, "--json"], "");
        assert_eq!((ran.code, ran.decision().as_str()), (code, decision), "{command}");
    }
}

#[test]
fn a_program_hears_of_every_field_whether_it_says_something_or_not() {
    let sandbox = CliSandbox::new();
    let json = |command: &str| sandbox.run_snell(&["guard", "check", "--json", command], "").stdout;
    assert_eq!(
        json("ls"),
        "{\"decision\":\"allow\",\"rule\":null,\"tier\":null,\"reason\":null,\"advice\":null,\"coverage\":\"full\"}\n"
    );
    let denied: serde_json::Value = serde_json::from_str(&json("eval \"$X\"; rm -rf /")).unwrap();
    assert_eq!(denied["rule"], "files.delete-root");
    assert_eq!(denied["tier"], "catastrophic");
    assert_eq!(denied["coverage"], "partial");
    for field in ["reason", "advice"] {
        assert!(denied[field].as_str().is_some_and(|text| text.ends_with('.')), "{denied}");
    }
}

#[test]
fn other_tools_are_judged_by_their_input() {
    let sandbox = CliSandbox::new();
    let check = |tool: &str, input: &str| sandbox.run_snell(&["guard", "check", "--tool", tool, "--input", input], "");
    let ran = check("Write", r#"{"file_path": "/etc/passwd", "content": "x"}"#);
    assert_eq!(ran.code, 2);
    assert!(ran.stdout.contains("\n  Write /etc/passwd\n"), "{}", ran.stdout);
    assert_eq!(check("Write", r#"{"file_path": "src/main.rs", "content": "x"}"#).code, 0);
    assert_eq!(check("TodoWrite", "null").code, 0);
    let ran = check("Bash", "{");
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.starts_with("error: --input is not JSON: EOF"), "{}", ran.stderr);
}

#[test]
fn where_a_command_would_run_decides_what_it_would_do() {
    let sandbox = CliSandbox::new();
    let decision = |args: &[&str]| {
        let ran = sandbox.run_snell(&[&["guard", "check", "--json"], args].concat(), "");
        ran.decision()
    };
    let rows: &[(&[&str], &str)] = &[
        (&["rm -rf build"], "allow"),
        (&["rm -rf ../home"], "deny"),
        (&["rm -rf etc", "--cwd", "/home/nobody/../.."], "deny"),
        (&["rm -rf build", "--cwd", "/srv/app", "--project", "/srv/app"], "allow"),
        (&["rm -rf build", "--cwd", "/srv/app/", "--project", "/srv/x/../app"], "allow"),
        (&["rm -rf build", "--cwd", "/srv/app", "--project", "/srv/other"], "deny"),
        (&["rm -rf ../app", "--cwd", "/srv/app", "--project", "/srv/app"], "deny"),
        // A system directory is never a project.
        (&["rm -rf lib", "--cwd", "/usr"], "deny"),
        (&["rm -rf dpkg", "--cwd", "/var/lib"], "deny"),
        (&["rm -rf ssl", "--cwd", "/etc", "--project", "/etc"], "deny"),
        (&["rm -rf Documents", "--cwd", "/home/bob"], "ask"),
        (&["rm notes.txt", "--cwd", "/home/bob"], "allow"),
        (&["echo hello > notes.txt", "--cwd", "/home/bob"], "allow"),
        (&["rm -rf /tmp/x", "--cwd", "/usr"], "allow"),
    ];
    for (args, expected) in rows {
        assert_eq!(decision(args), *expected, "{args:?}");
    }
    let ran = sandbox.run_snell(&["guard", "check", "ls", "--project", "/srv/app"], "");
    assert_eq!(ran.stderr, "warning: /srv/app is not a directory, so no project settings apply\n");
}

#[test]
fn a_preset_can_be_tried_out() {
    let sandbox = CliSandbox::new();
    let check =
        |preset: &str, command: &str| sandbox.run_snell(&["guard", "check", "--json", "--preset", preset, command], "");
    assert_eq!(check("standard", "$X build").decision(), "allow");
    assert_eq!(check("strict", "$X build").decision(), "ask");
    assert_eq!(check("strict", "history -c").decision(), "deny");
    let audited = check("audit", "rm -rf /");
    assert_eq!((audited.code, audited.decision().as_str()), (0, "allow"));
    assert_eq!(audited.json()["would"], "deny");
    assert_eq!(audited.json()["rule"], "files.delete-root");
    let ran = sandbox.run_snell(&["guard", "check", "--preset", "audit", "rm -rf /"], "");
    assert!(ran.stdout.contains("Audit     the audit preset does not enforce this decision: deny"), "{}", ran.stdout);
}

#[test]
fn nothing_in_a_command_steers_a_terminal() {
    let ran = CliSandbox::new().run_snell(&["guard", "check", "rm -rf / \u{1b}[2J\u{202e}\r"], "");
    assert_eq!(ran.code, 2);
    let steers = |c: char| c != '\n' && (c.is_control() || c == '\u{202e}');
    assert!(!ran.stdout.contains(steers), "{:?}", ran.stdout);
}

#[test]
fn invisible_characters_in_a_name_are_escaped() {
    let cases = [
        ("rm -rf $'/etc/E\\x1b[31mF'", "rm would delete /etc/E\\u{1b}[31mF, "),
        ("rm -rf $'/etc/a\\nb'", "rm would delete /etc/a\\nb, "),
        ("rm -rf /etc/EF", "rm would delete /etc/EF, "),
    ];
    for (command, expected) in cases {
        let ran = CliSandbox::new().run_snell(&["guard", "check", "--json", command], "");
        let reason = ran.json()["reason"].as_str().unwrap().to_owned();
        assert!(reason.starts_with(expected), "{command}: {reason}");
    }
}

#[test]
fn a_mistake_is_no_denial() {
    let sandbox = CliSandbox::new();
    let cases: &[&[&str]] = &[
        &["guard"],
        &["guard", "chekc"],
        &["guard", "check", "ls", "-l"],
        &["guard", "check", "ls", "--tool", "Bash", "--input", "{}"],
        &["guard", "check", "--tool", "Bash"],
        &["guard", "check", "--input", "{}"],
        &["guard", "check", "ls", "--preset", "lax"],
        &["guard", "check", "--tool", "Bash", "--input", "{\"command\": }"],
        &["guard", "rules", "--tier", "nonsense"],
        &["guard", "rules", "no-such-word"],
        &["guard", "replay", "--since", "yesterday"],
        &["guard", "replay", "--project", "/does/not/exist"],
        &["guard", "explain"],
        &["guard", "explain", "--tool", "Bash"],
    ];
    // Something must be recorded, so that the filters are checked.
    sandbox.send_hook_event("10:00:00", "SessionStart", json!({}));
    for args in cases {
        let ran = sandbox.run_snell(args, "");
        assert_eq!(ran.code, 1, "{args:?}: {ran:?}");
        assert!(!ran.stderr.is_empty(), "{args:?}");
        assert_eq!(ran.stdout, "", "{args:?}");
    }
}

#[test]
fn every_command_has_help_with_an_example() {
    for command in
        [&["guard"][..], &["guard", "check"], &["guard", "explain"], &["guard", "rules"], &["guard", "replay"]]
    {
        let ran = CliSandbox::new().run_snell(&[command, &["--help"]].concat(), "");
        assert_eq!(ran.code, 0, "{command:?}");
        assert!(ran.stdout.contains("Example"), "{command:?}: {}", ran.stdout);
    }
}
