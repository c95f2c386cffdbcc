//! `snell session show`: one session in detail.

use serde::Serialize;
use snell::Timestamp;
use snell_store::{MissionView, ReconcileScope, SessionRow, SessionWorker};

use super::list::{format_context_percent, format_session_state};
use crate::commands::{DONE, worker};
use crate::output::time::{format_elapsed, format_time};
use crate::output::{self, TextTable};
use crate::record::open_store::{self, StoreHandle};
use crate::session_arg::SessionSelector;

/// Show one session, with its mission and its workers
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  snell session show\n  snell session show 5f3a --json | jq .workers")]
pub(crate) struct Args {
    /// Session id, or its beginning [default: the caller's session]
    #[arg(value_name = "ID", conflicts_with = "session")]
    id: Option<String>,
    #[command(flatten)]
    whose: SessionSelector,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A session with its mission and workers, as JSON.
#[derive(Serialize)]
struct SessionDetailView {
    #[serde(flatten)]
    session: SessionRow,
    mission: Option<MissionView>,
    workers: Vec<SessionWorker>,
}

pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    let mut store_handle = StoreHandle::open()?;
    let now = store_handle.now();
    if !store_handle.has_no_records() {
        store_handle.query(|store| open_store::reconcile_agents(store, ReconcileScope::All, now))?;
    }
    let session = match &args.id {
        Some(id) => SessionSelector::from_id(Some(id)).resolve(&mut store_handle)?,
        None => args.whose.resolve(&mut store_handle)?,
    };
    let (mission, workers) = store_handle.query(|store| {
        let mission = store.find_session_mission(&session)?;
        Ok((mission, store.list_workers(session.conversation_id)?))
    })?;
    let details = SessionDetailView { session, mission, workers };
    if args.json {
        output::print_json(&details)?;
    } else {
        output::start_paging();
        print_session(&details, now);
    }
    Ok(DONE)
}

/// The width of the labels.
const LABEL_CELLS: usize = 12;

fn print_session(details: &SessionDetailView, now: Timestamp) {
    let session = &details.session;
    let moment =
        |time: Option<Timestamp>| time.map(|time| format!("{} ({} ago)", format_time(time), format_elapsed(time, now)));
    let since = |text: &Option<String>, time: Option<Timestamp>| {
        let text = text.clone()?;
        Some(time.map_or(text.clone(), |time| format!("{text} (set {} ago)", format_elapsed(time, now))))
    };
    let ended = moment(session.ended_at).map(|time| match &session.end_reason {
        Some(reason) => format!("{time}: {reason}"),
        None => time,
    });
    let mission = details.mission.as_ref().map(|mission| match mission.linked_at {
        Some(time) => format!("{} (since {})", mission.mission_execution_id, format_time(time)),
        None => mission.mission_execution_id.clone(),
    });
    let warned = u8::try_from(session.context_warning_level).ok().filter(|level| *level > 0);
    let lines = [
        ("session", Some(session.session_id.clone())),
        ("project", Some(session.project_path.clone())),
        ("agent", Some(session.agent_id.to_string())),
        ("state", Some(format_session_state(session))),
        ("status", since(&session.status_text, session.status_set_at)),
        ("role", session.role.clone()),
        ("mode", session.mode.clone()),
        ("mission", mission),
        ("model", session.model.clone()),
        ("permissions", session.permission_mode.clone()),
        ("context", session.context_percent.map(|percent| format_context_percent(Some(percent)))),
        ("warned at", warned.map(|level| format!("{level} %"))),
        ("tmux pane", session.tmux_pane.clone()),
        ("began", moment(Some(session.started_at))),
        ("last seen", moment(Some(session.last_seen_at))),
        ("pinged", moment(session.pinged_at)),
        ("ended", ended),
    ];
    for (name, value) in lines {
        if let Some(value) = value {
            output::print_field(name, LABEL_CELLS, &value);
        }
    }
    if !details.workers.is_empty() {
        output::print_line("");
        let table: TextTable<6> = worker::build_worker_table(&details.workers, now);
        table.print();
    }
}
