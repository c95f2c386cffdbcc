//! A limit on hooks that keep an agent from ending its turn: each time the agent comes back to the same hooks.

use snell::{Decision, EventName};

use super::pipeline::HookPipeline;

/// How often in a row hooks may keep an agent from ending its turn, unless the agent's own setting says otherwise.
const DEFAULT_MAX_STOP_BLOCKS: u32 = 8;

/// Lets an agent end its turn if hooks have kept it from that too often in a row.
pub(super) fn limit_stop_blocks(run: &mut HookPipeline<'_>) {
    let (event, markers, verdict) = (&run.call.event, &run.setup.markers, &mut run.verdict);
    if !matches!(event.name, EventName::Stop | EventName::SubagentStop) {
        return;
    }
    let subagent = event.subagent.as_ref().and_then(|subagent| subagent.id.as_deref());
    let key = ["stop", event.session_id.as_deref().unwrap_or_default(), subagent.unwrap_or_default()];
    if !verdict.is_blocked() {
        // If the agent goes on now, it is not because of Snell.
        markers.reset_count(&key);
        return;
    }
    // The agent may go on for other reasons than Snell: only the count says that it was Snell. If it does not go on, this is
    // the first time.
    let is_continued = event.stop_hook_active == Some(true);
    let before = if is_continued { markers.read_count(&key) } else { Some(0) };
    let variable = run.call.product.variables.stop_block_cap;
    let cap = variable.and_then(|name| run.call.vars.text(name)?.parse().ok()).unwrap_or(DEFAULT_MAX_STOP_BLOCKS);
    if cap == 0 {
        return;
    }
    let why = match before {
        Some(before) if before >= cap => format!("hooks have kept the agent going {before} times in a row"),
        Some(before) if markers.write_count(&key, before + 1) => return,
        // If nothing can be counted, once is enough.
        _ if is_continued => "a hook has kept the agent going, and how often that was cannot be counted".into(),
        _ => return,
    };
    verdict.decision = Decision::None;
    let reason = verdict.reason.take().unwrap_or_default();
    verdict.add_message(format!("{why}, so it may stop now; the last reason was: {reason}"));
}
