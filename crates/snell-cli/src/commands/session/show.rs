//! `snell session show`: everything that is known of one session.

use serde::Serialize;
use snell::Timestamp;
use snell_store::{MissionView, SessionRow, Worker};

use super::list::{context, state};
use crate::commands::{DONE, worker};
use crate::memory::{self, Memory};
use crate::output::{self, Table};
use crate::times::{how_long, shown};
use crate::whose::Whose;

/// Show what is known of one session, with its mission and its workers
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  snell session show\n  snell session show 5f3a --json | jq .workers")]
pub(crate) struct Args {
    /// The session's id, or the beginning of it [default: the caller's own]
    #[arg(value_name = "ID", conflicts_with = "session")]
    id: Option<String>,
    #[command(flatten)]
    whose: Whose,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A session with what hangs on it, for programs.
#[derive(Serialize)]
struct Whole {
    #[serde(flatten)]
    session: SessionRow,
    mission: Option<MissionView>,
    workers: Vec<Worker>,
}

pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    let mut memory = Memory::find()?;
    let now = memory.now();
    if !memory.is_blank() {
        memory.ask(|store| memory::look_after(store, now))?;
    }
    let session = match &args.id {
        Some(id) => Whose::named(Some(id)).find(&mut memory)?,
        None => args.whose.find(&mut memory)?,
    };
    let (mission, workers) = memory.ask(|store| {
        let mission = store.mission_of(&session)?;
        Ok((mission, store.workers_of(session.conversation_id)?))
    })?;
    let whole = Whole {
        session,
        mission,
        workers,
    };
    if args.json {
        output::json(&whole)?;
    } else {
        print(&whole, now);
    }
    Ok(DONE)
}

fn print(whole: &Whole, now: Timestamp) {
    let session = &whole.session;
    let moment = |time: Option<Timestamp>| time.map(|time| format!("{} ({} ago)", shown(time), how_long(time, now)));
    let since = |text: &Option<String>, time: Option<Timestamp>| {
        let said = text.clone()?;
        Some(time.map_or(said.clone(), |time| format!("{said} (set {} ago)", how_long(time, now))))
    };
    let ended = moment(session.ended_at).map(|time| match &session.end_reason {
        Some(reason) => format!("{time}: {reason}"),
        None => time,
    });
    let mission = whole.mission.as_ref().map(|mission| match mission.linked_at {
        Some(time) => format!("{} (since {})", mission.mission_execution_id, shown(time)),
        None => mission.mission_execution_id.clone(),
    });
    let told = u8::try_from(session.context_warning_level)
        .ok()
        .filter(|level| *level > 0);
    let lines = [
        ("session", Some(session.session_id.clone())),
        ("project", Some(session.project_path.clone())),
        ("agent", Some(session.agent_id.to_string())),
        ("state", Some(state(session))),
        ("status", since(&session.status_text, session.status_set_at)),
        ("role", session.role.clone()),
        ("mode", session.mode.clone()),
        ("mission", mission),
        ("model", session.model.clone()),
        ("permissions", session.permission_mode.clone()),
        ("context", session.context_percent.map(|percent| context(Some(percent)))),
        ("warned at", told.map(|level| format!("{level} %"))),
        ("tmux pane", session.tmux_pane.clone()),
        ("began", moment(Some(session.started_at))),
        ("last seen", moment(Some(session.last_seen_at))),
        ("pinged", moment(session.pinged_at)),
        ("ended", ended),
    ];
    for (name, value) in lines {
        if let Some(value) = value {
            output::line(&format!("{name:<12} {value}"));
        }
    }
    if !whole.workers.is_empty() {
        output::line("");
        let table: Table<6> = worker::table(&whole.workers, now);
        table.print();
    }
}
