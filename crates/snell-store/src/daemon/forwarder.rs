//! The job that delivers the outbox for hooks, which must not wait for a network.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::time::{Duration, Instant};

use crate::queue::outbox::{DeliveryAnswer, DeliveryLock, MessageHandler, Outbox, OutboxMessage};

/// How often the outbox is checked for new messages.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// How long a forwarder runs, and how it treats receivers that are down.
#[derive(Clone, Copy, Debug)]
pub struct ForwarderSettings {
    /// It exits after this time without messages.
    pub linger: Duration,
    /// It exits when a receiver was down for this long.
    pub give_up_after: Duration,
    /// The pause before a receiver that is down is tried again. It doubles each time.
    pub first_pause: Duration,
    /// The upper limit of that pause.
    pub longest_pause: Duration,
    /// It exits after this time at the latest, so that after an update the new program takes over.
    pub longest_life: Duration,
}

impl Default for ForwarderSettings {
    fn default() -> Self {
        Self {
            linger: Duration::from_secs(10),
            give_up_after: Duration::from_secs(60),
            first_pause: Duration::from_millis(250),
            longest_pause: Duration::from_secs(8),
            longest_life: Duration::from_secs(10 * 60),
        }
    }
}

/// A receiver that is down.
#[derive(Clone, Copy, Debug)]
struct ReceiverOutage {
    since: Instant,
    pause: Duration,
    try_again: Instant,
}

/// Delivers messages until none came for some time, or receivers are down for too long.
///
/// # Errors
///
/// When the outbox cannot be used.
pub fn run_forwarder(
    outbox: &Outbox,
    lock: DeliveryLock<'_>,
    settings: ForwarderSettings,
    hand: MessageHandler<'_>,
) -> io::Result<()> {
    run_forwarder_then(outbox, lock, settings, hand, &mut || {})
}

/// As [`run_forwarder`]. Tests use `before_letting_go`, which is called just before it exits.
fn run_forwarder_then<'a>(
    outbox: &'a Outbox,
    mut lock: DeliveryLock<'a>,
    settings: ForwarderSettings,
    hand: MessageHandler<'_>,
    before_letting_go: &mut dyn FnMut(),
) -> io::Result<()> {
    let mut forwarder = OutboxForwarder::new(settings);
    loop {
        let last_number = outbox.last_number();
        forwarder.deliver_due(&mut lock, hand);
        // Do not wait for an outbox that was removed.
        if !forwarder.can_exit() && outbox.check_directory()? {
            wait_for_message(outbox, last_number, forwarder.next_attempt());
            continue;
        }
        before_letting_go();
        drop(lock);
        // A process that saw the lock held added its message before the lock was released: see
        // `Outbox::deliver_waiting`.
        if outbox.last_number() == last_number {
            return Ok(());
        }
        match outbox.try_lock_delivery()? {
            Some(again) => lock = again,
            None => return Ok(()),
        }
    }
}

/// The state of a forwarder.
struct OutboxForwarder {
    settings: ForwarderSettings,
    started: Instant,
    last_work: Instant,
    /// The receivers that are down, by their addresses.
    outages: BTreeMap<String, ReceiverOutage>,
}

impl OutboxForwarder {
    fn new(settings: ForwarderSettings) -> Self {
        Self { settings, started: Instant::now(), last_work: Instant::now(), outages: BTreeMap::new() }
    }

    /// Delivers to all receivers that are up, and to those that are down if their next attempt is due.
    fn deliver_due(&mut self, lock: &mut DeliveryLock<'_>, hand: MessageHandler<'_>) {
        let now = Instant::now();
        let is_due = |url: &str| self.outages.get(url).is_none_or(|outage| outage.try_again <= now);
        let mut reached = BTreeSet::new();
        let mut hand_and_note = |message: &OutboxMessage| {
            let answer = hand(message);
            if !matches!(answer, DeliveryAnswer::Later(_)) {
                reached.insert(message.url.clone());
            }
            answer
        };
        let report = lock.deliver_waiting(&is_due, &mut hand_and_note);
        if !reached.is_empty() {
            self.last_work = Instant::now();
        }
        self.outages.retain(|url, _| !reached.contains(url));
        for stalled in report.stalled {
            self.record_outage(stalled.url);
        }
    }

    fn record_outage(&mut self, url: String) {
        let now = Instant::now();
        let ForwarderSettings { first_pause, longest_pause, .. } = self.settings;
        let outage = self
            .outages
            .entry(url)
            .and_modify(|outage| outage.pause = (outage.pause * 2).min(longest_pause))
            .or_insert(ReceiverOutage { since: now, pause: first_pause, try_again: now });
        outage.try_again = now + outage.pause;
    }

    fn can_exit(&self) -> bool {
        let is_idle = self.last_work.elapsed() >= self.settings.linger;
        let is_hopeless = |outage: &ReceiverOutage| outage.since.elapsed() >= self.settings.give_up_after;
        let is_old = self.started.elapsed() >= self.settings.longest_life;
        is_old || (is_idle && self.outages.values().all(is_hopeless))
    }

    /// The time of the next attempt, if no message comes earlier.
    fn next_attempt(&self) -> Instant {
        let next_try = self.outages.values().map(|outage| outage.try_again).min();
        next_try.unwrap_or(self.last_work + self.settings.linger)
    }
}

/// Waits until a message is added, or until this time.
fn wait_for_message(outbox: &Outbox, last_number: Option<u64>, until: Instant) {
    while outbox.last_number() == last_number {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        std::thread::sleep(left.min(POLL_INTERVAL));
    }
}

#[cfg(test)]
mod tests {
    use snell::{Event, Timestamp};

    use super::*;
    use crate::queue::outbox::OutboxReceiver;
    use crate::record::event_record::EventRecord;

    #[test]
    fn a_message_added_while_the_forwarder_exits_is_delivered() {
        let root = tempfile::tempdir().unwrap();
        let outbox = Outbox::in_data_dir(root.path());
        let put = |number: usize| {
            let payload = format!("{{\"prompt\":\"{number}\"}}");
            let (event, _) = Event::from_json(Some("Stop"), payload.as_bytes()).unwrap();
            let receiver = OutboxReceiver { url: "http://here.example".into(), token_file: None };
            let letter = OutboxMessage::from_record(EventRecord::new(&event, Timestamp::now()).into(), &receiver);
            outbox.push(&letter).unwrap();
        };
        put(0);
        let hurry = ForwarderSettings { linger: Duration::ZERO, ..ForwarderSettings::default() };
        let (mut left, mut handed) = (0, Vec::new());
        let hand = &mut |message: &OutboxMessage| {
            handed.push(message.body["prompt"].clone());
            DeliveryAnswer::Accepted
        };
        let turn = outbox.try_lock_delivery().unwrap().unwrap();
        let done = run_forwarder_then(&outbox, turn, hurry, hand, &mut || {
            left += 1;
            if left < 4 {
                put(left);
                assert!(outbox.try_lock_delivery().unwrap().is_none(), "somebody has the turn");
            }
        });
        done.unwrap();
        assert_eq!(handed, ["0", "1", "2", "3"]);
        assert!(outbox.try_lock_delivery().unwrap().is_some(), "the turn was given back");
    }
}
