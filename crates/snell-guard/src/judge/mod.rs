//! From a tool call to its effects, and to a decision about them.

pub mod context;
mod entries;
pub(crate) mod review;

use std::cmp::Reverse;

use serde_json::Value as Json;

use crate::approval::{ApprovalLevel, CallApproval, approve_call};
use crate::effects::{Effect, EffectKind, PathAction, build_rule_effect, find_rule_index, git_push, protected_args};
use crate::interpret::{CoverageGap, GuardCoverage};
use crate::invocation::Invocation;
use crate::judge::context::JudgeContext;
use crate::paths::locate_path;
use crate::policy::entries::parse_entries;
use crate::policy::{FAILURE_RULE, GuardDecision, GuardPolicy, LIMIT_RULE, UNCLEAR_RULE, UNREADABLE_RULE};
use crate::rules::{self, RULES, RuleFinding, RuleTier};
use crate::tools;
use snell_shell::ByteSpan;

/// The tier of entries of the settings.
const ENTRY_TIER: &str = "entry";

/// A tool call that an agent is about to make.
#[derive(Clone, Copy, Debug)]
pub struct GuardToolCall<'a> {
    /// The tool's name in the agent: `Bash`, `Write`, `mcp__server__tool`.
    pub tool: &'a str,
    /// The tool's input.
    pub input: &'a Json,
}

impl GuardToolCall<'_> {
    /// Whether the input is the whole new text of a file. Only for such calls it matters whether the settings of an agent are
    /// [`SelfFile::Settings`](context::SelfFile::Settings) or have Snell registered.
    pub fn writes_whole_file(&self) -> bool {
        find_whole_text(self.input).is_some()
    }
}

/// The whole new text of a file, in the input of a call.
pub(crate) fn find_whole_text(input: &Json) -> Option<&str> {
    input.get("content").and_then(Json::as_str)
}

/// The decision about a call, and its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuardJudgement {
    /// The decision.
    pub decision: GuardDecision,
    /// The decision without the audit preset.
    pub unaudited: GuardDecision,
    /// The gravest rule that matches. The call may still be allowed by the audit preset.
    pub rule: Option<&'static str>,
    /// The entry of the settings that decides, by its name. Then no rule is graver, and `rule` is `None`.
    pub entry: Option<String>,
    /// The rule's tier.
    pub tier: Option<RuleTier>,
    /// The reason as a sentence; empty if no rule matches.
    pub reason: String,
    /// The alternative to suggest; empty if no rule matches.
    pub advice: &'static str,
    /// The blamed parts of the command, in order.
    pub spans: Vec<ByteSpan>,
    /// Whether the analysis is complete.
    pub coverage: GuardCoverage,
    /// The reason of the `allow` entry, if the call is allowed because of it.
    pub allowed_by: Option<String>,
    /// Why the call is harmless for certain, if the policy approves such calls. By its text alone, unless
    /// [`Guard`](crate::Guard) judged it.
    pub approval: Option<CallApproval>,
}

impl GuardJudgement {
    /// A judgement without findings.
    fn without_findings(coverage: GuardCoverage) -> Self {
        Self {
            decision: GuardDecision::Allow,
            unaudited: GuardDecision::Allow,
            rule: None,
            entry: None,
            tier: None,
            reason: String::new(),
            advice: "",
            spans: Vec::new(),
            coverage,
            allowed_by: None,
            approval: None,
        }
    }

    /// The decision without the audit preset, if it differs.
    pub fn suppressed_decision(&self) -> Option<GuardDecision> {
        Some(self.unaudited).filter(|would| *would != self.decision)
    }

    /// The name of the rule or the entry that decides.
    pub fn rule_id(&self) -> Option<&str> {
        self.entry.as_deref().or(self.rule)
    }

    /// The tier of the rule, or `entry`.
    pub fn tier_name(&self) -> Option<&'static str> {
        self.tier.map(RuleTier::name).or(self.entry.as_ref().map(|_| ENTRY_TIER))
    }

    /// Whether its rule or entry is about a path that the user named.
    pub(crate) fn is_about_named_path(&self) -> bool {
        self.entry.is_some() || self.rule.is_some_and(is_named_path_rule)
    }

    /// The judgement for a failure of the guard.
    pub fn for_guard_failure(policy: &GuardPolicy) -> Self {
        Self::without_analysis(policy, FAILURE_RULE, CoverageGap::Failure, str::to_owned)
    }

    /// The judgement for a call that cannot be read, or only in part. `why` is the end of a sentence.
    pub fn for_unreadable_call(policy: &GuardPolicy, why: &str) -> Self {
        let format_reason = |reason: &str| {
            let whole = reason.replace("`{field}`", "all");
            format!("{}: {why}.", whole.trim_end_matches('.'))
        };
        Self::without_analysis(policy, UNREADABLE_RULE, CoverageGap::Unread, format_reason)
    }

    /// A judgement without an analysis, by this rule.
    fn without_analysis(
        policy: &GuardPolicy,
        id: &str,
        gap: CoverageGap,
        format_reason: impl FnOnce(&str) -> String,
    ) -> Self {
        let coverage = GuardCoverage { gaps: vec![gap] };
        let rule = RULES.iter().find(|rule| rule.id == id);
        let Some((rule, would)) = rule.map(|rule| (rule, policy.decide(rule))) else {
            return Self::without_findings(coverage);
        };
        Self {
            decision: policy.enforced_decision(would),
            unaudited: would,
            rule: Some(rule.id),
            tier: Some(rule.tier),
            reason: format_reason(rule.reason),
            advice: rule.advice,
            ..Self::without_findings(coverage)
        }
    }
}

/// The result of analysing a call.
#[derive(Debug, Default)]
pub(crate) struct CallAnalysis {
    /// The programs that would run.
    pub(crate) invocations: Vec<Invocation>,
    /// The effects of these programs and of the tool itself.
    pub(crate) effects: Vec<Effect>,
    /// Matches of entries that deny or ask, with the place in the text.
    pub(crate) watched: Vec<(usize, ByteSpan)>,
    pub(crate) coverage: GuardCoverage,
}

impl CallAnalysis {
    /// Adds an effect that one rule judges.
    pub(crate) fn add_rule_effect(&mut self, rule: &str, span: ByteSpan) {
        self.effects.push(build_rule_effect(rule, "the tool", span));
    }

    /// Records that a limit was exceeded.
    pub(crate) fn mark_limit_exceeded(&mut self, name: &'static str) {
        self.add_rule_effect(LIMIT_RULE, ByteSpan::default());
        self.coverage.add_gap(CoverageGap::Limit(name));
    }

    /// Records that a field is missing or has the wrong type.
    pub(crate) fn mark_field_unreadable(&mut self, field: &'static str) {
        self.effects.push(build_rule_effect(UNREADABLE_RULE, field, ByteSpan::default()));
        self.coverage.add_gap(CoverageGap::Unread);
    }

    /// Moves effects on symlinks to the symlinks' targets.
    fn follow_links(&mut self, context: &JudgeContext) {
        for effect in &mut self.effects {
            let Some(touched) = AffectedPath::from_effect(effect) else {
                continue;
            };
            let known = touched.path.as_str();
            // The symlink itself is in the real path of its directory.
            let (directory, _) = known.rsplit_once('/').unwrap_or_default();
            let from = if touched.is_link_itself { directory } else { known };
            let real = context.links.iter().find(|(link, _)| link == from);
            if let (Some((_, real)), Some(place)) = (real, effect.place.as_mut()) {
                place.follow_link(from, real, context);
            }
        }
    }

    /// Marks the analysis as partial if any part of it reached a limit.
    fn mark_partial_if_limited(&mut self) {
        let limit = EffectKind::Rule(find_rule_index(LIMIT_RULE));
        let is_limit = |effect: &Effect| effect.kind == limit;
        if !self.coverage.is_limited() && self.effects.iter().any(is_limit) {
            self.coverage.add_gap(CoverageGap::Limit("code"));
        }
    }

    /// Adds the gaps of another analysis.
    pub(crate) fn merge_coverage(&mut self, coverage: GuardCoverage) {
        if coverage.is_full() {
            return;
        }
        for reason in coverage.gaps {
            match reason {
                CoverageGap::Limit(name) => self.mark_limit_exceeded(name),
                other => self.coverage.add_gap(other),
            }
        }
        self.add_rule_effect(UNCLEAR_RULE, ByteSpan::default());
    }
}

/// A path that a call affects.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AffectedPath {
    /// Its path, as far as it is known.
    pub path: String,
    /// Whether a symlink at this path would itself be removed or moved.
    pub is_link_itself: bool,
    /// Whether it is only read.
    pub is_read_only: bool,
    /// Whether it is a program that would run, called by its path.
    pub is_executed: bool,
}

impl AffectedPath {
    fn from_effect(effect: &Effect) -> Option<Self> {
        let (path, is_all) = effect.place.as_ref()?.known_prefix()?;
        let takes_away = matches!(effect.kind, EffectKind::Path(PathAction::Delete | PathAction::Take));
        Some(Self {
            path,
            is_link_itself: takes_away && is_all,
            is_read_only: effect.kind == EffectKind::Path(PathAction::Read),
            is_executed: false,
        })
    }

    /// The program of an invocation, if it is called by its path.
    fn from_invocation(invocation: &Invocation, context: &JudgeContext) -> Option<Self> {
        let program = invocation.argv.first().filter(|_| !invocation.elsewhere)?;
        program.as_text().filter(|name| name.contains('/'))?;
        Some(Self {
            path: locate_path(program, invocation.cwd.as_deref(), context).path?,
            is_link_itself: false,
            is_read_only: true,
            is_executed: true,
        })
    }
}

/// Judges a call by its text alone, and lists the paths that it affects. [`Guard`](crate::Guard) resolves their
/// symlinks and judges again.
pub fn judge_with_affected_paths(
    call: &GuardToolCall<'_>,
    policy: &GuardPolicy,
    context: &JudgeContext,
) -> (GuardJudgement, Vec<AffectedPath>) {
    let seen = analyze_call(call, policy, context);
    (judge_with_approval(call, &seen, policy, context), list_affected_paths(&seen, context))
}

/// The paths that an analysed call affects.
pub(crate) fn list_affected_paths(seen: &CallAnalysis, context: &JudgeContext) -> Vec<AffectedPath> {
    let mut affected: Vec<AffectedPath> = seen.effects.iter().filter_map(AffectedPath::from_effect).collect();
    let run = seen.invocations.iter();
    affected.extend(run.filter_map(|invocation| AffectedPath::from_invocation(invocation, context)));
    affected.sort();
    affected.dedup();
    affected
}

/// Judges a call by its text alone. [`Guard`](crate::Guard) also follows symlinks.
pub fn judge_call(call: &GuardToolCall<'_>, policy: &GuardPolicy, context: &JudgeContext) -> GuardJudgement {
    let seen = analyze_call(call, policy, context);
    judge_with_approval(call, &seen, policy, context)
}

/// Decides about an analysed call, and approves it if the policy does so.
pub(crate) fn judge_with_approval(
    call: &GuardToolCall<'_>,
    analysis: &CallAnalysis,
    policy: &GuardPolicy,
    context: &JudgeContext,
) -> GuardJudgement {
    add_approval(judge_analysis(analysis, policy), call, analysis, policy, context)
}

/// Approves a judged call if the policy does so.
pub(crate) fn add_approval(
    judgement: GuardJudgement,
    call: &GuardToolCall<'_>,
    analysis: &CallAnalysis,
    policy: &GuardPolicy,
    context: &JudgeContext,
) -> GuardJudgement {
    if policy.approval.level == ApprovalLevel::Off {
        return judgement;
    }
    let approval = approve_call(call, analysis, &judgement, &policy.approval, context);
    GuardJudgement { approval, ..judgement }
}

/// Analyses a call, and applies the protected paths of this policy.
pub(crate) fn analyze_call(call: &GuardToolCall<'_>, policy: &GuardPolicy, context: &JudgeContext) -> CallAnalysis {
    let permits = parse_entries(&policy.entries, context);
    let mut seen = tools::analyze_tool_call(call, &permits, context);
    seen.mark_partial_if_limited();
    if !context.links.is_empty() {
        seen.follow_links(context);
    }
    if !policy.protected.is_empty() {
        seen.effects.extend(protected_args::find_protected_args(&seen.invocations, &policy.protected, context));
    }
    if !context.links.is_empty() {
        seen.follow_links(context);
    }
    git_push::relax_branch_pushes(&mut seen, &policy.protected_branches, context);
    if !policy.protected.is_empty() {
        let places = seen.effects.iter_mut().filter_map(|effect| effect.place.as_mut());
        places.for_each(|place| place.apply_protections(&policy.protected, context));
    }
    if !policy.entries.is_empty() {
        entries::apply_entries(&mut seen, call, policy, context);
    }
    seen
}

/// Whether a call matches the only entry of a policy.
pub(crate) fn matches_only_entry(call: &GuardToolCall<'_>, policy: &GuardPolicy, context: &JudgeContext) -> bool {
    let seen = analyze_call(call, policy, context);
    policy.entries.first().is_some_and(|entry| entries::is_entry_met(&seen, entry, call))
}

/// Decides about an analysed call.
pub(crate) fn judge_analysis(analysis: &CallAnalysis, policy: &GuardPolicy) -> GuardJudgement {
    let findings = rules::collect_findings(&analysis.effects);
    let is_stopped = |finding: &&RuleFinding<'_>| policy.decide(finding.rule) != GuardDecision::Allow;
    let (through, stopped): (Vec<&RuleFinding<'_>>, Vec<&RuleFinding<'_>>) =
        findings.iter().filter(is_stopped).partition(|finding| finding.is_exempt());
    // Findings are sorted by their own gravity, but a policy may change the decisions. Of equal ones, a rule about a path that
    // the user named says more, and also applies behind symlinks.
    let gravity = |(decision, finding): &(GuardDecision, &RuleFinding<'_>)| {
        (*decision, Reverse(finding.rule.tier), is_named_path_rule(finding.rule.id))
    };
    let gravest = stopped
        .iter()
        .map(|finding| (policy.decide(finding.rule), *finding))
        .reduce(|best, next| if gravity(&next) > gravity(&best) { next } else { best });
    let found = gravest.map(|(verdict, finding)| (verdict, finding.rule.locked));
    if let Some(entry) = entries::find_deciding_entry(analysis, policy, found) {
        return judgement_from_entry(policy, entry, analysis);
    }
    let allowed = through.first().and_then(|finding| finding.effect.allowed);
    GuardJudgement {
        allowed_by: allowed.and_then(|number| Some(policy.entries.get(number)?.reason.clone())),
        ..match gravest {
            Some((verdict, finding)) => {
                judgement_from_finding(policy, verdict, finding, &stopped, analysis.coverage.clone())
            }
            // If the policy allows a call that could not be checked, the rule is still reported.
            None => match findings.iter().find(|finding| matches!(finding.rule.id, LIMIT_RULE | UNREADABLE_RULE)) {
                Some(unseen) => {
                    judgement_from_finding(policy, GuardDecision::Allow, unseen, &[unseen], analysis.coverage.clone())
                }
                None => GuardJudgement::without_findings(analysis.coverage.clone()),
            },
        }
    }
}

/// Whether a rule is about paths that the user named.
fn is_named_path_rule(id: &str) -> bool {
    id.starts_with("protected.")
}

/// The judgement by an entry of the settings.
fn judgement_from_entry(policy: &GuardPolicy, number: usize, analysis: &CallAnalysis) -> GuardJudgement {
    let unmatched = GuardJudgement::without_findings(analysis.coverage.clone());
    let Some(entry) = policy.entries.get(number) else {
        return unmatched;
    };
    let places = analysis.watched.iter().filter(|(matched, _)| *matched == number).map(|(_, span)| span.clone());
    GuardJudgement {
        decision: policy.enforced_decision(entry.action),
        unaudited: entry.action,
        entry: Some(entry.id.clone()),
        reason: entry.format_reason(),
        spans: sort_spans(places),
        ..unmatched
    }
}

/// The places in the text, in order and each once.
fn sort_spans(spans: impl Iterator<Item = ByteSpan>) -> Vec<ByteSpan> {
    let mut spans: Vec<ByteSpan> = spans.filter(|span| *span != ByteSpan::default()).collect();
    spans.sort_by_key(|span| (span.start, span.end));
    spans.dedup();
    spans
}

fn judgement_from_finding(
    policy: &GuardPolicy,
    verdict: GuardDecision,
    finding: &RuleFinding<'_>,
    all: &[&RuleFinding<'_>],
    coverage: GuardCoverage,
) -> GuardJudgement {
    let rule = finding.rule;
    let same = all.iter().filter(|other| other.rule.id == rule.id);
    let spans = sort_spans(same.map(|other| other.effect.span.clone()));
    GuardJudgement {
        decision: policy.enforced_decision(verdict),
        unaudited: verdict,
        rule: Some(rule.id),
        tier: Some(rule.tier),
        reason: finding.format_reason(),
        advice: rule.advice,
        spans,
        ..GuardJudgement::without_findings(coverage)
    }
}

#[cfg(test)]
mod tests;
