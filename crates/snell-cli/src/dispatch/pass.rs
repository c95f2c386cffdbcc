//! One pass of the dispatcher: store results, plan changes, start deliveries that are due.

use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant, SystemTime};

use jiff::tz::TimeZone;
use snell::{NoticeKind, NotifySettings, SnellSettings, Timestamp};
use snell_server::AnswerKey;
use snell_server::reconciler::tmux::TmuxServer;
use snell_store::requests::RequestFilter;
use snell_store::{ClaimedDelivery, DeliveryResult, DispatchView, Result, Store};

use super::derived_event::{self, HookReaction};
use super::in_flight::{AttemptReport, InFlightDeliveries};
use super::link::PageLink;
use super::notice::Notice;
use super::plan::{self, NoticeInterest, NoticeMoment, WantedSince};
use super::request_notice::RequestNotice;
use super::targets::{DeliveryFailure, DeliveryTarget, NoticeSender};
use super::waits;
use crate::env::ConfigArgs;
use crate::env::live_settings::LiveUserSettings;
use crate::env::read_clock_override;

/// How many changes are planned at a time.
const MAX_PLANNED: u32 = 200;

/// Changes that nothing reacts to are marked together, because each write makes the daemon read its rows again: as soon as there
/// are this many, or the first has waited for this time. A hook that is added or trusted later must not react to them.
const UNWANTED_BATCH: usize = 200;
const UNWANTED_INTERVAL: Duration = Duration::from_secs(5);

/// How often held notices are checked.
const HELD_INTERVAL: Duration = Duration::from_secs(30);

/// How long a connection to the database is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConnectionLifetime {
    /// Between passes.
    Kept,
    /// For one pass, and only if the database has changed. All connections of a process share its log, so that the daemon could
    /// not leave a log that was removed while another connection is open.
    OnePass,
}

/// The length of the database's log, and the time of its last write.
type LogState = Option<(u64, SystemTime)>;

/// The state between passes.
pub(super) struct DispatchPass {
    database: PathBuf,
    lifetime: ConnectionLifetime,
    store: Option<Store>,
    /// The state of the log before the last pass.
    last_log: LogState,
    /// The inode of the last opened database.
    last_inode: Option<u64>,
    /// Whether deliveries were open after the last pass.
    had_open: bool,
    link: PageLink,
    /// A fixed clock, for tests and replays.
    fixed_now: Option<Timestamp>,
    settings: LiveUserSettings,
    in_flight: InFlightDeliveries,
    /// The last change that was looked at, and how many before it wait to be marked.
    last_seen: i64,
    unwanted: usize,
    /// When the first of them was seen.
    unwanted_since: Option<Instant>,
    held_checked: Option<Instant>,
}

impl DispatchPass {
    pub(super) fn new(database: PathBuf, lifetime: ConnectionLifetime, link: PageLink, waker: Sender<()>) -> Self {
        Self {
            database,
            lifetime,
            store: None,
            last_log: None,
            last_inode: None,
            had_open: true,
            link,
            fixed_now: read_clock_override(),
            settings: LiveUserSettings::default(),
            in_flight: InFlightDeliveries::new(waker),
            last_seen: 0,
            unwanted: 0,
            unwanted_since: None,
            held_checked: None,
        }
    }

    /// Whether deliveries are being made, or their results are not stored.
    pub(super) fn is_delivering(&self) -> bool {
        !self.in_flight.is_empty()
    }

    /// One pass. Returns whether deliveries are open. If the database cannot be used now, the next pass tries again.
    pub(super) fn run(&mut self) -> bool {
        self.in_flight.collect_reports();
        if self.can_skip_pass() {
            return false;
        }
        self.had_open = match self.open_store() {
            Some(mut store) => {
                let done = self.run_with_store(&mut store);
                self.keep_store(store);
                done.unwrap_or(true)
            }
            None => false,
        };
        self.had_open || self.is_delivering()
    }

    /// Whether nothing has happened since the last pass, and nothing can be due.
    fn can_skip_pass(&mut self) -> bool {
        let mut log = self.database.as_os_str().to_owned();
        log.push("-wal");
        let metadata = std::fs::metadata(PathBuf::from(log)).ok();
        let state = metadata.and_then(|metadata| Some((metadata.len(), metadata.modified().ok()?)));
        let is_same = std::mem::replace(&mut self.last_log, state) == state;
        let is_idle = is_same && !self.had_open && !self.is_delivering() && !self.should_mark_unwanted();
        self.lifetime == ConnectionLifetime::OnePass && is_idle
    }

    fn should_mark_unwanted(&self) -> bool {
        let is_due = |since: Instant| since.elapsed() >= UNWANTED_INTERVAL;
        self.unwanted >= UNWANTED_BATCH || self.unwanted_since.is_some_and(is_due)
    }

    fn keep_store(&mut self, store: Store) {
        self.store = match self.lifetime {
            ConnectionLifetime::Kept => Some(store),
            ConnectionLifetime::OnePass => None,
        };
    }

    /// Stores the results of deliveries that have ended.
    pub(super) fn collect_results(&mut self) {
        self.in_flight.collect_reports();
        if let Some(mut store) = self.open_store() {
            let _ = self.in_flight.store_reports(&mut store);
            self.keep_store(store);
        }
    }

    /// Marks the changes that nothing reacts to, before the process ends.
    pub(super) fn finish(&mut self) {
        if let Some(mut store) = self.open_store() {
            let _ = self.mark_unwanted(&mut store);
        }
    }

    /// The database; none if there is none, because this is not the process that creates it.
    fn open_store(&mut self) -> Option<Store> {
        if let Some(store) = self.store.take().filter(Store::has_intact_files) {
            return Some(store);
        }
        // Another file may be in the place of a damaged one.
        let inode = std::fs::metadata(&self.database).ok().map(|metadata| metadata.ino());
        if std::mem::replace(&mut self.last_inode, inode) != inode {
            self.last_seen = 0;
            self.unwanted = 0;
            self.unwanted_since = None;
        }
        self.database.exists().then(|| Store::open(&self.database).ok()).flatten().map(|opened| opened.store)
    }

    fn run_with_store(&mut self, store: &mut Store) -> Result<bool> {
        self.in_flight.store_reports(store)?;
        let changes = store.dispatches().list_unplanned(self.last_seen, MAX_PLANNED)?;
        let settings = self.settings.load();
        // First, so that a process that is killed before it plans the changes leaves them to another one.
        waits::open_requests(store, &changes, &settings.answers)?;
        self.plan_changes(store, &changes, &settings.notify)?;
        let (mut open, mut next) = store.dispatches().summarize_open()?;
        if open > 0 && self.should_release_held(&settings.notify) {
            store.dispatches().release_held()?;
            (open, next) = store.dispatches().summarize_open()?;
        }
        while self.in_flight.has_room() && next.is_some_and(|next| next <= Timestamp::now()) {
            let claim = self.in_flight.new_claim();
            let Some(claimed) = store.dispatches().claim_due_delivery(&claim, Timestamp::now())? else {
                break;
            };
            let host = store.host().map(str::to_owned);
            let request = find_notice_request(store, &claimed.dispatch, &settings)?;
            self.start_delivery(claimed, &settings, host.as_deref(), request);
        }
        let has_answers = waits::deliver_answers(store)?;
        Ok(open > 0 || has_answers)
    }

    /// Since when the user's settings are as they are.
    fn read_settings_time(&self) -> WantedSince {
        let files = self.settings.list_files();
        files.iter().map(|file| derived_event::read_wanted_since(file)).max().unwrap_or(WantedSince::ALWAYS)
    }

    fn plan_changes(&mut self, store: &mut Store, changes: &[DispatchView], notify: &NotifySettings) -> Result<()> {
        let now = Timestamp::now();
        let mut plans = Vec::new();
        let notices = NoticeInterest { settings: notify, since: self.read_settings_time() };
        for change in changes {
            let hooks = derived_event::find_reaction(change).map(|reaction| reaction.since);
            let deliveries = plan::plan_deliveries(change, hooks, notices, now);
            if deliveries.is_empty() {
                self.unwanted += 1;
                self.unwanted_since.get_or_insert_with(Instant::now);
            } else {
                plans.push((change.dispatch_id, deliveries));
            }
        }
        if !plans.is_empty() {
            store.dispatches().plan_dispatches(&plans)?;
        }
        self.last_seen = changes.last().map_or(self.last_seen, |change| change.dispatch_id);
        if self.should_mark_unwanted() {
            self.mark_unwanted(store)?;
        }
        Ok(())
    }

    fn mark_unwanted(&mut self, store: &mut Store) -> Result<()> {
        if self.unwanted > 0 {
            store.dispatches().skip_unplanned(self.last_seen)?;
            self.unwanted = 0;
            self.unwanted_since = None;
        }
        Ok(())
    }

    /// Whether held notices may be due: at the first pass, and from time to time. During quiet hours they are held again.
    fn should_release_held(&mut self, notify: &NotifySettings) -> bool {
        if self.held_checked.is_some_and(|checked| checked.elapsed() < HELD_INTERVAL) {
            return false;
        }
        self.held_checked = Some(Instant::now());
        !is_quiet(notify, self.now())
    }

    fn now(&self) -> Timestamp {
        self.fixed_now.unwrap_or_else(Timestamp::now)
    }

    fn start_delivery(
        &mut self,
        claimed: ClaimedDelivery,
        settings: &SnellSettings,
        host: Option<&str>,
        request: Option<RequestNotice>,
    ) {
        let now = self.now();
        match DeliveryTarget::parse(&claimed.target) {
            Some(DeliveryTarget::Hooks) => {
                let reaction = derived_event::find_reaction(&claimed.dispatch);
                self.in_flight.start(claimed, move |_| match reaction {
                    None => DeliveryResult::Skipped("no hook reacts to it any more".into()).into(),
                    Some(HookReaction { engine, event, .. }) => match derived_event::fire_event(&engine, &event, now) {
                        Ok(record) => AttemptReport { result: DeliveryResult::Sent, record: Some(record) },
                        Err(why) => DeliveryResult::Failed(why).into(),
                    },
                });
            }
            Some(target) => {
                let notify = settings.notify.clone();
                let change = &claimed.dispatch;
                let link = self.link.format_url(change, settings);
                let is_here = change.host.is_none() || change.host.as_deref() == host;
                self.in_flight.start(claimed, move |claimed| {
                    let is_in_front = is_here && notify.skip_focused() && is_in_front(&claimed.dispatch);
                    let moment = NoticeMoment { is_quiet: is_quiet(&notify, now), is_in_front };
                    let notice = Notice::from_change(&claimed.dispatch, link).with_request(request);
                    send_notice(claimed, target, &notify, moment, &notice).into()
                });
            }
            // Another version of Snell planned it.
            None => self.in_flight.start(claimed, |_| DeliveryResult::Skipped("unknown target".into()).into()),
        }
    }
}

/// The request that a change is about. Its notice has buttons if the receiver has an address for other devices.
fn find_notice_request(
    store: &mut Store,
    change: &DispatchView,
    settings: &SnellSettings,
) -> Result<Option<RequestNotice>> {
    let Some(uid) = change.open_request.clone().filter(|_| change.kind == NoticeKind::Request) else {
        return Ok(None);
    };
    let request =
        store.list_requests(&RequestFilter { uid_prefix: Some(uid), limit: 1, ..RequestFilter::default() })?;
    let key = settings.answers.url.as_deref().and_then(|url| {
        // Without a key, the notice has only the link to the page.
        let key = AnswerKey::load_or_create(&ConfigArgs::new(None, None).data_dir()).ok()?;
        Some((url, key))
    });
    let signer = key.as_ref().map(|(url, key)| (*url, key));
    Ok(request.first().map(|request| RequestNotice::new(request, signer)))
}

/// Sends a notice, unless there is an obstacle.
fn send_notice(
    claimed: &ClaimedDelivery,
    target: DeliveryTarget,
    notify: &NotifySettings,
    moment: NoticeMoment,
    notice: &Notice,
) -> DeliveryResult {
    let change = &claimed.dispatch;
    if let Some(obstacle) = plan::find_obstacle(change, moment) {
        return obstacle;
    }
    if !target.is_configured(notify) {
        return DeliveryResult::Skipped("the target is not configured any more".into());
    }
    match NoticeSender::new(notify).send(target, notice) {
        Ok(()) => DeliveryResult::Sent,
        Err(DeliveryFailure::Permanent(why)) => DeliveryResult::Failed(why),
        Err(DeliveryFailure::Temporary(why)) => plan::plan_retry(change, claimed.attempts, why, Timestamp::now()),
    }
}

/// Whether these are quiet hours, in local time.
fn is_quiet(notify: &NotifySettings, now: Timestamp) -> bool {
    let local = now.to_zoned(TimeZone::system());
    let number = |value: i8| u8::try_from(value).unwrap_or(0);
    notify.quiet.is_some_and(|quiet| quiet.contains(number(local.hour()), number(local.minute())))
}

/// Whether the agent's tmux pane is in front. If that cannot be known, it is not.
fn is_in_front(change: &DispatchView) -> bool {
    let Some(pane) = change.tmux_pane.as_deref() else {
        return false;
    };
    let server = TmuxServer::new(change.tmux_server.clone());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.is_ok_and(|runtime| runtime.block_on(server.is_pane_in_front(pane)).unwrap_or(false))
}
