//! On every screen, in every browser: narrow, without scripts, without complaints.

use crate::driver::Browser;
use crate::live::look_at;
use crate::server::Server;
use crate::story::Agent;
use crate::{story, views};

/// The narrowest screen that counts, in pixels.
const NARROW: u32 = 360;

#[test]
fn no_view_scrolls_sideways_on_a_narrow_screen() {
    let Some(browser) = Browser::open() else { return };
    let server = Server::start();
    story::told_to(&server);
    let endless = "Donaudampfschiff".repeat(40);
    Agent::of(&server, &endless, &endless).asks(&endless);
    Agent::of(&server, &endless, &endless).is_refused(&endless);
    browser.is_as_large_as(NARROW, 740);
    for view in views::all(&browser, &server) {
        browser.go(&server.at(&view));
        assert_eq!(browser.number("innerWidth"), u64::from(NARROW), "{view}");
        let width = browser.number("document.documentElement.scrollWidth");
        assert!(width <= u64::from(NARROW), "{view} is {width} pixels wide");
    }
}

#[test]
fn every_view_can_be_read_without_scripts() {
    let Some(browser) = Browser::without_scripts() else {
        return;
    };
    let server = Server::start();
    story::told_to(&server);
    let views = views::all(&browser, &server);
    for view in &views {
        browser.go(&server.at(view));
        let seen = browser.seen();
        assert_eq!(browser.texts("h1").len(), 1, "{view}");
        assert!(seen.contains("not live: that needs JavaScript"), "{view}: {seen}");
        assert!(browser.texts("main")[0].len() > 40, "{view}: {seen}");
    }
    browser.go(&server.at("/"));
    let seen = browser.seen();
    for shown in [
        "Which of the two tax tables",
        "working",
        "idle",
        "1 needs you",
        "Ended within a day (1)",
    ] {
        assert!(seen.contains(shown), "{shown}: {seen}");
    }
    browser.click("#open-1");
    browser.wait_for_text("#timeline", "Let the basket keep its goods");
    browser.click("form.filter input[name=prompts]");
    browser.click("form.filter button");
    browser.wait_for("location.search.includes('tools=1')");
    assert!(!browser.texts("#timeline")[0].contains("Let the basket keep its goods"));
}

#[test]
fn the_browser_has_nothing_to_complain_about_on_any_view() {
    let Some(browser) = Browser::open() else { return };
    let server = Server::start();
    story::told_to(&server);
    for view in views::all(&browser, &server) {
        look_at(&browser, &server, &view);
        Agent::of(&server, "s9", "shop").asks(&format!("Seen on {view}?"));
        browser.wait_for("document.title.startsWith('(2) ')");
        Agent::of(&server, "s9", "shop").rests("Yes.");
        browser.wait_for("document.title.startsWith('(1) ')");
        assert_eq!(browser.complaints(), [""; 0], "{view}");
    }
    // What is forbidden would have been told.
    browser.script("document.body.setAttribute('style', 'color: red')", &[]);
    let told = browser.complaints();
    assert!(
        told.iter().any(|told| told.contains("Content Security Policy")),
        "{told:?}"
    );
}
