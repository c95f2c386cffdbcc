//! Starts all parts of the server, and stops them in the right order.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use snell_store::{ChangeWatcher, WatcherWaker};
use tokio::net::{TcpListener, UnixListener};
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, watch};

use crate::answers::{AnswerWatch, LazyAnswerKey};
use crate::app_state::AppState;
use crate::clock::ServerClock;
use crate::http::acceptor::{ConnectionAcceptor, ShutdownPhase};
use crate::http::errors::ServeError;
use crate::http::gate::Gate;
use crate::http::listener::{ServerListener, UnixSocketGuard};
use crate::http::middleware::RequestPipeline;
use crate::http::tls::TlsFiles;
use crate::ingest::outbox_drain::OutboxDrain;
use crate::ingest::writer::EventWriter;
use crate::metrics::ServerMetrics;
use crate::reconciler::hook_activity::HookActivity;
use crate::reconciler::poll_mode::PollScheduler;
use crate::reconciler::thread::ReconcilerThread;
use crate::settings::ServeSettings;
use crate::store_pool::{PooledStore, StorePool};
use crate::stream::{ChangeFollower, StreamHub};
use crate::tokens::LiveTokens;
use crate::usage_counter::UsageCounter;

/// How long threads may take to stop.
const THREAD_SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(10);

/// Serves until `shutdown` is ready. Then it accepts no new connections, finishes running requests, ends streams and
/// stores all accepted events.
///
/// # Errors
///
/// If the server cannot start: it is reachable from other machines without a token, another server uses the same
/// directory, or the database cannot be used.
pub async fn serve(settings: ServeSettings, listener: ServerListener, shutdown: impl Future) -> Result<(), ServeError> {
    let ServerListener { tcp, address, ready } = listener;
    let named_tokens = Arc::new(LiveTokens::in_directory(&settings.directory));
    let identifies = settings.token.is_some() || settings.trusted_header.is_some() || !named_tokens.is_empty();
    if !identifies && !address.ip().to_canonical().is_loopback() {
        return Err(ServeError::TokenRequired { address });
    }
    if settings.token.is_some() && settings.token == settings.answer_token {
        return Err(ServeError::SameTokens);
    }
    let gate = Gate::new(address, &settings, named_tokens.clone())?;
    let tls = settings.tls.as_ref().map(TlsFiles::load).transpose()?;
    let (phase, phases) = watch::channel(ShutdownPhase::Open);
    let (app, threads, _socket, unix) = start_backend_aside(&settings, address, &phases, &named_tokens)?;
    let tcp = TcpListener::from_std(tcp).map_err(system_error("the listener"))?;
    let answer_watch = app.answer_watch.clone();
    let pipeline = RequestPipeline::new(gate, app);
    let (acceptor, mut connections_closed) = ConnectionAcceptor::new(pipeline, &settings, named_tokens, phases);
    if let Some(unix) = unix {
        tokio::spawn(acceptor.clone().accept_unix(unix));
    }
    tokio::spawn(acceptor.accept_tcp(tcp, tls));
    announce_ready(address, ready);
    let watch = settings.sends_answer_links.then(|| answer_watch.join());

    shutdown.await;
    tracing::info!("shutting down");
    drop(watch);
    phase.send_replace(ShutdownPhase::Closing);
    if tokio::time::timeout(settings.grace, connections_closed.recv()).await.is_err() {
        tracing::warn!("closing connections whose requests took too long");
        phase.send_replace(ShutdownPhase::Closed);
        let _ = tokio::time::timeout(settings.grace, connections_closed.recv()).await;
    }
    // No one can send events to the writer now, so it stores its queue and ends. The socket is removed last.
    threads.shut_down().await;
    Ok(())
}

/// The threads of a server, and the handles that stop them.
struct ServerThreads {
    writer: JoinHandle<()>,
    follower: JoinHandle<()>,
    reconciler: JoinHandle<()>,
    usage_counter: JoinHandle<()>,
    poll_scheduler: Arc<PollScheduler>,
    stopping: Arc<AtomicBool>,
    waker: Arc<Mutex<WatcherWaker>>,
}

/// As [`start_backend`], on a thread of its own: the connection to a database waits, and a task must not.
fn start_backend_aside(
    settings: &ServeSettings,
    address: SocketAddr,
    phases: &watch::Receiver<ShutdownPhase>,
    named_tokens: &Arc<LiveTokens>,
) -> Result<StartedBackend, ServeError> {
    let runtime = Handle::current();
    std::thread::scope(|scope| {
        let started = scope.spawn(|| {
            let _entered = runtime.enter();
            start_backend(settings, address, phases.clone(), named_tokens.clone())
        });
        started.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// The state, the threads, and the socket with its guard.
type StartedBackend = (Arc<AppState>, ServerThreads, UnixSocketGuard, Option<UnixListener>);

/// Starts everything behind the routes.
fn start_backend(
    settings: &ServeSettings,
    address: SocketAddr,
    phase: watch::Receiver<ShutdownPhase>,
    named_tokens: Arc<LiveTokens>,
) -> Result<StartedBackend, ServeError> {
    // A failed start must leave nothing behind: neither a database beside another server's, nor a directory without
    // one.
    UnixSocketGuard::ensure_not_served(&settings.directory)?;
    let metrics = Arc::new(ServerMetrics::new());
    let (writer, writer_thread) = EventWriter::start(settings, metrics.clone())?;
    let (unix, socket) = UnixSocketGuard::create_in(&settings.directory, address)?;
    let unix = unix.map(UnixListener::from_std).transpose();
    let clock = ServerClock { fixed: settings.now };
    let poll_scheduler = Arc::new(PollScheduler::new(settings.poll_schedule));
    let app = Arc::new(AppState {
        clock,
        writer,
        named_tokens,
        answer_key: LazyAnswerKey::new(&settings.directory),
        answer_watch: Arc::new(AnswerWatch::new(&settings.directory)),
        store_pool: Arc::new(StorePool::new(settings.database_location())),
        body_budget: Arc::new(Semaphore::new(settings.max_body_bytes_in_all)),
        hub: Arc::new(StreamHub::new(settings.max_stream_clients, settings.stream_queue)),
        hook_activity: Arc::new(HookActivity::new(poll_scheduler.clone(), clock.now())),
        poll_scheduler,
        metrics,
        shutdown_phase: phase,
        settings: settings.clone(),
    });
    let threads = ServerThreads::start(&app, address, writer_thread)?;
    Ok((app, threads, socket, unix.map_err(system_error("the listener"))?))
}

impl ServerThreads {
    /// Starts the other threads.
    fn start(app: &Arc<AppState>, address: SocketAddr, writer: JoinHandle<()>) -> Result<Self, ServeError> {
        let settings = &app.settings;
        let database = settings.database_location();
        let mut store = PooledStore::new(&database);
        // Existing events do not count as received by this server. If this read fails, a later one does it.
        let _ = store.get_or_open().and_then(|(store, _)| app.hook_activity.refresh(store, app.clock.now()));
        let watcher = ChangeWatcher::open_at(&database).map_err(system_error("the database watcher"))?;
        let waker = watcher.waker().map_err(system_error("the database watcher"))?;
        let waker = Arc::new(Mutex::new(waker));
        let stopping = Arc::new(AtomicBool::new(false));
        let follower = ChangeFollower {
            hub: app.hub.clone(),
            hook_activity: app.hook_activity.clone(),
            clock: app.clock,
            store,
            database: database.clone(),
            watcher,
            waker: waker.clone(),
            stopping: stopping.clone(),
        };
        let reconciler = ReconcilerThread {
            poll_scheduler: app.poll_scheduler.clone(),
            metrics: app.metrics.clone(),
            clock: app.clock,
            store: PooledStore::new(&database),
            transcripts: settings.transcripts.clone(),
            outbox_drain: OutboxDrain::new(&settings.directory, address.port(), app.clone()),
            runtime: Handle::current(),
            keep: settings.keep,
        };
        let usage_counter = UsageCounter {
            store: PooledStore::new(&database),
            directories: settings.usage_directories.clone(),
            stopping: stopping.clone(),
        };
        Ok(Self {
            writer,
            follower: spawn_thread("follower", move || follower.run())?,
            reconciler: spawn_thread("reconciler", move || reconciler.run())?,
            usage_counter: spawn_thread("usage", move || usage_counter.run())?,
            poll_scheduler: app.poll_scheduler.clone(),
            stopping,
            waker,
        })
    }

    /// Stops the threads and waits for them within a time limit.
    async fn shut_down(self) {
        self.poll_scheduler.stop();
        self.stopping.store(true, Ordering::Relaxed);
        self.waker.lock().unwrap_or_else(PoisonError::into_inner).wake();
        self.follower.thread().unpark();
        self.usage_counter.thread().unpark();
        let all = tokio::task::spawn_blocking(move || {
            for thread in [self.writer, self.follower, self.reconciler, self.usage_counter] {
                // A thread that panicked has ended, too.
                let _ = thread.join();
            }
        });
        if tokio::time::timeout(THREAD_SHUTDOWN_TIMEOUT, all).await.is_err() {
            tracing::warn!("threads did not stop in time; no acknowledged event is lost");
        }
    }
}

fn spawn_thread(name: &'static str, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, ServeError> {
    let started = std::thread::Builder::new().name(name.into()).spawn(work);
    started.map_err(system_error("a thread"))
}

fn system_error(what: &'static str) -> impl Fn(io::Error) -> ServeError {
    move |source| ServeError::System { what, source }
}

fn announce_ready(address: SocketAddr, ready: Option<Box<dyn FnOnce(SocketAddr) + Send>>) {
    tracing::info!(%address, "listening");
    if let Some(ready) = ready {
        ready(address);
    }
}
