//! Plays recorded sessions into a real store with a moved clock, and compares the states on the change feed with the
//! expected ones.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on must fail")]
#![allow(clippy::print_stdout, reason = "the score is for the terminal")]
#![allow(missing_docs, unreachable_pub, reason = "tests are named as sentences")]

mod evidence;
mod player;
mod recording;
mod score;
mod session_steps;

use std::path::{Path, PathBuf};

use player::PlayMode;
use recording::Recording;
use score::{AgentScore, ScoredRecording};

/// The directories to play, separated by colons.
const DIRS_VARIABLE: &str = "SNELL_STATES_DIRS";

/// A part of a recording's path: its states are printed one by one.
const DETAIL_VARIABLE: &str = "SNELL_STATES_DETAIL";

#[test]
#[ignore = "cargo xtask states runs it"]
fn the_score_of_recordings_is_printed() {
    let dirs = std::env::var(DIRS_VARIABLE).unwrap_or_default();
    let dirs: Vec<_> = dirs.split(':').filter(|dir| !dir.is_empty()).map(PathBuf::from).collect();
    let detail = std::env::var(DETAIL_VARIABLE).ok();
    let mut recordings: Vec<_> = dirs.iter().flat_map(|dir| recording::load_recordings(dir)).collect();
    assert!(!recordings.is_empty(), "there are no recordings in {dirs:?}");
    if let Some(part) = &detail {
        recordings.retain(|one| one.name.contains(part.as_str()));
    }
    for mode in PlayMode::ALL {
        let scored = play_all(&recordings, mode);
        match &detail {
            Some(_) => scored.iter().for_each(|one| println!("{}", one.describe())),
            None => println!("{}", AgentScore::format_table(mode, &scored)),
        }
    }
}

#[test]
fn sessions_of_real_agents_are_shown_as_people_expect() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/recordings");
    let recordings = recording::load_recordings(&directory);
    assert!(recordings.len() > 20, "{} recordings", recordings.len());
    for mode in PlayMode::ALL {
        let wrong: Vec<_> = play_all(&recordings, mode).into_iter().filter(|one| !one.is_right()).collect();
        let described: Vec<_> = wrong.iter().map(ScoredRecording::describe).collect();
        assert!(wrong.is_empty(), "{}:\n{}", mode.title(), described.join("\n"));
    }
}

fn play_all(recordings: &[Recording], mode: PlayMode) -> Vec<ScoredRecording> {
    let played: Vec<_> = recordings.iter().filter(|one| mode.is_possible(one)).collect();
    let half = played.len().div_ceil(2).max(1);
    std::thread::scope(|scope| {
        let score = |part: &[&Recording]| part.iter().map(|one| ScoredRecording::new(one, mode)).collect::<Vec<_>>();
        let threads: Vec<_> = played.chunks(half).map(|part| scope.spawn(move || score(part))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    })
}
