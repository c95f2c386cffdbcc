//! Many agents, and many events: a page stays small and quick.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::driver::Browser;
use crate::live::look_at;
use crate::rush::{AN_HOUR, FOLLOWING, Held, rush};
use crate::server::Server;
use crate::tell_figure;

const AGENTS: usize = 200;

/// How long a view is told of an hour's events; the bench waits for all of them.
const RUSH: Duration = Duration::from_secs(15);

/// How many of them come before it is looked for the first time at what a page holds: lists are full then.
const FIRST: usize = 3000;

/// How much more it may hold at the end.
const MAX_MORE_BYTES: u64 = 3 * 1024 * 1024;

/// What a page may have in it at any time. How many rows a timeline has is not always the same, for it begins anew where more
/// has happened than a page shows; a full one has about 6000 nodes.
const MAX_NODES: u64 = 12_000;

/// How many events an open timeline sees, in two halves.
const EVENTS: usize = 3000;

/// What a page that keeps 500 rows may have in it.
const MAX_ROWS: u64 = 500;
const MAX_ELEMENTS: u64 = 12_000;

/// How much the second half of the events may add, if it is not to be a leak.
const MAX_GROWTH_BYTES: u64 = 15 * 1024 * 1024;

#[test]
fn two_hundred_agents_are_shown_and_stay_up_to_date() {
    let Some(browser) = Browser::open() else { return };
    let server = Server::start();
    let tell = |number: usize, route: &str, message: &str| {
        let cwd = format!("/srv/project-{}", number % 20);
        let fields = json!({"cwd": cwd, "prompt": message, "last_assistant_message": message});
        server.tell(&format!("session-{number}"), route, fields);
    };
    for number in 0..AGENTS {
        tell(number, "user-prompt-submit", "Begin");
    }
    look_at(&browser, &server, "/");
    assert_eq!(
        browser.number("document.querySelectorAll('.card').length"),
        AGENTS as u64
    );
    let watch = "window.longest = 0; let last = performance.now();
        const frame = (time) => { window.longest = Math.max(window.longest, time - last); last = time; requestAnimationFrame(frame); };
        requestAnimationFrame(frame);";
    browser.script(watch, &[]);
    for number in 0..AGENTS {
        tell(number, "stop", &format!("Done by {number}."));
    }
    browser.wait_for(&format!(
        "document.querySelectorAll('.card[data-state=idle]').length === {AGENTS}"
    ));
    browser
        .wait_for("[...document.querySelectorAll('.card')].every((card) => /Done by \\d+\\./.test(card.textContent))");
    browser.wait_for_text("#counts", &format!("{AGENTS} idle"));
    let longest = browser.number("window.longest");
    tell_figure(&format!(
        "{AGENTS} agents change at once: the page stood still for {longest} ms at most"
    ));
}

#[test]
fn an_open_timeline_stays_bounded_however_much_happens() {
    let Some(browser) = Browser::open() else { return };
    let server = Server::start();
    let agent = server.tell("s1", "session-start", json!({}));
    look_at(&browser, &server, &format!("/agents/{agent}"));
    let mut heaps = Vec::new();
    for half in 0..2 {
        for number in half * EVENTS / 2..(half + 1) * EVENTS / 2 {
            let text = format!("mark-{number}-");
            server.tell("s1", "stop", json!({"last_assistant_message": text}));
        }
        browser.wait_for_text("#timeline", &format!("mark-{}-", (half + 1) * EVENTS / 2 - 1));
        heaps.push(browser.heap_bytes());
    }
    let rows = browser.number("document.querySelectorAll('#timeline > li').length");
    let elements = browser.number("document.querySelectorAll('*').length");
    let kilobytes: Vec<_> = heaps.iter().map(|bytes| bytes / 1024).collect();
    tell_figure(&format!(
        "after {} and {EVENTS} events: heap {kilobytes:?} KiB, {rows} rows, {elements} elements",
        EVENTS / 2
    ));
    assert!(rows <= MAX_ROWS, "{rows} rows");
    assert!(elements <= MAX_ELEMENTS, "{elements} elements");
    assert!(heaps[1] <= heaps[0] + MAX_GROWTH_BYTES, "{heaps:?}");
    assert_eq!(
        browser.value("document.getElementById('older').hidden"),
        false,
        "older rows are found by paging"
    );
}

#[test]
fn a_page_that_is_open_for_long_holds_no_more_than_at_first() {
    let Some(browser) = Browser::open() else { return };
    for view in FOLLOWING {
        let server = Server::start();
        // Whoever is the first of them has the number 1.
        let begun = rush(&server, 0..1, None);
        look_at(&browser, &server, view);
        let reached = rush(&server, begun..FIRST, None);
        let first = Held::after(&browser, &server, reached);
        let reached = rush(&server, reached..AN_HOUR, Some(Instant::now() + RUSH));
        let last = Held::after(&browser, &server, reached);
        tell_figure(&format!(
            "{view} after {FIRST} events: {}; after {reached}: {}",
            first.told(),
            last.told()
        ));
        assert!(
            last.heap_bytes <= first.heap_bytes + MAX_MORE_BYTES,
            "{view}: {first:?} {last:?}"
        );
        assert!(last.nodes <= MAX_NODES, "{view}: {first:?} {last:?}");
        assert_eq!(browser.value("window.isSame"), true, "the page was not loaded again");
    }
}
