//! A recorded session: its transcript as it grew, the hooks that ran, and the states that people expect.
//!
//! A directory with `expected.jsonl` is a recording. `transcript.jsonl` and `events.jsonl` are beside it, or in each
//! directory below `recordings/`.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use snell::{AgentProduct, Timestamp};

/// A state as recordings name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShownState {
    Ready,
    Working,
    Waiting,
}

impl ShownState {
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "ready" | "idle" => Some(Self::Ready),
            "working" | "processing" => Some(Self::Working),
            "waiting" | "awaiting_input" => Some(Self::Waiting),
            _ => None,
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Working => "working",
            Self::Waiting => "waiting",
        }
    }
}

/// A state since a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimedState {
    pub at: Timestamp,
    pub state: ShownState,
}

/// The transcript has this many bytes since a time.
#[derive(Clone, Copy, Debug)]
pub struct FileGrowth {
    pub at: Timestamp,
    pub bytes: usize,
}

/// A hook that ran.
#[derive(Clone, Debug)]
pub struct RecordedHook {
    pub at: Timestamp,
    pub event: String,
    /// The payload; null if only the name was recorded.
    pub payload: Value,
}

/// One session of an agent.
#[derive(Debug)]
pub struct Recording {
    pub name: String,
    pub agent: String,
    pub product: Option<&'static AgentProduct>,
    pub session_id: String,
    /// Where the transcript was, below the home directory.
    pub transcript_path: PathBuf,
    pub transcript: Vec<u8>,
    pub growth: Vec<FileGrowth>,
    pub hooks: Vec<RecordedHook>,
    /// Expected states, without repetitions.
    pub expected: Vec<ShownState>,
    /// The same for an agent without hooks: some states are not in its transcript.
    pub expected_by_transcript: Vec<ShownState>,
    /// The states that the recorder itself showed, without repetitions.
    pub recorder: Vec<TimedState>,
    pub started_at: Timestamp,
    pub ended_at: Timestamp,
}

impl Recording {
    /// Whether it has all hooks with their payloads, so that none must be derived.
    pub fn has_payloads(&self) -> bool {
        self.hooks.iter().any(|hook| hook.payload.is_object())
    }
}

/// Recordings of several sessions.
const SEVERAL_SESSIONS: &[&str] = &["1-2_", "1-5_", "4-1_", "4-2_"];

/// Directories whose names differ from the product's.
const PRODUCT_NAMES: &[(&str, &str)] =
    &[("claudecode", "claude"), ("gemini-cli", "gemini"), ("kiro-cli", "kiro"), ("mistral-vibe", "vibe")];

/// All recordings below a directory that expect more than `ready`.
pub fn load_recordings(directory: &Path) -> Vec<Recording> {
    let mut found = Vec::new();
    collect_recordings(directory, &mut found);
    found.sort_by(|a: &Recording, b| a.name.cmp(&b.name));
    found
}

fn collect_recordings(directory: &Path, found: &mut Vec<Recording>) {
    let children = || fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
    if !directory.join("expected.jsonl").is_file() {
        children().filter(|path| path.is_dir()).for_each(|path| collect_recordings(&path, found));
        return;
    }
    let phases = read_lines(&directory.join("expected.jsonl"));
    let expected = list_expected(&phases, |_| true);
    let is_counted = expected.iter().any(|state| *state != ShownState::Ready);
    let scenario = directory.file_name().unwrap().to_string_lossy().into_owned();
    if !is_counted || SEVERAL_SESSIONS.iter().any(|prefix| scenario.starts_with(prefix)) {
        return;
    }
    let below = fs::read_dir(directory.join("recordings")).into_iter().flatten().flatten().map(|entry| entry.path());
    let takes = if directory.join("transcript.jsonl").is_file() { vec![directory.to_owned()] } else { below.collect() };
    found.extend(takes.iter().filter_map(|take| load_recording(directory, take, &phases)));
}

fn list_expected(phases: &[Value], counts: impl Fn(&Value) -> bool) -> Vec<ShownState> {
    let phases = phases.iter().filter(|phase| counts(phase));
    let mut states: Vec<_> = phases.filter_map(|phase| ShownState::parse(phase["expected_state"].as_str()?)).collect();
    states.dedup();
    states
}

fn load_recording(scenario: &Path, take: &Path, phases: &[Value]) -> Option<Recording> {
    let transcript = fs::read(take.join("transcript.jsonl")).ok()?;
    let events = read_lines(&take.join("events.jsonl"));
    let agent = scenario.ancestors().skip(1).find_map(|parent| match parent.file_name()?.to_str()? {
        "scenarios" => None,
        name => Some(name.to_owned()),
    })?;
    let session = find_main_session(&events)?;
    let is_own = |event: &&Value| event["session_id"] == session["session_id"];
    let path = session["transcript_path"].as_str().unwrap_or_default();
    let product_name =
        PRODUCT_NAMES.iter().find(|(directory, _)| *directory == agent).map_or(&*agent, |(_, name)| name);
    let product = AgentProduct::find_by_name(product_name);
    let mut growth: Vec<_> = events.iter().filter(is_own).filter_map(parse_growth).collect();
    if growth.is_empty() {
        growth = time_lines(&transcript);
    }
    let length = growth.iter().map(|one| one.bytes).max()?.min(transcript.len());
    let mut recorder: Vec<_> = events.iter().filter(is_own).filter_map(parse_recorder_state).collect();
    recorder.dedup_by_key(|one| one.state);
    let times: Vec<_> = events.iter().filter_map(parse_time).collect();
    let scenario_name = scenario.file_name()?.to_str()?;
    let take_name = take.strip_prefix(scenario).ok()?.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    Some(Recording {
        name: format!("{agent}/{scenario_name}/{take_name}").trim_end_matches('/').to_owned(),
        product,
        session_id: find_session_id(&transcript).or_else(|| Some(session["session_id"].as_str()?.to_owned()))?,
        transcript_path: place_transcript(product, path),
        transcript: transcript[..length].to_vec(),
        hooks: events.iter().filter_map(parse_hook).collect(),
        expected: list_expected(phases, |phase| phase["transcript_only"] != true),
        expected_by_transcript: list_expected(phases, |phase| phase["hooks_only"] != true),
        recorder,
        started_at: times.iter().min().copied()?,
        ended_at: times.iter().max().copied()?,
        growth,
        agent,
    })
}

/// The transcript's path below a home directory that has no other settings.
fn place_transcript(product: Option<&'static AgentProduct>, recorded: &str) -> PathBuf {
    let file_name = || PathBuf::from(Path::new(recorded).file_name().unwrap_or("transcript.jsonl".as_ref()));
    let Some(files) = product.and_then(|product| product.transcript_files) else {
        return file_name();
    };
    let below = format!("/{}/", files.below);
    let rest = recorded.find(&below).map_or_else(file_name, |place| PathBuf::from(&recorded[place + below.len()..]));
    Path::new(files.directory.default).join(files.below).join(rest)
}

/// The first session with a transcript that is not a sub-agent's.
fn find_main_session(events: &[Value]) -> Option<&Value> {
    events.iter().find(|event| {
        let id = event["session_id"].as_str().unwrap_or_default();
        event["kind"] == "transcript_new" && !id.starts_with("proc-") && !id.starts_with("agent-")
    })
}

/// The session's id in the first line of its transcript, if it is there.
fn find_session_id(transcript: &[u8]) -> Option<String> {
    let first = transcript.split(|byte| *byte == b'\n').next()?;
    let line: Value = serde_json::from_slice(first).ok()?;
    let places = match line["type"].as_str() {
        Some("session_meta") => "/payload/id",
        Some("session") => "/id",
        Some("session.start") => "/data/sessionId",
        _ => "/sessionId",
    };
    line.pointer(places)?.as_str().map(str::to_owned)
}

fn read_lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn parse_time(event: &Value) -> Option<Timestamp> {
    event["ts"].as_str()?.parse().ok()
}

fn parse_growth(event: &Value) -> Option<FileGrowth> {
    let is_growth = event["kind"].as_str()?.starts_with("transcript_");
    let bytes = usize::try_from(event["file_size"].as_u64()?).ok()?;
    is_growth.then_some(FileGrowth { at: parse_time(event)?, bytes })
}

fn parse_recorder_state(event: &Value) -> Option<TimedState> {
    let state = ShownState::parse(event["new_state"].as_str()?)?;
    (event["kind"] == "state_transition").then_some(TimedState { at: parse_time(event)?, state })
}

fn parse_hook(event: &Value) -> Option<RecordedHook> {
    let name = event["hook_name"].as_str()?.to_owned();
    Some(RecordedHook { at: parse_time(event)?, event: name, payload: event["payload"].clone() })
}

/// When a transcript without sizes grew, by the times of its lines.
fn time_lines(transcript: &[u8]) -> Vec<FileGrowth> {
    let mut bytes = 0;
    let mut growth = Vec::new();
    for line in transcript.split_inclusive(|byte| *byte == b'\n') {
        bytes += line.len();
        let time = serde_json::from_slice::<Value>(line).ok().and_then(|line| line["_ts"].as_i64());
        if let Some(at) = time.and_then(|ms| Timestamp::from_millisecond(ms).ok()) {
            growth.push(FileGrowth { at, bytes });
        }
    }
    growth
}
