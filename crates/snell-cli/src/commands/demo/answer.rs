//! Snell's answer to an event, from `snell hook` or `snell run`.

use anyhow::Context;
use serde_json::Value;

/// The answer to an agent.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct DemoAnswer {
    /// The reason of a block.
    pub(super) blocked: Option<String>,
    /// The reason of a question to the user.
    pub(super) asked: Option<String>,
    /// The tool's input as hooks changed it.
    pub(super) changed: Option<Value>,
    /// Context for the model.
    pub(super) context: Vec<String>,
}

impl DemoAnswer {
    /// Parses the answer of `snell hook` to Claude Code. No output means no objection.
    pub(super) fn from_hook_stdout(stdout: &str) -> anyhow::Result<Self> {
        if stdout.trim().is_empty() {
            return Ok(Self::default());
        }
        let answer: Value = serde_json::from_str(stdout).context("the answer of `snell hook` is not JSON")?;
        let text = |path: &str| answer.pointer(path).and_then(Value::as_str).map(str::to_owned);
        let decision = text("/hookSpecificOutput/permissionDecision").or_else(|| text("/decision"));
        let reason = text("/hookSpecificOutput/permissionDecisionReason").or_else(|| text("/reason"));
        let decided = |words: &[&str]| decision.as_deref().is_some_and(|decision| words.contains(&decision));
        Ok(Self {
            blocked: decided(&["deny", "block"]).then(|| reason.clone().unwrap_or_default()),
            asked: decided(&["ask"]).then(|| reason.clone().unwrap_or_default()),
            changed: answer.pointer("/hookSpecificOutput/updatedInput").cloned(),
            context: text("/hookSpecificOutput/additionalContext").into_iter().collect(),
        })
    }

    /// Parses the report of `snell run`.
    pub(super) fn from_run_report(report: &Value) -> Self {
        let reason = || report["reason"].as_str().unwrap_or_default().to_owned();
        let context = report["context"].as_array().into_iter().flatten();
        Self {
            blocked: (report["decision"] == "block").then(reason),
            asked: (report["decision"] == "ask").then(reason),
            changed: Some(report["tool_input"].clone()).filter(|input| !input.is_null()),
            context: context.filter_map(Value::as_str).map(str::to_owned).collect(),
        }
    }
}
