//! A judgement with the programs and effects that it is about.

use crate::effects::Effect;
use crate::explain::reading::describe_call;
use crate::invocation::Invocation;
use crate::judge::context::JudgeContext;
use crate::judge::{GuardJudgement, GuardToolCall, analyze_call, judge_with_approval};
use crate::policy::GuardPolicy;

/// A judgement with the programs and effects that it is about. It costs as much as a judgement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallReview {
    /// The decision and its reason.
    pub judgement: GuardJudgement,
    /// The programs that would run, in order.
    pub invocations: Vec<Invocation>,
    /// The effects of these programs and of the tool itself; `Effect::by` is an index of `invocations`.
    pub effects: Vec<Effect>,
    /// A few plain lines for people that say what would happen, gravest first.
    pub reading: Vec<String>,
}

/// Judges a call by its text alone, and keeps the analysis.
pub(crate) fn review_call(call: &GuardToolCall<'_>, policy: &GuardPolicy, context: &JudgeContext) -> CallReview {
    let analysis = analyze_call(call, policy, context);
    CallReview {
        judgement: judge_with_approval(call, &analysis, policy, context),
        reading: describe_call(call, &analysis, policy, context),
        invocations: analysis.invocations,
        effects: analysis.effects,
    }
}
