//! Reads the workers in an event. Pure; data that cannot be read is ignored.

use serde_json::Value;
use snell::{Event, EventName};

use crate::db::workers::{WorkerKind, normalize_name};
use crate::record::event_record::DecisionRecord;

/// The workers that an event names.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct WorkerSignals {
    pub(super) workers: Vec<WorkerSignal>,
    /// Whether no other worker runs in the background.
    pub(super) no_others: bool,
}

/// An event's data about one worker.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct WorkerSignal {
    pub(super) kind: WorkerKind,
    pub(super) name: String,
    pub(super) label: Option<String>,
    pub(super) in_background: bool,
    pub(super) phase: WorkerPhase,
}

/// The phase of a worker.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum WorkerPhase {
    /// It starts, perhaps again.
    Begins,
    /// It runs, and may have started earlier.
    Runs,
    /// It has finished.
    Finished { succeeded: bool, summary: Option<String> },
}

/// Fields with the id of a tool's background work, and its kind.
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

/// The same, for an agent's list of background tasks.
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

/// Types of listed tasks that are sub-agents.
const SUBAGENT_TYPES: &[&str] = &["subagent", "teammate", "workflow", "cloud session"];

/// Types of listed tasks that are Claude Code's own, such as keeping its memory. No event reports their end.
const INTERNAL_TYPES: &[&str] = &["dream", "auto-mode scan", "memory import", "memory save"];

/// Fields with a description, in order of preference.
const LABEL_FIELDS: &[&str] = &["description", "command", "type", "prompt"];

/// Fields with a result.
const SUMMARY_FIELDS: &[&str] = &["summary", "result"];

/// Words for a finished worker, and whether they mean success. All others mean that it runs.
const FINISHED_STATUSES: &[(&str, bool)] = &[
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

/// The start of a prompt that reports tasks to their agent.
const NOTIFICATION_PREFIX: &str = "<task-notification>";

/// The workers in an event. If a hook blocked the event or made its agent continue, it has not happened.
pub(super) fn extract_worker_signals(event: &Event, judgement: Option<&DecisionRecord>) -> WorkerSignals {
    let held_up = judgement.is_some_and(|judgement| judgement.is_block() || judgement.goes_on);
    match &event.name {
        EventName::SubagentStart => WorkerSignals::from_signal(parse_subagent(event, WorkerPhase::Begins)),
        EventName::SubagentStop => {
            let stopped = || WorkerPhase::Finished {
                succeeded: true,
                summary: get_payload_text(event, "last_assistant_message").map(str::to_owned),
            };
            let mut news = WorkerSignals { no_others: false, ..parse_background_list(event) };
            let is_ended = !held_up && !is_internal_subagent(event);
            news.workers.extend(is_ended.then(|| parse_subagent(event, stopped())).flatten());
            news
        }
        EventName::Stop => parse_background_list(event),
        EventName::PostToolUse => WorkerSignals::from_signal(parse_background_start(event)),
        EventName::UserPromptSubmit => parse_task_notification(event.prompt.as_deref().unwrap_or_default()),
        EventName::Other(name) if !held_up => match name.as_str() {
            "TaskCreated" => WorkerSignals::from_signal(parse_task(event, WorkerPhase::Begins)),
            "TaskCompleted" => {
                let done = WorkerPhase::Finished { succeeded: true, summary: None };
                WorkerSignals::from_signal(parse_task(event, done))
            }
            _ => WorkerSignals::default(),
        },
        _ => WorkerSignals::default(),
    }
}

impl WorkerSignals {
    fn from_signal(signal: Option<WorkerSignal>) -> Self {
        Self { workers: signal.into_iter().collect(), no_others: false }
    }
}

fn get_payload_text<'e>(event: &'e Event, field: &str) -> Option<&'e str> {
    event.raw.get(field).and_then(Value::as_str)
}

/// Whether a sub-agent is the agent's own means, such as the one that compacts a conversation: its type is empty.
fn is_internal_subagent(event: &Event) -> bool {
    get_payload_text(event, "agent_type").is_some_and(|kind| kind.trim().is_empty())
}

fn parse_subagent(event: &Event, how: WorkerPhase) -> Option<WorkerSignal> {
    let subagent = event.subagent.as_ref()?;
    Some(WorkerSignal {
        kind: WorkerKind::Subagent,
        name: normalize_name(subagent.id.as_deref()?)?,
        label: subagent.kind.as_deref().and_then(normalize_name),
        in_background: false,
        phase: how,
    })
}

/// A task in the agent's own list.
fn parse_task(event: &Event, how: WorkerPhase) -> Option<WorkerSignal> {
    Some(WorkerSignal {
        kind: WorkerKind::Task,
        name: event.raw.get("task_id").and_then(parse_worker_id)?,
        label: get_payload_text(event, "task_subject").and_then(normalize_name),
        in_background: false,
        phase: how,
    })
}

/// Background work that a tool has started.
fn parse_background_start(event: &Event) -> Option<WorkerSignal> {
    let tool = event.tool.as_ref()?;
    let input = tool.input.as_ref()?;
    let output = tool.output.as_ref()?;
    // Sub-agents run in the background without being asked to.
    let marks = [input.get("run_in_background"), output.get("isAsync")];
    if !marks.contains(&Some(&Value::Bool(true))) {
        return None;
    }
    let (name, kind) = find_first_id(output, STARTED_IDS)?;
    Some(WorkerSignal {
        kind,
        name,
        label: find_first_text(input, LABEL_FIELDS).and_then(normalize_name),
        in_background: true,
        phase: WorkerPhase::Begins,
    })
}

/// The agent's list of background tasks. A task that is not in it has finished, if the whole list is readable.
pub(super) fn parse_background_list(event: &Event) -> WorkerSignals {
    let Some(Value::Array(tasks)) = event.raw.get("background_tasks") else {
        return WorkerSignals::default();
    };
    let tasks: Vec<_> = tasks.iter().filter(|task| !has_type(task, INTERNAL_TYPES)).collect();
    let workers: Vec<_> = tasks.iter().filter_map(|task| parse_listed_task(task)).collect();
    WorkerSignals { no_others: workers.len() == tasks.len(), workers }
}

fn has_type(task: &Value, types: &[&str]) -> bool {
    task.get("type").and_then(Value::as_str).is_some_and(|kind| types.contains(&kind))
}

fn parse_listed_task(task: &Value) -> Option<WorkerSignal> {
    let (name, id_kind) = find_first_id(task, LISTED_IDS)?;
    let kind = if has_type(task, SUBAGENT_TYPES) { WorkerKind::Subagent } else { id_kind };
    let status = task.get("status").and_then(Value::as_str).unwrap_or_default();
    Some(WorkerSignal {
        kind,
        name,
        label: find_first_text(task, LABEL_FIELDS).and_then(normalize_name),
        in_background: true,
        phase: parse_worker_status(status, find_first_text(task, SUMMARY_FIELDS)),
    })
}

/// Whether a prompt reports tasks to their agent. The agent itself wrote it, not its user.
pub(super) fn is_task_notification(prompt: &str) -> bool {
    prompt.trim_start().starts_with(NOTIFICATION_PREFIX)
}

/// The results of the tasks in a prompt that reports them, as one line; nothing for other prompts.
pub(super) fn summarize_task_notification(prompt: &str) -> Option<String> {
    if !is_task_notification(prompt) {
        return None;
    }
    let tags = ["summary", "status", "task-id"];
    let summarize = |one: &str| tags.iter().find_map(|tag| extract_tag(one, tag)).map(str::to_owned);
    let results: Vec<_> = prompt.split(NOTIFICATION_PREFIX).filter_map(summarize).collect();
    Some(normalize_name(&results.join("; ")).unwrap_or_else(|| "no details".to_owned()))
}

/// The tasks in a prompt that reports them to their agent.
fn parse_task_notification(prompt: &str) -> WorkerSignals {
    if !is_task_notification(prompt) {
        return WorkerSignals::default();
    }
    let parse = |notification: &str| {
        Some(WorkerSignal {
            kind: WorkerKind::Task,
            name: normalize_name(extract_tag(notification, "task-id")?)?,
            label: None,
            in_background: true,
            phase: parse_worker_status(
                extract_tag(notification, "status").unwrap_or_default(),
                extract_tag(notification, "result").or_else(|| extract_tag(notification, "summary")),
            ),
        })
    };
    WorkerSignals { workers: prompt.split(NOTIFICATION_PREFIX).filter_map(parse).collect(), no_others: false }
}

fn parse_worker_status(status: &str, summary: Option<&str>) -> WorkerPhase {
    let status = status.trim();
    let word = FINISHED_STATUSES.iter().find(|(word, _)| word.eq_ignore_ascii_case(status));
    word.map_or(WorkerPhase::Runs, |(_, succeeded)| WorkerPhase::Finished {
        succeeded: *succeeded,
        summary: summary.map(str::to_owned),
    })
}

/// The text between `<name>` and `</name>`.
fn extract_tag<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    let (inside, _) = rest.split_once(&format!("</{name}>"))?;
    Some(inside.trim())
}

fn find_first_id(value: &Value, fields: &[(&str, WorkerKind)]) -> Option<(String, WorkerKind)> {
    fields.iter().find_map(|(field, kind)| Some((parse_worker_id(value.get(field)?)?, *kind)))
}

fn parse_worker_id(value: &Value) -> Option<String> {
    match value {
        Value::String(id) => normalize_name(id),
        Value::Number(id) => normalize_name(&id.to_string()),
        _ => None,
    }
}

fn find_first_text<'v>(value: &'v Value, fields: &[&str]) -> Option<&'v str> {
    fields.iter().find_map(|field| value.get(field)?.as_str())
}
