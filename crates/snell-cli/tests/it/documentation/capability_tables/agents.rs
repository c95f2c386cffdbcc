//! Agents: whose hook files are run, and who can call Snell.

use serde_json::json;

use super::{MarkdownTable, render_yes};
use crate::support::CliSandbox;

/// An agent, a hook file of its own as its users write it, and the name by which it would be installed in.
struct AgentTableRow {
    name: &'static str,
    installed_as: &'static str,
    file: &'static str,
    text: &'static str,
    /// What only it sends to its hooks. One that cannot be answered in full is about to do something that must not be.
    sends: &'static str,
}

const AGENTS: &[AgentTableRow] = &[
    AgentTableRow {
        name: "Claude Code",
        installed_as: "claude",
        file: ".claude/settings.json",
        text: r#"{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"true"}]}]}}"#,
        sends: r#"{"session_id":"s","transcript_path":"/t","cwd":"/","hook_event_name":"Stop"}"#,
    },
    AgentTableRow {
        name: "Wave",
        installed_as: "wave",
        file: ".wave/settings.json",
        text: r#"{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"true"}]}]}}"#,
        sends: "",
    },
    AgentTableRow {
        name: "whale",
        installed_as: "whale",
        file: ".whale/hooks.json",
        text: r#"[{"event":"BeforeTool","command":"true"}]"#,
        sends: "",
    },
    AgentTableRow {
        name: "the flat format (`microai`)",
        installed_as: "microai",
        file: ".microai/settings.json",
        text: r#"{"hooks":{"PreToolUse":[{"matcher":"Bash","command":"true"}]}}"#,
        sends: "",
    },
    AgentTableRow {
        name: "Gemini CLI",
        installed_as: "gemini",
        file: ".gemini/settings.json",
        text: r#"{"hooks":{"BeforeTool":[{"matcher":"write_file","hooks":[{"type":"command","command":"true"}]}]}}"#,
        sends: r#"{"session_id":"s","cwd":"/","hook_event_name":"AfterAgent","timestamp":"2026-03-01T12:00:00Z",
            "prompt":"Hello","prompt_response":"Done.","stop_hook_active":false}"#,
    },
    AgentTableRow {
        name: "Codex CLI",
        installed_as: "codex",
        file: ".codex/hooks.json",
        text: r#"{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"true"}]}]}}"#,
        sends: r#"{"session_id":"s","turn_id":"t","model":"m","cwd":"/","hook_event_name":"PreToolUse",
            "tool_name":"Bash","tool_input":{"command":"rm -rf /"}}"#,
    },
    AgentTableRow {
        name: "Cursor",
        installed_as: "cursor",
        file: ".cursor/hooks.json",
        text: r#"{"version":1,"hooks":{"preToolUse":[{"command":"true"}]}}"#,
        sends: r#"{"conversation_id":"c","cursor_version":"3.9.16","hook_event_name":"preToolUse",
            "tool_name":"Shell","tool_input":{"command":"rm -rf /"}}"#,
    },
    AgentTableRow {
        name: "Copilot CLI",
        installed_as: "copilot",
        file: ".github/hooks/hooks.json",
        text: r#"{"version":1,"hooks":{"preToolUse":[{"type":"command","bash":"true"}]}}"#,
        sends: r#"{"sessionId":"s","timestamp":1,"cwd":"/","toolName":"bash","toolArgs":"{\"command\":\"rm -rf /\"}"}"#,
    },
];

/// Whether the hooks of its file run, if the file lies in a project as its users write it.
fn is_hook_file_read(agent: &AgentTableRow) -> bool {
    let sandbox = CliSandbox::new().file(agent.file, agent.text);
    sandbox.run_snell(&["list", "--json"], "").json() != json!([])
}

/// Whether Snell can be put into its settings.
fn can_install(agent: &AgentTableRow) -> bool {
    let ran = CliSandbox::new().run_snell(&["install", agent.installed_as, "--project", "--dry-run"], "");
    ran.code == 0 && ran.stdout.contains(agent.file)
}

/// Whether its payload is answered, or at least refused where it must be.
fn describe_answer(agent: &AgentTableRow) -> String {
    if agent.sends.is_empty() {
        return super::NOTHING.to_owned();
    }
    let sandbox = CliSandbox::with_frozen_clock();
    let ran = sandbox.run_snell(&["hook"], agent.sends);
    assert_eq!(ran.stdout, "", "{}", agent.name);
    assert_ne!(sandbox.run_snell(&["log", "--json"], "").stdout, "", "{}", agent.name);
    match (ran.code, ran.stderr.is_empty()) {
        (0, true) => render_yes(true),
        (2, false) => "deny only".to_owned(),
        _ => super::NOTHING.to_owned(),
    }
}

pub fn render_agents_table() -> String {
    let mut table = MarkdownTable::new(["product", "runs its hook files", "`snell install`", "as a guest"]);
    for agent in AGENTS {
        table.push_row(
            agent.name,
            [render_yes(is_hook_file_read(agent)), render_yes(can_install(agent)), describe_answer(agent)],
        );
    }
    table.to_markdown()
}
