//! `snell session list`: which sessions there are.

use snell::Timestamp;
use snell_store::{SessionFilter, SessionRow};

use crate::commands::DONE;
use crate::memory::{self, Memory};
use crate::output::{self, Table};
use crate::times::how_long;
use crate::whose::project_name;

/// How much of a status is shown.
const STATUS_SHOWN: usize = 60;

/// List open sessions, the one that was last heard of first
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  snell session list\n  \
    snell session list --all --json \\\n    \
      | jq -r '.[] | select(.mode == \"mission\") | .session_id'")]
pub(crate) struct Args {
    /// Show those that have ended, too
    #[arg(long)]
    all: bool,
    /// Show at most so many
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    limit: Option<u32>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    let mut memory = Memory::find()?;
    let sessions = look(args, &mut memory)?;
    if args.json {
        output::json(&sessions)?;
    } else if sessions.is_empty() {
        output::line(nothing(args, &mut memory)?);
    } else {
        shown(&sessions, memory.now()).print();
    }
    Ok(DONE)
}

fn look(args: &Args, memory: &mut Memory) -> anyhow::Result<Vec<SessionRow>> {
    if memory.is_blank() {
        return Ok(Vec::new());
    }
    let now = memory.now();
    let filter = SessionFilter {
        ended_too: args.all,
        limit: args.limit,
        ..SessionFilter::default()
    };
    memory.ask(|store| {
        memory::look_after(store, now)?;
        store.session_rows(&filter)
    })
}

/// Why there is nothing to show.
fn nothing(args: &Args, memory: &mut Memory) -> anyhow::Result<&'static str> {
    let any = SessionFilter {
        ended_too: true,
        limit: Some(1),
        ..SessionFilter::default()
    };
    let ended = !args.all && !memory.is_blank() && !memory.ask(|store| store.session_rows(&any))?.is_empty();
    Ok(if ended {
        "No session is open. `snell session list --all` shows those that have ended."
    } else {
        "No session has been seen yet. Sessions are seen once their agents call `snell hook`; `snell docs guest` shows how."
    })
}

/// What is left out first on a narrow terminal: mode, role, context, project.
const DISPENSABLE: &[usize] = &[3, 2, 6, 1];

fn shown(sessions: &[SessionRow], now: Timestamp) -> Table<8> {
    let titles = [
        "SESSION",
        "PROJECT",
        "ROLE",
        "MODE",
        "STATE",
        "STATUS",
        "CONTEXT",
        "LAST SEEN",
    ];
    let mut table = Table::new(titles, 5).dispensable(DISPENSABLE);
    for session in sessions {
        let told = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".into());
        table.row([
            session.session_id.clone(),
            project_name(&session.project_path),
            told(&session.role),
            told(&session.mode),
            state(session),
            output::in_brief(session.status_text.as_deref().unwrap_or("-"), STATUS_SHOWN),
            context(session.context_percent),
            format!("{} ago", how_long(session.last_seen_at, now)),
        ]);
    }
    table
}

/// The state, and the tool that it is about.
pub(super) fn state(session: &SessionRow) -> String {
    match &session.current_tool {
        Some(tool) if session.current_state == "tool_active" => format!("{} {tool}", session.current_state),
        _ => session.current_state.clone(),
    }
}

/// How full the context is.
pub(super) fn context(percent: Option<f64>) -> String {
    percent.map_or_else(|| "-".into(), |percent| format!("{percent:.0} %"))
}
