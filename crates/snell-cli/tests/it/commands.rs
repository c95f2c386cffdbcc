//! What people and programs see of the commands: list, lint, explain, completions.

use std::process::Stdio;

use serde_json::json;

use crate::support::CliSandbox;

/// A project with a hook of every contract, one of them broken.
fn create_project() -> CliSandbox {
    CliSandbox::new()
        .file(
            "snell.toml",
            "[[hook]]\nevent = [\"PreToolUse\", \"Stop\"]\ntool = \"shell\"\nrun = \"./guard.sh\"\nwhen = \"test -f x\"\n",
        )
        .file(
            ".wave/settings.json",
            r#"{"hooks": {
  "PreToolUse": [{"matcher": "Edit|Write", "hooks": [{"type": "command", "command": "eslint --fix"}]}],
  "PreToolUze": [{"matcher": "*", "hooks": []}]
}}"#,
        )
        .file(
            ".microai/settings.json",
            r#"{"hooks": {"PreToolUse": [{"matcher": "Bash(git:*)", "command": "log-git.sh"}]}}"#,
        )
        .file(
            ".claude/settings.json",
            r#"{"hooks": {
  "PreToolUse": [
    {"matcher": "^mcp__.*", "hooks": [{"type": "command", "command": "check-mcp"}, {"type": "prompt", "prompt": "ok?"}]},
    {"matcher": "Bash", "hooks": [{"type": "command", "command": "judge", "if": "Bash(git push *)"}]}
  ],
  "Stop": ["done.sh"]
}}"#,
        )
        .script("done.sh", "true")
        .script("guard.sh", "true")
        .file(".whale/hooks.json", r#"[{"event": "BeforeTool", "pattern": "read_*", "command": "audit"}]"#)
}

#[test]
fn list_shows_every_hook_in_the_order_of_running() {
    let ran = create_project().run_snell(&["list"], "");
    assert_eq!(ran.code, 0);
    insta::assert_snapshot!(ran.stdout, @r#"
    EVENT            MATCHER      COMMAND                                                      CONTRACT   SOURCE
    PreToolUse,Stop  shell        ./guard.sh                                                   snell      snell.toml:1
    PreToolUse       Edit|Write   eslint --fix                                                 wave       .wave/settings.json:2
    PreToolUse       Bash(git:*)  log-git.sh                                                   microai    .microai/settings.json:1
    PreToolUse       ^mcp__.*     check-mcp                                                    claude     .claude/settings.json:3
    PreToolUse       ^mcp__.*     (off: hooks of type "prompt" are not supported) prompt: ok?  claude     .claude/settings.json:3
    PreToolUse       Bash         judge                                                        claude     .claude/settings.json:4
    Stop             -            done.sh                                                      claude-os  .claude/settings.json:6
    PreToolUse       read_*       audit                                                        whale      .whale/hooks.json:1
    "#);
    assert_eq!(
        ran.stderr,
        "warning: 1 error in the configuration\nhint: run `snell lint`\nwarning: snell.toml is not trusted, so it is ignored \
         inside agents and by `snell run --require-trust`\nhint: review the file, then run `snell trust`\n"
    );
}

#[test]
fn list_as_json_has_what_a_program_needs() {
    let ran = create_project().run_snell(&["list", "--json"], "");
    let hooks = ran.json();
    assert_eq!(hooks.as_array().unwrap().len(), 8);
    insta::assert_snapshot!(format!("{:#}", hooks[0]), @r#"
    {
      "events": [
        "PreToolUse",
        "Stop"
      ],
      "matcher": "shell",
      "condition": "test -f x",
      "command": "./guard.sh",
      "contract": "snell",
      "source": "snell.toml",
      "line": 1,
      "timeout_ms": 10000,
      "fail_closed": false,
      "modify": false,
      "background": false,
      "disabled": null,
      "trusted": false
    }
    "#);
    assert_eq!(hooks[4]["disabled"], "hooks of type \"prompt\" are not supported");
}

#[test]
fn list_says_so_when_there_is_nothing() {
    let ran = CliSandbox::new().run_snell(&["list"], "");
    assert_eq!(ran.code, 0);
    assert_eq!(ran.stdout, "No hooks here. To add some: snell docs write-hooks\n");
    assert_eq!(CliSandbox::new().run_snell(&["list", "--json"], "").json(), json!([]));
}

#[test]
fn lint_says_what_is_wrong_where_and_what_to_write() {
    let ran = create_project().run_snell(&["lint"], "");
    assert_eq!(ran.code, 1);
    insta::assert_snapshot!(ran.stdout, @r#"
    .wave/settings.json:3:3: error: unknown event "PreToolUze" (its hooks are ignored)
      hint: did you mean "PreToolUse"?
    .claude/settings.json:3:84: warning: hooks of type "prompt" are not supported because they need the agent's model (the hook never runs)
    1 error, 1 warning in 5 files (8 hooks loaded).
    "#);
}

#[test]
fn lint_on_a_clean_project_says_so() {
    let sandbox = CliSandbox::new().file("snell.toml", "[[hook]]\nevent = \"Stop\"\nrun = \"true\"\n");
    let ran = sandbox.run_snell(&["lint"], "");
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "No problems in 1 file (1 hook).\n"));
    let ran = CliSandbox::new().run_snell(&["lint"], "");
    assert_eq!(ran.code, 0);
    assert!(ran.stdout.starts_with("No hook files here."), "{}", ran.stdout);
}

#[test]
fn lint_as_json_counts_and_lists() {
    let ran = create_project().run_snell(&["lint", "--json"], "");
    assert_eq!(ran.code, 1);
    let json = ran.json();
    assert_eq!(json["errors"], 1);
    assert_eq!(json["files"], 5);
    assert_eq!(json["diagnostics"][0]["line"], 3);
}

#[test]
fn lint_warns_of_scripts_that_cannot_be_started() {
    let sandbox = CliSandbox::new()
        .file("plain.sh", "#!/bin/sh\n")
        .hooks(".claude/settings.json", &json!({"Stop": ["plain.sh", "gone.sh"]}));
    let ran = sandbox.run_snell(&["lint"], "");
    assert_eq!(ran.code, 0, "warnings are no errors");
    assert!(ran.stdout.contains("plain.sh is not executable\n  hint: run `chmod +x "), "{}", ran.stdout);
    assert!(ran.stdout.contains("gone.sh: No such file or directory"), "{}", ran.stdout);
}

#[test]
fn lint_points_at_the_command_that_cannot_be_started() {
    for (key, command) in [("run", "'./gone.sh'"), ("exec", "['./gone.sh']")] {
        let text = format!("[[hook]]\nevent = 'Stop'\n{key} = {command}\n");
        let ran = CliSandbox::new().file("snell.toml", &text).run_snell(&["lint"], "");
        let place = format!("snell.toml:3:{}: warning: ", key.len() + 4);
        assert!(ran.stdout.starts_with(&place) && ran.stdout.contains("gone.sh: No such file"), "{}", ran.stdout);
    }
}

#[test]
fn lint_warns_of_commands_whose_file_is_plainly_missing_and_of_no_others() {
    let cases = [
        ("./gone.sh --fast", true),
        ("\"$CLAUDE_PROJECT_DIR\"/gone.sh", true),
        ("${CLAUDE_PROJECT_DIR}/gone.sh && true", true),
        ("python3 gone.py", true),
        ("A=1 bash hooks/gone.sh x", true),
        ("./plain.sh", true),
        ("sh plain.sh", false),
        ("./there.sh", false),
        ("eslint --fix src/gone.ts", false),
        ("python3 -m gone.module", false),
        ("$HOME/gone.sh", false),
        ("$WAVE_PROJECT_DIR/gone.sh", false),
        ("[ -x ./gone.sh ] && ./gone.sh", false),
        ("echo ./gone.sh", false),
    ];
    for (command, warned) in cases {
        let sandbox = CliSandbox::new()
            .file("plain.sh", "true")
            .script("there.sh", "true")
            .hooks(".claude/settings.json", &json!({"Stop": [{"hooks": [{"type": "command", "command": command}]}]}));
        let ran = sandbox.run_snell(&["lint"], "");
        assert_eq!(ran.stdout.contains("warning"), warned, "{command}: {}", ran.stdout);
    }
}

#[test]
fn explain_says_for_every_hook_what_was_compared() {
    let sandbox = create_project();
    let ran = sandbox
        .run_snell(&["explain", "BeforeTool", "--tool", "Bash", "--input", r#"{"command": "git push origin"}"#], "");
    assert_eq!(ran.code, 0);
    insta::assert_snapshot!(ran.stdout, @r#"
    PreToolUse on Bash: 3 of 8 hooks would run.

    Would run, in this order:
      snell snell.toml:1  ./guard.sh
          matcher "shell" matches tool "Bash"; it runs only if "test -f x" exits with 0 (not run here)
      microai .microai/settings.json:1  log-git.sh
          matcher "Bash(git:*)" matches tool "Bash" with its principal argument "git push origin"
      claude .claude/settings.json:4  judge
          matcher "Bash" matches tool "Bash"; if "Bash(git push *)" covers the call

    Would not run:
      wave .wave/settings.json:2  eslint --fix
          matcher "Edit|Write" does not match tool "Bash"
      claude .claude/settings.json:3  check-mcp
          matcher /^mcp__.*/ (an unanchored regular expression) does not match tool "Bash"
      claude .claude/settings.json:3  prompt: ok?
          matcher /^mcp__.*/ (an unanchored regular expression) does not match tool "Bash"
      claude-os .claude/settings.json:6  done.sh
          it runs on Stop, not on PreToolUse
      whale .whale/hooks.json:1  audit
          matcher "read_*" does not match tool "Bash"
    "#);
}

#[test]
fn explain_reads_the_event_from_stdin_too_and_runs_nothing() {
    let sandbox = CliSandbox::new().file("snell.toml", "[[hook]]\nevent = \"Stop\"\nrun = \"touch ran\"\n");
    let ran = sandbox.run_snell(&["explain", "Stop", "--json"], r#"{"session_id": "s"}"#);
    let json = ran.json();
    assert_eq!(json[0]["fires"], true);
    assert_eq!(json[0]["why"], "it runs on every Stop");
    assert!(!sandbox.exists("ran"));
}

#[test]
fn explain_names_an_unknown_event_as_such() {
    let settings = json!({"BrandNew": [{"hooks": [{"type": "command", "command": "true"}]}]});
    let sandbox = CliSandbox::new().hooks(".claude/settings.json", &settings);
    // The event, the exit code, the start of what is printed, and of the messages.
    let cases = [
        ("PreToolUze", 1, "", "error: unknown event \"PreToolUze\"\nhint: did you mean \"PreToolUse\"?\n"),
        ("Banana", 1, "", "error: unknown event \"Banana\"\nhint: to see all events: snell docs events\n"),
        ("BrandNew", 0, "BrandNew (unknown event, kept): 1 of 1 hook would run.", ".claude/settings.json:"),
        ("AfterAgent", 0, "Stop: 0 of 1 hook would run.", ".claude/settings.json:"),
        // An event of Cursor.
        ("afterFileEdit", 0, "afterFileEdit: 0 of 1 hook would run.", ".claude/settings.json:"),
    ];
    for (event, code, printed, said) in cases {
        let ran = sandbox.run_snell(&["explain", event], "{}");
        assert_eq!(ran.code, code, "{event}: {ran:?}");
        assert!(ran.stdout.starts_with(printed) && ran.stderr.starts_with(said), "{event}: {ran:?}");
    }
}

/// Snell's own entries are the doctor's concern.
#[test]
fn lint_leaves_out_hooks_that_only_call_snell() {
    let entry = |command: &str| json!([{"hooks": [{"type": "command", "command": command}]}]);
    let settings = json!({"Stop": entry("/nowhere/snell hook"), "SessionEnd": entry("/nowhere/other")});
    let sandbox = CliSandbox::new().hooks(".claude/settings.json", &settings);
    let ran = sandbox.run_snell(&["lint"], "");
    assert!(ran.stdout.contains("/nowhere/other") && !ran.stdout.contains("/nowhere/snell"), "{ran:?}");
    assert!(ran.stdout.ends_with("0 errors, 1 warning in 1 file (1 hook loaded).\n"), "{ran:?}");
    assert_eq!(
        ran.stderr,
        "note: not listed: 1 hook in .claude/settings.json, because they only call Snell\n\
         hint: to include them, add --all\n"
    );
    let ran = sandbox.run_snell(&["lint", "--all"], "");
    assert!(ran.stdout.contains("/nowhere/other") && ran.stdout.contains("/nowhere/snell"), "{ran:?}");
    assert!(ran.stdout.ends_with("0 errors, 2 warnings in 1 file (2 hooks loaded).\n"), "{ran:?}");
    assert_eq!(ran.stderr, "");
}

/// Who asks why a hook does not run must hear that its file cannot be read.
#[test]
fn explain_says_what_is_wrong_with_the_files() {
    let sandbox = CliSandbox::new()
        .file("snell.toml", "[[hook]]\nevent = \"Stop\"\nrun = \"true\"\n")
        .file(".claude/settings.json", "{\"hooks\": ");
    let ran = sandbox.run_snell(&["explain", "Stop"], "{}");
    assert_eq!(ran.code, 0);
    assert!(ran.stdout.starts_with("Stop: 1 of 1 hook would run."), "{}", ran.stdout);
    assert!(ran.stderr.starts_with(".claude/settings.json:1:11: error: is not valid JSON"), "{}", ran.stderr);
}

#[test]
fn explain_refuses_input_that_is_not_json() {
    let ran = CliSandbox::new().run_snell(&["explain", "PreToolUse", "--tool", "Bash", "--input", "{"], "");
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.starts_with("error: --input is not JSON"), "{}", ran.stderr);
}

#[test]
fn completions_are_there_for_the_usual_shells() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = CliSandbox::new().run_snell(&["completions", shell], "");
        assert_eq!(ran.code, 0, "{shell}");
        assert!(ran.stdout.contains("explain"), "{shell}");
    }
}

#[test]
fn a_mistake_in_typing_is_never_a_block() {
    let sandbox = CliSandbox::new();
    let cases: &[&[&str]] = &[
        &[],
        &["rum"],
        &["run"],
        &["run", "Stop", "--nonsense"],
        &["run", "Stop", "--project", "/does/not/exist"],
        &["run", "Stop", "--config", "missing.json"],
        &["run", "Stop", "--config", "."],
        &["explain", "Stop", "--input", "{}"],
        &["completions", "tcsh"],
        &["export"],
        &["log", "--since", "yesterday"],
        &["log", "--verdict", "maybe"],
        &["log", "--keep", "7d"],
        &["log", "--prune", "--keep", "7"],
        &["log", "--prune", "--tool", "Bash"],
    ];
    for args in cases {
        let ran = sandbox.run_snell(args, "{}");
        assert_eq!(ran.code, 1, "{args:?}: {ran:?}");
        assert!(!ran.stderr.is_empty(), "{args:?}");
        assert_eq!(ran.stdout, "", "{args:?}");
    }
}

#[test]
fn a_command_that_is_not_quoted_is_shown_in_quotes() {
    let sandbox = CliSandbox::new();
    let cases: &[(&[&str], &str)] = &[
        (&["check", "rm", "-rf", "/"], "snell guard check 'rm -rf /'"),
        (&["check", "git", "push"], "snell guard check 'git push'"),
        (&["explain", "echo", "it's", "-n"], "snell guard explain 'echo it'\\''s -n'"),
    ];
    for (args, said) in cases {
        let ran = sandbox.run_snell(&[&["guard"], *args].concat(), "");
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{args:?}");
        assert!(
            ran.stderr.contains(&format!("note: the command must be one argument\nhint: quote it: {said}\n")),
            "{args:?}: {ran:?}"
        );
    }
    for args in [&["guard", "check", "--nonsense", "x"][..], &["guard", "rules", "a", "b"]] {
        let ran = sandbox.run_snell(args, "");
        assert!(!ran.stderr.contains("quote it"), "{args:?}: {ran:?}");
    }
}

#[test]
fn a_mistake_in_typing_cannot_steer_a_terminal() {
    let sandbox = CliSandbox::new();
    let hostile = "a\u{1b}[31mb\u{202e}c\nsnell: all is well";
    let option = format!("--verdict={hostile}");
    let cases: &[&[&str]] = &[
        &[hostile],
        &["run", "Stop", hostile],
        &["completions", hostile],
        &["log", &option],
        &["log", "--verdict", hostile],
    ];
    for args in cases {
        let ran = sandbox.run_snell(args, "");
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{args:?}");
        let steers = |c: char| c != '\n' && c.is_control() || c == '\u{202e}';
        assert!(!ran.stderr.contains(steers), "{args:?}: {ran:?}");
        assert!(ran.stderr.contains(r"a\u{1b}[31mb\u{202e}c\nsnell: all"), "{args:?}: {ran:?}");
    }
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let sandbox = create_project();
    let mut child =
        sandbox.command(&["docs", "contracts"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn output_that_cannot_be_written_is_a_failure() {
    let sandbox = create_project();
    for args in [
        &["list"][..],
        &["lint"],
        &["explain", "Stop"],
        &["docs", "contracts"],
        &["completions", "bash"],
        &["agents"],
        &["status"],
    ] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let output = sandbox.command(args).stdin(Stdio::null()).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        let told = String::from_utf8_lossy(&output.stderr).matches("cannot write the output").count();
        assert_eq!(told, 1, "{args:?}");
    }
}

#[test]
fn text_from_files_cannot_steer_a_terminal() {
    let sandbox =
        CliSandbox::new().file("snell.toml", "[[hook]]\nevent = \"Stop\"\nrun = \"\\u001b[2J\"\n\"\\u001b]0;x\" = 1\n");
    for command in ["list", "lint"] {
        let ran = sandbox.run_snell(&[command], "");
        assert!(!ran.stdout.contains('\u{1b}'), "{command}: {:?}", ran.stdout);
    }
    let ran = sandbox.run_snell(&["explain", "Stop"], "");
    let shown = ran.stdout + &ran.stderr;
    assert!(shown.contains("unknown key") && !shown.contains('\u{1b}'), "{shown:?}");
}

#[test]
fn columns_stand_under_each_other_whatever_script_is_written_in_them() {
    let sandbox = CliSandbox::new().file(
        "snell.toml",
        "[[hook]]\nevent = \"Stop\"\nrun = \"echo 世界\"\n\
         [[hook]]\nevent = \"Stop\"\nrun = \"echo done\"\n\
         [[hook]]\nevent = \"Stop\"\nrun = \"echo 👩\u{200d}🔬!\"\n\
         [[hook]]\nevent = \"Stop\"\nrun = \"echo e\u{301}te\u{301}\"\n",
    );
    // A Chinese character takes two cells, a picture too, however many it is made of; an accent none.
    let shown = sandbox.run_snell(&["list"], "").stdout;
    let lines: Vec<_> = shown.lines().take(5).collect();
    assert_eq!(
        lines,
        [
            "EVENT  MATCHER  COMMAND    CONTRACT  SOURCE",
            "Stop   -        echo 世界  snell     snell.toml:1",
            "Stop   -        echo done  snell     snell.toml:4",
            "Stop   -        echo 👩\u{200d}🔬!   snell     snell.toml:7",
            "Stop   -        echo e\u{301}te\u{301}   snell     snell.toml:10",
        ]
    );
}

#[test]
fn a_place_that_is_not_there_is_an_error_and_not_an_empty_place() {
    let sandbox = CliSandbox::new();
    let cases: &[(&[&str], &str)] = &[
        (&["run", "Stop", "--home", "/nope"], "the home directory /nope is not a directory"),
        (&["list", "--home", "/nope"], "the home directory /nope is not a directory"),
        (&["trust", "--home", "/nope"], "the home directory /nope is not a directory"),
        (&["trust", "--list", "--home", "/nope"], "the home directory /nope is not a directory"),
        (&["status", "--project", "/nope"], "the project /nope is not a directory"),
        (
            &["list", "--config", "claud:x.json"],
            "unknown contract \"claud\", and no such file\nhint: did you mean \"claude\"?",
        ),
        (&["list", "--config", "claude:x.json"], "cannot read --config x.json"),
        (&["list", "--config", "./a:x.json"], "cannot read --config ./a:x.json"),
        (&["serve", "--db", "/nope/deep/x.db"], "neither /nope/deep nor /nope exists"),
        (&["log", "--limit", "0"], "0 is not in 1.."),
    ];
    for (args, expected) in cases {
        let ran = sandbox.run_snell(args, "{}");
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{args:?}: {ran:?}");
        assert!(ran.stderr.contains(expected), "{args:?}: {ran:?}");
    }
}

#[test]
fn a_relative_place_for_records_is_warned_of_and_used() {
    let sandbox = CliSandbox::new().env("SNELL_HOME", "records");
    let ran = sandbox.run_snell(&["trust", "--list"], "");
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "No project is trusted.\n"));
    assert_eq!(ran.stderr.matches("SNELL_HOME is relative (\"records\")").count(), 1, "{ran:?}");
}

#[test]
fn only_what_people_can_see_is_suggested_to_them() {
    let sandbox = CliSandbox::new();
    for (typed, suggested) in
        [("serv", &["'serve'"][..]), ("superviser", &[]), ("scrib", &[]), ("forwar", &[]), ("lst", &["'list'"])]
    {
        let ran = sandbox.run_snell(&[typed], "");
        assert_eq!(ran.code, 1, "{typed}");
        assert!(suggested.iter().all(|name| ran.stderr.contains(name)), "{typed}: {}", ran.stderr);
        for hidden in ["'supervise'", "'daemon'", "'scribe'", "'forward'"] {
            assert!(!ran.stderr.contains(hidden), "{typed}: {}", ran.stderr);
        }
    }
}
