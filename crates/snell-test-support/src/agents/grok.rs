//! Grok Build.

use super::{AgentPackage, AgentToolSet, BASE_AGENT, NO_RESOLVER, RealAgent, ToolTemplate};

pub(super) static GROK: RealAgent = RealAgent {
    name: "grok",
    title: "Grok Build",
    packages: &[AgentPackage { name: "@xai-official/grok", version: "1.0.41" }],
    program: "node_modules/.bin/grok",
    variables: &[
        NO_RESOLVER,
        ("XAI_API_KEY", "sk-test"),
        ("GROK_DISABLE_AUTOUPDATER", "1"),
        ("GROK_TELEMETRY_ENABLED", "0"),
    ],
    home_files: &[(
        ".grok/config.toml",
        r#"[models]
default = "fake"

[model.fake]
model = "fake"
base_url = "$URL/v1"
api_key = "sk-test"
api_backend = "chat_completions"
"#,
    )],
    prompt_arguments: &["-p", "$PROMPT", "--always-approve", "-m", "fake"],
    resume_arguments: Some(&["--continue", "-p", "$PROMPT", "--always-approve", "-m", "fake"]),
    tools: AgentToolSet {
        shell: ToolTemplate {
            name: "run_terminal_command",
            input: r#"{"command": "$COMMAND", "description": "a step of the script"}"#,
        },
        other_shells: &[ToolTemplate {
            name: "monitor",
            input: r#"{"command": "$COMMAND", "description": "a step of the script"}"#,
        }],
        write_file: ToolTemplate { name: "write", input: r#"{"file_path": "$PATH", "content": "$CONTENT"}"# },
        subagent: Some(ToolTemplate {
            name: "spawn_subagent",
            input: r#"{"prompt": "$PROMPT", "description": "list files", "background": false}"#,
        }),
        question: Some(ToolTemplate {
            name: "ask_user_question",
            input: r#"{"questions": [{"question": "$PROMPT", "header": "Choice", "multiSelect": false, "options": [{"label": "Red", "description": "The red one"}, {"label": "Blue", "description": "The blue one"}]}]}"#,
        }),
    },
    ..BASE_AGENT
};
