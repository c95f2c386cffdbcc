//! The event as a host hands it over: its name, its depth, its numbers; and a host that cannot hear the answer.

use std::fs::File;

use serde_json::json;
use snell_test_support::process::CommandOutput;

use crate::support::CliSandbox;

/// A project in which a hook of every contract keeps what it is told of a tool's input, in a file named after it.
fn create_input_recorder() -> CliSandbox {
    let group =
        |command: &str| json!({"PreToolUse": [{"matcher": "*", "hooks": [{"type": "command", "command": command}]}]});
    CliSandbox::new()
        .file("snell.toml", "[[hook]]\nevent = 'PreToolUse'\nrun = 'cat > snell'\n")
        .hooks(".wave/settings.json", &group("cat > wave"))
        .hooks(".microai/settings.json", &json!({"PreToolUse": [{"command": "printf %s \"$INPUT\" > microai"}]}))
        .hooks(".claude/settings.json", &group("cat > claude"))
        .file(".whale/hooks.json", &json!([{"event": "BeforeTool", "command": "cat > whale"}]).to_string())
}

const CONTRACTS: [&str; 5] = ["snell", "wave", "microai", "claude", "whale"];

#[test]
fn a_name_that_looks_like_a_slip_of_the_pen_is_warned_of() {
    let cases = [
        ("PreToolUze", Some("PreToolUse")),
        ("pretooluse", Some("PreToolUse")),
        ("Stopp", Some("Stop")),
        ("PreToolUse", None),
        ("pre-tool-use", None),
        // Claude Code's own, which are in no other vocabulary.
        ("Setup", None),
        ("PostToolBatch", None),
        // Nobody can have meant anything else by it.
        ("Banana", None),
    ];
    let sandbox =
        CliSandbox::new().file("snell.toml", "[[hook]]\nevent = 'PreToolUse'\nrun = 'echo > ran'\ntool = 'Read'\n");
    for (name, meant) in cases {
        let ran = sandbox.run_event(name, &json!({"tool_name": "Bash"}));
        assert_eq!((ran.code, ran.decision().as_str()), (0, "allow"), "{name}");
        let warnings = ran.warnings();
        match meant {
            Some(meant) => assert!(
                warnings.len() == 1 && warnings[0].contains(&format!("did you mean \"{meant}\"?")),
                "{name}: {warnings:?}"
            ),
            None => assert_eq!(warnings, [""; 0], "{name}"),
        }
    }
}

/// A tool call whose input is nested this deeply, as text: a reader with a bound of its own could not make it.
fn render_nested_call(levels: usize) -> String {
    let (open, close) = ("[".repeat(levels), "]".repeat(levels));
    format!("{{\"tool_name\": \"Bash\", \"tool_input\": {{\"a\": {open}{close}}}}}")
}

#[test]
fn a_deeply_nested_input_reaches_every_hook() {
    let sandbox = create_input_recorder();
    let ran = sandbox.run_snell(&["run", "PreToolUse"], &render_nested_call(200));
    assert_eq!((ran.code, ran.statuses()), (0, vec!["ok".to_owned(); 5]));
    for contract in CONTRACTS {
        let told = sandbox.read(contract);
        assert_eq!(told.matches('[').count(), 200, "{contract}");
        assert_eq!(told.matches(']').count(), 200, "{contract}");
    }
}

#[test]
fn an_input_nested_without_measure_is_our_own_failure_and_said_so() {
    for levels in [300, 100_000] {
        let sandbox = create_input_recorder();
        let ran = sandbox.run_snell(&["run", "PreToolUse"], &render_nested_call(levels));
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{levels}");
        assert!(ran.stderr.contains("nested"), "{levels}: {}", ran.stderr);
        assert!(!CONTRACTS.iter().any(|contract| sandbox.exists(contract)), "{levels}");
    }
}

#[test]
fn a_number_arrives_as_it_was_written() {
    let cases = [
        ("12345678901234567890123456789", "12345678901234567890123456789"),
        ("0.1000", "0.1000"),
        ("-0", "-0"),
        // The sign of an exponent may be written or not.
        ("1e400", "1e+400"),
        ("1e-400", "1e-400"),
    ];
    for (written, expected) in cases {
        let sandbox = create_input_recorder();
        let payload = format!("{{\"tool_name\": \"Bash\", \"tool_input\": {{\"n\": [{written}]}}}}");
        let ran = sandbox.run_snell(&["run", "PreToolUse"], &payload);
        assert_eq!((ran.code, ran.statuses()), (0, vec!["ok".to_owned(); 5]), "{written}");
        for contract in CONTRACTS {
            // One of them is indented.
            let told: String = sandbox.read(contract).split_whitespace().collect();
            assert!(told.contains(&format!("\"n\":[{expected}]")), "{contract}: {told}");
        }
    }
}

#[test]
fn a_host_that_cannot_hear_the_answer_is_told_by_the_exit_code() {
    for (line, code) in [("true", 1), ("exit 1", 1), ("exit 2", 2)] {
        let sandbox =
            CliSandbox::new().file("snell.toml", &format!("[[hook]]\nevent = 'PreToolUse'\nrun = '{line}'\n"));
        let full = File::options().write(true).open("/dev/full").unwrap();
        let mut command = sandbox.command(&["run", "PreToolUse"]);
        let output = command.stdin(File::open("/dev/null").unwrap()).stdout(full).output().unwrap();
        let ran = CommandOutput::from(output);
        assert_eq!(ran.code, code, "{line}");
        assert!(ran.stderr.contains("cannot write the result"), "{line}: {}", ran.stderr);
    }
}
