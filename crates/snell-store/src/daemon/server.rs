//! The scribe itself: one thread, one database, many short visitors.

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
use crate::record::event_record::EventRecord;
use crate::record::json;
use crate::views::session_snapshot::{SnapshotQuery, format_snapshot_error};

/// Visitors that are let in at a time; the others wait at the door.
const MAX_CLIENTS: usize = 128;
/// A visitor who says more than this is sent away.
const MAX_REQUEST_BYTES: usize = 80 * 1024 * 1024;
/// A visitor who says nothing for so long is sent away.
const READ_TIMEOUT: Duration = Duration::from_secs(2);
/// A visitor who was told something and does not hear it for so long is left standing.
const WRITE_TIMEOUT: Duration = Duration::from_millis(100);
/// How often the scribe looks whether it is still wanted.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// How often it looks after agents of which nothing was heard.
const RECONCILE_INTERVAL: Duration = Duration::from_secs(5);
/// The last words of a turn may be written after the turn has ended: so long, and so often, they are looked for.
const LATE_TEXT_WINDOW: Duration = Duration::from_secs(2);
const LATE_TEXT_INTERVAL: Duration = Duration::from_millis(100);
/// How long what can be done later is put off while somebody else holds the database.
const LOCKED_RETRY_DELAY: Duration = Duration::from_secs(2);
/// How many notes are taken in while visitors may come.
const MAX_PENDING_PER_DRAIN: usize = 1_000;
/// How many requests come before the log is folded into the database. To do it after each would cost the disk more than
/// the requests themselves.
const CHECKPOINT_AFTER_REQUESTS: usize = 128;

/// How a scribe works.
#[derive(Clone, Copy, Debug)]
pub struct DaemonSettings {
    /// It leaves when nothing has come for so long.
    pub linger: Duration,
    /// Before it leaves it removes what is older than this.
    pub keep: Option<Duration>,
}

impl Default for DaemonSettings {
    fn default() -> Self {
        Self { linger: Duration::from_secs(60), keep: None }
    }
}

/// A visitor, and what it has said so far.
struct DaemonClient {
    stream: UnixStream,
    received: Vec<u8>,
    since: Instant,
}

/// A visitor who has brought an event, and the name of the note that it wrote of it.
struct EventReplyTarget {
    stream: UnixStream,
    note: Option<OsString>,
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
    /// Which socket is ours: if another one is in its place, we are not wanted.
    inode: u64,
    /// The program as it was when we started: after an update, the new one takes over.
    program: Option<(PathBuf, u64)>,
    clients: Vec<DaemonClient>,
    ended_turns: VecDeque<EndedTurn>,
    last_request: Instant,
    last_reconciled: Instant,
    last_drained: Instant,
    /// When late words were last looked for.
    last_late_text_read: Instant,
    /// Requests since the log was last folded in.
    since_checkpoint: usize,
    /// What nobody has heard yet.
    pending_warnings: Vec<String>,
    /// Whether the last batch could not be stored.
    is_failing: bool,
    /// Somebody else holds the database; what can be done later is not tried before this.
    locked_until: Option<Instant>,
}

/// Serves the hooks of this directory until nothing has come for a while, or until it is told to stop. Then everything that
/// has come is stored first.
///
/// The caller holds the lock that makes it the only one. Whoever sets `stop` also comes to the door, so that it is seen.
///
/// # Errors
///
/// When the socket cannot be made.
pub fn run_daemon(directory: &Path, settings: DaemonSettings, stop: &AtomicBool) -> io::Result<()> {
    let mut scribe = DaemonServer::new(directory)?;
    // Whatever the last one could not store any more.
    scribe.run_unless_locked(EventRecorder::drain_all);
    while scribe.last_request.elapsed() < settings.linger && !stop.load(Ordering::Relaxed) {
        scribe.wait_for_input()?;
        let requests = scribe.read_requests();
        if !requests.is_empty() {
            scribe.handle_requests(requests);
        }
        if !scribe.is_current() {
            break;
        }
        scribe.run_idle_work();
    }
    scribe.shut_down(settings.keep);
    Ok(())
}

impl DaemonServer {
    fn new(directory: &Path) -> io::Result<Self> {
        let socket = socket_path(directory);
        // Whoever left it there is gone: we hold the lock.
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
            // Whatever was wrong with the last scribe is to be seen.
            is_failing: true,
            locked_until: None,
        })
    }

    fn is_current(&self) -> bool {
        read_inode(&self.socket) == self.inode
            && self.program.as_ref().is_none_or(|(path, started_as)| read_inode(path) == *started_as)
    }

    /// Waits for somebody to come or to speak, or until it is time to look around.
    fn wait_for_input(&self) -> io::Result<()> {
        let mut fds: Vec<PollFd<'_>> = Vec::with_capacity(self.clients.len() + 1);
        fds.extend(self.clients.iter().map(|visitor| poll_readable(visitor.stream.as_fd())));
        if self.clients.len() < MAX_CLIENTS {
            fds.push(poll_readable(self.listener.as_fd()));
        }
        let patience = if !self.ended_turns.is_empty() { LATE_TEXT_INTERVAL } else { POLL_INTERVAL };
        let patience = Timespec::try_from(patience).ok();
        match poll(&mut fds, patience.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Lets visitors in and hears them; answers those who have finished.
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
        for mut visitor in std::mem::take(&mut self.clients) {
            match visitor.read_request() {
                ReadProgress::Complete => finished.push((visitor.stream, visitor.received)),
                ReadProgress::Partial => others.push(visitor),
                ReadProgress::Invalid => {}
            }
        }
        self.clients = others;
        finished
    }

    /// Records what was asked for in one transaction, and tells everybody so.
    fn handle_requests(&mut self, requests: Vec<(UnixStream, Vec<u8>)>) {
        self.last_request = Instant::now();
        self.since_checkpoint += requests.len();
        let mut to_record = Vec::new();
        let mut senders = Vec::new();
        let mut settled = Vec::new();
        let mut asked = Vec::new();
        for (stream, said) in requests {
            match json::parse_stored_json(&said) {
                Ok(DaemonRequest::Record { observation, note, is_spooled }) => {
                    let has_copy = note.is_some() || is_spooled;
                    let copy = if has_copy { DiskCopy::Present } else { DiskCopy::Absent };
                    to_record.push((*observation, copy));
                    senders.push(EventReplyTarget { stream, note });
                }
                Ok(DaemonRequest::Settle) => settled.push(stream),
                Ok(DaemonRequest::Look(inquiry)) => asked.push((stream, inquiry)),
                Ok(DaemonRequest::Context { session_id, percent, model }) => {
                    let store = self.recorder.open_store();
                    let stored =
                        store.and_then(|store| store.set_context_usage(&session_id, percent, model.as_deref()));
                    let remarks = match stored {
                        Ok(_) => self.recorder.take_warnings(),
                        Err(error) => vec![format!("cannot record how full the context is ({error})")],
                    };
                    send_response(stream, &DaemonResponse::with_remarks(&remarks));
                }
                // Not one of ours; it gets no answer.
                Err(_) => {}
            }
        }
        let recorded = self.record_events(to_record);
        self.reply_to_senders(senders, recorded);
        if !settled.is_empty() {
            self.run_unless_locked(|recorder| recorder.drain_pending(MAX_PENDING_PER_DRAIN));
        }
        for stream in settled {
            send_response(stream, &DaemonResponse::default());
        }
        for (stream, inquiry) in asked {
            let response = self.query_session(&inquiry);
            // It may be more than fits through the door at once.
            let patient =
                stream.set_nonblocking(false).is_ok() && stream.set_write_timeout(Some(WRITE_TIMEOUT)).is_ok();
            if patient {
                send_response(stream, &response);
            }
        }
    }

    /// Says to each sender what became of its own event. Remarks about anything else go to the first who hears them.
    fn reply_to_senders(&mut self, senders: Vec<EventReplyTarget>, recorded: Vec<RecordOutcome>) {
        let mut remarks = std::mem::take(&mut self.pending_warnings);
        remarks.extend(self.recorder.take_warnings());
        let is_settled = |one: &RecordOutcome| matches!(one, RecordOutcome::Settled(_));
        self.update_failure_marker(!remarks.is_empty() || !recorded.iter().all(is_settled));
        let mut unheard = Vec::new();
        for (sender, recorded) in senders.into_iter().zip(recorded) {
            let needs_note = recorded.needs_copy();
            if let Some(note) = sender.note.filter(|_| !needs_note) {
                self.recorder.pending().remove(&note);
            }
            let own = recorded.into_warning();
            let response =
                DaemonResponse { remarks: remarks.iter().chain(&own).cloned().collect(), needs_note, facts: None };
            if send_response(sender.stream, &response) {
                remarks.clear();
            } else {
                unheard.extend(own.filter(|own| !unheard.contains(own)));
            }
        }
        remarks.extend(unheard);
        self.pending_warnings = remarks;
    }

    /// What is known of a session.
    fn query_session(&mut self, inquiry: &SnapshotQuery) -> DaemonResponse {
        match self.recorder.load_session_snapshot(inquiry) {
            Ok(facts) => DaemonResponse { facts: Some(facts), ..DaemonResponse::default() },
            Err(error) => DaemonResponse::with_remarks(&[format_snapshot_error(&error)]),
        }
    }

    /// Lets hooks know whether what they hand over is stored. If not, they wait for an answer, and tell their users.
    fn update_failure_marker(&mut self, trouble: bool) {
        let mark = failure_marker_path(self.recorder.directory());
        match (trouble, self.is_failing) {
            (true, false) => drop(fs::File::create_new(&mark)),
            (false, true) => drop(fs::remove_file(&mark)),
            _ => {}
        }
        self.is_failing = trouble;
    }

    fn record_events(&mut self, events: Vec<(EventRecord, DiskCopy)>) -> Vec<RecordOutcome> {
        if events.is_empty() {
            return Vec::new();
        }
        let stops: Vec<_> = events.iter().map(|(observation, _)| observation.event == "Stop").collect();
        let recorded = self.recorder.record_each(events);
        for (one, stops) in recorded.iter().zip(stops) {
            if let (RecordOutcome::Settled(Ok(receipt)), true) = (one, stops) {
                self.ended_turns.retain(|ended| ended.agent_id != receipt.agent_id);
                self.ended_turns.push_back(EndedTurn { agent_id: receipt.agent_id, at: Instant::now() });
            }
        }
        recorded
    }

    /// What is done when nobody waits for it.
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
        let which = if all { vec![ReconcileScope::All] } else { late };
        if all {
            self.last_reconciled = Instant::now();
        }
        for which in which {
            self.run_unless_locked(|recorder| recorder.open_store()?.reconcile_agents(which, Timestamp::now()));
        }
        if self.since_checkpoint > CHECKPOINT_AFTER_REQUESTS {
            self.run_unless_locked(EventRecorder::run_maintenance);
            self.since_checkpoint = 0;
        }
    }

    /// Does something that can as well be done later. While somebody else holds the database, visitors would wait for it.
    fn run_unless_locked(&mut self, work: impl FnOnce(&mut EventRecorder) -> Result<()>) {
        if self.locked_until.is_none()
            && let Err(StoreError::Locked) = work(&mut self.recorder)
        {
            self.locked_until = Some(Instant::now() + LOCKED_RETRY_DELAY);
        }
    }

    fn shut_down(mut self, keep: Option<Duration>) {
        // Nobody must come to a door behind which nobody is. Whoever has come already is still heard.
        if read_inode(&self.socket) == self.inode {
            let _ = fs::remove_file(&self.socket);
        }
        let closing = Instant::now();
        loop {
            let requests = self.read_requests();
            let nobody = requests.is_empty() && self.clients.is_empty();
            if !requests.is_empty() {
                self.handle_requests(requests);
            }
            if nobody || closing.elapsed() > READ_TIMEOUT {
                break;
            }
            let _ = self.wait_for_input();
        }
        // A directory that was removed is not made again.
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

/// Whether the other end belongs to this user or to root. The socket's mode says so already, but not in the moment in which
/// it is made.
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

impl DaemonResponse {
    fn with_remarks(remarks: &[String]) -> Self {
        Self { remarks: remarks.to_vec(), ..Self::default() }
    }
}

/// Answers a visitor; says whether it heard it.
fn send_response(mut stream: UnixStream, response: &DaemonResponse) -> bool {
    // Whoever does not hear it records by itself, and it is found to be stored already.
    serde_json::to_string(response).is_ok_and(|text| stream.write_all(text.as_bytes()).is_ok())
}

fn poll_readable(fd: BorrowedFd<'_>) -> PollFd<'_> {
    PollFd::from_borrowed_fd(fd, PollFlags::IN)
}

fn read_inode(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |metadata| metadata.ino())
}
