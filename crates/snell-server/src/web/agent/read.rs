//! A page of a timeline, from the store: the newest things before a place, bounded in what is shown and in what is read.

use snell::Timestamp;
use snell_store::{Result, Store, TimelineEvent, TimelineFilter, TurnFilter, TurnView};

use super::kind::Kinds;
use super::moment::{Moment, Place, merge, moments_of};

/// How many things a page shows, more or less: what hangs on one event stays together.
pub(super) const SHOWN: usize = 100;

/// How many events are read at a time.
const AT_ONCE: u32 = 100;

/// How many events are read for a page on which few of them are shown.
const MAX_READ: usize = 500;

/// A page of a timeline.
#[derive(Debug)]
pub(super) struct Page {
    /// The oldest first.
    pub(super) moments: Vec<Moment>,
    /// Where the page before it ends; nothing if there is none.
    pub(super) older: Option<Place>,
    /// Where this page begins.
    pub(super) before: Place,
}

impl Page {
    /// Reads the newest things before a place.
    pub(super) fn read(store: &mut Store, agent_id: i64, before: Place, kinds: &Kinds) -> Result<Self> {
        let (mut events, more_events) = if kinds.with_events() {
            read_events(store, agent_id, before.event, kinds)?
        } else {
            (Vec::new(), false)
        };
        // What was said before the oldest event belongs to the next page, unless that is the last one.
        let floor = events.last().filter(|_| more_events).map(|event| event.at);
        let (turns, more_turns) = if kinds.with_turns() {
            read_turns(store, agent_id, before.turn, floor, kinds)?
        } else {
            (Vec::new(), false)
        };
        let reached = |place: Option<i64>, last: Option<i64>| last.or(place);
        let mut is_cut = false;
        if let Some(oldest) = turns.last().filter(|_| more_turns && turns.len() >= SHOWN) {
            let kept = events.partition_point(|event| event.at >= oldest.timestamp);
            is_cut = kept < events.len();
            events.truncate(kept);
        }
        let place = Place {
            event: reached(before.event, events.last().map(|event| event.id)),
            turn: reached(before.turn, turns.last().map(|turn| turn.turn_id)),
        };
        events.reverse();
        let turns = turns.into_iter().rev().collect();
        Ok(Self {
            moments: merge(events, turns, kinds),
            older: (more_events || more_turns || is_cut).then_some(place),
            before,
        })
    }
}

/// Events, the newest first, until enough of them show something; and whether there are more.
fn read_events(
    store: &mut Store,
    agent_id: i64,
    mut before_id: Option<i64>,
    kinds: &Kinds,
) -> Result<(Vec<TimelineEvent>, bool)> {
    let (mut events, mut shown) = (Vec::new(), 0);
    loop {
        let found = store.timeline(&TimelineFilter {
            agent_id,
            before_id,
            guarded: kinds.with_nothing_but_the_guard(),
            limit: AT_ONCE,
            ..TimelineFilter::default()
        })?;
        let is_last = found.len() < AT_ONCE as usize;
        for (number, event) in found.iter().enumerate() {
            shown += moments_of(event.clone(), kinds).len();
            before_id = Some(event.id);
            events.push(event.clone());
            if shown >= SHOWN {
                return Ok((events, !is_last || number + 1 < found.len()));
            }
        }
        if is_last || events.len() >= MAX_READ {
            return Ok((events, !is_last));
        }
    }
}

/// Turns that were said no earlier than the floor, the newest first; and whether there are more, earlier ones counted.
fn read_turns(
    store: &mut Store,
    agent_id: i64,
    before_id: Option<i64>,
    floor: Option<Timestamp>,
    kinds: &Kinds,
) -> Result<(Vec<TurnView>, bool)> {
    // Where nothing but turns of one side is shown, twice as many have to be read.
    let most = if kinds.with_events() { SHOWN } else { 2 * SHOWN };
    let mut found = store.turns(&TurnFilter {
        agent_id,
        before_id,
        limit: u32::try_from(most + 1).unwrap_or(u32::MAX),
        ..TurnFilter::default()
    })?;
    let within = found
        .iter()
        .take(most)
        .take_while(|turn| floor.is_none_or(|floor| turn.timestamp >= floor))
        .count();
    let more = found.len() > within;
    found.truncate(within);
    Ok((found, more))
}
