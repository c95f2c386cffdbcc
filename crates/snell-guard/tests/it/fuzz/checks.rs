//! Properties of every judgement.

use std::time::{Duration, Instant};

use snell_guard::judge::{GuardJudgement, GuardToolCall, judge_call};
use snell_guard::policy::{GuardDecision, GuardPolicy};
use snell_shell::parse;

use super::FuzzedCall;
use crate::corpus::build_corpus_context;

/// These short calls never take longer, however busy the machine is.
const FAR_TOO_LONG: Duration = Duration::from_secs(20);

/// A command that is always denied.
const DANGER: &str = "rm -rf /";

/// Words that may change the rest of a text: it ends, waits, means something else, or is read as input.
const MAY_NOT_GO_ON: &[&str] = &[
    "exit", "exec", "return", "logout", "break", "continue", "alias", "function", "()", "while", "until", "for ",
    "set", "trap", "coproc", "suspend", "kill", "shopt", "enable", "rm=", "PATH", "IFS", "unset",
];

/// Lines around a text that change nothing.
const NOTHING: &[(&str, &str)] = &[
    ("\n", "\n"),
    (" \t", ""),
    ("# it's \"nothing\" $(\n", ""),
    ("true\n", "\n"),
    ("", "\ntrue\n"),
    ("{\n", "\n}"),
    ("(\n", "\n)"),
    ("if true; then\n", "\nfi"),
];

fn judge_fuzzed(odd: &FuzzedCall) -> GuardJudgement {
    let call = GuardToolCall { tool: &odd.tool, input: &odd.input };
    judge_call(&call, &GuardPolicy::default(), &build_corpus_context())
}

/// The fault of a judgement, if any.
pub(super) fn find_fault(odd: &FuzzedCall) -> Option<String> {
    let started = Instant::now();
    let judgement = judge_fuzzed(odd);
    let took = started.elapsed();
    if took > FAR_TOO_LONG {
        return Some(format!("it takes {took:.1?}"));
    }
    if judge_fuzzed(odd) != judgement {
        return Some("it is judged differently the second time".to_owned());
    }
    let text = odd.input["command"].as_str().filter(|_| odd.tool == "Bash")?;
    if let Some(span) = judgement.spans.iter().find(|span| text.get((*span).clone()).is_none()) {
        return Some(format!("{span:?} is not in the text"));
    }
    if !is_complete(text) || is_limited(&judgement) {
        return None;
    }
    check_surrounded(text, &judgement).or_else(|| check_followed(text, &judgement))
}

/// Whether bash would read a text to its end and stop there.
fn is_complete(text: &str) -> bool {
    parse(text).problems.is_empty() && !text.ends_with('\\') && !text.contains('\0')
}

fn is_limited(judgement: &GuardJudgement) -> bool {
    judgement.coverage.is_limited() || judgement.rule == Some("guard.limit")
}

/// Text that bash ignores changes nothing.
fn check_surrounded(text: &str, judgement: &GuardJudgement) -> Option<String> {
    // Aliases apply from the next line on, and not within the same group; an export does not leave a subshell.
    if strip_quotes(text).contains("alias") || judgement.rule == Some("self.environment") {
        return None;
    }
    // One of them, so that there is time for more texts.
    let (before, after) = NOTHING[text.len() % NOTHING.len()];
    let found = judge_fuzzed(&FuzzedCall::from_command(&format!("{before}{text}{after}")));
    let differs = found.decision != judgement.decision && !is_limited(&found);
    differs.then(|| {
        format!(
            "{} ({:?}), but {} ({:?}) between {before:?} and {after:?}",
            judgement.decision.name(),
            judgement.rule,
            found.decision.name(),
            found.rule
        )
    })
}

/// More commands make nothing milder, and a dangerous one is found after any text that continues.
fn check_followed(text: &str, judgement: &GuardJudgement) -> Option<String> {
    let found = judge_fuzzed(&FuzzedCall::from_command(&format!("{text}\n{DANGER}")));
    if found.decision < judgement.decision {
        return Some(format!(
            "{} ({:?}), but {} with more behind it",
            judgement.decision.name(),
            judgement.rule,
            found.decision.name()
        ));
    }
    let plain = strip_quotes(text);
    let goes_on = !MAY_NOT_GO_ON.iter().any(|word| plain.contains(word));
    let missed = goes_on && found.decision != GuardDecision::Deny && !is_limited(&found);
    missed.then(|| format!("`{DANGER}` behind it is not seen: {:?}", found.rule))
}

/// Letters may be quoted one by one.
fn strip_quotes(text: &str) -> String {
    text.replace("\\\n", "").replace(['\'', '"', '\\'], "")
}
