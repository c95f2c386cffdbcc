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
use snell::{Event, EventError, JsonError, Severity, Timestamp, normalize_receiver_url};
use snell_store::queue::outbox::{
    DeliveryAnswer, DeliveryReport, EnqueueResult, Outbox, OutboxMessage, OutboxReceiver, OutboxRefusal,
    StalledReceiver, is_loopback_url,
};
use snell_store::{EventRecord, ProcessIdentity};

use super::DONE;
use crate::env::caller::CallerEnv;
use crate::env::env_vars::EnvVars;
use crate::env::read_variable;
use crate::env::sender::build_sender;
use crate::output;
use crate::payload::json_depth::{drop_deep_values, drop_long_members};
use crate::process::stdin::wait_for_stdin;
use crate::record::enqueue;
use crate::record::http_delivery::OutboxHttpClient;

/// How long it may take in all, with the end of the process.
const TOTAL_TIMEOUT: Duration = Duration::from_millis(1900);
/// By then receivers must have answered, so that there is time to say what became of it.
const RECEIVER_TIMEOUT: Duration = Duration::from_millis(1700);
/// So much of it, at most, is for what waits for other receivers.
const OTHER_RECEIVERS_TIMEOUT: Duration = Duration::from_millis(300);
/// By then the payload must be there. An agent that does not close its pipe has said everything.
const PAYLOAD_TIMEOUT: Duration = Duration::from_millis(1000);

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
    output::set_called_by_agent();
    let (progress, watched) = mpsc::channel();
    let work = move || {
        if let Err(error) = forward_event(&args, started, &progress) {
            output::print_error(&error);
        }
        let _ = progress.send(NotifyProgress::Done);
    };
    if let Err(error) = std::thread::Builder::new().spawn(work) {
        output::print_warning(format!("cannot start a thread ({error}); nothing is forwarded"));
        return DONE;
    }
    let mut is_kept = false;
    loop {
        match watched.recv_timeout(TOTAL_TIMEOUT.saturating_sub(started.elapsed())) {
            Ok(NotifyProgress::Queued) => is_kept = true,
            Err(RecvTimeoutError::Timeout) if !is_kept => {
                output::print_warning("the time was up before the event could be kept; it is lost");
                return DONE;
            }
            Ok(NotifyProgress::Done) | Err(_) => return DONE,
        }
    }
}

/// How far the work has come.
enum NotifyProgress {
    /// The event is on disk: whatever happens now, somebody sends it.
    Queued,
    Done,
}

fn forward_event(args: &Args, started: Instant, progress: &mpsc::Sender<NotifyProgress>) -> anyhow::Result<()> {
    let caller = CallerEnv::from_env();
    let receiver = resolve_receiver(args)?;
    let outbox = Outbox::in_data_dir(&caller.data);
    let mut sending = NotifyDelivery {
        post: OutboxHttpClient::with_deadline(started + RECEIVER_TIMEOUT, receiver.clone()),
        receiver: &receiver,
        data: &caller.data,
        outbox: &outbox,
        remarks: Vec::new(),
    };
    match &args.event {
        Some(event) => {
            let Some(observation) = read_observation(event, &caller, started + PAYLOAD_TIMEOUT)? else {
                bail!("there is nothing on standard input, and no CLAUDE_SESSION_ID: nothing is forwarded");
            };
            let letter = OutboxMessage::from_record(observation.into(), &receiver);
            let put = outbox.push(&letter);
            if put.is_ok() {
                let _ = progress.send(NotifyProgress::Queued);
            }
            sending.send_message(&letter, put);
        }
        None => {
            // They are on disk, and stay there whatever happens.
            let _ = progress.send(NotifyProgress::Queued);
            sending.retry_refused()?;
        }
    }
    if !sending.remarks.is_empty() {
        output::print_warning(sending.remarks.join("; "));
    }
    Ok(())
}

/// Where to send it. What the call says comes before what the environment says, and that before the user's file.
fn resolve_receiver(args: &Args) -> anyhow::Result<OutboxReceiver> {
    let (engine, findings) = CallerEnv::engine_builder("/".into())?.survey().load();
    for fault in findings.iter().filter(|found| found.severity == Severity::Error) {
        output::print_finding(fault);
    }
    let settings = engine.settings().server;
    let named = args.url.clone().map(|url| ("--url", url));
    let named = named.or_else(|| read_variable(URL_VARIABLE).map(|url| (URL_VARIABLE, url)));
    let url = match named {
        Some((by, url)) => {
            normalize_receiver_url(&url).map_err(|fault| anyhow::anyhow!("{by} {fault}; write http://HOST:PORT"))?
        }
        None => settings.url.clone().unwrap_or_else(|| DEFAULT_URL.into()),
    };
    // The token of the user's file is for the receiver that stands beside it, and for one on this machine. To any other it
    // would be given away by whoever can set a variable.
    let settings_token = settings.token_file.filter(|_| settings.url.as_deref() == Some(&url) || is_loopback_url(&url));
    let token_file = args
        .token_file
        .clone()
        .or_else(|| read_variable(TOKEN_VARIABLE).map(PathBuf::from))
        .map(|path| std::path::absolute(&path).unwrap_or(path))
        .or(settings_token);
    Ok(OutboxReceiver { url, token_file })
}

/// What the agent says happened; nothing if it says nothing and nobody knows which session it is.
fn read_observation(event: &str, caller: &CallerEnv, deadline: Instant) -> anyhow::Result<Option<EventRecord>> {
    let (payload, is_whole) = read_payload_until(deadline)?;
    if payload.len() > MAX_PAYLOAD_BYTES {
        bail!("the event on stdin is larger than {MAX_PAYLOAD_BYTES} bytes; it is not forwarded");
    }
    let read = match Event::from_json(Some(event), &payload) {
        Err(EventError::NotJson(JsonError::TooDeep | JsonError::TooManyValues)) => {
            Event::from_json(Some(event), &drop_long_members(&drop_deep_values(&payload)))
        }
        read => read,
    };
    let (event, _) = match read {
        Err(error) if !is_whole => {
            return Err(error).context("standard input was neither closed nor complete after a second");
        }
        read => read?,
    };
    let mut record = EventRecord::new(&event, caller.now.unwrap_or_else(Timestamp::now));
    let mut sender = build_sender(&EnvVars::read(), None);
    if !sender.process_is_told {
        sender.process = ProcessIdentity::find_caller_through_script();
    }
    sender.cwd = std::env::current_dir().ok();
    let says_something = !event.raw.is_empty() || sender.launcher_session_id.is_some();
    record.sender = sender;
    Ok(says_something.then_some(record))
}

/// What is on standard input by then, and whether that is all of it. A terminal says nothing.
fn read_payload_until(deadline: Instant) -> anyhow::Result<(Vec<u8>, bool)> {
    let stdin = std::io::stdin();
    let mut payload = Vec::new();
    if stdin.is_terminal() {
        return Ok((payload, true));
    }
    let mut part = vec![0; 64 * 1024];
    let mut input = stdin.lock();
    while payload.len() <= MAX_PAYLOAD_BYTES {
        if !wait_for_stdin(Some(deadline)).context("cannot wait for standard input")? {
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
struct NotifyDelivery<'a> {
    receiver: &'a OutboxReceiver,
    data: &'a Path,
    outbox: &'a Outbox,
    post: OutboxHttpClient,
    /// What people should know.
    remarks: Vec<String>,
}

impl NotifyDelivery<'_> {
    /// Delivers everything that waits, this letter last; `put` says what became of it before.
    fn send_message(&mut self, message: &OutboxMessage, put: io::Result<EnqueueResult>) {
        let own = self.deliver_own();
        match put {
            Ok(put) => {
                self.remark_dropped(put);
                self.remark_waiting(&own);
            }
            Err(error) => self.send_without_queue(message, own.stalled.first(), &error),
        }
        self.deliver_others(&own);
    }

    /// Delivers everything that waits, and behind it what was refused before.
    fn retry_refused(&mut self) -> anyhow::Result<()> {
        let (number, put) = self.outbox.requeue_refused().context("cannot put back what was refused")?;
        self.remarks.push(match number {
            0 => "no event was refused".into(),
            number => format!("refused before, and tried again: {}", output::format_count(number, "event")),
        });
        self.remark_dropped(put);
        let own = self.deliver_own();
        self.remark_waiting(&own);
        let others = self.deliver_others(&own);
        self.remark_still_waiting(&own, &others);
        Ok(())
    }

    /// Delivers what waits for the receiver of this call.
    fn deliver_own(&mut self) -> DeliveryReport {
        let url = self.receiver.url.as_str();
        self.deliver_matching(&|other| other == url)
    }

    /// Delivers what waits for others. That must not hold this call up, however slow they are; how much it is, `snell status`
    /// tells.
    fn deliver_others(&mut self, own: &DeliveryReport) -> DeliveryReport {
        // The receiver is there, and there is more than there was time for.
        if self.is_interrupted(own) {
            enqueue::spawn_forwarder(self.data, self.receiver);
        }
        let url = self.receiver.url.as_str();
        self.post.limit_time(OTHER_RECEIVERS_TIMEOUT);
        self.deliver_matching(&|other| other != url)
    }

    /// Whether the receiver took letters until the time was up.
    fn is_interrupted(&self, report: &DeliveryReport) -> bool {
        self.post.is_out_of_time && report.delivered > 0
    }

    fn remark_dropped(&mut self, EnqueueResult { dropped }: EnqueueResult) {
        self.remarks.extend((dropped > 0).then(|| enqueue::format_dropped_events(dropped)));
    }

    fn remark_waiting(&mut self, own: &DeliveryReport) {
        let Some(StalledReceiver { url, why }) = own.stalled.first() else {
            return;
        };
        let backlog = self.outbox.list_backlogs().into_iter().find(|backlog| backlog.url == *url);
        let waiting = output::format_count(backlog.map_or(0, |backlog| backlog.waiting), "event");
        self.remarks.push(if self.is_interrupted(own) {
            let sent = output::format_count(own.delivered, "event");
            format!(
                "{url} was sent {sent} before the time was up; waiting for it, and sent by another process: {waiting}"
            )
        } else {
            format!("{url} {why}; waiting for it: {waiting}")
        });
    }

    /// Tells whoever asked for another try of everything that was not sent, for whichever receiver it is, and why.
    fn remark_still_waiting(&mut self, own: &DeliveryReport, others: &DeliveryReport) {
        for waiting in self.outbox.list_backlogs() {
            let is = |held_up: &&StalledReceiver| held_up.url == waiting.url;
            // Of these it was told already.
            if own.stalled.iter().any(|held_up| is(&held_up)) {
                continue;
            }
            let (url, number) = (&waiting.url, output::format_count(waiting.waiting, "event"));
            self.remarks.push(match others.stalled.iter().find(is) {
                Some(StalledReceiver { why, .. }) => format!("{url} {why}; waiting for it: {number}"),
                // Somebody else has the turn, and may be done with it in a moment.
                None => format!("waiting for {url}, and left to another process: {number}"),
            });
        }
    }

    /// Delivers what waits for these receivers.
    fn deliver_matching(&mut self, wanted: &dyn Fn(&str) -> bool) -> DeliveryReport {
        let report = match self.outbox.deliver_waiting(wanted, &mut |letter| self.post.deliver(letter)) {
            Ok(report) => report,
            Err(error) => {
                self.remarks.push(format!("cannot use the outbox ({error})"));
                DeliveryReport::default()
            }
        };
        let refused = |OutboxRefusal { url, event, answer }: &OutboxRefusal| {
            format!("{url} refuses {event} ({answer}); it is put aside in outbox/refused")
        };
        self.remarks.extend(report.refused.iter().map(refused));
        report
    }

    /// Sends a letter that could not be kept, unless others of its receiver come before it. There is no second try.
    fn send_without_queue(
        &mut self,
        message: &OutboxMessage,
        waits_behind: Option<&StalledReceiver>,
        error: &io::Error,
    ) {
        let answer = match waits_behind {
            Some(held_up) => DeliveryAnswer::Later(held_up.why.clone()),
            None => self.post.deliver(message),
        };
        let kept = format!("cannot keep the event on disk ({error})");
        self.remarks.push(match answer {
            DeliveryAnswer::Accepted => format!("{kept}; it was sent all the same"),
            DeliveryAnswer::Refused(why) | DeliveryAnswer::Later(why) => {
                format!("{kept}, and {} {why}; it is lost", message.url)
            }
        });
    }
}
