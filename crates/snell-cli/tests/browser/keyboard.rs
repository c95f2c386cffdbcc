//! Without a mouse.

use serde_json::Value;

use crate::driver::{Browser, ENTER, TAB};
use crate::live::look_at;
use crate::server::Server;
use crate::story::Agent;
use crate::{story, views};

/// What has the focus: which of all things that can be used it is, whether that can be seen, and whether it is marked.
const FOCUSED: &str = "const at = document.activeElement;
    const box = at.getBoundingClientRect();
    const style = getComputedStyle(at);
    return {
        index: [...document.querySelectorAll('a[href], button, summary, input, select, textarea, [tabindex=\"0\"]')].indexOf(at),
        name: at.outerHTML.slice(0, 120),
        isSeen: box.width > 0 && box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth,
        isMarked: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2,
    }";

/// Which of those things can be used now.
const USABLE: &str = "return [...document.querySelectorAll('a[href], button, summary, input, select, textarea, [tabindex=\"0\"]')]
    .map((element, index) => element.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: false }) ? index : -1)
    .filter((index) => index >= 0)";

#[test]
fn tab_leads_through_everything_and_shows_where_it_is() {
    let Some(browser) = Browser::open() else { return };
    let server = Server::start();
    story::told_to(&server);
    for view in views::all(&browser, &server) {
        look_at(&browser, &server, &view);
        let usable: Vec<i64> = serde_json::from_value(browser.script(USABLE, &[])).unwrap();
        let mut visited = Vec::new();
        for _ in &usable {
            browser.press(TAB);
            let focused = browser.script(FOCUSED, &[]);
            assert_eq!(focused["isSeen"], true, "{view}: {focused}");
            assert_eq!(focused["isMarked"], true, "{view}: {focused}");
            visited.push(focused["index"].as_i64().unwrap());
        }
        assert_eq!(visited, usable, "{view}");
    }
}

#[test]
fn the_first_tab_skips_to_the_content_and_enter_opens_an_agent() {
    let Some(browser) = Browser::open() else { return };
    let server = Server::start();
    Agent::of(&server, "s1", "blog").rests("Done.");
    look_at(&browser, &server, "/");
    browser.press(TAB);
    assert_eq!(browser.text("document.activeElement.innerText"), "Skip to content");
    browser.press(ENTER);
    browser.wait_for("document.activeElement.localName === 'main'");
    browser.press(TAB);
    assert_eq!(browser.value("document.activeElement.id"), Value::from("open-1"));
    browser.press(TAB);
    assert_eq!(browser.text("document.activeElement.localName"), "summary");
    browser.press(ENTER);
    browser.wait_for_text(".card .state[open]", "told by a hook");
    browser.press("k");
    browser.press("j");
    browser.wait_for("document.activeElement.id === 'open-1'");
    browser.press(ENTER);
    browser.wait_for("location.pathname === '/agents/1'");
}

#[test]
fn the_focus_stays_where_it_is_while_cards_change() {
    let Some(browser) = Browser::open() else { return };
    let server = Server::start();
    Agent::of(&server, "s1", "blog").rests("Done.");
    look_at(&browser, &server, "/");
    browser.script("document.getElementById('open-1').focus()", &[]);
    Agent::of(&server, "s1", "blog").asks("May I?");
    browser.wait_for_text(".card", "needs you");
    assert_eq!(browser.value("document.activeElement.id"), Value::from("open-1"));
}
