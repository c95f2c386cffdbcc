//! Kilo. Without the plugin package beside its settings it tries to download it, for more than a minute.

use super::{AgentPackage, AgentToolSet, BASE_AGENT, RealAgent, ToolTemplate};

pub(super) static KILO: RealAgent = RealAgent {
    name: "kilo",
    title: "Kilo",
    packages: &[
        AgentPackage { name: "@kilocode/cli", version: "7.7.7" },
        AgentPackage { name: "@kilocode/cli-linux-x64", version: "7.7.7" },
        AgentPackage { name: "@kilocode/plugin", version: "7.3.1" },
    ],
    program: "node_modules/.bin/kilo",
    variables: &[
        ("KILO_DISABLE_AUTOUPDATE", "1"),
        ("KILO_DISABLE_MODELS_FETCH", "1"),
        ("KILO_DISABLE_LSP_DOWNLOAD", "1"),
        ("KILO_DISABLE_CODEBASE_INDEXING", "1"),
        ("KILO_TELEMETRY_LEVEL", "off"),
    ],
    home_files: &[(
        ".config/kilo/kilo.json",
        r#"{"model": "fake/fake", "small_model": "fake/fake", "provider": {"fake": {"npm": "@ai-sdk/openai-compatible", "name": "fake", "options": {"baseURL": "$URL/v1", "apiKey": "sk-test"}, "models": {"fake": {"name": "fake"}}}}}
"#,
    )],
    home_copies: &[
        ("package.json", ".config/kilo/package.json"),
        ("package-lock.json", ".config/kilo/package-lock.json"),
        ("node_modules", ".config/kilo/node_modules"),
    ],
    prompt_arguments: &["run", "$PROMPT"],
    resume_arguments: Some(&["run", "--continue", "$PROMPT"]),
    tools: AgentToolSet {
        shell: ToolTemplate {
            name: "bash",
            input: r#"{"command": "$COMMAND", "description": "a step of the script"}"#,
        },
        other_shells: &[ToolTemplate {
            name: "background_process",
            input: r#"{"action": "start", "command": "$COMMAND", "description": "a step of the script"}"#,
        }],
        write_file: ToolTemplate { name: "write", input: r#"{"filePath": "$PATH", "content": "$CONTENT"}"# },
        subagent: Some(ToolTemplate {
            name: "task",
            input: r#"{"description": "list files", "prompt": "$PROMPT", "subagent_type": "general"}"#,
        }),
        question: None,
    },
    ..BASE_AGENT
};
