//! A call of a script in the words of an agent.

use serde_json::Value;

use crate::model::{NativeCall, SUBAGENT_WORDS, ScriptedCall};

/// A tool: its name, and its arguments as JSON. A string in place of an object is free text. `$COMMAND`, `$PATH`, `$CONTENT`
/// and `$PROMPT` stand for values.
#[derive(Clone, Copy, Debug)]
pub struct ToolTemplate {
    /// The name that the model uses.
    pub name: &'static str,
    /// The arguments.
    pub input: &'static str,
}

/// The tools of an agent. A tool that it lacks is `None`.
#[derive(Clone, Copy, Debug)]
pub struct AgentToolSet {
    /// Runs `$COMMAND`.
    pub shell: ToolTemplate,
    /// Other tools that run `$COMMAND`, or that call a tool that does.
    pub other_shells: &'static [ToolTemplate],
    /// Writes `$CONTENT` to `$PATH`.
    pub write_file: ToolTemplate,
    /// Starts a sub-agent with `$PROMPT`.
    pub subagent: Option<ToolTemplate>,
    /// Asks the user `$PROMPT`.
    pub question: Option<ToolTemplate>,
}

impl AgentToolSet {
    /// The call with this id.
    ///
    /// # Panics
    ///
    /// If the agent has no such tool.
    pub(crate) fn translate(&self, call: &ScriptedCall, id: String) -> NativeCall {
        let fill = |template: ToolTemplate, values: &[(&str, &str)]| NativeCall {
            id: id.clone(),
            name: template.name.to_owned(),
            input: fill_value(serde_json::from_str(template.input).unwrap(), values),
        };
        match call {
            ScriptedCall::Shell(command) => fill(self.shell, &[("$COMMAND", command)]),
            ScriptedCall::OtherShell { index, command } => fill(self.other_shells[*index], &[("$COMMAND", command)]),
            ScriptedCall::WriteFile { path, content } => {
                fill(self.write_file, &[("$PATH", path), ("$CONTENT", content)])
            }
            ScriptedCall::Subagent => {
                let prompt = format!("This is the {SUBAGENT_WORDS}: list the files.");
                fill(self.subagent.unwrap(), &[("$PROMPT", &prompt)])
            }
            ScriptedCall::Native { name, input } => {
                NativeCall { id: id.clone(), name: (*name).to_owned(), input: input.clone() }
            }
            ScriptedCall::Question(text) => fill(self.question.unwrap(), &[("$PROMPT", text)]),
        }
    }
}

/// Puts values into all strings.
fn fill_value(value: Value, values: &[(&str, &str)]) -> Value {
    match value {
        Value::String(text) => Value::String(values.iter().fold(text, |text, (name, value)| text.replace(name, value))),
        Value::Array(items) => items.into_iter().map(|item| fill_value(item, values)).collect(),
        Value::Object(fields) => fields.into_iter().map(|(key, field)| (key, fill_value(field, values))).collect(),
        other => other,
    }
}
