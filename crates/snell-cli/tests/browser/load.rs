//! Many agents, and many events: a page stays small and quick.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::driver::BrowserSession;
use crate::event_rush::{AN_HOUR, FOLLOWING, PageFootprint, send_event_rush};
use crate::live::open_live_page;
use crate::report_measurement;
use crate::server::BrowserTestServer;

const AGENTS: usize = 200;

/// How long a view gets the events of an hour; the bench waits for all of them.
const RUSH: Duration = Duration::from_secs(15);

/// The number of events before the first measurement: lists are full then.
const FIRST: usize = 3000;

/// The allowed growth until the end.
const MAX_MORE_BYTES: u64 = 3 * 1024 * 1024;

/// The maximum number of nodes of a page. The number of rows of a timeline varies, because it starts again if more has
/// happened than a page shows; a full one has about 6000 nodes.
const MAX_NODES: u64 = 12_000;

/// The number of events of an open timeline, in two halves.
const EVENTS: usize = 3000;

/// The maximum number of nodes of a page with 500 rows.
const MAX_ROWS: u64 = 500;
const MAX_ELEMENTS: u64 = 12_000;

/// The growth that the second half of the events may cause without being a leak.
const MAX_GROWTH_BYTES: u64 = 15 * 1024 * 1024;

#[test]
fn two_hundred_agents_are_shown_and_stay_up_to_date() {
    let Some(browser) = BrowserSession::open() else { return };
    let server = BrowserTestServer::start();
    let tell = |number: usize, route: &str, message: &str| {
        let cwd = format!("/srv/project-{}", number % 20);
        let fields = json!({"cwd": cwd, "prompt": message, "last_assistant_message": message});
        server.send_event(&format!("session-{number}"), route, fields);
    };
    for number in 0..AGENTS {
        tell(number, "user-prompt-submit", "Begin");
    }
    open_live_page(&browser, &server, "/");
    assert_eq!(browser.evaluate_number("document.querySelectorAll('.card').length"), AGENTS as u64);
    let watch = "window.longest = 0; let last = performance.now();
        const frame = (time) => { window.longest = Math.max(window.longest, time - last); last = time; requestAnimationFrame(frame); };
        requestAnimationFrame(frame);";
    browser.run_script(watch, &[]);
    for number in 0..AGENTS {
        tell(number, "stop", &format!("Done by {number}."));
    }
    browser.wait_for(&format!("document.querySelectorAll('.card[data-state=idle]').length === {AGENTS}"));
    browser
        .wait_for("[...document.querySelectorAll('.card')].every((card) => /Done by \\d+\\./.test(card.textContent))");
    browser.wait_for_text("#counts", &format!("{AGENTS} idle"));
    let longest = browser.evaluate_number("window.longest");
    report_measurement(&format!("{AGENTS} agents change at once: the page stood still for {longest} ms at most"));
}

#[test]
fn an_open_timeline_stays_bounded() {
    let Some(browser) = BrowserSession::open() else { return };
    let server = BrowserTestServer::start();
    let agent = server.send_event("s1", "session-start", json!({}));
    open_live_page(&browser, &server, &format!("/agents/{agent}"));
    let mut heaps = Vec::new();
    for half in 0..2 {
        for number in half * EVENTS / 2..(half + 1) * EVENTS / 2 {
            let text = format!("mark-{number}-");
            server.send_event("s1", "stop", json!({"last_assistant_message": text}));
        }
        browser.wait_for_text("#timeline", &format!("mark-{}-", (half + 1) * EVENTS / 2 - 1));
        heaps.push(browser.measure_heap_bytes());
    }
    let rows = browser.evaluate_number("document.querySelectorAll('#timeline > li').length");
    let elements = browser.evaluate_number("document.querySelectorAll('*').length");
    let kilobytes: Vec<_> = heaps.iter().map(|bytes| bytes / 1024).collect();
    report_measurement(&format!(
        "after {} and {EVENTS} events: heap {kilobytes:?} KiB, {rows} rows, {elements} elements",
        EVENTS / 2
    ));
    assert!(rows <= MAX_ROWS, "{rows} rows");
    assert!(elements <= MAX_ELEMENTS, "{elements} elements");
    assert!(heaps[1] <= heaps[0] + MAX_GROWTH_BYTES, "{heaps:?}");
    assert_eq!(browser.evaluate("document.getElementById('older').hidden"), false, "older rows are found by paging");
}

#[test]
fn a_page_does_not_grow_over_time() {
    let Some(browser) = BrowserSession::open() else { return };
    for view in FOLLOWING {
        let server = BrowserTestServer::start();
        // The first agent has the number 1.
        let begun = send_event_rush(&server, 0..1, None);
        open_live_page(&browser, &server, view);
        let reached = send_event_rush(&server, begun..FIRST, None);
        let first = PageFootprint::measure_after(&browser, &server, reached);
        let reached = send_event_rush(&server, reached..AN_HOUR, Some(Instant::now() + RUSH));
        let last = PageFootprint::measure_after(&browser, &server, reached);
        report_measurement(&format!(
            "{view} after {FIRST} events: {}; after {reached}: {}",
            first.describe(),
            last.describe()
        ));
        assert!(last.heap_bytes <= first.heap_bytes + MAX_MORE_BYTES, "{view}: {first:?} {last:?}");
        assert!(last.nodes <= MAX_NODES, "{view}: {first:?} {last:?}");
        assert_eq!(browser.evaluate("window.isSame"), true, "the page was not loaded again");
    }
}
