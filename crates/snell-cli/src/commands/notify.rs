//! `snell notify`: forwards an agent's event to a receiver, in at most two seconds.
//!
//! A second thread does all work. If it still hangs when the time is up (a slow name server or disk, a standard error without a
//! reader), the process ends anyway. The event is on disk by then, and the next call delivers it.

use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use snell::{
    AgentProduct, Event, EventError, JsonError, Severity, SupportLevel, Timestamp, UserMessage, normalize_receiver_url,
};
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
use crate::output::{self, CommandError};
use crate::payload::json_depth::{drop_deep_values, drop_long_members};
use crate::process::stdin::wait_for_stdin;
use crate::record::enqueue;
use crate::record::http_delivery::OutboxHttpClient;

/// The time for everything, including the end of the process.
const TOTAL_TIMEOUT: Duration = Duration::from_millis(1900);
/// The time for receivers to answer, so that there is time left to report the result.
const RECEIVER_TIMEOUT: Duration = Duration::from_millis(1700);
/// The part of it for events that wait for other receivers.
const OTHER_RECEIVERS_TIMEOUT: Duration = Duration::from_millis(300);
/// The time for the payload to arrive, because some agents do not close the pipe.
const PAYLOAD_TIMEOUT: Duration = Duration::from_millis(1000);

/// A larger payload would take too long.
const MAX_PAYLOAD_BYTES: usize = 32 * 1024 * 1024;

/// The default address of `snell serve`.
const DEFAULT_URL: &str = "http://127.0.0.1:7433";

/// The variables for the receiver and its token.
const URL_VARIABLE: &str = "SNELL_URL";
const TOKEN_VARIABLE: &str = "SNELL_TOKEN_FILE";

/// Forward an agent's event to a receiver
///
/// Reads the agent's payload from standard input and sends it, with facts about the agent, to a receiver such as `snell serve`.
/// It takes two seconds at most. If the receiver cannot be reached, the event waits on disk, and the next call delivers it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  \
    echo '{\"session_id\":\"5f3a\",\"cwd\":\"/home/me/api\"}' | snell notify session-start")]
pub(crate) struct Args {
    /// Name of the event, or an alias (SessionStart, session-start …)
    ///
    /// Any other name is forwarded too.
    #[arg(required_unless_present = "retry")]
    event: Option<String>,
    /// Send to this receiver
    ///
    /// [default: $SNELL_URL, else `server.url` of your snell.toml, else http://127.0.0.1:7433]
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// Use the token in this file
    ///
    /// [default: $SNELL_TOKEN_FILE, else `server.token_file` of your snell.toml]
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Send no event, but retry those that receivers refused
    #[arg(long, conflicts_with = "event")]
    retry: bool,
}

/// Always succeeds, because a failure would disturb the agent.
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
        output::print_warning(format!("cannot start a thread ({error}), so the event is not forwarded"));
        return DONE;
    }
    let mut is_on_disk = false;
    loop {
        match watched.recv_timeout(TOTAL_TIMEOUT.saturating_sub(started.elapsed())) {
            Ok(NotifyProgress::Queued) => is_on_disk = true,
            Err(RecvTimeoutError::Timeout) if !is_on_disk => {
                output::print_warning("the event was not written to disk within the time limit, so it is lost");
                return DONE;
            }
            Ok(NotifyProgress::Done) | Err(_) => return DONE,
        }
    }
}

/// The progress of the work.
enum NotifyProgress {
    /// The event is on disk: this call or a later one sends it.
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
            let Some(record) = read_record(event, &caller, started + PAYLOAD_TIMEOUT)? else {
                bail!("standard input is empty and CLAUDE_SESSION_ID is not set, so nothing is forwarded");
            };
            let message = OutboxMessage::from_record(record.into(), &receiver);
            let pushed = outbox.push(&message);
            if pushed.is_ok() {
                let _ = progress.send(NotifyProgress::Queued);
            }
            sending.send_message(&message, pushed);
        }
        None => {
            // All events are on disk already.
            let _ = progress.send(NotifyProgress::Queued);
            sending.retry_refused()?;
        }
    }
    sending.remarks.into_iter().for_each(output::print_warning);
    Ok(())
}

/// The receiver: options override the environment, which overrides the user's file.
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
            let refuse = |fault| CommandError::new(format!("{by} {fault}")).with_hint("use http://HOST:PORT");
            normalize_receiver_url(&url).map_err(refuse)?
        }
        None => settings.url.clone().unwrap_or_else(|| DEFAULT_URL.into()),
    };
    // The token of the user's file is for the receiver in that file, and for one on this machine. Otherwise a variable could
    // send it to any host.
    let settings_token = settings.token_file.filter(|_| settings.url.as_deref() == Some(&url) || is_loopback_url(&url));
    let token_file = args
        .token_file
        .clone()
        .or_else(|| read_variable(TOKEN_VARIABLE).map(PathBuf::from))
        .map(|path| std::path::absolute(&path).unwrap_or(path))
        .or(settings_token);
    Ok(OutboxReceiver { url, token_file })
}

/// The event of the agent; nothing if it has no fields and the session is unknown.
fn read_record(event: &str, caller: &CallerEnv, deadline: Instant) -> anyhow::Result<Option<EventRecord>> {
    let (payload, is_whole) = read_payload_until(deadline)?;
    if payload.len() > MAX_PAYLOAD_BYTES {
        bail!("the event on stdin is larger than {MAX_PAYLOAD_BYTES} bytes, so it is not forwarded");
    }
    let read = match Event::from_json(Some(event), &payload) {
        Err(EventError::NotJson(JsonError::TooDeep | JsonError::TooManyValues)) => {
            Event::from_json(Some(event), &drop_long_members(&drop_deep_values(&payload)))
        }
        read => read,
    };
    let (event, _) = match read {
        Err(error) if !is_whole => {
            return Err(error).context("the event on stdin was not complete after one second");
        }
        read => read?,
    };
    let mut record = EventRecord::new(&event, caller.now.unwrap_or_else(Timestamp::now));
    let vars = EnvVars::read();
    let product = AgentProduct::identify(&event.raw, &|name| vars.text(name), None);
    let mut sender = build_sender(&vars, Some(product).filter(|product| product.support == SupportLevel::Full));
    if !sender.process_is_told {
        sender.process = ProcessIdentity::find_caller_through_script();
    }
    sender.cwd = std::env::current_dir().ok();
    let is_known = !event.raw.is_empty() || sender.launcher_session_id.is_some();
    record.sender = sender;
    Ok(is_known.then_some(record))
}

/// The bytes on standard input until the deadline, and whether that is all. A terminal has none.
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

/// The deliveries of one call.
struct NotifyDelivery<'a> {
    receiver: &'a OutboxReceiver,
    data: &'a Path,
    outbox: &'a Outbox,
    post: OutboxHttpClient,
    /// Warnings for people.
    remarks: Vec<UserMessage>,
}

impl NotifyDelivery<'_> {
    /// Delivers everything that waits, this message last. `pushed` is the result of its way to the disk.
    fn send_message(&mut self, message: &OutboxMessage, pushed: io::Result<EnqueueResult>) {
        let own = self.deliver_own();
        match pushed {
            Ok(result) => {
                self.remark_dropped(result);
                self.remark_waiting(&own);
            }
            Err(error) => self.send_without_queue(message, own.stalled.first(), &error),
        }
        self.deliver_others(&own);
    }

    /// Delivers everything that waits, then the events that were refused before.
    fn retry_refused(&mut self) -> anyhow::Result<()> {
        let (number, result) = self.outbox.requeue_refused().context("cannot queue the refused events again")?;
        self.remarks.push(match number {
            0 => "no refused events".into(),
            number => format!("sending {} again", output::format_count(number, "refused event")).into(),
        });
        self.remark_dropped(result);
        let own = self.deliver_own();
        self.remark_waiting(&own);
        let others = self.deliver_others(&own);
        self.remark_still_waiting(&own, &others);
        Ok(())
    }

    /// Delivers the events that wait for the receiver of this call.
    fn deliver_own(&mut self) -> DeliveryReport {
        let url = self.receiver.url.as_str();
        self.deliver_matching(&|other| other == url)
    }

    /// Delivers the events that wait for other receivers, which must not delay this call. `snell status` shows the rest.
    fn deliver_others(&mut self, own: &DeliveryReport) -> DeliveryReport {
        // The receiver answers, but there was not enough time for all events.
        if self.is_interrupted(own) {
            enqueue::spawn_forwarder(self.data, self.receiver);
        }
        let url = self.receiver.url.as_str();
        self.post.limit_time(OTHER_RECEIVERS_TIMEOUT);
        self.deliver_matching(&|other| other != url)
    }

    /// Whether the receiver accepted events until the time was up.
    fn is_interrupted(&self, report: &DeliveryReport) -> bool {
        self.post.is_out_of_time && report.delivered > 0
    }

    fn remark_dropped(&mut self, EnqueueResult { dropped }: EnqueueResult) {
        self.remarks.extend((dropped > 0).then(|| enqueue::format_dropped_events(dropped).into()));
    }

    fn remark_waiting(&mut self, own: &DeliveryReport) {
        let Some(StalledReceiver { url, why }) = own.stalled.first() else {
            return;
        };
        let backlog = self.outbox.list_backlogs().into_iter().find(|backlog| backlog.url == *url);
        let waiting = backlog.map_or(0, |backlog| backlog.waiting);
        let remark = if self.is_interrupted(own) {
            let (sent, rest) = (own.delivered, output::format_count(waiting, "event"));
            format!(
                "{url} got {sent} of the waiting events within the time limit; a background process sends the other {rest}"
            )
        } else {
            format!("{url} {why}, so {}", format_waiting(waiting))
        };
        self.remarks.push(remark.into());
    }

    /// Reports the events that still wait after a retry, for each receiver.
    fn remark_still_waiting(&mut self, own: &DeliveryReport, others: &DeliveryReport) {
        for waiting in self.outbox.list_backlogs() {
            let is = |stalled: &&StalledReceiver| stalled.url == waiting.url;
            // Reported already.
            if own.stalled.iter().any(|stalled| is(&stalled)) {
                continue;
            }
            let (url, events) = (&waiting.url, format_waiting(waiting.waiting));
            let remark = match others.stalled.iter().find(is) {
                Some(StalledReceiver { why, .. }) => format!("{url} {why}, so {events}"),
                None => format!("{events} for {url}; another process is sending them"),
            };
            self.remarks.push(remark.into());
        }
    }

    /// Delivers the events that wait for these receivers.
    fn deliver_matching(&mut self, wanted: &dyn Fn(&str) -> bool) -> DeliveryReport {
        let report = match self.outbox.deliver_waiting(wanted, &mut |message| self.post.deliver(message)) {
            Ok(report) => report,
            Err(error) => {
                let remark = UserMessage::new(format!("cannot use the outbox: {error}"));
                if !self.remarks.contains(&remark) {
                    self.remarks.push(remark);
                }
                DeliveryReport::default()
            }
        };
        let refused = |OutboxRefusal { url, event, answer }: &OutboxRefusal| {
            UserMessage::new(format!("{url} refused {event} ({answer}), so it was moved to outbox/refused"))
                .with_hint("to send it again: snell notify --retry")
        };
        self.remarks.extend(report.refused.iter().map(refused));
        report
    }

    /// Sends a message that is not on disk, unless older ones wait for the same receiver. There is no second attempt.
    fn send_without_queue(
        &mut self,
        message: &OutboxMessage,
        waits_behind: Option<&StalledReceiver>,
        error: &io::Error,
    ) {
        let answer = match waits_behind {
            Some(stalled) => DeliveryAnswer::Later(stalled.why.clone()),
            None => self.post.deliver(message),
        };
        let remark = match answer {
            DeliveryAnswer::Accepted => format!("cannot write the event to disk ({error}), but it was sent"),
            DeliveryAnswer::Refused(why) | DeliveryAnswer::Later(why) => {
                format!("cannot write the event to disk ({error}), and {} {why}, so it is lost", message.url)
            }
        };
        self.remarks.push(remark.into());
    }
}

/// `1 event waits`, `2 events wait`.
fn format_waiting(number: usize) -> String {
    format!("{} {}", output::format_count(number, "event"), if number == 1 { "waits" } else { "wait" })
}
