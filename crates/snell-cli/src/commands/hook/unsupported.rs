//! Agents that Snell cannot answer in their own words. Nearly all of them understand one thing: exit code 2, with the reason
//! on standard error, is a "no". So what they are about to do is judged, and that is what they are told.

use std::borrow::Cow;
use std::time::Instant;

use snell::{Decision, Event, EventName, Guest, Verdict};
use snell_store::{DecisionRecord, EventRecord};

use crate::commands::{BLOCKED, DONE};
use crate::env::read_variable;
use crate::handlers::{self, HandlerContext, HandlerOutcome};
use crate::output;
use crate::record::record_event::HookRecorder;

/// Judges the call that an event announces, if it does; records the event, and says whether it may go on.
pub(super) fn answer_unsupported_agent(
    occasion: &HandlerContext<'_>,
    mut observation: EventRecord,
    mut recording: HookRecorder,
    started: Instant,
) -> u8 {
    let event = occasion.event;
    let who = Guest::identify_unsupported(&event.raw, &read_variable).unwrap_or("an agent that Snell does not know");
    let lacking = occasion
        .decode_problem
        .map_or_else(String::new, |unread| format!(", as far as it can be read ({})", unread.why));
    let Some(call) = find_announced_call(occasion) else {
        output::print_note(&format!("called by {who}, whom it cannot answer; the event is only recorded{lacking}"));
        recording.record(observation, None);
        return DONE;
    };
    let occasion = HandlerContext { event: &call, ..*occasion };
    let HandlerOutcome { verdict, guard_run: hearing, .. } = handlers::run_handlers(&occasion, &mut recording);
    let mut judgement = DecisionRecord::from_verdict(&verdict, started.elapsed());
    judgement.guard = hearing.map(|hearing| hearing.to_records()).unwrap_or_default();
    let code = match refusal_reason(&verdict, who) {
        Some(reason) => {
            judgement.override_with_refusal(&reason);
            output::print_note(&reason);
            BLOCKED
        }
        None => {
            output::print_note(&format!(
                "called by {who}, who can be told nothing but a \"no\"; nothing speaks against this call{lacking}"
            ));
            DONE
        }
    };
    observation.judgement = Some(judgement);
    recording.record(observation, None);
    code
}

/// The call that is about to happen. One that cannot be read is one all the same.
fn find_announced_call<'a>(occasion: &HandlerContext<'a>) -> Option<Cow<'a, Event>> {
    let event = occasion.event;
    let is_to_come = matches!(event.name, EventName::PreToolUse | EventName::PermissionRequest);
    if occasion.decode_problem.is_some() && is_to_come {
        return Some(Cow::Borrowed(event));
    }
    let mut call = Guest::decode_fallback_call(&event.raw)?;
    call.session_id.clone_from(&event.session_id);
    call.cwd = event.cwd.clone().or(call.cwd);
    Some(Cow::Owned(call))
}

/// Why it must not go on. A question that cannot be asked is answered with a "no".
fn refusal_reason(verdict: &Verdict, who: &str) -> Option<String> {
    let reason = verdict.reason.as_deref().unwrap_or("blocked");
    match verdict.decision {
        Decision::Deny => Some(reason.to_owned()),
        Decision::Ask => Some(format!(
            "{reason} The user should be asked, which {who} does not let Snell do; the user can run it, or allow it in snell.toml."
        )),
        _ => None,
    }
}
