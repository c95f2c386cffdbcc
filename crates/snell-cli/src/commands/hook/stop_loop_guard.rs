//! Limits how often hooks may keep an agent from ending its turn.

use snell::{Decision, EventName};

use super::pipeline::HookPipeline;

/// How often in a row hooks may keep an agent going, unless the agent's own setting has another number.
const DEFAULT_MAX_STOP_BLOCKS: u32 = 8;

/// Allows an agent to end its turn if hooks have kept it going too often in a row.
pub(super) fn limit_stop_blocks(run: &mut HookPipeline<'_>) {
    let (event, markers, verdict) = (&run.call.event, &run.setup.markers, &mut run.verdict);
    if !matches!(event.name, EventName::Stop | EventName::SubagentStop) {
        return;
    }
    let subagent = event.subagent.as_ref().and_then(|subagent| subagent.id.as_deref());
    let key = ["stop", event.session_id.as_deref().unwrap_or_default(), subagent.unwrap_or_default()];
    if !verdict.is_blocked() {
        // If the agent goes on now, the reason is not Snell.
        markers.reset_count(&key);
        return;
    }
    // The agent may go on for other reasons, so only the count shows that Snell kept it going. If it did not go on, this is the
    // first time.
    let is_continued = event.stop_hook_active == Some(true);
    let before = if is_continued { markers.read_count(&key) } else { Some(0) };
    let variable = run.call.product.variables.stop_block_cap;
    let cap = variable.and_then(|name| run.call.vars.text(name)?.parse().ok()).unwrap_or(DEFAULT_MAX_STOP_BLOCKS);
    if cap == 0 {
        return;
    }
    let why = match before {
        Some(before) if before >= cap => format!("hooks kept the agent going {before} times in a row"),
        Some(before) if markers.write_count(&key, before + 1) => return,
        // Without a count, once is enough.
        _ if is_continued => "a hook did not let the agent stop, and Snell cannot count how many times".into(),
        _ => return,
    };
    verdict.decision = Decision::None;
    let reason = verdict.reason.take().unwrap_or_default();
    verdict.add_message(format!("{why}, so Snell allows it to stop; last reason: {reason}"));
}
