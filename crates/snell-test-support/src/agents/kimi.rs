//! Kimi Code.

use super::{AgentPackage, AgentToolSet, BASE_AGENT, RealAgent, ToolTemplate};

pub(super) static KIMI: RealAgent = RealAgent {
    name: "kimi",
    title: "Kimi Code",
    packages: &[AgentPackage { name: "@moonshot-ai/kimi-code", version: "2.1.0" }],
    program: "node_modules/.bin/kimi",
    variables: &[("KIMI_CODE_NO_AUTO_UPDATE", "1"), ("KIMI_DISABLE_TELEMETRY", "1")],
    home_files: &[(
        ".kimi-code/config.toml",
        r#"default_model = "fake"

[providers.fake]
type = "openai"
base_url = "$URL/v1"
api_key = "sk-test"

[models.fake]
provider = "fake"
model = "fake"
max_context_size = 200000
"#,
    )],
    prompt_arguments: &["-p", "$PROMPT"],
    resume_arguments: Some(&["--continue", "-p", "$PROMPT"]),
    tools: AgentToolSet {
        shell: ToolTemplate { name: "Bash", input: r#"{"command": "$COMMAND"}"# },
        other_shells: &[],
        write_file: ToolTemplate { name: "Write", input: r#"{"path": "$PATH", "content": "$CONTENT"}"# },
        subagent: Some(ToolTemplate { name: "Agent", input: r#"{"description": "list files", "prompt": "$PROMPT"}"# }),
        question: Some(ToolTemplate {
            name: "AskUserQuestion",
            input: r#"{"questions": [{"question": "$PROMPT", "header": "Choice", "multiSelect": false, "options": [{"label": "Red", "description": "The red one"}, {"label": "Blue", "description": "The blue one"}]}]}"#,
        }),
    },
    ..BASE_AGENT
};
