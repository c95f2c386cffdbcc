//! Where letters lie: putting one there, and seeing what is there.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

use rustix::process::{Pid, test_kill_process};
use serde::Serialize;
use sha2::{Digest, Sha256};
use snell::{Timestamp, is_file_kind_error, read_file};

use super::message::OutboxMessage;
use super::sequence::{OutboxTally, SequenceLock};
use crate::queue::pending::PendingQueue;
use crate::record::json;

/// More letters, or more bytes in all, are not kept: the oldest go first.
const MAX_MESSAGES: usize = 10_000;
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// When there are too many, this part of what may be there goes at once: to look for the oldest takes time, and whoever
/// puts the next one there should not have to look again.
const DROP_FRACTION: usize = 64;

/// So many letters that were refused are kept, for people to look at.
const MAX_REFUSED: usize = 1_000;

/// A letter that is not finished after so long will not be.
const UNFINISHED_TIMEOUT: Duration = Duration::from_secs(60);

/// After so long it is finished, or its process is in trouble.
const DEAD_WRITER_TIMEOUT: Duration = Duration::from_secs(5);

/// The letters of one directory.
#[derive(Clone, Debug)]
pub struct Outbox {
    pub(super) directory: PathBuf,
}

/// A letter was put there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EnqueueResult {
    /// So many old ones had to go.
    pub dropped: usize,
}

/// What waits for one receiver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReceiverBacklog {
    /// The receiver's address.
    pub url: String,
    /// How many letters.
    pub waiting: usize,
    /// When the oldest of them happened.
    pub since: Timestamp,
}

/// The name of a letter's file says what is to be known without opening it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct MessageFileName {
    number: u64,
    /// The process that wrote it, which tells letters apart whose writers did not hear of each other.
    writer: u32,
    bytes: u64,
    /// Its receiver.
    pub(super) receiver: String,
}

impl Outbox {
    /// The letters beside the database of this directory.
    pub fn in_data_dir(data_directory: &Path) -> Self {
        Self { directory: data_directory.join("outbox") }
    }

    /// Puts a letter behind all others. It is there whole or not at all.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn push(&self, letter: &OutboxMessage) -> io::Result<EnqueueResult> {
        self.ensure_directory()?;
        let text = serde_json::to_string(letter)?;
        let unfinished = self.new_part_path();
        let put = write_new_file(&unfinished, text.as_bytes())
            .and_then(|()| self.assign_number(&unfinished, hash_receiver_url(&letter.url), text.len() as u64));
        if put.is_err() {
            let _ = fs::remove_file(&unfinished);
        }
        put
    }

    /// Gives a letter that is written its number, by which it counts from now on.
    fn assign_number(&self, written: &Path, receiver: String, bytes: u64) -> io::Result<EnqueueResult> {
        let order = SequenceLock::acquire(&self.directory)?;
        let mut tally = order.read_tally().unwrap_or_else(|| count_messages(&self.list_names(), 0));
        // The real clock, also where another one is set: an order of events is no matter of what they are told to be.
        let number = tally.next_number(Timestamp::now());
        let name = MessageFileName { number, writer: std::process::id(), bytes, receiver };
        fs::rename(written, self.directory.join(name.to_string()))?;
        tally = OutboxTally { last: number, messages: tally.messages + 1, bytes: tally.bytes + name.bytes };
        let mut dropped = 0;
        if tally.messages > MAX_MESSAGES || tally.bytes > MAX_BYTES {
            (tally, dropped) = self.drop_oldest(number);
        }
        // Where this cannot be written, whoever comes next counts.
        let _ = order.write_tally(tally);
        Ok(EnqueueResult { dropped })
    }

    /// Removes the oldest letters if there are really too many.
    fn drop_oldest(&self, last: u64) -> (OutboxTally, usize) {
        let names = self.list_names();
        let mut tally = count_messages(&names, last);
        if tally.messages <= MAX_MESSAGES && tally.bytes <= MAX_BYTES {
            return (tally, 0);
        }
        let (most, most_bytes) =
            (MAX_MESSAGES - MAX_MESSAGES / DROP_FRACTION, MAX_BYTES - MAX_BYTES / DROP_FRACTION as u64);
        let mut dropped = 0;
        // The newest is what we are here for.
        for name in names.iter().take(names.len().saturating_sub(1)) {
            if tally.messages <= most && tally.bytes <= most_bytes {
                break;
            }
            let _ = fs::remove_file(self.directory.join(name.to_string()));
            tally.messages -= 1;
            tally.bytes -= name.bytes;
            dropped += 1;
        }
        (tally, dropped)
    }

    /// What waits for which receiver, without regard to anybody who may be delivering.
    pub fn list_backlogs(&self) -> Vec<ReceiverBacklog> {
        let mut receivers: BTreeMap<String, (MessageFileName, usize)> = BTreeMap::new();
        for name in self.list_names() {
            let receiver = receivers.entry(name.receiver.clone());
            receiver.or_insert((name, 0)).1 += 1;
        }
        let read = |(oldest, waiting): (MessageFileName, usize)| {
            let letter = self.read_message(&oldest).ok()??;
            Some(ReceiverBacklog { url: letter.url, waiting, since: letter.at })
        };
        let mut waiting: Vec<_> = receivers.into_values().filter_map(read).collect();
        waiting.sort_by(|one, other| one.url.cmp(&other.url));
        waiting
    }

    /// The letters that their receivers will never take.
    pub fn list_refused(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.refused_directory()).into_iter().flatten().flatten();
        let paths = entries.map(|entry| entry.path());
        let mut paths: Vec<_> = paths.filter(|path| MessageFileName::parse(path).is_some()).collect();
        paths.sort();
        paths
    }

    /// Puts the letters that were refused behind all others, in their order, to be tried once more; answers how many, and how
    /// many old ones had to go for them. Each moves in one step, so whoever is killed meanwhile loses and doubles nothing.
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
                Ok(put) => (moved, dropped) = (moved + 1, dropped + put.dropped),
                // Somebody else does the same.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok((moved, EnqueueResult { dropped }))
    }

    /// All letters, the oldest first, and none that was put there later than one that is missing.
    pub(super) fn list_in_order(&self) -> Vec<MessageFileName> {
        let Ok(order) = SequenceLock::acquire(&self.directory) else {
            return self.list_names();
        };
        let names = self.list_names();
        let known = order.read_tally();
        let counted = count_messages(&names, known.map_or(0, |tally| tally.last));
        if known != Some(counted) {
            let _ = order.write_tally(counted);
        }
        names
    }

    /// The number that was last handed out. It changes whenever a letter is put there.
    pub(super) fn last_number(&self) -> Option<u64> {
        OutboxTally::read_from_dir(&self.directory).map(|tally| tally.last)
    }

    fn list_names(&self) -> Vec<MessageFileName> {
        let entries = fs::read_dir(&self.directory).into_iter().flatten().flatten();
        let mut names = Vec::new();
        for path in entries.map(|entry| entry.path()) {
            match MessageFileName::parse(&path) {
                Some(name) => names.push(name),
                None => remove_if_abandoned(&path),
            }
        }
        names.sort();
        names
    }

    /// The letter of this name; nothing if it is gone, or cannot be understood and was put aside.
    pub(super) fn read_message(&self, name: &MessageFileName) -> io::Result<Option<OutboxMessage>> {
        let path = self.directory.join(name.to_string());
        let text = match read_file(&path, MAX_BYTES) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            // One that is no file must not hold up the others.
            Err(error) if is_file_kind_error(&error) || error.kind() == io::ErrorKind::FileTooLarge => {
                return self.move_to_unreadable(&path).map(|()| None);
            }
            text => text?,
        };
        match json::parse_stored_json(&text) {
            Ok(letter) => Ok(Some(letter)),
            Err(_) => self.move_to_unreadable(&path).map(|()| None),
        }
    }

    /// Puts what cannot be understood where somebody can look at it, and nobody else has to.
    fn move_to_unreadable(&self, path: &Path) -> io::Result<()> {
        let (Some(data), Some(name)) = (self.directory.parent(), path.file_name()) else {
            return Ok(());
        };
        let aside = PendingQueue::unreadable_dir(data);
        create_private_dir(&aside)?;
        fs::rename(path, aside.join(name))
    }

    /// Removes a letter that was delivered.
    pub(super) fn remove(&self, name: &MessageFileName) -> io::Result<()> {
        match fs::remove_file(self.directory.join(name.to_string())) {
            // Somebody had to make room.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }

    /// Puts a letter aside that its receiver will never take, with what it said.
    pub(super) fn move_to_refused(
        &self,
        name: &MessageFileName,
        letter: &OutboxMessage,
        answer: &str,
    ) -> io::Result<()> {
        let directory = self.refused_directory();
        create_private_dir(&directory)?;
        let mut kept = serde_json::to_value(letter)?;
        kept["answer"] = answer.into();
        let unfinished = self.new_part_path();
        write_new_file(&unfinished, kept.to_string().as_bytes())?;
        fs::rename(&unfinished, directory.join(name.to_string()))?;
        self.remove(name)?;
        let refused = self.list_refused();
        for old in refused.iter().take(refused.len().saturating_sub(MAX_REFUSED)) {
            let _ = fs::remove_file(old);
        }
        Ok(())
    }

    fn refused_directory(&self) -> PathBuf {
        self.directory.join("refused")
    }

    fn new_part_path(&self) -> PathBuf {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let (own, count) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        self.directory.join(format!("{own}-{count}.part"))
    }

    /// Makes the directory if it is not there, and sees that it is ours.
    fn ensure_directory(&self) -> io::Result<()> {
        if self.check_directory()? {
            return Ok(());
        }
        create_private_dir(&self.directory)
    }

    /// Whether there is an outbox. What lies in it is sent wherever it says, with the token that it names, so it must be ours
    /// alone.
    pub(super) fn check_directory(&self) -> io::Result<bool> {
        let metadata = match fs::metadata(&self.directory) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            metadata => metadata?,
        };
        if metadata.uid() != rustix::process::geteuid().as_raw() {
            let message = format!("{} belongs to somebody else", self.directory.display());
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
        }
        if metadata.mode() & 0o077 != 0 {
            fs::set_permissions(&self.directory, Permissions::from_mode(0o700))?;
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

/// What stands for a receiver in the names of its letters.
fn hash_receiver_url(url: &str) -> String {
    let digest = Sha256::digest(url.as_bytes());
    digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

fn create_private_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

fn write_new_file(path: &Path, text: &[u8]) -> io::Result<()> {
    let open = || OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let mut file = match open() {
        // A process of the same number was killed here, long ago.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            fs::remove_file(path)?;
            open()?
        }
        file => file?,
    };
    file.write_all(text)
}

/// Removes a letter that nobody will finish: its process was ended before it had put it there.
fn remove_if_abandoned(path: &Path) {
    if path.extension().is_none_or(|extension| extension != "part") {
        return;
    }
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let writer = name.split('-').next().and_then(|pid| pid.parse().ok());
    let lives = || {
        let writer = writer.and_then(Pid::from_raw);
        writer.is_some_and(|pid| test_kill_process(pid).is_ok())
    };
    let modified = fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
    let age = modified.and_then(|modified| SystemTime::now().duration_since(modified).ok());
    // A process may live where its number says nothing to us, in a container. A while is enough for anybody.
    let is_abandoned = |age: Duration| age > UNFINISHED_TIMEOUT || (age > DEAD_WRITER_TIMEOUT && !lives());
    if age.is_some_and(is_abandoned) {
        let _ = fs::remove_file(path);
    }
}
