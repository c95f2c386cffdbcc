//! More pages in one browser than it has connections for one server.

use crate::driver::Browser;
use crate::live::look_at;
use crate::notices::LISTEN;
use crate::server::Server;
use crate::story::Agent;
use crate::support::wait_until;

/// A browser has six connections for one server.
const PAGES: usize = 8;

/// Views of all kinds that show what an agent waits for.
const VIEWS: [&str; 3] = ["/", "/agents/1", "/logging"];

/// Opens many pages in windows of their own.
fn open_many(browser: &Browser, server: &Server) -> Vec<String> {
    let paths = VIEWS.iter().cycle().take(PAGES);
    let open = |path: &&str| {
        let window = browser.open_window();
        browser.prepare(LISTEN);
        look_at(browser, server, path);
        window
    };
    paths.map(open).collect()
}

/// Waits until every page shows a text, and is live.
#[track_caller]
fn all_show(browser: &Browser, windows: &[String], text: &str) {
    for window in windows {
        browser.turn_to(window);
        browser.wait_for_text("main", text);
        browser.wait_for("document.getElementById('connection').dataset.connection === 'live'");
        assert_eq!(browser.value("window.isSame"), true, "the page was not loaded again");
    }
}

#[test]
fn many_pages_of_one_browser_share_one_stream_and_all_are_live() {
    let Some(browser) = Browser::open() else { return };
    let mut server = Server::start();
    Agent::of(&server, "s1", "shop").rests("Before.");
    let windows = open_many(&browser, &server);
    assert_eq!(server.counts("snell_stream_clients "), 1);
    Agent::of(&server, "s1", "shop").asks("Does everybody see this?");
    all_show(&browser, &windows, "Does everybody see this?");

    server.kill();
    for window in &windows {
        browser.turn_to(window);
        browser.wait_for_text("#connection", "reconnecting… since");
    }
    server.start_again();
    Agent::of(&server, "s1", "shop").rests("It was away.");
    all_show(&browser, &windows, "It was away.");
    assert_eq!(server.counts("snell_stream_clients "), 1);

    // Whoever goes does not take the stream along; the last one does.
    for window in &windows[1..] {
        browser.turn_to(window);
        browser.go("about:blank");
    }
    browser.turn_to(&windows[0]);
    Agent::of(&server, "s1", "shop").asks("Who is left?");
    browser.wait_for_text("main", "Who is left?");
    browser.go("about:blank");
    wait_until(|| (server.counts("snell_stream_clients ") == 0).then_some(()));
}

#[test]
fn many_pages_give_one_notice() {
    let Some(browser) = Browser::open() else { return };
    let server = Server::start();
    Agent::of(&server, "s1", "shop").rests("Before.");
    let windows = open_many(&browser, &server);
    browser.permit_notices("granted");
    browser.click("#notify");
    browser.wait_for_text("#notify", "Notices on");
    Agent::of(&server, "s1", "shop").asks("Who tells it?");
    all_show(&browser, &windows, "Who tells it?");
    let given = || {
        let of = |window: &String| {
            browser.turn_to(window);
            browser.number("window.notices.length")
        };
        let given: u64 = windows.iter().map(of).sum();
        (given > 0).then_some(given)
    };
    assert_eq!(wait_until(given), 1);
}
