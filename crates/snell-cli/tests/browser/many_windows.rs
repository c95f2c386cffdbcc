//! More pages in one browser than it has connections per server.

use snell_test_support::wait::wait_until;

use crate::agent_story::StoryAgent;
use crate::driver::BrowserSession;
use crate::live::open_live_page;
use crate::notifications::LISTEN;
use crate::server::BrowserTestServer;

/// A browser has six connections per server.
const PAGES: usize = 8;

/// Views that show why an agent waits.
const VIEWS: [&str; 3] = ["/", "/agents/1", "/logging"];

/// Opens many pages, each in its own window.
fn open_many_windows(browser: &BrowserSession, server: &BrowserTestServer) -> Vec<String> {
    let paths = VIEWS.iter().cycle().take(PAGES);
    let open = |path: &&str| {
        let window = browser.open_window();
        browser.run_on_new_document(LISTEN);
        open_live_page(browser, server, path);
        window
    };
    paths.map(open).collect()
}

/// Waits until every page is live and shows a text.
#[track_caller]
fn wait_until_all_show(browser: &BrowserSession, windows: &[String], text: &str) {
    for window in windows {
        browser.switch_window(window);
        browser.wait_for_text("main", text);
        browser.wait_for("document.getElementById('connection').dataset.connection === 'live'");
        assert_eq!(browser.evaluate("window.isSame"), true, "the page was not loaded again");
    }
}

#[test]
fn many_pages_of_one_browser_share_one_stream_and_all_are_live() {
    let Some(browser) = BrowserSession::open() else { return };
    let mut server = BrowserTestServer::start();
    StoryAgent::new(&server, "s1", "shop").finish_turn("Before.");
    let windows = open_many_windows(&browser, &server);
    assert_eq!(server.read_metric("snell_stream_clients "), 1);
    StoryAgent::new(&server, "s1", "shop").ask_question("Does everybody see this?");
    wait_until_all_show(&browser, &windows, "Does everybody see this?");

    server.kill();
    for window in &windows {
        browser.switch_window(window);
        browser.wait_for_text("#connection", "not live: no connection since");
    }
    server.restart();
    StoryAgent::new(&server, "s1", "shop").finish_turn("It was away.");
    wait_until_all_show(&browser, &windows, "It was away.");
    assert_eq!(server.read_metric("snell_stream_clients "), 1);

    // Closing a page keeps the stream; closing the last one ends it.
    for window in &windows[1..] {
        browser.switch_window(window);
        browser.open_url("about:blank");
    }
    browser.switch_window(&windows[0]);
    StoryAgent::new(&server, "s1", "shop").ask_question("Who is left?");
    browser.wait_for_text("main", "Who is left?");
    browser.open_url("about:blank");
    wait_until(|| (server.read_metric("snell_stream_clients ") == 0).then_some(()));
}

#[test]
fn many_pages_give_one_notice() {
    let Some(browser) = BrowserSession::open() else { return };
    let server = BrowserTestServer::start();
    StoryAgent::new(&server, "s1", "shop").finish_turn("Before.");
    let windows = open_many_windows(&browser, &server);
    browser.set_notification_permission("granted");
    browser.click_element("#notify");
    browser.wait_for_text("#notify", "Notices on");
    StoryAgent::new(&server, "s1", "shop").ask_question("Who tells it?");
    wait_until_all_show(&browser, &windows, "Who tells it?");
    let given = || {
        let of = |window: &String| {
            browser.switch_window(window);
            browser.evaluate_number("window.notices.length")
        };
        let given: u64 = windows.iter().map(of).sum();
        (given > 0).then_some(given)
    };
    assert_eq!(wait_until(given), 1);
}
