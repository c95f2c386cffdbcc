//! `snell session list`: the sessions.

use snell::Timestamp;
use snell_store::{ReconcileScope, SessionFilter, SessionRow};

use crate::commands::DONE;
use crate::output::time::format_elapsed;
use crate::output::{self, TableColumn, TextTable};
use crate::record::open_store::{self, StoreHandle};
use crate::session_arg::project_name;

/// The longest status in the table.
const STATUS_SHOWN: usize = 60;

/// List open sessions, the last seen first
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  snell session list\n  \
    snell session list --all --json \\\n    \
      | jq -r '.[] | select(.mode == \"mission\") | .session_id'")]
pub(crate) struct Args {
    /// Include ended sessions
    #[arg(long)]
    all: bool,
    /// Show at most this many
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    limit: Option<u32>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    let mut store_handle = StoreHandle::open()?;
    let sessions = load_sessions(args, &mut store_handle)?;
    if args.json {
        output::print_json(&sessions)?;
    } else if sessions.is_empty() {
        output::print_line(explain_empty_list(args, &mut store_handle)?);
    } else {
        output::start_paging();
        build_session_table(&sessions, store_handle.now()).print();
    }
    Ok(DONE)
}

fn load_sessions(args: &Args, store_handle: &mut StoreHandle) -> anyhow::Result<Vec<SessionRow>> {
    if store_handle.has_no_records() {
        return Ok(Vec::new());
    }
    let now = store_handle.now();
    let filter = SessionFilter { ended_too: args.all, limit: args.limit, ..SessionFilter::default() };
    store_handle.query(|store| {
        open_store::reconcile_agents(store, ReconcileScope::All, now)?;
        store.list_sessions(&filter)
    })
}

/// Why the list is empty.
fn explain_empty_list(args: &Args, store_handle: &mut StoreHandle) -> anyhow::Result<&'static str> {
    let any = SessionFilter { ended_too: true, limit: Some(1), ..SessionFilter::default() };
    let ended = !args.all
        && !store_handle.has_no_records()
        && !store_handle.query(|store| store.list_sessions(&any))?.is_empty();
    Ok(if ended {
        "No open sessions. `snell session list --all` includes ended ones."
    } else {
        "No sessions yet. A session appears when its agent calls `snell hook`. To set it up: snell docs use-agents"
    })
}

const COLUMNS: [TableColumn; 8] = [
    TableColumn::new("SESSION"),
    TableColumn::new("PROJECT").with_drop_rank(4),
    TableColumn::new("ROLE").with_drop_rank(2),
    TableColumn::new("MODE").with_drop_rank(1),
    TableColumn::new("STATE"),
    TableColumn::new("STATUS").flexible(),
    TableColumn::new("CONTEXT").with_drop_rank(3),
    TableColumn::new("LAST SEEN"),
];

fn build_session_table(sessions: &[SessionRow], now: Timestamp) -> TextTable<8> {
    let mut table = TextTable::new(COLUMNS);
    for session in sessions {
        let or_dash = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".into());
        table.add_row([
            session.session_id.clone(),
            project_name(&session.project_path),
            or_dash(&session.role),
            or_dash(&session.mode),
            format_session_state(session),
            output::shorten_to_one_line(session.status_text.as_deref().unwrap_or("-"), STATUS_SHOWN),
            format_context_percent(session.context_percent),
            format!("{} ago", format_elapsed(session.last_seen_at, now)),
        ]);
    }
    table
}

/// The state, with the current tool.
pub(super) fn format_session_state(session: &SessionRow) -> String {
    match &session.current_tool {
        Some(tool) if session.current_state == "tool_active" => format!("{} {tool}", session.current_state),
        _ => session.current_state.clone(),
    }
}

/// The context use.
pub(super) fn format_context_percent(percent: Option<f64>) -> String {
    percent.map_or_else(|| "-".into(), |percent| format!("{percent:.0} %"))
}
