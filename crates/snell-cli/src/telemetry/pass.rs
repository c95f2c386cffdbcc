//! One pass of the exporter: read new events, then send what waits.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use serde_json::Value;
use snell::{TelemetrySettings, TelemetrySignal, Timestamp};
use snell_store::{ProcessIdentity, Result, Store, TelemetryBatch, TelemetryClaim, TelemetryOutcome, TelemetryReply};

use super::client::{CollectorAnswer, REQUEST_TIMEOUT, post_telemetry};
use super::measurements::{MetricPeriod, build_metrics};
use super::open_spans::OpenSpans;
use super::request::{TelemetryOrigin, build_request};
use super::span_builder::SpanBuilder;
use crate::env::live_settings::LiveUserSettings;

/// How many events are read in one transaction.
const BATCH_EVENTS: u32 = 200;

/// How many such transactions come before the next request.
const MAX_BATCHES: usize = 5;

/// How many items of a signal wait. If there are more, the oldest are dropped and counted.
const MAX_WAITING: u32 = 20_000;

/// How much a request contains.
const MAX_REQUEST_ITEMS: u32 = 500;
const MAX_REQUEST_BYTES: usize = 2 * 1024 * 1024;

/// A claim lasts longer than a request. If its process ends, another one takes it over at once.
const LEASE: Duration = REQUEST_TIMEOUT.saturating_add(Duration::from_secs(4));

/// The pause after the first failure. It doubles each time.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(5 * 60);

/// The state between passes.
#[derive(Debug)]
pub(super) struct ExportPass {
    database: PathBuf,
    should_stop: Arc<AtomicBool>,
    settings: LiveUserSettings,
    /// The settings of the last pass.
    last_settings: Option<TelemetrySettings>,
    /// The length of the database's log before the last pass, and the time of its last write.
    last_log: Option<(u64, SystemTime)>,
    /// When there is something to do although the database has not changed.
    due: Option<Instant>,
    /// Requests that failed since the last success, and how many items fit into one, by signal.
    failures: HashMap<TelemetrySignal, u32>,
    request_items: HashMap<TelemetrySignal, u32>,
    /// The number of items that were dropped, as of the last pass.
    last_dropped: Option<i64>,
    /// The name of this process in claims.
    owner: String,
}

/// A request, and the items in it.
struct PreparedRequest {
    body: String,
    items: Vec<i64>,
}

impl ExportPass {
    pub(super) fn new(database: PathBuf, should_stop: Arc<AtomicBool>) -> Self {
        Self {
            database,
            should_stop,
            settings: LiveUserSettings::default(),
            last_settings: None,
            last_log: None,
            due: None,
            failures: HashMap::new(),
            request_items: HashMap::new(),
            last_dropped: None,
            owner: name_this_process(),
        }
    }

    /// One pass. If the database cannot be used now, the next pass tries again.
    pub(super) fn run(&mut self) {
        let is_due = self.due.is_some_and(|due| due <= Instant::now()) || self.should_stop.load(Ordering::Relaxed);
        if !self.has_database_changed() && !is_due {
            return;
        }
        let settings = self.settings.load().telemetry;
        self.due = None;
        if settings.endpoint.is_none() || !self.database.exists() {
            return;
        }
        if self.export(&settings).is_err() {
            self.wake_within(FIRST_PAUSE);
        }
    }

    fn has_database_changed(&mut self) -> bool {
        let mut log = self.database.as_os_str().to_owned();
        log.push("-wal");
        let metadata = std::fs::metadata(PathBuf::from(log)).ok();
        let state = metadata.and_then(|metadata| Some((metadata.len(), metadata.modified().ok()?)));
        std::mem::replace(&mut self.last_log, state) != state || self.last_settings.is_none()
    }

    /// Makes a pass within this time.
    fn wake_within(&mut self, pause: Duration) {
        let due = Instant::now() + pause;
        self.due = Some(self.due.map_or(due, |earlier| earlier.min(due)));
    }

    fn export(&mut self, settings: &TelemetrySettings) -> Result<()> {
        let mut store = Store::open(&self.database)?.store;
        let since = self.find_first_time(settings);
        store.telemetry().start_telemetry(since)?;
        // Other settings may work where the last ones failed.
        if self.last_settings.replace(settings.clone()).is_some_and(|last| last != *settings) {
            store.telemetry().retry_telemetry()?;
            self.failures.clear();
        }
        drop(store);
        // A long record is read in parts, so that its items are sent and not dropped. While the collector fails, the record
        // itself is the queue.
        while self.read_and_send(settings)? && self.failures.is_empty() && !self.should_stop.load(Ordering::Relaxed) {}
        Ok(())
    }

    /// Reads the next events, and sends what waits. Returns whether there are more events.
    fn read_and_send(&mut self, settings: &TelemetrySettings) -> Result<bool> {
        let mut store = Store::open(&self.database)?.store;
        let has_more = read_record(&mut store, settings)?;
        self.log_dropped_items(&mut store)?;
        drop(store);
        for signal in TelemetrySignal::ALL.iter().filter(|signal| settings.sends(**signal)) {
            while self.send_next_request(*signal, settings)? && !self.should_stop.load(Ordering::Relaxed) {}
        }
        Ok(has_more)
    }

    /// Warns about items that were dropped since the last pass, because too many waited.
    fn log_dropped_items(&mut self, store: &mut Store) -> Result<()> {
        let signals = store.telemetry().list_telemetry_signals()?;
        let dropped = signals.iter().map(|signal| signal.dropped).sum();
        let before = self.last_dropped.replace(dropped).unwrap_or(dropped);
        if dropped > before {
            tracing::warn!("telemetry: {} items were dropped, because too many waited", dropped - before);
        }
        Ok(())
    }

    /// The time of the first event to send: not before the endpoint was set, unless the user wants more.
    fn find_first_time(&self, settings: &TelemetrySettings) -> Timestamp {
        match settings.since {
            Some(since) => Timestamp::now().checked_sub(since).unwrap_or(Timestamp::UNIX_EPOCH),
            None => self.settings.read_last_write().unwrap_or_else(Timestamp::now),
        }
    }

    /// Sends the next request of a signal, if one is due. Returns whether there may be another one. No connection to the
    /// database is open meanwhile.
    fn send_next_request(&mut self, signal: TelemetrySignal, settings: &TelemetrySettings) -> Result<bool> {
        let mut store = Store::open(&self.database)?.store;
        let Some(request) = self.prepare_request(&mut store, signal, settings)? else {
            return Ok(false);
        };
        drop(store);
        let answer = post_telemetry(settings, signal, &request.body);
        let is_success = matches!(answer, CollectorAnswer::Accepted { .. } | CollectorAnswer::Refused(_));
        let reply = self.decide_reply(signal, settings, (answer, request.items.len()));
        let mut store = Store::open(&self.database)?.store;
        store.telemetry().finish_telemetry(signal.as_str(), &self.owner, &request.items, &reply)?;
        Ok(is_success && signal != TelemetrySignal::Metrics)
    }

    /// Claims a signal, and builds its next request; nothing if there is nothing to send, or it is not due.
    fn prepare_request(
        &mut self,
        store: &mut Store,
        signal: TelemetrySignal,
        settings: &TelemetrySettings,
    ) -> Result<Option<PreparedRequest>> {
        let is_queued = signal != TelemetrySignal::Metrics;
        if is_queued && store.telemetry().list_telemetry_items(signal.as_str(), 1)?.is_empty() {
            return Ok(None);
        }
        if !self.claim(store, signal)? {
            // Another process sends it, or it waits for its next attempt.
            self.wake_within(FIRST_PAUSE);
            return Ok(None);
        }
        let Some((progress, _)) = store.telemetry().find_telemetry_progress()? else {
            return Ok(None);
        };
        let (host, resource) = (store.host().map(str::to_owned), settings.resource.clone());
        let origin = TelemetryOrigin { host, instance: progress.instance, resource };
        if !is_queued {
            let period = MetricPeriod { began: progress.started_at, now: Timestamp::now() };
            let series = store.telemetry().list_telemetry_series()?;
            let metrics = build_metrics(&series, &store.telemetry().count_live_agents()?, period);
            let body = build_request(signal, &origin, metrics.into_iter().map(|metric| (None, metric)));
            return Ok(Some(PreparedRequest { body, items: Vec::new() }));
        }
        let most = self.request_items.get(&signal).copied().unwrap_or(MAX_REQUEST_ITEMS);
        let mut items = store.telemetry().list_telemetry_items(signal.as_str(), most)?;
        let sizes = items.iter().scan(0, |bytes, item| {
            *bytes += item.body.len();
            Some(*bytes)
        });
        let fitting = sizes.take_while(|bytes| *bytes <= MAX_REQUEST_BYTES).count();
        items.truncate(fitting.max(1));
        let numbers = items.iter().map(|item| item.item_id).collect();
        let parse = |body: &str| serde_json::from_str::<Value>(body).unwrap_or_default();
        let body = build_request(signal, &origin, items.into_iter().map(|item| (item.host, parse(&item.body))));
        Ok(Some(PreparedRequest { body, items: numbers }))
    }

    /// Claims a signal, also from a process of this host that has ended.
    fn claim(&self, store: &mut Store, signal: TelemetrySignal) -> Result<bool> {
        let now = Timestamp::now();
        let owner = store.telemetry().find_telemetry_owner(signal.as_str())?;
        let replaces = owner.as_deref().filter(|owner| has_process_ended(owner));
        let until = now.checked_add(LEASE).unwrap_or(Timestamp::MAX);
        store.telemetry().claim_telemetry(signal.as_str(), TelemetryClaim { owner: &self.owner, until, replaces }, now)
    }

    /// The result of an answer about so many items.
    fn decide_reply(
        &mut self,
        signal: TelemetrySignal,
        settings: &TelemetrySettings,
        (answer, items): (CollectorAnswer, usize),
    ) -> TelemetryReply {
        let is_metrics = signal == TelemetrySignal::Metrics;
        let next = if is_metrics { settings.interval() } else { Duration::ZERO };
        match answer {
            CollectorAnswer::Accepted { refused, problem } => {
                if self.failures.remove(&signal).is_some() {
                    tracing::info!("telemetry: the collector takes {} again", signal.as_str());
                }
                if refused > 0 {
                    tracing::warn!("telemetry: the collector refused {refused} of {items} {}", signal.as_str());
                }
                self.request_items.remove(&signal);
                self.wake_within(next);
                TelemetryReply::Accepted { refused, problem, due_at: from_now(next) }
            }
            CollectorAnswer::TooLarge if items > 1 => {
                let fewer = u32::try_from(items / 2).unwrap_or(1);
                self.request_items.insert(signal, fewer);
                self.wake_within(Duration::ZERO);
                TelemetryReply::Later("it answered with status 413".into(), Timestamp::now())
            }
            CollectorAnswer::TooLarge => self.give_up(next, "it answered with status 413".into()),
            CollectorAnswer::Refused(why) => {
                tracing::warn!("telemetry: the collector refused {items} {}: {why}", signal.as_str());
                self.give_up(next, why)
            }
            CollectorAnswer::Later(why, pause) => {
                let failures = self.failures.entry(signal).or_default();
                if *failures == 0 {
                    tracing::warn!("telemetry: cannot send {}: {why}; trying again", signal.as_str());
                }
                let own = FIRST_PAUSE.saturating_mul(2_u32.saturating_pow(*failures)).min(LONGEST_PAUSE);
                *failures += 1;
                let pause = pause.unwrap_or(own).max(FIRST_PAUSE);
                self.wake_within(pause);
                TelemetryReply::Later(why, from_now(pause))
            }
        }
    }

    fn give_up(&mut self, next: Duration, why: String) -> TelemetryReply {
        self.wake_within(next);
        TelemetryReply::Refused(why, from_now(next))
    }
}

fn from_now(pause: Duration) -> Timestamp {
    Timestamp::now().checked_add(pause).unwrap_or(Timestamp::MAX)
}

/// Reads the next events, and stores the result. Returns whether there may be more.
fn read_record(store: &mut Store, settings: &TelemetrySettings) -> Result<bool> {
    for _ in 0..MAX_BATCHES {
        let Some(batch) = store.telemetry().load_telemetry_batch(BATCH_EVENTS)? else {
            return Ok(false);
        };
        if batch.events.is_empty() && batch.sightings.is_empty() && batch.finished_runs.is_empty() {
            return Ok(false);
        }
        let outcome = read_batch(store, settings, &batch)?;
        // If another process was faster, the next batch begins where that one ended.
        store.telemetry().store_telemetry(&batch, &outcome, MAX_WAITING)?;
    }
    Ok(true)
}

fn read_batch(store: &mut Store, settings: &TelemetrySettings, batch: &TelemetryBatch) -> Result<TelemetryOutcome> {
    let mut builder = SpanBuilder::new(settings);
    let mut agents: BTreeMap<i64, OpenSpans> = BTreeMap::new();
    let mut sightings = batch.sightings.iter().peekable();
    let ids = batch.events.iter().map(|event| event.agent.agent_id);
    for agent_id in ids.chain(batch.sightings.iter().map(|sighting| sighting.agent.agent_id)) {
        if let Entry::Vacant(unknown) = agents.entry(agent_id) {
            let stored = store.telemetry().load_open_spans(agent_id)?;
            // Another version of Snell may have written it.
            let open = stored.and_then(|stored| serde_json::from_str(&stored).ok()).unwrap_or_default();
            unknown.insert(open);
        }
    }
    for event in &batch.events {
        while let Some(sighting) = sightings.next_if(|sighting| sighting.after_event < event.id) {
            builder.read_sighting(agents.entry(sighting.agent.agent_id).or_default(), sighting);
        }
        builder.read_event(agents.entry(event.agent.agent_id).or_default(), event);
    }
    for sighting in sightings {
        builder.read_sighting(agents.entry(sighting.agent.agent_id).or_default(), sighting);
    }
    batch.finished_runs.iter().for_each(|finished| builder.read_finished_run(finished));
    let mut outcome = builder.into_outcome();
    let to_text = |open: &OpenSpans| serde_json::to_string(open).ok();
    outcome.open_spans = agents.iter().map(|(agent_id, open)| (*agent_id, to_text(open))).collect();
    Ok(outcome)
}

/// A name for this process that no other one has.
fn name_this_process() -> String {
    let ProcessIdentity { pid, started } = ProcessIdentity::from_pid(std::process::id());
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    format!("{host} {pid} {} {:x}", started.unwrap_or(0), Timestamp::now().as_nanosecond())
}

/// Whether the process with this name ran on this host, and has ended.
fn has_process_ended(owner: &str) -> bool {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let mut words = owner.split(' ');
    let is_here = words.next() == Some(&host);
    let pid = words.next().and_then(|word| word.parse().ok());
    let started = words.next().and_then(|word| word.parse().ok());
    is_here && pid.is_some_and(|pid| ProcessIdentity { pid, started }.is_gone())
}
