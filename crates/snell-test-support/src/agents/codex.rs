//! Codex.

use super::{AgentPackage, AgentToolSet, BASE_AGENT, NO_RESOLVER, RealAgent, ToolTemplate};

pub(super) static CODEX: RealAgent = RealAgent {
    name: "codex",
    title: "Codex",
    packages: &[AgentPackage { name: "@openai/codex", version: "0.166.0" }],
    program: "node_modules/.bin/codex",
    variables: &[("OPENAI_API_KEY", "sk-test"), NO_RESOLVER],
    home_files: &[(
        ".codex/config.toml",
        r#"model = "gpt-5.5"
model_provider = "fake"

[model_providers.fake]
name = "fake"
base_url = "$URL/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
supports_websockets = false
request_max_retries = 0
stream_max_retries = 0
"#,
    )],
    prompt_arguments: &[
        "exec",
        "--skip-git-repo-check",
        "--dangerously-bypass-approvals-and-sandbox",
        "--dangerously-bypass-hook-trust",
        "$PROMPT",
    ],
    resume_arguments: Some(&[
        "exec",
        "resume",
        "--last",
        "--skip-git-repo-check",
        "--dangerously-bypass-approvals-and-sandbox",
        "--dangerously-bypass-hook-trust",
        "$PROMPT",
    ]),
    tools: AgentToolSet {
        shell: ToolTemplate { name: "exec_command", input: r#"{"cmd": "$COMMAND"}"# },
        other_shells: &[],
        write_file: ToolTemplate {
            name: "apply_patch",
            input: r#""*** Begin Patch\n*** Add File: $PATH\n+$CONTENT\n*** End Patch""#,
        },
        subagent: Some(ToolTemplate { name: "multi_agent_v1.spawn_agent", input: r#"{"message": "$PROMPT"}"# }),
        question: None,
    },
    ..BASE_AGENT
};
