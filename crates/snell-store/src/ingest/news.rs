//! What an event tells of workers. Nothing here looks anywhere; what cannot be understood tells nothing.

use serde_json::Value;
use snell::{Event, EventName};

use crate::workers::{WorkerKind, named};

/// What an event tells of workers.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct News {
    pub(super) workers: Vec<Told>,
    /// Whether no other worker runs in the background any more.
    pub(super) no_others: bool,
}

/// What is told of one worker.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Told {
    pub(super) kind: WorkerKind,
    pub(super) name: String,
    pub(super) label: Option<String>,
    pub(super) in_background: bool,
    pub(super) how: How,
}

/// How a worker stands.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum How {
    /// It begins, perhaps once more.
    Begins,
    /// It runs, and is not known to begin just now.
    Runs,
    /// It has finished.
    Finished { succeeded: bool, summary: Option<String> },
}

/// Fields that may hold the id of what a tool has started in the background, and what that then is.
const STARTED_IDS: &[(&str, WorkerKind)] = &[
    ("backgroundTaskId", WorkerKind::Task),
    ("background_task_id", WorkerKind::Task),
    ("shellId", WorkerKind::Task),
    ("shell_id", WorkerKind::Task),
    ("bashId", WorkerKind::Task),
    ("bash_id", WorkerKind::Task),
    ("taskId", WorkerKind::Task),
    ("task_id", WorkerKind::Task),
    ("agentId", WorkerKind::Subagent),
    ("agent_id", WorkerKind::Subagent),
    ("id", WorkerKind::Task),
];

/// The same, of what an agent lists among its tasks in the background.
const LISTED_IDS: &[(&str, WorkerKind)] = &[
    ("id", WorkerKind::Task),
    ("task_id", WorkerKind::Task),
    ("taskId", WorkerKind::Task),
    ("agent_id", WorkerKind::Subagent),
    ("agentId", WorkerKind::Subagent),
    ("shell_id", WorkerKind::Task),
    ("shellId", WorkerKind::Task),
    ("backgroundTaskId", WorkerKind::Task),
];

/// What says what a worker does: the first of these that is there.
const LABELS: &[&str] = &["description", "command", "type", "prompt"];

/// What says what came of it.
const SUMMARIES: &[&str] = &["summary", "result"];

/// Words for having finished, and whether they are good news. All others mean that it goes on.
const FINISHED: &[(&str, bool)] = &[
    ("completed", true),
    ("complete", true),
    ("done", true),
    ("finished", true),
    ("succeeded", true),
    ("success", true),
    ("failed", false),
    ("failure", false),
    ("error", false),
    ("errored", false),
    ("killed", false),
    ("stopped", false),
    ("cancelled", false),
    ("canceled", false),
    ("aborted", false),
    ("timed_out", false),
    ("timeout", false),
];

/// How a prompt begins by which an agent is told of its own tasks.
const NOTIFICATION: &str = "<task-notification>";

/// What the event tells. One that was held up, because a hook had it go on, has not happened.
pub(super) fn news(event: &Event, held_up: bool) -> News {
    match &event.name {
        EventName::SubagentStart => News::of(subagent(event, How::Begins)),
        EventName::SubagentStop => {
            let stopped = || How::Finished {
                succeeded: true,
                summary: text(event, "last_assistant_message").map(str::to_owned),
            };
            let mut news = News {
                no_others: false,
                ..listed(event)
            };
            news.workers
                .extend((!held_up).then(|| subagent(event, stopped())).flatten());
            news
        }
        EventName::Stop => listed(event),
        EventName::PostToolUse => News::of(started(event)),
        EventName::UserPromptSubmit => notified(event.prompt.as_deref().unwrap_or_default()),
        EventName::Other(name) if !held_up => match name.as_str() {
            "TaskCreated" => News::of(task(event, How::Begins)),
            "TaskCompleted" => {
                let done = How::Finished {
                    succeeded: true,
                    summary: None,
                };
                News::of(task(event, done))
            }
            _ => News::default(),
        },
        _ => News::default(),
    }
}

impl News {
    fn of(told: Option<Told>) -> Self {
        Self {
            workers: told.into_iter().collect(),
            no_others: false,
        }
    }
}

fn text<'e>(event: &'e Event, field: &str) -> Option<&'e str> {
    event.raw.get(field).and_then(Value::as_str)
}

fn subagent(event: &Event, how: How) -> Option<Told> {
    let subagent = event.subagent.as_ref()?;
    Some(Told {
        kind: WorkerKind::Subagent,
        name: named(subagent.id.as_deref()?)?,
        label: subagent.kind.as_deref().and_then(named),
        in_background: false,
        how,
    })
}

/// A task that the agent has set itself.
fn task(event: &Event, how: How) -> Option<Told> {
    Some(Told {
        kind: WorkerKind::Task,
        name: event.raw.get("task_id").and_then(id)?,
        label: text(event, "task_subject").and_then(named),
        in_background: false,
        how,
    })
}

/// What a tool has started that runs on.
fn started(event: &Event) -> Option<Told> {
    let tool = event.tool.as_ref()?;
    let input = tool.input.as_ref()?;
    if input.get("run_in_background") != Some(&Value::Bool(true)) {
        return None;
    }
    let (name, kind) = first_id(tool.output.as_ref()?, STARTED_IDS)?;
    Some(Told {
        kind,
        name,
        label: first_text(input, LABELS).and_then(named),
        in_background: true,
        how: How::Begins,
    })
}

/// What the agent lists as its tasks in the background. What it does not list has finished, if all of it is understood.
fn listed(event: &Event) -> News {
    let Some(Value::Array(tasks)) = event.raw.get("background_tasks") else {
        return News::default();
    };
    let workers: Vec<_> = tasks.iter().filter_map(in_list).collect();
    News {
        no_others: workers.len() == tasks.len(),
        workers,
    }
}

fn in_list(task: &Value) -> Option<Told> {
    let (name, kind) = first_id(task, LISTED_IDS)?;
    let status = task.get("status").and_then(Value::as_str).unwrap_or_default();
    Some(Told {
        kind,
        name,
        label: first_text(task, LABELS).and_then(named),
        in_background: true,
        how: by_status(status, first_text(task, SUMMARIES)),
    })
}

/// What a prompt tells by which the agent is told of its own tasks.
fn notified(prompt: &str) -> News {
    let prompt = prompt.trim_start();
    if !prompt.starts_with(NOTIFICATION) {
        return News::default();
    }
    let told = |notification: &str| {
        Some(Told {
            kind: WorkerKind::Task,
            name: named(tagged(notification, "task-id")?)?,
            label: None,
            in_background: true,
            how: by_status(
                tagged(notification, "status").unwrap_or_default(),
                tagged(notification, "summary"),
            ),
        })
    };
    News {
        workers: prompt.split(NOTIFICATION).filter_map(told).collect(),
        no_others: false,
    }
}

fn by_status(status: &str, summary: Option<&str>) -> How {
    let status = status.trim();
    let word = FINISHED.iter().find(|(word, _)| word.eq_ignore_ascii_case(status));
    word.map_or(How::Runs, |(_, succeeded)| How::Finished {
        succeeded: *succeeded,
        summary: summary.map(str::to_owned),
    })
}

/// What stands between `<name>` and `</name>`.
fn tagged<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    let (inside, _) = rest.split_once(&format!("</{name}>"))?;
    Some(inside.trim())
}

fn first_id(value: &Value, fields: &[(&str, WorkerKind)]) -> Option<(String, WorkerKind)> {
    fields
        .iter()
        .find_map(|(field, kind)| Some((id(value.get(field)?)?, *kind)))
}

fn id(value: &Value) -> Option<String> {
    match value {
        Value::String(id) => named(id),
        Value::Number(id) => named(&id.to_string()),
        _ => None,
    }
}

fn first_text<'v>(value: &'v Value, fields: &[&str]) -> Option<&'v str> {
    fields.iter().find_map(|field| value.get(field)?.as_str())
}
