//! The work of a page before and after its first paint.

use serde_json::json;

use crate::driver::BrowserSession;
use crate::live::open_live_page;
use crate::server::BrowserTestServer;

#[test]
fn a_page_becomes_live_after_the_first_paint() {
    let Some(browser) = BrowserSession::open() else { return };
    let server = BrowserTestServer::start();
    open_live_page(&browser, &server, "/logging");
    let painted = browser.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime");
    let fetched = "performance.getEntriesByType('resource').find(({ name }) => name.endsWith('/live.js')).startTime";
    // If the paint takes longer, the page still becomes live.
    let soonest = painted.as_f64().unwrap().min(1000.0);
    let fetched = browser.evaluate(fetched).as_f64().unwrap();
    let was = browser
        .evaluate("performance.getEntriesByType('visibility-state').map(({ name, startTime }) => [name, startTime])");
    assert!(fetched >= soonest - 4.0, "fetched after {fetched} ms, painted after {painted} ms, {was}");
}

/// Whether the row of the oldest event was laid out.
const IS_LAID_OUT: &str = "document.querySelector('#event-1 td').checkVisibility({ contentVisibilityAuto: true })";

/// Whether it is within the window.
const IS_WITHIN: &str = "(({ top, bottom }) => top >= 0 && bottom <= innerHeight)(document.getElementById('event-1').getBoundingClientRect())";

/// Sends as many events as a page of the log has.
fn send_many_events(server: &BrowserTestServer) {
    for number in 0..100 {
        let said = format!("Word {number}.");
        server.send_event("s1", "stop", json!({"last_assistant_message": said}));
    }
}

#[test]
fn rows_outside_the_window_are_laid_out_after_the_first_paint() {
    let Some(browser) = BrowserSession::open() else { return };
    let server = BrowserTestServer::start();
    send_many_events(&server);
    open_live_page(&browser, &server, "/logging");
    browser.wait_for(IS_LAID_OUT);
    assert!(browser.element_texts("#event-1")[0].contains("Word 0."));
    open_live_page(&browser, &server, "/logging#event-1");
    browser.wait_for(&format!("{IS_LAID_OUT} && {IS_WITHIN}"));
}

#[test]
fn rows_are_laid_out_without_scripts_when_they_scroll_into_view() {
    let Some(browser) = BrowserSession::without_scripts() else {
        return;
    };
    let server = BrowserTestServer::start();
    send_many_events(&server);
    browser.open_url(&server.page_url("/logging"));
    assert_eq!(browser.evaluate(IS_LAID_OUT), false, "nothing was done for it yet");
    assert_eq!(browser.evaluate("window.find('Word 0.')"), true, "it is found");
    browser.open_url(&server.page_url("/logging#event-1"));
    browser.wait_for(&format!("{IS_LAID_OUT} && {IS_WITHIN}"));
}
