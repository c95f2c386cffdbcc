//! Agents that Snell cannot answer in their own words. Nearly all of them understand one thing: exit code 2, with the reason
//! on standard error, is a "no". So what they are about to do is judged, and that is what they are told.

use std::borrow::Cow;
use std::time::Instant;

use snell::{Decision, Event, EventName, Guest, Verdict};
use snell_store::{Judgement, Observation};

use crate::around::variable;
use crate::commands::{BLOCKED, DONE};
use crate::handlers::{self, Occasion, Said};
use crate::output;
use crate::recording::Recording;

/// Judges the call that an event announces, if it does; records the event, and says whether it may go on.
pub(super) fn answer(
    occasion: &Occasion<'_>,
    mut observation: Observation,
    mut recording: Recording,
    started: Instant,
) -> u8 {
    let event = occasion.event;
    let who = Guest::stranger(&event.raw, &variable).unwrap_or("an agent that Snell does not know");
    let lacking = occasion.unread.map_or_else(String::new, |unread| {
        format!(", as far as it can be read ({})", unread.why)
    });
    let Some(call) = announced(occasion) else {
        output::note(&format!(
            "called by {who}, whom it cannot answer; the event is only recorded{lacking}"
        ));
        recording.record(observation, None);
        return DONE;
    };
    let occasion = Occasion {
        event: &call,
        ..*occasion
    };
    let Said { verdict, hearing, .. } = handlers::ask(&occasion, &mut recording);
    let mut judgement = Judgement::of(&verdict, started.elapsed());
    judgement.guard = hearing.map(|hearing| hearing.recorded()).unwrap_or_default();
    let code = match refusal(&verdict, who) {
        Some(reason) => {
            judgement.become_refusal(&reason);
            output::note(&reason);
            BLOCKED
        }
        None => {
            output::note(&format!(
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
fn announced<'a>(occasion: &Occasion<'a>) -> Option<Cow<'a, Event>> {
    let event = occasion.event;
    let is_to_come = matches!(event.name, EventName::PreToolUse | EventName::PermissionRequest);
    if occasion.unread.is_some() && is_to_come {
        return Some(Cow::Borrowed(event));
    }
    let mut call = Guest::foreign_call(&event.raw)?;
    call.session_id.clone_from(&event.session_id);
    call.cwd = event.cwd.clone().or(call.cwd);
    Some(Cow::Owned(call))
}

/// Why it must not go on. A question that cannot be asked is answered with a "no".
fn refusal(verdict: &Verdict, who: &str) -> Option<String> {
    let reason = verdict.reason.as_deref().unwrap_or("blocked");
    match verdict.decision {
        Decision::Deny => Some(reason.to_owned()),
        Decision::Ask => Some(format!(
            "{reason} The user should be asked, which {who} does not let Snell do; the user can run it, or allow it in snell.toml."
        )),
        _ => None,
    }
}
