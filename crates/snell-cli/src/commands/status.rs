//! `snell status`: how Snell's memory is, and what needs attention.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use serde::Serialize;
use snell::{Handler, Judgement, ProjectFile, Severity, Timestamp};
use snell_store::outbox::{Outbox, Waiting};
use snell_store::{AgentFilter, AgentView, Premises, SetAside, State, Store, StoreError, Totals};

use super::{DONE, FAILED};
use crate::around::Around;
use crate::caller::Caller;
use crate::guard;
use crate::memory::{self, Memory};
use crate::output::{self, Style};
use crate::pins::gone;
use crate::recording::scribe_is_off;
use crate::times;

/// A disk with less room than this will soon take nothing more.
const LITTLE_ROOM_BYTES: u64 = 16 * 1024 * 1024;

/// Events that could not be sent for so long need a person.
const LONG_WAIT: Duration = Duration::from_secs(10 * 60);

/// Show what is recorded where, which agents wait for you, and what needs attention
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  snell status\n\n\
    An agent that waits for you is no fault: the exit code stays 0.")]
pub(crate) struct Args {
    /// The project whose files are looked at [default: the nearest directory above with a snell.toml or .git]
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Everything that is known.
#[derive(Serialize)]
struct Status {
    directory: PathBuf,
    database: Database,
    totals: Option<Totals>,
    /// Agents that wait for their user.
    waiting_agents: Vec<AgentView>,
    /// Whether events are recorded at all.
    recording: bool,
    keep: String,
    scribe_running: bool,
    /// Events that wait on disk to be stored.
    pending: usize,
    outbox: Letters,
    unreadable_notes: Vec<PathBuf>,
    set_aside: Vec<SetAside>,
    open_to_others: Vec<PathBuf>,
    project: Project,
    configuration_errors: usize,
    attention: Vec<Attention>,
}

/// Events that wait to be sent to receivers elsewhere.
#[derive(Serialize)]
struct Letters {
    receivers: Vec<Waiting>,
    /// Those that their receiver will never take.
    refused: Vec<PathBuf>,
}

/// The database, and whether it can be used.
#[derive(Serialize)]
struct Database {
    path: PathBuf,
    /// `ok`, `none`, `locked`, `damaged` or `unusable`.
    state: &'static str,
    error: Option<String>,
    bytes: u64,
    /// The room that is left on its disk.
    free_bytes: Option<u64>,
}

/// The project that was looked at.
#[derive(Serialize)]
struct Project {
    directory: PathBuf,
    files: Vec<TrustedFile>,
}

/// A file that runs hooks for a guest only if it is trusted.
#[derive(Serialize)]
struct TrustedFile {
    path: PathBuf,
    #[serde(skip)]
    shown: String,
    /// `trusted`, `untrusted` or `changed`.
    state: &'static str,
    hooks: usize,
}

/// Something that a person should do something about.
#[derive(Serialize)]
struct Attention {
    what: String,
    remedy: String,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    let mut memory = Memory::find()?;
    let status = Status::find(args, &mut memory, ask)?;
    if args.json {
        output::json(&status)?;
    } else {
        show(&status, memory.now());
    }
    Ok(if status.attention.is_empty() { DONE } else { FAILED })
}

/// How the store is asked.
type Ask = fn(&mut Memory, &mut Vec<Attention>) -> Asked;

/// What the store answered.
struct Asked {
    state: &'static str,
    error: Option<String>,
    totals: Option<Totals>,
    waiting_agents: Vec<AgentView>,
}

impl Status {
    fn find(args: &Args, memory: &mut Memory, ask: Ask) -> anyhow::Result<Self> {
        let mut attention = Vec::new();
        // Opening the database may change what lies on disk, so that is looked at afterwards.
        let asked = ask(memory, &mut attention);
        let premises = Premises::look(memory.directory());
        attention.extend(faults_of(&premises));
        let outbox = Outbox::beside(memory.directory());
        let outbox = Letters {
            receivers: outbox.waiting(),
            refused: outbox.refused(),
        };
        attention.extend(faults_of_forwarding(&outbox, memory.now()));
        let project = project(args)?;
        let builder = Caller::engine(project.clone())?;
        let (engine, findings) = builder.survey().load();
        let errors = findings
            .iter()
            .filter(|found| found.severity == Severity::Error)
            .count();
        if errors > 0 {
            attention.push(Attention {
                what: format!("{} in the configuration", output::count(errors, "error")),
                remedy: "run: snell lint".into(),
            });
        }
        let files: Vec<_> = engine.project_files().iter().map(trusted_file).collect();
        attention.extend(
            files
                .iter()
                .filter(|file| file.state != "trusted" && file.hooks > 0)
                .map(withheld),
        );
        let gone = Around::of(None, None).pins().gone_from(&project);
        attention.extend(gone.iter().map(|path| Attention {
            what: gone::what(path),
            remedy: gone::REMEDY.into(),
        }));
        let settings = engine.settings();
        attention.extend(guard::unread(&settings.guard).map(|finding| Attention {
            what: format!("{}: {}", finding.origin, finding.what),
            remedy: finding.remedy,
        }));
        Ok(Self {
            directory: memory.directory().to_owned(),
            database: Database {
                path: memory.path(),
                state: asked.state,
                error: asked.error,
                bytes: premises.database_bytes,
                free_bytes: premises.free_bytes,
            },
            totals: asked.totals,
            waiting_agents: asked.waiting_agents,
            recording: settings.handlers.is_on(Handler::Track),
            keep: times::keep(settings.keep),
            scribe_running: premises.scribe_is_running,
            pending: memory.waiting(),
            outbox,
            unreadable_notes: premises.unreadable_notes,
            set_aside: premises.set_aside,
            open_to_others: premises.open_to_others,
            project: Project {
                directory: project,
                files,
            },
            configuration_errors: errors,
            attention,
        })
    }
}

/// The project that was named, else the one around here, as `snell hook` finds it.
fn project(args: &Args) -> anyhow::Result<PathBuf> {
    match &args.project {
        Some(project) if !project.is_dir() => bail!("the project {} is not a directory", project.display()),
        Some(project) => std::path::absolute(project).context("cannot find the project"),
        None => {
            let here = std::env::current_dir().context("the current directory is gone; name a project")?;
            Ok(Caller::project_at(&here))
        }
    }
}

impl Asked {
    /// Nothing but how the database is.
    fn state(state: &'static str, error: Option<String>) -> Self {
        Self {
            state,
            error,
            totals: None,
            waiting_agents: Vec::new(),
        }
    }
}

/// Looks at the database as it is, and changes nothing.
fn look(memory: &mut Memory, attention: &mut Vec<Attention>) -> Asked {
    if matches!(memory.path().try_exists(), Ok(false)) {
        return Asked::state("none", None);
    }
    match Store::open_to_look(&memory.path()) {
        Ok(_) => Asked::state("ok", None),
        Err(error) => unusable(memory, error, attention),
    }
}

fn ask(memory: &mut Memory, attention: &mut Vec<Attention>) -> Asked {
    if memory.is_blank() {
        return Asked::state("none", None);
    }
    let now = memory.now();
    let (answer, remarks) = memory.try_to_ask(|store| {
        memory::look_after(store, now)?;
        Ok((store.totals()?, store.agents(&AgentFilter::default())?))
    });
    // A database that was set aside just now is found on disk like all others.
    let remarks = remarks.into_iter().filter(|_| memory.waiting() > 0);
    attention.extend(remarks.map(|what| Attention {
        what,
        remedy: "nothing that waits is lost; it is stored when the database can be written".into(),
    }));
    match answer {
        Ok((totals, mut agents)) => {
            agents.retain(|agent| agent.state == State::AwaitingInput);
            Asked {
                totals: Some(totals),
                waiting_agents: agents,
                ..Asked::state("ok", None)
            }
        }
        Err(error) => unusable(memory, error, attention),
    }
}

/// A database that cannot be used.
fn unusable(memory: &Memory, error: StoreError, attention: &mut Vec<Attention>) -> Asked {
    let (state, remedy) = match &error {
        StoreError::Locked => ("locked", "try again; if it stays locked, end the program that holds it"),
        StoreError::Damaged(_) => ("damaged", "it is moved aside, and a new one begun, with the next event"),
        StoreError::TooNew { .. } => ("unusable", "install the newer version of Snell"),
        _ => (
            "unusable",
            "see that the directory can be written and the disk has room",
        ),
    };
    let what = format!("{:#}", anyhow::Error::from(error));
    attention.push(Attention {
        what: format!("{}: {what}", memory.path().display()),
        remedy: remedy.into(),
    });
    Asked::state(state, Some(what))
}

/// What is wrong with the files themselves.
fn faults_of(premises: &Premises) -> Vec<Attention> {
    let mut faults = Vec::new();
    if premises.is_read_only {
        faults.push(Attention {
            what: "the directory of the database cannot be written".into(),
            remedy: "give yourself the right to write there; what cannot be recorded is lost".into(),
        });
    }
    if let Some(free) = premises.free_bytes.filter(|free| *free < LITTLE_ROOM_BYTES) {
        faults.push(Attention {
            what: format!("the disk of the database has only {} left", size(free)),
            remedy: "make room; what cannot be recorded is lost".into(),
        });
    }
    for aside in &premises.set_aside {
        let path = aside.path.display();
        let (at, bytes) = (times::shown(aside.written_at), size(aside.bytes));
        faults.push(Attention {
            what: format!("a damaged database was set aside: {path} (last written {at}, {bytes})"),
            remedy: format!(
                "save what can be saved: sqlite3 '{path}' .recover > recovered.sql; or delete it: rm '{path}'*"
            ),
        });
    }
    if let Some(note) = premises.unreadable_notes.first() {
        let number = output::count(premises.unreadable_notes.len(), "event");
        let directory = note.parent().unwrap_or(Path::new("/")).display();
        faults.push(Attention {
            what: format!("{number} in {directory} cannot be understood, and will not be stored"),
            remedy: format!("look at them, then delete them: rm -r '{directory}'"),
        });
    }
    if let Some(first) = premises.open_to_others.first() {
        let others = premises.open_to_others.len() - 1;
        let more = if others > 0 {
            format!(" and {} in it", output::count(others, "file"))
        } else {
            String::new()
        };
        faults.push(Attention {
            what: format!("others on this machine may look into {}{more}", first.display()),
            remedy: format!("run: chmod -R go= '{}'", first.display()),
        });
    }
    faults
}

/// What keeps events from reaching receivers elsewhere.
fn faults_of_forwarding(outbox: &Letters, now: Timestamp) -> Vec<Attention> {
    let is_long = |since: Timestamp| now.duration_since(since).unsigned_abs() > LONG_WAIT;
    let long = outbox.receivers.iter().filter(|waiting| is_long(waiting.since));
    let mut faults: Vec<_> = long
        .map(|Waiting { url, waiting, .. }| Attention {
            what: format!("{} cannot be sent to {url}", output::count(*waiting, "event")),
            remedy: "see that it runs and takes them; they are sent with the next event".into(),
        })
        .collect();
    if let Some(directory) = outbox.refused.first().and_then(|path| path.parent()) {
        let number = output::count(outbox.refused.len(), "event");
        let directory = directory.display();
        faults.push(Attention {
            what: format!("{number} in {directory} were refused by their receiver, and are not sent again by themselves"),
            remedy: format!(
                "look at the \"answer\" in them, then send them again: snell notify --retry; or delete them: rm -r '{directory}'"
            ),
        });
    }
    faults
}

fn trusted_file(file: &ProjectFile) -> TrustedFile {
    TrustedFile {
        path: file.path.clone(),
        shown: file.shown.clone(),
        state: match file.judgement {
            Judgement::Trusted => "trusted",
            Judgement::Untrusted => "untrusted",
            Judgement::Changed => "changed",
        },
        hooks: file.hooks.len(),
    }
}

fn withheld(file: &TrustedFile) -> Attention {
    let state = match file.state {
        "changed" => "was changed since it was trusted",
        _ => "is not trusted",
    };
    Attention {
        what: format!(
            "{} {state}, so its {} not run in agents",
            file.shown,
            if file.hooks == 1 {
                "hook does".into()
            } else {
                format!("{} hooks do", file.hooks)
            }
        ),
        remedy: "look at it, then run: snell trust".into(),
    }
}

fn show(status: &Status, now: Timestamp) {
    for (label, text) in lines(status, now) {
        output::line(&format!("{label:<14} {text}"));
    }
    for agent in &status.waiting_agents {
        let since = times::how_long(agent.state_since, now);
        let why = output::in_brief(&agent.why, 80);
        let text = format!("agent {} in {}, since {since}: {why}", agent.agent_id, agent.project);
        let label = output::styled(&format!("{:<14}", "Waits for you"), Style::Urgent);
        output::text(&format!("{label} {}\n", output::harmless(&text)));
    }
    if status.attention.is_empty() {
        return;
    }
    output::line("");
    output::heading("Needs attention:");
    for Attention { what, remedy } in &status.attention {
        output::line(&format!("  {what}"));
        output::faint(&format!("      {remedy}"));
    }
}

fn lines(status: &Status, now: Timestamp) -> Vec<(&'static str, String)> {
    let database = &status.database;
    let path = database.path.display();
    let mut lines = vec![(
        "Database",
        match database.state {
            "ok" => format!("{path}, {}", size(database.bytes)),
            "none" => format!("{path}: nothing has been recorded yet; `snell docs guest` shows how it begins"),
            state => format!("{path}: {state}"),
        },
    )];
    if let Some(totals) = &status.totals {
        lines.extend(recorded(totals, now));
    }
    let keeping = if status.recording {
        ""
    } else {
        "; nothing is recorded, because `track` is off"
    };
    lines.push(("Kept for", format!("{}{keeping}", status.keep)));
    let scribe = match (status.scribe_running, scribe_is_off()) {
        (true, _) => "running",
        (false, true) => "switched off here (SNELL_SCRIBE=off)",
        (false, false) => "not running; the next hook starts one",
    };
    lines.push(("Scribe", scribe.into()));
    lines.push((
        "Waiting",
        format!("{} to be stored", output::count(status.pending, "event")),
    ));
    for Waiting { url, waiting, since } in &status.outbox.receivers {
        let (number, since) = (output::count(*waiting, "event"), times::how_long(*since, now));
        lines.push(("To be sent", format!("{number} to {url}, since {since}")));
    }
    let files: Vec<_> = status
        .project
        .files
        .iter()
        .map(|file| format!("{} is {}", file.shown, file.state))
        .collect();
    let files = if files.is_empty() {
        "no file that needs trust".to_owned()
    } else {
        files.join(", ")
    };
    lines.push(("Project", format!("{}: {files}", status.project.directory.display())));
    lines.push(("Configuration", output::count(status.configuration_errors, "error")));
    lines
}

fn recorded(totals: &Totals, now: Timestamp) -> Vec<(&'static str, String)> {
    let count = |number: i64, thing: &str| output::count(usize::try_from(number).unwrap_or(0), thing);
    let agents: Vec<_> = totals.agents.iter().filter(|(_, number)| *number > 0).collect();
    let agents: Vec<_> = agents
        .iter()
        .map(|(state, number)| format!("{number} {state}"))
        .collect();
    let mut lines = vec![(
        "Recorded",
        format!(
            "{} ({} blocked), {}, {}, {}",
            count(totals.events, "event"),
            totals.blocked,
            count(totals.turns, "turn"),
            count(totals.hook_runs, "hook run"),
            count(totals.projects, "project")
        ),
    )];
    if let (Some(first), Some(last)) = (totals.first_event_at, totals.last_event_at) {
        let ago = times::how_long(last, now);
        lines.push((
            "Events",
            format!("from {} to {} ({ago} ago)", times::shown(first), times::shown(last)),
        ));
    }
    lines.push((
        "Agents",
        if agents.is_empty() {
            "none".into()
        } else {
            agents.join(", ")
        },
    ));
    lines
}

/// How large something is, for people.
fn size(bytes: u64) -> String {
    let (unit, letter) = match bytes {
        0..1024 => return format!("{bytes} B"),
        1024..1_048_576 => (1024, "KiB"),
        1_048_576..1_073_741_824 => (1_048_576, "MiB"),
        _ => (1_073_741_824, "GiB"),
    };
    let tenths = bytes * 10 / unit;
    format!("{}.{} {letter}", tenths / 10, tenths % 10)
}

/// What all of this comes to, for `snell doctor`.
pub(crate) struct Health {
    /// How things are, each under its label.
    pub(crate) lines: Vec<(&'static str, String)>,
    /// What needs attention, each with what to do about it.
    pub(crate) attention: Vec<(String, String)>,
}

/// How Snell's memory is, and what this project needs. Nothing is changed by looking.
pub(crate) fn health(project: PathBuf) -> anyhow::Result<Health> {
    let mut memory = Memory::find()?;
    let args = Args {
        project: Some(project),
        json: false,
    };
    let status = Status::find(&args, &mut memory, look)?;
    let lines = lines(&status, memory.now());
    let attention = status.attention.into_iter().map(|one| (one.what, one.remedy));
    Ok(Health {
        lines,
        attention: attention.collect(),
    })
}
