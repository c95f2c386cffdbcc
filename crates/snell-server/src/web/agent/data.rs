//! Reads a page of a timeline: the newest items before a cursor, with limits for shown and read items.

use snell::Timestamp;
use snell_store::{
    Result, SightingFilter, SightingView, Store, TimelineAspect, TimelineEvent, TimelineFilter, TurnFilter, TurnView,
};

use super::item_kind::{TimelineItemKind, TimelineKindFilter};
use super::timeline_item::{TimelineCursor, TimelineItem, items_from_event, merge_timeline};

/// The approximate number of items per page: the items of one event stay together.
pub(super) const PAGE_ITEMS: usize = 100;

/// Events per read.
const EVENTS_PER_READ: u32 = 100;

/// The maximum number of events that are read for a page.
const MAX_EVENTS_READ: usize = 500;

/// The maximum number of events that are scanned for the chosen kinds.
pub(super) const MAX_EVENTS_SCANNED: u32 = 10_000;

/// A page of a timeline.
#[derive(Debug)]
pub(super) struct TimelinePage {
    /// The oldest first.
    pub(super) items: Vec<TimelineItem>,
    /// The cursor of the previous page, if there is one.
    pub(super) older: Option<TimelineCursor>,
    /// The cursor of this page.
    pub(super) before: TimelineCursor,
}

/// The number of the oldest event that was read, before which there is more, and its time.
type TimelinePageEdge = (i64, Timestamp);

impl TimelinePage {
    /// Reads the newest items before a cursor.
    pub(super) fn load(
        store: &mut Store,
        agent_id: i64,
        before: TimelineCursor,
        kinds: &TimelineKindFilter,
    ) -> Result<Self> {
        let (mut events, edge) = if kinds.includes_events() {
            read_events(store, agent_id, before.event, kinds)?
        } else {
            (Vec::new(), None)
        };
        // Earlier turns belong to the next page, unless there is none.
        let (mut turns, mut more_turns) = if kinds.includes_turns() {
            read_turns(store, agent_id, before.turn, edge.map(|(_, at)| at), kinds)?
        } else {
            (Vec::new(), false)
        };
        let mut reached = edge.map(|(id, _)| id);
        let mut is_cut = false;
        if let Some(oldest) = turns.last().filter(|_| more_turns && turns.len() >= PAGE_ITEMS) {
            let kept = events.partition_point(|event| event.at >= oldest.timestamp);
            is_cut = kept < events.len();
            events.truncate(kept);
            reached = reached.filter(|_| !is_cut);
        }
        let is_first = kinds.contains(TimelineItemKind::State) && edge.is_none() && !is_cut;
        let (mut first, mut more_first) = if is_first {
            let first_event = events.last().map(|event| event.id).or(before.event);
            read_early_sightings(store, agent_id, first_event, before.sighting)?
        } else {
            (Vec::new(), false)
        };
        if is_first {
            align_oldest((&mut first, &mut more_first), (&mut turns, &mut more_turns));
        }
        let oldest = |read: Option<i64>, before: Option<i64>| read.or(before);
        let place = TimelineCursor {
            event: reached.or_else(|| oldest(events.last().map(|event| event.id), before.event)),
            turn: oldest(turns.last().map(|turn| turn.turn_id), before.turn),
            sighting: oldest(first.last().map(|seen| seen.id), before.sighting),
        };
        events.reverse();
        first.reverse();
        let turns = turns.into_iter().rev().collect();
        Ok(Self {
            items: merge_timeline(first, events, turns, kinds),
            older: (edge.is_some() || more_turns || is_cut || more_first).then_some(place),
            before,
        })
    }
}

/// Events, newest first, until enough items are found or enough events are read; and the edge, if there are more.
fn read_events(
    store: &mut Store,
    agent_id: i64,
    mut before_id: Option<i64>,
    kinds: &TimelineKindFilter,
) -> Result<(Vec<TimelineEvent>, Option<TimelinePageEdge>)> {
    let with = kinds.required_aspects();
    let is_found_at_once = matches!(with.as_slice(), [] | [TimelineAspect::Verdict]);
    let floor =
        if is_found_at_once { None } else { store.find_earlier_event(agent_id, before_id, MAX_EVENTS_SCANNED)? };
    let (mut events, mut shown) = (Vec::new(), 0);
    loop {
        let found = store.query_timeline(&TimelineFilter {
            agent_id,
            before_id: before_id.or(Some(i64::MAX)),
            after_id: floor.map(|(id, _)| id),
            with: with.clone(),
            limit: EVENTS_PER_READ,
        })?;
        let is_last = found.len() < EVENTS_PER_READ as usize;
        let count = found.len();
        for (number, event) in found.into_iter().enumerate() {
            shown += items_from_event(event.clone(), kinds).len();
            before_id = Some(event.id);
            let edge = (event.id, event.at);
            events.push(event);
            let is_enough = shown >= PAGE_ITEMS || events.len() >= MAX_EVENTS_READ;
            let may_be_more = !is_last || number + 1 < count || floor.is_some();
            if is_enough && may_be_more {
                return Ok((events, Some(edge)));
            }
        }
        if is_last {
            return Ok((events, floor.map(|(id, at)| (id + 1, at))));
        }
    }
}

/// Sightings before the first event, newest first; and whether there are more.
fn read_early_sightings(
    store: &mut Store,
    agent_id: i64,
    first_event: Option<i64>,
    before_id: Option<i64>,
) -> Result<(Vec<SightingView>, bool)> {
    let mut found = store.list_sightings(&SightingFilter {
        agent_id,
        first_event,
        before_id,
        limit: u32::try_from(PAGE_ITEMS + 1).unwrap_or(u32::MAX),
    })?;
    let more = found.len() > PAGE_ITEMS;
    found.truncate(PAGE_ITEMS);
    Ok((found, more))
}

/// Makes sightings and turns reach back to the same time: if there is more of one, older items of the other belong to
/// the next page.
fn align_oldest(first: (&mut Vec<SightingView>, &mut bool), turns: (&mut Vec<TurnView>, &mut bool)) {
    let ((first, more_first), (turns, more_turns)) = (first, turns);
    let limits = [
        first.last().filter(|_| *more_first).map(|seen| seen.at),
        turns.last().filter(|_| *more_turns).map(|turn| turn.timestamp),
    ];
    let Some(begins) = limits.into_iter().flatten().max() else {
        return;
    };
    let (sightings_before, turns_before) = (first.len(), turns.len());
    first.retain(|seen| seen.at >= begins);
    turns.retain(|turn| turn.timestamp >= begins);
    *more_first |= first.len() < sightings_before;
    *more_turns |= turns.len() < turns_before;
}

/// Turns not older than `floor`, newest first; and whether there are more.
fn read_turns(
    store: &mut Store,
    agent_id: i64,
    before_id: Option<i64>,
    floor: Option<Timestamp>,
    kinds: &TimelineKindFilter,
) -> Result<(Vec<TurnView>, bool)> {
    let mut found = store.list_turns(&TurnFilter {
        agent_id,
        before_id,
        actor: kinds.turn_actor(),
        limit: u32::try_from(PAGE_ITEMS + 1).unwrap_or(u32::MAX),
        ..TurnFilter::default()
    })?;
    let within =
        found.iter().take(PAGE_ITEMS).take_while(|turn| floor.is_none_or(|floor| turn.timestamp >= floor)).count();
    let more = found.len() > within;
    found.truncate(within);
    Ok((found, more))
}
