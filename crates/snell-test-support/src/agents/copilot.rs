//! Copilot CLI.

use super::{AgentPackage, AgentToolSet, BASE_AGENT, RealAgent, ToolTemplate};

pub(super) static COPILOT: RealAgent = RealAgent {
    name: "copilot",
    title: "Copilot CLI",
    packages: &[AgentPackage { name: "@github/copilot", version: "1.0.102" }],
    program: "node_modules/.bin/copilot",
    variables: &[
        ("COPILOT_PROVIDER_BASE_URL", "$URL/v1"),
        ("COPILOT_PROVIDER_TYPE", "openai"),
        ("COPILOT_PROVIDER_API_KEY", "sk-test"),
        ("COPILOT_MODEL", "gpt-5"),
        ("COPILOT_OFFLINE", "true"),
        ("COPILOT_AUTO_UPDATE", "false"),
    ],
    prompt_arguments: &["-p", "$PROMPT", "--allow-all-tools"],
    resume_arguments: Some(&["--continue", "-p", "$PROMPT", "--allow-all-tools"]),
    tools: AgentToolSet {
        shell: ToolTemplate {
            name: "bash",
            input: r#"{"command": "$COMMAND", "description": "a step of the script", "mode": "sync"}"#,
        },
        other_shells: &[],
        write_file: ToolTemplate { name: "create", input: r#"{"path": "$PATH", "file_text": "$CONTENT"}"# },
        subagent: Some(ToolTemplate {
            name: "task",
            input: r#"{"description": "list files", "prompt": "$PROMPT", "agent_type": "general-purpose", "name": "lister", "mode": "sync"}"#,
        }),
        question: None,
    },
    ..BASE_AGENT
};
