//! Live updates of the page.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::json;

use crate::agent_story::StoryAgent;
use crate::driver::BrowserSession;
use crate::report_measurement;
use crate::server::BrowserTestServer;

/// The number of timed events.
const TIMED: usize = 20;

/// An event should appear within 100 ms; on a busy machine, within this time.
const SEEN_WITHIN_MS: f64 = 30_000.0;

/// Opens a page, waits until it is live, and marks it to detect a reload.
pub fn open_live_page(browser: &BrowserSession, server: &BrowserTestServer, path: &str) {
    browser.open_url(&server.page_url(path));
    browser.wait_for("document.getElementById('connection').dataset.connection === 'live'");
    browser.evaluate("window.isSame = true");
}

/// Opens a page, and waits until it is live if it can be.
pub fn open_page(browser: &BrowserSession, server: &BrowserTestServer, path: &str) {
    browser.open_url(&server.page_url(path));
    browser.wait_for("!document.querySelector('#connection:not([data-connection=live])')");
}

#[test]
fn a_card_appears_and_follows_its_agent() {
    let Some(browser) = BrowserSession::open() else { return };
    let server = BrowserTestServer::start();
    open_live_page(&browser, &server, "/");
    assert!(browser.visible_text().contains("No agents need you."));
    let steps = [
        ("session-start", json!({}), "idle"),
        ("user-prompt-submit", json!({"prompt": "Repair the roof"}), "working"),
        ("pre-tool-use", json!({"tool_name": "Bash", "tool_input": {"command": "ls"}}), "Bash"),
        (
            "notification",
            json!({"message": "May I take the ladder?", "notification_type": "permission_prompt"}),
            "needs you",
        ),
        ("user-prompt-submit", json!({"prompt": "Yes"}), "working"),
        ("stop", json!({"last_assistant_message": "It is dry."}), "It is dry."),
    ];
    for (route, fields, shown) in steps {
        server.send_event("s1", route, fields);
        browser.wait_for_text(".card", shown);
    }
    server.send_event("s1", "session-end", json!({}));
    browser.wait_for_text("#ended summary", "Ended in the last 24 hours (1)");
    browser.wait_for("!document.querySelector('.card')");
    assert_eq!(browser.evaluate("window.isSame"), true, "the page was not loaded again");
}

#[test]
fn a_waiting_agent_is_in_the_list_the_head_and_the_title_until_answered() {
    let Some(browser) = BrowserSession::open() else { return };
    let server = BrowserTestServer::start();
    open_live_page(&browser, &server, "/");
    browser.wait_for_waiting_count(0);
    StoryAgent::new(&server, "s1", "shop").ask_question("Which one?");
    browser.wait_for_text("#needs", "Which one?");
    browser.wait_for_text("#needs", "waiting");
    browser.wait_for_waiting_count(1);
    browser.wait_for_text("#counts", "1 needs you");
    StoryAgent::new(&server, "s2", "blog").ask_question("And when?");
    browser.wait_for_waiting_count(2);
    browser.wait_for("document.querySelectorAll('#needs li').length === 2");
    assert!(browser.element_texts("#needs li")[0].contains("Which one?"), "who has waited for longest comes first");
    for (session, project) in [("s1", "shop"), ("s2", "blog")] {
        StoryAgent::new(&server, session, project).receive_prompt("That one.");
    }
    browser.wait_for_text("#needs", "No agents need you.");
    browser.wait_for_waiting_count(0);
}

#[test]
fn last_active_is_set_by_events_and_ticks() {
    let Some(browser) = BrowserSession::open() else { return };
    let server = BrowserTestServer::start();
    let an_hour_ago = SystemTime::now() - std::time::Duration::from_secs(3700);
    let seconds = an_hour_ago.duration_since(UNIX_EPOCH).unwrap().as_secs();
    let at = browser.run_script("return new Date(arguments[0] * 1000).toISOString()", &[seconds.into()]);
    server.send_event("s1", "session-start", json!({"timestamp": at}));
    open_live_page(&browser, &server, "/");
    browser.wait_for_text(".card .seen", "last active 1 h ago");
    server.send_event("s1", "user-prompt-submit", json!({"prompt": "Go on"}));
    let seconds = "Number(document.querySelector('.card .seen').innerText.match(/last active (\\d+) s ago/)?.[1])";
    browser.wait_for(&format!("{seconds} >= 0"));
    let first = browser.evaluate_number(seconds);
    browser.wait_for(&format!("{seconds} > {first}"));
    browser.wait_for(&format!("{seconds} > {}", first + 1));
    let heard_at = "document.querySelector('.card .seen time').dateTime";
    let before = browser.evaluate_text(heard_at);
    server.send_event("s1", "stop", json!({}));
    browser.wait_for(&format!("{heard_at} > '{before}'"));
}

#[test]
fn an_event_appears_quickly() {
    let Some(browser) = BrowserSession::open() else { return };
    let server = BrowserTestServer::start();
    server.send_event("s1", "session-start", json!({}));
    open_live_page(&browser, &server, "/");
    let watch = "window.seenAt = {};
        new MutationObserver(() => {
            for (const found of document.body.textContent.matchAll(/mark-(\\d+)-/g)) window.seenAt[found[1]] ??= Date.now();
        }).observe(document.body, { childList: true, subtree: true, characterData: true });";
    browser.run_script(watch, &[]);
    for (when, quiet_ms) in [("after a quiet second", 1000), ("right after another one", 0)] {
        let mut took_ms: Vec<f64> = Vec::new();
        for number in 0..TIMED {
            let quiet_from = browser.evaluate("Date.now()");
            browser.wait_for(&format!("Date.now() >= {quiet_from} + {quiet_ms}"));
            let mark = quiet_ms + number;
            let told = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64() * 1000.0;
            server.send_event("s1", "stop", json!({"last_assistant_message": format!("mark-{mark}-")}));
            browser.wait_for(&format!("window.seenAt[{mark}]"));
            let seen = browser.evaluate(&format!("window.seenAt[{mark}]")).as_f64().unwrap();
            took_ms.push(seen - told);
        }
        took_ms.sort_by(f64::total_cmp);
        let (median, longest) = (took_ms[TIMED / 2], took_ms[TIMED - 1]);
        report_measurement(&format!(
            "an event {when} is seen within {median:.0} ms (median), {longest:.0} ms (longest)"
        ));
        assert!(longest < SEEN_WITHIN_MS, "{took_ms:?}");
    }
}

#[test]
fn a_timeline_shows_new_events() {
    let Some(browser) = BrowserSession::open() else { return };
    let server = BrowserTestServer::start();
    let agent = StoryAgent::new(&server, "s1", "infra").make_refused_call("git push --force");
    open_live_page(&browser, &server, &format!("/agents/{agent}"));
    browser.open_all_details();
    let all = browser.element_texts("#timeline li").join("\n");
    for shown in ["Publish it.", "git push --force", "git-push-force", "./guard.sh", "no such branch"] {
        assert!(all.contains(shown), "{shown}: {all}");
    }
    server.send_event("s1", "stop", json!({"cwd": "/srv/infra", "last_assistant_message": "I made a branch."}));
    browser.wait_for_text("#timeline", "I made a branch.");
    browser.wait_for_text("#head", "idle");
    assert_eq!(browser.evaluate("window.isSame"), true, "the page was not loaded again");
    browser.click_element("form.filter input[name=prompts]");
    browser.wait_for("!window.isSame && document.querySelector('#timeline li')");
    let narrowed = browser.element_texts("#timeline").join("");
    assert!(narrowed.contains("./guard.sh") && !narrowed.contains("Publish it."), "{narrowed}");
}
