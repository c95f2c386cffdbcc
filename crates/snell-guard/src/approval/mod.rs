//! Which calls are harmless for certain, so that the agent need not ask.
//!
//! The other tables describe danger: a program without an entry has no effects. Here it is the other way round. A call is approved only
//! if every part of it is known to be harmless: its syntax (`syntax`), every program with every flag and operand (`programs`, by
//! `data/approvals`), every path (`places`), and no rule has a finding. [`Guard`](crate::Guard) then looks at the disk (`disk`).

pub(crate) mod disk;
mod invocations;
mod numbers;
mod operands;
pub(crate) mod places;
mod python;
mod roles;
mod scripts;
mod syntax;
mod table;
mod tool_calls;

use std::fmt;

use crate::judge::context::JudgeContext;
use crate::judge::{CallAnalysis, GuardJudgement, GuardToolCall};
use crate::policy::GuardDecision;
use crate::policy::allow_list::CommandPattern;
use crate::rules;
use places::PlaceAccess;

pub use table::{ApprovalCase, list_approval_cases};

/// How many programs a reason names.
const MAX_NAMES: usize = 6;

/// The calls that the guard approves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum ApprovalLevel {
    /// Nothing.
    #[default]
    Off,
    /// Calls that change nothing.
    Read,
    /// Also calls that edit, build and test the project.
    Project,
}

/// The user's choice of what is approved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ApprovalPolicy {
    /// The calls that are approved.
    pub level: ApprovalLevel,
    /// Commands that may run the project's own code, as patterns of words.
    pub commands: Vec<String>,
    /// Whether the user trusts the project: then known programs may run its code.
    pub is_project_trusted: bool,
}

/// The effect of an approved call, mildest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ApprovalClass {
    /// It changes nothing.
    Reads,
    /// It changes files of the project, or temporary ones.
    Edits,
    /// It runs the project's own code.
    Runs,
}

/// Why a call is approved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallApproval {
    /// Its effect.
    pub class: ApprovalClass,
    /// The programs that run, or the tool, each once.
    pub names: Vec<String>,
    /// Whether code of the project runs because the user listed the command, not because the project is trusted.
    pub is_listed: bool,
    /// The paths that the disk must confirm.
    pub(crate) accesses: Vec<PlaceAccess>,
}

/// One line for people.
impl fmt::Display for CallApproval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (start, end) = match (self.class, self.is_listed) {
            (ApprovalClass::Reads, _) => ("reads only", ""),
            (ApprovalClass::Edits, _) => ("changes only files of the project that can be had back", ""),
            (ApprovalClass::Runs, true) => ("runs the project's code", " (listed in approve_commands)"),
            (ApprovalClass::Runs, false) => ("runs the project's code", " (the project is trusted)"),
        };
        let more = self.names.len().saturating_sub(MAX_NAMES);
        let names = self.names.iter().take(MAX_NAMES).cloned().collect::<Vec<_>>().join(", ");
        write!(f, "{start}: {names}")?;
        if more > 0 {
            write!(f, " and {more} more")?;
        }
        f.write_str(end)
    }
}

/// The knowledge about a call while its parts are checked.
pub(crate) struct ApprovalDraft<'a> {
    pub(crate) context: &'a JudgeContext,
    pub(crate) level: ApprovalLevel,
    is_trusted: bool,
    listed: Vec<CommandPattern>,
    pub(crate) class: ApprovalClass,
    names: Vec<String>,
    is_listed: bool,
    pub(crate) accesses: Vec<PlaceAccess>,
}

impl<'a> ApprovalDraft<'a> {
    fn new(policy: &ApprovalPolicy, context: &'a JudgeContext) -> Self {
        let listed = policy.commands.iter().filter_map(|command| CommandPattern::parse(command, &context.home).ok());
        Self {
            context,
            level: policy.level,
            is_trusted: policy.is_project_trusted,
            listed: listed.collect(),
            class: ApprovalClass::Reads,
            names: Vec::new(),
            is_listed: false,
            accesses: Vec::new(),
        }
    }

    /// Whether this level approves calls of this class.
    fn permits_class(&self, class: ApprovalClass) -> bool {
        class == ApprovalClass::Reads || self.level == ApprovalLevel::Project
    }

    /// Notes that a part of the call is harmless.
    fn add_part(&mut self, class: ApprovalClass, name: &str) {
        self.class = self.class.max(class);
        if !self.names.iter().any(|known| known == name) {
            self.names.push(name.to_owned());
        }
    }

    /// Notes a path, once.
    fn add_access(&mut self, access: PlaceAccess) {
        if !self.accesses.contains(&access) {
            self.accesses.push(access);
        }
    }

    fn finish(self) -> CallApproval {
        CallApproval { class: self.class, names: self.names, is_listed: self.is_listed, accesses: self.accesses }
    }
}

/// Approves a call if all of it is harmless for certain, as far as its text tells.
pub(crate) fn approve_call(
    call: &GuardToolCall<'_>,
    analysis: &CallAnalysis,
    judgement: &GuardJudgement,
    policy: &ApprovalPolicy,
    context: &JudgeContext,
) -> Option<CallApproval> {
    let is_clean = judgement.unaudited == GuardDecision::Allow
        && judgement.rule_id().is_none()
        && judgement.coverage.is_full()
        && analysis.watched.is_empty()
        && rules::collect_findings(&analysis.effects).is_empty();
    if policy.level == ApprovalLevel::Off || !is_clean || !places::is_project_narrow(context) {
        return None;
    }
    let mut draft = ApprovalDraft::new(policy, context);
    tool_calls::check_tool_call(call, analysis, &mut draft)?;
    Some(draft.finish())
}
