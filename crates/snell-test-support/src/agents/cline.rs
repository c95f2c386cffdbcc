//! Cline. It takes a prompt only if it has several words.

use super::{AgentPackage, AgentToolSet, BASE_AGENT, RealAgent, ToolTemplate};

pub(super) static CLINE: RealAgent = RealAgent {
    name: "cline",
    title: "Cline",
    packages: &[AgentPackage { name: "cline", version: "3.0.65" }],
    program: "node_modules/.bin/cline",
    variables: &[("CLINE_NO_AUTO_UPDATE", "1"), ("CLINE_TELEMETRY_DISABLED", "1")],
    home_files: &[(
        ".cline/data/settings/providers.json",
        r#"{"version": 1, "lastUsedProvider": "openai-compatible", "modes": {}, "providers": {"openai-compatible": {"settings":
  {"provider": "openai-compatible", "apiKey": "sk-test", "model": "fake", "baseUrl": "$URL/v1"}, "updatedAt": "2026-11-12T10:00:00.000Z", "tokenSource": "manual"}}}
"#,
    )],
    prompt_arguments: &["$PROMPT"],
    tools: AgentToolSet {
        shell: ToolTemplate { name: "run_commands", input: r#"{"commands": ["$COMMAND"]}"# },
        other_shells: &[],
        write_file: ToolTemplate { name: "editor", input: r#"{"path": "$PATH", "new_text": "$CONTENT"}"# },
        subagent: Some(ToolTemplate {
            name: "spawn_agent",
            input: r#"{"systemPrompt": "You list files.", "task": "$PROMPT"}"#,
        }),
        question: Some(ToolTemplate {
            name: "ask_question",
            input: r#"{"question": "$PROMPT", "options": ["Red", "Blue"]}"#,
        }),
    },
    ..BASE_AGENT
};
