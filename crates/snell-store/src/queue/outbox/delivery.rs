//! Delivering: one process at a time holds the lock, and hands over messages in their order.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::PathBuf;

use super::message::OutboxMessage;
use super::storage::{MessageFileName, Outbox};
use crate::queue::file_lock::FileLock;

/// The answer to a message that was handed to its receiver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeliveryAnswer {
    /// The receiver has it.
    Accepted,
    /// The receiver will never take it, and said this. The next one may be better.
    Refused(String),
    /// The receiver cannot take it now, for this reason. Nothing else is handed to it either, so that the order stays.
    Later(String),
}

/// The result of a delivery.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeliveryReport {
    /// So many have reached their receiver.
    pub delivered: usize,
    /// Those that their receiver will never take.
    pub refused: Vec<OutboxRefusal>,
    /// The receivers that could not take everything.
    pub stalled: Vec<StalledReceiver>,
    /// Whether another process holds the lock, and so delivers what is left.
    pub left_to_another: bool,
    /// The receivers whose messages are not touched any more: not wanted, or stalled.
    skipped: BTreeSet<String>,
}

/// A message that its receiver will never take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutboxRefusal {
    /// The receiver's address.
    pub url: String,
    /// The event.
    pub event: String,
    /// What the receiver said.
    pub answer: String,
}

/// A receiver that could not take everything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StalledReceiver {
    /// Its address.
    pub url: String,
    /// Why.
    pub why: String,
}

/// Whether messages for a receiver are wanted, by its address.
pub(super) type ReceiverFilter<'a> = &'a dyn Fn(&str) -> bool;

/// Hands a message over.
pub(crate) type MessageHandler<'a> = &'a mut dyn FnMut(&OutboxMessage) -> DeliveryAnswer;

/// The right to deliver, which one process has at a time. It ends when this is dropped, or with the process.
#[derive(Debug)]
pub struct DeliveryLock<'a> {
    outbox: &'a Outbox,
    lock: FileLock,
}

impl Outbox {
    /// Hands over, in order, the messages for the receivers that are wanted, until none is left or no receiver takes one. If
    /// another process holds the lock, they are left to it.
    ///
    /// This is for notifiers, which hand messages over by HTTP, as well as for a local server, which takes its own messages
    /// (see [`super::is_local_server_url`]).
    ///
    /// # Errors
    ///
    /// When the outbox cannot be used.
    pub fn deliver_waiting(&self, wanted: ReceiverFilter<'_>, hand: MessageHandler<'_>) -> io::Result<DeliveryReport> {
        self.deliver_waiting_then(wanted, hand, &mut || {})
    }

    /// As [`Outbox::deliver_waiting`]; `before_letting_go` is called when there is nothing more to be seen, for tests of that moment.
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
            // Another process may have added a message after the last listing, seen that this one holds the lock, and left the
            // message to it. That was before the lock was released, so now the message is listed. If meanwhile a third
            // process holds the lock, it began to list after that, and sees the message too.
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

    /// The delivery lock that another process took and handed on, or nothing if this file is something else.
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

    /// Hands messages over until none is left or no receiver takes one, and goes on holding the lock.
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

    /// Hands one message over. Afterwards it is gone, or its receiver is skipped.
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
                return report.add_stalled(name, "a receiver", format!("cannot read a letter for it: {error}"));
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
        // A message that stays would be handed over again and again.
        if let Err(error) = done {
            report.add_stalled(name, &message.url, format!("cannot remove what was delivered: {error}"));
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

    /// Puts a letter there as somebody who finds that it is not its turn.
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
    fn what_is_left_to_one_who_is_about_to_let_go_is_delivered() {
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
    fn one_who_could_not_deliver_does_not_try_for_ever() {
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
