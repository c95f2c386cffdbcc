//! Decides which deliveries a change needs, and whether a delivery that is due is still needed. Pure.

use std::time::Duration;

use snell::{NoticeKind, NotifySettings, Timestamp};
use snell_store::{DeliveryResult, DispatchView, PlannedDelivery};

use super::targets::DeliveryTarget;

/// Deliveries are given up after this time.
const MAX_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// The pause after the first failure. It doubles each time.
const FIRST_PAUSE: Duration = Duration::from_secs(5);
const LONGEST_PAUSE: Duration = Duration::from_secs(10 * 60);

/// Since when a file asks for changes: the time of its last write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct WantedSince(Timestamp);

impl WantedSince {
    pub(super) const ALWAYS: Self = Self(Timestamp::UNIX_EPOCH);

    /// The time of a file's last write. A time in the future comes from another clock and counts as no time.
    pub(super) fn from_last_write(written: Option<Timestamp>, now: Timestamp) -> Self {
        written.filter(|written| *written <= now).map_or(Self::ALWAYS, Self)
    }

    /// Whether the file is older than the change. Earlier changes happened before the user asked for them.
    fn includes(self, change: &DispatchView) -> bool {
        self.0 <= change.recorded_at
    }
}

/// The settings of notices, and since when they are as they are.
#[derive(Clone, Copy, Debug)]
pub(super) struct NoticeInterest<'a> {
    pub(super) settings: &'a NotifySettings,
    pub(super) since: WantedSince,
}

/// The deliveries of a change, by the real clock. `hooks` has a time if any hook reacts to it.
pub(super) fn plan_deliveries(
    change: &DispatchView,
    hooks: Option<WantedSince>,
    notices: NoticeInterest<'_>,
    now: Timestamp,
) -> Vec<PlannedDelivery> {
    let mut plan = Vec::new();
    // A wait that is still open is not old.
    let is_open_wait = change.kind == NoticeKind::NeedsUser && change.is_current();
    if age_of(change, now) > MAX_AGE && !is_open_wait {
        return plan;
    }
    if hooks.is_some_and(|since| since.includes(change)) {
        plan.push(PlannedDelivery { target: DeliveryTarget::Hooks.name(), due_at: now });
    }
    let notify = notices.settings;
    if !notify.wants(change.kind) || !notices.since.includes(change) || change.is_repetition {
        return plan;
    }
    let pause = match change.kind {
        NoticeKind::NeedsUser | NoticeKind::Idle => notify.after(),
        NoticeKind::Request | NoticeKind::Blocked | NoticeKind::Ended => Duration::ZERO,
    };
    let due_at = change.recorded_at.checked_add(pause).unwrap_or(now);
    let targets = DeliveryTarget::ALL.iter().filter(|target| target.is_configured(notify));
    plan.extend(targets.map(|target| PlannedDelivery { target: target.name(), due_at }));
    plan
}

/// The circumstances of a notice that is due.
#[derive(Clone, Copy, Debug)]
pub(super) struct NoticeMoment {
    /// Whether these are quiet hours.
    pub(super) is_quiet: bool,
    /// Whether the agent's terminal is in front, as far as known.
    pub(super) is_in_front: bool,
}

/// Why a notice that is due is not sent now; nothing if it is sent.
pub(super) fn find_obstacle(change: &DispatchView, moment: NoticeMoment) -> Option<DeliveryResult> {
    let skip = |why: &str| Some(DeliveryResult::Skipped(why.to_owned()));
    if !change.is_current() {
        let is_request = change.kind == NoticeKind::Request;
        return skip(if is_request { "the request is closed" } else { "the agent's state has changed" });
    }
    if change.kind == NoticeKind::NeedsUser && change.open_request.is_some() {
        return skip("its request has a notice of its own");
    }
    match (moment.is_quiet, change.kind) {
        (true, NoticeKind::NeedsUser) => return Some(DeliveryResult::Held),
        (true, NoticeKind::Request | NoticeKind::Idle | NoticeKind::Blocked | NoticeKind::Ended) => {
            return skip("quiet hours");
        }
        (false, _) => {}
    }
    if moment.is_in_front { skip("the agent's terminal is in front") } else { None }
}

/// The result of an attempt that failed for a reason that may go away.
pub(super) fn plan_retry(change: &DispatchView, attempts: u32, why: String, now: Timestamp) -> DeliveryResult {
    let pause = FIRST_PAUSE.saturating_mul(2_u32.saturating_pow(attempts)).min(LONGEST_PAUSE);
    match now.checked_add(pause) {
        Ok(next) if age_of(change, now) < MAX_AGE => DeliveryResult::Retry(why, next),
        _ => DeliveryResult::Failed(why),
    }
}

fn age_of(change: &DispatchView, now: Timestamp) -> Duration {
    Duration::try_from(now.duration_since(change.recorded_at)).unwrap_or_default()
}
