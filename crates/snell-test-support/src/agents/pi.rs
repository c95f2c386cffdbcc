//! Pi.

use super::{AgentPackage, AgentToolSet, BASE_AGENT, RealAgent, ToolTemplate};

pub(super) static PI: RealAgent = RealAgent {
    name: "pi",
    title: "Pi",
    packages: &[AgentPackage { name: "@mariozechner/pi-coding-agent", version: "0.73.1" }],
    program: "node_modules/.bin/pi",
    variables: &[("PI_OFFLINE", "1")],
    home_files: &[(
        ".pi/agent/models.json",
        r#"{"providers": {"fake": {"baseUrl": "$URL/v1", "api": "openai-completions", "apiKey": "sk-test", "models": [{"id": "fake"}]}}}
"#,
    )],
    prompt_arguments: &["-p", "$PROMPT", "--provider", "fake", "--model", "fake"],
    resume_arguments: Some(&["--continue", "-p", "$PROMPT", "--provider", "fake", "--model", "fake"]),
    tools: AgentToolSet {
        shell: ToolTemplate { name: "bash", input: r#"{"command": "$COMMAND"}"# },
        other_shells: &[],
        write_file: ToolTemplate { name: "write", input: r#"{"path": "$PATH", "content": "$CONTENT"}"# },
        subagent: None,
        question: None,
    },
    ..BASE_AGENT
};
