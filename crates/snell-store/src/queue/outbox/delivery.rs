//! Delivering: one at a time has the turn, and hands over letters in their order.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use snell::{FileAccess, RegularFile};

use super::message::OutboxMessage;
use super::sequence::add_path_to_error;
use super::storage::{MessageFileName, Outbox};

/// What became of a letter that was handed to its receiver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeliveryAnswer {
    /// The receiver has it.
    Accepted,
    /// The receiver will never take it, and said this. The next one may be better.
    Refused(String),
    /// The receiver cannot take it now, for this reason. Nothing else is handed to it either, so that the order stays.
    Later(String),
}

/// What became of all letters that were handed over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeliveryReport {
    /// So many have reached their receiver.
    pub delivered: usize,
    /// Those that their receiver will never take.
    pub refused: Vec<OutboxRefusal>,
    /// The receivers that could not take everything.
    pub stalled: Vec<StalledReceiver>,
    /// Whether somebody else has the turn, and so delivers what is left.
    pub left_to_another: bool,
    /// The receivers whose letters are not touched any more: not wanted, or held up.
    skipped: BTreeSet<String>,
}

/// A letter that its receiver will never take.
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

/// Whose letters are wanted, by the receiver's address.
pub(super) type ReceiverFilter<'a> = &'a dyn Fn(&str) -> bool;

/// How a letter is handed over.
pub(super) type MessageHandler<'a> = &'a mut dyn FnMut(&OutboxMessage) -> DeliveryAnswer;

/// The right to deliver, which one has at a time. It ends when this is dropped, or with the process.
#[derive(Debug)]
pub struct DeliveryLock<'a> {
    outbox: &'a Outbox,
    /// There until the turn is handed on.
    lock: Option<File>,
}

impl Outbox {
    /// Hands over, in order, what waits for the receivers that are wanted, until nothing is left or nobody takes it. If
    /// somebody else has the turn, it is left to them.
    ///
    /// This is for notifiers, which hand letters over by HTTP, as well as for a local server, which takes what waits for
    /// itself (see [`super::is_local`]).
    ///
    /// # Errors
    ///
    /// When the outbox cannot be used.
    pub fn deliver_waiting(&self, wanted: ReceiverFilter<'_>, hand: MessageHandler<'_>) -> io::Result<DeliveryReport> {
        self.deliver_waiting_then(wanted, hand, &mut || {})
    }

    /// As [`Outbox::deliver`]; `before_letting_go` is called when there is nothing more to be seen, for tests of that moment.
    fn deliver_waiting_then(
        &self,
        wanted: ReceiverFilter<'_>,
        hand: MessageHandler<'_>,
        before_letting_go: &mut dyn FnMut(),
    ) -> io::Result<DeliveryReport> {
        let mut report = DeliveryReport::default();
        loop {
            let Some(mut turn) = self.try_lock_delivery()? else {
                report.left_to_another = true;
                return Ok(report);
            };
            turn.deliver_until_done(wanted, hand, &mut report);
            before_letting_go();
            drop(turn);
            // Somebody may have put a letter there after we last looked, found that we had the turn, and left it to us. That
            // was before we gave the turn back, so now it can be seen. If meanwhile another one has the turn, they began to
            // look after that, and see it too.
            if !self.has_more_messages(&report) {
                return Ok(report);
            }
        }
    }

    fn has_more_messages(&self, report: &DeliveryReport) -> bool {
        let mut names = self.list_in_order().into_iter();
        names.any(|name| !report.skipped.contains(&name.receiver))
    }

    /// The turn, if nobody has it.
    ///
    /// # Errors
    ///
    /// When the outbox cannot be used.
    pub fn try_lock_delivery(&self) -> io::Result<Option<DeliveryLock<'_>>> {
        if !self.check_directory()? {
            return Ok(None);
        }
        let path = self.directory.join("lock");
        let lock = RegularFile::open(&path, FileAccess::Write).map_err(|error| add_path_to_error(&path, &error))?;
        self.lock_file(lock.into_file())
    }

    /// The turn that somebody else took and handed on, or nothing if this file is something else. The right belongs to the
    /// open file, so it can be handed from one process to another without a moment in which nobody has it.
    ///
    /// # Errors
    ///
    /// When the outbox cannot be used.
    pub fn adopt_lock(&self, lock: File) -> io::Result<Option<DeliveryLock<'_>>> {
        let (ours, theirs) = (self.directory.join("lock").metadata()?, lock.metadata()?);
        if (ours.dev(), ours.ino()) != (theirs.dev(), theirs.ino()) {
            return Ok(None);
        }
        self.lock_file(lock)
    }

    fn lock_file(&self, lock: File) -> io::Result<Option<DeliveryLock<'_>>> {
        match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(DeliveryLock { outbox: self, lock: Some(lock) })),
            Err(Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

impl Drop for DeliveryLock<'_> {
    fn drop(&mut self) {
        if let Some(lock) = &self.lock {
            // Not left to the closing of the file, because another one may be open that shares the lock.
            let _ = flock(lock, FlockOperation::Unlock);
        }
    }
}

impl DeliveryLock<'_> {
    /// The file to which the turn belongs, for whoever has it next. When nobody has it open any more, the turn ends.
    pub(super) fn into_lock_file(mut self) -> Option<File> {
        self.lock.take()
    }

    /// Hands over what waits, until nothing is left or nobody takes it, and goes on having the turn.
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

    /// Hands one letter over. Whatever happens, it is gone afterwards, or its receiver is passed over.
    fn deliver_message(
        &mut self,
        name: &MessageFileName,
        wanted: ReceiverFilter<'_>,
        hand: MessageHandler<'_>,
        report: &mut DeliveryReport,
    ) {
        let letter = match self.outbox.read_message(name) {
            Ok(Some(letter)) => letter,
            Ok(None) => return,
            Err(error) => {
                return report.add_stalled(name, "a receiver", format!("cannot read a letter for it: {error}"));
            }
        };
        if !wanted(&letter.url) {
            report.skipped.insert(name.receiver.clone());
            return;
        }
        let done = match hand(&letter) {
            DeliveryAnswer::Accepted => {
                report.delivered += 1;
                self.outbox.remove(name)
            }
            DeliveryAnswer::Refused(answer) => {
                let done = self.outbox.move_to_refused(name, &letter, &answer);
                report.refused.push(OutboxRefusal { url: letter.url.clone(), event: letter.event.clone(), answer });
                done
            }
            DeliveryAnswer::Later(why) => return report.add_stalled(name, &letter.url, why),
        };
        // What stays would be handed over again and again.
        if let Err(error) = done {
            report.add_stalled(name, &letter.url, format!("cannot remove what was delivered: {error}"));
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
        OutboxMessage::from_record(EventRecord::new(&event, Timestamp::now()), &receiver)
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
        let hand = &mut |letter: &OutboxMessage| {
            handed.push(letter.body["prompt"].clone());
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
