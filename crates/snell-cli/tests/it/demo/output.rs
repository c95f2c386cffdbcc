//! What is shown: in the terminal, and by the receiver.

use std::collections::BTreeSet;
use std::fs;

use rustix::process::Signal;
use serde_json::Value;
use snell_test_support::files::write_script;
use snell_test_support::http::HttpRequest;
use snell_test_support::wait::wait_until;

use super::DemoSandbox;
use crate::support::CliSandbox;

/// The lines of a session, in this order: agent, action, result.
const LINES: &[(&str, &str, &str)] = &[
    ("you", "snell trust lighthouse", "hooks of 4 files may run"),
    ("builder", "starts", "The lamp needs a health check"),
    ("builder", "prompt: ", "context: main is frozen"),
    ("reviewer", "starts", "context: Reviews end with a question"),
    ("builder", "Read src/lamp.js", "ok"),
    ("nightly", "starts", "ok"),
    (
        "nightly",
        "mcp__mail__send_email",
        "blocked: \"mcp__mail__send_email\" may not run in a session in mode \"background\"",
    ),
    ("builder", "Bash npm install", "changed to npm ci"),
    ("builder", "Bash grep -rn 'rm -rf' docs", "ok"),
    ("builder", "Bash sh -c 'cd ~ && rm -rf .'", "blocked: rm would delete the whole home directory"),
    ("builder", "Write package-lock.json", "blocked: package-lock.json is for npm to write"),
    ("reviewer", "Bash git push --force origin main", "a force-push rewrites what others have · main is protected"),
    ("builder", "asks: ", "awaiting input"),
    ("you", "answer builder: 9090", "it is processing again"),
    ("nightly", "is killed", "exited without a SessionEnd event"),
    ("builder", "status line", "context 63 %"),
    ("builder", "prompt: ", "context: Context at 60%"),
    ("builder", "stops: ", "context: Memory check (60% context used)"),
    ("reviewer", "stops: ", "ok"),
    ("builder", "ends", "ok"),
];

#[test]
fn the_terminal_tells_everything_and_nothing_is_left() {
    let theatre = DemoSandbox::new();
    let (text, end) = theatre.spawn_demo(&["--fast"]).read_to_end();
    assert_eq!((end.code, end.stderr.as_str()), (Some(0), ""), "{text}");
    assert!(text.starts_with("Snell's page: http://127.0.0.1:"), "{text}");
    let mut lines = text.lines();
    for (who, what, came) in LINES {
        let is_it = |line: &str| {
            let Some((happened, outcome)) = line.split_once(" → ") else {
                return false;
            };
            happened.contains(&format!(" {who:8} {what}")) && outcome.contains(came)
        };
        assert!(lines.any(is_it), "{who}: {what} → {came} is not in its place in:\n{text}");
    }
    let summary = text.split_once("\nResults\n").unwrap().1;
    for sign in [
        "blocked  builder: Bash sh -c",
        "by the guard: rm would delete the whole home directory",
        "by hooks: package-lock.json is for npm to write",
        "by the messaging rules: \"mcp__mail__send_email\"",
        "changed  builder: Bash npm install",
        "context  builder: starts",
        "Time of hooks",
        "(0 failed)",
    ] {
        assert!(summary.contains(sign), "{sign}: {summary}");
    }
    assert!(summary.contains("1 verdict of the guard."), "{summary}");
    let blocked = "4 calls blocked: 1 by the guard, 2 by hooks, 1 by the messaging rules.";
    assert!(summary.contains(blocked), "{summary}");
    assert!(!text.contains('\u{1b}'), "{text}");
    theatre.assert_nothing_left();
}

#[test]
fn the_receiver_has_everything_for_as_long_as_it_stays() {
    let theatre = DemoSandbox::new();
    let mut demo = theatre.spawn_demo(&["--fast", "--keep"]);
    let text = demo.read_until("The page stays");
    assert!(text.contains("until you press Ctrl-C"), "{text}");
    let address = text.lines().next().unwrap().split("http://").nth(1).unwrap();
    let items = |path: &str| {
        let page = get_json(address.trim_end_matches('/'), path);
        page["items"].as_array().cloned().unwrap_or_default()
    };

    let agents: BTreeSet<_> = items("/api/agents?ended=true")
        .iter()
        .map(|agent| {
            ["session_id", "product", "project", "state", "state_source"]
                .map(|field| expect_text_field(agent, field))
                .join(" ")
        })
        .collect();
    let expected = [
        "builder claude lighthouse ended hook",
        "nightly claude harbour ended process",
        "reviewer lantern lighthouse awaiting_input hook",
    ];
    assert_eq!(agents, expected.map(str::to_owned).into());

    let contracts: BTreeSet<_> = items("/api/hooks").iter().map(|hook| expect_text_field(hook, "contract")).collect();
    let expected = ["claude", "claude-os", "microai", "snell", "wave", "whale"];
    assert_eq!(contracts, expected.map(str::to_owned).into());
    assert!(items("/api/hooks").iter().all(|hook| hook["failures"] == 0 && hook["timeouts"] == 0));

    let blocked = items("/api/events?decision=block");
    let blocked: BTreeSet<_> = blocked.iter().map(|event| expect_text_field(event, "tool")).collect();
    let expected = ["Bash", "Write", "mcp__mail__send_email"];
    assert_eq!(blocked, expected.map(str::to_owned).into());

    // A call and its end are one: how long it took is known, and with what it was made in the end.
    let calls = items("/api/events?tool=Bash&session_id=builder");
    let told_of = |event: &str, about: &str| {
        let is_it = |call: &&Value| call["event"] == event && call["tool_summary"] == about;
        calls.iter().find(is_it).unwrap_or_else(|| panic!("{event} {about}: {calls:?}"))
    };
    let (begun, ended) = (told_of("PreToolUse", "npm install"), told_of("PostToolUse", "npm ci"));
    assert_eq!(begun["payload"]["tool_use_id"], ended["payload"]["tool_use_id"]);
    assert!(ended["tool_duration_ms"].is_number(), "{ended}");

    let guard = items("/api/guard");
    assert_eq!(guard.len(), 1, "{guard:?}");
    assert_eq!(guard[0]["decision"], "deny", "{guard:?}");

    // However long somebody looks at it, nobody is said to have fallen silent.
    let status = get_json(address.trim_end_matches('/'), "/hook/status");
    assert_eq!(status["mode"], "hooks_active", "{status}");
    assert!(status["config"]["silent_after"].as_f64() > Some(3600.0), "{status}");

    demo.send_signal(Signal::INT);
    let (_, end) = demo.read_to_end();
    assert_eq!((end.code, end.stderr.as_str()), (Some(0), ""));
    theatre.assert_nothing_left();
}

#[test]
fn what_surrounds_its_user_does_not_get_in() {
    let sandbox = CliSandbox::new()
        .env("PATH", "/nowhere")
        .env("CLAUDE_PROJECT_DIR", "/nowhere")
        .env("CLAUDE_SESSION_ID", "mine")
        .env("CLAUDE_SESSION_ROLE", "chief")
        .env("CLAUDE_SESSION_MODE", "mission")
        .env("CLAUDE_PID", "1")
        .env("CLAUDE_CONFIG_DIR", "/nowhere")
        .env("TMUX", "/nowhere/tmux,1,0")
        .env("TMUX_PANE", "%1")
        .env("SNELL_NOW", "2001-01-01T00:00:00Z")
        .env("SNELL_URL", "http://127.0.0.1:9")
        .env("SNELL_DEPTH", "8")
        .env("GEMINI_SESSION_ID", "mine")
        .env("http_proxy", "http://127.0.0.1:9")
        .env("XDG_CONFIG_HOME", "/nowhere")
        .env("XDG_DATA_HOME", "/nowhere");
    let theatre = DemoSandbox::with_sandbox(sandbox);
    let (text, end) = theatre.spawn_demo(&["--fast"]).read_to_end();
    assert_eq!((end.code, end.stderr.as_str()), (Some(0), ""), "{text}");
    for (_, _, came) in LINES {
        assert!(text.contains(came), "{came} is not in:\n{text}");
    }
    theatre.assert_nothing_left();
}

#[test]
fn a_browser_is_opened_only_for_those_who_ask() {
    for (args, opened) in [(&["--fast"][..], false), (&["--fast", "--open"], true)] {
        let theatre = DemoSandbox::new();
        let programs = tempfile::tempdir().unwrap();
        let seen = programs.path().join("seen");
        for name in ["xdg-open", "open"] {
            let program = programs.path().join(name);
            write_script(&program, &format!("echo \"$1\" > '{}'", seen.display()));
        }
        let mut command = theatre.demo_command(args);
        let output = command.env("PATH", programs.path()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let shown = String::from_utf8(output.stdout).unwrap();
        let address = shown.lines().next().unwrap().trim_start_matches("Snell's page: ");
        if opened {
            let written = || fs::read_to_string(&seen).ok().filter(|text| text.ends_with('\n'));
            assert_eq!(wait_until(written).trim(), address);
        } else {
            assert!(!seen.exists(), "{args:?}");
        }
        theatre.assert_nothing_left();
    }
}

fn expect_text_field(item: &Value, field: &str) -> String {
    item[field].as_str().unwrap_or_else(|| panic!("{field} of {item}")).to_owned()
}

fn get_json(address: &str, path: &str) -> Value {
    HttpRequest::new(address, "GET", path).send().expect_json()
}
