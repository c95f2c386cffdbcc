//! `snell status`: the state of the records, and problems that need attention.

mod attention;
pub(crate) mod failed_hooks;
mod render;
mod store_probe;

use std::path::PathBuf;

use serde::Serialize;
use snell::{ActiveProfile, BuiltinHandler, ProfileOrigin, ProjectFile, Severity};
use snell_store::queue::outbox::{Outbox, ReceiverBacklog};
use snell_store::{AgentView, DamagedDatabase, DataDirReport, FailedHook, StoreTotals};

use super::{DONE, FAILED};
use crate::backup::{BackupStore, BackupTotals};
use crate::env::ConfigArgs;
use crate::env::caller::CallerEnv;
use crate::guard;
use crate::output;
use crate::output::hook::trust_status_name;
use crate::output::time;
use crate::record::open_store::{DatabaseArgs, StoreHandle};
use crate::telemetry::TelemetryReport;
use crate::trust_file::{missing_file_message, missing_file_remedy};

/// Show the database, agents that wait for you, and problems
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  snell status\n\n\
    An agent that waits for you is not a problem: the exit code stays 0.")]
pub(crate) struct Args {
    /// Check this project [default: the nearest one upwards]
    ///
    /// The nearest directory upwards with a snell.toml or .git.
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    database: DatabaseArgs,
}

/// The status, as JSON.
#[derive(Serialize)]
struct StatusReport {
    directory: PathBuf,
    database: DatabaseStatus,
    totals: Option<StoreTotals>,
    /// Agents that wait for their user.
    waiting_agents: Vec<AgentView>,
    /// Hooks that failed in the last day.
    failed_hooks: Vec<FailedHook>,
    /// The active profile.
    #[serde(serialize_with = "serialize_profile")]
    profile: Option<ActiveProfile>,
    /// Whether events are recorded at all.
    recording: bool,
    keep: String,
    scribe_running: bool,
    /// Events that wait on disk to be stored.
    pending: usize,
    outbox: OutboxStatus,
    /// Files that were saved before calls, if any are or will be.
    backups: Option<BackupTotals>,
    /// Telemetry, if any was sent.
    telemetry: Option<TelemetryReport>,
    unreadable_notes: Vec<PathBuf>,
    set_aside: Vec<DamagedDatabase>,
    open_to_others: Vec<PathBuf>,
    project: ProjectStatus,
    configuration_errors: usize,
    attention: Vec<AttentionItem>,
}

/// Events that wait to be sent to receivers.
#[derive(Serialize)]
struct OutboxStatus {
    receivers: Vec<ReceiverBacklog>,
    /// Events that their receiver refused.
    refused: Vec<PathBuf>,
}

/// The database, and whether it can be used.
#[derive(Serialize)]
struct DatabaseStatus {
    path: PathBuf,
    /// `ok`, `none`, `locked`, `damaged` or `unusable`.
    state: &'static str,
    error: Option<String>,
    bytes: u64,
    /// The free space on its disk.
    free_bytes: Option<u64>,
}

/// The checked project.
#[derive(Serialize)]
struct ProjectStatus {
    directory: PathBuf,
    files: Vec<FileTrustStatus>,
}

/// A file whose hooks run in agents only if it is trusted.
#[derive(Serialize)]
struct FileTrustStatus {
    path: PathBuf,
    #[serde(skip)]
    shown: String,
    /// `trusted`, `untrusted` or `changed`.
    state: &'static str,
    hooks: usize,
}

/// A problem that a person should fix.
#[derive(Serialize)]
pub(crate) struct AttentionItem {
    pub(crate) what: String,
    pub(crate) remedy: String,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    let mut store_handle = StoreHandle::open_named(&args.database)?;
    let status = StatusReport::collect(args, &mut store_handle, store_probe::query_store)?;
    if args.json {
        output::print_json(&status)?;
    } else {
        output::start_paging();
        render::print_status(&status, store_handle.now());
    }
    Ok(if status.attention.is_empty() { DONE } else { FAILED })
}

impl StatusReport {
    fn collect(args: &Args, store_handle: &mut StoreHandle, probe: store_probe::StoreProbe) -> anyhow::Result<Self> {
        let mut attention = Vec::new();
        // Opening the database may change files, so the directory is inspected afterwards.
        let probed = probe(store_handle, &mut attention);
        let data_dir = DataDirReport::inspect(store_handle.data_dir());
        attention.extend(attention::find_file_problems(&data_dir));
        let outbox = Outbox::in_data_dir(store_handle.data_dir());
        let outbox = OutboxStatus { receivers: outbox.list_backlogs(), refused: outbox.list_refused() };
        attention.extend(attention::find_forwarding_problems(&outbox, store_handle.now()));
        attention.extend(probed.telemetry.iter().flat_map(attention::find_telemetry_problems));
        let project = ConfigArgs::new(args.project.clone(), None).resolve_project()?;
        let (engine, findings) = CallerEnv::engine_builder(project.clone())?.survey().load();
        let errors = findings.iter().filter(|found| found.severity == Severity::Error).count();
        attention.extend(attention::describe_config_errors(errors, &project));
        let files: Vec<_> = engine.project_files().iter().map(file_trust_status).collect();
        attention.extend(
            files
                .iter()
                .filter(|file| file.state != "trusted" && file.hooks > 0)
                .map(|file| attention::describe_untrusted_file(file, &project)),
        );
        let gone = ConfigArgs::new(None, None).trust_file().missing_files(&project);
        let describe_gone =
            |path: &PathBuf| AttentionItem { what: missing_file_message(path), remedy: missing_file_remedy(&project) };
        attention.extend(gone.iter().map(describe_gone));
        let settings = engine.settings();
        attention.extend(guard::lint_unreadable_config(&settings.guard).map(|finding| AttentionItem {
            what: format!("{}: {}", finding.origin, finding.what),
            remedy: finding.remedy,
        }));
        let backups = BackupStore::in_data_dir(store_handle.data_dir()).totals();
        let has_backups = settings.guard.backup.enabled || backups.count > 0;
        Ok(Self {
            backups: has_backups.then_some(backups),
            directory: store_handle.data_dir().to_owned(),
            database: DatabaseStatus {
                path: PathBuf::from(store_handle.location().to_string()),
                state: probed.state,
                error: probed.error,
                bytes: data_dir.database_bytes,
                free_bytes: data_dir.free_bytes,
            },
            totals: probed.totals,
            waiting_agents: probed.waiting_agents,
            failed_hooks: probed.failed_hooks,
            telemetry: probed.telemetry,
            profile: settings.profile,
            recording: settings.handlers.is_enabled(BuiltinHandler::Track),
            keep: time::format_retention(settings.keep),
            scribe_running: data_dir.daemon_is_running,
            pending: store_handle.count_pending(),
            outbox,
            unreadable_notes: data_dir.unreadable_events,
            set_aside: data_dir.set_aside,
            open_to_others: data_dir.open_to_others,
            project: ProjectStatus { directory: project, files },
            configuration_errors: errors,
            attention,
        })
    }
}

/// A profile by its name.
fn serialize_profile<S: serde::Serializer>(active: &Option<ActiveProfile>, serializer: S) -> Result<S::Ok, S::Error> {
    active.map(|active| active.profile.name()).serialize(serializer)
}

/// A profile, and how it was switched on.
pub(crate) fn describe_profile(active: ActiveProfile) -> String {
    let origin = match active.origin {
        ProfileOrigin::UserFile => "your snell.toml",
        ProfileOrigin::Launcher => "the variables of a launcher",
    };
    format!("{} (switched on by {origin})", active.profile.name())
}

fn file_trust_status(file: &ProjectFile) -> FileTrustStatus {
    FileTrustStatus {
        path: file.path.clone(),
        shown: file.display_path.clone(),
        state: trust_status_name(file.status),
        hooks: file.hooks.len(),
    }
}

/// Lines, each with its label.
pub(crate) type StatusLines = Vec<(&'static str, String)>;

/// The status lines and problems of a project, without changes to the database.
pub(crate) fn summarize_status(project: PathBuf) -> anyhow::Result<(StatusLines, Vec<AttentionItem>)> {
    let mut store_handle = StoreHandle::open()?;
    let args = Args { project: Some(project), json: false, database: DatabaseArgs::default() };
    let status = StatusReport::collect(&args, &mut store_handle, store_probe::probe_read_only)?;
    Ok((render::build_status_lines(&status, store_handle.now()), status.attention))
}
