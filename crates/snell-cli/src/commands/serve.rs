//! `snell serve`: the receiver.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context;
use jiff::{Span, SpanRelativeTo};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use snell::{AgentProduct, Diagnostic, RetentionPeriod, ServerSettings, Severity};
use snell_server::{
    AccessRole, AccessToken, PollSchedule, ServeError, ServeSettings, ServerListener, TlsFiles, TrustedHeader,
    TrustedProxy, UnknownSenderPolicy, serve,
};
use snell_store::usage::PriceList;
use snell_store::{DatabaseLocation, PostgresAddress, TranscriptDirectory};
use tracing::level_filters::LevelFilter;

use super::DONE;
use crate::dispatch::{ConnectionLifetime, Dispatcher, PageLink};
use crate::doctor::is_snell_receiver;
use crate::env::transcripts::{find_transcript_dir, find_usage_directories};
use crate::env::{self, ConfigArgs};
use crate::output::{self, CommandError, Spinner};
use crate::process::browser;
use crate::process::end_signals::CaughtSignals;
use crate::telemetry::TelemetryExporter;

/// The default address of the receiver.
const DEFAULT_ADDRESS: &str = "127.0.0.1:7433";

/// SQLite's name of a database in memory.
const SQLITE_IN_MEMORY: &str = ":memory:";

/// Threads that serve requests. The database has threads of its own.
const WORKER_THREADS: usize = 2;

/// Threads that read the database for requests, and a few to spare.
const MAX_BLOCKING_THREADS: usize = 8;

/// Run the receiver: take events over HTTP, and show the page
///
/// By default it listens on this machine only. Any other address needs a token. Options override `[server]` in your own
/// snell.toml. On SIGTERM or SIGINT it stores the events that it accepted, then ends.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  snell serve\n  snell serve --port 0 --open\n  \
    curl -d '{\"session_id\":\"s1\",\"cwd\":\"'$PWD'\"}' \\\n    \
      -H 'Content-Type: application/json' http://127.0.0.1:7433/hook/session-start\n  \
    curl -N http://127.0.0.1:7433/api/events/stream\n  \
    snell serve --addr 0.0.0.0:7433 --token-file ~/.config/snell/token \\\n    \
      --allow-host receiver.example.com")]
pub(crate) struct Args {
    /// Listen on this address (port 0: any free port) [default: 127.0.0.1:7433]
    #[arg(long, value_name = "IP:PORT")]
    addr: Option<String>,
    /// Listen on 127.0.0.1 and this port (0: any free port)
    #[arg(long, value_name = "N", conflicts_with = "addr")]
    port: Option<u16>,
    /// Open the page in a browser when it is ready
    #[arg(long)]
    open: bool,
    /// Use this database [default: the one of `snell hook`]
    ///
    /// A path, sqlite:PATH, or postgres://USER@HOST/NAME for the database of a team.
    #[arg(long, value_name = "DATABASE")]
    db: Option<String>,
    /// Require the token in this file
    ///
    /// Only the owner of the file may have access to it.
    #[arg(long, value_name = "FILE", help_heading = "Access")]
    token_file: Option<PathBuf>,
    /// Let clients with this token answer requests
    ///
    /// They may also read. Only the owner of the file may have access to it. Without any token, this user may answer
    /// from this machine.
    #[arg(long, value_name = "FILE", help_heading = "Access")]
    answer_token_file: Option<PathBuf>,
    /// Accept requests to this host name (repeatable)
    ///
    /// The name may have a port.
    #[arg(long = "allow-host", value_name = "NAME", help_heading = "Access")]
    allow_hosts: Vec<String>,
    /// Interval while hook events arrive [default: 60s]
    #[arg(long, value_name = "TIME", value_parser = parse_duration, help_heading = "Checks of agents")]
    poll_active: Option<Duration>,
    /// Interval while no hook events arrive [default: 2s]
    #[arg(long, value_name = "TIME", value_parser = parse_duration, help_heading = "Checks of agents")]
    poll_silent: Option<Duration>,
    /// Time without hook events before --poll-silent applies [default: 300s]
    #[arg(long, value_name = "TIME", value_parser = parse_duration, help_heading = "Checks of agents")]
    silent_after: Option<Duration>,
    /// Log this much: off, error, warn, info, debug or trace
    #[arg(long, value_name = "LEVEL", default_value = "info", help_heading = "Log")]
    log: LevelFilter,
    /// Use this log format
    #[arg(long, value_name = "FORMAT", default_value = "text", help_heading = "Log")]
    log_format: LogFormat,
}

impl Args {
    /// The option that overrides a key of `[server]`, and whether it is given.
    fn option_for_key(&self, key: &str) -> Option<(&'static str, bool)> {
        let options = [
            ("addr", "--addr", self.addr.is_some() || self.port.is_some()),
            ("db", "--db", self.db.is_some()),
            ("token_file", "--token-file", self.token_file.is_some()),
            ("answer_token_file", "--answer-token-file", self.answer_token_file.is_some()),
            ("allow_hosts", "--allow-host", !self.allow_hosts.is_empty()),
            ("poll_active", "--poll-active", self.poll_active.is_some()),
            ("poll_silent", "--poll-silent", self.poll_silent.is_some()),
            ("silent_after", "--silent-after", self.silent_after.is_some()),
        ];
        let option = options.into_iter().find(|(name, ..)| *name == key);
        option.map(|(_, option, is_given)| (option, is_given))
    }
}

/// The format of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum LogFormat {
    /// Plain lines
    Text,
    /// JSON Lines
    Json,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    start_log(args);
    let (engine, findings) = ConfigArgs::new(Some("/".into()), None).engine_builder()?.load();
    let configured = engine.settings();
    check_findings(args, &configured.server, &findings)?;
    let address = match args.port {
        Some(port) => (Ipv4Addr::LOCALHOST, port).into(),
        None => resolve_address(args.addr.as_deref().or(configured.server.addr.as_deref()))?,
    };
    let mut settings = build_settings(args, &configured.server, configured.keep)?;
    // Buttons of notices answer without a client that is connected.
    let has_buttons = configured.answers.url.is_some() && configured.notify.has_answer_targets();
    settings.sends_answer_links = configured.answers.is_enabled() && has_buttons;
    settings.prices = PriceList::new(&configured.usage.prices);
    raise_file_limit();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKER_THREADS)
        .max_blocking_threads(MAX_BLOCKING_THREADS)
        .enable_all()
        .build()
        .context("cannot start threads")?;
    let is_page_wanted = args.open;
    let scheme = PageScheme::from_settings(&configured.server);
    let spinner = Spinner::start("opening the database");
    let database = settings.database_location();
    let exporter = Arc::new(Mutex::new(None));
    let started_exporter = exporter.clone();
    let dispatcher = Arc::new(Mutex::new(None));
    let started = dispatcher.clone();
    let listener = bind_address(address, scheme)?.with_ready_callback(move |address| {
        // Each machine sends its own notices and telemetry; for the database of a team, none are sent.
        if let Some(file) = database.file() {
            let exporting = TelemetryExporter::start(file.to_owned());
            *started_exporter.lock().unwrap_or_else(PoisonError::into_inner) = exporting.ok();
            let file = file.to_owned();
            let running = Dispatcher::start(file, ConnectionLifetime::Kept, PageLink::At(address), Arc::default());
            *started.lock().unwrap_or_else(PoisonError::into_inner) = running.ok();
        }
        drop(spinner);
        output::print_line(&format!("Snell listens on {}://{address}", scheme.name()));
        if is_page_wanted {
            browser::open_url(&format_page_url(address, scheme));
        }
    });
    let served = runtime.block_on(async {
        let mut requests = CaughtSignals::end_requests()?;
        let shutdown = async move {
            requests.wait().await;
        };
        Ok(serve(settings, listener, shutdown).await?)
    });
    let dispatcher = dispatcher.lock().unwrap_or_else(PoisonError::into_inner).take();
    dispatcher.into_iter().for_each(Dispatcher::stop);
    let exporter = exporter.lock().unwrap_or_else(PoisonError::into_inner).take();
    exporter.into_iter().for_each(TelemetryExporter::stop);
    // Tasks that have not ended by now are cancelled.
    runtime.shutdown_background();
    served.map(|()| DONE)
}

/// Logs problems of the configuration. An error ends the command, unless an option replaces the faulty key.
fn check_findings(args: &Args, configured: &ServerSettings, findings: &[Diagnostic]) -> anyhow::Result<()> {
    for found in findings {
        let fault = configured.faults.iter().find(|fault| fault.finding == *found);
        let option = fault.and_then(|fault| args.option_for_key(fault.key));
        match option {
            Some((_, true)) => tracing::warn!("{found}"),
            _ if found.severity != Severity::Error => tracing::warn!("{found}"),
            option => return Err(refuse_config(found, option.map(|(option, _)| option)).into()),
        }
    }
    Ok(())
}

/// Listens on an address. If another Snell does, the error names its page.
fn bind_address(address: SocketAddr, scheme: PageScheme) -> anyhow::Result<ServerListener> {
    let error = match ServerListener::bind(address) {
        Ok(listener) => return Ok(listener),
        Err(error) => error,
    };
    let url = format_page_url(address, scheme);
    if !matches!(error, ServeError::AddressInUse { .. }) || !is_snell_receiver(&url) {
        return Err(error.into());
    }
    let problem = format!("another Snell already listens on {url}");
    let hint = format!("open {url} in a browser, or end the other one first (`snell service status`)");
    Err(CommandError::new(problem).with_hint(hint).into())
}

/// The address of the page for a browser on this machine.
pub(super) fn format_page_url(address: SocketAddr, scheme: PageScheme) -> String {
    let host = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    format!("{}://{}", scheme.name(), SocketAddr::new(host, address.port()))
}

/// How the receiver is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PageScheme {
    Plain,
    Tls,
}

impl PageScheme {
    pub(super) fn from_settings(configured: &ServerSettings) -> Self {
        if configured.tls_cert.is_some() { Self::Tls } else { Self::Plain }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Plain => "http",
            Self::Tls => "https",
        }
    }
}

/// The error about a faulty configuration, and the option that can replace it.
fn refuse_config(found: &Diagnostic, option: Option<&str>) -> CommandError {
    let Diagnostic { path, line, column, message, hint, .. } = found;
    let hint = hint.as_deref().unwrap_or("fix the file");
    let hint = option.map_or(hint.to_owned(), |option| format!("{hint}, or pass {option}"));
    CommandError::new(format!("invalid configuration: {path}:{line}:{column}: {message}")).with_hint(hint)
}

fn build_settings(args: &Args, configured: &ServerSettings, keep: RetentionPeriod) -> anyhow::Result<ServeSettings> {
    let mut settings = ServeSettings::new(ConfigArgs::new(None, None).data_dir());
    settings.database = resolve_database(args.db.as_deref().or(configured.db.as_deref()))?;
    let token_file = args.token_file.as_deref().or(configured.token_file.as_deref());
    settings.token = token_file.map(AccessToken::from_file).transpose()?;
    let answer_token_file = args.answer_token_file.as_deref().or(configured.answer_token_file.as_deref());
    settings.answer_token = answer_token_file.map(AccessToken::from_file).transpose()?;
    settings.tls = configured
        .tls_cert
        .clone()
        .zip(configured.tls_key.clone())
        .map(|(certificate, key)| TlsFiles { certificate, key });
    settings.trusted_header = configured.trusted_header.as_deref().and_then(|header| {
        let proxies = configured.trusted_proxies.iter().filter_map(|proxy| TrustedProxy::parse(proxy)).collect();
        let roles = configured.roles.iter();
        let roles = roles.filter_map(|(name, role)| Some((name.clone(), AccessRole::parse(role)?))).collect();
        TrustedHeader::new(header, proxies, roles)
    });
    settings.user_name = env::read_user_name();
    settings.allow_hosts =
        if args.allow_hosts.is_empty() { configured.allow_hosts.clone() } else { args.allow_hosts.clone() };
    settings.unknown_senders = match configured.unknown_senders.as_deref() {
        Some("accept") => UnknownSenderPolicy::Accept,
        Some(_) => UnknownSenderPolicy::Refuse,
        None => UnknownSenderPolicy::default(),
    };
    let defaults = PollSchedule::default();
    settings.poll_schedule = PollSchedule {
        poll_active: args.poll_active.or(configured.poll_active).unwrap_or(defaults.poll_active),
        poll_silent: args.poll_silent.or(configured.poll_silent).unwrap_or(defaults.poll_silent),
        silent_after: args.silent_after.or(configured.silent_after).unwrap_or(defaults.silent_after),
    };
    if let Some(most) = configured.max_stream_clients {
        settings.max_stream_clients = usize::try_from(most)?;
    }
    settings.enabled = configured.enabled.unwrap_or(true);
    settings.transcripts = find_transcript_dirs();
    settings.usage_directories = find_usage_directories();
    settings.keep = match keep {
        RetentionPeriod::For(duration) => Some(duration),
        RetentionPeriod::Forever => None,
    };
    settings.now = env::read_clock_override();
    Ok(settings)
}

/// The directories of the transcripts in which sessions without hook events are found.
fn find_transcript_dirs() -> Vec<TranscriptDirectory> {
    let locate =
        |product: &&'static AgentProduct| Some(TranscriptDirectory { product, path: find_transcript_dir(product)? });
    AgentProduct::all().iter().filter_map(locate).collect()
}

/// The address in the form IP:PORT or HOST:PORT, or the default.
pub(super) fn resolve_address(written: Option<&str>) -> anyhow::Result<SocketAddr> {
    let text = written.unwrap_or(DEFAULT_ADDRESS);
    let found = text.to_socket_addrs().ok().and_then(|mut found| found.next());
    found.with_context(|| {
        CommandError::new(format!("cannot listen on \"{text}\""))
            .with_hint(format!("use IP:PORT, such as {DEFAULT_ADDRESS}"))
    })
}

/// The place of the named database; nothing if none is named.
pub(crate) fn resolve_database(written: Option<&str>) -> anyhow::Result<Option<DatabaseLocation>> {
    let Some(written) = written else {
        return Ok(None);
    };
    let refuse = |text: String| Err(CommandError::new(text).with_hint("use sqlite:PATH").into());
    if PostgresAddress::has_scheme(written) {
        return Ok(Some(written.parse::<PostgresAddress>()?.into()));
    }
    let path = written.strip_prefix("sqlite:").unwrap_or(written);
    if path.is_empty() {
        return refuse(format!("the database \"{written}\" has no path"));
    }
    if let Some((scheme, _)) = written.split_once("://") {
        return refuse(format!("unknown kind of database \"{scheme}://\""));
    }
    if path == SQLITE_IN_MEMORY {
        return refuse("a database in memory is lost when the receiver ends".into());
    }
    if let Some(scheme) = parse_scheme(path).filter(|_| !Path::new(path).exists()) {
        return refuse(format!("unknown kind of database \"{scheme}\""));
    }
    let path = std::path::absolute(Path::new(path)).context("cannot find the database")?;
    let directory = path.parent().unwrap_or(Path::new("/"));
    if let Some(above) = directory.parent().filter(|above| !directory.exists() && !above.exists()) {
        let error = format!("neither {} nor {} exists", directory.display(), above.display());
        return Err(CommandError::new(error).with_hint("create the directory, or choose another one").into());
    }
    if path.is_dir() {
        let error = CommandError::new(format!("the database {} is a directory", path.display()));
        return Err(error.with_hint("name a file in it").into());
    }
    Ok(Some(path.into()))
}

/// The word before the colon, if it looks like a scheme and not like a path.
fn parse_scheme(text: &str) -> Option<&str> {
    let (scheme, _) = text.split_once(':')?;
    let is_word = |scheme: &&str| !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric());
    Some(scheme).filter(is_word)
}

fn parse_duration(text: &str) -> Result<Duration, String> {
    let span = text.parse::<Span>().ok();
    let duration = span.and_then(|span| span.to_duration(SpanRelativeTo::days_are_24_hours()).ok());
    let duration = duration.and_then(|duration| Duration::try_from(duration).ok());
    duration.filter(|duration| !duration.is_zero()).ok_or_else(|| "use a number with a unit, such as 60s or 5m".into())
}

fn start_log(args: &Args) {
    let log = tracing_subscriber::fmt().with_max_level(args.log).with_target(false).with_writer(output::stderr_writer);
    match args.log_format {
        LogFormat::Text => log.init(),
        LogFormat::Json => log.json().init(),
    }
}

/// Raises the limit of open files, because every connection is one.
fn raise_file_limit() {
    let limit = getrlimit(Resource::Nofile);
    let wanted = Rlimit { current: limit.maximum, maximum: limit.maximum };
    // With a lower limit, the receiver serves fewer connections at a time.
    let _ = setrlimit(Resource::Nofile, wanted);
}
