//! The server as a whole: its parts are put together, and taken apart in the right order.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use snell_store::{Tail, TailWaker};
use tokio::net::{TcpListener, UnixListener};
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, watch};

use crate::app::App;
use crate::caretaker::Caretaker;
use crate::clock::Clock;
use crate::connections::{House, Phase};
use crate::error::ServeError;
use crate::front::Front;
use crate::gate::Gate;
use crate::hybrid::Hybrid;
use crate::listener::{Listener, Socket};
use crate::mail::Mail;
use crate::metrics::Metrics;
use crate::pulse::Pulse;
use crate::readers::{Held, Readers};
use crate::routes;
use crate::settings::Settings;
use crate::stream::{Follower, Hub};
use crate::writer::Writer;

/// How long threads may take to end what they are doing.
const THREADS_END_WITHIN: Duration = Duration::from_secs(10);

/// Serves until `shutdown` is there. Then nobody is let in any more, requests that are under way are finished, streams end,
/// and everything that was taken is stored.
///
/// # Errors
///
/// When the server cannot start: others could reach it and there is no token, another one serves the same directory, or the
/// database cannot be used.
pub async fn serve(settings: Settings, listener: Listener, shutdown: impl Future) -> Result<(), ServeError> {
    let Listener { tcp, address, ready } = listener;
    if settings.token.is_none() && !address.ip().to_canonical().is_loopback() {
        return Err(ServeError::TokenRequired { address });
    }
    let gate = Gate::new(address, &settings)?;
    let (phase, phases) = watch::channel(Phase::Open);
    let (app, threads, _socket, unix) = put_together(&settings, address, phases.clone())?;
    let tcp = TcpListener::from_std(tcp).map_err(system("listening"))?;
    let metrics = app.metrics.clone();
    let front = Front::new(gate, routes::router(app), metrics);
    let (house, mut everybody_left) = House::new(front, &settings, phases);
    if let Some(unix) = unix {
        tokio::spawn(house.clone().receive_unix(unix));
    }
    tokio::spawn(house.receive_tcp(tcp));
    tell(address, ready);

    shutdown.await;
    tracing::info!("the server ends");
    phase.send_replace(Phase::Closing);
    if tokio::time::timeout(settings.grace, everybody_left.recv())
        .await
        .is_err()
    {
        tracing::warn!("some requests took too long, and are given up");
        phase.send_replace(Phase::Closed);
        let _ = tokio::time::timeout(settings.grace, everybody_left.recv()).await;
    }
    // Nobody can hand the writer anything now: it stores what it has, and ends. The socket goes last.
    threads.end().await;
    Ok(())
}

/// The threads of a server, and what ends them.
struct Threads {
    writing: JoinHandle<()>,
    following: JoinHandle<()>,
    caring: JoinHandle<()>,
    hybrid: Arc<Hybrid>,
    leaving: Arc<AtomicBool>,
    waker: Arc<Mutex<TailWaker>>,
}

/// Starts everything that works behind the routes.
fn put_together(
    settings: &Settings,
    address: SocketAddr,
    phase: watch::Receiver<Phase>,
) -> Result<(Arc<App>, Threads, Socket, Option<UnixListener>), ServeError> {
    // What cannot be served leaves nothing behind: neither a database beside another server's, nor a directory without one.
    Socket::refuse_another(&settings.directory)?;
    let metrics = Arc::new(Metrics::new());
    let database = settings.database();
    let (writer, writing) = Writer::start(&database, metrics.clone())?;
    let (unix, socket) = Socket::make(&settings.directory)?;
    let unix = unix.map(UnixListener::from_std).transpose();

    let clock = Clock { fixed: settings.now };
    let hybrid = Arc::new(Hybrid::new(settings.rhythm));
    let pulse = Arc::new(Pulse::new(hybrid.clone(), clock.now()));
    let mut followed = Held::new(&database);
    // What is there now was not received by this server. If that cannot be seen now, it is a little later.
    let _ = followed.store().and_then(|(store, _)| pulse.feel(store, clock.now()));
    let hub = Arc::new(Hub::new(settings.max_stream_clients, settings.stream_queue));
    let leaving = Arc::new(AtomicBool::new(false));
    let tail = Tail::of(&database).map_err(system("watching the database"))?;
    let waker = tail.waker().map_err(system("watching the database"))?;
    let waker = Arc::new(Mutex::new(waker));
    let follower = Follower {
        hub: hub.clone(),
        pulse: pulse.clone(),
        clock,
        store: followed,
        database: database.clone(),
        tail,
        waker: waker.clone(),
        leaving: leaving.clone(),
    };
    let app = Arc::new(App {
        clock,
        writer,
        readers: Arc::new(Readers::new(database.clone())),
        room: Arc::new(Semaphore::new(settings.max_body_bytes_in_all)),
        hub,
        pulse,
        hybrid: hybrid.clone(),
        metrics: metrics.clone(),
        phase,
        settings: settings.clone(),
    });
    let caretaker = Caretaker {
        hybrid: hybrid.clone(),
        metrics,
        clock,
        store: Held::new(&database),
        transcripts: settings.transcripts.clone(),
        mail: Mail::new(&settings.directory, address.port(), app.clone()),
        runtime: Handle::current(),
        keep: settings.keep,
    };
    let threads = Threads {
        writing,
        following: thread("follower", move || follower.work())?,
        caring: thread("caretaker", move || caretaker.work())?,
        hybrid,
        leaving,
        waker,
    };
    Ok((app, threads, socket, unix.map_err(system("listening"))?))
}

impl Threads {
    /// Ends them, and waits until they have, but not for ever.
    async fn end(self) {
        self.hybrid.leave();
        self.leaving.store(true, Ordering::Relaxed);
        self.waker.lock().unwrap_or_else(PoisonError::into_inner).wake();
        self.following.thread().unpark();
        let all = tokio::task::spawn_blocking(move || {
            for thread in [self.writing, self.following, self.caring] {
                // One that panicked has ended, too.
                let _ = thread.join();
            }
        });
        if tokio::time::timeout(THREADS_END_WITHIN, all).await.is_err() {
            tracing::warn!("the database could not be left in good order; nothing that was acknowledged is lost");
        }
    }
}

fn thread(name: &'static str, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, ServeError> {
    let started = std::thread::Builder::new().name(name.into()).spawn(work);
    started.map_err(system("a thread"))
}

fn system(what: &'static str) -> impl Fn(io::Error) -> ServeError {
    move |source| ServeError::System { what, source }
}

fn tell(address: SocketAddr, ready: Option<Box<dyn FnOnce(SocketAddr) + Send>>) {
    tracing::info!(%address, "the server listens");
    if let Some(ready) = ready {
        ready(address);
    }
}
