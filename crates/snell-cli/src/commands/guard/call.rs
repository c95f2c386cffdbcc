//! The one call that a command line names.

use anyhow::Context;
use serde_json::{Value, json};
use snell::Tool;

use super::wire;

/// The tool that runs a command, as most agents call it.
const SHELL: &str = "Bash";

/// Which call
#[derive(Debug, clap::Args)]
pub(super) struct Which {
    /// The command that would be run, as one argument
    #[arg(value_name = "COMMAND", conflicts_with_all = ["tool", "input"])]
    command: Option<String>,
    /// A tool by its name, instead of a command
    #[arg(long, value_name = "NAME", requires = "input")]
    tool: Option<String>,
    /// The tool's input as JSON
    #[arg(long, value_name = "JSON", requires = "tool")]
    input: Option<String>,
}

/// A call of a tool.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) tool: String,
    pub(super) input: Value,
}

impl Which {
    /// The call, if one is named.
    pub(super) fn read(&self) -> anyhow::Result<Option<Call>> {
        if let Some(command) = &self.command {
            return Ok(Some(Call {
                tool: SHELL.to_owned(),
                input: json!({ "command": command }),
            }));
        }
        let (Some(tool), Some(input)) = (&self.tool, &self.input) else {
            return Ok(None);
        };
        let input = wire::read(input)
            .map_err(anyhow::Error::msg)
            .context("--input is not JSON")?;
        Ok(Some(Call {
            tool: tool.clone(),
            input,
        }))
    }
}

impl Call {
    /// The text of the command that it runs, to which places in a judgement refer.
    pub(super) fn command(&self) -> Option<&str> {
        self.input.get("command").unwrap_or(&self.input).as_str()
    }

    /// What it is about, in one line.
    pub(super) fn summary(&self) -> String {
        summary(&self.tool, &self.input)
    }
}

/// What a call is about, in one line.
pub(super) fn summary(tool: &str, input: &Value) -> String {
    let call = Tool {
        name: tool.to_owned(),
        input: Some(input.clone()),
        ..Tool::default()
    };
    match call.principal_argument() {
        Some(argument) => format!("{tool} {argument}"),
        None => tool.to_owned(),
    }
}
