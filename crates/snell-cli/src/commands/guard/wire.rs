//! Calls and judgements as JSON.

use std::ops::Range;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use snell::{MAX_JSON_DEPTH, measure_json_depth, replace_lone_surrogates};
use snell_guard::{GuardDecision, GuardExplanation, GuardJudgement};

/// An example of a valid line, for error messages.
const EXAMPLE: &str = r#"{"tool": "Bash", "input": {"command": "ls"}}"#;

/// A call as a line of JSON. Other fields are ignored.
#[derive(Debug, Deserialize)]
pub(super) struct GuardCallWire {
    #[serde(alias = "tool_name")]
    pub(super) tool: String,
    #[serde(alias = "tool_input")]
    pub(super) input: Value,
    /// The directory of the call.
    #[serde(default)]
    pub(super) cwd: Option<String>,
    /// The agent that makes it.
    #[serde(default, alias = "platform")]
    pub(super) agent: Option<String>,
}

impl GuardCallWire {
    /// Parses a line, or explains why it is invalid.
    pub(super) fn parse(line: &[u8]) -> Result<Self, String> {
        let text = match std::str::from_utf8(line) {
            Ok(text) => text.trim(),
            Err(error) => return Err(format!("the line is not UTF-8 from byte {} on", error.valid_up_to() + 1)),
        };
        if !text.starts_with('{') {
            return Err(format!("a call must be a JSON object, for example {EXAMPLE}"));
        }
        let mut call: Self = parse_json(text)?;
        // An agent without a directory may send an empty one.
        call.cwd = call.cwd.filter(|cwd| !cwd.is_empty());
        match &call.cwd {
            Some(cwd) if !cwd.starts_with('/') => Err(format!("\"cwd\" must be an absolute path, not {cwd:?}")),
            _ => Ok(call),
        }
    }
}

/// Parses JSON as Snell parses payloads of agents: with a depth limit, and with replacement characters for lone
/// surrogates.
pub(super) fn parse_json<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    if measure_json_depth(text) > MAX_JSON_DEPTH {
        return Err(format!("the JSON is nested more than {MAX_JSON_DEPTH} levels deep"));
    }
    parse_json_strict(text).or_else(|error| {
        let repaired = replace_lone_surrogates(text);
        if repaired == text {
            return Err(describe_json_error(&error));
        }
        parse_json_strict(&repaired).map_err(|error| describe_json_error(&error))
    })
}

fn parse_json_strict<T: DeserializeOwned>(text: &str) -> serde_json::Result<T> {
    let mut reader = serde_json::Deserializer::from_str(text);
    // The depth is checked above.
    reader.disable_recursion_limit();
    let value = T::deserialize(&mut reader)?;
    reader.end()?;
    Ok(value)
}

/// The error and its column, without the line: there is only one.
fn describe_json_error(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let what = message.rsplit_once(" at line ").map_or(message.as_str(), |(what, _)| what);
    format!("{what} (column {})", error.column())
}

/// A judgement as a line of JSON.
#[derive(Debug, Serialize)]
pub(super) struct GuardAnswerWire<'a> {
    decision: &'static str,
    rule: Option<&'a str>,
    tier: Option<&'static str>,
    reason: Option<&'a str>,
    advice: Option<&'static str>,
    coverage: &'static str,
    /// The decision without the audit preset.
    #[serde(skip_serializing_if = "Option::is_none")]
    would: Option<&'static str>,
    /// The reason of the `allow` entry that applies.
    #[serde(skip_serializing_if = "Option::is_none")]
    allowed_by: Option<&'a str>,
    /// Why the call is approved, if the settings approve such calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    approved: Option<String>,
}

impl<'a> GuardAnswerWire<'a> {
    pub(super) fn from_judgement(judgement: &'a GuardJudgement) -> Self {
        Self {
            decision: judgement.decision.name(),
            rule: judgement.rule_id(),
            tier: judgement.tier_name(),
            reason: non_empty(&judgement.reason),
            advice: non_empty(judgement.advice),
            coverage: judgement.coverage.name(),
            would: judgement.suppressed_decision().map(GuardDecision::name),
            allowed_by: judgement.allowed_by.as_deref(),
            approved: judgement.approval.as_ref().map(ToString::to_string),
        }
    }
}

/// An explanation as JSON: the judgement, its spans, and the analysis.
#[derive(Debug, Serialize)]
pub(super) struct GuardExplanationWire<'a> {
    #[serde(flatten)]
    answer: GuardAnswerWire<'a>,
    spans: &'a [Range<usize>],
    #[serde(flatten)]
    why: &'a GuardExplanation,
}

impl<'a> GuardExplanationWire<'a> {
    pub(super) fn from_explanation(why: &'a GuardExplanation) -> Self {
        Self { answer: GuardAnswerWire::from_judgement(&why.judgement), spans: &why.judgement.spans, why }
    }
}

fn non_empty(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}

/// The answer to a line that is not a call.
#[derive(Debug, Serialize)]
pub(super) struct GuardErrorWire<'a> {
    pub(super) error: &'a str,
    pub(super) line: u64,
}
