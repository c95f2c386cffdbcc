//! Use without a mouse.

use serde_json::Value;

use crate::agent_story::StoryAgent;
use crate::driver::{BrowserSession, ENTER, TAB};
use crate::live::{open_live_page, open_page};
use crate::server::BrowserTestServer;
use crate::{agent_story, views};

/// The focused element: its index, whether it is visible, and whether it has a focus mark.
const FOCUSED: &str = "const at = document.activeElement;
    const box = at.getBoundingClientRect();
    const style = getComputedStyle(at);
    return {
        index: [...document.querySelectorAll('a[href], button, summary, input, select, textarea, [tabindex=\"0\"]')].indexOf(at),
        name: at.outerHTML.slice(0, 120),
        isSeen: box.width > 0 && box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth,
        isMarked: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2,
    }";

/// The elements that Tab reaches now. Of radio buttons with the same name it reaches one, and arrow keys the others.
const USABLE: &str = "const isReached = (one) => one.type !== 'radio'
        || one.form.querySelector(`[type=radio][name='${one.name}']`) === one;
    return [...document.querySelectorAll('a[href], button, summary, input, select, textarea, [tabindex=\"0\"]')]
    .map((element, index) => element.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: false }) && isReached(element) ? index : -1)
    .filter((index) => index >= 0)";

#[test]
fn tab_reaches_everything_with_a_visible_focus() {
    let Some(browser) = BrowserSession::open() else { return };
    let server = BrowserTestServer::start();
    agent_story::send_story(&server);
    let views = views::discover_views(&browser, &server);
    for view in views.iter().map(String::as_str).chain(views::APART.iter().copied()) {
        open_page(&browser, &server, view);
        tab_through_page(&browser, view);
    }
}

/// Visits every element of the page with Tab.
fn tab_through_page(browser: &BrowserSession, view: &str) {
    let usable: Vec<i64> = serde_json::from_value(browser.run_script(USABLE, &[])).unwrap();
    let mut visited = Vec::new();
    for _ in &usable {
        browser.press_key(TAB);
        let focused = browser.run_script(FOCUSED, &[]);
        assert_eq!(focused["isSeen"], true, "{view}: {focused}");
        assert_eq!(focused["isMarked"], true, "{view}: {focused}");
        visited.push(focused["index"].as_i64().unwrap());
    }
    assert_eq!(visited, usable, "{view}");
}

#[test]
fn the_login_needs_no_mouse() {
    let Some(browser) = BrowserSession::open() else { return };
    let server = BrowserTestServer::with_token("correct-horse");
    browser.open_url(&server.page_url("/hooks"));
    browser.wait_for("document.activeElement.id === 'token'");
    for key in "wrong".chars() {
        browser.press_key(&key.to_string());
    }
    browser.press_key(ENTER);
    browser.wait_for_text("[role=alert]", "The token is wrong.");
    browser.wait_for("document.activeElement.id === 'token'");
    // The focus starts in the field of the token.
    browser.run_script("document.activeElement.blur(); document.querySelector('.skip').focus()", &[]);
    let mut visited = Vec::new();
    for _ in 0..4 {
        browser.press_key(TAB);
        let focused = browser.run_script(FOCUSED, &[]);
        assert_eq!((&focused["isSeen"], &focused["isMarked"]), (&true.into(), &true.into()), "{focused}");
        visited.push(browser.evaluate_text("document.activeElement.textContent || document.activeElement.name"));
    }
    assert_eq!(visited, ["Snell", "token", "Log in", "I am already logged in"]);
    browser.type_into("#token", "correct-horse");
    browser.press_key(ENTER);
    browser.wait_for("location.pathname === '/hooks' && document.querySelector('form.leave')");
}

#[test]
fn the_first_tab_skips_to_the_content_and_enter_opens_an_agent() {
    let Some(browser) = BrowserSession::open() else { return };
    let server = BrowserTestServer::start();
    StoryAgent::new(&server, "s1", "blog").finish_turn("Done.");
    open_live_page(&browser, &server, "/");
    browser.press_key(TAB);
    assert_eq!(browser.evaluate_text("document.activeElement.innerText"), "Skip to content");
    browser.press_key(ENTER);
    browser.wait_for("document.activeElement.localName === 'main'");
    for expected in ["INPUT", "SELECT", "BUTTON", "A"] {
        browser.press_key(TAB);
        assert_eq!(browser.evaluate_text("document.activeElement.tagName"), expected);
    }
    assert_eq!(browser.evaluate("document.activeElement.id"), Value::from("open-1"));
    browser.press_key(TAB);
    assert_eq!(browser.evaluate_text("document.activeElement.localName"), "summary");
    browser.press_key(ENTER);
    browser.wait_for_text(".card .state[open]", "reported by a hook");
    browser.press_key("k");
    browser.press_key("j");
    browser.wait_for("document.activeElement.id === 'open-1'");
    browser.press_key(ENTER);
    browser.wait_for("location.pathname === '/agents/1'");
}

#[test]
fn the_focus_stays_where_it_is_while_cards_change() {
    let Some(browser) = BrowserSession::open() else { return };
    let server = BrowserTestServer::start();
    StoryAgent::new(&server, "s1", "blog").finish_turn("Done.");
    open_live_page(&browser, &server, "/");
    browser.run_script("document.getElementById('open-1').focus()", &[]);
    StoryAgent::new(&server, "s1", "blog").ask_question("May I?");
    browser.wait_for_text(".card", "needs you");
    assert_eq!(browser.evaluate("document.activeElement.id"), Value::from("open-1"));
}

#[test]
fn a_slash_focuses_the_search_field() {
    let Some(browser) = BrowserSession::open() else { return };
    let server = BrowserTestServer::start();
    StoryAgent::new(&server, "s1", "blog").finish_turn("Done.");
    for view in ["/", "/logging"] {
        open_live_page(&browser, &server, view);
        browser.press_key("/");
        assert_eq!(browser.evaluate_text("document.activeElement.name"), "q", "{view}");
        browser.press_key("/");
        assert_eq!(browser.evaluate_text("document.activeElement.value"), "/", "there it is a letter");
    }
}

#[test]
fn the_focus_survives_the_removal_of_its_element() {
    let Some(browser) = BrowserSession::open() else { return };
    let server = BrowserTestServer::start();
    let sessions = [("s1", "shop"), ("s2", "blog"), ("s3", "roof")];
    for (session, project) in sessions {
        StoryAgent::new(&server, session, project).ask_question("May I?");
    }
    open_live_page(&browser, &server, "/");
    let focused = "document.activeElement.id";
    browser.run_script("document.getElementById('answer-2').focus()", &[]);
    StoryAgent::new(&server, "s1", "shop").receive_prompt("Yes.");
    browser.wait_for("!document.getElementById('answer-1')");
    assert_eq!(browser.evaluate_text(focused), "answer-2", "what is before it goes");
    StoryAgent::new(&server, "s2", "blog").receive_prompt("Yes.");
    browser.wait_for("!document.getElementById('answer-2')");
    assert_eq!(browser.evaluate_text(focused), "answer-3", "the next is in its place");
    StoryAgent::new(&server, "s3", "roof").receive_prompt("Yes.");
    browser.wait_for_text("#needs", "No agents need you.");
    assert_eq!(browser.evaluate_text(focused), "needs", "nothing is left in it");
    browser.run_script("document.getElementById('open-2').focus()", &[]);
    server.send_event("s2", "session-end", serde_json::json!({"cwd": "/srv/blog"}));
    browser.wait_for("!document.getElementById('agent-2')");
    assert_ne!(browser.evaluate("document.activeElement === document.body"), true, "a card goes");
}
