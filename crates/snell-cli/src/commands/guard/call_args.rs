//! The call that the command line names.

use anyhow::Context;
use serde_json::{Value, json};
use snell::ToolCall;

use super::wire;

/// The tool that runs a command, as most agents call it.
const SHELL_TOOL: &str = "Bash";

/// Which call
#[derive(Debug, clap::Args)]
pub(super) struct GuardCallArgs {
    /// The command to judge, as one argument
    #[arg(value_name = "COMMAND", conflicts_with_all = ["tool", "input"])]
    command: Option<String>,
    /// The name of a tool, instead of a command
    #[arg(long, value_name = "NAME", requires = "input")]
    tool: Option<String>,
    /// The tool's input as JSON
    #[arg(long, value_name = "JSON", requires = "tool")]
    input: Option<String>,
}

/// A call of a tool.
#[derive(Debug)]
pub(super) struct ToolCallRequest {
    pub(super) tool: String,
    pub(super) input: Value,
}

impl GuardCallArgs {
    /// The call, if one is named.
    pub(super) fn parse_call(&self) -> anyhow::Result<Option<ToolCallRequest>> {
        if let Some(command) = &self.command {
            return Ok(Some(ToolCallRequest { tool: SHELL_TOOL.to_owned(), input: json!({ "command": command }) }));
        }
        let (Some(tool), Some(input)) = (&self.tool, &self.input) else {
            return Ok(None);
        };
        let input = wire::parse_json(input).map_err(anyhow::Error::msg).context("--input is not JSON")?;
        Ok(Some(ToolCallRequest { tool: tool.clone(), input }))
    }
}

impl ToolCallRequest {
    /// The text of its command. Spans of a judgement refer to this text.
    pub(super) fn command(&self) -> Option<&str> {
        self.input.get("command").unwrap_or(&self.input).as_str()
    }
}

/// Describes a call in one line.
pub(super) fn summarize_call(tool: &str, input: &Value) -> String {
    let call = ToolCall { name: tool.to_owned(), input: Some(input.clone()), ..ToolCall::default() };
    match call.principal_argument() {
        Some(argument) => format!("{tool} {argument}"),
        None => tool.to_owned(),
    }
}
