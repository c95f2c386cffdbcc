//! Hidden pages, and pages after the machine slept.

use serde_json::json;
use snell_test_support::wait::wait_until;

use crate::agent_story::StoryAgent;
use crate::driver::BrowserSession;
use crate::live::open_live_page;
use crate::server::BrowserTestServer;

#[test]
fn a_hidden_page_is_paused_and_becomes_live_when_visible() {
    let Some(browser) = BrowserSession::open() else { return };
    let server = BrowserTestServer::start();
    StoryAgent::new(&server, "s1", "blog").finish_turn("Before.");
    open_live_page(&browser, &server, "/");
    browser.hide_page();
    browser.wait_for("document.getElementById('connection').textContent === 'paused in a hidden tab'");
    StoryAgent::new(&server, "s1", "blog").ask_question("Meanwhile?");
    // The number of waiting agents is still updated; the rest is not.
    browser.wait_for_waiting_count(1);
    assert_eq!(
        browser.evaluate("document.getElementById('agent-1').dataset.state"),
        "idle",
        "nothing is fetched that nobody sees"
    );
    assert_eq!(browser.evaluate("document.getElementById('connection').dataset.connection"), "resting");
    browser.show_page();
    browser.wait_for_text(".card", "needs you");
    browser.wait_for("document.getElementById('connection').textContent === 'live'");
    assert_eq!(browser.evaluate("window.isSame"), true, "the page was not loaded again");
}

/// Browsers with and without shared workers.
const WITHOUT_WORKERS: &str = "delete window.SharedWorker";

/// The number of stream requests.
fn count_stream_requests(server: &BrowserTestServer) -> u64 {
    server.read_metric("snell_http_requests_total{route=\"/api/events/stream\"")
}

#[test]
fn a_page_is_up_to_date_after_sleep() {
    for preparation in ["", WITHOUT_WORKERS] {
        let Some(browser) = BrowserSession::open() else { return };
        let server = BrowserTestServer::start();
        server.send_event("s1", "session-start", json!({}));
        browser.run_on_new_document(preparation);
        open_live_page(&browser, &server, "/");
        assert_eq!(count_stream_requests(&server), 1, "{preparation}");
        // Only the clock shows that the machine slept.
        browser.run_script("const now = Date.now; Date.now = () => now() + 90_000", &[]);
        browser.wait_for("/^live again after (89|9\\d) s$/.test(document.getElementById('connection').textContent)");
        assert_eq!(
            count_stream_requests(&server),
            2,
            "the old connection may be dead without knowing it; {preparation}"
        );
        server.send_event("s1", "user-prompt-submit", json!({"prompt": "Good morning"}));
        browser.wait_for_text(".card", "Good morning");
        browser.wait_for("document.getElementById('connection').textContent === 'live'");
        assert_eq!(browser.evaluate("window.isSame"), true, "the page was not loaded again");
    }
}

#[test]
fn a_hidden_page_closes_its_own_stream() {
    let Some(browser) = BrowserSession::open() else { return };
    let server = BrowserTestServer::start();
    browser.run_on_new_document(WITHOUT_WORKERS);
    open_live_page(&browser, &server, "/");
    browser.hide_page();
    wait_until(|| (server.read_metric("snell_stream_clients ") == 0).then_some(()));
    browser.show_page();
    StoryAgent::new(&server, "s1", "blog").ask_question("Are you back?");
    browser.wait_for_text("#needs", "Are you back?");
    browser.wait_for("document.getElementById('connection').textContent === 'live'");
    assert_eq!(server.read_metric("snell_stream_clients "), 1);
}

#[test]
fn the_icon_shows_whether_an_agent_waits() {
    let Some(browser) = BrowserSession::open() else { return };
    let server = BrowserTestServer::start();
    open_live_page(&browser, &server, "/");
    let icon = "document.querySelector('link[rel=icon]').href";
    assert!(browser.evaluate_text(icon).ends_with("/icon.svg"));
    StoryAgent::new(&server, "s1", "blog").ask_question("May I?");
    browser.wait_for(&format!("{icon}.endsWith('/icon-waiting.svg')"));
    open_live_page(&browser, &server, "/hooks");
    assert!(browser.evaluate_text(icon).ends_with("/icon-waiting.svg"), "it is so from the beginning");
    StoryAgent::new(&server, "s1", "blog").receive_prompt("Yes.");
    browser.wait_for(&format!("{icon}.endsWith('/icon.svg')"));
}
