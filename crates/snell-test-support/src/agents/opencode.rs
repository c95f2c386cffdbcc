//! OpenCode. Without the plugin package beside its settings it tries to download it, for more than a minute.

use super::{AgentPackage, AgentToolSet, BASE_AGENT, RealAgent, ToolTemplate};

pub(super) static OPENCODE: RealAgent = RealAgent {
    name: "opencode",
    title: "OpenCode",
    packages: &[
        AgentPackage { name: "opencode-ai", version: "1.18.33" },
        AgentPackage { name: "@opencode-ai/plugin", version: "1.18.33" },
    ],
    program: "node_modules/.bin/opencode",
    variables: &[
        ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
        ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
        ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
    ],
    home_files: &[(
        ".config/opencode/opencode.json",
        r#"{"model": "fake/fake", "small_model": "fake/fake", "provider": {"fake": {"npm": "@ai-sdk/openai-compatible", "name": "fake", "options": {"baseURL": "$URL/v1", "apiKey": "sk-test"}, "models": {"fake": {"name": "fake"}}}}}
"#,
    )],
    home_copies: &[
        ("package.json", ".config/opencode/package.json"),
        ("package-lock.json", ".config/opencode/package-lock.json"),
        ("node_modules", ".config/opencode/node_modules"),
    ],
    prompt_arguments: &["run", "$PROMPT"],
    resume_arguments: Some(&["run", "--continue", "$PROMPT"]),
    tools: AgentToolSet {
        shell: ToolTemplate {
            name: "bash",
            input: r#"{"command": "$COMMAND", "description": "a step of the script"}"#,
        },
        other_shells: &[],
        write_file: ToolTemplate { name: "write", input: r#"{"filePath": "$PATH", "content": "$CONTENT"}"# },
        subagent: Some(ToolTemplate {
            name: "task",
            input: r#"{"description": "list files", "prompt": "$PROMPT", "subagent_type": "general"}"#,
        }),
        question: None,
    },
    ..BASE_AGENT
};
