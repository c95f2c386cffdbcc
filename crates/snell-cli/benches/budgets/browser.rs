//! What a person waits for in a browser: how soon each view is painted with a million events, how soon an event is seen, and
//! what an hour of events leaves in a tab.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::json;
use snell_store::Store;

use crate::driver::BrowserSession;
use crate::event_rush::{AN_HOUR, FOLLOWING, PageFootprint, send_event_rush};
use crate::measure::{TimeSamples, print_figure, to_millis};
use crate::server::BrowserTestServer;
use crate::support::CliSandbox;

const MANY: i64 = 1_000_000;

/// The same million as the one with which the server's time for each view is taken.
const FILL: &str = include_str!("../../../snell-server/tests/it/web/million.sql");

/// Every view. The numbers are those of an agent and of an event in the midst.
const VIEWS: &[&str] =
    &["/", "/?q=project+7", "/agents/7", "/logging", "/logging?q=number+9", "/logging/500000", "/hooks", "/guard"];

/// How often each view is opened.
const LOOKS: usize = 15;

/// How many events are timed on their way to a view.
const TIMED: usize = 60;

pub(crate) fn bench_browser() {
    let Some(browser) = BrowserSession::open() else {
        print_figure("the page", "no browser");
        return;
    };
    let sandbox = CliSandbox::new();
    fill_database(&sandbox.database());
    let server = BrowserTestServer::in_sandbox(sandbox, &[]);
    for view in VIEWS {
        measure_first_paint(&browser, &server, view);
    }
    for (number, view) in ["/", "/agents/7", "/logging"].into_iter().enumerate() {
        measure_event_latency(&browser, &server, view, number * TIMED);
    }
    drop(server);
    for view in FOLLOWING {
        measure_tab_growth(&browser, view);
    }
}

/// How long it takes from asking for a view until something of it is painted. Every look begins as a person's does: when the
/// page before has come to rest, so that what that one does is not counted with this one.
fn measure_first_paint(browser: &BrowserSession, server: &BrowserTestServer, view: &str) {
    let painted = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime";
    let times = (0..LOOKS).map(|_| {
        browser.open_url(&server.page_url(view));
        browser.wait_for(painted);
        let ms = browser.evaluate(painted).as_f64().unwrap();
        wait_until_idle(browser);
        Duration::from_secs_f64(ms / 1000.0)
    });
    let times = TimeSamples::new(times.collect());
    print_figure(
        &format!("  {view}, first paint, 1 000 000 events"),
        &format!(
            "p50 {:.0} ms, longest {:.0} ms; budget 100",
            to_millis(times.p50()),
            to_millis(times.percentile(1.0))
        ),
    );
}

/// Keeps when each mark was seen.
const WATCH: &str = "window.seenAt = {};
    new MutationObserver(() => {
        for (const found of document.body.textContent.matchAll(/mark-(\\d+)-/g)) window.seenAt[found[1]] ??= Date.now();
    }).observe(document.body, { childList: true, subtree: true, characterData: true });";

/// How long it takes from an event's being sent to its being seen. Marks are counted from `first`: what an earlier view was told
/// stands in the later ones too.
fn measure_event_latency(browser: &BrowserSession, server: &BrowserTestServer, view: &str, first: usize) {
    open_view(browser, server, view);
    browser.run_script(WATCH, &[]);
    let times = (0..TIMED).map(|number| {
        let mark = first + number;
        // Not in step with anything that the page does.
        std::thread::sleep(Duration::from_millis(100 + 7 * number as u64));
        let sent = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64() * 1000.0;
        server.send_event("session-7", "stop", json!({"last_assistant_message": format!("mark-{mark}-")}));
        browser.wait_for(&format!("window.seenAt[{mark}]"));
        let seen = browser.evaluate(&format!("window.seenAt[{mark}]")).as_f64().unwrap();
        // The page's clock has whole milliseconds.
        assert!(seen - sent > -1.0, "{view}: mark {mark} was seen before it was sent");
        Duration::from_secs_f64((seen - sent).max(0.0) / 1000.0)
    });
    let times = TimeSamples::new(times.collect());
    print_figure(
        &format!("  {view}, event sent to event seen"),
        &format!(
            "p50 {:.0} ms, p95 {:.0} ms; budget p95 100",
            to_millis(times.p50()),
            to_millis(times.percentile(0.95))
        ),
    );
}

/// What a tab holds after a tenth of an hour's events, and after all of them.
fn measure_tab_growth(browser: &BrowserSession, view: &str) {
    let server = BrowserTestServer::start();
    let begun = send_event_rush(&server, 0..1, None);
    open_view(browser, &server, view);
    let reached = send_event_rush(&server, begun..AN_HOUR / 10, None);
    let first = PageFootprint::measure_after(browser, &server, reached);
    let reached = send_event_rush(&server, reached..AN_HOUR, None);
    let last = PageFootprint::measure_after(browser, &server, reached);
    print_figure(
        &format!("  {view}, a tenth of an hour of 20 events/s, all of it"),
        &format!("{}; then {}", first.describe(), last.describe()),
    );
}

fn open_view(browser: &BrowserSession, server: &BrowserTestServer, view: &str) {
    browser.open_url(&server.page_url(view));
    wait_until_idle(browser);
}

/// Waits until the page is live and has nothing left to do.
fn wait_until_idle(browser: &BrowserSession) {
    browser.wait_for("document.getElementById('connection').dataset.connection === 'live'");
    browser.run_async_script("const [done] = arguments; requestIdleCallback(() => requestIdleCallback(() => done()))");
}

fn fill_database(database: &Path) {
    std::fs::create_dir_all(database.parent().unwrap()).unwrap();
    drop(Store::open(database).unwrap());
    let connection = rusqlite::Connection::open(database).unwrap();
    let since = UNIX_EPOCH.elapsed().unwrap().as_micros();
    let every = 30 * 24 * 3_600_000_000 / MANY;
    let fill = FILL
        .replace(":now", &since.to_string())
        .replace(":many", &MANY.to_string())
        .replace(":every", &every.to_string());
    let numbers = format!(
        "PRAGMA synchronous = off; CREATE TEMP TABLE numbers (value INTEGER PRIMARY KEY); BEGIN;
         WITH RECURSIVE up (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM up WHERE value < {MANY})
         INSERT INTO numbers SELECT value FROM up; {fill} COMMIT"
    );
    connection.execute_batch(&numbers).unwrap();
}
