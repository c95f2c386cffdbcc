//! The files of the outbox.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde::Serialize;
use sha2::{Digest, Sha256};
use snell::Timestamp;

use super::message::OutboxMessage;
use super::sequence::{OutboxTally, SequenceLock};
use crate::queue::durable_queue::{
    DurableQueue, QueueItem, QueueLimits, create_private_dir, file_age, is_process_alive,
};

/// The largest size of all messages. The oldest are removed first.
const MAX_BYTES: u64 = 64 * 1024 * 1024;
const LIMITS: QueueLimits = QueueLimits { items: 10_000, item_bytes: MAX_BYTES };

/// The part of the limit that is removed at once when there are too many messages, because listing them takes time.
const DROP_FRACTION: usize = 64;

/// How many refused messages are kept for inspection.
const MAX_REFUSED: usize = 1_000;

/// A message that is incomplete after this time stays so.
const UNFINISHED_TIMEOUT: Duration = Duration::from_secs(60);

/// The same, if the process that wrote it is gone.
const DEAD_WRITER_TIMEOUT: Duration = Duration::from_secs(5);

/// The messages of one directory.
#[derive(Clone, Debug)]
pub struct Outbox {
    queue: DurableQueue,
}

/// The result of adding a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EnqueueResult {
    /// How many old messages were removed to make room.
    pub dropped: usize,
}

/// The messages that wait for one receiver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReceiverBacklog {
    /// The receiver's address.
    pub url: String,
    /// The number of messages.
    pub waiting: usize,
    /// The time of the oldest event.
    pub since: Timestamp,
}

/// The name of a message's file, with all data that is needed without opening it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct MessageFileName {
    number: u64,
    /// The process that wrote it. It distinguishes messages with the same number, which occur after a lock time-out.
    writer: u32,
    bytes: u64,
    /// Its receiver.
    pub(super) receiver: String,
}

impl Outbox {
    /// The outbox in this data directory.
    pub fn in_data_dir(data_directory: &Path) -> Self {
        Self { queue: DurableQueue::new(data_directory, "outbox", LIMITS) }
    }

    /// Its directory.
    pub(super) fn directory(&self) -> &Path {
        self.queue.directory()
    }

    /// Adds a message at the end. It is stored whole or not at all.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn push(&self, message: &OutboxMessage) -> io::Result<EnqueueResult> {
        self.check_directory()?;
        let text = serde_json::to_string(message)?;
        let part = self.queue.write_file(&new_part_name(), text.as_bytes())?;
        self.assign_number(&part, hash_receiver_url(&message.url), text.len() as u64)
            .inspect_err(|_| drop(fs::remove_file(&part)))
    }

    /// Assigns a number to a written message, which adds it to the queue.
    fn assign_number(&self, written: &Path, receiver: String, bytes: u64) -> io::Result<EnqueueResult> {
        let order = SequenceLock::acquire(self.directory())?;
        let mut tally = order.read_tally().unwrap_or_else(|| count_messages(&self.list_names(), 0));
        // The real clock, even if `SNELL_NOW` sets another one: it only determines the order.
        let number = tally.next_number(Timestamp::now());
        let name = MessageFileName { number, writer: std::process::id(), bytes, receiver };
        fs::rename(written, self.queue.item_path(&name.to_string()))?;
        tally = OutboxTally { last: number, messages: tally.messages + 1, bytes: tally.bytes + name.bytes };
        let mut dropped = 0;
        if tally.messages > LIMITS.items || tally.bytes > MAX_BYTES {
            (tally, dropped) = self.drop_oldest(number);
        }
        // If this cannot be written, the next process counts the messages.
        let _ = order.write_tally(tally);
        Ok(EnqueueResult { dropped })
    }

    /// Removes the oldest messages if there are too many.
    fn drop_oldest(&self, last: u64) -> (OutboxTally, usize) {
        let names = self.list_names();
        let mut tally = count_messages(&names, last);
        if tally.messages <= LIMITS.items && tally.bytes <= MAX_BYTES {
            return (tally, 0);
        }
        let (most, most_bytes) =
            (LIMITS.items - LIMITS.items / DROP_FRACTION, MAX_BYTES - MAX_BYTES / DROP_FRACTION as u64);
        let mut dropped = 0;
        // The newest is the one being added.
        for name in names.iter().take(names.len().saturating_sub(1)) {
            if tally.messages <= most && tally.bytes <= most_bytes {
                break;
            }
            let _ = fs::remove_file(self.queue.item_path(&name.to_string()));
            tally.messages -= 1;
            tally.bytes -= name.bytes;
            dropped += 1;
        }
        (tally, dropped)
    }

    /// The messages that wait for each receiver, whether or not a process delivers them now.
    pub fn list_backlogs(&self) -> Vec<ReceiverBacklog> {
        let mut receivers: BTreeMap<String, (MessageFileName, usize)> = BTreeMap::new();
        for name in self.list_names() {
            let receiver = receivers.entry(name.receiver.clone());
            receiver.or_insert((name, 0)).1 += 1;
        }
        let read = |(oldest, waiting): (MessageFileName, usize)| {
            let message = self.read_message(&oldest).ok()??;
            Some(ReceiverBacklog { url: message.url, waiting, since: message.at })
        };
        let mut waiting: Vec<_> = receivers.into_values().filter_map(read).collect();
        waiting.sort_by(|one, other| one.url.cmp(&other.url));
        waiting
    }

    /// The messages that their receivers refused.
    pub fn list_refused(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.refused_directory()).into_iter().flatten().flatten();
        let paths = entries.map(|entry| entry.path());
        let mut paths: Vec<_> = paths.filter(|path| MessageFileName::parse(path).is_some()).collect();
        paths.sort();
        paths
    }

    /// Moves the refused messages to the end of the queue, in their order. Returns how many they are, and how many old
    /// ones were removed for them. Each moves in one step, so a killed process loses and duplicates nothing.
    ///
    /// # Errors
    ///
    /// When they cannot be moved.
    pub fn requeue_refused(&self) -> io::Result<(usize, EnqueueResult)> {
        let (mut moved, mut dropped) = (0, 0);
        if !self.check_directory()? {
            return Ok((moved, EnqueueResult { dropped }));
        }
        for path in self.list_refused() {
            let (Some(name), Ok(metadata)) = (MessageFileName::parse(&path), fs::metadata(&path)) else {
                continue;
            };
            match self.assign_number(&path, name.receiver, metadata.len()) {
                Ok(result) => (moved, dropped) = (moved + 1, dropped + result.dropped),
                // Another process does the same.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok((moved, EnqueueResult { dropped }))
    }

    /// All messages, the oldest first, without gaps.
    pub(super) fn list_in_order(&self) -> Vec<MessageFileName> {
        let Ok(order) = SequenceLock::acquire(self.directory()) else {
            return self.list_names();
        };
        let names = self.list_names();
        let tally = order.read_tally();
        let counted = count_messages(&names, tally.map_or(0, |tally| tally.last));
        if tally != Some(counted) {
            let _ = order.write_tally(counted);
        }
        names
    }

    /// The last assigned number. It changes with each added message.
    pub(crate) fn last_number(&self) -> Option<u64> {
        OutboxTally::read_from_dir(self.directory()).map(|tally| tally.last)
    }

    fn list_names(&self) -> Vec<MessageFileName> {
        let mut names = Vec::new();
        for path in self.queue.list() {
            match MessageFileName::parse(&path) {
                Some(name) => names.push(name),
                None => remove_if_abandoned(&path),
            }
        }
        names.sort();
        names
    }

    /// The message of this name; nothing if it is gone, or was set aside because it cannot be read.
    pub(super) fn read_message(&self, name: &MessageFileName) -> io::Result<Option<OutboxMessage>> {
        let path = self.queue.item_path(&name.to_string());
        match self.queue.read(&path)? {
            QueueItem::Ready(message) => Ok(Some(message)),
            // An unreadable message must not block the others.
            QueueItem::Damaged(_) => self.queue.set_aside(&path).map(|_| None),
            QueueItem::Gone | QueueItem::SetAside(..) => Ok(None),
        }
    }

    /// Removes a delivered message.
    pub(super) fn remove(&self, name: &MessageFileName) -> io::Result<()> {
        match fs::remove_file(self.queue.item_path(&name.to_string())) {
            // Another process removed it to make room.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }

    /// Sets a refused message aside, with the receiver's answer.
    pub(super) fn move_to_refused(
        &self,
        name: &MessageFileName,
        message: &OutboxMessage,
        answer: &str,
    ) -> io::Result<()> {
        let directory = self.refused_directory();
        create_private_dir(&directory)?;
        let mut refused = serde_json::to_value(message)?;
        refused["answer"] = answer.into();
        let part = self.queue.write_file(&new_part_name(), refused.to_string().as_bytes())?;
        fs::rename(&part, directory.join(name.to_string()))?;
        self.remove(name)?;
        let refused = self.list_refused();
        for old in refused.iter().take(refused.len().saturating_sub(MAX_REFUSED)) {
            let _ = fs::remove_file(old);
        }
        Ok(())
    }

    fn refused_directory(&self) -> PathBuf {
        self.queue.item_path("refused")
    }

    /// Whether there is an outbox. Messages name their own URL and token file, so the directory must belong to this
    /// user alone.
    pub(crate) fn check_directory(&self) -> io::Result<bool> {
        let metadata = match fs::metadata(self.directory()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            metadata => metadata?,
        };
        if metadata.uid() != rustix::process::geteuid().as_raw() {
            let message = format!("{} belongs to another user", self.directory().display());
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
        }
        if metadata.mode() & 0o077 != 0 {
            fs::set_permissions(self.directory(), Permissions::from_mode(0o700))?;
        }
        Ok(true)
    }
}

impl MessageFileName {
    fn parse(path: &Path) -> Option<Self> {
        let mut parts = path.file_name()?.to_str()?.strip_suffix(".json")?.split('-');
        let name = Self {
            number: parts.next()?.parse().ok()?,
            writer: parts.next()?.parse().ok()?,
            bytes: parts.next()?.parse().ok()?,
            receiver: parts.next()?.to_owned(),
        };
        parts.next().is_none().then_some(name)
    }
}

impl std::fmt::Display for MessageFileName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { number, writer, bytes, receiver } = self;
        write!(f, "{number:020}-{writer}-{bytes}-{receiver}.json")
    }
}

fn count_messages(names: &[MessageFileName], last: u64) -> OutboxTally {
    OutboxTally {
        last: names.last().map_or(0, |name| name.number).max(last),
        messages: names.len(),
        bytes: names.iter().map(|name| name.bytes).sum(),
    }
}

/// The receiver's hash in the names of its messages.
fn hash_receiver_url(url: &str) -> String {
    let digest = Sha256::digest(url.as_bytes());
    digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// A unique name for a message that is being written.
fn new_part_name() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let (own, count) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    format!("{own}-{count}-{}.part", Timestamp::now().as_nanosecond())
}

/// Removes an incomplete message whose process is gone.
fn remove_if_abandoned(path: &Path) {
    if path.extension().is_none_or(|extension| extension != "part") {
        return;
    }
    // In a container, a process id from outside may belong to another process. Then the longer time applies.
    let is_abandoned =
        |age: Duration| age > UNFINISHED_TIMEOUT || (age > DEAD_WRITER_TIMEOUT && !is_process_alive(path, 0));
    if file_age(path).is_some_and(is_abandoned) {
        let _ = fs::remove_file(path);
    }
}
