//! Qwen Code.

use super::{AgentPackage, AgentToolSet, BASE_AGENT, RealAgent, ToolTemplate};

pub(super) static QWEN: RealAgent = RealAgent {
    name: "qwen",
    title: "Qwen Code",
    packages: &[AgentPackage { name: "@qwen-code/qwen-code", version: "0.24.4" }],
    program: "node_modules/.bin/qwen",
    variables: &[("OPENAI_API_KEY", "sk-test"), ("OPENAI_BASE_URL", "$URL/v1"), ("OPENAI_MODEL", "fake")],
    home_files: &[(
        ".qwen/settings.json",
        r#"{"security": {"auth": {"selectedType": "openai"}}}
"#,
    )],
    prompt_arguments: &["-p", "$PROMPT", "--yolo", "--auth-type", "openai"],
    resume_arguments: Some(&["--continue", "-p", "$PROMPT", "--yolo", "--auth-type", "openai"]),
    tools: AgentToolSet {
        shell: ToolTemplate {
            name: "run_shell_command",
            input: r#"{"command": "$COMMAND", "description": "a step of the script", "is_background": false}"#,
        },
        other_shells: &[
            ToolTemplate {
                name: "tool_call",
                input: r#"{"name": "monitor", "arguments": {"command": "$COMMAND", "description": "a step of the script"}}"#,
            },
            ToolTemplate {
                name: "monitor",
                input: r#"{"command": "$COMMAND", "description": "a step of the script"}"#,
            },
        ],
        write_file: ToolTemplate { name: "write_file", input: r#"{"file_path": "$PATH", "content": "$CONTENT"}"# },
        subagent: Some(ToolTemplate {
            name: "agent",
            input: r#"{"description": "list files", "prompt": "$PROMPT", "subagent_type": "general-purpose"}"#,
        }),
        question: None,
    },
    ..BASE_AGENT
};
