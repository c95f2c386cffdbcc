//! Which session a command is about: the one that is named, else the one that the caller belongs to.

use std::path::Path;

use anyhow::bail;
use snell::Timestamp;
use snell_store::{OpenSession, Process, SessionFilter, SessionRow, SessionView, project};

use crate::caller::Caller;
use crate::memory::{self, Memory};
use crate::output::{count, shortened};
use crate::times::how_long;

/// How many sessions are named when one has to be chosen.
const NAMED: usize = 8;

/// How much is repeated of an id that somebody wrote.
const ID_SHOWN: usize = 80;

const NAME_ONE: &str = "name one with --session ID";

/// Which session
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Whose {
    /// The session's id, or the beginning of it [default: the caller's own]
    #[arg(long = "session", value_name = "ID")]
    session: Option<String>,
}

/// Where the caller sits: what leads to its session if nothing names it.
#[derive(Debug)]
struct Seat {
    /// The processes above this one, the nearest first.
    above: Vec<Process>,
    /// The tmux server, if it is known, and the pane.
    pane: Option<(Option<String>, String)>,
    project: String,
}

/// What led to sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Process,
    Pane,
    Project,
}

impl Whose {
    /// The session of this id, or whose id begins like this; without one, the caller's own.
    pub(crate) fn named(id: Option<&str>) -> Self {
        Self {
            session: id.map(str::to_owned),
        }
    }

    /// The one session that is meant.
    pub(crate) fn find(&self, memory: &mut Memory) -> anyhow::Result<SessionRow> {
        if let Some(id) = &self.session {
            let session = by_prefix(id, memory)?;
            return row(session.conversation_id, memory);
        }
        if memory.is_blank() {
            bail!("nothing has been recorded yet, so there is no session");
        }
        match by_environment(memory)? {
            Some(conversation_id) => row(conversation_id, memory),
            None => by_seat(memory),
        }
    }
}

fn row(conversation_id: i64, memory: &mut Memory) -> anyhow::Result<SessionRow> {
    let filter = SessionFilter {
        conversation_id: Some(conversation_id),
        ..SessionFilter::default()
    };
    let mut rows = memory.ask(|store| store.session_rows(&filter))?;
    match rows.pop() {
        Some(row) => Ok(row),
        None => bail!("the session was removed, because it was old"),
    }
}

/// The one session whose id begins like this. An id that is whole counts, also if others begin with it.
pub(crate) fn by_prefix(id: &str, memory: &mut Memory) -> anyhow::Result<SessionView> {
    if memory.is_blank() {
        bail!("nothing has been recorded yet");
    }
    if id.trim().is_empty() {
        // It comes from a variable that is not set, and would lead to whichever session is the only one.
        bail!("the session's id is empty; write it, or the beginning of it");
    }
    let mut found = memory.ask(|store| store.sessions(id))?;
    if let Some(exact) = found.iter().position(|session| is_known_as(session, id)) {
        return Ok(found.swap_remove(exact));
    }
    if found.len() == 1 {
        return Ok(found.remove(0));
    }
    let now = memory.now();
    if found.is_empty() {
        let latest = memory.ask(|store| store.sessions(""))?;
        if latest.is_empty() {
            bail!("no session has been recorded yet");
        }
        bail!(
            "no session begins with \"{}\"; the latest ones are {}",
            shortened(id, ID_SHOWN),
            list(latest.iter().map(Named::from), now)
        );
    }
    let number = found.len();
    bail!(
        "{number} sessions begin with \"{}\", so write more of the id: {}",
        shortened(id, ID_SHOWN),
        list(found.iter().map(Named::from), now)
    );
}

fn is_known_as(session: &SessionView, id: &str) -> bool {
    session.session_ids.iter().any(|known| known == id)
}

/// The session that the environment names, by its number. One that is not known is not passed over: what is said would
/// otherwise be said of another session.
fn by_environment(memory: &mut Memory) -> anyhow::Result<Option<i64>> {
    let mut known = Vec::new();
    for (variable, id) in Caller::session_ids() {
        let found = memory.ask(|store| store.sessions(&id))?;
        match found.iter().find(|session| is_known_as(session, &id)) {
            Some(session) => known.push(session.conversation_id),
            // What an agent is known by is enough; its other id may not have been told yet.
            None if known.is_empty() => bail!(
                "{variable} is \"{}\", and no such session is known; {NAME_ONE}{}",
                shortened(&id, ID_SHOWN),
                candidates(memory)?
            ),
            None => {}
        }
    }
    let [launchers, own] = known[..] else {
        return Ok(known.first().copied());
    };
    if launchers == own {
        return Ok(Some(own));
    }
    // What an agent starts inherits the id that the agent's launcher gave it. Its process shows whose it is.
    let open = memory.ask(|store| store.open_sessions_here())?;
    let nearest = nearest(&Process::all_above_us(), &open);
    let is_own = matches!(nearest[..], [session] if session.row.conversation_id == own);
    Ok(Some(if is_own { own } else { launchers }))
}

/// The session that the caller's surroundings lead to.
fn by_seat(memory: &mut Memory) -> anyhow::Result<SessionRow> {
    let now = memory.now();
    let seat = Seat {
        above: Process::all_above_us(),
        pane: Caller::tmux_pane(),
        project: project::root_of(&std::env::current_dir()?)
            .to_string_lossy()
            .into_owned(),
    };
    let open = memory.ask(|store| {
        memory::look_after(store, now)?;
        store.open_sessions_here()
    })?;
    let (by, found) = sitting_there(&seat, &open);
    if let [session] = found[..] {
        return Ok(session.row.clone());
    }
    let place = match by {
        By::Process => "of the process that calls this".to_owned(),
        By::Pane => "in this tmux pane".to_owned(),
        By::Project => format!("in {}", seat.project),
    };
    if found.is_empty() {
        bail!("no session is open {place}; {NAME_ONE}{}", candidates(memory)?);
    }
    let are = if found.len() == 1 { "is" } else { "are" };
    bail!(
        "{} {are} open {place}; {NAME_ONE}: {}",
        count(found.len(), "session"),
        list(found.iter().map(|session| Named::from(&session.row)), now)
    );
}

/// The sessions that a seat leads to, by the first sign that leads to any.
fn sitting_there<'a>(seat: &Seat, open: &'a [OpenSession]) -> (By, Vec<&'a OpenSession>) {
    let of_process = nearest(&seat.above, open);
    if !of_process.is_empty() {
        return (By::Process, of_process);
    }
    let on_pane: Vec<_> = open.iter().filter(|session| seat.is_on_pane_of(session)).collect();
    if !on_pane.is_empty() {
        return (By::Pane, on_pane);
    }
    let in_project = open.iter().filter(|session| session.row.project_path == seat.project);
    (By::Project, in_project.collect())
}

/// The sessions of the nearest of these processes that has any. A process of which it is not known when it began may be
/// another one by now.
fn nearest<'a>(above: &[Process], open: &'a [OpenSession]) -> Vec<&'a OpenSession> {
    let of = |process: &Process| -> Vec<_> {
        let is_its = |session: &&OpenSession| process.started.is_some() && session.process == Some(*process);
        open.iter().filter(is_its).collect()
    };
    above.iter().map(of).find(|found| !found.is_empty()).unwrap_or_default()
}

impl Seat {
    fn is_on_pane_of(&self, session: &OpenSession) -> bool {
        self.pane.as_ref().is_some_and(|(server, pane)| {
            let other_server = matches!((server, &session.tmux_server), (Some(own), Some(its)) if own != its);
            session.tmux_pane.as_ref() == Some(pane) && !other_server
        })
    }
}

/// The open sessions, to choose from.
fn candidates(memory: &mut Memory) -> anyhow::Result<String> {
    let open = memory.ask(|store| store.session_rows(&SessionFilter::default()))?;
    if open.is_empty() {
        return Ok(" (`snell session list --all` shows those that have ended)".into());
    }
    let now = memory.now();
    Ok(format!(": {}", list(open.iter().map(Named::from), now)))
}

/// A session, as people tell it from others.
struct Named<'a> {
    session_id: &'a str,
    project_path: &'a str,
    last_seen_at: Timestamp,
}

impl<'a> From<&'a SessionView> for Named<'a> {
    fn from(session: &'a SessionView) -> Self {
        Self {
            session_id: &session.session_id,
            project_path: &session.project_path,
            last_seen_at: session.last_seen_at,
        }
    }
}

impl<'a> From<&'a SessionRow> for Named<'a> {
    fn from(session: &'a SessionRow) -> Self {
        Self {
            session_id: &session.session_id,
            project_path: &session.project_path,
            last_seen_at: session.last_seen_at,
        }
    }
}

fn list<'a>(sessions: impl Iterator<Item = Named<'a>>, now: Timestamp) -> String {
    let name = |session: Named<'_>| {
        let project = project_name(session.project_path);
        let ago = how_long(session.last_seen_at, now);
        format!("{} ({project}, {ago} ago)", session.session_id)
    };
    let mut names: Vec<_> = sessions.take(NAMED + 1).map(name).collect();
    let more = if names.len() > NAMED { " …" } else { "" };
    names.truncate(NAMED);
    format!("{}{more}", names.join(", "))
}

/// What people call a project.
pub(crate) fn project_name(path: &str) -> String {
    let name = Path::new(path).file_name();
    name.map_or_else(|| path.to_owned(), |name| name.to_string_lossy().into_owned())
}
