//! How the receiver is, and what it heard.

use serde_json::json;

use crate::driver::Browser;
use crate::live::look_at;
use crate::server::Server;
use crate::story::{self, Agent};

#[test]
fn the_status_panel_follows_the_mode() {
    let Some(browser) = Browser::open() else { return };
    let server = Server::with(&["--silent-after", "3s", "--poll-silent", "1s"]);
    look_at(&browser, &server, "/logging");
    assert!(browser.texts("#receiver-mode")[0].contains("enabled"));
    browser.wait_for_text("#receiver-mode", "polling_fallback");
    browser.wait_for_text("#receiver-mode", "no hook was ever heard");
    browser.wait_for_text("#receiver", "none yet");
    for event in ["Stop", "Notification"] {
        server.tell("s1", &event.to_lowercase(), json!({}));
        browser.wait_for_text("#receiver-last", event);
        // Nothing tells the page that hooks have fallen silent but a look at the clock.
        browser.wait_for_text("#receiver-mode", "polling_fallback");
        browser.wait_for_text("#receiver-mode", "no hook was heard for 3 s");
    }
    assert_eq!(browser.value("window.isSame"), true, "the page was not loaded again");
}

#[test]
fn the_status_panel_becomes_active_with_a_hook() {
    let Some(browser) = Browser::open() else { return };
    let server = Server::start();
    look_at(&browser, &server, "/logging");
    browser.wait_for_text("#receiver-mode", "polling_fallback");
    server.tell("s1", "stop", json!({}));
    browser.wait_for_text("#receiver-mode", "hooks_active");
    browser.wait_for_text("#receiver-last", "Stop");
    browser.wait_for_text("#receiver-last", "ago");
}

/// Tells of a call that looks at this file.
fn reads(server: &Server, file: &str) {
    let call = json!({"tool_name": "Read", "tool_input": {"file_path": file}});
    server.tell("s1", "pre-tool-use", call);
}

#[test]
fn the_log_follows_what_happens_and_can_be_narrowed() {
    let Some(browser) = Browser::open() else { return };
    let server = Server::start();
    story::told_to(&server);
    look_at(&browser, &server, "/logging");
    browser.wait_for_text("#log", "git push --force");
    reads(&server, "seen-at-once.txt");
    browser.wait_for_text("#log-rows tr", "seen-at-once.txt");
    look_at(&browser, &server, "/logging?decision=block");
    let log = browser.texts("#log").join("");
    assert!(log.contains("git push --force") && !log.contains("cargo test"), "{log}");
}

#[test]
fn the_log_does_not_move_under_the_eyes_of_who_has_scrolled_down() {
    let Some(browser) = Browser::open() else { return };
    let server = Server::start();
    for number in 0..150 {
        reads(&server, &format!("file-{number}.txt"));
    }
    look_at(&browser, &server, "/logging");
    assert_eq!(
        browser.number("document.querySelectorAll('#log-rows tr').length"),
        100,
        "the rest is older"
    );
    browser.script("scrollTo(0, document.body.scrollHeight)", &[]);
    browser.wait_for("!document.getElementById('log').dataset.src");
    reads(&server, "new.txt");
    browser.wait_for_text("#log-new", "1 new");
    assert!(!browser.texts("#log-rows")[0].contains("new.txt"));
    browser.click("#log-new a");
    browser.wait_for_text("#log-rows tr", "new.txt");
    assert_eq!(browser.number("document.querySelectorAll('#log-rows tr').length"), 100);
}

#[test]
fn names_of_projects_are_not_broken_where_there_is_room() {
    let Some(browser) = Browser::open() else { return };
    let server = Server::start();
    browser.is_as_large_as(1280, 800);
    for (number, project) in ["lighthouse", "greenhouse", "shop"].into_iter().enumerate() {
        let session = format!("0a1b2c3d-{number}");
        let agent = Agent::of(&server, &session, project);
        agent.is_refused("git push --force origin main");
        agent.asks("Which of the two is right, and what is to be done with all the others that are left?");
    }
    look_at(&browser, &server, "/logging");
    let broken = "[...document.querySelectorAll('.log .project bdi')].filter((name) => name.getClientRects().length > 1
        || name.offsetHeight > 2 * parseFloat(getComputedStyle(name).fontSize)).map((name) => name.textContent)";
    assert_eq!(browser.value(broken), json!([]));
}

#[test]
fn a_name_of_any_length_leaves_its_row_a_row() {
    let Some(browser) = Browser::open() else { return };
    let server = Server::start();
    let name = "N".repeat(80_000);
    server.tell(
        "s1",
        "pre-tool-use",
        json!({"tool_name": name, "tool_input": {"command": "ls"}}),
    );
    for (path, row) in [
        ("/agents/1", "#timeline li"),
        ("/logging", ".log tbody tr"),
        ("/", ".card"),
    ] {
        look_at(&browser, &server, path);
        let tallest = format!("Math.max(...[...document.querySelectorAll('{row}')].map((row) => row.offsetHeight))");
        assert!(browser.number(&tallest) < 400, "{path}");
    }
}

#[test]
fn a_time_is_meant_as_times_are_shown() {
    let Some(browser) = Browser::open() else { return };
    let server = Server::start();
    Agent::of(&server, "s1", "shop").rests("Done.");
    let cases = [
        ("Asia/Kathmandu", "2026-03-01 12:30", "2026-03-01T12:30:00+05:45"),
        ("America/New_York", "2026-03-01", "2026-03-01T00:00:00-05:00"),
        ("America/New_York", "2026-07-01T01:02:03", "2026-07-01T01:02:03-04:00"),
        ("Asia/Tokyo", "2026-03-01T12:30:00Z", "2026-03-01T12:30:00Z"),
        ("Asia/Tokyo", "2h", "2h"),
    ];
    for (zone, typed, asked) in cases {
        browser.devtools("Emulation.setTimezoneOverride", &json!({"timezoneId": zone}));
        look_at(&browser, &server, "/logging");
        browser.type_into("input[name=since]", typed);
        browser.click("#log-form button");
        browser.wait_for("!window.isSame && document.getElementById('log')");
        assert_eq!(
            browser.text("new URLSearchParams(location.search).get('since')"),
            asked,
            "{zone} {typed}"
        );
        assert_eq!(browser.texts("[role=alert]"), [""; 0], "{zone} {typed}");
    }
}
