//! Delivery: one process at a time holds the lock, and sends messages in order.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::PathBuf;

use super::message::OutboxMessage;
use super::storage::{MessageFileName, Outbox};
use crate::queue::file_lock::FileLock;

/// A receiver's answer to a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeliveryAnswer {
    /// The receiver has it.
    Accepted,
    /// The receiver refused it for good, with this answer. The next one may be accepted.
    Refused(String),
    /// The receiver cannot accept it now, for this reason. No later message is sent either, to keep the order.
    Later(String),
}

/// The result of a delivery.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeliveryReport {
    /// The number of delivered messages.
    pub delivered: usize,
    /// The messages that their receivers refused.
    pub refused: Vec<OutboxRefusal>,
    /// The receivers that are down.
    pub stalled: Vec<StalledReceiver>,
    /// Whether another process holds the lock, and delivers the rest.
    pub left_to_another: bool,
    /// The receivers to skip: not wanted, or stalled.
    skipped: BTreeSet<String>,
}

/// A message that its receiver refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutboxRefusal {
    /// The receiver's address.
    pub url: String,
    /// The event.
    pub event: String,
    /// The receiver's answer.
    pub answer: String,
}

/// A receiver that is down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StalledReceiver {
    /// Its address.
    pub url: String,
    /// The reason.
    pub why: String,
}

/// Whether messages for a receiver are wanted, by its address.
pub(super) type ReceiverFilter<'a> = &'a dyn Fn(&str) -> bool;

/// Sends a message.
pub(crate) type MessageHandler<'a> = &'a mut dyn FnMut(&OutboxMessage) -> DeliveryAnswer;

/// The lock for delivery, which one process holds at a time. It ends when this is dropped, or with the process.
#[derive(Debug)]
pub struct DeliveryLock<'a> {
    outbox: &'a Outbox,
    lock: FileLock,
}

impl Outbox {
    /// Sends messages to the wanted receivers, in order, until none is left or no receiver accepts one. If another
    /// process holds the lock, it leaves them to that one.
    ///
    /// Notifiers use this to send messages over HTTP, and a local server to take its own messages (see
    /// [`super::is_local_server_url`]).
    ///
    /// # Errors
    ///
    /// When the outbox cannot be used.
    pub fn deliver_waiting(&self, wanted: ReceiverFilter<'_>, hand: MessageHandler<'_>) -> io::Result<DeliveryReport> {
        self.deliver_waiting_then(wanted, hand, &mut || {})
    }

    /// As [`Outbox::deliver_waiting`]. Tests use `before_letting_go`, which is called just before the lock is released.
    fn deliver_waiting_then(
        &self,
        wanted: ReceiverFilter<'_>,
        hand: MessageHandler<'_>,
        before_letting_go: &mut dyn FnMut(),
    ) -> io::Result<DeliveryReport> {
        let mut report = DeliveryReport::default();
        loop {
            let Some(mut lock) = self.try_lock_delivery()? else {
                report.left_to_another = true;
                return Ok(report);
            };
            lock.deliver_until_done(wanted, hand, &mut report);
            before_letting_go();
            drop(lock);
            // Another process may have added a message after the last listing, and left it to this one, because this
            // one held the lock. That was before the lock was released, so the message is listed now. If a third
            // process holds the lock meanwhile, it listed the messages later, and has this one too.
            if !self.has_more_messages(&report) {
                return Ok(report);
            }
        }
    }

    fn has_more_messages(&self, report: &DeliveryReport) -> bool {
        let mut names = self.list_in_order().into_iter();
        names.any(|name| !report.skipped.contains(&name.receiver))
    }

    /// The delivery lock, if no other process holds it.
    ///
    /// # Errors
    ///
    /// When the outbox cannot be used.
    pub fn try_lock_delivery(&self) -> io::Result<Option<DeliveryLock<'_>>> {
        if !self.check_directory()? {
            return Ok(None);
        }
        let lock = FileLock::try_acquire(&self.delivery_lock_path())?;
        Ok(lock.map(|lock| DeliveryLock { outbox: self, lock }))
    }

    /// Takes over the delivery lock from another process; nothing if this file is not the lock.
    ///
    /// # Errors
    ///
    /// When the outbox cannot be used.
    pub fn adopt_lock(&self, handed: File) -> io::Result<Option<DeliveryLock<'_>>> {
        let lock = FileLock::adopt(&self.delivery_lock_path(), handed)?;
        Ok(lock.map(|lock| DeliveryLock { outbox: self, lock }))
    }

    fn delivery_lock_path(&self) -> PathBuf {
        self.directory().join("lock")
    }
}

impl DeliveryLock<'_> {
    /// The lock, for the process that delivers next.
    pub(crate) fn into_lock(self) -> FileLock {
        self.lock
    }

    /// Sends messages until none is left or no receiver accepts one, and keeps the lock.
    pub fn deliver_waiting(&mut self, wanted: ReceiverFilter<'_>, hand: MessageHandler<'_>) -> DeliveryReport {
        let mut report = DeliveryReport::default();
        self.deliver_until_done(wanted, hand, &mut report);
        report
    }

    fn deliver_until_done(
        &mut self,
        wanted: ReceiverFilter<'_>,
        hand: MessageHandler<'_>,
        report: &mut DeliveryReport,
    ) {
        loop {
            let mut names = self.outbox.list_in_order();
            names.retain(|name| !report.skipped.contains(&name.receiver));
            if names.is_empty() {
                return;
            }
            for name in names {
                if !report.skipped.contains(&name.receiver) {
                    self.deliver_message(&name, wanted, hand, report);
                }
            }
        }
    }

    /// Sends one message. Afterwards it is removed, or its receiver is skipped.
    fn deliver_message(
        &mut self,
        name: &MessageFileName,
        wanted: ReceiverFilter<'_>,
        hand: MessageHandler<'_>,
        report: &mut DeliveryReport,
    ) {
        let message = match self.outbox.read_message(name) {
            Ok(Some(message)) => message,
            Ok(None) => return,
            Err(error) => {
                return report.add_stalled(name, "a receiver", format!("cannot read a waiting event: {error}"));
            }
        };
        if !wanted(&message.url) {
            report.skipped.insert(name.receiver.clone());
            return;
        }
        let done = match hand(&message) {
            DeliveryAnswer::Accepted => {
                report.delivered += 1;
                self.outbox.remove(name)
            }
            DeliveryAnswer::Refused(answer) => {
                let done = self.outbox.move_to_refused(name, &message, &answer);
                report.refused.push(OutboxRefusal { url: message.url.clone(), event: message.event.clone(), answer });
                done
            }
            DeliveryAnswer::Later(why) => return report.add_stalled(name, &message.url, why),
        };
        // A message that cannot be removed would be sent again and again.
        if let Err(error) = done {
            report.add_stalled(name, &message.url, format!("cannot remove a delivered event: {error}"));
        }
    }
}

impl DeliveryReport {
    fn add_stalled(&mut self, name: &MessageFileName, url: &str, why: String) {
        self.skipped.insert(name.receiver.clone());
        let url = url.to_owned();
        self.stalled.push(StalledReceiver { url, why });
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use snell::{Event, Timestamp};

    use super::super::message::OutboxReceiver;
    use super::*;
    use crate::record::event_record::EventRecord;

    fn build_message(number: usize) -> OutboxMessage {
        let (event, _) = Event::from_json(Some("Stop"), format!("{{\"prompt\":\"{number}\"}}").as_bytes()).unwrap();
        let receiver = OutboxReceiver { url: "http://here.example".into(), token_file: None };
        OutboxMessage::from_record(EventRecord::new(&event, Timestamp::now()).into(), &receiver)
    }

    /// Adds a message as a process that does not get the lock.
    fn push_while_locked(outbox: &Outbox, number: usize) {
        outbox.push(&build_message(number)).unwrap();
        let report = outbox.deliver_waiting(&|_| true, &mut |_| DeliveryAnswer::Accepted).unwrap();
        assert!(report.left_to_another);
    }

    fn build_outbox(root: &Path) -> Outbox {
        let outbox = Outbox::in_data_dir(root);
        outbox.push(&build_message(0)).unwrap();
        outbox
    }

    #[test]
    fn a_message_added_before_the_lock_is_released_is_delivered() {
        let root = tempfile::tempdir().unwrap();
        let outbox = build_outbox(root.path());
        let (mut left, mut handed) = (0, Vec::new());
        let hand = &mut |message: &OutboxMessage| {
            handed.push(message.body["prompt"].clone());
            DeliveryAnswer::Accepted
        };
        let report = outbox.deliver_waiting_then(&|_| true, hand, &mut || {
            left += 1;
            if left < 4 {
                push_while_locked(&outbox, left);
            }
        });
        assert_eq!(report.unwrap().delivered, 4);
        assert_eq!(handed, ["0", "1", "2", "3"]);
    }

    #[test]
    fn a_failed_delivery_is_not_repeated_forever() {
        let root = tempfile::tempdir().unwrap();
        let outbox = build_outbox(root.path());
        let mut left = 0;
        let report =
            outbox.deliver_waiting_then(&|_| true, &mut |_| DeliveryAnswer::Later("is down".into()), &mut || {
                left += 1;
                push_while_locked(&outbox, left);
            });
        assert_eq!((report.unwrap().stalled.len(), left), (1, 1));
    }
}
