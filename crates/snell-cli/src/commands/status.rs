//! `snell status`: how Snell's memory is, and what needs attention.

mod asked;
mod faults;
mod shown;

use std::path::PathBuf;

use serde::Serialize;
use snell::{Handler, Judgement, ProjectFile, Severity};
use snell_store::outbox::{Outbox, Waiting};
use snell_store::{AgentView, Premises, SetAside, Totals};

use super::{DONE, FAILED};
use crate::around::{Around, lint_of};
use crate::caller::Caller;
use crate::guard;
use crate::memory::Memory;
use crate::output;
use crate::pins::gone;
use crate::times;

/// Show what is recorded where, which agents wait for you, and what needs attention
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  snell status\n\n\
    An agent that waits for you is no fault: the exit code stays 0.")]
pub(crate) struct Args {
    /// The project whose files are looked at [default: the nearest directory upwards with a snell.toml or .git]
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
    let status = Status::find(args, &mut memory, asked::ask)?;
    if args.json {
        output::json(&status)?;
    } else {
        shown::show(&status, memory.now());
    }
    Ok(if status.attention.is_empty() { DONE } else { FAILED })
}

impl Status {
    fn find(args: &Args, memory: &mut Memory, ask: asked::Ask) -> anyhow::Result<Self> {
        let mut attention = Vec::new();
        // Opening the database may change what lies on disk, so that is looked at afterwards.
        let asked = ask(memory, &mut attention);
        let premises = Premises::look(memory.directory());
        attention.extend(faults::of_files(&premises));
        let outbox = Outbox::beside(memory.directory());
        let outbox = Letters {
            receivers: outbox.waiting(),
            refused: outbox.refused(),
        };
        attention.extend(faults::of_forwarding(&outbox, memory.now()));
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
                remedy: format!("run: {}", lint_of(&project)),
            });
        }
        let files: Vec<_> = engine.project_files().iter().map(trusted_file).collect();
        attention.extend(
            files
                .iter()
                .filter(|file| file.state != "trusted" && file.hooks > 0)
                .map(|file| faults::of_withheld(file, &project)),
        );
        let gone = Around::of(None, None).pins().gone_from(&project);
        attention.extend(gone.iter().map(|path| Attention {
            what: gone::what(path),
            remedy: gone::remedy(&project),
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
    Around::of(args.project.clone(), None).project()
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
    let status = Status::find(&args, &mut memory, asked::look)?;
    let lines = shown::lines(&status, memory.now());
    let attention = status.attention.into_iter().map(|one| (one.what, one.remedy));
    Ok(Health {
        lines,
        attention: attention.collect(),
    })
}
