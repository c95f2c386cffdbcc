//! What an accessibility engine has to say.

use crate::driver::Browser;
use crate::live::{look_at, open};
use crate::server::Server;
use crate::{axe, story, views};

#[test]
fn no_view_has_a_serious_fault_of_accessibility_in_light_or_dark() {
    let Some(browser) = Browser::open() else { return };
    let Some(script) = axe::script() else { return };
    let server = Server::start();
    story::told_to(&server);
    let views = views::all(&browser, &server);
    for scheme in ["light", "dark"] {
        browser.prefers(scheme);
        for view in views.iter().map(String::as_str).chain(views::APART.iter().copied()) {
            open(&browser, &server, view);
            // What is folded is looked at, too.
            browser.unfold();
            let found = axe::findings(&browser, script);
            assert!(found.is_empty(), "{view}, {scheme}:\n{}", found.join("\n"));
        }
    }
}

#[test]
fn the_way_in_has_no_serious_fault_of_accessibility() {
    let Some(browser) = Browser::open() else { return };
    let Some(script) = axe::script() else { return };
    let server = Server::locked("correct-horse");
    for scheme in ["light", "dark"] {
        browser.prefers(scheme);
        for view in ["/login", "/agents/1"] {
            open(&browser, &server, view);
            let found = axe::findings(&browser, script);
            assert!(found.is_empty(), "{view}, {scheme}:\n{}", found.join("\n"));
        }
    }
}

#[test]
fn light_and_dark_are_two_schemes() {
    let Some(browser) = Browser::open() else { return };
    let server = Server::start();
    let ground = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)[0]";
    browser.go(&server.at("/"));
    browser.prefers("light");
    browser.wait_for(&format!("{ground} > 200"));
    browser.prefers("dark");
    browser.wait_for(&format!("{ground} < 60"));
}

#[test]
fn the_engine_finds_what_is_wrong() {
    let Some(browser) = Browser::open() else { return };
    let Some(script) = axe::script() else { return };
    let server = Server::start();
    story::told_to(&server);
    look_at(&browser, &server, "/");
    browser.script(
        "document.querySelector('main').append(document.createElement('button'))",
        &[],
    );
    let found = axe::findings(&browser, script);
    assert!(found.iter().any(|found| found.starts_with("button-name")), "{found:?}");
}
