//! Delivering: one at a time has the turn, and hands over letters in their order.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use snell::{FileAccess, RegularFile};

use super::letter::Letter;
use super::order::at_path;
use super::shelf::{Name, Outbox};

/// What became of a letter that was handed to its receiver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The receiver has it.
    Taken,
    /// The receiver will never take it, and said this. The next one may be better.
    Refused(String),
    /// The receiver cannot take it now, for this reason. Nothing else is handed to it either, so that the order stays.
    Later(String),
}

/// What became of all letters that were handed over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// So many have reached their receiver.
    pub taken: usize,
    /// Those that their receiver will never take.
    pub refused: Vec<Refusal>,
    /// The receivers that could not take everything.
    pub held_up: Vec<HeldUp>,
    /// Whether somebody else has the turn, and so delivers what is left.
    pub left_to_another: bool,
    /// The receivers whose letters are not touched any more: not wanted, or held up.
    passed_over: BTreeSet<String>,
}

/// A letter that its receiver will never take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The receiver's address.
    pub url: String,
    /// The event.
    pub event: String,
    /// What the receiver said.
    pub answer: String,
}

/// A receiver that could not take everything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldUp {
    /// Its address.
    pub url: String,
    /// Why.
    pub why: String,
}

/// Whose letters are wanted, by the receiver's address.
pub(super) type Wanted<'a> = &'a dyn Fn(&str) -> bool;

/// How a letter is handed over.
pub(super) type Hand<'a> = &'a mut dyn FnMut(&Letter) -> Answer;

/// The right to deliver, which one has at a time. It ends when this is dropped, or with the process.
#[derive(Debug)]
pub struct Turn<'a> {
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
    pub fn deliver(&self, wanted: Wanted<'_>, hand: Hand<'_>) -> io::Result<Report> {
        self.deliver_and(wanted, hand, &mut || {})
    }

    /// As [`Outbox::deliver`]; `before_letting_go` is called when there is nothing more to be seen, for tests of that moment.
    fn deliver_and(
        &self,
        wanted: Wanted<'_>,
        hand: Hand<'_>,
        before_letting_go: &mut dyn FnMut(),
    ) -> io::Result<Report> {
        let mut report = Report::default();
        loop {
            let Some(mut turn) = self.turn()? else {
                report.left_to_another = true;
                return Ok(report);
            };
            turn.pass(wanted, hand, &mut report);
            before_letting_go();
            drop(turn);
            // Somebody may have put a letter there after we last looked, found that we had the turn, and left it to us. That
            // was before we gave the turn back, so now it can be seen. If meanwhile another one has the turn, they began to
            // look after that, and see it too.
            if !self.has_more(&report) {
                return Ok(report);
            }
        }
    }

    fn has_more(&self, report: &Report) -> bool {
        let mut names = self.in_order().into_iter();
        names.any(|name| !report.passed_over.contains(&name.receiver))
    }

    /// The turn, if nobody has it.
    ///
    /// # Errors
    ///
    /// When the outbox cannot be used.
    pub fn turn(&self) -> io::Result<Option<Turn<'_>>> {
        if !self.is_there()? {
            return Ok(None);
        }
        let path = self.directory.join("lock");
        let lock = RegularFile::open(&path, FileAccess::Write).map_err(|error| at_path(&path, &error))?;
        self.turn_by(lock.into_file())
    }

    /// The turn that somebody else took and handed on, or nothing if this file is something else. The right belongs to the
    /// open file, so it can be handed from one process to another without a moment in which nobody has it.
    ///
    /// # Errors
    ///
    /// When the outbox cannot be used.
    pub fn handed_on(&self, lock: File) -> io::Result<Option<Turn<'_>>> {
        let (ours, theirs) = (self.directory.join("lock").metadata()?, lock.metadata()?);
        if (ours.dev(), ours.ino()) != (theirs.dev(), theirs.ino()) {
            return Ok(None);
        }
        self.turn_by(lock)
    }

    fn turn_by(&self, lock: File) -> io::Result<Option<Turn<'_>>> {
        match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(Turn {
                outbox: self,
                lock: Some(lock),
            })),
            Err(Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if let Some(lock) = &self.lock {
            // Not left to the closing of the file, because another one may be open that shares the lock.
            let _ = flock(lock, FlockOperation::Unlock);
        }
    }
}

impl Turn<'_> {
    /// The file to which the turn belongs, for whoever has it next. When nobody has it open any more, the turn ends.
    pub(super) fn hand_on(mut self) -> Option<File> {
        self.lock.take()
    }

    /// Hands over what waits, until nothing is left or nobody takes it, and goes on having the turn.
    pub fn deliver(&mut self, wanted: Wanted<'_>, hand: Hand<'_>) -> Report {
        let mut report = Report::default();
        self.pass(wanted, hand, &mut report);
        report
    }

    fn pass(&mut self, wanted: Wanted<'_>, hand: Hand<'_>, report: &mut Report) {
        loop {
            let mut names = self.outbox.in_order();
            names.retain(|name| !report.passed_over.contains(&name.receiver));
            if names.is_empty() {
                return;
            }
            for name in names {
                if !report.passed_over.contains(&name.receiver) {
                    self.hand_over(&name, wanted, hand, report);
                }
            }
        }
    }

    /// Hands one letter over. Whatever happens, it is gone afterwards, or its receiver is passed over.
    fn hand_over(&mut self, name: &Name, wanted: Wanted<'_>, hand: Hand<'_>, report: &mut Report) {
        let letter = match self.outbox.read(name) {
            Ok(Some(letter)) => letter,
            Ok(None) => return,
            Err(error) => return report.hold_up(name, "a receiver", format!("cannot read a letter for it: {error}")),
        };
        if !wanted(&letter.url) {
            report.passed_over.insert(name.receiver.clone());
            return;
        }
        let done = match hand(&letter) {
            Answer::Taken => {
                report.taken += 1;
                self.outbox.remove(name)
            }
            Answer::Refused(answer) => {
                let done = self.outbox.refuse(name, &letter, &answer);
                report.refused.push(Refusal {
                    url: letter.url.clone(),
                    event: letter.event.clone(),
                    answer,
                });
                done
            }
            Answer::Later(why) => return report.hold_up(name, &letter.url, why),
        };
        // What stays would be handed over again and again.
        if let Err(error) = done {
            report.hold_up(name, &letter.url, format!("cannot remove what was delivered: {error}"));
        }
    }
}

impl Report {
    fn hold_up(&mut self, name: &Name, url: &str, why: String) {
        self.passed_over.insert(name.receiver.clone());
        let url = url.to_owned();
        self.held_up.push(HeldUp { url, why });
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use snell::{Event, Timestamp};

    use super::super::letter::Receiver;
    use super::*;
    use crate::observation::Observation;

    fn letter(number: usize) -> Letter {
        let (event, _) = Event::from_json(Some("Stop"), format!("{{\"prompt\":\"{number}\"}}").as_bytes()).unwrap();
        let receiver = Receiver {
            url: "http://here.example".into(),
            token_file: None,
        };
        Letter::of(Observation::new(&event, Timestamp::now()), &receiver)
    }

    /// Puts a letter there as somebody who finds that it is not its turn.
    fn leave_one(outbox: &Outbox, number: usize) {
        outbox.put(&letter(number)).unwrap();
        let report = outbox.deliver(&|_| true, &mut |_| Answer::Taken).unwrap();
        assert!(report.left_to_another);
    }

    fn an_outbox(root: &Path) -> Outbox {
        let outbox = Outbox::beside(root);
        outbox.put(&letter(0)).unwrap();
        outbox
    }

    #[test]
    fn what_is_left_to_one_who_is_about_to_let_go_is_delivered() {
        let root = tempfile::tempdir().unwrap();
        let outbox = an_outbox(root.path());
        let (mut left, mut handed) = (0, Vec::new());
        let hand = &mut |letter: &Letter| {
            handed.push(letter.body["prompt"].clone());
            Answer::Taken
        };
        let report = outbox.deliver_and(&|_| true, hand, &mut || {
            left += 1;
            if left < 4 {
                leave_one(&outbox, left);
            }
        });
        assert_eq!(report.unwrap().taken, 4);
        assert_eq!(handed, ["0", "1", "2", "3"]);
    }

    #[test]
    fn one_who_could_not_deliver_does_not_try_for_ever() {
        let root = tempfile::tempdir().unwrap();
        let outbox = an_outbox(root.path());
        let mut left = 0;
        let report = outbox.deliver_and(&|_| true, &mut |_| Answer::Later("is down".into()), &mut || {
            left += 1;
            leave_one(&outbox, left);
        });
        assert_eq!((report.unwrap().held_up.len(), left), (1, 1));
    }
}
