//! `snell hook`: the answer to an agent before a call.

use serde_json::{Value, json};

use super::{assert_judgements, create_configured_sandbox, judge_bash, judge_call, list_stored_verdicts};
use crate::hook::render_answering_hook;
use crate::support::CliSandbox;

#[test]
fn a_denial_has_a_reason_and_advice() {
    let sandbox = CliSandbox::with_frozen_clock();
    let told = judge_bash(&sandbox, "git push --force origin main");
    assert_eq!(told.summarize(), "deny git.push-force");
    assert_eq!(
        told.message,
        "Snell: blocked by rule git.push-force; details: snell guard explain 'git push --force origin main'"
    );
    // The reason comes first, then the advice, and the model reads nothing else.
    assert!(told.reason.starts_with("git push would ") && told.reason.contains("git pull --rebase"), "{told:?}");
    assert!(!told.reason.contains("snell guard explain"), "{told:?}");
    assert_eq!(told.stderr, "");
}

/// Runs the command for details in a shell, as people would paste it.
fn run_pasted_command(sandbox: &CliSandbox, message: &str) -> String {
    let (_, line) = message.split_once("details: ").unwrap();
    let program = sandbox.command(&[]).get_program().to_owned();
    let ran = sandbox
        .shell(&format!("snell() {{ \"$PROGRAM\" \"$@\"; }}; {line}"), &[])
        .env("PROGRAM", program)
        .output()
        .unwrap();
    assert!(ran.status.success(), "{line}: {ran:?}");
    String::from_utf8(ran.stdout).unwrap()
}

#[test]
fn the_line_to_look_closer_with_works_when_it_is_pasted() {
    let sandbox = CliSandbox::with_frozen_clock();
    let calls = [
        ("Bash", json!({"command": "git push --force"})),
        ("Bash", json!({"command": "echo \"it's $HOME\" `x` > /etc/hosts # ü"})),
        ("Bash", json!({"command": "-x; rm -rf /"})),
        ("Read", json!({"file_path": "/home/ann/it's/.ssh/id_rsa"})),
        ("mcp__shell__run", json!({"command": "rm -rf /"})),
        // Too long, or with invisible characters: then the message names the log.
        ("Bash", json!({"command": format!("rm -rf / {}", "x".repeat(300))})),
        ("Bash", json!({"command": "rm -rf /\u{202e}"})),
        ("Bash", json!({"command": "ls\nrm -rf /"})),
    ];
    for (tool, input) in calls {
        let told = judge_call(&sandbox, tool, input.clone());
        let said = told.summarize();
        let rule = said.split(' ').nth(1).unwrap();
        let shown = run_pasted_command(&sandbox, &told.message);
        // `explain` shows the rule, and the log shows the call.
        let expected = if shown.starts_with('{') { "\"tool_input\"" } else { rule };
        assert!(shown.contains(expected), "{tool} {input}: {shown}");
    }
}

#[test]
fn invisible_characters_are_escaped() {
    let sandbox = CliSandbox::with_frozen_clock();
    for unseen in ['\u{202e}', '\u{2066}', '\u{200b}', '\u{feff}'] {
        let told = judge_bash(&sandbox, &format!("rm -rf '/etc/a{unseen}b'"));
        assert_eq!(told.summarize(), "deny files.delete-system", "{told:?}");
        assert!(!told.reason.contains(unseen) && !told.message.contains(unseen), "{told:?}");
        assert!(told.reason.contains(&format!("/etc/a{}b", unseen.escape_unicode())), "{told:?}");
    }
    let log = sandbox.run_snell(&["log", "--verdict", "block"], "").stdout;
    assert!(log.contains("\\u{202e}") && !log.contains('\u{202e}'), "{log}");
}

#[test]
fn calls_are_judged_by_their_effects() {
    assert_judgements(
        &CliSandbox::with_frozen_clock(),
        &[
            ("ls -l", ""),
            ("git commit -m 'never run rm -rf / or sudo'", ""),
            ("rm -rf /", "deny files.delete-root"),
            ("x=rm; $x -rf /", "deny files.delete-root"),
            ("echo cm0gLXJmIC8= | base64 -d | sh", "deny files.delete-root"),
            ("git push --force-with-lease", "ask git.push-with-lease"),
            ("rm -rf target", ""),
            ("sudo ls", "ask privilege.raise"),
        ],
    );
}

#[test]
fn every_kind_of_tool_is_judged() {
    let sandbox = CliSandbox::with_frozen_clock();
    let cases = [
        ("Read", json!({"file_path": "src/main.rs"}), ""),
        ("Read", json!({"file_path": "~/.ssh/id_rsa"}), "deny secret.read"),
        ("Write", json!({"file_path": "/etc/passwd", "content": ""}), "deny files.write-system"),
        ("Write", json!({"file_path": "notes.md", "content": "rm -rf /"}), ""),
        ("Edit", json!({"file_path": ".env", "old_string": "a", "new_string": "b"}), "deny secret.write"),
        ("mcp__shell__run", json!({"command": "rm -rf /"}), "deny files.delete-root"),
        ("mcp__github__delete_repository", json!({"owner": "ann", "repo": "app"}), "deny infra.tool-destroy"),
        ("TodoWrite", json!({"todos": [{"content": "rm -rf /"}]}), ""),
        ("SomethingNew", json!({"anything": ["at", "all"]}), ""),
    ];
    for (tool, input, expected) in cases {
        let told = judge_call(&sandbox, tool, input.clone());
        assert_eq!(told.summarize(), expected, "{tool} {input}: {told:?}");
    }
}

#[test]
fn input_that_makes_no_sense_is_asked_about_and_breaks_nothing() {
    let sandbox = CliSandbox::with_frozen_clock();
    let cases = [
        (json!(null), "ask guard.unread"),
        (json!(7), "ask guard.unread"),
        (json!([]), "ask guard.unread"),
        (json!({}), "ask guard.unread"),
        (json!({"command": {"nested": ["rm -rf /"]}}), "ask guard.unread"),
        (json!({"command": "\u{0}\u{202e}\u{feff}"}), "deny guard.zero-byte"),
        (json!({"command": ""}), ""),
        (json!("rm -rf /"), "deny files.delete-root"),
        (json!({"command": ["rm", "-rf", "/"]}), "deny files.delete-root"),
    ];
    for (input, expected) in cases {
        let told = judge_call(&sandbox, "Bash", input.clone());
        assert_eq!(told.summarize(), expected, "{input}: {told:?}");
    }
}

#[test]
fn deeply_nested_calls_are_not_allowed_silently() {
    let sandbox = CliSandbox::with_frozen_clock();
    let deep = (0..400).fold(json!("deep"), |inner, _| json!([inner]));
    let told = judge_call(&sandbox, "Bash", json!({"command": "ls", "more": deep}));
    assert_eq!(told.summarize(), "ask guard.unread");
    assert!(told.reason.contains("nested more than 256 levels deep"), "{told:?}");
    let told = judge_call(&sandbox, "Bash", json!({"command": "rm -rf /", "more": deep}));
    assert_eq!(told.summarize(), "deny files.delete-root guard.unread");
    assert_eq!(
        list_stored_verdicts(&sandbox),
        ["ask guard.unread self", "deny files.delete-root catastrophic", "ask guard.unread self"]
    );
}

#[test]
fn ten_megabytes_are_judged() {
    let sandbox = CliSandbox::with_frozen_clock();
    let content = "x".repeat(10 << 20);
    let told = judge_call(&sandbox, "Write", json!({"file_path": "big.txt", "content": content}));
    assert_eq!(told.summarize(), "");
    let told = judge_call(&sandbox, "Write", json!({"file_path": "/etc/passwd", "content": content}));
    assert_eq!(told.summarize(), "deny files.write-system");
    // Dangerous commands after megabytes of text are still stopped.
    let told = judge_bash(&sandbox, &format!("echo {content}; rm -rf /"));
    let said = told.summarize();
    assert!(said == "ask guard.limit" || said == "deny files.delete-root", "{said}");
}

/// A person reads a question, so it names Snell and has no advice to the model. The model reads a denial.
#[test]
fn a_question_says_who_asks_and_a_denial_says_what_to_do_instead() {
    let entry = "[[guard.ask]]\ncommand = 'make **'\nreason = 'It is slow.'\n";
    let sandbox = CliSandbox::with_frozen_clock().home_file(".config/snell/snell.toml", entry);
    for (command, expected) in [
        (
            "sudo ls",
            "Snell asks (privilege.raise): sudo would run `ls` as another user, with rights that the agent does not have.",
        ),
        ("make all", "Snell asks (~/.config/snell/snell.toml:2): It is slow."),
    ] {
        assert_eq!(judge_bash(&sandbox, command).reason, expected);
    }
    let denied = judge_bash(&sandbox, "git push --force origin main").reason;
    assert!(!denied.contains("Snell asks") && denied.contains(". "), "{denied}");
}

#[test]
fn a_request_for_permission_is_denied_and_never_asked_about_twice() {
    let sandbox = CliSandbox::with_frozen_clock();
    let request = |command: &str| {
        let payload = json!({"tool_name": "Bash", "tool_input": {"command": command}});
        sandbox.send_hook_event("12:00:00", "PermissionRequest", payload)
    };
    let denied = request("rm -rf /").json();
    let decision = &denied["hookSpecificOutput"]["decision"];
    assert_eq!(decision["behavior"], "deny", "{denied}");
    assert!(denied["systemMessage"].as_str().unwrap().contains("files.delete-root"));
    // The user is being asked already, so there is nothing to add.
    request("git push --force-with-lease").assert_silent();
    assert_eq!(
        list_stored_verdicts(&sandbox),
        ["deny files.delete-root catastrophic", "ask git.push-with-lease style"]
    );
}

#[test]
fn events_that_are_about_no_call_to_come_are_not_judged() {
    let sandbox = CliSandbox::with_frozen_clock();
    let tool = json!({"tool_name": "Bash", "tool_input": {"command": "rm -rf /"}});
    for event in ["PostToolUse", "PostToolUseFailure", "Notification", "SessionStart"] {
        sandbox.send_hook_event("12:00:00", event, tool.clone()).assert_silent();
    }
    assert_eq!(list_stored_verdicts(&sandbox), Vec::<String>::new());
}

#[test]
fn what_a_hook_changes_is_judged_as_well() {
    let changing = |input: Value| render_answering_hook("PreToolUse", &json!({"tool_input": input}));
    let cases = [
        // A hook must not be able to slip something in.
        ("ls", changing(json!({"command": "rm -rf /"})), "deny files.delete-root"),
        ("ls", changing(json!({"command": "git push --force-with-lease"})), "ask git.push-with-lease"),
        // A denied call stays denied, whatever a hook changes.
        ("rm -rf /", changing(json!({"command": "ls"})), "deny files.delete-root"),
        ("git push --force", changing(json!({"command": "rm -rf /"})), "deny git.push-force files.delete-root"),
        // The same judgement is not repeated.
        ("rm -rf /", changing(json!({"command": "rm -rf / "})), "deny files.delete-root"),
        // A hook that allows does not overrule the guard.
        ("rm -rf /", render_answering_hook("PreToolUse", &json!({"decision": "allow"})), "deny files.delete-root"),
        ("ls", changing(json!({"command": "ls -l"})), ""),
    ];
    for (command, hook, expected) in cases {
        let sandbox = create_configured_sandbox(&hook);
        let told = judge_bash(&sandbox, command);
        assert_eq!(told.summarize(), expected, "{command} {hook}: {told:?}");
    }
}

#[test]
fn a_denial_is_answered_even_if_hooks_are_killed() {
    use std::io::Read;

    use snell_test_support::process::{Signal, send_signal, spawn_with_stdin};
    use snell_test_support::wait::wait_until;

    let sandbox =
        create_configured_sandbox("[[hook]]\nevent = 'PreToolUse'\nrun = 'touch began; sleep 60'\ntimeout = '70s'\n");
    let payload = json!({
        "session_id": "s", "hook_event_name": "PreToolUse", "cwd": sandbox.project(),
        "tool_name": "Bash", "tool_input": {"command": "rm -rf /"},
    });
    let mut child = spawn_with_stdin(&mut sandbox.command(&["hook"]), payload.to_string());
    wait_until(|| sandbox.exists("began").then_some(()));
    send_signal(child.id(), Signal::TERM);
    let mut said = String::new();
    child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let answer: Value = serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said}"));
    assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "deny", "{said}");
}
