//! Compares shown states with expected ones.

use std::time::Duration;

use snell::Timestamp;

use crate::evidence::{self, StateEvidence, TimedStep};
use crate::player::{PlayMode, play_recording};
use crate::recording::{Recording, ShownState, TimedState};

/// A change that comes later than this after its evidence is late.
const IN_TIME: Duration = Duration::from_secs(1);

/// A played recording, and how well it went.
#[derive(Debug)]
pub struct ScoredRecording {
    pub agent: String,
    pub name: String,
    expected: Vec<ShownState>,
    shown: Vec<TimedState>,
    recorder: Vec<TimedState>,
    steps: Vec<TimedStep>,
    started_at: Timestamp,
    /// An expected state that the recording does not show.
    pub unshown: Option<ShownState>,
    pub in_order: bool,
    pub final_state: bool,
    waits_expected: usize,
    waits_seen: usize,
    pub waits_too_many: usize,
    delays: Vec<Duration>,
    wrong: Duration,
}

impl ScoredRecording {
    pub fn new(recording: &Recording, mode: PlayMode) -> Self {
        let mut expected = match mode {
            PlayMode::Hooks => recording.expected.clone(),
            PlayMode::TranscriptOnly => recording.expected_by_transcript.clone(),
        };
        let mut shown = play_recording(recording, mode);
        // Without a hook nothing shows that an agent was started.
        let is_start_known =
            mode == PlayMode::Hooks && recording.product.is_some_and(|one| one.fires_event("SessionStart"));
        if !is_start_known && expected.first() == Some(&ShownState::Ready) {
            expected.remove(0);
            if shown.first().is_some_and(|first| first.state == ShownState::Ready) {
                shown.remove(0);
            }
        }
        let steps = evidence::list_timed_steps(recording);
        let evidence = evidence::list_evidence(&steps, mode);
        let states: Vec<_> = shown.iter().map(|one| one.state).collect();
        let places = align(&expected, &states);
        let aligned = places.iter().flatten().count();
        let recorder: Vec<_> = recording.recorder.iter().map(|one| one.state).collect();
        let is_complete = recorder == recording.expected;
        let count_waits = |states: &[ShownState]| states.iter().filter(|state| **state == ShownState::Waiting).count();
        let waits_expected = count_waits(&expected);
        let has_flicker = has_unexplained_state(&shown, &places, &evidence);
        Self {
            agent: recording.agent.clone(),
            name: recording.name.clone(),
            // The agent is at its prompt before the first line.
            unshown: evidence::find_unshown(&expected[usize::from(is_start_known)..], &evidence),
            in_order: aligned == expected.len() && !(is_complete && has_flicker),
            final_state: states.last() == expected.last(),
            waits_expected,
            waits_seen: expected
                .iter()
                .zip(&places)
                .filter(|(state, place)| **state == ShownState::Waiting && place.is_some())
                .count(),
            waits_too_many: count_waits(&states).saturating_sub(waits_expected),
            delays: measure_delays(&shown, &places, &evidence),
            wrong: measure_wrong_time(&shown, recording),
            recorder: recording.recorder.clone(),
            started_at: recording.started_at,
            expected,
            shown,
            steps,
        }
    }

    pub fn is_right(&self) -> bool {
        self.in_order && self.final_state && self.waits_too_many == 0 && self.waits_seen == self.waits_expected
    }

    /// Everything about this recording, line by line.
    pub fn describe(&self) -> String {
        let since = |at: Timestamp| at.duration_since(self.started_at).as_secs_f64();
        let list = |states: &[TimedState]| {
            states
                .iter()
                .map(|one| format!("{} {:.2}", one.state.as_str(), since(one.at)))
                .collect::<Vec<_>>()
                .join(", ")
        };
        let expected: Vec<_> = self.expected.iter().map(|state| state.as_str()).collect();
        let mut text = format!(
            "{}\n  expected  {}\n  shown     {}\n  recorder  {}\n  wrong for {:.1} s\n  {}\n",
            self.name,
            expected.join(", "),
            list(&self.shown),
            list(&self.recorder),
            self.wrong.as_secs_f64(),
            if self.is_right() { "right" } else { "WRONG" }
        );
        for step in &self.steps {
            let words: String = format!("{:?}", step.step).chars().take(100).collect();
            text.push_str(&format!("    {:8.2} {words}\n", since(step.at)));
        }
        text
    }
}

/// For each expected state the place of the shown one: each after the one before it.
fn align(expected: &[ShownState], shown: &[ShownState]) -> Vec<Option<usize>> {
    let mut from = 0;
    let find = |state: &ShownState| {
        let place = shown[from..].iter().position(|one| one == state).map(|place| from + place);
        from = place.map_or(from, |place| place + 1);
        place
    };
    expected.iter().map(find).collect()
}

/// Whether a state is shown that is not expected, and that nothing in the recording explains.
fn has_unexplained_state(shown: &[TimedState], places: &[Option<usize>], evidence: &[StateEvidence]) -> bool {
    let is_expected = |place: usize| places.contains(&Some(place));
    (0..shown.len()).any(|place| !is_expected(place) && find_cause(shown, place, evidence).is_none())
}

/// The evidence of a shown state that came after the state before it. A turn that ends when the next one begins is no
/// reason to show an agent at its prompt.
fn find_cause<'a>(shown: &[TimedState], place: usize, evidence: &'a [StateEvidence]) -> Option<&'a StateEvidence> {
    let change = shown[place];
    let earliest = place.checked_sub(1).map(|before| shown[before].at);
    let is_over_at_once =
        |index: usize| evidence.get(index + 1).is_some_and(|next| next.at == evidence[index].at && index > 0);
    let is_cause = |(index, one): &(usize, &StateEvidence)| {
        one.states.contains(&change.state)
            && one.at <= change.at
            && earliest.is_none_or(|earliest| one.at >= earliest)
            && (change.state != ShownState::Ready || !is_over_at_once(*index))
    };
    evidence.iter().enumerate().find(is_cause).map(|(_, one)| one)
}

/// The time between the evidence of each aligned change and the change.
fn measure_delays(shown: &[TimedState], places: &[Option<usize>], evidence: &[StateEvidence]) -> Vec<Duration> {
    let measure = |place: &usize| {
        let cause = find_cause(shown, *place, evidence)?;
        Some(shown[*place].at.duration_since(cause.at).unsigned_abs())
    };
    places.iter().flatten().filter_map(measure).collect()
}

/// How long another state was shown than the recorder showed.
fn measure_wrong_time(shown: &[TimedState], recording: &Recording) -> Duration {
    let state_at = |states: &[TimedState], at: Timestamp| {
        states.iter().rev().find(|one| one.at <= at).map_or(ShownState::Ready, |one| one.state)
    };
    let mut times: Vec<_> = shown.iter().chain(&recording.recorder).map(|one| one.at).collect();
    times.retain(|at| *at < recording.ended_at);
    times.push(recording.ended_at);
    times.sort();
    let is_wrong = |pair: &&[Timestamp]| state_at(shown, pair[0]) != state_at(&recording.recorder, pair[0]);
    times.windows(2).filter(is_wrong).map(|pair| pair[1].duration_since(pair[0]).unsigned_abs()).sum()
}

/// The sum over recordings of one agent.
#[derive(Debug, Default)]
pub struct AgentScore;

impl AgentScore {
    pub fn format_table(mode: PlayMode, scored: &[ScoredRecording]) -> String {
        let mut agents: Vec<_> = scored.iter().map(|one| one.agent.as_str()).collect();
        agents.sort_unstable();
        agents.dedup();
        let mut text = format!(
            "{}\n{:14} {:>10} {:>8} {:>8} {:>10} {:>10} {:>9} {:>11}\n",
            mode.title(),
            "agent",
            "order",
            "final",
            "waiting",
            "false wait",
            "wrong s",
            "<= 1 s",
            "no evidence"
        );
        for agent in agents {
            let own: Vec<_> = scored.iter().filter(|one| one.agent == agent).collect();
            text.push_str(&Self::format_row(agent, &own));
        }
        text.push_str(&Self::format_row("all", &scored.iter().collect::<Vec<_>>()));
        for one in scored.iter().filter(|one| one.unshown.is_none() && !one.is_right()) {
            let states =
                |states: Vec<ShownState>| states.iter().map(|one| &one.as_str()[..2]).collect::<Vec<_>>().join(" ");
            let shown = states(one.shown.iter().map(|one| one.state).collect());
            text.push_str(&format!("  {}: expected {}; shown {shown}\n", one.name, states(one.expected.clone())));
        }
        for one in scored {
            if let Some(state) = one.unshown {
                text.push_str(&format!("  no evidence of {}: {}\n", state.as_str(), one.name));
            }
        }
        text
    }

    fn format_row(agent: &str, own: &[&ScoredRecording]) -> String {
        let evident: Vec<_> = own.iter().filter(|one| one.unshown.is_none()).collect();
        let count = |is: fn(&ScoredRecording) -> bool| evident.iter().filter(|one| is(one)).count();
        let sum = |of: fn(&ScoredRecording) -> usize| evident.iter().map(|one| of(one)).sum::<usize>();
        let false_waits: usize = own.iter().map(|one| one.waits_too_many).sum();
        let delays: Vec<_> = own.iter().flat_map(|one| &one.delays).collect();
        let in_time = delays.iter().filter(|delay| ***delay <= IN_TIME).count();
        let wrong: Duration = own.iter().map(|one| one.wrong).sum();
        let total = evident.len();
        format!(
            "{agent:14} {:>10} {:>8} {:>8} {:>10} {:>10.1} {:>9} {:>11}\n",
            format!("{}/{total}", count(|one| one.in_order)),
            format!("{}/{total}", count(|one| one.final_state)),
            format!("{}/{}", sum(|one| one.waits_seen), sum(|one| one.waits_expected)),
            false_waits,
            wrong.as_secs_f64(),
            format!("{in_time}/{}", delays.len()),
            own.len() - total,
        )
    }
}
