//! Plays a recording: a store and files of its own, a clock that is moved, and the checks that `snell serve` makes.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::Value;
use snell::{AgentProduct, Timestamp};
use snell_store::{ChangeKind, EventRecord, FileFingerprint, ReconcileScope, Store, TranscriptDirectory};
use tempfile::TempDir;

use crate::evidence;
use crate::recording::{Recording, ShownState, TimedState};

/// How the states are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlayMode {
    Hooks,
    TranscriptOnly,
}

impl PlayMode {
    pub const ALL: [Self; 2] = [Self::Hooks, Self::TranscriptOnly];

    pub fn title(self) -> &'static str {
        match self {
            Self::Hooks => "with hooks",
            Self::TranscriptOnly => "transcripts only",
        }
    }

    /// Whether the recording can be played so: its agent has hooks, or keeps a file that Snell reads.
    pub fn is_possible(self, recording: &Recording) -> bool {
        let Some(product) = recording.product else {
            return false;
        };
        match self {
            Self::Hooks => true,
            Self::TranscriptOnly => product.transcript != snell::TranscriptFormat::Unsupported,
        }
    }
}

/// As `snell serve` does it.
const WATCH_INTERVAL: Duration = Duration::from_millis(250);
const SECOND_CHECK_DELAY: Duration = Duration::from_millis(500);
const POLL_ACTIVE: Duration = Duration::from_secs(60);
const POLL_SILENT: Duration = Duration::from_secs(2);
const DISCOVERY_INTERVAL: Duration = Duration::from_secs(1);

/// How long the play goes on after the last entry of the recording.
const TAIL: Duration = Duration::from_secs(5);

/// One thing that happens in a recording.
enum PlayAction {
    /// The transcript gets its bytes up to this one.
    Write(usize),
    Hook(Box<EventRecord>),
}

/// Plays the recording, and returns the states on the change feed. Two equal states never follow each other.
pub fn play_recording(recording: &Recording, mode: PlayMode) -> Vec<TimedState> {
    let mut player = Player::new(recording);
    let mut actions: Vec<_> = recording.growth.iter().map(|one| (one.at, PlayAction::Write(one.bytes))).collect();
    if mode == PlayMode::Hooks {
        let records = evidence::list_hook_records(recording, &player.transcript, &player.cwd());
        actions.extend(records.into_iter().map(|record| (record.at, PlayAction::Hook(Box::new(record)))));
    }
    // A line is written before its hook runs.
    actions.sort_by_key(|(at, action)| (*at, matches!(action, PlayAction::Hook(_))));
    let poll = if mode == PlayMode::Hooks { POLL_ACTIVE } else { POLL_SILENT };
    player.poll = poll;
    player.run(actions, recording.ended_at.checked_add(TAIL).unwrap());
    player.shown
}

struct Player<'a> {
    root: TempDir,
    store: Store,
    transcript: PathBuf,
    content: &'a [u8],
    written: usize,
    poll: Duration,
    last_poll: Option<Timestamp>,
    last_search: Option<Timestamp>,
    watched: HashMap<i64, (Vec<Option<FileFingerprint>>, Option<Timestamp>)>,
    last_change: i64,
    shown: Vec<TimedState>,
}

impl<'a> Player<'a> {
    fn new(recording: &'a Recording) -> Self {
        // Nothing has to survive a crash of the machine.
        let memory = Path::new("/dev/shm");
        let root = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap();
        fs::create_dir_all(root.path().join("project/.git")).unwrap();
        let transcript = root.path().join("home").join(&recording.transcript_path);
        fs::create_dir_all(transcript.parent().unwrap()).unwrap();
        let store = Store::open(&root.path().join("snell.db")).unwrap().store;
        Self {
            root,
            store,
            transcript,
            content: &recording.transcript,
            written: 0,
            poll: POLL_ACTIVE,
            last_poll: None,
            last_search: None,
            watched: HashMap::new(),
            last_change: 0,
            shown: Vec::new(),
        }
    }

    fn cwd(&self) -> PathBuf {
        self.root.path().join("project")
    }

    fn run(&mut self, actions: Vec<(Timestamp, PlayAction)>, end: Timestamp) {
        let mut actions = actions.into_iter().peekable();
        let Some(mut now) = actions.peek().map(|(at, _)| *at) else {
            return;
        };
        while now <= end {
            let tick = now.checked_add(WATCH_INTERVAL).unwrap();
            while let Some((at, action)) = actions.next_if(|(at, _)| *at <= tick) {
                self.apply(action, at);
                self.collect_changes(at);
            }
            now = tick;
            self.check(now);
            self.collect_changes(now);
        }
    }

    fn apply(&mut self, action: PlayAction, at: Timestamp) {
        match action {
            PlayAction::Write(bytes) => self.write_transcript(bytes, at),
            PlayAction::Hook(record) => {
                self.store.ingest(*record).unwrap();
            }
        }
    }

    /// Writes the transcript up to this byte, at a time of the moved clock.
    fn write_transcript(&mut self, bytes: usize, at: Timestamp) {
        let bytes = bytes.min(self.content.len());
        if bytes <= self.written {
            return;
        }
        let mut file = OpenOptions::new().create(true).append(true).open(&self.transcript).unwrap();
        file.write_all(&self.content[self.written..bytes]).unwrap();
        self.written = bytes;
        set_modified(&file, at);
    }

    /// What the receiver does every 250 ms: watched files at each tick, all agents and new sessions at the interval of the
    /// mode.
    fn check(&mut self, now: Timestamp) {
        let is_due =
            |last: Option<Timestamp>, wait| last.is_none_or(|last| now.duration_since(last).unsigned_abs() >= wait);
        if is_due(self.last_poll, self.poll) {
            self.last_poll = Some(now);
            self.store.reconcile_agents(ReconcileScope::All, now).unwrap();
        }
        if is_due(self.last_search, DISCOVERY_INTERVAL) {
            self.last_search = Some(now);
            self.discover(now);
        }
        for agent in self.find_changed(now) {
            self.store.reconcile_agents(ReconcileScope::Agent(agent), now).unwrap();
        }
    }

    fn discover(&mut self, now: Timestamp) {
        let locate = |product: &&'static AgentProduct| {
            let files = product.transcript_files?;
            let path = self.root.path().join("home").join(files.directory.default).join(files.below);
            Some(TranscriptDirectory { product, path })
        };
        let directories: Vec<_> = AgentProduct::all().iter().filter_map(locate).collect();
        self.store.discover_sessions(&directories, now).unwrap();
    }

    fn find_changed(&mut self, now: Timestamp) -> Vec<i64> {
        let mut before = std::mem::take(&mut self.watched);
        let mut changed = Vec::new();
        for target in self.store.list_watch_targets().unwrap() {
            let fingerprint = target.read_files();
            let known = before.remove(&target.agent_id);
            let is_same = known.as_ref().is_some_and(|(known, _)| *known == fingerprint);
            let again_at = known.and_then(|(_, again_at)| again_at);
            let is_due = again_at.is_some_and(|at| at <= now);
            let again_at = match (is_same, is_due) {
                (false, _) => Some(now.checked_add(SECOND_CHECK_DELAY).unwrap()),
                (true, true) => None,
                (true, false) => again_at,
            };
            if !is_same || is_due {
                changed.push(target.agent_id);
            }
            self.watched.insert(target.agent_id, (fingerprint, again_at));
        }
        changed
    }

    fn collect_changes(&mut self, now: Timestamp) {
        for change in self.store.list_changes_after(self.last_change, u32::MAX).unwrap() {
            self.last_change = change.id;
            if change.kind != ChangeKind::StateChanged {
                continue;
            }
            let data: Value = serde_json::from_str(&change.data).unwrap();
            let state = data["state"].as_str().and_then(ShownState::parse);
            if let Some(state) = state.filter(|state| self.shown.last().is_none_or(|last| last.state != *state)) {
                self.shown.push(TimedState { at: now, state });
            }
        }
    }
}

fn set_modified(file: &File, at: Timestamp) {
    file.set_modified(SystemTime::from(at)).unwrap();
}
