//! Finding one agent among many.

use crate::agent_story::{self, StoryAgent};
use crate::driver::{BrowserSession, ENTER};
use crate::live::open_live_page;
use crate::server::BrowserTestServer;

const SHOWN: &str = "[...document.querySelectorAll('.card')].map((card) => card.id).join()";

#[test]
fn cards_follow_the_search_text_and_new_events() {
    let Some(browser) = BrowserSession::open() else { return };
    let server = BrowserTestServer::start();
    agent_story::send_story(&server);
    open_live_page(&browser, &server, "/");
    assert_eq!(browser.evaluate_number("document.querySelectorAll('.card').length"), 4);
    browser.type_into("form.search input", "shop");
    browser.wait_for(&format!("{SHOWN} === 'agent-1,agent-2'"));
    browser.wait_for("location.search === '?q=shop'");
    browser.wait_for_text("#agents-shown", "2 of 4 agents.");
    browser.run_script(
        "const select = document.querySelector('form.search select'); select.value = 'awaiting_input';
        select.dispatchEvent(new Event('input', { bubbles: true }))",
        &[],
    );
    browser.wait_for(&format!("{SHOWN} === 'agent-2'"));
    // Cards appear when they match, and disappear when they do not.
    StoryAgent::new(&server, "5e81f0a2-shop", "shop").ask_question("Shall I go on?");
    browser.wait_for(&format!("{SHOWN} === 'agent-1,agent-2'"));
    StoryAgent::new(&server, "c07d93b4-shop", "shop").receive_prompt("The second one.");
    browser.wait_for(&format!("{SHOWN} === 'agent-1'"));
    // Other agents do not appear.
    StoryAgent::new(&server, "91be6d2c-blog", "blog").ask_question("And the feed?");
    browser.wait_for_text("#needs", "And the feed?");
    browser.wait_for_waiting_count(2);
    assert_eq!(browser.evaluate_text(SHOWN), "agent-1");
    // The address gives the same result.
    open_live_page(&browser, &server, &browser.evaluate_text("location.pathname + location.search"));
    assert_eq!(browser.evaluate_text(SHOWN), "agent-1");
    assert_eq!(browser.evaluate_text("document.querySelector('form.search input').value"), "shop");
    browser.click_element("#agents-shown a");
    browser.wait_for("document.querySelectorAll('.card').length === 4");
}

#[test]
fn without_scripts_the_form_is_submitted() {
    let Some(browser) = BrowserSession::without_scripts() else {
        return;
    };
    let server = BrowserTestServer::start();
    agent_story::send_story(&server);
    browser.open_url(&server.page_url("/"));
    browser.type_into("form.search input", "feed");
    browser.press_key(ENTER);
    browser.wait_for("location.search.startsWith('?q=feed')");
    assert_eq!(browser.evaluate_text(SHOWN), "agent-3");
}
