//! The server stops and starts again while a page is open.

use serde_json::json;
use snell_test_support::process::spawn_with_stdin;

use crate::driver::BrowserSession;
use crate::live::open_live_page;
use crate::server::BrowserTestServer;

#[test]
fn a_page_shows_that_the_server_is_unreachable_and_catches_up() {
    let Some(browser) = BrowserSession::open() else { return };
    let mut server = BrowserTestServer::start();
    server.send_event("s1", "user-prompt-submit", json!({"prompt": "Wait for me"}));
    open_live_page(&browser, &server, "/");
    browser.wait_for_text(".card", "working");

    server.kill();
    browser.wait_for_text("#connection", "not live: no connection since");
    assert!(
        browser.visible_text().contains("Wait for me") || browser.visible_text().contains("working"),
        "what was known stays"
    );

    // Hooks need no server.
    let told = json!({"session_id": "s1", "hook_event_name": "Stop", "cwd": server.sandbox.project(),
        "last_assistant_message": "Done without you."});
    let hook = spawn_with_stdin(&mut server.sandbox.command(&["hook"]), told.to_string());
    assert!(hook.wait_with_output().unwrap().status.success());

    server.restart();
    browser.wait_for("document.getElementById('connection').dataset.connection === 'live'");
    browser.wait_for_text(".card", "Done without you.");
    assert_eq!(browser.evaluate("window.isSame"), true, "the page was not loaded again");

    server.send_event("s1", "user-prompt-submit", json!({"prompt": "Once more"}));
    browser.wait_for_text(".card", "working");
}
