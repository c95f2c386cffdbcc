//! The guard's knowledge of the session in which a call is made: which files it made and fetched, whether untrusted content was
//! read, and what was denied.
//!
//! The caller keeps the facts and hands them in; a guard without facts judges every call by itself. [`SessionNotes`] are the new
//! facts of a call that is about to run, [`CallTrail`] those of a call that ran.
//!
//! ```text
//!  before a call   facts ──► judgement, SessionNotes ──► facts: denied effects, copies of fetched files; what it would make
//!  after a call    CallTrail ──► facts: what it made, fetched and read
//! ```

mod denied;
mod facts;
mod fetched;
mod made;
mod sole_copy;
mod stamp;
mod taint;
mod trail;

pub use facts::{DeniedEffect, FetchedPath, MadePath, SessionFacts, SessionTaint};
pub use stamp::{MAX_STAMPED_ENTRIES, find_creation_time, stamp_path};
pub use trail::{CallTrail, may_leave_trail};

use crate::effects::{Effect, build_rule_effect};
use crate::file_system::FileSystem;
use crate::judge::context::JudgeContext;
use crate::judge::{CallAnalysis, GuardJudgement, GuardToolCall, judge_analysis};
use crate::policy::{GuardDecision, GuardPolicy};

pub(crate) use made::is_relaxed_rule;
pub(crate) use trail::{concerns_session, follow_call};

/// The words of `data/session_words.toml`, as the build script compiled them.
mod words {
    include!(concat!(env!("OUT_DIR"), "/session_words.rs"));
}

/// How the session changes the meaning of an effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionMark {
    /// The session made the target.
    Made,
    /// The rule applies because of this.
    Because(String),
}

/// New facts of a call that is about to run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionNotes {
    /// Paths that do not exist yet, or that the session made, and that the call may make or change.
    pub may_make: Vec<String>,
    /// New names that it gives to fetched files.
    pub fetched: Vec<FetchedPath>,
    /// Untrusted content that it reads.
    pub taint: Option<String>,
    /// Its effects, if it is denied.
    pub denied: Vec<DeniedEffect>,
    /// Says that an effect of the call was denied before, as a sentence.
    pub repeats: Option<String>,
}

/// A call in its session.
pub(crate) struct SessionScene<'a> {
    pub(crate) call: &'a GuardToolCall<'a>,
    pub(crate) facts: &'a SessionFacts,
    pub(crate) policy: &'a GuardPolicy,
    pub(crate) context: &'a JudgeContext,
    pub(crate) disk: &'a dyn FileSystem,
}

impl SessionScene<'_> {
    /// Judges an analysed call by what is known of the session.
    pub(crate) fn judge(&self, analysis: &mut CallAnalysis) -> (GuardJudgement, SessionNotes) {
        made::mark_made_targets(self, analysis);
        fetched::add_run_effects(self, analysis);
        taint::add_taint_effects(self, analysis);
        sole_copy::add_sole_copy_effects(self, analysis);
        let judgement = judge_analysis(analysis, self.policy);
        let repeat = denied::find_repeat(self, analysis, &judgement);
        let mut notes = self.collect_notes(analysis);
        notes.repeats = repeat.as_ref().map(|repeat| repeat.sentence.clone());
        let judgement = match repeat.filter(|_| judgement.unaudited != GuardDecision::Deny) {
            Some(repeat) => {
                self.add_effect(analysis, repeat.rule, repeat.by, repeat.sentence);
                judge_analysis(analysis, self.policy)
            }
            None => judgement,
        };
        notes.denied = denied::list_denied_effects(self, analysis);
        notes.denied.retain(|effect| !self.facts.denied.contains(effect));
        (judgement, notes)
    }

    fn collect_notes(&self, analysis: &CallAnalysis) -> SessionNotes {
        SessionNotes {
            may_make: made::list_paths_to_make(self, analysis),
            fetched: fetched::list_new_names(self, analysis),
            taint: fetched::find_read_fetch(self, analysis),
            ..SessionNotes::default()
        }
    }

    /// Adds an effect that a rule about the session judges. An allowed command is allowed here too.
    fn add_effect(&self, analysis: &mut CallAnalysis, rule: &str, by: Option<usize>, because: String) {
        let invocation = by.and_then(|by| analysis.invocations.get(by));
        let program = by.and_then(|by| analysis.effects.iter().find(|effect| effect.by == Some(by)));
        let program = program.map_or("This call", |effect| effect.program);
        let effect = build_rule_effect(rule, program, invocation.map(|it| it.span.clone()).unwrap_or_default());
        let allowed = invocation.and_then(|invocation| invocation.allowed);
        analysis.effects.push(Effect { by, allowed, session: Some(SessionMark::Because(because)), ..effect });
    }
}
