//! The session of a command: the given one, or else the caller's own.

use std::path::Path;

use anyhow::bail;
use snell::Timestamp;
use snell_store::derive::project;
use snell_store::{OpenSession, ProcessIdentity, ReconcileScope, SessionFilter, SessionRow, SessionView};

use crate::env::env_vars::EnvVars;
use crate::env::sender::{read_session_ids, read_tmux_pane};
use crate::output::time::format_elapsed;
use crate::output::{CommandError, format_count, truncate_to_width};
use crate::record::open_store::{self, StoreHandle};

/// How many sessions a hint lists.
const MAX_LISTED_SESSIONS: usize = 8;

/// A given id is shown up to this width.
const MAX_ID_CELLS: usize = 80;

const SESSION_FLAG: &str = "pass --session ID";

/// Which session
#[derive(Debug, Default, clap::Args)]
pub(crate) struct SessionSelector {
    /// The session's id, or the beginning of it [default: the caller's own]
    #[arg(long = "session", value_name = "ID")]
    session: Option<String>,
}

/// The caller's location, which leads to its session if no id is given.
#[derive(Debug)]
struct CallerLocation {
    /// The processes above this one, the nearest first.
    ancestors: Vec<ProcessIdentity>,
    /// The tmux server, if it is known, and the pane.
    pane: Option<(Option<String>, String)>,
    project: String,
}

/// How a session was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FoundBy {
    Process,
    Pane,
    Project,
}

impl SessionSelector {
    /// The session of this id or prefix; without one, the caller's own.
    pub(crate) fn from_id(id: Option<&str>) -> Self {
        Self { session: id.map(str::to_owned) }
    }

    /// Finds the session.
    pub(crate) fn resolve(&self, store_handle: &mut StoreHandle) -> anyhow::Result<SessionRow> {
        if let Some(id) = &self.session {
            let session = find_by_prefix(id, store_handle)?;
            return load_session_row(session.conversation_id, store_handle);
        }
        if store_handle.has_no_records() {
            bail!("no session has been recorded yet");
        }
        match find_by_env(store_handle)? {
            Some(conversation_id) => load_session_row(conversation_id, store_handle),
            None => find_by_location(store_handle),
        }
    }
}

pub(crate) fn load_session_row(conversation_id: i64, store_handle: &mut StoreHandle) -> anyhow::Result<SessionRow> {
    let filter = SessionFilter { conversation_id: Some(conversation_id), ..SessionFilter::default() };
    let mut rows = store_handle.query(|store| store.list_sessions(&filter))?;
    match rows.pop() {
        Some(row) => Ok(row),
        None => bail!("the session was removed, because it is too old"),
    }
}

/// The session with this id, or the only one whose id starts with it.
pub(crate) fn find_by_prefix(id: &str, store_handle: &mut StoreHandle) -> anyhow::Result<SessionView> {
    if store_handle.has_no_records() {
        bail!("no session has been recorded yet");
    }
    if id.trim().is_empty() {
        // It probably comes from an unset variable, and would match any session.
        return Err(CommandError::new("the session id is empty").with_hint("write the id or its beginning").into());
    }
    let mut found = store_handle.query(|store| store.find_sessions(id))?;
    if let Some(exact) = found.iter().position(|session| has_session_id(session, id)) {
        return Ok(found.swap_remove(exact));
    }
    if found.len() == 1 {
        return Ok(found.remove(0));
    }
    let now = store_handle.now();
    if found.is_empty() {
        let latest = store_handle.query(|store| store.find_sessions(""))?;
        if latest.is_empty() {
            bail!("no session has been recorded yet");
        }
        let problem = format!("no session id starts with \"{}\"", truncate_to_width(id, MAX_ID_CELLS));
        let latest = format_session_list(latest.iter().map(label_view), now);
        return Err(CommandError::new(problem).with_hint(format!("latest sessions: {latest}")).into());
    }
    let number = found.len();
    let problem = format!("{number} session ids start with \"{}\"", truncate_to_width(id, MAX_ID_CELLS));
    let found = format_session_list(found.iter().map(label_view), now);
    Err(CommandError::new(problem).with_hint(format!("write more of the id: {found}")).into())
}

fn has_session_id(session: &SessionView, id: &str) -> bool {
    session.session_ids.iter().any(|known| known == id)
}

/// The session that the environment names. An unknown id is an error, because the command would otherwise change another
/// session.
fn find_by_env(store_handle: &mut StoreHandle) -> anyhow::Result<Option<i64>> {
    let mut known = Vec::new();
    for (variable, id) in read_session_ids(&EnvVars::read()) {
        let found = store_handle.query(|store| store.find_sessions(&id))?;
        match found.iter().find(|session| has_session_id(session, &id)) {
            Some(session) => known.push(session.conversation_id),
            // One known id is enough: the other one may not have been reported yet.
            None if known.is_empty() => {
                let id = truncate_to_width(&id, MAX_ID_CELLS);
                let problem = format!("{variable} is \"{id}\", but no session has this id");
                return Err(CommandError::new(problem).with_hint(suggest_session(store_handle)?).into());
            }
            None => {}
        }
    }
    let [launchers, own] = known[..] else {
        return Ok(known.first().copied());
    };
    if launchers == own {
        return Ok(Some(own));
    }
    // A process that an agent starts inherits the launcher's id. Its own process shows to which session it belongs.
    let open = store_handle.query(|store| store.list_local_open_sessions())?;
    let nearest = find_nearest_sessions(&ProcessIdentity::list_own_ancestors(), &open);
    let is_own = matches!(nearest[..], [session] if session.row.conversation_id == own);
    Ok(Some(if is_own { own } else { launchers }))
}

/// Whether an agent that has a session started this process.
pub(crate) fn is_below_agent(store_handle: &mut StoreHandle) -> anyhow::Result<bool> {
    if store_handle.has_no_records() {
        return Ok(false);
    }
    let open = store_handle.query(|store| store.list_local_open_sessions())?;
    Ok(!find_nearest_sessions(&ProcessIdentity::list_own_ancestors(), &open).is_empty())
}

/// The session at the caller's location.
fn find_by_location(store_handle: &mut StoreHandle) -> anyhow::Result<SessionRow> {
    let now = store_handle.now();
    let seat = CallerLocation {
        ancestors: ProcessIdentity::list_own_ancestors(),
        pane: read_tmux_pane(&EnvVars::read()),
        project: project::find_project_root(&std::env::current_dir()?).to_string_lossy().into_owned(),
    };
    let open = store_handle.query(|store| {
        open_store::reconcile_agents(store, ReconcileScope::All, now)?;
        store.list_local_open_sessions()
    })?;
    let (by, found) = match_location(&seat, &open);
    if let [session] = found[..] {
        return Ok(session.row.clone());
    }
    let place = match by {
        FoundBy::Process => "for the calling process".to_owned(),
        FoundBy::Pane => "in this tmux pane".to_owned(),
        FoundBy::Project => format!("in {}", seat.project),
    };
    if found.is_empty() {
        let problem = format!("no session is open {place}");
        return Err(CommandError::new(problem).with_hint(suggest_session(store_handle)?).into());
    }
    let are = if found.len() == 1 { "is" } else { "are" };
    let problem = format!("{} {are} open {place}", format_count(found.len(), "session"));
    let found = format_session_list(found.iter().map(|session| label_row(&session.row)), now);
    Err(CommandError::new(problem).with_hint(format!("{SESSION_FLAG}: {found}")).into())
}

/// The sessions at a location, by the first criterion that matches any.
fn match_location<'a>(seat: &CallerLocation, open: &'a [OpenSession]) -> (FoundBy, Vec<&'a OpenSession>) {
    let of_process = find_nearest_sessions(&seat.ancestors, open);
    if !of_process.is_empty() {
        return (FoundBy::Process, of_process);
    }
    let on_pane: Vec<_> = open.iter().filter(|session| seat.has_same_pane(session)).collect();
    if !on_pane.is_empty() {
        return (FoundBy::Pane, on_pane);
    }
    let in_project = open.iter().filter(|session| session.row.project_path == seat.project);
    (FoundBy::Project, in_project.collect())
}

/// The sessions of the nearest process that has any. A process without a known start time may be another one with the same id.
fn find_nearest_sessions<'a>(above: &[ProcessIdentity], open: &'a [OpenSession]) -> Vec<&'a OpenSession> {
    let of = |process: &ProcessIdentity| -> Vec<_> {
        let is_its = |session: &&OpenSession| process.started.is_some() && session.process == Some(*process);
        open.iter().filter(is_its).collect()
    };
    above.iter().map(of).find(|found| !found.is_empty()).unwrap_or_default()
}

impl CallerLocation {
    fn has_same_pane(&self, session: &OpenSession) -> bool {
        self.pane.as_ref().is_some_and(|(server, pane)| {
            let other_server = matches!((server, &session.tmux_server), (Some(own), Some(its)) if own != its);
            session.tmux_pane.as_ref() == Some(pane) && !other_server
        })
    }
}

/// A hint that lists the open sessions.
fn suggest_session(store_handle: &mut StoreHandle) -> anyhow::Result<String> {
    let open = store_handle.query(|store| store.list_sessions(&SessionFilter::default()))?;
    if open.is_empty() {
        return Ok(format!("{SESSION_FLAG} (ended sessions: snell session list --all)"));
    }
    let now = store_handle.now();
    Ok(format!("{SESSION_FLAG}: {}", format_session_list(open.iter().map(label_row), now)))
}

/// A session for people: its id, its project, and when it was last active.
type SessionLabel<'a> = (&'a str, &'a str, Timestamp);

fn label_view(session: &SessionView) -> SessionLabel<'_> {
    (&session.session_id, &session.project_path, session.last_seen_at)
}

fn label_row(session: &SessionRow) -> SessionLabel<'_> {
    (&session.session_id, &session.project_path, session.last_seen_at)
}

fn format_session_list<'a>(sessions: impl Iterator<Item = SessionLabel<'a>>, now: Timestamp) -> String {
    let describe = |(id, project, last_seen_at): SessionLabel<'_>| {
        format!("{id} ({}, {} ago)", project_name(project), format_elapsed(last_seen_at, now))
    };
    let mut names: Vec<_> = sessions.take(MAX_LISTED_SESSIONS + 1).map(describe).collect();
    let more = if names.len() > MAX_LISTED_SESSIONS { " …" } else { "" };
    names.truncate(MAX_LISTED_SESSIONS);
    format!("{}{more}", names.join(", "))
}

/// The display name of a project.
pub(crate) fn project_name(path: &str) -> String {
    let name = Path::new(path).file_name();
    name.map_or_else(|| path.to_owned(), |name| name.to_string_lossy().into_owned())
}
