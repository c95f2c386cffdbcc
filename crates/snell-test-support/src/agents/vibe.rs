//! Mistral Vibe.

use super::{AgentPackage, AgentToolSet, BASE_AGENT, PackageSource, RealAgent, ToolTemplate};

pub(super) static VIBE: RealAgent = RealAgent {
    name: "vibe",
    title: "Mistral Vibe",
    source: PackageSource::PythonVenv,
    packages: &[AgentPackage { name: "mistral-vibe", version: "3.0.2" }],
    program: "venv/bin/vibe",
    variables: &[("MISTRAL_API_KEY", "sk-test")],
    home_files: &[(
        ".vibe/config.toml",
        r#"active_model = "fake"
enable_telemetry = false
enable_update_checks = false

[[providers]]
name = "fake"
api_base = "$URL/v1"
api_key_env_var = "MISTRAL_API_KEY"
backend = "generic"

[[models]]
name = "fake"
provider = "fake"
alias = "fake"
"#,
    )],
    prompt_arguments: &["-p", "$PROMPT", "--auto-approve", "--trust"],
    resume_arguments: Some(&["--continue", "-p", "$PROMPT", "--auto-approve", "--trust"]),
    tools: AgentToolSet {
        shell: ToolTemplate { name: "bash", input: r#"{"command": "$COMMAND"}"# },
        other_shells: &[ToolTemplate {
            name: "run_typescript",
            input: r#"{"code": "async function main() { return await tools.file_system.bash({ command: '$COMMAND' }); }"}"#,
        }],
        write_file: ToolTemplate { name: "write_file", input: r#"{"path": "$PATH", "content": "$CONTENT"}"# },
        subagent: None,
        question: None,
    },
    ..BASE_AGENT
};
