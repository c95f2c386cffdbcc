//! What came of an event: what Snell answered, whichever way it was asked.

use anyhow::Context;
use serde_json::{Map, Value, json};

/// What an agent was answered.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Answer {
    /// It must not go on, and why.
    pub(super) blocked: Option<String>,
    /// Its user must be asked first, and why.
    pub(super) asked: Option<String>,
    /// The tool's input as hooks want it.
    pub(super) changed: Option<Value>,
    /// For the model.
    pub(super) context: Vec<String>,
}

impl Answer {
    /// What `snell hook` tells Claude Code. No word means no objection.
    pub(super) fn to_guest(stdout: &str) -> anyhow::Result<Self> {
        if stdout.trim().is_empty() {
            return Ok(Self::default());
        }
        let told: Value = serde_json::from_str(stdout).context("the answer of `snell hook` is not JSON")?;
        let text = |path: &str| told.pointer(path).and_then(Value::as_str).map(str::to_owned);
        let decision = text("/hookSpecificOutput/permissionDecision").or_else(|| text("/decision"));
        let reason = text("/hookSpecificOutput/permissionDecisionReason").or_else(|| text("/reason"));
        let decided = |words: &[&str]| decision.as_deref().is_some_and(|decision| words.contains(&decision));
        Ok(Self {
            blocked: decided(&["deny", "block"]).then(|| reason.clone().unwrap_or_default()),
            asked: decided(&["ask"]).then(|| reason.clone().unwrap_or_default()),
            changed: told.pointer("/hookSpecificOutput/updatedInput").cloned(),
            context: text("/hookSpecificOutput/additionalContext").into_iter().collect(),
        })
    }

    /// What `snell run` tells a host.
    pub(super) fn to_host(report: &Value) -> Self {
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

/// A report of `snell run`, as the receiver is told of it.
pub(super) fn judgement(report: &Value, took_us: u64) -> Value {
    let runs: Vec<_> = report["hooks"].as_array().into_iter().flatten().map(run).collect();
    let decided = report["decision"] != "allow";
    json!({
        "decision": decided.then_some(&report["decision"]),
        "reason": report["reason"],
        "took_us": took_us,
        "runs": runs,
    })
}

/// One hook of a report. The receiver counts in microseconds.
fn run(hook: &Value) -> Value {
    let mut run = hook.as_object().cloned().unwrap_or_else(Map::new);
    let took = hook["duration_ms"].as_f64().unwrap_or_default() * 1000.0;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a duration, which is neither"
    )]
    run.insert("duration_us".into(), (took as u64).into());
    Value::Object(run)
}
