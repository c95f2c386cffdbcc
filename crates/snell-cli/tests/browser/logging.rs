//! The view of the receiver and its events.

use serde_json::json;

use crate::agent_story::{self, StoryAgent};
use crate::driver::BrowserSession;
use crate::live::open_live_page;
use crate::server::BrowserTestServer;

#[test]
fn the_status_panel_follows_the_mode() {
    let Some(browser) = BrowserSession::open() else { return };
    let server = BrowserTestServer::with_arguments(&["--silent-after", "3s", "--poll-silent", "1s"]);
    open_live_page(&browser, &server, "/logging");
    assert!(browser.element_texts("#receiver-mode")[0].contains("enabled"));
    browser.wait_for_text("#receiver-mode", "polling_fallback");
    browser.wait_for_text("#receiver-mode", "no hook event yet");
    browser.wait_for_text("#receiver", "none yet");
    for event in ["Stop", "Notification"] {
        server.send_event("s1", &event.to_lowercase(), json!({}));
        browser.wait_for_text("#receiver-last", event);
        // The silence of hooks causes no event, so the page has to poll.
        browser.wait_for_text("#receiver-mode", "polling_fallback");
        browser.wait_for_text("#receiver-mode", "no hook event for 3 s");
    }
    assert_eq!(browser.evaluate("window.isSame"), true, "the page was not loaded again");
}

#[test]
fn the_status_panel_becomes_active_with_a_hook() {
    let Some(browser) = BrowserSession::open() else { return };
    let server = BrowserTestServer::start();
    open_live_page(&browser, &server, "/logging");
    browser.wait_for_text("#receiver-mode", "polling_fallback");
    server.send_event("s1", "stop", json!({}));
    browser.wait_for_text("#receiver-mode", "hooks_active");
    browser.wait_for_text("#receiver-last", "Stop");
    browser.wait_for_text("#receiver-last", "ago");
}

/// Sends a call that reads this file.
fn send_read_call(server: &BrowserTestServer, file: &str) {
    let call = json!({"tool_name": "Read", "tool_input": {"file_path": file}});
    server.send_event("s1", "pre-tool-use", call);
}

#[test]
fn the_log_shows_new_events_and_can_be_filtered() {
    let Some(browser) = BrowserSession::open() else { return };
    let server = BrowserTestServer::start();
    agent_story::send_story(&server);
    open_live_page(&browser, &server, "/logging");
    browser.wait_for_text("#log", "git push --force");
    send_read_call(&server, "seen-at-once.txt");
    browser.wait_for_text("#log-rows tr", "seen-at-once.txt");
    open_live_page(&browser, &server, "/logging?decision=block");
    let log = browser.element_texts("#log").join("");
    assert!(log.contains("git push --force") && !log.contains("cargo test"), "{log}");
}

#[test]
fn the_log_does_not_move_after_scrolling_down() {
    let Some(browser) = BrowserSession::open() else { return };
    let server = BrowserTestServer::start();
    for number in 0..150 {
        send_read_call(&server, &format!("file-{number}.txt"));
    }
    open_live_page(&browser, &server, "/logging");
    assert_eq!(browser.evaluate_number("document.querySelectorAll('#log-rows tr').length"), 100, "the rest is older");
    browser.run_script("scrollTo(0, document.body.scrollHeight)", &[]);
    browser.wait_for("!document.getElementById('log').dataset.src");
    send_read_call(&server, "new.txt");
    browser.wait_for_text("#log-new", "1 new");
    assert!(!browser.element_texts("#log-rows")[0].contains("new.txt"));
    browser.click_element("#log-new a");
    browser.wait_for_text("#log-rows tr", "new.txt");
    assert_eq!(browser.evaluate_number("document.querySelectorAll('#log-rows tr').length"), 100);
}

#[test]
fn names_of_projects_are_not_broken_where_there_is_room() {
    let Some(browser) = BrowserSession::open() else { return };
    let server = BrowserTestServer::start();
    browser.resize_viewport(1280, 800);
    for (number, project) in ["lighthouse", "greenhouse", "shop"].into_iter().enumerate() {
        let session = format!("0a1b2c3d-{number}");
        let agent = StoryAgent::new(&server, &session, project);
        agent.make_refused_call("git push --force origin main");
        agent.ask_question("Which of the two is right, and what is to be done with all the others that are left?");
    }
    open_live_page(&browser, &server, "/logging");
    let broken = "[...document.querySelectorAll('.log .project bdi')].filter((name) => name.getClientRects().length > 1
        || name.offsetHeight > 2 * parseFloat(getComputedStyle(name).fontSize)).map((name) => name.textContent)";
    assert_eq!(browser.evaluate(broken), json!([]));
}

#[test]
fn a_long_name_keeps_its_row_in_shape() {
    let Some(browser) = BrowserSession::open() else { return };
    let server = BrowserTestServer::start();
    let name = "N".repeat(80_000);
    server.send_event("s1", "pre-tool-use", json!({"tool_name": name, "tool_input": {"command": "ls"}}));
    for (path, row) in [("/agents/1", "#timeline li"), ("/logging", ".log tbody tr"), ("/", ".card")] {
        open_live_page(&browser, &server, path);
        let tallest = format!("Math.max(...[...document.querySelectorAll('{row}')].map((row) => row.offsetHeight))");
        assert!(browser.evaluate_number(&tallest) < 400, "{path}");
    }
}

#[test]
fn a_typed_time_is_in_the_zone_of_shown_times() {
    let Some(browser) = BrowserSession::open() else { return };
    let server = BrowserTestServer::start();
    StoryAgent::new(&server, "s1", "shop").finish_turn("Done.");
    let cases = [
        ("Asia/Kathmandu", "2026-03-01 12:30", "2026-03-01T12:30:00+05:45"),
        ("America/New_York", "2026-03-01", "2026-03-01T00:00:00-05:00"),
        ("America/New_York", "2026-07-01T01:02:03", "2026-07-01T01:02:03-04:00"),
        ("Asia/Tokyo", "2026-03-01T12:30:00Z", "2026-03-01T12:30:00Z"),
        ("Asia/Tokyo", "2h", "2h"),
    ];
    for (zone, typed, asked) in cases {
        browser.send_devtools_command("Emulation.setTimezoneOverride", &json!({"timezoneId": zone}));
        open_live_page(&browser, &server, "/logging");
        browser.type_into("input[name=since]", typed);
        browser.click_element("#log-form button");
        browser.wait_for("!window.isSame && document.getElementById('log')");
        assert_eq!(browser.evaluate_text("new URLSearchParams(location.search).get('since')"), asked, "{zone} {typed}");
        assert_eq!(browser.element_texts("[role=alert]"), [""; 0], "{zone} {typed}");
    }
}
