//! The timeline of one agent, for whoever reads it.

use serde_json::json;

use crate::driver::Browser;
use crate::live::look_at;
use crate::server::Server;
use crate::story::{self, Agent};

/// More than an open page keeps.
const MANY: usize = 700;

#[test]
fn what_an_agent_waits_for_stands_in_its_head() {
    let Some(browser) = Browser::open() else { return };
    let server = Server::start();
    let agent = Agent::of(&server, "s1", "shop").asks("Which of the two?");
    look_at(&browser, &server, &format!("/agents/{agent}"));
    assert_eq!(browser.texts("#head .asks"), ["Which of the two?"]);
    Agent::of(&server, "s1", "shop").is_answered("The first.");
    browser.wait_for("!document.querySelector('#head .asks')");
}

/// Whether the first element that a selector finds is seen and nothing is upon it.
fn is_in_sight(browser: &Browser, selector: &str) -> bool {
    let script = "const sought = document.querySelector(arguments[0]);
        const box = sought.getBoundingClientRect();
        return sought.contains(document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2))";
    browser.script(script, &[selector.into()]) == true
}

#[test]
fn that_the_server_is_away_is_seen_wherever_one_reads() {
    for (width, height) in [(1280, 800), (360, 740)] {
        let Some(browser) = Browser::open() else { return };
        let mut server = Server::start();
        for number in 0..80 {
            Agent::of(&server, "s1", "shop").rests(&format!("Number {number}."));
        }
        browser.is_as_large_as(width, height);
        look_at(&browser, &server, "/agents/1");
        browser.click("#jump");
        browser.wait_for("document.querySelector('.jump.there') && scrollY > 1000");
        assert!(!is_in_sight(&browser, "#connection"), "{width}");
        let place = "Math.round(document.getElementById('now').getBoundingClientRect().top)";
        let before = browser.value(place);
        server.kill();
        browser.wait_for_text("#connection", "reconnecting… since");
        assert!(is_in_sight(&browser, "#connection"), "{width}");
        assert_eq!(browser.value(place), before, "{width}: nothing moves");
    }
}

#[test]
fn nothing_moves_under_the_eyes_of_who_reads_further_up() {
    let Some(browser) = Browser::open() else { return };
    let server = Server::start();
    let tell = |number: usize| {
        let text = format!("mark-{number}-");
        server.tell("s1", "stop", json!({"last_assistant_message": text}));
    };
    (0..60).for_each(tell);
    look_at(&browser, &server, "/agents/1");
    browser.script(
        "window.read = document.querySelectorAll('#timeline > li')[2]; window.read.scrollIntoView()",
        &[],
    );
    let place = "Math.round(window.read.getBoundingClientRect().top)";
    let before = browser.value(place);
    (60..MANY).for_each(tell);
    browser.wait_for_text("#jump", "more has happened");
    assert_eq!(browser.value("window.read.isConnected"), true);
    assert_eq!(browser.value(place), before);
    let rows = browser.number("document.querySelectorAll('#timeline > li').length");
    assert!(rows <= 700, "{rows} rows");
    // At its end it goes on.
    browser.click("#jump");
    browser.wait_for_text("#timeline", &format!("mark-{}-", MANY - 1));
    assert_eq!(
        browser.text("document.getElementById('jump').textContent"),
        "Jump to live"
    );
    tell(MANY);
    browser.wait_for_text("#timeline", &format!("mark-{MANY}-"));
}

#[test]
fn a_choice_of_kinds_keeps_the_focus_and_is_as_the_timeline_is() {
    let Some(browser) = Browser::open() else { return };
    let server = Server::start();
    story::told_to(&server);
    look_at(&browser, &server, "/agents/1");
    browser.script("document.querySelector('input[name=tools]').focus()", &[]);
    browser.press(" ");
    browser.wait_for("!window.isSame && document.activeElement.name === 'tools'");
    assert_eq!(browser.value("document.activeElement.checked"), false);
    assert_eq!(browser.value("document.querySelector('#timeline .call')"), json!(null));
    browser.back();
    browser.wait_for("document.querySelector('#timeline .call')");
    browser.wait_for("document.querySelector('input[name=tools]').checked");
}

#[test]
fn a_timeline_says_whether_it_goes_on() {
    let Some(browser) = Browser::open() else { return };
    let server = Server::start();
    let agent = server.tell("s1", "session-start", json!({}));
    look_at(&browser, &server, &format!("/agents/{agent}"));
    browser.wait_for_text("#now", "This is where it goes on.");
    server.tell("s1", "session-end", json!({}));
    browser.wait_for_text("#now", "This is where it ended.");
    look_at(&browser, &server, &format!("/agents/{agent}"));
    assert_eq!(browser.texts("#now"), ["This is where it ended."]);
}
