//! A page that nobody looks at, and a machine that slept.

use serde_json::json;

use crate::driver::Browser;
use crate::live::look_at;
use crate::server::Server;
use crate::story::Agent;
use crate::support::wait_until;

#[test]
fn a_page_that_is_out_of_sight_says_that_it_rests_and_is_live_when_looked_at() {
    let Some(browser) = Browser::open() else { return };
    let server = Server::start();
    Agent::of(&server, "s1", "blog").rests("Before.");
    look_at(&browser, &server, "/");
    browser.look_away();
    browser.wait_for("document.getElementById('connection').textContent === 'resting while out of sight'");
    Agent::of(&server, "s1", "blog").asks("Meanwhile?");
    // How many wait is followed all the same; the rest is as it was.
    browser.wait_for_waiting(1);
    assert_eq!(
        browser.value("document.getElementById('agent-1').dataset.state"),
        "idle",
        "nothing is fetched that nobody sees"
    );
    assert_eq!(
        browser.value("document.getElementById('connection').dataset.connection"),
        "resting"
    );
    browser.look_back();
    browser.wait_for_text(".card", "needs you");
    browser.wait_for("document.getElementById('connection').textContent === 'live'");
    assert_eq!(browser.value("window.isSame"), true, "the page was not loaded again");
}

/// Browsers have workers that pages share, or they have none.
const WITHOUT_WORKERS: &str = "delete window.SharedWorker";

/// How often anybody has begun to listen.
fn streams(server: &Server) -> u64 {
    server.counts("snell_http_requests_total{route=\"/api/events/stream\"")
}

#[test]
fn a_page_that_slept_says_so_and_is_up_to_date_again() {
    for preparation in ["", WITHOUT_WORKERS] {
        let Some(browser) = Browser::open() else { return };
        let server = Server::start();
        server.tell("s1", "session-start", json!({}));
        browser.prepare(preparation);
        look_at(&browser, &server, "/");
        assert_eq!(streams(&server), 1, "{preparation}");
        // A sleep is seen by nothing but the clock, which is later than it should be.
        browser.script("const now = Date.now; Date.now = () => now() + 90_000", &[]);
        browser.wait_for("/^live again after (89|9\\d) s$/.test(document.getElementById('connection').textContent)");
        assert_eq!(
            streams(&server),
            2,
            "the old connection may be dead without knowing it; {preparation}"
        );
        server.tell("s1", "user-prompt-submit", json!({"prompt": "Good morning"}));
        browser.wait_for_text(".card", "Good morning");
        browser.wait_for("document.getElementById('connection').textContent === 'live'");
        assert_eq!(browser.value("window.isSame"), true, "the page was not loaded again");
    }
}

#[test]
fn a_page_with_a_stream_of_its_own_lets_go_of_it_while_out_of_sight() {
    let Some(browser) = Browser::open() else { return };
    let server = Server::start();
    browser.prepare(WITHOUT_WORKERS);
    look_at(&browser, &server, "/");
    browser.look_away();
    wait_until(|| (server.counts("snell_stream_clients ") == 0).then_some(()));
    browser.look_back();
    Agent::of(&server, "s1", "blog").asks("Are you back?");
    browser.wait_for_text("#needs", "Are you back?");
    browser.wait_for("document.getElementById('connection').textContent === 'live'");
    assert_eq!(server.counts("snell_stream_clients "), 1);
}

#[test]
fn the_icon_shows_whether_somebody_waits() {
    let Some(browser) = Browser::open() else { return };
    let server = Server::start();
    look_at(&browser, &server, "/");
    let icon = "document.querySelector('link[rel=icon]').href";
    assert!(browser.text(icon).ends_with("/icon.svg"));
    Agent::of(&server, "s1", "blog").asks("May I?");
    browser.wait_for(&format!("{icon}.endsWith('/icon-waiting.svg')"));
    look_at(&browser, &server, "/hooks");
    assert!(
        browser.text(icon).ends_with("/icon-waiting.svg"),
        "it is so from the beginning"
    );
    Agent::of(&server, "s1", "blog").is_answered("Yes.");
    browser.wait_for(&format!("{icon}.endsWith('/icon.svg')"));
}
