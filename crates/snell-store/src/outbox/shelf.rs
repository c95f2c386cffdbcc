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
use snell::{Timestamp, is_not_regular, read_file};

use super::letter::Letter;
use super::order::{Order, Tally};
use crate::json;
use crate::notes::Notes;

/// More letters, or more bytes in all, are not kept: the oldest go first.
const MAX_LETTERS: usize = 10_000;
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// When there are too many, this part of what may be there goes at once: to look for the oldest takes time, and whoever
/// puts the next one there should not have to look again.
const ROOM_MADE: usize = 64;

/// So many letters that were refused are kept, for people to look at.
const MAX_REFUSED: usize = 1_000;

/// A letter that is not finished after so long will not be.
const UNFINISHED_FOR: Duration = Duration::from_secs(60);

/// After so long it is finished, or its process is in trouble.
const SURELY_FINISHED_AFTER: Duration = Duration::from_secs(5);

/// The letters of one directory.
#[derive(Clone, Debug)]
pub struct Outbox {
    pub(super) directory: PathBuf,
}

/// A letter was put there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Put {
    /// So many old ones had to go.
    pub dropped: usize,
}

/// What waits for one receiver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Waiting {
    /// The receiver's address.
    pub url: String,
    /// How many letters.
    pub waiting: usize,
    /// When the oldest of them happened.
    pub since: Timestamp,
}

/// The name of a letter's file says what is to be known without opening it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Name {
    number: u64,
    /// The process that wrote it, which tells letters apart whose writers did not hear of each other.
    writer: u32,
    bytes: u64,
    /// Its receiver.
    pub(super) receiver: String,
}

impl Outbox {
    /// The letters beside the database of this directory.
    pub fn beside(data_directory: &Path) -> Self {
        Self {
            directory: data_directory.join("outbox"),
        }
    }

    /// Puts a letter behind all others. It is there whole or not at all.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn put(&self, letter: &Letter) -> io::Result<Put> {
        self.make()?;
        let text = serde_json::to_string(letter)?;
        let unfinished = self.unfinished();
        let put = write_new(&unfinished, text.as_bytes())
            .and_then(|()| self.number(&unfinished, mark_of(&letter.url), text.len() as u64));
        if put.is_err() {
            let _ = fs::remove_file(&unfinished);
        }
        put
    }

    /// Gives a letter that is written its number, by which it counts from now on.
    fn number(&self, written: &Path, receiver: String, bytes: u64) -> io::Result<Put> {
        let order = Order::take(&self.directory)?;
        let mut tally = order.tally().unwrap_or_else(|| tally_of(&self.names(), 0));
        // The real clock, also where another one is set: an order of events is no matter of what they are told to be.
        let number = tally.next(Timestamp::now());
        let name = Name {
            number,
            writer: std::process::id(),
            bytes,
            receiver,
        };
        fs::rename(written, self.directory.join(name.to_string()))?;
        tally = Tally {
            last: number,
            letters: tally.letters + 1,
            bytes: tally.bytes + name.bytes,
        };
        let mut dropped = 0;
        if tally.letters > MAX_LETTERS || tally.bytes > MAX_BYTES {
            (tally, dropped) = self.make_room(number);
        }
        // Where this cannot be written, whoever comes next counts.
        let _ = order.write(tally);
        Ok(Put { dropped })
    }

    /// Removes the oldest letters if there are really too many.
    fn make_room(&self, last: u64) -> (Tally, usize) {
        let names = self.names();
        let mut tally = tally_of(&names, last);
        if tally.letters <= MAX_LETTERS && tally.bytes <= MAX_BYTES {
            return (tally, 0);
        }
        let (most, most_bytes) = (
            MAX_LETTERS - MAX_LETTERS / ROOM_MADE,
            MAX_BYTES - MAX_BYTES / ROOM_MADE as u64,
        );
        let mut dropped = 0;
        // The newest is what we are here for.
        for name in names.iter().take(names.len().saturating_sub(1)) {
            if tally.letters <= most && tally.bytes <= most_bytes {
                break;
            }
            let _ = fs::remove_file(self.directory.join(name.to_string()));
            tally.letters -= 1;
            tally.bytes -= name.bytes;
            dropped += 1;
        }
        (tally, dropped)
    }

    /// What waits for which receiver, without regard to anybody who may be delivering.
    pub fn waiting(&self) -> Vec<Waiting> {
        let mut receivers: BTreeMap<String, (Name, usize)> = BTreeMap::new();
        for name in self.names() {
            let receiver = receivers.entry(name.receiver.clone());
            receiver.or_insert((name, 0)).1 += 1;
        }
        let read = |(oldest, waiting): (Name, usize)| {
            let letter = self.read(&oldest).ok()??;
            Some(Waiting {
                url: letter.url,
                waiting,
                since: letter.at,
            })
        };
        let mut waiting: Vec<_> = receivers.into_values().filter_map(read).collect();
        waiting.sort_by(|one, other| one.url.cmp(&other.url));
        waiting
    }

    /// The letters that their receivers will never take.
    pub fn refused(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.refused_directory()).into_iter().flatten().flatten();
        let paths = entries.map(|entry| entry.path());
        let mut paths: Vec<_> = paths.filter(|path| Name::of(path).is_some()).collect();
        paths.sort();
        paths
    }

    /// Puts the letters that were refused behind all others, in their order, to be tried once more; answers how many, and how
    /// many old ones had to go for them. Each moves in one step, so whoever is killed meanwhile loses and doubles nothing.
    ///
    /// # Errors
    ///
    /// When they cannot be moved.
    pub fn put_back_refused(&self) -> io::Result<(usize, Put)> {
        let (mut moved, mut dropped) = (0, 0);
        if !self.is_there()? {
            return Ok((moved, Put { dropped }));
        }
        for path in self.refused() {
            let (Some(name), Ok(metadata)) = (Name::of(&path), fs::metadata(&path)) else {
                continue;
            };
            match self.number(&path, name.receiver, metadata.len()) {
                Ok(put) => (moved, dropped) = (moved + 1, dropped + put.dropped),
                // Somebody else does the same.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok((moved, Put { dropped }))
    }

    /// All letters, the oldest first, and none that was put there later than one that is missing.
    pub(super) fn in_order(&self) -> Vec<Name> {
        let Ok(order) = Order::take(&self.directory) else {
            return self.names();
        };
        let names = self.names();
        let known = order.tally();
        let counted = tally_of(&names, known.map_or(0, |tally| tally.last));
        if known != Some(counted) {
            let _ = order.write(counted);
        }
        names
    }

    /// The number that was last handed out. It changes whenever a letter is put there.
    pub(super) fn last_number(&self) -> Option<u64> {
        Tally::look(&self.directory).map(|tally| tally.last)
    }

    fn names(&self) -> Vec<Name> {
        let entries = fs::read_dir(&self.directory).into_iter().flatten().flatten();
        let mut names = Vec::new();
        for path in entries.map(|entry| entry.path()) {
            match Name::of(&path) {
                Some(name) => names.push(name),
                None => remove_if_abandoned(&path),
            }
        }
        names.sort();
        names
    }

    /// The letter of this name; nothing if it is gone, or cannot be understood and was put aside.
    pub(super) fn read(&self, name: &Name) -> io::Result<Option<Letter>> {
        let path = self.directory.join(name.to_string());
        let text = match read_file(&path, MAX_BYTES) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            // One that is no file must not hold up the others.
            Err(error) if is_not_regular(&error) || error.kind() == io::ErrorKind::FileTooLarge => {
                return self.put_aside(&path).map(|()| None);
            }
            text => text?,
        };
        match json::from_slice(&text) {
            Ok(letter) => Ok(Some(letter)),
            Err(_) => self.put_aside(&path).map(|()| None),
        }
    }

    /// Puts what cannot be understood where somebody can look at it, and nobody else has to.
    fn put_aside(&self, path: &Path) -> io::Result<()> {
        let (Some(data), Some(name)) = (self.directory.parent(), path.file_name()) else {
            return Ok(());
        };
        let aside = Notes::unreadable_beside(data);
        make_directory(&aside)?;
        fs::rename(path, aside.join(name))
    }

    /// Removes a letter that was delivered.
    pub(super) fn remove(&self, name: &Name) -> io::Result<()> {
        match fs::remove_file(self.directory.join(name.to_string())) {
            // Somebody had to make room.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }

    /// Puts a letter aside that its receiver will never take, with what it said.
    pub(super) fn refuse(&self, name: &Name, letter: &Letter, answer: &str) -> io::Result<()> {
        let directory = self.refused_directory();
        make_directory(&directory)?;
        let mut kept = serde_json::to_value(letter)?;
        kept["answer"] = answer.into();
        let unfinished = self.unfinished();
        write_new(&unfinished, kept.to_string().as_bytes())?;
        fs::rename(&unfinished, directory.join(name.to_string()))?;
        self.remove(name)?;
        let refused = self.refused();
        for old in refused.iter().take(refused.len().saturating_sub(MAX_REFUSED)) {
            let _ = fs::remove_file(old);
        }
        Ok(())
    }

    fn refused_directory(&self) -> PathBuf {
        self.directory.join("refused")
    }

    fn unfinished(&self) -> PathBuf {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let (own, count) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        self.directory.join(format!("{own}-{count}.part"))
    }

    /// Makes the directory if it is not there, and sees that it is ours.
    fn make(&self) -> io::Result<()> {
        if self.is_there()? {
            return Ok(());
        }
        make_directory(&self.directory)
    }

    /// Whether there is an outbox. What lies in it is sent wherever it says, with the token that it names, so it must be ours
    /// alone.
    pub(super) fn is_there(&self) -> io::Result<bool> {
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

impl Name {
    fn of(path: &Path) -> Option<Self> {
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

impl std::fmt::Display for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            number,
            writer,
            bytes,
            receiver,
        } = self;
        write!(f, "{number:020}-{writer}-{bytes}-{receiver}.json")
    }
}

fn tally_of(names: &[Name], last: u64) -> Tally {
    Tally {
        last: names.last().map_or(0, |name| name.number).max(last),
        letters: names.len(),
        bytes: names.iter().map(|name| name.bytes).sum(),
    }
}

/// What stands for a receiver in the names of its letters.
fn mark_of(url: &str) -> String {
    let digest = Sha256::digest(url.as_bytes());
    digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

fn make_directory(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

fn write_new(path: &Path, text: &[u8]) -> io::Result<()> {
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
    let is_abandoned = |age: Duration| age > UNFINISHED_FOR || (age > SURELY_FINISHED_AFTER && !lives());
    if age.is_some_and(is_abandoned) {
        let _ = fs::remove_file(path);
    }
}
