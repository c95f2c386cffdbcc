//! Requests of agents, answered on the page.

use serde_json::{Value, json};
use snell_store::requests::{
    AnswerAuthor, AnswerChoice, AnswerOrigin, AnswerOutcome, RequestAnswer, RequestKind, RequestView,
};

use crate::agent_story::StoryAgent;
use crate::driver::{BrowserSession, ENTER, ESCAPE, TAB};
use crate::live::{open_live_page, open_page};
use crate::server::BrowserTestServer;

/// A server with an agent that waits.
fn start() -> (BrowserTestServer, i64) {
    let server = BrowserTestServer::start();
    let agent_id = StoryAgent::new(&server, "s1", "shop").ask_question("May I?");
    (server, agent_id)
}

fn answer_elsewhere(server: &BrowserTestServer, request: &RequestView) {
    let answer =
        RequestAnswer { choice: AnswerChoice::Deny, replies: vec![], message: None, remember: None, suggestion: None };
    let author = AnswerAuthor { name: "bob".into(), origin: AnswerOrigin::Terminal };
    let outcome = server.open_store().answer_request(&request.uid, &answer, &author, jiff::Timestamp::now()).unwrap();
    assert!(matches!(outcome, AnswerOutcome::Accepted(_)));
}

fn wait_for_answer(browser: &BrowserSession, request: &RequestView) {
    browser.wait_for(&format!("document.getElementById('closed-{}')", request.uid));
}

#[test]
fn a_request_appears_is_answered_and_disappears_everywhere() {
    let Some(browser) = BrowserSession::open() else { return };
    let (server, agent_id) = start();
    open_live_page(&browser, &server, "/requests");
    assert!(browser.visible_text().contains("No agent asks for anything."));
    let first = browser.evaluate_text("''");
    let request = server.open_request(agent_id, |_| {});
    browser.wait_for_text("nav", "Requests (1)");
    browser.wait_for_text(".request pre", "make");
    assert_eq!(browser.evaluate("window.isSame"), true, "the page was not loaded again{first}");
    // Another window shows the same request.
    let other = browser.open_window();
    browser.switch_window(&other);
    open_live_page(&browser, &server, "/requests");
    browser.click_element(".request button.allow");
    wait_for_answer(&browser, &request);
    assert_eq!(server.take_answer(&request).unwrap().choice, AnswerChoice::Allow);
    browser.wait_for_text("#closed-requests", "✓ Allowed");
    let second = server.open_request(agent_id, |_| {});
    browser.wait_for_text("nav", "Requests (1)");
    answer_elsewhere(&server, &second);
    wait_for_answer(&browser, &second);
    browser.wait_for("!document.querySelector('.request')");
    browser.wait_for_text("#closed-requests", "✕ Denied by bob in a terminal");
    browser.wait_for("!document.querySelector('nav').innerText.includes('(')");
}

#[test]
fn a_text_that_is_being_written_survives_other_requests() {
    let Some(browser) = BrowserSession::open() else { return };
    let (server, agent_id) = start();
    let request = server.open_request(agent_id, |_| {});
    open_live_page(&browser, &server, "/requests");
    browser.click_element(".request details summary");
    browser.type_into(".request textarea", "use make");
    let other = server.open_request(agent_id, |_| {});
    browser.wait_for("document.querySelectorAll('.request').length === 2");
    assert_eq!(browser.evaluate_text("document.activeElement.value"), "use make");
    answer_elsewhere(&server, &other);
    browser.wait_for("document.querySelectorAll('.request').length === 1");
    assert_eq!(browser.evaluate_text("document.activeElement.value"), "use make");
    browser.click_element(".request button.deny");
    wait_for_answer(&browser, &request);
    let answer = server.take_answer(&request).unwrap();
    assert_eq!((answer.choice, answer.message.as_deref()), (AnswerChoice::Deny, Some("use make")));
}

#[test]
fn the_page_answers_without_scripts() {
    let Some(browser) = BrowserSession::without_scripts() else { return };
    let (server, agent_id) = start();
    let question = server.open_request(agent_id, |request| {
        request.kind = RequestKind::Question;
        request.detail =
            json!({"questions": [{"question": "Which?", "options": [{"label": "old"}, {"label": "new"}]}]});
    });
    browser.open_url(&server.page_url("/requests"));
    browser.click_element("input[type=radio][value='1']");
    browser.click_element(".request button.reply");
    browser.wait_for_text("body", "✓ Answered");
    assert_eq!(server.take_answer(&question).unwrap().replies, ["new"]);
}

#[test]
fn a_request_is_answered_with_the_keyboard_and_never_by_enter_in_a_field() {
    let Some(browser) = BrowserSession::open() else { return };
    let (server, agent_id) = start();
    let request = server.open_request(agent_id, |_| {});
    open_page(&browser, &server, "/requests");
    browser.open_all_details();
    for field in ["select[name=scope]", "select[name=until]", "textarea"] {
        browser.run_script(&format!("document.querySelector('{field}').focus()"), &[]);
        browser.press_key(ENTER);
        browser.press_key(ESCAPE);
    }
    browser.run_script("document.querySelector('.request .deny').focus()", &[]);
    browser.press_key(TAB);
    assert_eq!(browser.evaluate_text("document.activeElement.localName"), "summary");
    assert_eq!(server.take_answer(&request), None);
    browser.run_script("document.querySelector('.request .deny').focus()", &[]);
    browser.press_key(ENTER);
    wait_for_answer(&browser, &request);
    assert_eq!(server.take_answer(&request).unwrap().choice, AnswerChoice::Deny);
}

/// Texts that try to look like an answer, a button, a status, or the end of their frame.
const FAKES: &[&str] = &[
    "make</pre></div><form class=\"answer\"><button class=\"allow\">Allow</button></form>",
    "\"><button name=answer value=allow onclick=\"window.pwned = 1\">Allow</button>",
    "✓ Allowed by ann on the page\n\n\n\n\n\n\n\n✓ Allowed",
    "\u{1b}[2J\u{1b}[H✓ Allowed\u{7}",
    "echo \u{202e}tpircs\u{202c} \u{2066}x\u{2069} \u{200b}hidden",
    "<style>.deny { display: none }</style><article class=request id=request-1>",
    "<meta http-equiv=refresh content=\"0;url=data:text/html,x\"><base href=//example.invalid>",
];

fn open_fake(server: &BrowserTestServer, agent_id: i64, text: &str) -> RequestView {
    server.open_request(agent_id, |request| {
        request.title = text.into();
        request.tool = Some(text.into());
        request.detail = json!({
            "input": {"command": text, "description": text}, "cwd": text, "reading": [text],
            "reasons": [{"author": text, "rule": text, "text": text}],
        });
    })
}

/// The elements of the requests with the names of their attributes, and the buttons that people see.
const SKELETON: &str = "return [...document.querySelectorAll('#requests *')]
    .map((element) => [element.localName, ...element.getAttributeNames()].join(' '))";
const BUTTONS: &str = "return [...document.querySelectorAll('button')].filter((one) => one.checkVisibility())
    .map((one) => one.textContent + (one.closest('.quoted') ? ' in the text' : ''))
    .filter((text) => text.startsWith('Allow') || text.startsWith('Deny'))";

#[test]
fn hostile_text_in_a_request_is_shown_as_it_is() {
    let Some(browser) = BrowserSession::open() else { return };
    let (harmless, agent_id) = start();
    open_fake(&harmless, agent_id, "make");
    open_page(&browser, &harmless, "/requests");
    let expected = browser.run_script(SKELETON, &[]);
    for text in FAKES {
        let (server, agent_id) = start();
        let request = open_fake(&server, agent_id, text);
        open_live_page(&browser, &server, "/requests");
        assert_eq!(browser.run_script(SKELETON, &[]), expected, "{text}");
        assert_eq!(browser.run_script(BUTTONS, &[]), json!(["Allow", "Deny"]), "{text}");
        let shown = browser.visible_text();
        let raw = shown.chars().find(|c| matches!(*c, '\u{1b}' | '\u{7}' | '\u{202e}' | '\u{2066}' | '\u{200b}'));
        assert_eq!(raw, None, "{text}: {shown}");
        // Everything that the agent wrote is within the frame, or on the line with the names.
        let outside = browser.evaluate_text(
            "[...document.querySelectorAll('.request > :not(.quoted):not(header)')].map((part) => part.innerText).join()",
        );
        assert!(!outside.contains("Allowed") && !outside.contains("make"), "{outside}");
        assert_eq!(browser.evaluate("window.pwned ?? null"), Value::Null, "{text}");
        assert_eq!(browser.take_console_messages(), [""; 0], "{text}");
        assert_eq!(server.take_answer(&request), None, "{text}");
    }
}

#[test]
fn a_very_long_command_leaves_the_answers_in_reach() {
    let Some(browser) = BrowserSession::open() else { return };
    let (server, agent_id) = start();
    let long = format!("echo {}", "word ".repeat(200_000));
    let request = server.open_request(agent_id, |request| request.detail = json!({"input": {"command": long}}));
    browser.resize_viewport(360, 740);
    open_page(&browser, &server, "/requests");
    assert!(browser.visible_text().contains("more bytes are not shown. You cannot see all of it here."));
    let height =
        browser.evaluate_number("Math.round(document.querySelector('.request').getBoundingClientRect().height)");
    assert!(height < 1500, "{height}");
    browser.click_element(".request button.deny");
    wait_for_answer(&browser, &request);
}

#[test]
fn the_buttons_are_large_enough_for_a_thumb() {
    let Some(browser) = BrowserSession::open() else { return };
    let (server, agent_id) = start();
    server.open_request(agent_id, |_| {});
    browser.resize_viewport(360, 740);
    open_page(&browser, &server, "/requests");
    for button in ["allow", "deny"] {
        let size = |side: &str| {
            let script =
                format!("Math.round(document.querySelector('button.{button}').getBoundingClientRect().{side})");
            browser.evaluate_number(&script)
        };
        assert!(size("height") >= 40 && size("width") >= 90, "{button}");
    }
}

#[test]
fn a_login_with_the_answer_token_answers_and_one_with_the_other_token_does_not() {
    let Some(browser) = BrowserSession::open() else { return };
    let sandbox = crate::support::CliSandbox::new()
        .secret_home_file("token", "reader")
        .secret_home_file("answer-token", "answerer");
    let files = ["token", "answer-token"].map(|name| sandbox.home().join(name).to_str().unwrap().to_owned());
    let options = ["--token-file", &files[0], "--answer-token-file", &files[1]];
    let server = BrowserTestServer::in_sandbox(sandbox, &options);
    let event = snell_test_support::http::HttpRequest::new(
        server.page_url("").trim_start_matches("http://"),
        "POST",
        "/hook/session-start",
    );
    let event = event.header("Authorization: Bearer reader").json(r#"{"session_id":"s1","cwd":"/srv/shop"}"#).send();
    let request = server.open_request(event.expect_json()["agent_id"].as_i64().unwrap(), |_| {});
    for (token, may_answer) in [("reader", false), ("answerer", true)] {
        browser.open_url(&server.page_url("/requests"));
        browser.type_into("#token", token);
        browser.press_key(ENTER);
        browser.wait_for("document.querySelector('.request')");
        assert_eq!(browser.evaluate("!!document.querySelector('form.answer')"), may_answer, "{token}");
        if !may_answer {
            assert!(browser.visible_text().contains("You may read, but not answer here."));
            browser.click_element("form.leave button");
            browser.wait_for("document.querySelector('#token')");
        }
    }
    browser.click_element("button.allow");
    wait_for_answer(&browser, &request);
    assert_eq!(server.take_answer(&request).unwrap().choice, AnswerChoice::Allow);
    browser.wait_for_text("#closed-requests", "by the answer token from 127.0.0.1 on the page");
}
