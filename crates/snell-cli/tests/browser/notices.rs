//! Notices of the browser, for those who want them.

use crate::driver::Browser;
use crate::live::look_at;
use crate::server::Server;
use crate::story::Agent;

/// Keeps what a page asks and tells, because nobody sees a notice of a browser without a screen.
pub const LISTEN: &str = "window.asked = 0; window.notices = [];
    window.Notification = class extends Notification {
        constructor(title, options) { super(title, options); window.notices.push(`${title}: ${options.body}`); }
        static requestPermission() { window.asked += 1; return super.requestPermission(); }
    };";

#[test]
fn notices_are_asked_for_by_a_click_only_and_come_when_an_agent_begins_to_wait() {
    let Some(browser) = Browser::open() else { return };
    let server = Server::start();
    browser.prepare(LISTEN);
    look_at(&browser, &server, "/");
    assert_eq!(browser.texts("#notify"), ["Notify me"]);
    Agent::of(&server, "s1", "shop").asks("May I?");
    browser.wait_for_waiting(1);
    assert_eq!(browser.number("window.asked"), 0, "nobody has clicked");
    assert_eq!(browser.number("window.notices.length"), 0);

    browser.permit_notices("granted");
    browser.click("#notify");
    browser.wait_for_text("#notify", "Notices on");
    assert_eq!(browser.text("document.getElementById('notify').ariaPressed"), "true");
    Agent::of(&server, "s1", "shop").rests("I did.");
    browser.wait_for_waiting(0);
    Agent::of(&server, "s1", "shop").asks("And this?");
    browser.wait_for("window.notices.length === 1");
    assert_eq!(
        browser.text("window.notices[0]"),
        "agent s1 in shop needs you: And this?"
    );

    // It is remembered, until it is taken back.
    look_at(&browser, &server, "/");
    assert_eq!(browser.texts("#notify"), ["Notices on"]);
    browser.click("#notify");
    browser.wait_for_text("#notify", "Notify me");
    look_at(&browser, &server, "/");
    assert_eq!(browser.texts("#notify"), ["Notify me"]);
}

/// A user who answers the browser's question in this way.
fn answers(answer: &str) -> String {
    format!(
        "window.asked = 0; window.answer = 'default';
        Object.defineProperty(Notification, 'permission', {{ get: () => window.answer }});
        Notification.requestPermission = async () => {{ window.asked += 1; return (window.answer = '{answer}'); }};"
    )
}

#[test]
fn whoever_gets_no_notices_is_told_why() {
    let Some(browser) = Browser::open() else { return };
    let server = Server::start();
    for (answer, told, can_click) in [
        ("denied", "the browser allows no notices here", false),
        ("default", "the browser was not given an answer", true),
    ] {
        browser.prepare(&answers(answer));
        look_at(&browser, &server, "/");
        assert_eq!(browser.number("window.asked"), 0, "nobody has clicked");
        browser.click("#notify");
        browser.wait_for_text("#notify-told", told);
        assert_eq!(browser.number("window.asked"), 1);
        assert_eq!(
            browser.value("document.getElementById('notify').checkVisibility()"),
            can_click,
            "{answer}"
        );
        look_at(&browser, &server, "/");
        assert_eq!(
            browser.texts("#notify"),
            ["Notify me"],
            "{answer}: nothing is remembered as wanted"
        );
        assert_eq!(browser.number("window.asked"), 0, "{answer}: nobody has clicked");
    }
}

#[test]
fn a_browser_that_forbids_notices_is_not_asked() {
    let Some(browser) = Browser::open() else { return };
    let server = Server::start();
    browser.go(&server.at("/"));
    browser.permit_notices("denied");
    look_at(&browser, &server, "/");
    assert_eq!(
        browser.value("document.getElementById('notify').checkVisibility()"),
        false
    );
}
