//! An agent that hooks keep from ending its turn goes on, and comes back to the same hooks. That has an end.

use snell::{Decision, Event, EventName, Verdict};

use crate::env::caller::CallerEnv;
use crate::env::read_variable;

/// How often in a row hooks may keep an agent from ending its turn, unless the agent's own setting says otherwise.
const DEFAULT_MAX_STOP_BLOCKS: u32 = 8;

/// Lets an agent end its turn that hooks have kept from it too often in a row.
pub(super) fn limit_stop_blocks(event: &Event, verdict: &mut Verdict, caller: &CallerEnv) {
    if !matches!(event.name, EventName::Stop | EventName::SubagentStop) {
        return;
    }
    let subagent = event.subagent.as_ref().and_then(|subagent| subagent.id.as_deref());
    let key = ["stop", event.session_id.as_deref().unwrap_or_default(), subagent.unwrap_or_default()];
    if !verdict.is_blocked() {
        // Whatever makes the agent go on now, it is not us.
        caller.reset_count(&key);
        return;
    }
    // That the agent goes on already may have other reasons than us: only what we have counted says that it was us. If it does
    // not go on, this is the first time.
    let goes_on = event.stop_hook_active == Some(true);
    let before = if goes_on { caller.read_count(&key) } else { Some(0) };
    let told = read_variable("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP").and_then(|cap| cap.parse().ok());
    let cap: u32 = told.unwrap_or(DEFAULT_MAX_STOP_BLOCKS);
    if cap == 0 {
        return;
    }
    let why = match before {
        Some(before) if before >= cap => format!("hooks have kept the agent going {before} times in a row"),
        Some(before) if caller.write_count(&key, before + 1) => return,
        // Where nothing can be counted, once is enough.
        _ if goes_on => "a hook has kept the agent going, and how often that was cannot be counted".into(),
        _ => return,
    };
    verdict.decision = Decision::None;
    let reason = verdict.reason.take().unwrap_or_default();
    verdict.add_message(format!("{why}, so it may stop now; the last reason was: {reason}"));
}
