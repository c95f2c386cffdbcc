//! Browser notices.

use crate::agent_story::StoryAgent;
use crate::driver::BrowserSession;
use crate::live::open_live_page;
use crate::server::BrowserTestServer;

/// Records permission requests and notices, because a headless browser shows none.
pub const LISTEN: &str = "window.asked = 0; window.notices = [];
    window.Notification = class extends Notification {
        constructor(title, options) { super(title, options); window.notices.push(`${title}: ${options.body}`); }
        static requestPermission() { window.asked += 1; return super.requestPermission(); }
    };";

#[test]
fn notices_need_a_click_and_appear_when_an_agent_begins_to_wait() {
    let Some(browser) = BrowserSession::open() else { return };
    let server = BrowserTestServer::start();
    browser.run_on_new_document(LISTEN);
    open_live_page(&browser, &server, "/");
    assert_eq!(browser.element_texts("#notify"), ["Notify me"]);
    StoryAgent::new(&server, "s1", "shop").ask_question("May I?");
    browser.wait_for_waiting_count(1);
    assert_eq!(browser.evaluate_number("window.asked"), 0, "there was no click");
    assert_eq!(browser.evaluate_number("window.notices.length"), 0);

    browser.set_notification_permission("granted");
    browser.click_element("#notify");
    browser.wait_for_text("#notify", "Notices on");
    assert_eq!(browser.evaluate_text("document.getElementById('notify').ariaPressed"), "true");
    StoryAgent::new(&server, "s1", "shop").finish_turn("I did.");
    browser.wait_for_waiting_count(0);
    StoryAgent::new(&server, "s1", "shop").ask_question("And this?");
    browser.wait_for("window.notices.length === 1");
    assert_eq!(browser.evaluate_text("window.notices[0]"), "agent s1 in shop needs you: And this?");

    // The choice is stored until it is revoked.
    open_live_page(&browser, &server, "/");
    assert_eq!(browser.element_texts("#notify"), ["Notices on"]);
    browser.click_element("#notify");
    browser.wait_for_text("#notify", "Notify me");
    open_live_page(&browser, &server, "/");
    assert_eq!(browser.element_texts("#notify"), ["Notify me"]);
}

/// Answers the permission prompt in this way.
fn stub_permission_prompt(answer: &str) -> String {
    format!(
        "window.asked = 0; window.answer = 'default';
        Object.defineProperty(Notification, 'permission', {{ get: () => window.answer }});
        Notification.requestPermission = async () => {{ window.asked += 1; return (window.answer = '{answer}'); }};"
    )
}

#[test]
fn the_page_shows_why_there_are_no_notices() {
    let Some(browser) = BrowserSession::open() else { return };
    let server = BrowserTestServer::start();
    for (answer, message, can_click) in [
        ("denied", "the browser blocks notices from this page", false),
        ("default", "you did not answer the question of the browser", true),
    ] {
        browser.run_on_new_document(&stub_permission_prompt(answer));
        open_live_page(&browser, &server, "/");
        assert_eq!(browser.evaluate_number("window.asked"), 0, "there was no click");
        browser.click_element("#notify");
        browser.wait_for_text("#notify-status", message);
        assert_eq!(browser.evaluate_number("window.asked"), 1);
        assert_eq!(browser.evaluate("document.getElementById('notify').checkVisibility()"), can_click, "{answer}");
        open_live_page(&browser, &server, "/");
        assert_eq!(browser.element_texts("#notify"), ["Notify me"], "{answer}: the choice is not stored");
        assert_eq!(browser.evaluate_number("window.asked"), 0, "{answer}: there was no click");
    }
}

#[test]
fn a_browser_that_forbids_notices_is_not_asked() {
    let Some(browser) = BrowserSession::open() else { return };
    let server = BrowserTestServer::start();
    browser.open_url(&server.page_url("/"));
    browser.set_notification_permission("denied");
    open_live_page(&browser, &server, "/");
    assert_eq!(browser.evaluate("document.getElementById('notify').checkVisibility()"), false);
}
