//! Behaviour that all commands share at a terminal: local times, the pager, narrow screens, the spinner.

use std::net::TcpListener;

use serde_json::json;
use snell_test_support::files::parse_json_lines;
use snell_test_support::process::spawn_with_stdin;
use snell_test_support::skip::require_util_linux_script;

use crate::support::CliSandbox;

/// Five hours behind UTC in winter, without a database of time zones.
const NEW_YORK: &str = "EST5EDT,M3.2.0,M11.1.0";

/// A session with so many prompts, at noon UTC.
fn record_prompts(prompts: usize) -> CliSandbox {
    let sandbox = CliSandbox::with_frozen_clock();
    for number in 0..prompts {
        let time = format!("03:{:02}:{:02}", number / 60, number % 60);
        sandbox.send_hook_event(&time, "UserPromptSubmit", json!({"prompt": format!("prompt {number}")}));
    }
    sandbox
}

#[test]
fn people_read_local_times_and_programs_read_utc() {
    let sandbox = record_prompts(1).env("TZ", NEW_YORK);
    // The arguments, and the time in the output.
    let cases: &[(&[&str], &str)] = &[
        (&["log"], "2026-02-28 22:00:00  "),
        (&["log", "--utc"], "03:00:00  "),
        (&["--utc", "log"], "03:00:00  "),
        (&["status"], "from 2026-02-28 22:00:00 -05:00 to "),
        (&["status", "--utc"], "from 2026-03-01 03:00:00 UTC to "),
        (&["session", "show", "session-one"], "2026-02-28 22:00:00 -05:00 ("),
        (&["session", "show", "session-one", "--utc"], "2026-03-01 03:00:00 UTC ("),
        (&["log", "--json"], "\"at\":\"2026-03-01T03:00:00Z\""),
        (&["log", "--prune", "--keep", "1d", "--dry-run"], "(before 2026-02-28 07:00:00 -05:00)"),
    ];
    for (args, expected) in cases {
        let ran = sandbox.run_snell(args, "");
        assert!(ran.stdout.contains(expected), "{args:?}: {ran:?}");
    }
}

#[test]
fn times_without_a_zone_are_local() {
    let sandbox = record_prompts(1).env("TZ", NEW_YORK);
    let cases: &[(&[&str], usize)] = &[
        (&["--since", "2026-02-28T22:00"], 1),
        (&["--since", "2026-02-28T22:01"], 0),
        (&["--since", "2026-02-28T22:01", "--utc"], 1),
        (&["--since", "2026-03-01"], 0),
        (&["--since", "2026-03-01", "--utc"], 1),
        (&["--since", "2026-03-01T03:00:00Z"], 1),
    ];
    for (args, expected) in cases {
        let ran = sandbox.run_snell(&[&["log", "--json"], *args].concat(), "");
        assert_eq!(parse_json_lines(&ran.stdout).len(), *expected, "{args:?}: {ran:?}");
    }
}

/// What a terminal of 80 columns and 24 lines shows, with these variables; nothing if there is no way to get one here.
fn show_in_terminal(sandbox: &CliSandbox, args: &str, variables: &[(&str, &str)]) -> Option<String> {
    require_util_linux_script()?;
    let line = format!("exec script --quiet --return --command \"stty cols 80 rows 24; exec $0 {args}\" /dev/null");
    let mut command = sandbox.shell(&line, &[]);
    command.env("TERM", "xterm").env("NO_COLOR", "1").envs(variables.iter().copied());
    let output = spawn_with_stdin(&mut command, "").wait_with_output().unwrap();
    Some(String::from_utf8(output.stdout).unwrap().replace('\r', ""))
}

#[test]
fn only_long_text_at_a_terminal_is_shown_in_the_pager() {
    let sandbox = record_prompts(30);
    let paging = [("SNELL_PAGER", "sed s/^/paged:/"), ("PAGER", "sed s/^/wrong:/")];
    // The arguments, the variables, and whether the pager is used.
    type PagerVariables<'a> = &'a [(&'a str, &'a str)];
    let cases: &[(&str, PagerVariables<'_>, bool)] = &[
        ("log", &paging, true),
        ("log --limit 3", &paging, false),
        ("log --json", &paging, false),
        ("log --no-pager", &paging, false),
        ("--no-pager log", &paging, false),
        ("log", &[("SNELL_PAGER", ""), ("PAGER", "sed s/^/wrong:/")], false),
        ("log", &[("PAGER", "sed s/^/paged:/")], true),
        ("log", &[("PAGER", "no-such-pager-anywhere")], false),
        ("log", &[("PAGER", "sed s/^/paged:/"), ("TERM", "dumb")], false),
        ("guard rules", &paging, true),
        ("list --agents", &paging, true),
    ];
    for (args, variables, is_paged) in cases {
        let Some(shown) = show_in_terminal(&sandbox, args, variables) else {
            return;
        };
        assert_eq!(shown.contains("paged:"), *is_paged, "{args} {variables:?}: {shown}");
        assert!(!shown.contains("wrong:"), "{args} {variables:?}: {shown}");
        if args.contains("log") {
            assert!(shown.contains("prompt 29"), "{args} {variables:?}: {shown}");
        }
    }
}

#[test]
fn a_pager_that_is_closed_early_ends_the_command_quietly() {
    let sandbox = record_prompts(30);
    let Some(shown) = show_in_terminal(&sandbox, "log", &[("PAGER", "head -n 1 >&2")]) else {
        return;
    };
    assert_eq!(shown.lines().count(), 1, "{shown}");
}

/// The note about older events belongs below the events.
#[test]
fn messages_keep_their_place_in_paged_output() {
    let sandbox = record_prompts(30);
    let Some(shown) = show_in_terminal(&sandbox, "log --limit 25", &[("PAGER", "cat")]) else {
        return;
    };
    let lines: Vec<_> = shown.lines().collect();
    assert_eq!(lines.len(), 27, "{shown}");
    assert_eq!(lines[25], "note: there are older events", "{shown}");
}

#[test]
fn a_narrow_terminal_shows_the_important_columns_and_no_line_that_is_too_wide() {
    let sandbox = record_prompts(1).file(
        "snell.toml",
        "[[hook]]\nevent = 'PreToolUse'\ntool = 'Bash'\nrun = './scripts/a-check-with-a-long-name --strict'\n",
    );
    // The arguments, and the columns that stay.
    let cases: &[(&str, &[&str])] = &[
        ("agents", &["AGENT", "STATE", "LAST WORDS"]),
        ("session list", &["SESSION", "STATE", "STATUS"]),
        ("list", &["EVENT", "COMMAND"]),
        ("list --agents", &["AGENT", "BLOCK", "REASON"]),
        ("guard rules", &["RULE", "DECISION", "REASON"]),
    ];
    let call = json!({"tool_name": "Bash", "tool_input": {"command": "rm -rf / --no-preserve-root"}});
    sandbox.send_hook_event("04:00:00", "PreToolUse", call);
    for columns in [40, 60, 80, 120] {
        let Some(shown) = sandbox.run_in_terminal(columns, "guard replay --all") else {
            return;
        };
        let replayed = shown.lines().next().unwrap();
        assert!(replayed.contains("deny -> deny") && replayed.contains("files.delete-root"), "{columns}: {shown}");
        assert!(replayed.chars().count() <= columns, "{columns}: {shown}");
        for (args, titles) in cases {
            let Some(shown) = sandbox.run_in_terminal(columns, args) else {
                return;
            };
            let table = shown.lines().take_while(|line| !line.is_empty() && !line.starts_with("warning:"));
            for line in table.clone() {
                assert!(line.chars().count() <= columns, "{columns} {args}: {line}");
            }
            let head = table.clone().find(|line| line.contains(titles[0])).unwrap();
            assert!(titles.iter().all(|title| head.contains(title)), "{columns} {args}: {shown}");
        }
    }
}

#[test]
fn a_long_operation_shows_a_spinner_that_disappears() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let settings = format!("[server]\nurl = 'http://{}'\n", silent.local_addr().unwrap());
    let sandbox = CliSandbox::new().home_file(".config/snell/snell.toml", &settings);
    let Some(shown) = show_in_terminal(&sandbox, "doctor", &[]) else {
        return;
    };
    assert!(shown.contains("⠋ checking: receiver …"), "{shown}");
    let (_, rest) = shown.rsplit_once(" …").unwrap();
    assert!(rest.starts_with("\u{1b}[K"), "{rest}");
    let piped = sandbox.run_snell(&["doctor"], "");
    assert!(!piped.stderr.contains('⠋') && !piped.stdout.contains('⠋'), "{piped:?}");
}
