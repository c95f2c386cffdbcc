//! `snell notify`: forwards an agent's event to a receiver, in two seconds at most, whatever happens.
//!
//! All work is done on a thread of its own. Whatever it hangs in when the time is up (a name that cannot be resolved, a
//! disk that does not answer, a standard error that nobody reads), the process ends and takes it along. The event is on
//! disk by then, and the next call delivers it.

use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use snell::{Event, EventError, JsonError, Severity, Timestamp, receiver_url};
use snell_store::outbox::{Answer, HeldUp, Letter, Outbox, Put, Receiver, Refusal, Report, is_loopback};
use snell_store::{Observation, Process};

use super::DONE;
use crate::around::variable;
use crate::caller::Caller;
use crate::post::Post;
use crate::shallow::{shallow, thin};
use crate::{forwarding, output};

/// How long it may take in all, with the end of the process.
const IN_ALL: Duration = Duration::from_millis(1900);
/// By then receivers must have answered, so that there is time to say what became of it.
const FOR_RECEIVERS: Duration = Duration::from_millis(1700);
/// So much of it, at most, is for what waits for other receivers.
const FOR_OTHERS: Duration = Duration::from_millis(300);
/// By then the payload must be there. An agent that does not close its pipe has said everything.
const FOR_PAYLOAD: Duration = Duration::from_millis(1000);

/// For a larger payload there is no time.
const MAX_PAYLOAD_BYTES: usize = 32 * 1024 * 1024;

/// Where `snell serve` listens unless it is told otherwise.
const DEFAULT_URL: &str = "http://127.0.0.1:7433";

/// Variables that say where events are sent.
const URL_VARIABLE: &str = "SNELL_URL";
const TOKEN_VARIABLE: &str = "SNELL_TOKEN_FILE";

/// Forward an agent's event to a receiver
///
/// Reads the agent's payload from standard input and sends it to a receiver such as `snell serve`, with what is known of the
/// agent beside it. It takes two seconds at most. If the receiver is not there, the event waits on disk, and the next call
/// delivers it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  \
    echo '{\"session_id\":\"5f3a\",\"cwd\":\"/home/me/api\"}' | snell notify session-start")]
pub(crate) struct Args {
    /// The event's name or an alias of it (SessionStart, session-start …); any other name is forwarded, too
    #[arg(required_unless_present = "retry")]
    event: Option<String>,
    /// The receiver [default: $SNELL_URL, else `server.url` of your snell.toml, else http://127.0.0.1:7433]
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// The file that holds its token [default: $SNELL_TOKEN_FILE, else `server.token_file` of your snell.toml]
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Forward no event, but try once more those that their receivers refused
    #[arg(long, conflicts_with = "event")]
    retry: bool,
}

/// Never fails: its caller is in the middle of something.
pub(crate) fn run(args: Args) -> u8 {
    let started = Instant::now();
    let (progress, watched) = mpsc::channel();
    let work = move || {
        if let Err(error) = notify(&args, started, &progress) {
            output::error(&error);
        }
        let _ = progress.send(Progress::Done);
    };
    if let Err(error) = std::thread::Builder::new().spawn(work) {
        output::note_at_once(&format!("cannot start a thread ({error}); nothing is forwarded"));
        return DONE;
    }
    let mut is_kept = false;
    loop {
        match watched.recv_timeout(IN_ALL.saturating_sub(started.elapsed())) {
            Ok(Progress::Kept) => is_kept = true,
            Err(RecvTimeoutError::Timeout) if !is_kept => {
                output::note_at_once("the time was up before the event could be kept; it is lost");
                return DONE;
            }
            Ok(Progress::Done) | Err(_) => return DONE,
        }
    }
}

/// How far the work has come.
enum Progress {
    /// The event is on disk: whatever happens now, somebody sends it.
    Kept,
    Done,
}

fn notify(args: &Args, started: Instant, progress: &mpsc::Sender<Progress>) -> anyhow::Result<()> {
    let caller = Caller::look();
    let receiver = receiver(args)?;
    let outbox = Outbox::beside(&caller.data);
    let mut sending = Sending {
        post: Post::until(started + FOR_RECEIVERS, receiver.clone()),
        receiver: &receiver,
        data: &caller.data,
        outbox: &outbox,
        remarks: Vec::new(),
    };
    match &args.event {
        Some(event) => {
            let Some(observation) = observe(event, &caller, started + FOR_PAYLOAD)? else {
                bail!("there is nothing on standard input, and no CLAUDE_SESSION_ID: nothing is forwarded");
            };
            let letter = Letter::of(observation, &receiver);
            let put = outbox.put(&letter);
            if put.is_ok() {
                let _ = progress.send(Progress::Kept);
            }
            sending.send(&letter, put);
        }
        None => {
            // They are on disk, and stay there whatever happens.
            let _ = progress.send(Progress::Kept);
            sending.retry()?;
        }
    }
    if !sending.remarks.is_empty() {
        output::note(&sending.remarks.join("; "));
    }
    Ok(())
}

/// Where to send it. What the call says comes before what the environment says, and that before the user's file.
fn receiver(args: &Args) -> anyhow::Result<Receiver> {
    let (engine, findings) = Caller::engine("/".into())?.survey().load();
    for fault in findings.iter().filter(|found| found.severity == Severity::Error) {
        output::note(&fault.to_string());
    }
    let settings = engine.settings().server;
    let named = args.url.clone().map(|url| ("--url", url));
    let named = named.or_else(|| variable(URL_VARIABLE).map(|url| (URL_VARIABLE, url)));
    let url = match named {
        Some((by, url)) => {
            receiver_url(&url).map_err(|fault| anyhow::anyhow!("{by} {fault}; write http://HOST:PORT"))?
        }
        None => settings.url.clone().unwrap_or_else(|| DEFAULT_URL.into()),
    };
    // The token of the user's file is for the receiver that stands beside it, and for one on this machine. To any other it
    // would be given away by whoever can set a variable.
    let settings_token = settings
        .token_file
        .filter(|_| settings.url.as_deref() == Some(&url) || is_loopback(&url));
    let token_file = args
        .token_file
        .clone()
        .or_else(|| variable(TOKEN_VARIABLE).map(PathBuf::from))
        .map(|path| std::path::absolute(&path).unwrap_or(path))
        .or(settings_token);
    Ok(Receiver { url, token_file })
}

/// What the agent says happened; nothing if it says nothing and nobody knows which session it is.
fn observe(event: &str, caller: &Caller, deadline: Instant) -> anyhow::Result<Option<Observation>> {
    let (payload, is_whole) = payload_until(deadline)?;
    if payload.len() > MAX_PAYLOAD_BYTES {
        bail!("the event on stdin is larger than {MAX_PAYLOAD_BYTES} bytes; it is not forwarded");
    }
    let read = match Event::from_json(Some(event), &payload) {
        Err(EventError::NotJson(JsonError::TooDeep | JsonError::TooManyValues)) => {
            Event::from_json(Some(event), &thin(&shallow(&payload)))
        }
        read => read,
    };
    let (event, _) = match read {
        Err(error) if !is_whole => {
            return Err(error).context("standard input was neither closed nor complete after a second");
        }
        read => read?,
    };
    let mut observation = Observation::new(&event, caller.now.unwrap_or_else(Timestamp::now));
    let mut sender = caller.sender(None);
    if !sender.process_is_told {
        sender.process = Process::calling_through_a_script();
    }
    sender.cwd = std::env::current_dir().ok();
    let says_something = !event.raw.is_empty() || sender.launcher_session_id.is_some();
    observation.sender = sender;
    Ok(says_something.then_some(observation))
}

/// What is on standard input by then, and whether that is all of it. A terminal says nothing.
fn payload_until(deadline: Instant) -> anyhow::Result<(Vec<u8>, bool)> {
    let stdin = std::io::stdin();
    let mut payload = Vec::new();
    if stdin.is_terminal() {
        return Ok((payload, true));
    }
    let mut part = vec![0; 64 * 1024];
    let mut input = stdin.lock();
    while payload.len() <= MAX_PAYLOAD_BYTES {
        let left = Timespec::try_from(deadline.saturating_duration_since(Instant::now()))?;
        let readable = match poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&left)) {
            Err(rustix::io::Errno::INTR) => continue,
            readable => readable.context("cannot wait for standard input")?,
        };
        if readable == 0 {
            return Ok((payload, false));
        }
        match input.read(&mut part).context("cannot read the event from stdin")? {
            0 => return Ok((payload, true)),
            length => payload.extend_from_slice(&part[..length]),
        }
    }
    Ok((payload, false))
}

/// Everything that is delivered by one call.
struct Sending<'a> {
    receiver: &'a Receiver,
    data: &'a Path,
    outbox: &'a Outbox,
    post: Post,
    /// What people should know.
    remarks: Vec<String>,
}

impl Sending<'_> {
    /// Delivers everything that waits, this letter last; `put` says what became of it before.
    fn send(&mut self, letter: &Letter, put: io::Result<Put>) {
        let own = self.deliver_own();
        match put {
            Ok(put) => {
                self.tell_dropped(put);
                self.tell_what_waits(&own);
            }
            Err(error) => self.send_at_once(letter, own.held_up.first(), &error),
        }
        self.deliver_others(&own);
    }

    /// Delivers everything that waits, and behind it what was refused before.
    fn retry(&mut self) -> anyhow::Result<()> {
        let (number, put) = self
            .outbox
            .put_back_refused()
            .context("cannot put back what was refused")?;
        self.remarks.push(match number {
            0 => "no event was refused".into(),
            number => format!("refused before, and tried again: {}", output::count(number, "event")),
        });
        self.tell_dropped(put);
        let own = self.deliver_own();
        self.tell_what_waits(&own);
        let others = self.deliver_others(&own);
        self.tell_what_still_waits(&own, &others);
        Ok(())
    }

    /// Delivers what waits for the receiver of this call.
    fn deliver_own(&mut self) -> Report {
        let url = self.receiver.url.as_str();
        self.deliver(&|other| other == url)
    }

    /// Delivers what waits for others. That must not hold this call up, however slow they are; how much it is, `snell status`
    /// tells.
    fn deliver_others(&mut self, own: &Report) -> Report {
        // The receiver is there, and there is more than there was time for.
        if self.is_interrupted(own) {
            forwarding::hire(self.outbox, self.data, self.receiver);
        }
        let url = self.receiver.url.as_str();
        self.post.hurry(FOR_OTHERS);
        self.deliver(&|other| other != url)
    }

    /// Whether the receiver took letters until the time was up.
    fn is_interrupted(&self, report: &Report) -> bool {
        self.post.is_out_of_time && report.taken > 0
    }

    fn tell_dropped(&mut self, Put { dropped }: Put) {
        self.remarks.extend((dropped > 0).then(|| forwarding::dropped(dropped)));
    }

    fn tell_what_waits(&mut self, own: &Report) {
        let Some(HeldUp { url, why }) = own.held_up.first() else {
            return;
        };
        let waiting = output::count(self.how_many_wait(url), "event");
        self.remarks.push(if self.is_interrupted(own) {
            let sent = output::count(own.taken, "event");
            format!(
                "{url} was sent {sent} before the time was up; waiting for it, and sent by another process: {waiting}"
            )
        } else {
            format!("{url} {why}; waiting for it: {waiting}")
        });
    }

    /// Tells whoever asked for another try of everything that was not sent, for whichever receiver it is, and why.
    fn tell_what_still_waits(&mut self, own: &Report, others: &Report) {
        for waiting in self.outbox.waiting() {
            let is = |held_up: &&HeldUp| held_up.url == waiting.url;
            // Of these it was told already.
            if own.held_up.iter().any(|held_up| is(&held_up)) {
                continue;
            }
            let (url, number) = (&waiting.url, output::count(waiting.waiting, "event"));
            self.remarks.push(match others.held_up.iter().find(is) {
                Some(HeldUp { why, .. }) => format!("{url} {why}; waiting for it: {number}"),
                // Somebody else has the turn, and may be done with it in a moment.
                None => format!("waiting for {url}, and left to another process: {number}"),
            });
        }
    }

    fn how_many_wait(&self, url: &str) -> usize {
        let waiting = self.outbox.waiting();
        let own = waiting.iter().find(|waiting| waiting.url == url);
        own.map_or(0, |own| own.waiting)
    }

    /// Delivers what waits for these receivers.
    fn deliver(&mut self, wanted: &dyn Fn(&str) -> bool) -> Report {
        let report = match self.outbox.deliver(wanted, &mut |letter| self.post.hand(letter)) {
            Ok(report) => report,
            Err(error) => {
                self.remarks.push(format!("cannot use the outbox ({error})"));
                Report::default()
            }
        };
        let refused = |Refusal { url, event, answer }: &Refusal| {
            format!("{url} refuses {event} ({answer}); it is put aside in outbox/refused")
        };
        self.remarks.extend(report.refused.iter().map(refused));
        report
    }

    /// Sends a letter that could not be kept, unless others of its receiver come before it. There is no second try.
    fn send_at_once(&mut self, letter: &Letter, waits_behind: Option<&HeldUp>, error: &io::Error) {
        let answer = match waits_behind {
            Some(held_up) => Answer::Later(held_up.why.clone()),
            None => self.post.hand(letter),
        };
        let kept = format!("cannot keep the event on disk ({error})");
        self.remarks.push(match answer {
            Answer::Taken => format!("{kept}; it was sent all the same"),
            Answer::Refused(why) | Answer::Later(why) => format!("{kept}, and {} {why}; it is lost", letter.url),
        });
    }
}
