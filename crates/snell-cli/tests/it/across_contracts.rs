//! Hooks of several contracts on one event: their order, what they hand to each other, and one verdict.

use serde_json::{Value, json};
use snell_test_support::process::CommandOutput;

use crate::support::CliSandbox;

/// Every contract that has its own file, in the order in which their hooks run.
const CONTRACTS: [&str; 5] = ["snell", "wave", "microai", "claude", "whale"];

/// A hook before every tool in the file of this contract. It fails closed where a contract can only block by failing.
fn add_tool_hook(sandbox: CliSandbox, contract: &str, line: &str) -> CliSandbox {
    add_hook(sandbox, contract, "PreToolUse", line)
}

fn add_hook(sandbox: CliSandbox, contract: &str, event: &str, line: &str) -> CliSandbox {
    // A busy machine must not miss the deadline of a hook that is not meant to.
    let seconds = if line.contains("sleep 30") { 1 } else { 20 };
    let command = json!({"type": "command", "command": line, "timeout": seconds});
    match contract {
        "snell" => sandbox.file(
            "snell.toml",
            &format!("[[hook]]\nevent = '{event}'\nmodify = true\ntimeout = '{seconds}s'\nrun = '''{line}'''\n"),
        ),
        "wave" => sandbox.hooks(".wave/settings.json", &json!({event: [{"matcher": "*", "hooks": [command]}]})),
        "microai" => sandbox.hooks(
            ".microai/settings.json",
            &json!({event: [{"matcher": "*", "command": line, "timeout": seconds * 1000, "continueOnFailure": false}]}),
        ),
        "claude" => sandbox.hooks(".claude/settings.json", &json!({event: [{"hooks": [command]}]})),
        "whale" => sandbox.file(
            ".whale/hooks.json",
            &json!([{"event": event, "command": line, "timeout": seconds * 1000, "allowModify": true}]).to_string(),
        ),
        other => panic!("{other}"),
    }
}

/// A command that denies, as its contract has it.
fn render_deny_command(contract: &str, reason: &str) -> String {
    match contract {
        "whale" => format!("printf '%s' '{}'", json!({"allow": false, "message": reason})),
        "microai" => format!("echo {reason} >&2; exit 1"),
        _ => format!("echo {reason} >&2; exit 2"),
    }
}

/// The reason as its contract hands it on.
fn format_expected_reason(contract: &str, reason: &str) -> String {
    match contract {
        "microai" => format!("Hook blocked: {reason}"),
        _ => reason.to_owned(),
    }
}

fn run_bash_call(sandbox: &CliSandbox) -> CommandOutput {
    sandbox.run_event("PreToolUse", &json!({"tool_name": "Bash", "tool_input": {"command": "ls"}}))
}

#[test]
fn contracts_run_one_after_the_other_and_the_native_file_first() {
    // The earlier a contract, the longer it takes: they would overtake each other if they could.
    let mut sandbox = CliSandbox::new()
        .home_file(".config/snell/snell.toml", "[[hook]]\nevent = 'PreToolUse'\nrun = 'sleep 0.3; echo user >> log'\n");
    for (index, contract) in CONTRACTS.iter().enumerate() {
        let line = format!("sleep 0.{}; echo {contract} >> log", 2 - index / 2);
        sandbox = add_tool_hook(sandbox, contract, &line);
    }
    let ran = run_bash_call(&sandbox);
    assert_eq!(sandbox.read("log"), "user\nsnell\nwave\nmicroai\nclaude\nwhale\n");
    let contracts: Vec<_> = ran.hooks().iter().map(|hook| hook["contract"].clone()).collect();
    assert_eq!(contracts, ["snell", "snell", "wave", "microai", "claude", "whale"]);
}

#[test]
fn a_hook_keeps_its_contract_whoever_fires_the_event() {
    let mut sandbox = CliSandbox::new();
    for contract in CONTRACTS {
        sandbox = add_tool_hook(sandbox, contract, &format!("cat > {contract}.in"));
    }
    run_bash_call(&sandbox);
    assert_eq!(sandbox.read_json("snell.in")["event"], "PreToolUse");
    assert!(sandbox.read("wave.in").contains("\n  \""), "wave's JSON is indented");
    assert_eq!(sandbox.read("microai.in"), "", "microai sends nothing");
    assert_eq!(sandbox.read_json("claude.in")["hook_event_name"], "PreToolUse");
    assert_eq!(sandbox.read_json("whale.in")["event"], "BeforeTool");
}

#[test]
fn every_deny_counts_and_its_reason_has_its_own_line() {
    let mut sandbox = CliSandbox::new();
    for contract in CONTRACTS {
        sandbox = add_tool_hook(sandbox, contract, &render_deny_command(contract, contract));
    }
    let ran = run_bash_call(&sandbox);
    assert_eq!((ran.code, ran.decision().as_str()), (2, "block"));
    assert_eq!(ran.reason(), "snell\nwave\nHook blocked: microai\nclaude\nwhale");
    assert_eq!(ran.statuses(), ["blocked"; 5]);
}

#[test]
fn later_hooks_that_do_not_run_are_those_of_the_same_contract() {
    let stops = [
        (
            "microai",
            ".microai/settings.local.json",
            json!({"hooks": {"PreToolUse": [{"matcher": "*", "command": "echo late >> log"}]}}),
        ),
        ("whale", "~/.swagmanager/hooks.json", json!([{"event": "BeforeTool", "command": "echo late >> log"}])),
    ];
    for (contract, second, late) in stops {
        let mut sandbox = add_tool_hook(CliSandbox::new(), contract, &render_deny_command(contract, "no"));
        sandbox = match second.strip_prefix("~/") {
            Some(path) => sandbox.home_file(path, &late.to_string()),
            None => sandbox.file(second, &late.to_string()),
        };
        for other in CONTRACTS.iter().filter(|other| **other != contract) {
            sandbox = add_tool_hook(sandbox, other, &format!("echo {other} >> log"));
        }
        let ran = run_bash_call(&sandbox);
        let others: String =
            CONTRACTS.iter().filter(|other| **other != contract).map(|other| format!("{other}\n")).collect();
        assert_eq!(sandbox.read("log"), others, "{contract}");
        assert_eq!(ran.statuses().iter().filter(|status| *status == "skipped").count(), 1, "{contract}");
    }
}

#[test]
fn a_deny_survives_whatever_its_neighbours_do() {
    let change = |contract: &str| match contract {
        "snell" => json!({"decision": "allow", "tool_input": {"command": "changed"}}),
        "whale" => json!({"allow": true, "modified_input": {"command": "changed"}}),
        _ => json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow",
            "updatedInput": {"command": "changed"}}}),
    };
    let mishaps = ["allows and changes", "crashes", "is killed", "prints garbage", "runs too long"];
    for denier in CONTRACTS {
        for mishap in mishaps {
            let mut sandbox = add_tool_hook(CliSandbox::new(), denier, &render_deny_command(denier, "denied"));
            for neighbour in CONTRACTS.iter().filter(|neighbour| **neighbour != denier) {
                let line = match mishap {
                    "allows and changes" => format!("printf '%s' '{}'", change(neighbour)),
                    "crashes" => "exit 3".to_owned(),
                    "is killed" => "kill -9 $$".to_owned(),
                    "prints garbage" => "printf '{\"decision\": \\377'; head -c 3000 /dev/zero".to_owned(),
                    // One neighbour is enough: each costs its whole timeout.
                    _ if *neighbour == "claude" || (denier == "claude" && *neighbour == "wave") => {
                        "sleep 30".to_owned()
                    }
                    _ => "true".to_owned(),
                };
                sandbox = add_tool_hook(sandbox, neighbour, &line);
            }
            let ran = run_bash_call(&sandbox);
            assert_eq!((ran.code, ran.decision().as_str()), (2, "block"), "{denier} denies, the others: {mishap}");
            let expected = format_expected_reason(denier, "denied");
            assert!(ran.reason().lines().any(|line| line == expected), "{denier}, {mishap}: {}", ran.reason());
        }
    }
}

#[test]
fn deny_beats_ask_beats_allow_whatever_the_order() {
    let claude = |decision: &str| {
        let answer = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": decision,
            "permissionDecisionReason": format!("claude {decision}")}});
        format!("printf '%s' '{answer}'")
    };
    let native = |decision: &str| {
        let word = if decision == "deny" { "block" } else { decision };
        format!("printf '%s' '{}'", json!({"decision": word, "reason": format!("native {decision}")}))
    };
    let cases = [
        ("allow", "allow", "allow", "native allow\nclaude allow"),
        ("allow", "ask", "ask", "claude ask"),
        ("ask", "allow", "ask", "native ask"),
        ("ask", "ask", "ask", "native ask\nclaude ask"),
        ("allow", "deny", "block", "claude deny"),
        ("deny", "allow", "block", "native deny"),
        ("ask", "deny", "block", "claude deny"),
        ("deny", "ask", "block", "native deny"),
        ("deny", "deny", "block", "native deny\nclaude deny"),
    ];
    for (first, second, decision, reason) in cases {
        let sandbox =
            add_tool_hook(add_tool_hook(CliSandbox::new(), "snell", &native(first)), "claude", &claude(second));
        let ran = run_bash_call(&sandbox);
        assert_eq!(ran.decision(), decision, "{first} then {second}");
        assert_eq!(ran.reason(), reason, "{first} then {second}");
        assert_eq!(ran.code, if decision == "block" { 2 } else { 0 }, "{first} then {second}");
    }
}

#[test]
fn a_changed_input_is_what_every_later_hook_sees() {
    let change = |answer: &Value, seen: &str| format!("cat > {seen}; printf '%s' '{answer}'");
    let mut sandbox = add_tool_hook(
        CliSandbox::new(),
        "snell",
        &change(&json!({"tool_input": {"command": "by native"}}), "snell.in"),
    );
    sandbox = add_tool_hook(sandbox, "wave", "cat > wave.in");
    sandbox = add_tool_hook(sandbox, "microai", "printf %s \"$INPUT\" > microai.in");
    let updated =
        json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {"command": "by claude"}}});
    sandbox = add_tool_hook(sandbox, "claude", &change(&updated, "claude.in"));
    sandbox = add_tool_hook(sandbox, "whale", &change(&json!({"modified_input": {"command": "by whale"}}), "whale.in"));
    let ran = run_bash_call(&sandbox);
    let cases = [("snell.in", "ls"), ("wave.in", "by native"), ("claude.in", "by native"), ("whale.in", "by claude")];
    for (file, seen) in cases {
        assert_eq!(sandbox.read_json(file)["tool_input"]["command"], seen, "{file}");
    }
    assert_eq!(sandbox.read_json("microai.in"), json!({"command": "by native"}));
    assert_eq!(ran.json()["tool_input"], json!({"command": "by whale"}));
}

#[test]
fn a_changed_output_is_what_every_later_hook_sees() {
    let native = format!("printf '%s' '{}'", json!({"tool_output": "by native"}));
    let updated = json!({"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": "by claude"}});
    let claude = format!("cat > claude.in; printf '%s' '{updated}'");
    let mut sandbox = add_hook(CliSandbox::new(), "snell", "PostToolUse", &native);
    sandbox = add_hook(sandbox, "claude", "PostToolUse", &claude);
    sandbox = add_hook(sandbox, "whale", "AfterTool", "cat > whale.in");
    let ran = sandbox.run_event("PostToolUse", &json!({"tool_name": "Bash", "tool_response": "old"}));
    assert_eq!(sandbox.read_json("claude.in")["tool_response"], "by native");
    assert_eq!(sandbox.read_json("whale.in")["tool_output"], "by claude");
    assert_eq!(ran.json()["tool_output"], "by claude");
}

#[test]
fn without_a_change_no_input_is_reported() {
    let mut sandbox = CliSandbox::new();
    for contract in CONTRACTS {
        sandbox = add_tool_hook(sandbox, contract, "true");
    }
    let json = run_bash_call(&sandbox).json();
    assert_eq!((&json["tool_input"], &json["tool_output"]), (&Value::Null, &Value::Null));
}

#[test]
fn where_nothing_can_be_blocked_a_block_is_heard_and_the_agent_goes_on() {
    let cases = [
        ("PostToolUse", "context"),
        ("SessionStart", "messages"),
        ("SessionEnd", "messages"),
        ("Notification", "messages"),
    ];
    for (event, heard_as) in cases {
        // A flat hook can block only before a tool, and after one it is not awaited.
        for contract in ["snell", "wave", "claude", "whale"] {
            let sandbox = add_hook(CliSandbox::new(), contract, event, &render_deny_command(contract, "too late"));
            let ran = sandbox.run_event(event, &json!({"tool_name": "Bash", "tool_response": "x"}));
            let heard = ran.string_list(heard_as);
            assert!(heard.len() == 1 && heard[0].contains("too late"), "{event} {contract}: {}", ran.stdout);
            assert_eq!((ran.code, ran.decision().as_str()), (0, "allow"), "{event} {contract}");
            assert_eq!(ran.json()["reason"], Value::Null, "{event} {contract}");
        }
    }
}

#[test]
fn context_and_messages_of_all_contracts_stand_in_configured_order() {
    let mut sandbox = CliSandbox::new();
    for contract in ["claude", "microai", "wave", "snell"] {
        sandbox = add_hook(sandbox, contract, "UserPromptSubmit", &format!("echo from {contract}"));
    }
    let ran = sandbox.run_event("UserPromptSubmit", &json!({"prompt": "hi"}));
    assert_eq!(ran.context(), ["from snell", "from wave", "from microai", "from claude"]);
}

#[test]
fn a_broken_file_of_one_contract_costs_no_other() {
    let files = [
        ("snell", "snell.toml"),
        ("wave", ".wave/settings.json"),
        ("microai", ".microai/settings.json"),
        ("claude", ".claude/settings.json"),
        ("whale", ".whale/hooks.json"),
    ];
    for (broken, path) in files {
        let mut sandbox = CliSandbox::new();
        for contract in CONTRACTS {
            sandbox = add_tool_hook(sandbox, contract, &format!("echo {contract} >> log"));
        }
        let sandbox = sandbox.file(path, "[{ = broken");
        let ran = run_bash_call(&sandbox);
        let others: String =
            CONTRACTS.iter().filter(|other| **other != broken).map(|other| format!("{other}\n")).collect();
        assert_eq!(sandbox.read("log"), others, "{broken}");
        let warnings = ran.warnings();
        assert!(warnings.len() == 1 && warnings[0].starts_with(&format!("{path}:1:")), "{broken}: {warnings:?}");
    }
}

#[test]
fn the_exit_code_says_what_the_agent_is_to_do() {
    let cases = [
        ("true", 0, "allow"),
        ("exit 1", 0, "allow"),
        ("echo '{\"decision\":\"ask\"}'", 0, "ask"),
        ("exit 2", 2, "block"),
        ("echo '{\"decision\":\"block\"}'", 2, "block"),
    ];
    for (line, code, decision) in cases {
        let ran = run_bash_call(&add_tool_hook(CliSandbox::new(), "snell", line));
        assert_eq!((ran.code, ran.decision().as_str()), (code, decision), "{line}");
    }
    let ran = run_bash_call(&CliSandbox::new());
    assert_eq!((ran.code, ran.decision().as_str()), (0, "allow"), "no hooks, no objection");
}

#[test]
fn a_mistake_of_the_caller_is_1_and_never_a_block() {
    // A hook that would block: only an event that is really fired may come to it.
    let sandbox = add_tool_hook(CliSandbox::new(), "claude", "exit 2");
    let usage: [&[&str]; 9] = [
        &[],
        &["run"],
        &["run", "PreToolUse", "surplus"],
        &["run", "PreToolUse", "--no-such-option"],
        &["run", "PreToolUse", "--project"],
        &["run", "PreToolUse", "--project", "no/such/directory"],
        &["run", "PreToolUse", "--config", "no-such-file.json"],
        &["no-such-command"],
        &["--no-such-option"],
    ];
    for args in usage {
        let ran = sandbox.run_snell(args, "{}");
        assert_eq!(ran.code, 1, "{args:?}");
        assert!(!ran.stderr.trim().is_empty(), "{args:?} says what is wrong");
        assert_eq!(ran.stdout, "", "{args:?}");
    }
    // A variable that cannot be understood keeps no hook from blocking.
    let ran = sandbox.env("SNELL_NOW", "yesterday").run_snell(&["run", "PreToolUse"], "{}");
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("SNELL_NOW"), "{}", ran.stderr);
}

#[test]
fn an_event_that_cannot_be_read_is_1_with_a_message() {
    let sandbox = add_tool_hook(CliSandbox::new(), "claude", "touch ran; exit 2");
    for payload in ["{", "{\"tool_name\": }", "[]", "\"text\"", "7", "null", "{} {}", "not json"] {
        let ran = sandbox.run_snell(&["run", "PreToolUse"], payload);
        assert_eq!(ran.code, 1, "{payload}");
        assert!(ran.stderr.contains("event"), "{payload}: {}", ran.stderr);
        assert_eq!(ran.stdout, "", "{payload}");
        assert!(!sandbox.exists("ran"), "{payload}");
    }
    // Nothing at all is an event without details.
    assert_eq!(sandbox.run_snell(&["run", "PreToolUse"], "").code, 2);
}
