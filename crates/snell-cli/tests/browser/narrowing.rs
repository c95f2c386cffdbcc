//! Finding one agent among many.

use crate::driver::{Browser, ENTER};
use crate::live::look_at;
use crate::server::Server;
use crate::story::{self, Agent};

const SHOWN: &str = "[...document.querySelectorAll('.card')].map((card) => card.id).join()";

#[test]
fn cards_follow_what_is_typed_and_what_happens() {
    let Some(browser) = Browser::open() else { return };
    let server = Server::start();
    story::told_to(&server);
    look_at(&browser, &server, "/");
    assert_eq!(browser.number("document.querySelectorAll('.card').length"), 4);
    browser.type_into("form.search input", "shop");
    browser.wait_for(&format!("{SHOWN} === 'agent-1,agent-2'"));
    browser.wait_for("location.search === '?q=shop'");
    browser.wait_for_text("#agents-shown", "2 of 4 agents.");
    browser.script(
        "const select = document.querySelector('form.search select'); select.value = 'awaiting_input';
        select.dispatchEvent(new Event('input', { bubbles: true }))",
        &[],
    );
    browser.wait_for(&format!("{SHOWN} === 'agent-2'"));
    // Who comes to be among them appears, and who is no longer goes.
    Agent::of(&server, "5e81f0a2-shop", "shop").asks("Shall I go on?");
    browser.wait_for(&format!("{SHOWN} === 'agent-1,agent-2'"));
    Agent::of(&server, "c07d93b4-shop", "shop").is_answered("The second one.");
    browser.wait_for(&format!("{SHOWN} === 'agent-1'"));
    // Others do not come.
    Agent::of(&server, "91be6d2c-blog", "blog").asks("And the feed?");
    browser.wait_for_text("#needs", "And the feed?");
    browser.wait_for_waiting(2);
    assert_eq!(browser.text(SHOWN), "agent-1");
    // The address leads to the same.
    look_at(&browser, &server, &browser.text("location.pathname + location.search"));
    assert_eq!(browser.text(SHOWN), "agent-1");
    assert_eq!(
        browser.text("document.querySelector('form.search input').value"),
        "shop"
    );
    browser.click("#agents-shown a");
    browser.wait_for("document.querySelectorAll('.card').length === 4");
}

#[test]
fn without_scripts_the_form_is_sent() {
    let Some(browser) = Browser::without_scripts() else {
        return;
    };
    let server = Server::start();
    story::told_to(&server);
    browser.go(&server.at("/"));
    browser.type_into("form.search input", "feed");
    browser.press(ENTER);
    browser.wait_for("location.search.startsWith('?q=feed')");
    assert_eq!(browser.text(SHOWN), "agent-3");
}
