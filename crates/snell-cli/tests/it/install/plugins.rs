//! The plugins of agents that run no commands, under Node.js: they apply Snell's answer, and block a call that Snell did not judge.

use std::fs;

use serde_json::{Value, json};
use snell_test_support::files::{write_file, write_script};
use snell_test_support::process::run_with_stdin;
use snell_test_support::skip::require_program;

use super::InstallHome;

/// Loads a plugin as OpenCode does, and tries calls. Prints what became of each.
const OPENCODE_HOST: &str = r#"
import { SnellPlugin } from "./snell.mjs";
const log = [];
const client = {
  session: {
    get: async () => ({ data: {} }),
    abort: async () => log.push("abort"),
    promptAsync: async ({ body }) => log.push(`prompt: ${body.parts[0].text}`),
  },
  tui: { showToast: async () => {} },
  app: { log: async ({ body }) => log.push(`${body.level}: ${body.message}`) },
};
const hooks = await SnellPlugin({ client, directory: process.cwd() });
async function call(command) {
  const output = { args: { command, description: "d" } };
  try {
    await hooks["tool.execute.before"]({ tool: "bash", sessionID: "s", callID: command }, output);
    log.push(`ran: ${JSON.stringify(output.args)}`);
  } catch (error) {
    log.push(`blocked: ${error.message}`);
  }
}
await hooks.event({ event: { type: "session.created", properties: { sessionID: "s", info: { id: "s" } } } });
const parts = [{ id: "prt_1", type: "text", text: "go" }];
await hooks["chat.message"]({ sessionID: "s" }, { message: { id: "m", model: { modelID: "x" } }, parts });
for (const part of parts.slice(1)) log.push(`context: ${part.text}`);
for (const command of process.argv.slice(2)) await call(command);
const done = { title: "", output: "out", metadata: {} };
await hooks["tool.execute.after"]({ tool: "bash", sessionID: "s", callID: "c", args: {} }, done);
log.push(`output: ${done.output}`);
await hooks.event({ event: { type: "session.idle", properties: { sessionID: "s" } } });
console.log(JSON.stringify(log));
"#;

/// The same for Pi.
const PI_HOST: &str = r#"
import register from "./snell.mjs";
const log = [];
const handlers = {};
register({ on: (name, handler) => (handlers[name] = handler), sendUserMessage: (text) => log.push(`prompt: ${text}`) });
const context = {
  cwd: process.cwd(), hasUI: true, sessionManager: { getSessionId: () => "s" },
  ui: { notify: (text, level) => log.push(`${level.slice(0, 4)}: ${text}`) }, abort: () => log.push("abort"),
};
await handlers.session_start({ reason: "startup" }, context);
const started = await handlers.before_agent_start({ prompt: "go" }, context);
if (started) log.push(`context: ${started.message.content}`);
for (const command of process.argv.slice(2)) {
  const event = { toolName: "bash", toolCallId: command, input: { command, description: "d" } };
  const answer = await handlers.tool_call(event, context);
  log.push(answer?.block ? `blocked: ${answer.reason}` : `ran: ${JSON.stringify(event.input)}`);
}
const content = [{ type: "text", text: "out" }];
const result = { toolName: "bash", toolCallId: "c", input: {}, content, isError: false };
const changed = await handlers.tool_result(result, context);
log.push(`output: ${(changed?.content ?? content).map((part) => part.text).join("|")}`);
await handlers.agent_end({ messages: [{ role: "assistant", content: [{ type: "text", text: "done" }] }] }, context);
console.log(JSON.stringify(log));
"#;

/// Each plugin: the agent, its file, its host, and how it logs.
const PLUGINS: &[(&str, &str, &str)] = &[
    ("opencode", ".config/opencode/plugins/snell.js", OPENCODE_HOST),
    ("kilo", ".config/kilo/plugins/snell.js", OPENCODE_HOST),
    ("pi", ".pi/agent/extensions/snell.js", PI_HOST),
];

/// Runs a plugin in its host with these commands; nothing if there is no Node.js. `program` stands in for Snell.
fn run_plugin(
    home: &InstallHome,
    (agent, path, host): &(&str, &str, &str),
    program: Option<&str>,
    commands: &[&str],
) -> Option<Vec<String>> {
    let node = require_program("node")?;
    home.run_successfully(&["install", agent]);
    let text = fs::read_to_string(home.sandbox.home().join(path)).unwrap();
    let own = home.program_path().display().to_string();
    let text = program.map_or_else(|| text.clone(), |program| text.replace(&own, program));
    let directory = home.sandbox.project();
    write_file(&directory.join("snell.mjs"), text);
    write_file(&directory.join("host.mjs"), host);
    let mut command = home.sandbox.program(node);
    let ran = run_with_stdin(command.arg("host.mjs").args(commands).env("SNELL_SCRIBE", "off"), "");
    assert_eq!(ran.code, 0, "{agent}: {ran:?}");
    let log: Value = serde_json::from_str(&ran.stdout).unwrap();
    Some(log.as_array().unwrap().iter().map(|line| line.as_str().unwrap().to_owned()).collect())
}

#[test]
fn a_plugin_applies_snells_answers() {
    for plugin in PLUGINS {
        let home = InstallHome::new();
        let hooks = "[[hook]]\nevent = 'PreToolUse'\nmodify = true\nrun = '''\ngrep -q 'echo old' && echo '{\"tool_input\": {\"command\": \"echo new\"}}' || true\n'''\n\
                     [[hook]]\nevent = 'SessionStart'\nrun = 'echo \"{\\\"context\\\": \\\"from the start\\\"}\"'\n\
                     [[hook]]\nevent = 'UserPromptSubmit'\nrun = 'echo \"{\\\"context\\\": \\\"from the prompt\\\"}\"'\n\
                     [[hook]]\nevent = 'PostToolUse'\nrun = 'echo \"{\\\"context\\\": \\\"from the result\\\"}\"'\n\
                     [[hook]]\nevent = 'Stop'\nrun = 'echo \"{\\\"decision\\\": \\\"deny\\\", \\\"reason\\\": \\\"go on\\\"}\"'\n";
        write_file(&home.sandbox.home().join(".config/snell/snell.toml"), hooks);
        let Some(log) = run_plugin(&home, plugin, None, &["echo hi", "rm -rf /", "echo old"]) else {
            return;
        };
        let has = |start: &str, part: &str| log.iter().any(|line| line.starts_with(start) && line.contains(part));
        assert!(has("context: ", "from the start\n\nfrom the prompt"), "{}: {log:#?}", plugin.0);
        assert!(has("ran: ", &json!({"command": "echo hi", "description": "d"}).to_string()), "{log:#?}");
        assert!(has("blocked: ", "rm would delete everything on this machine"), "{log:#?}");
        assert!(has("ran: ", "{\"command\":\"echo new\""), "{log:#?}");
        assert!(has("output: out", "from the result"), "{log:#?}");
        assert!(has("prompt: ", "go on"), "{log:#?}");
    }
}

#[test]
fn a_call_that_snell_does_not_judge_is_blocked_and_other_events_go_on() {
    for plugin in PLUGINS {
        let home = InstallHome::new();
        let broken = home.sandbox.project().join("broken");
        for (body, why) in [
            (None, "it cannot be started: "),
            (Some("exit 3\n"), "it ended with exit code 3"),
            (Some("echo boom >&2; exit 1\n"), "boom"),
            (Some("echo nonsense\n"), "its answer is not JSON"),
            (Some("kill -9 $$\n"), "it ended with SIGKILL"),
        ] {
            match body {
                Some(body) => write_script(&broken, body),
                None => drop(fs::remove_file(&broken)),
            }
            let Some(log) = run_plugin(&home, plugin, broken.to_str(), &["echo hi"]) else {
                return;
            };
            let reason = format!("blocked: Snell did not judge this call, so it is blocked: {why}");
            let hint = format!("To remove Snell: snell uninstall {}", plugin.0);
            assert!(log.iter().any(|line| line.starts_with(&reason) && line.ends_with(&hint)), "{why}: {log:#?}");
            assert!(log.iter().any(|line| line.starts_with("warn: Snell did not see ")), "{why}: {log:#?}");
            assert!(log.contains(&"output: out".to_owned()), "{why}: {log:#?}");
        }
    }
}
