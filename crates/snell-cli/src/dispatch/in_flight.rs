//! Deliveries that are being made, each on a thread of its own.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use snell::Timestamp;
use snell_store::{ClaimedDelivery, DeliveryClaim, DeliveryResult, EventRecord, Result, Store};

use crate::guard::catch_panic;

/// How many deliveries are made at once.
const MAX_IN_FLIGHT: usize = 8;

/// A claim that is not renewed for this long expires, and another process delivers.
const LEASE: Duration = Duration::from_secs(12);
const RENEW_INTERVAL: Duration = Duration::from_secs(3);

/// The result of an attempt.
pub(super) struct AttemptReport {
    pub(super) result: DeliveryResult,
    /// The derived event and its hook runs, if the target is the hooks.
    pub(super) record: Option<EventRecord>,
}

impl From<DeliveryResult> for AttemptReport {
    fn from(result: DeliveryResult) -> Self {
        Self { result, record: None }
    }
}

/// A delivery that is being made.
#[derive(Debug)]
struct RunningDelivery {
    delivery_id: i64,
    agent_id: i64,
    renewed: Instant,
}

/// The deliveries that this process makes.
#[derive(Debug)]
pub(super) struct InFlightDeliveries {
    owner: String,
    running: Vec<RunningDelivery>,
    reports: Receiver<(i64, AttemptReport)>,
    sender: Sender<(i64, AttemptReport)>,
    /// Results that could not be stored yet.
    unstored: Vec<(i64, i64, AttemptReport)>,
    waker: Sender<()>,
}

impl std::fmt::Debug for AttemptReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.result.fmt(f)
    }
}

impl InFlightDeliveries {
    pub(super) fn new(waker: Sender<()>) -> Self {
        let (sender, reports) = channel();
        let owner = format!("{}-{:x}", std::process::id(), Timestamp::now().as_nanosecond());
        Self { owner, running: Vec::new(), reports, sender, unstored: Vec::new(), waker }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.running.is_empty() && self.unstored.is_empty()
    }

    pub(super) fn has_room(&self) -> bool {
        self.running.len() < MAX_IN_FLIGHT
    }

    /// The claim of this process, from now on.
    pub(super) fn new_claim(&self) -> DeliveryClaim {
        let until = Timestamp::now().checked_add(LEASE).unwrap_or(Timestamp::MAX);
        DeliveryClaim { owner: self.owner.clone(), until }
    }

    /// Makes a claimed delivery on another thread.
    pub(super) fn start(
        &mut self,
        claimed: ClaimedDelivery,
        work: impl FnOnce(&ClaimedDelivery) -> AttemptReport + Send + 'static,
    ) {
        let (delivery_id, agent_id) = (claimed.delivery_id, claimed.dispatch.agent_id);
        let (sender, waker) = (self.sender.clone(), self.waker.clone());
        let run = move || {
            let report = catch_panic::catch_panic(|| work(&claimed))
                .unwrap_or_else(|place| DeliveryResult::Failed(format!("Snell failed at {place}")).into());
            let _ = sender.send((delivery_id, report));
            let _ = waker.send(());
        };
        // Without a thread, the claim expires, and the delivery is made later.
        if std::thread::Builder::new().name("delivery".into()).spawn(run).is_ok() {
            self.running.push(RunningDelivery { delivery_id, agent_id, renewed: Instant::now() });
        }
    }

    /// Takes the results of deliveries that have ended.
    pub(super) fn collect_reports(&mut self) {
        while let Ok((delivery_id, report)) = self.reports.try_recv() {
            if let Some(index) = self.running.iter().position(|one| one.delivery_id == delivery_id) {
                let ended = self.running.swap_remove(index);
                self.unstored.push((delivery_id, ended.agent_id, report));
            }
        }
    }

    /// Stores results, and renews the claims of deliveries that take long.
    pub(super) fn store_reports(&mut self, store: &mut Store) -> Result<()> {
        while let Some((delivery_id, agent_id, report)) = self.unstored.last() {
            if let Some(record) = &report.record {
                store.record_derived_event(*agent_id, record.clone())?;
            }
            store.dispatches().finish_attempt(*delivery_id, &self.owner, &report.result)?;
            self.unstored.pop();
        }
        let claim = self.new_claim();
        for one in self.running.iter_mut().filter(|one| one.renewed.elapsed() > RENEW_INTERVAL) {
            store.dispatches().renew_claim(one.delivery_id, &claim)?;
            one.renewed = Instant::now();
        }
        Ok(())
    }
}
