//! Gemini CLI.

use super::{AgentPackage, AgentToolSet, BASE_AGENT, RealAgent, ToolTemplate};

pub(super) static GEMINI: RealAgent = RealAgent {
    name: "gemini",
    title: "Gemini CLI",
    packages: &[AgentPackage { name: "@google/gemini-cli", version: "0.61.0" }],
    program: "node_modules/.bin/gemini",
    variables: &[
        ("GEMINI_API_KEY", "sk-test"),
        ("GOOGLE_GEMINI_BASE_URL", "$URL"),
        ("GEMINI_CLI_TRUST_WORKSPACE", "true"),
    ],
    home_files: &[(
        ".gemini/settings.json",
        r#"{"security": {"auth": {"selectedType": "gemini-api-key"}}}
"#,
    )],
    prompt_arguments: &["-p", "$PROMPT", "--yolo", "-m", "gemini-2.5-pro"],
    resume_arguments: Some(&["--resume", "latest", "-p", "$PROMPT", "--yolo", "-m", "gemini-2.5-pro"]),
    tools: AgentToolSet {
        shell: ToolTemplate {
            name: "run_shell_command",
            input: r#"{"command": "$COMMAND", "description": "a step of the script"}"#,
        },
        other_shells: &[],
        write_file: ToolTemplate { name: "write_file", input: r#"{"file_path": "$PATH", "content": "$CONTENT"}"# },
        subagent: Some(ToolTemplate {
            name: "invoke_agent",
            input: r#"{"agent_name": "generalist", "prompt": "$PROMPT"}"#,
        }),
        question: None,
    },
    ..BASE_AGENT
};
