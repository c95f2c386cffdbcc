//! What agents lose of a hook's answer: `snell list --agents`, and the warnings of `snell lint`.

use serde_json::{Value, json};
use snell::AgentProduct;

use crate::support::CliSandbox;

fn list_agents(sandbox: &CliSandbox) -> Vec<Value> {
    let listed = sandbox.run_snell(&["list", "--agents", "--json"], "").json();
    listed.as_array().unwrap().clone()
}

#[test]
fn every_agent_is_listed_with_every_capability() {
    let agents = list_agents(&CliSandbox::new());
    assert_eq!(agents.len(), AgentProduct::all().len());
    for agent in &agents {
        assert_eq!(agent["capabilities"].as_object().unwrap().len(), 8, "{agent}");
        let has_context = ["yes", "limited"].iter().any(|cell| agent["capabilities"]["context"] == *cell);
        assert_eq!(has_context, agent["context_events"] != json!([]), "{agent}");
        let limited = agent["capabilities"].as_object().unwrap().values().filter(|cell| **cell == "limited").count();
        assert_eq!(agent["limits"].as_object().unwrap().len(), limited, "{agent}");
    }
    let shown = CliSandbox::new().run_snell(&["list", "--agents"], "");
    for product in AgentProduct::all() {
        assert!(shown.stdout.contains(&format!("\n{} ", product.title)), "{shown:?}");
    }
    assert!(shown.stdout.contains("\n  Cline, block: the whole run ends\n"), "{shown:?}");
}

#[test]
fn an_agent_of_this_machine_comes_first() {
    let sandbox = CliSandbox::new().home_file(".claude/settings.json", "{}");
    let agents = list_agents(&sandbox);
    assert_eq!((&agents[0]["name"], &agents[0]["here"]), (&json!("claude"), &json!(true)));
    assert!(agents[1..].iter().all(|agent| agent["here"] == false));
    let elsewhere = sandbox.run_snell(&["list", "--agents", "--json", "--home", "/"], "").json();
    assert!(elsewhere.as_array().unwrap().iter().all(|agent| agent["here"] == false));
}

#[test]
fn options_about_hooks_do_not_apply_to_agents() {
    for option in [&["--project", "."][..], &["--require-trust"], &["--config", "x.json"]] {
        let ran = CliSandbox::new().run_snell(&[&["list", "--agents"], option].concat(), "");
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(ran.stderr.contains("cannot be used with"), "{ran:?}");
    }
}

/// The warnings of `snell lint` about losses.
fn lint_losses(sandbox: &CliSandbox, arguments: &[&str]) -> Vec<String> {
    let linted = sandbox.run_snell(&[&["lint", "--json"], arguments].concat(), "").json();
    let found = linted["diagnostics"].as_array().unwrap().iter();
    let messages = found.map(|found| found["message"].as_str().unwrap().to_owned());
    messages.filter(|message| message.starts_with("this hook")).collect()
}

const MODIFY: &str = "[[hook]]\nevent = 'PreToolUse'\nrun = './hook.sh'\nmodify = true\n";
const PLAIN: &str = "[[hook]]\nevent = 'PreToolUse'\nrun = './hook.sh'\n";
const AFTER: &str = "[[hook]]\nevent = 'PostToolUse'\nrun = './hook.sh'\nmodify = true\n";

/// A `snell.toml`, its script, an agent, and the warning.
const NATIVE_CASES: &[(&str, &str, &str, Option<&str>)] = &[
    (
        MODIFY,
        "true",
        "qwen",
        Some(
            "this hook changes input; under Qwen Code the call is denied instead, with the changed input in the reason",
        ),
    ),
    (MODIFY, "true", "claude", None),
    (MODIFY, "true", "gemini", None),
    // A script that only reads the input.
    (PLAIN, "jq .tool_input.command", "qwen", None),
    (PLAIN, "# updatedInput would not help here", "qwen", None),
    (AFTER, "true", "kimi", Some("this hook changes output; under Kimi Code that does nothing")),
    (
        AFTER,
        "true",
        "gemini",
        Some("this hook changes output; under Gemini CLI that is ignored, with a message to the user"),
    ),
    // Crush has no such event.
    (AFTER, "true", "crush", None),
    (
        PLAIN,
        r#"echo '{"decision": "ask", "reason": "sure?"}'"#,
        "gemini",
        Some("this hook asks the user; under Gemini CLI the call is denied instead"),
    ),
    (PLAIN, r#"echo '{"decision": "ask"}'"#, "copilot", None),
    (PLAIN, "# \"decision\": \"ask\"", "gemini", None),
];

#[test]
fn lint_warns_of_an_answer_that_an_agent_does_not_accept() {
    for (file, script, agent, expected) in NATIVE_CASES {
        let sandbox = CliSandbox::new().file("snell.toml", file).script("hook.sh", script);
        let found = lint_losses(&sandbox, &["--agent", agent]);
        assert_eq!(
            found,
            expected.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>(),
            "{file} {script} {agent}"
        );
    }
}

#[test]
fn lint_warns_of_a_borrowed_hook_by_the_words_of_its_script() {
    let hooks = json!({"PreToolUse": [{"hooks": [{"type": "command", "command": "python3 ./hook.py"}]}]});
    let script = "print({'hookSpecificOutput': {'permissionDecision': 'ask', 'additionalContext': 'x'}})";
    let sandbox = CliSandbox::new()
        .file("snell.toml", "borrow = [\"wave\", \"claude\"]\n")
        .hooks(".claude/settings.json", &hooks)
        .file("hook.py", script);
    let found = lint_losses(&sandbox, &["--agent", "codex", "--agent", "pi", "--agent", "gemini", "--agent", "claude"]);
    let expected = [
        "this hook asks the user; under Codex, Pi and Gemini CLI the call is denied instead",
        "this hook adds context on PreToolUse; under Pi and Gemini CLI the user reads it instead of the model",
    ];
    assert_eq!(found, expected);
    let alone = CliSandbox::new().hooks(".claude/settings.json", &hooks).file("hook.py", script);
    assert_eq!(lint_losses(&alone, &["--agent", "codex"]), [""; 0], "without `borrow` the hook does not run there");
    let named = lint_losses(&alone, &["--agent", "codex", "--config", ".claude/settings.json"]);
    assert_eq!(named, ["this hook asks the user; under Codex the call is denied instead"]);
}

#[test]
fn lint_knows_the_agents_of_this_machine() {
    let sandbox = CliSandbox::new().file("snell.toml", MODIFY).script("hook.sh", "true");
    assert_eq!(lint_losses(&sandbox, &[]), [""; 0]);
    let found = sandbox.home_file(".qwen/settings.json", "{}").home_file(".claude/settings.json", "{}");
    assert!(matches!(&lint_losses(&found, &[])[..], [one] if one.contains("under Qwen Code the call")));
    assert_eq!(lint_losses(&found, &["--agent", "claude"]), [""; 0]);
    let unknown = found.run_snell(&["lint", "--agent", "nobody"], "");
    assert_eq!(unknown.code, 1);
    assert!(unknown.stderr.contains("possible values"), "{unknown:?}");
}

/// A script that cannot be read as text, or that is too long, is no evidence.
#[test]
fn lint_reads_only_scripts_that_are_regular_files() {
    let hook = "[[hook]]\nevent = 'PreToolUse'\nrun = './hook.sh'\n[[hook]]\nevent = 'PreToolUse'\nrun = './pipe'\n";
    let long = format!("{}\necho '{{\"decision\": \"ask\"}}'", "x".repeat(300_000));
    let sandbox = CliSandbox::new().file("snell.toml", hook).script("hook.sh", &long);
    let made = std::process::Command::new("mkfifo").arg(sandbox.project().join("pipe")).status().unwrap();
    assert!(made.success());
    assert_eq!(lint_losses(&sandbox, &["--agent", "gemini"]), [""; 0]);
}
