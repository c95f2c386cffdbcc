//! The timeline of one agent.

use serde_json::json;

use crate::agent_story::{self, StoryAgent};
use crate::driver::BrowserSession;
use crate::live::open_live_page;
use crate::server::BrowserTestServer;

/// More rows than an open page keeps.
const MANY: usize = 700;

#[test]
fn the_head_of_an_agent_shows_why_it_waits() {
    let Some(browser) = BrowserSession::open() else { return };
    let server = BrowserTestServer::start();
    let agent = StoryAgent::new(&server, "s1", "shop").ask_question("Which of the two?");
    open_live_page(&browser, &server, &format!("/agents/{agent}"));
    assert_eq!(browser.element_texts("#head .asks"), ["Which of the two?"]);
    StoryAgent::new(&server, "s1", "shop").receive_prompt("The first.");
    browser.wait_for("!document.querySelector('#head .asks')");
}

/// Whether the first element of a selector is visible and not covered.
fn is_element_visible(browser: &BrowserSession, selector: &str) -> bool {
    let script = "const sought = document.querySelector(arguments[0]);
        const box = sought.getBoundingClientRect();
        return sought.contains(document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2))";
    browser.run_script(script, &[selector.into()]) == true
}

#[test]
fn a_lost_connection_is_visible_at_every_scroll_position() {
    for (width, height) in [(1280, 800), (360, 740)] {
        let Some(browser) = BrowserSession::open() else { return };
        let mut server = BrowserTestServer::start();
        for number in 0..80 {
            StoryAgent::new(&server, "s1", "shop").finish_turn(&format!("Number {number}."));
        }
        browser.resize_viewport(width, height);
        open_live_page(&browser, &server, "/agents/1");
        browser.click_element("#jump");
        browser.wait_for("document.querySelector('.jump.there') && scrollY > 1000");
        assert!(!is_element_visible(&browser, "#connection"), "{width}");
        let place = "Math.round(document.getElementById('now').getBoundingClientRect().top)";
        let before = browser.evaluate(place);
        server.kill();
        browser.wait_for_text("#connection", "not live: no connection since");
        assert!(is_element_visible(&browser, "#connection"), "{width}");
        assert_eq!(browser.evaluate(place), before, "{width}: nothing moves");
    }
}

#[test]
fn a_timeline_does_not_move_after_scrolling_up() {
    let Some(browser) = BrowserSession::open() else { return };
    let server = BrowserTestServer::start();
    let send_reply = |number: usize| {
        let text = format!("mark-{number}-");
        server.send_event("s1", "stop", json!({"last_assistant_message": text}));
    };
    (0..60).for_each(send_reply);
    open_live_page(&browser, &server, "/agents/1");
    browser
        .run_script("window.read = document.querySelectorAll('#timeline > li')[2]; window.read.scrollIntoView()", &[]);
    let place = "Math.round(window.read.getBoundingClientRect().top)";
    let before = browser.evaluate(place);
    (60..MANY).for_each(send_reply);
    browser.wait_for_text("#jump", "new events");
    assert_eq!(browser.evaluate("window.read.isConnected"), true);
    assert_eq!(browser.evaluate(place), before);
    let rows = browser.evaluate_number("document.querySelectorAll('#timeline > li').length");
    assert!(rows <= 700, "{rows} rows");
    // At the end, it is live again.
    browser.click_element("#jump");
    browser.wait_for_text("#timeline", &format!("mark-{}-", MANY - 1));
    assert_eq!(browser.evaluate_text("document.getElementById('jump').textContent"), "Jump to live");
    send_reply(MANY);
    browser.wait_for_text("#timeline", &format!("mark-{MANY}-"));
}

#[test]
fn the_choice_of_kinds_keeps_the_focus_and_matches_the_timeline() {
    let Some(browser) = BrowserSession::open() else { return };
    let server = BrowserTestServer::start();
    agent_story::send_story(&server);
    open_live_page(&browser, &server, "/agents/1");
    browser.run_script("document.querySelector('input[name=tools]').focus()", &[]);
    browser.press_key(" ");
    browser.wait_for("!window.isSame && document.activeElement.name === 'tools'");
    assert_eq!(browser.evaluate("document.activeElement.checked"), false);
    assert_eq!(browser.evaluate("document.querySelector('#timeline .call')"), json!(null));
    browser.go_back();
    browser.wait_for("document.querySelector('#timeline .call')");
    browser.wait_for("document.querySelector('input[name=tools]').checked");
}

#[test]
fn the_end_of_a_timeline_shows_whether_it_is_live() {
    let Some(browser) = BrowserSession::open() else { return };
    let server = BrowserTestServer::start();
    let agent = server.send_event("s1", "session-start", json!({}));
    open_live_page(&browser, &server, &format!("/agents/{agent}"));
    browser.wait_for_text("#now", "Live: new events appear here.");
    server.send_event("s1", "session-end", json!({}));
    browser.wait_for_text("#now", "Ended.");
    open_live_page(&browser, &server, &format!("/agents/{agent}"));
    assert_eq!(browser.element_texts("#now"), ["Ended."]);
}
