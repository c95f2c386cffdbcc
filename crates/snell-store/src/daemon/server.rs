//! The job that keeps the database open: one thread, one database, many short connections.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use snell::Timestamp;

use super::{DaemonRequest, DaemonResponse, failure_marker_path, socket_path};
use crate::error::{Result, StoreError};
use crate::queue::recorder::{DiskCopy, EventRecorder, RecordOutcome};
use crate::reconcile::ReconcileScope;
use crate::record::json;
use crate::record::masked_record::MaskedRecord;
use crate::views::session_snapshot::{SnapshotQuery, format_snapshot_error};

/// How many connections are read at a time; the others wait.
const MAX_CLIENTS: usize = 128;
/// Larger requests are not read.
const MAX_REQUEST_BYTES: usize = 80 * 1024 * 1024;
/// The time in which a request must be complete.
const READ_TIMEOUT: Duration = Duration::from_secs(2);
/// The time in which a client must read its response.
const WRITE_TIMEOUT: Duration = Duration::from_millis(100);
/// How often the daemon checks whether its socket and its program are still the current ones.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// How often it checks agents that sent no events.
const RECONCILE_INTERVAL: Duration = Duration::from_secs(5);
/// An agent may write the last message of a turn to its transcript after the turn ended. The daemon looks for it this
/// long and this often.
const LATE_TEXT_WINDOW: Duration = Duration::from_secs(2);
const LATE_TEXT_INTERVAL: Duration = Duration::from_millis(100);
/// How long idle work waits while another process holds the database.
const LOCKED_RETRY_DELAY: Duration = Duration::from_secs(2);
/// How many pending events are stored at a time, so that requests do not wait long.
const MAX_PENDING_PER_DRAIN: usize = 1_000;
/// How many requests come before a checkpoint. A checkpoint after each would cost more disk writes than the requests.
const CHECKPOINT_AFTER_REQUESTS: usize = 128;

/// How long a daemon runs, and which rows it removes.
#[derive(Clone, Copy, Debug)]
pub struct DaemonSettings {
    /// It exits after this time without requests.
    pub linger: Duration,
    /// Before it exits, it removes rows that are older than this.
    pub keep: Option<Duration>,
}

impl Default for DaemonSettings {
    fn default() -> Self {
        Self { linger: Duration::from_secs(60), keep: None }
    }
}

/// A connection, and the part of its request that was read.
struct DaemonClient {
    stream: UnixStream,
    received: Vec<u8>,
    since: Instant,
}

/// The sender of an event, and the name of the pending file that it wrote.
struct EventReplyTarget {
    stream: UnixStream,
    pending: Option<OsString>,
}

/// An agent whose turn has just ended.
struct EndedTurn {
    agent_id: i64,
    at: Instant,
}

struct DaemonServer {
    recorder: EventRecorder,
    listener: UnixListener,
    socket: PathBuf,
    /// The inode of our socket. If another socket takes its place, this daemon exits.
    inode: u64,
    /// The program file at the start. After an update the new program takes over.
    program: Option<(PathBuf, u64)>,
    clients: Vec<DaemonClient>,
    ended_turns: VecDeque<EndedTurn>,
    last_request: Instant,
    last_reconciled: Instant,
    last_drained: Instant,
    /// When transcripts of ended turns were last read.
    last_late_text_read: Instant,
    /// Requests since the last checkpoint.
    since_checkpoint: usize,
    /// Warnings that reached no sender yet.
    pending_warnings: Vec<String>,
    /// Whether the last batch could not be stored.
    is_failing: bool,
    /// Another process holds the database, so idle work waits until this time.
    locked_until: Option<Instant>,
}

/// Signals from other threads.
#[derive(Clone, Copy, Debug)]
pub struct DaemonSignals<'a> {
    /// It should exit. A connection wakes it up.
    pub stop: &'a AtomicBool,
    /// Other work goes on in this process, so it should not exit for lack of requests.
    pub is_busy: &'a AtomicBool,
}

/// Serves the hooks of this directory until no request came for a while, or until `stop` is set. Then it stores
/// everything that it has received.
///
/// The caller holds the lock that makes this daemon the only one. After `stop` is set, a connection wakes it up.
///
/// # Errors
///
/// When the socket cannot be made.
pub fn run_daemon(directory: &Path, settings: DaemonSettings, signals: &DaemonSignals<'_>) -> io::Result<()> {
    let mut server = DaemonServer::new(directory)?;
    // Events that the last daemon left.
    server.run_unless_locked(EventRecorder::drain_all);
    let is_set = |signal: &AtomicBool| signal.load(Ordering::Relaxed);
    while (server.last_request.elapsed() < settings.linger || is_set(signals.is_busy)) && !is_set(signals.stop) {
        server.wait_for_input()?;
        let requests = server.read_requests();
        if !requests.is_empty() {
            server.handle_requests(requests);
        }
        if !server.is_current() {
            break;
        }
        server.run_idle_work();
    }
    server.shut_down(settings.keep);
    Ok(())
}

impl DaemonServer {
    fn new(directory: &Path) -> io::Result<Self> {
        let socket = socket_path(directory);
        // The daemon that left it is gone, because we hold the lock.
        match fs::remove_file(&socket) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let listener = UnixListener::bind(&socket)?;
        fs::set_permissions(&socket, std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
        listener.set_nonblocking(true)?;
        let program = std::env::current_exe().ok().map(|path| {
            let inode = read_inode(&path);
            (path, inode)
        });
        let now = Instant::now();
        Ok(Self {
            recorder: EventRecorder::new(directory).with_copies(),
            listener,
            inode: read_inode(&socket),
            socket,
            program,
            clients: Vec::new(),
            ended_turns: VecDeque::new(),
            last_request: now,
            last_reconciled: now,
            last_drained: now,
            last_late_text_read: now,
            since_checkpoint: 0,
            pending_warnings: Vec::new(),
            // The marker of the last daemon is removed when events can be stored.
            is_failing: true,
            locked_until: None,
        })
    }

    fn is_current(&self) -> bool {
        read_inode(&self.socket) == self.inode
            && self.program.as_ref().is_none_or(|(path, started_as)| read_inode(path) == *started_as)
    }

    /// Waits for a connection or a part of a request, or until idle work is due.
    fn wait_for_input(&self) -> io::Result<()> {
        let mut fds: Vec<PollFd<'_>> = Vec::with_capacity(self.clients.len() + 1);
        fds.extend(self.clients.iter().map(|client| poll_readable(client.stream.as_fd())));
        if self.clients.len() < MAX_CLIENTS {
            fds.push(poll_readable(self.listener.as_fd()));
        }
        let timeout = if self.ended_turns.is_empty() { POLL_INTERVAL } else { LATE_TEXT_INTERVAL };
        match poll(&mut fds, Timespec::try_from(timeout).ok().as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Accepts connections and reads from them; returns complete requests.
    fn read_requests(&mut self) -> Vec<(UnixStream, Vec<u8>)> {
        while self.clients.len() < MAX_CLIENTS {
            let Ok((stream, _)) = self.listener.accept() else {
                break;
            };
            if is_same_user(&stream) && stream.set_nonblocking(true).is_ok() {
                self.clients.push(DaemonClient { stream, received: Vec::new(), since: Instant::now() });
            }
        }
        let mut finished = Vec::new();
        let mut others = Vec::new();
        for mut client in std::mem::take(&mut self.clients) {
            match client.read_request() {
                ReadProgress::Complete => finished.push((client.stream, client.received)),
                ReadProgress::Partial => others.push(client),
                ReadProgress::Invalid => {}
            }
        }
        self.clients = others;
        finished
    }

    /// Handles requests that came together. All events are recorded in one transaction before other requests are
    /// answered.
    fn handle_requests(&mut self, requests: Vec<(UnixStream, Vec<u8>)>) {
        self.last_request = Instant::now();
        self.since_checkpoint += requests.len();
        let (mut records, mut senders) = (Vec::new(), Vec::new());
        let (mut flushes, mut queries) = (Vec::new(), Vec::new());
        for (stream, text) in requests {
            match json::parse_stored_json(&text) {
                Ok(DaemonRequest::Record { record, pending, is_spooled }) => {
                    let has_copy = pending.is_some() || is_spooled;
                    records.push((*record, if has_copy { DiskCopy::Present } else { DiskCopy::Absent }));
                    senders.push(EventReplyTarget { stream, pending });
                }
                Ok(DaemonRequest::Settle) => flushes.push(stream),
                Ok(DaemonRequest::Look(query)) => queries.push((stream, query)),
                Ok(DaemonRequest::Context { session_id, report }) => {
                    let store = self.recorder.open_store();
                    let stored = store.and_then(|store| store.set_context_usage(&session_id, &report));
                    let remarks = match stored {
                        Ok(_) => self.recorder.take_warnings(),
                        Err(error) => vec![format!("cannot record the context usage: {error}")],
                    };
                    send_response(stream, &DaemonResponse { remarks, ..DaemonResponse::default() });
                }
                // Not a request, so there is no response.
                Err(_) => {}
            }
        }
        let outcomes = self.record_events(records);
        self.reply_to_senders(senders, outcomes);
        if !flushes.is_empty() {
            self.run_unless_locked(|recorder| recorder.drain_pending(MAX_PENDING_PER_DRAIN));
        }
        for stream in flushes {
            send_response(stream, &DaemonResponse::default());
        }
        for (stream, query) in queries {
            let response = self.query_session(&query);
            // The response may be larger than the socket's buffer.
            let can_wait =
                stream.set_nonblocking(false).is_ok() && stream.set_write_timeout(Some(WRITE_TIMEOUT)).is_ok();
            if can_wait {
                send_response(stream, &response);
            }
        }
    }

    /// Sends each sender the outcome of its event. Other warnings go to the first sender that can be reached.
    fn reply_to_senders(&mut self, senders: Vec<EventReplyTarget>, outcomes: Vec<RecordOutcome>) {
        let mut warnings = std::mem::take(&mut self.pending_warnings);
        warnings.extend(self.recorder.take_warnings());
        let is_stored = |outcome: &RecordOutcome| matches!(outcome, RecordOutcome::Stored(_));
        self.update_failure_marker(!warnings.is_empty() || !outcomes.iter().all(is_stored));
        let mut unsent = Vec::new();
        for (sender, outcome) in senders.into_iter().zip(outcomes) {
            let needs_note = outcome.needs_copy();
            if let Some(name) = sender.pending.filter(|_| !needs_note) {
                self.recorder.pending().remove(&name);
            }
            let own = outcome.into_warning();
            let response =
                DaemonResponse { remarks: warnings.iter().chain(&own).cloned().collect(), needs_note, facts: None };
            if send_response(sender.stream, &response) {
                warnings.clear();
            } else {
                unsent.extend(own.filter(|own| !unsent.contains(own)));
            }
        }
        warnings.extend(unsent);
        self.pending_warnings = warnings;
    }

    fn query_session(&mut self, query: &SnapshotQuery) -> DaemonResponse {
        match self.recorder.load_session_snapshot(query) {
            Ok(facts) => DaemonResponse { facts: Some(facts), ..DaemonResponse::default() },
            Err(error) => DaemonResponse { remarks: vec![format_snapshot_error(&error)], ..DaemonResponse::default() },
        }
    }

    /// Tells hooks by a file whether events are stored. If not, they wait for a response and warn their users.
    fn update_failure_marker(&mut self, is_failing: bool) {
        let mark = failure_marker_path(self.recorder.directory());
        match (is_failing, self.is_failing) {
            (true, false) => drop(fs::File::create_new(&mark)),
            (false, true) => drop(fs::remove_file(&mark)),
            _ => {}
        }
        self.is_failing = is_failing;
    }

    fn record_events(&mut self, records: Vec<(MaskedRecord, DiskCopy)>) -> Vec<RecordOutcome> {
        if records.is_empty() {
            return Vec::new();
        }
        let ends_turn: Vec<_> = records.iter().map(|(record, _)| record.event == "Stop").collect();
        let outcomes = self.recorder.record_each(records);
        for (outcome, ends_turn) in outcomes.iter().zip(ends_turn) {
            if let (RecordOutcome::Stored(Ok(receipt)), true) = (outcome, ends_turn) {
                self.ended_turns.retain(|ended| ended.agent_id != receipt.agent_id);
                self.ended_turns.push_back(EndedTurn { agent_id: receipt.agent_id, at: Instant::now() });
            }
        }
        outcomes
    }

    /// Does work that no hook waits for.
    fn run_idle_work(&mut self) {
        if self.locked_until.is_some_and(|until| Instant::now() < until) {
            return;
        }
        self.locked_until = None;
        while self.ended_turns.front().is_some_and(|ended| ended.at.elapsed() > LATE_TEXT_WINDOW) {
            self.ended_turns.pop_front();
        }
        let mut late = Vec::new();
        if self.last_late_text_read.elapsed() >= LATE_TEXT_INTERVAL {
            self.last_late_text_read = Instant::now();
            late.extend(self.ended_turns.iter().map(|ended| ReconcileScope::Agent(ended.agent_id)));
        }
        if self.last_drained.elapsed() >= POLL_INTERVAL {
            self.last_drained = Instant::now();
            self.run_unless_locked(|recorder| recorder.drain_pending(MAX_PENDING_PER_DRAIN));
        }
        let all = self.last_reconciled.elapsed() >= RECONCILE_INTERVAL;
        let scopes = if all { vec![ReconcileScope::All] } else { late };
        if all {
            self.last_reconciled = Instant::now();
        }
        for scope in scopes {
            self.run_unless_locked(|recorder| recorder.open_store()?.reconcile_agents(scope, Timestamp::now()));
        }
        if self.since_checkpoint > CHECKPOINT_AFTER_REQUESTS {
            self.run_unless_locked(EventRecorder::run_maintenance);
            self.since_checkpoint = 0;
        }
    }

    /// Does work that can wait. While another process holds the database, hooks would wait for it.
    fn run_unless_locked(&mut self, work: impl FnOnce(&mut EventRecorder) -> Result<()>) {
        if self.locked_until.is_none()
            && let Err(StoreError::Locked) = work(&mut self.recorder)
        {
            self.locked_until = Some(Instant::now() + LOCKED_RETRY_DELAY);
        }
    }

    fn shut_down(mut self, keep: Option<Duration>) {
        // No new connections; requests of existing ones are still handled.
        if read_inode(&self.socket) == self.inode {
            let _ = fs::remove_file(&self.socket);
        }
        let closing = Instant::now();
        loop {
            let requests = self.read_requests();
            let is_done = requests.is_empty() && self.clients.is_empty();
            if !requests.is_empty() {
                self.handle_requests(requests);
            }
            if is_done || closing.elapsed() > READ_TIMEOUT {
                break;
            }
            let _ = self.wait_for_input();
        }
        // Do not create a directory again that was removed.
        if self.socket.parent().is_some_and(Path::exists) {
            let _ = self.recorder.drain_all();
            if let Some(keep) = keep {
                let _ = self.recorder.open_store().and_then(|store| store.prune_older_than(keep));
            }
        }
        self.recorder.close();
    }
}

enum ReadProgress {
    Complete,
    Partial,
    Invalid,
}

/// Whether the other end belongs to this user or to root. The socket's mode ensures that too, but not in the moment of
/// its creation.
#[cfg(target_os = "linux")]
fn is_same_user(stream: &UnixStream) -> bool {
    let own = rustix::process::geteuid();
    rustix::net::sockopt::socket_peercred(stream).is_ok_and(|peer| peer.uid == own || peer.uid.is_root())
}

#[cfg(not(target_os = "linux"))]
fn is_same_user(_stream: &UnixStream) -> bool {
    true
}

impl DaemonClient {
    fn read_request(&mut self) -> ReadProgress {
        let mut part = [0; 16 * 1024];
        loop {
            match self.stream.read(&mut part) {
                Ok(0) => return ReadProgress::Complete,
                Ok(length) => self.received.extend_from_slice(&part[..length]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return ReadProgress::Invalid,
            }
            if self.received.len() > MAX_REQUEST_BYTES {
                return ReadProgress::Invalid;
            }
        }
        if self.since.elapsed() > READ_TIMEOUT { ReadProgress::Invalid } else { ReadProgress::Partial }
    }
}

/// Sends a response; returns whether it could be sent.
fn send_response(mut stream: UnixStream, response: &DaemonResponse) -> bool {
    // A hook without a response leaves a copy of its event. Storing that copy later changes nothing.
    serde_json::to_string(response).is_ok_and(|text| stream.write_all(text.as_bytes()).is_ok())
}

fn poll_readable(fd: BorrowedFd<'_>) -> PollFd<'_> {
    PollFd::from_borrowed_fd(fd, PollFlags::IN)
}

fn read_inode(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |metadata| metadata.ino())
}
