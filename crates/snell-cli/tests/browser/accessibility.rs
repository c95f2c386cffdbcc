//! Checks with an accessibility engine.

use crate::driver::BrowserSession;
use crate::live::{open_live_page, open_page};
use crate::server::BrowserTestServer;
use crate::{agent_story, axe, views};

#[test]
fn no_view_has_serious_accessibility_violations_in_light_or_dark() {
    let Some(browser) = BrowserSession::open() else { return };
    let Some(script) = axe::load_axe_script() else { return };
    let server = BrowserTestServer::start();
    agent_story::send_story(&server);
    let views = views::discover_views(&browser, &server);
    for scheme in ["light", "dark"] {
        browser.set_color_scheme(scheme);
        for view in views.iter().map(String::as_str).chain(views::APART.iter().copied()) {
            open_page(&browser, &server, view);
            // Folded parts are checked, too.
            browser.open_all_details();
            let found = axe::find_violations(&browser, script);
            assert!(found.is_empty(), "{view}, {scheme}:\n{}", found.join("\n"));
        }
    }
}

#[test]
fn the_login_has_no_serious_accessibility_violations() {
    let Some(browser) = BrowserSession::open() else { return };
    let Some(script) = axe::load_axe_script() else { return };
    let server = BrowserTestServer::with_token("correct-horse");
    for scheme in ["light", "dark"] {
        browser.set_color_scheme(scheme);
        for view in ["/login", "/agents/1"] {
            open_page(&browser, &server, view);
            let found = axe::find_violations(&browser, script);
            assert!(found.is_empty(), "{view}, {scheme}:\n{}", found.join("\n"));
        }
    }
}

#[test]
fn light_and_dark_are_two_schemes() {
    let Some(browser) = BrowserSession::open() else { return };
    let server = BrowserTestServer::start();
    let ground = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)[0]";
    browser.open_url(&server.page_url("/"));
    browser.set_color_scheme("light");
    browser.wait_for(&format!("{ground} > 200"));
    browser.set_color_scheme("dark");
    browser.wait_for(&format!("{ground} < 60"));
}

#[test]
fn the_accessibility_engine_finds_violations() {
    let Some(browser) = BrowserSession::open() else { return };
    let Some(script) = axe::load_axe_script() else { return };
    let server = BrowserTestServer::start();
    agent_story::send_story(&server);
    open_live_page(&browser, &server, "/");
    browser.run_script("document.querySelector('main').append(document.createElement('button'))", &[]);
    let found = axe::find_violations(&browser, script);
    assert!(found.iter().any(|found| found.starts_with("button-name")), "{found:?}");
}
