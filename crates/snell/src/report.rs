//! The verdict as one JSON object: what `snell run` prints.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::diagnostic::Diagnostic;
use crate::hook::Hook;
use crate::outcome::Outcome;
use crate::verdict::{Decision, HookRun, HookRunStatus, Verdict};

/// A [`Verdict`] as JSON. Its schema is in the documentation, and no field is removed or renamed within a version.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Report"))]
pub struct VerdictReport {
    /// The event's canonical name.
    pub event: String,
    /// Whether the agent may continue, must ask the user, or must not continue.
    pub decision: ReportedDecision,
    /// The reason of the decision.
    pub reason: Option<String>,
    /// The tool's input, if a hook changed it.
    pub tool_input: Option<Value>,
    /// The tool's output, if a hook changed it.
    pub tool_output: Option<Value>,
    /// Text for the model.
    pub context: Vec<String>,
    /// Text for the user.
    pub messages: Vec<String>,
    /// The reason, if a hook ends the whole turn.
    pub stop: Option<String>,
    /// Further answers of hooks for a host, under Claude Code's names.
    pub extra: Map<String, Value>,
    /// Every hook that matched, in configured order.
    pub hooks: Vec<HookReport>,
    /// Problems of the configuration or the event, and hooks that failed without a block.
    pub warnings: Vec<Diagnostic>,
    /// The guard's decision, if the guard judged the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guard: Option<GuardReport>,
}

/// The guard's decision about a tool call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GuardReport {
    /// `allow`, `ask` or `deny`.
    pub decision: &'static str,
    /// The decision without the `audit` preset: `ask` or `deny`.
    pub would: Option<&'static str>,
    /// The most severe rule that matches. With the `audit` preset the call is allowed anyway.
    pub rule: Option<String>,
    /// The tier of that rule; `entry` for an entry of the settings.
    pub tier: Option<&'static str>,
    /// The reason.
    pub reason: Option<String>,
    /// The advice: what to do instead.
    pub advice: Option<&'static str>,
    /// Why the guard approves the call, so that the host need not ask.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approved: Option<String>,
}

/// The agent's next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ReportedDecision {
    /// Continue.
    Allow,
    /// Ask the user.
    Ask,
    /// Do not continue.
    Block,
}

/// One hook that matched, and its result.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HookReport {
    /// Its contract.
    pub contract: String,
    /// Its file.
    pub source: String,
    /// Its line.
    pub line: usize,
    /// Its command.
    pub command: String,
    /// Its matcher, as written.
    pub matcher: Option<String>,
    /// Its status.
    pub status: HookRunStatus,
    /// Whether it succeeded.
    pub success: bool,
    /// Its exit code.
    pub exit_code: Option<i32>,
    /// The signal that killed it.
    pub signal: Option<i32>,
    /// Its standard output, or the body of an HTTP response.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
    /// How long it took, in milliseconds.
    pub duration_ms: f64,
    /// Whether its deadline passed.
    pub timed_out: bool,
    /// Whether a process that it started still had its output open at the end.
    pub leaked: bool,
    /// Whether output beyond the limit was dropped.
    pub truncated: bool,
    /// Why it was skipped, or other details.
    pub why: Option<String>,
}

impl VerdictReport {
    /// The report of a verdict. Diagnostics of the configuration come before the verdict's own warnings.
    pub fn new(verdict: &Verdict, load_diagnostics: &[Diagnostic]) -> Self {
        Self {
            event: verdict.event.as_str().to_owned(),
            decision: match verdict.decision {
                Decision::None | Decision::Allow => ReportedDecision::Allow,
                Decision::Ask => ReportedDecision::Ask,
                Decision::Deny => ReportedDecision::Block,
            },
            reason: verdict.reason.clone(),
            tool_input: verdict.tool_input.clone(),
            tool_output: verdict.tool_output.clone(),
            context: verdict.context.clone(),
            messages: verdict.messages.clone(),
            stop: verdict.stop.clone(),
            extra: verdict.extra.clone(),
            hooks: verdict.hooks.iter().map(HookReport::from_run).collect(),
            warnings: load_diagnostics.iter().chain(&verdict.warnings).cloned().collect(),
            guard: None,
        }
    }
}

/// The hook, for people and for the record.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct HookLabel {
    contract: String,
    source: String,
    line: usize,
    command: String,
    matcher: Option<String>,
}

impl HookLabel {
    pub(crate) fn from_hook(hook: &Hook) -> Self {
        Self {
            contract: hook.contract_name().to_owned(),
            source: hook.origin.display_path.clone(),
            line: hook.origin.line,
            command: hook.command_summary(),
            matcher: hook.matcher_text().map(str::to_owned),
        }
    }
}

impl HookReport {
    fn from_run(run: &HookRun) -> Self {
        Self::new(HookLabel::from_hook(&run.hook), run.status, run.outcome.as_ref(), run.why.clone())
    }

    pub(crate) fn new(label: HookLabel, status: HookRunStatus, outcome: Option<&Outcome>, why: Option<String>) -> Self {
        Self {
            contract: label.contract,
            source: label.source,
            line: label.line,
            command: label.command,
            matcher: label.matcher,
            status,
            success: outcome.is_some_and(|outcome| outcome.is_success()),
            exit_code: outcome.and_then(|outcome| outcome.exit_code()),
            signal: outcome.and_then(|outcome| outcome.signal()),
            stdout: outcome.map(|outcome| outcome.stdout.clone()).unwrap_or_default(),
            stderr: outcome.map(|outcome| outcome.stderr.clone()).unwrap_or_default(),
            duration_ms: outcome.map_or(0.0, |outcome| outcome.duration.as_micros() as f64 / 1000.0),
            timed_out: outcome.is_some_and(|outcome| outcome.has_timed_out()),
            leaked: outcome.is_some_and(|outcome| outcome.leaked),
            truncated: outcome.is_some_and(|outcome| outcome.truncated),
            why,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// `SNELL_BLESS=1` writes the file instead.
    #[test]
    fn the_schema_of_the_run_result_in_the_tree_is_the_generated_one() {
        let generator = schemars::generate::SchemaSettings::draft2020_12().for_serialize().into_generator();
        let generated = format!("{:#}\n", generator.into_root_schema_for::<VerdictReport>().to_value());
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema/run-result.json");
        if std::env::var_os("SNELL_BLESS").is_some() {
            std::fs::write(&path, &generated).unwrap();
        }
        assert_eq!(
            std::fs::read_to_string(&path).unwrap_or_default(),
            generated,
            "docs/schema/run-result.json is out of date; run `SNELL_BLESS=1 cargo test -p snell schema`"
        );
    }
}
