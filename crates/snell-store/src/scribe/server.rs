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

use super::{Request, Response, socket_in, trouble_in};
use crate::error::{Result, StoreError};
use crate::facts::{Inquiry, no_facts};
use crate::json;
use crate::observation::Observation;
use crate::reconcile::Which;
use crate::recorder::{DiskCopy, RecordedEvent, Recorder};

/// Visitors that are let in at a time; the others wait at the door.
const MAX_VISITORS: usize = 128;
/// A visitor who says more than this is sent away.
const MAX_REQUEST_BYTES: usize = 80 * 1024 * 1024;
/// A visitor who says nothing for so long is sent away.
const MAX_SILENCE: Duration = Duration::from_secs(2);
/// A visitor who was told something and does not hear it for so long is left standing.
const MAX_HEARING: Duration = Duration::from_millis(100);
/// How often the scribe looks whether it is still wanted.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How often it looks after agents of which nothing was heard.
const RECONCILE_EVERY: Duration = Duration::from_secs(5);
/// The last words of a turn may be written after the turn has ended: so long, and so often, they are looked for.
const LATE_WORDS_WITHIN: Duration = Duration::from_secs(2);
const LATE_WORDS_EVERY: Duration = Duration::from_millis(100);
/// How long what can be done later is put off while somebody else holds the database.
const LATER: Duration = Duration::from_secs(2);
/// How many notes are taken in while visitors may come.
const NOTES_IN_A_MOMENT: usize = 1_000;
/// How many requests come before the log is folded into the database. To do it after each would cost the disk more than
/// the requests themselves.
const TIDY_AFTER: usize = 128;

/// How a scribe works.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// It leaves when nothing has come for so long.
    pub linger: Duration,
    /// Before it leaves it removes what is older than this.
    pub keep: Option<Duration>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            linger: Duration::from_secs(60),
            keep: None,
        }
    }
}

/// A visitor, and what it has said so far.
struct Visitor {
    stream: UnixStream,
    said: Vec<u8>,
    since: Instant,
}

/// A visitor who has brought an event, and the name of the note that it wrote of it.
struct EventSender {
    stream: UnixStream,
    note: Option<OsString>,
}

/// An agent whose turn has just ended.
struct Ended {
    agent_id: i64,
    at: Instant,
}

struct Scribe {
    recorder: Recorder,
    listener: UnixListener,
    socket: PathBuf,
    /// Which socket is ours: if another one is in its place, we are not wanted.
    inode: u64,
    /// The program as it was when we started: after an update, the new one takes over.
    program: Option<(PathBuf, u64)>,
    visitors: Vec<Visitor>,
    ended: VecDeque<Ended>,
    last_visit: Instant,
    last_reconciled: Instant,
    last_emptied: Instant,
    /// When late words were last looked for.
    last_listened: Instant,
    /// Requests since the log was last folded in.
    untidy: usize,
    /// What nobody has heard yet.
    untold: Vec<String>,
    /// Whether the last batch could not be stored.
    troubled: bool,
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
pub fn serve(directory: &Path, settings: Settings, stop: &AtomicBool) -> io::Result<()> {
    let mut scribe = Scribe::new(directory)?;
    // Whatever the last one could not store any more.
    scribe.unless_locked(Recorder::take_in_all);
    while scribe.last_visit.elapsed() < settings.linger && !stop.load(Ordering::Relaxed) {
        scribe.wait()?;
        let requests = scribe.listen();
        if !requests.is_empty() {
            scribe.answer(requests);
        }
        if !scribe.is_wanted() {
            break;
        }
        scribe.look_after();
    }
    scribe.leave(settings.keep);
    Ok(())
}

impl Scribe {
    fn new(directory: &Path) -> io::Result<Self> {
        let socket = socket_in(directory);
        // Whoever left it there is gone: we hold the lock.
        match fs::remove_file(&socket) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let listener = UnixListener::bind(&socket)?;
        fs::set_permissions(&socket, std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
        listener.set_nonblocking(true)?;
        let program = std::env::current_exe().ok().map(|path| {
            let inode = inode(&path);
            (path, inode)
        });
        let now = Instant::now();
        Ok(Self {
            recorder: Recorder::new(directory).keep_copies(),
            listener,
            inode: inode(&socket),
            socket,
            program,
            visitors: Vec::new(),
            ended: VecDeque::new(),
            last_visit: now,
            last_reconciled: now,
            last_emptied: now,
            last_listened: now,
            untidy: 0,
            untold: Vec::new(),
            // Whatever was wrong with the last scribe is to be seen.
            troubled: true,
            locked_until: None,
        })
    }

    fn is_wanted(&self) -> bool {
        inode(&self.socket) == self.inode
            && self
                .program
                .as_ref()
                .is_none_or(|(path, started_as)| inode(path) == *started_as)
    }

    /// Waits for somebody to come or to speak, or until it is time to look around.
    fn wait(&self) -> io::Result<()> {
        let mut fds: Vec<PollFd<'_>> = Vec::with_capacity(self.visitors.len() + 1);
        fds.extend(self.visitors.iter().map(|visitor| watched(visitor.stream.as_fd())));
        if self.visitors.len() < MAX_VISITORS {
            fds.push(watched(self.listener.as_fd()));
        }
        let patience = if !self.ended.is_empty() {
            LATE_WORDS_EVERY
        } else {
            LOOK_EVERY
        };
        let patience = Timespec::try_from(patience).ok();
        match poll(&mut fds, patience.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Lets visitors in and hears them; answers those who have finished.
    fn listen(&mut self) -> Vec<(UnixStream, Vec<u8>)> {
        while self.visitors.len() < MAX_VISITORS {
            let Ok((stream, _)) = self.listener.accept() else {
                break;
            };
            if is_of_this_user(&stream) && stream.set_nonblocking(true).is_ok() {
                self.visitors.push(Visitor {
                    stream,
                    said: Vec::new(),
                    since: Instant::now(),
                });
            }
        }
        let mut finished = Vec::new();
        let mut others = Vec::new();
        for mut visitor in std::mem::take(&mut self.visitors) {
            match visitor.hear() {
                Heard::All => finished.push((visitor.stream, visitor.said)),
                Heard::NotAll => others.push(visitor),
                Heard::Nonsense => {}
            }
        }
        self.visitors = others;
        finished
    }

    /// Records what was asked for in one transaction, and tells everybody so.
    fn answer(&mut self, requests: Vec<(UnixStream, Vec<u8>)>) {
        self.last_visit = Instant::now();
        self.untidy += requests.len();
        let mut to_record = Vec::new();
        let mut senders = Vec::new();
        let mut settled = Vec::new();
        let mut asked = Vec::new();
        for (stream, said) in requests {
            match json::from_slice(&said) {
                Ok(Request::Record {
                    observation,
                    note,
                    is_spooled,
                }) => {
                    let has_copy = note.is_some() || is_spooled;
                    let copy = if has_copy { DiskCopy::Present } else { DiskCopy::Absent };
                    to_record.push((*observation, copy));
                    senders.push(EventSender { stream, note });
                }
                Ok(Request::Settle) => settled.push(stream),
                Ok(Request::Look(inquiry)) => asked.push((stream, inquiry)),
                Ok(Request::Context {
                    session_id,
                    percent,
                    model,
                }) => {
                    let store = self.recorder.store();
                    let stored = store.and_then(|store| store.set_context(&session_id, percent, model.as_deref()));
                    let remarks = match stored {
                        Ok(_) => self.recorder.take_remarks(),
                        Err(error) => vec![format!("cannot record how full the context is ({error})")],
                    };
                    tell(stream, &Response::saying(&remarks));
                }
                // Not one of ours; it gets no answer.
                Err(_) => {}
            }
        }
        let recorded = self.record(to_record);
        self.answer_senders(senders, recorded);
        if !settled.is_empty() {
            self.unless_locked(|recorder| recorder.take_in(NOTES_IN_A_MOMENT));
        }
        for stream in settled {
            tell(stream, &Response::default());
        }
        for (stream, inquiry) in asked {
            let response = self.look(&inquiry);
            // It may be more than fits through the door at once.
            let patient = stream.set_nonblocking(false).is_ok() && stream.set_write_timeout(Some(MAX_HEARING)).is_ok();
            if patient {
                tell(stream, &response);
            }
        }
    }

    /// Says to each sender what became of its own event. Remarks about anything else go to the first who hears them.
    fn answer_senders(&mut self, senders: Vec<EventSender>, recorded: Vec<RecordedEvent>) {
        let mut remarks = std::mem::take(&mut self.untold);
        remarks.extend(self.recorder.take_remarks());
        let is_settled = |one: &RecordedEvent| matches!(one, RecordedEvent::Settled(_));
        self.mark_trouble(!remarks.is_empty() || !recorded.iter().all(is_settled));
        let mut unheard = Vec::new();
        for (sender, recorded) in senders.into_iter().zip(recorded) {
            let needs_note = recorded.needs_copy();
            if let Some(note) = sender.note.filter(|_| !needs_note) {
                self.recorder.notes().remove(&note);
            }
            let own = recorded.into_remark();
            let response = Response {
                remarks: remarks.iter().chain(&own).cloned().collect(),
                needs_note,
                facts: None,
            };
            if tell(sender.stream, &response) {
                remarks.clear();
            } else {
                unheard.extend(own.filter(|own| !unheard.contains(own)));
            }
        }
        remarks.extend(unheard);
        self.untold = remarks;
    }

    /// What is known of a session.
    fn look(&mut self, inquiry: &Inquiry) -> Response {
        match self.recorder.facts(inquiry) {
            Ok(facts) => Response {
                facts: Some(facts),
                ..Response::default()
            },
            Err(error) => Response::saying(&[no_facts(&error)]),
        }
    }

    /// Lets hooks know whether what they hand over is stored. If not, they wait for an answer, and tell their users.
    fn mark_trouble(&mut self, trouble: bool) {
        let mark = trouble_in(self.recorder.directory());
        match (trouble, self.troubled) {
            (true, false) => drop(fs::File::create_new(&mark)),
            (false, true) => drop(fs::remove_file(&mark)),
            _ => {}
        }
        self.troubled = trouble;
    }

    fn record(&mut self, events: Vec<(Observation, DiskCopy)>) -> Vec<RecordedEvent> {
        if events.is_empty() {
            return Vec::new();
        }
        let stops: Vec<_> = events
            .iter()
            .map(|(observation, _)| observation.event == "Stop")
            .collect();
        let recorded = self.recorder.record_each(events);
        for (one, stops) in recorded.iter().zip(stops) {
            if let (RecordedEvent::Settled(Ok(receipt)), true) = (one, stops) {
                self.ended.retain(|ended| ended.agent_id != receipt.agent_id);
                self.ended.push_back(Ended {
                    agent_id: receipt.agent_id,
                    at: Instant::now(),
                });
            }
        }
        recorded
    }

    /// What is done when nobody waits for it.
    fn look_after(&mut self) {
        if self.locked_until.is_some_and(|until| Instant::now() < until) {
            return;
        }
        self.locked_until = None;
        while self
            .ended
            .front()
            .is_some_and(|ended| ended.at.elapsed() > LATE_WORDS_WITHIN)
        {
            self.ended.pop_front();
        }
        let mut late = Vec::new();
        if self.last_listened.elapsed() >= LATE_WORDS_EVERY {
            self.last_listened = Instant::now();
            late.extend(self.ended.iter().map(|ended| Which::Agent(ended.agent_id)));
        }
        if self.last_emptied.elapsed() >= LOOK_EVERY {
            self.last_emptied = Instant::now();
            self.unless_locked(|recorder| recorder.take_in(NOTES_IN_A_MOMENT));
        }
        let all = self.last_reconciled.elapsed() >= RECONCILE_EVERY;
        let which = if all { vec![Which::All] } else { late };
        if all {
            self.last_reconciled = Instant::now();
        }
        for which in which {
            self.unless_locked(|recorder| recorder.store()?.reconcile(which, Timestamp::now()));
        }
        if self.untidy > TIDY_AFTER {
            self.unless_locked(Recorder::tidy);
            self.untidy = 0;
        }
    }

    /// Does something that can as well be done later. While somebody else holds the database, visitors would wait for it.
    fn unless_locked(&mut self, work: impl FnOnce(&mut Recorder) -> Result<()>) {
        if self.locked_until.is_none()
            && let Err(StoreError::Locked) = work(&mut self.recorder)
        {
            self.locked_until = Some(Instant::now() + LATER);
        }
    }

    fn leave(mut self, keep: Option<Duration>) {
        // Nobody must come to a door behind which nobody is. Whoever has come already is still heard.
        if inode(&self.socket) == self.inode {
            let _ = fs::remove_file(&self.socket);
        }
        let closing = Instant::now();
        loop {
            let requests = self.listen();
            let nobody = requests.is_empty() && self.visitors.is_empty();
            if !requests.is_empty() {
                self.answer(requests);
            }
            if nobody || closing.elapsed() > MAX_SILENCE {
                break;
            }
            let _ = self.wait();
        }
        // A directory that was removed is not made again.
        if self.socket.parent().is_some_and(Path::exists) {
            let _ = self.recorder.take_in_all();
            if let Some(keep) = keep {
                let _ = self.recorder.store().and_then(|store| store.forget_older_than(keep));
            }
        }
        self.recorder.close();
    }
}

enum Heard {
    All,
    NotAll,
    Nonsense,
}

/// Whether the other end belongs to this user or to root. The socket's mode says so already, but not in the moment in which
/// it is made.
#[cfg(target_os = "linux")]
fn is_of_this_user(stream: &UnixStream) -> bool {
    let own = rustix::process::geteuid();
    rustix::net::sockopt::socket_peercred(stream).is_ok_and(|peer| peer.uid == own || peer.uid.is_root())
}

#[cfg(not(target_os = "linux"))]
fn is_of_this_user(_stream: &UnixStream) -> bool {
    true
}

impl Visitor {
    fn hear(&mut self) -> Heard {
        let mut part = [0; 16 * 1024];
        loop {
            match self.stream.read(&mut part) {
                Ok(0) => return Heard::All,
                Ok(length) => self.said.extend_from_slice(&part[..length]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Heard::Nonsense,
            }
            if self.said.len() > MAX_REQUEST_BYTES {
                return Heard::Nonsense;
            }
        }
        if self.since.elapsed() > MAX_SILENCE {
            Heard::Nonsense
        } else {
            Heard::NotAll
        }
    }
}

impl Response {
    fn saying(remarks: &[String]) -> Self {
        Self {
            remarks: remarks.to_vec(),
            ..Self::default()
        }
    }
}

/// Answers a visitor; says whether it heard it.
fn tell(mut stream: UnixStream, response: &Response) -> bool {
    // Whoever does not hear it records by itself, and it is found to be stored already.
    serde_json::to_string(response).is_ok_and(|text| stream.write_all(text.as_bytes()).is_ok())
}

fn watched(fd: BorrowedFd<'_>) -> PollFd<'_> {
    PollFd::from_borrowed_fd(fd, PollFlags::IN)
}

fn inode(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |metadata| metadata.ino())
}
