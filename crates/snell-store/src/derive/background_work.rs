//! The work that an agent leaves running when its turn ends: the lists of a `Stop` or `SubagentStop` event. Pure.

use serde_json::Value;
use snell::Event;

use super::worker_signals::{self, WorkerPhase};
use crate::db::agent_activity::BackgroundWork;
use crate::db::workers::{WorkerKind, to_single_line};

/// Fields with the scheduled wake-ups: of Claude Code, and of Qwen Code.
const WAKEUP_FIELDS: &[&str] = &["session_crons", "crons"];

/// Fields with the description of a wake-up, in order of preference.
const WAKEUP_LABELS: &[&str] = &["prompt", "schedule", "id"];

/// The longest description of a wake-up.
const MAX_WAKEUP_CHARS: usize = 60;

/// The work in the background, with the descriptions of its parts.
#[derive(Debug, Default)]
pub(super) struct BackgroundList {
    pub(super) counts: BackgroundWork,
    /// The descriptions of sub-agents and commands.
    tasks: Vec<String>,
    /// The prompts of the wake-ups.
    wakeups: Vec<String>,
}

impl BackgroundList {
    /// The work in words.
    pub(super) fn describe(&self) -> String {
        let tasks = describe_part(&self.tasks, "1 background task runs", "background tasks run");
        let wakeups = describe_part(&self.wakeups, "1 wake-up is scheduled", "wake-ups are scheduled");
        [tasks, wakeups].into_iter().flatten().collect::<Vec<_>>().join("; ")
    }
}

fn describe_part(names: &[String], one: &str, many: &str) -> Option<String> {
    let count = match names {
        [] => return None,
        [_] => one.to_owned(),
        names => format!("{} {many}", names.len()),
    };
    Some(format!("{count}: {}", names.join(", ")))
}

/// The work that the event lists as running, except for the sub-agent that it ends; nothing without a list.
pub(super) fn list_background_work(event: &Event) -> Option<BackgroundList> {
    let tasks = event.raw.get("background_tasks").and_then(Value::as_array);
    let wakeups = WAKEUP_FIELDS.iter().find_map(|field| event.raw.get(*field)?.as_array());
    if tasks.is_none() && wakeups.is_none() {
        return None;
    }
    let ended = event.subagent.as_ref().and_then(|subagent| subagent.id.as_deref());
    let mut list = BackgroundList::default();
    for task in worker_signals::parse_background_list(event).workers {
        if task.phase != WorkerPhase::Runs || Some(task.name.as_str()) == ended {
            continue;
        }
        match task.kind {
            WorkerKind::Subagent => list.counts.subagents += 1,
            WorkerKind::Task | WorkerKind::Other => list.counts.commands += 1,
        }
        list.tasks.push(task.label.unwrap_or(task.name));
    }
    for wakeup in wakeups.into_iter().flatten() {
        let label = WAKEUP_LABELS.iter().find_map(|field| wakeup.get(*field)?.as_str()).unwrap_or("no prompt");
        list.wakeups.push(to_single_line(label, MAX_WAKEUP_CHARS));
        list.counts.wakeups += 1;
    }
    Some(list)
}
