//! Without a mouse.

use serde_json::Value;

use crate::driver::{Browser, ENTER, TAB};
use crate::live::{look_at, open};
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
    let views = views::all(&browser, &server);
    for view in views.iter().map(String::as_str).chain(views::APART.iter().copied()) {
        open(&browser, &server, view);
        goes_through(&browser, view);
    }
}

/// Goes through everything on the page with Tab, from its beginning.
fn goes_through(browser: &Browser, view: &str) {
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

#[test]
fn the_way_in_needs_no_mouse() {
    let Some(browser) = Browser::open() else { return };
    let server = Server::locked("correct-horse");
    browser.go(&server.at("/hooks"));
    browser.wait_for("document.activeElement.id === 'token'");
    for key in "wrong".chars() {
        browser.press(&key.to_string());
    }
    browser.press(ENTER);
    browser.wait_for_text("[role=alert]", "That is not the token.");
    browser.wait_for("document.activeElement.id === 'token'");
    // It begins in the midst of the page, where the token is asked for.
    browser.script(
        "document.activeElement.blur(); document.querySelector('.skip').focus()",
        &[],
    );
    let mut visited = Vec::new();
    for _ in 0..4 {
        browser.press(TAB);
        let focused = browser.script(FOCUSED, &[]);
        assert_eq!(
            (&focused["isSeen"], &focused["isMarked"]),
            (&true.into(), &true.into()),
            "{focused}"
        );
        visited.push(browser.text("document.activeElement.textContent || document.activeElement.name"));
    }
    assert_eq!(visited, ["Snell", "token", "Log in", "I have logged in already"]);
    browser.type_into("#token", "correct-horse");
    browser.press(ENTER);
    browser.wait_for("location.pathname === '/hooks' && document.querySelector('form.leave')");
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
    for expected in ["INPUT", "SELECT", "BUTTON", "A"] {
        browser.press(TAB);
        assert_eq!(browser.text("document.activeElement.tagName"), expected);
    }
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

#[test]
fn a_slash_leads_to_where_something_can_be_searched_for() {
    let Some(browser) = Browser::open() else { return };
    let server = Server::start();
    Agent::of(&server, "s1", "blog").rests("Done.");
    for view in ["/", "/logging"] {
        look_at(&browser, &server, view);
        browser.press("/");
        assert_eq!(browser.text("document.activeElement.name"), "q", "{view}");
        browser.press("/");
        assert_eq!(
            browser.text("document.activeElement.value"),
            "/",
            "there it is a letter"
        );
    }
}

#[test]
fn the_focus_is_not_lost_with_what_goes() {
    let Some(browser) = Browser::open() else { return };
    let server = Server::start();
    let sessions = [("s1", "shop"), ("s2", "blog"), ("s3", "roof")];
    for (session, project) in sessions {
        Agent::of(&server, session, project).asks("May I?");
    }
    look_at(&browser, &server, "/");
    let focused = "document.activeElement.id";
    browser.script("document.getElementById('answer-2').focus()", &[]);
    Agent::of(&server, "s1", "shop").is_answered("Yes.");
    browser.wait_for("!document.getElementById('answer-1')");
    assert_eq!(browser.text(focused), "answer-2", "what is before it goes");
    Agent::of(&server, "s2", "blog").is_answered("Yes.");
    browser.wait_for("!document.getElementById('answer-2')");
    assert_eq!(browser.text(focused), "answer-3", "the next is in its place");
    Agent::of(&server, "s3", "roof").is_answered("Yes.");
    browser.wait_for_text("#needs", "Nobody waits for you.");
    assert_eq!(browser.text(focused), "needs", "nothing is left in it");
    browser.script("document.getElementById('open-2').focus()", &[]);
    server.tell("s2", "session-end", serde_json::json!({"cwd": "/srv/blog"}));
    browser.wait_for("!document.getElementById('agent-2')");
    assert_ne!(
        browser.value("document.activeElement === document.body"),
        true,
        "a card goes"
    );
}
