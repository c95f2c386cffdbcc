//! The server goes away and comes back while somebody looks.

use serde_json::json;

use crate::driver::Browser;
use crate::live::look_at;
use crate::server::Server;
use crate::support::start;

#[test]
fn a_page_says_that_the_server_is_away_and_shows_what_happened_meanwhile() {
    let Some(browser) = Browser::open() else { return };
    let mut server = Server::start();
    server.tell("s1", "user-prompt-submit", json!({"prompt": "Wait for me"}));
    look_at(&browser, &server, "/");
    browser.wait_for_text(".card", "working");

    server.kill();
    browser.wait_for_text("#connection", "reconnecting… since");
    assert!(
        browser.seen().contains("Wait for me") || browser.seen().contains("working"),
        "what was known stays"
    );

    // Hooks need no server.
    let told = json!({"session_id": "s1", "hook_event_name": "Stop", "cwd": server.sandbox.project(),
        "last_assistant_message": "Done without you."});
    let hook = start(&mut server.sandbox.command(&["hook"]), &told.to_string());
    assert!(hook.wait_with_output().unwrap().status.success());

    server.start_again();
    browser.wait_for("document.getElementById('connection').dataset.connection === 'live'");
    browser.wait_for_text(".card", "Done without you.");
    assert_eq!(browser.value("window.isSame"), true, "the page was not loaded again");

    server.tell("s1", "user-prompt-submit", json!({"prompt": "Once more"}));
    browser.wait_for_text(".card", "working");
}
