//! `snell serve`: the receiver.

use std::net::{SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use jiff::{Span, SpanRelativeTo};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use snell::{
    AgentProduct, InstallRecipe, RetentionPeriod, ServerSettings, Severity, TranscriptFormat, is_postgres_url,
};
use snell_server::{AccessToken, PollSchedule, ServeSettings, ServerListener, UnknownSenderPolicy, serve};
use tracing::level_filters::LevelFilter;

use super::DONE;
use crate::env::{self, ConfigArgs};
use crate::output;
use crate::process::end_signals::CaughtSignals;

/// Where the receiver listens, unless it is said.
const DEFAULT_ADDRESS: &str = "127.0.0.1:7433";

/// What SQLite calls a database that is no file.
const SQLITE_IN_MEMORY: &str = ":memory:";

/// Threads that serve requests. The database has threads of its own.
const WORKER_THREADS: usize = 2;

/// Threads that read the database for requests, and a few to spare.
const MAX_BLOCKING_THREADS: usize = 8;

/// Receive events over HTTP, look after agents, and stream what happens
///
/// Listens on this machine only, unless it is told otherwise; then a token is required. What the options say comes before
/// what `server` in your own snell.toml says. It ends on SIGTERM and SIGINT, once everything it has taken is stored.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  snell serve\n  \
    curl -d '{\"session_id\":\"s1\",\"cwd\":\"'$PWD'\"}' \\\n    \
      -H 'Content-Type: application/json' http://127.0.0.1:7433/hook/session-start\n  \
    curl -N http://127.0.0.1:7433/api/events/stream\n  \
    snell serve --addr 0.0.0.0:7433 --token-file ~/.config/snell/token \\\n    \
      --allow-host receiver.example.com")]
pub(crate) struct Args {
    /// Where to listen; with port 0, on a free port [default: 127.0.0.1:7433]
    #[arg(long, value_name = "IP:PORT")]
    addr: Option<String>,
    /// The database: sqlite:PATH, or a path [default: the one that `snell hook` records in]
    #[arg(long, value_name = "DATABASE")]
    db: Option<String>,
    /// A file that holds the token which requests must show; only its owner may be able to read it
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Another name by which the receiver may be called, perhaps with its port; may be repeated
    #[arg(long = "allow-host", value_name = "NAME")]
    allow_hosts: Vec<String>,
    /// How often agents are looked after while hooks arrive [default: 60s]
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    poll_active: Option<Duration>,
    /// How often they are when hooks are silent [default: 2s]
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    poll_silent: Option<Duration>,
    /// After how long without a hook they count as silent [default: 300s]
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    silent_after: Option<Duration>,
    /// What is told on standard error: off, error, warn, info, debug or trace
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    log: LevelFilter,
    /// How it is told
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    log_format: LogFormat,
}

impl Args {
    /// The option that comes before a key of `[server]`, and whether it was given.
    fn option_for_key(&self, key: &str) -> Option<(&'static str, bool)> {
        let options = [
            ("addr", "--addr", self.addr.is_some()),
            ("db", "--db", self.db.is_some()),
            ("token_file", "--token-file", self.token_file.is_some()),
            ("allow_hosts", "--allow-host", !self.allow_hosts.is_empty()),
            ("poll_active", "--poll-active", self.poll_active.is_some()),
            ("poll_silent", "--poll-silent", self.poll_silent.is_some()),
            ("silent_after", "--silent-after", self.silent_after.is_some()),
        ];
        let of_key = options.into_iter().find(|(of, ..)| *of == key);
        of_key.map(|(_, option, is_given)| (option, is_given))
    }
}

/// How the log is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum LogFormat {
    /// A line for people
    Text,
    /// A line of JSON
    Json,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    start_log(args);
    let (engine, findings) = ConfigArgs::new(Some("/".into()), None).engine_builder()?.load();
    let told = engine.settings();
    for found in &findings {
        let fault = told.server.faults.iter().find(|fault| fault.finding == *found);
        let option = fault.and_then(|fault| args.option_for_key(fault.key));
        match option {
            // Whatever the file means, something else was said.
            Some((_, true)) => tracing::warn!("{found}"),
            _ if found.severity != Severity::Error => tracing::warn!("{found}"),
            Some((option, false)) => bail!("how to serve is not certain: {found}; mend that, or say it with {option}"),
            None => bail!("how to serve is not certain: {found}"),
        }
    }
    let address = resolve_address(args.addr.as_deref().or(told.server.addr.as_deref()))?;
    let settings = build_settings(args, &told.server, told.keep)?;
    raise_file_limit();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKER_THREADS)
        .max_blocking_threads(MAX_BLOCKING_THREADS)
        .enable_all()
        .build()
        .context("cannot start the threads that serve")?;
    let listener = ServerListener::bind(address)?.with_ready_callback(|address| {
        output::print_line(&format!("Snell listens on http://{address}"));
    });
    let served = runtime.block_on(async {
        let mut requests = CaughtSignals::end_requests()?;
        let told_to_end = async move {
            requests.wait().await;
        };
        Ok(serve(settings, listener, told_to_end).await?)
    });
    // Whatever has not ended by now is not waited for.
    runtime.shutdown_background();
    served.map(|()| DONE)
}

fn build_settings(args: &Args, told: &ServerSettings, keep: RetentionPeriod) -> anyhow::Result<ServeSettings> {
    let mut settings = ServeSettings::new(ConfigArgs::new(None, None).data_dir());
    settings.database = resolve_database_path(args.db.as_deref().or(told.db.as_deref()))?;
    let token_file = args.token_file.as_deref().or(told.token_file.as_deref());
    settings.token = token_file.map(AccessToken::from_file).transpose()?;
    settings.allow_hosts =
        if args.allow_hosts.is_empty() { told.allow_hosts.clone() } else { args.allow_hosts.clone() };
    settings.unknown_senders = match told.unknown_senders.as_deref() {
        Some("accept") => UnknownSenderPolicy::Accept,
        Some(_) => UnknownSenderPolicy::Refuse,
        None => UnknownSenderPolicy::default(),
    };
    let usual = PollSchedule::default();
    settings.poll_schedule = PollSchedule {
        poll_active: args.poll_active.or(told.poll_active).unwrap_or(usual.poll_active),
        poll_silent: args.poll_silent.or(told.poll_silent).unwrap_or(usual.poll_silent),
        silent_after: args.silent_after.or(told.silent_after).unwrap_or(usual.silent_after),
    };
    if let Some(most) = told.max_stream_clients {
        settings.max_stream_clients = usize::try_from(most)?;
    }
    settings.enabled = told.enabled.unwrap_or(true);
    settings.transcripts = find_transcript_dirs();
    settings.keep = match keep {
        RetentionPeriod::For(duration) => Some(duration),
        RetentionPeriod::Forever => None,
    };
    settings.now = env::read_clock_override();
    Ok(settings)
}

/// The directories in which agents write transcripts that Snell reads.
fn find_transcript_dirs() -> Vec<PathBuf> {
    let readable = |product: &&&AgentProduct| product.transcript == TranscriptFormat::ClaudeJsonl;
    let recipes = AgentProduct::all().iter().filter(readable).filter_map(|product| product.install.as_ref());
    let locate = |recipe: &InstallRecipe| {
        let (variable, name) = recipe.directory;
        let named = env::read_variable(variable).map(PathBuf::from);
        let usual = || env::read_variable("HOME").map(|home| Path::new(&home).join(name));
        Some(named.or_else(usual)?.join(recipe.transcripts))
    };
    recipes.filter_map(locate).collect()
}

fn resolve_address(told: Option<&str>) -> anyhow::Result<SocketAddr> {
    let text = told.unwrap_or(DEFAULT_ADDRESS);
    let found = text.to_socket_addrs().ok().and_then(|mut found| found.next());
    found.with_context(|| {
        format!("the address \"{text}\" cannot be listened on; write IP:PORT, such as {DEFAULT_ADDRESS}")
    })
}

/// The file that a database's name leads to; nothing if it is the usual one.
fn resolve_database_path(told: Option<&str>) -> anyhow::Result<Option<PathBuf>> {
    let Some(told) = told else {
        return Ok(None);
    };
    if is_postgres_url(told) {
        bail!("PostgreSQL is not built in yet; write sqlite:PATH");
    }
    let path = told.strip_prefix("sqlite:").unwrap_or(told);
    if path.is_empty() {
        bail!("--db is \"{told}\"; write sqlite:PATH");
    }
    if let Some((scheme, _)) = told.split_once("://") {
        bail!("there is no database of the kind \"{scheme}://\"; write sqlite:PATH");
    }
    if path == SQLITE_IN_MEMORY {
        bail!("a database in memory is gone when the server ends; write sqlite:PATH");
    }
    if let Some(scheme) = parse_scheme(path).filter(|_| !Path::new(path).exists()) {
        bail!("there is no database of the kind \"{scheme}\"; write sqlite:PATH");
    }
    let path = std::path::absolute(Path::new(path)).context("cannot find the database")?;
    let directory = path.parent().unwrap_or(Path::new("/"));
    if let Some(above) = directory.parent().filter(|above| !directory.exists() && !above.exists()) {
        bail!(
            "the directory {} is not there, and neither is {}; make it, or name the database elsewhere",
            directory.display(),
            above.display()
        );
    }
    if path.is_dir() {
        bail!("{} is a directory; name the database in it", path.display());
    }
    Ok(Some(path))
}

/// What stands before the colon, if that is the kind of something and not part of a path.
fn parse_scheme(text: &str) -> Option<&str> {
    let (scheme, _) = text.split_once(':')?;
    let is_word = |scheme: &&str| !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric());
    Some(scheme).filter(is_word)
}

fn parse_duration(text: &str) -> Result<Duration, String> {
    let span = text.parse::<Span>().ok();
    let duration = span.and_then(|span| span.to_duration(SpanRelativeTo::days_are_24_hours()).ok());
    let duration = duration.and_then(|duration| Duration::try_from(duration).ok());
    duration
        .filter(|duration| !duration.is_zero())
        .ok_or_else(|| "write a duration with its unit, such as 60s or 5m".into())
}

fn start_log(args: &Args) {
    let log = tracing_subscriber::fmt().with_max_level(args.log).with_target(false).with_writer(std::io::stderr);
    match args.log_format {
        LogFormat::Text => log.init(),
        LogFormat::Json => log.json().init(),
    }
}

/// Every connection is a file to the system, which allows few unless it is asked.
fn raise_file_limit() {
    let limit = getrlimit(Resource::Nofile);
    let wanted = Rlimit { current: limit.maximum, maximum: limit.maximum };
    // With fewer, fewer are served at a time.
    let _ = setrlimit(Resource::Nofile, wanted);
}
