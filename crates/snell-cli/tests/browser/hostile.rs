//! Hostile text in every field is shown, and never run.

use serde_json::{Value, json};

use crate::driver::BrowserSession;
use crate::live::{open_live_page, open_page};
use crate::server::BrowserTestServer;
use crate::views;

/// Each would set `window.pwned`, add an element, or close the surrounding one.
const HOSTILE: &[&str] = &[
    "<img src=x onerror=\"window.pwned = 1\">",
    "\"><script>window.pwned = 2</script>",
    "'><svg onload='window.pwned = 3'>",
    "</title></style></textarea><script>window.pwned = 4</script>",
    "javascript:window.pwned=5",
    "\" onmouseover=\"window.pwned = 6\" autofocus onfocus=\"window.pwned = 6\" x=\"",
    "<iframe srcdoc=\"<script>parent.pwned = 7</script>\"></iframe>",
    "<!-- ]]> --!> <b>bold</b> &lt;b&gt; &#60;b&#62;",
    "${window.pwned = 8} {{constructor.constructor('window.pwned = 8')()}}",
    "<a href=\"javascript:window.pwned=9\" id=\"counts\">click</a>",
    "<meta http-equiv=refresh content=\"0;url=data:text/html,x\"><base href=//example.invalid>",
];

const HARMLESS: &str = "nothing but words in it";

/// The elements of a page with the names of their attributes, which text must not change.
const SKELETON: &str = "return [...document.querySelectorAll('*')]
    .map((element) => [element.localName, ...element.getAttributeNames()].join(' '))";

/// Sends a session with this text in all fields.
fn send_hostile_session(server: &BrowserTestServer, number: usize, text: &str) {
    let session = format!("{number:02} {text}");
    let cwd = format!("/srv/{number:02} {text}");
    let tell = |route: &str, mut fields: Value| {
        fields["cwd"] = json!(cwd);
        server.send_event(&session, route, fields);
    };
    tell(
        "session-start",
        json!({"source": text, "tmux_session": text, "tmux_pane": session, "host": text, "model": text}),
    );
    tell("user-prompt-submit", json!({"prompt": text}));
    let runs = json!([{"contract": text, "source": text, "line": 4, "command": text, "status": "failed", "exit_code": 1,
        "duration_us": 1500, "stdout": text, "stderr": text, "why": text, "matcher": text}]);
    let guard = json!([{"decision": "deny", "rule": text, "tier": text, "reason": text, "advice": text}]);
    let sender = json!({"product": text, "role": text, "host": text});
    let judgement = json!({"took_us": 5, "decision": "block", "reason": text, "runs": runs, "guard": guard});
    let call = json!({"tool_name": text, "tool_use_id": text, "tool_input": {"command": text, text: text}});
    let mut judged = call.clone();
    judged["snell"] = json!({"sender": sender, "judgement": judgement});
    tell("pre-tool-use", judged);
    tell("post-tool-use", call);
    tell("stop", json!({"last_assistant_message": text}));
    tell("event", json!({"hook_event_name": text, "message": text}));
    tell("notification", json!({"message": text, "title": text, "notification_type": "permission_prompt"}));
}

fn read_dom_skeleton(browser: &BrowserSession) -> Vec<String> {
    serde_json::from_value(browser.run_script(SKELETON, &[])).unwrap()
}

#[track_caller]
fn assert_page_unharmed(browser: &BrowserSession, place: &str) {
    assert_eq!(browser.evaluate("window.pwned ?? null"), Value::Null, "{place}");
    assert_eq!(browser.take_console_messages(), [""; 0], "{place}");
}

#[test]
fn hostile_text_is_shown_on_every_view_and_never_run() {
    let Some(browser) = BrowserSession::open() else { return };
    let server = BrowserTestServer::start();
    for (number, text) in HOSTILE.iter().enumerate() {
        send_hostile_session(&server, number, text);
    }
    for (number, text) in HOSTILE.iter().enumerate() {
        open_page(&browser, &server, &format!("/agents/{}", number + 1));
        assert_page_unharmed(&browser, text);
        assert!(browser.visible_text().contains(text), "{text}: {}", browser.visible_text());
    }
    for view in views::discover_views(&browser, &server) {
        open_page(&browser, &server, &view);
        assert_page_unharmed(&browser, &view);
    }
}

#[test]
fn hostile_text_adds_no_element_and_no_attribute_in_live_updates() {
    let Some(browser) = BrowserSession::open() else { return };
    let (harmless, hostile) = (BrowserTestServer::start(), BrowserTestServer::start());
    let mut skeletons = Vec::new();
    for server in [&harmless, &hostile] {
        open_live_page(&browser, server, "/");
        for (number, text) in HOSTILE.iter().enumerate() {
            let text = if std::ptr::eq(server, &raw const hostile) { text } else { HARMLESS };
            send_hostile_session(server, number, text);
        }
        let all = HOSTILE.len();
        browser.wait_for(&format!("document.querySelectorAll('.card[data-state=awaiting_input]').length === {all}"));
        browser.wait_for(&format!("document.querySelectorAll('#needs li').length === {all}"));
        browser.wait_for_waiting_count(all);
        assert_page_unharmed(&browser, "all agents");
        let live = read_dom_skeleton(&browser);
        browser.open_url(&server.page_url("/"));
        browser.wait_for("document.getElementById('connection').dataset.connection === 'live'");
        skeletons.push((live, read_dom_skeleton(&browser)));
    }
    let (live, loaded) = &skeletons[0];
    assert_eq!(*live, skeletons[1].0, "as it came");
    assert_eq!(*loaded, skeletons[1].1, "as it is loaded");
}
