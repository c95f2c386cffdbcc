//! What the real programs did when they were run last: `fixtures/agent-runs`.

use std::fs;

use serde_json::Value;
use snell::{AgentProduct, HookCapability};
use snell_test_support::files::{find_repository_root, list_paths_ending};

/// A run of a real program.
pub struct RealRun {
    pub product: &'static AgentProduct,
    pub version: String,
    pub date: String,
    checks: Value,
}

/// The runs that are recorded.
pub fn read_real_runs() -> Vec<RealRun> {
    let files = list_paths_ending(&find_repository_root().join("fixtures/agent-runs"), ".json");
    let runs = files.iter().filter_map(|path| {
        let record: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        let product = AgentProduct::find_by_name(path.file_stem()?.to_str()?)?;
        let text = |key: &str| record[key].as_str().unwrap_or("?").to_owned();
        Some(RealRun { product, version: text("version"), date: text("date"), checks: record["checks"].clone() })
    });
    runs.collect()
}

/// Checks of single events on which the model reads context.
const CONTEXT_CHECKS: &[(&str, &str)] = &[
    ("context_session", "SessionStart"),
    ("context_prompt", "UserPromptSubmit"),
    ("context_call", "PreToolUse"),
    ("context_result", "PostToolUse"),
];

/// Agents whose plugin continues a turn by a new prompt. A run with a single prompt exits before that.
const EXITS_BEFORE_PROMPT: &[&str] = &["opencode", "kilo"];

/// Results that are not what the rows say.
pub fn list_disputes(runs: &[RealRun]) -> Vec<String> {
    runs.iter().flat_map(RealRun::list_disputes).collect()
}

impl RealRun {
    fn list_disputes(&self) -> Vec<String> {
        let accepted = self.product.capabilities();
        let simple =
            [HookCapability::Block, HookCapability::Reason, HookCapability::ChangeInput, HookCapability::ChangeOutput];
        let simple = simple.map(|capability| {
            let support = accepted.support(capability);
            (capability.name(), support.is_supported())
        });
        // A limit may be the one that the run met, except for a block.
        let is_limited = |capability| accepted.support(capability).limit().is_some();
        let limited = |check: &str| match check {
            "change_input" => is_limited(HookCapability::ChangeInput),
            "change_output" => is_limited(HookCapability::ChangeOutput),
            context => context.starts_with("context_") && is_limited(HookCapability::Context),
        };
        let contexts = CONTEXT_CHECKS.iter().map(|(check, event)| {
            let is_read = accepted.context_support(event).is_supported();
            (*check, is_read && self.product.fires_event(event))
        });
        // A denial by Snell for a hook that failed.
        let denials = ["crash_closed", "timeout_closed"].map(|check| (check, true));
        let goes_on = accepted.goes_on && !EXITS_BEFORE_PROMPT.contains(&self.product.name);
        let expected = simple.into_iter().chain(contexts).chain([("stop", goes_on)]).chain(denials);
        let expected = expected.filter(|(check, _)| !limited(check));
        let mut disputes: Vec<_> = expected.filter_map(|(check, is_yes)| self.find_dispute(check, is_yes)).collect();
        // Nobody answers a question there, so it must become a denial.
        if let Some(asked) = self.checks["ask"].as_str().filter(|asked| asked.starts_with("no")) {
            disputes.push(format!("{}, ask: {asked}", self.product.title));
        }
        disputes
    }

    fn find_dispute(&self, check: &str, is_yes: bool) -> Option<String> {
        let result = self.checks[check].as_str().filter(|result| !result.starts_with("not tried"))?;
        let said = if is_yes { "yes" } else { "no" };
        ((result == "yes") != is_yes)
            .then(|| format!("{}, {check}: {result}, but the row says {said}", self.product.title))
    }
}
