//! Claude Code.

use super::{AgentPackage, AgentToolSet, BASE_AGENT, RealAgent, ToolTemplate};

pub(super) static CLAUDE: RealAgent = RealAgent {
    name: "claude",
    title: "Claude Code",
    packages: &[AgentPackage { name: "@anthropic-ai/claude-code", version: "2.1.325" }],
    program: "node_modules/.bin/claude",
    variables: &[
        ("ANTHROPIC_BASE_URL", "$URL"),
        ("ANTHROPIC_API_KEY", "sk-test"),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("DISABLE_AUTOUPDATER", "1"),
        ("DISABLE_TELEMETRY", "1"),
        ("IS_SANDBOX", "1"),
    ],
    home_files: &[(
        ".claude.json",
        r#"{
  "hasCompletedOnboarding": true,
  "theme": "dark",
  "customApiKeyResponses": {"approved": ["sk-test"], "rejected": []},
  "projects": {"$PROJECT": {"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true}}
}
"#,
    )],
    prompt_arguments: &[
        "-p",
        "$PROMPT",
        "--output-format",
        "stream-json",
        "--verbose",
        "--permission-mode",
        "bypassPermissions",
    ],
    resume_arguments: Some(&[
        "-p",
        "$PROMPT",
        "--continue",
        "--output-format",
        "stream-json",
        "--verbose",
        "--permission-mode",
        "bypassPermissions",
    ]),
    tools: AgentToolSet {
        shell: ToolTemplate {
            name: "Bash",
            input: r#"{"command": "$COMMAND", "description": "a step of the script"}"#,
        },
        other_shells: &[],
        write_file: ToolTemplate { name: "Write", input: r#"{"file_path": "$PATH", "content": "$CONTENT"}"# },
        subagent: Some(ToolTemplate {
            name: "Agent",
            input: r#"{"description": "list files", "prompt": "$PROMPT", "subagent_type": "general-purpose"}"#,
        }),
        question: Some(ToolTemplate {
            name: "AskUserQuestion",
            input: r#"{"questions": [{"question": "$PROMPT", "header": "Choice", "multiSelect": false, "options": [{"label": "Red", "description": "The red one"}, {"label": "Blue", "description": "The blue one"}]}]}"#,
        }),
    },
    ..BASE_AGENT
};
