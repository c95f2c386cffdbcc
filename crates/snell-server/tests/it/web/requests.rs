//! Requests of agents on the page, and signed links.

use std::time::Duration;

use serde_json::json;
use snell::Timestamp;
use snell_server::{AccessToken, AnswerKey, AnswerLink, ServeSettings};
use snell_store::requests::{AnswerChoice, RequestAnswer, RequestKind};
use snell_store::{ProcessIdentity, Store};
use snell_test_support::http::HttpResponse;
use snell_test_support::process::LiveProcess;

use super::{get_page, slice_between};
use crate::support::{OpenRequest, TestApp, remember_call};

/// A server, and the number of an agent that it knows.
fn start(change: impl FnOnce(&mut ServeSettings)) -> (TestApp, i64) {
    let app = TestApp::with_settings(|settings| {
        settings.user_name = Some("ann".to_owned());
        change(settings);
    });
    let agent = app.begin_session("s1")["agent_id"].as_i64().unwrap();
    (app, agent)
}

/// The hidden value of the forms on a page.
fn read_form_value(page: &HttpResponse) -> String {
    let field = slice_between(&page.body, "name=\"form\" value=\"", "\">");
    field.trim_start_matches("name=\"form\" value=\"").to_owned()
}

fn post_form(app: &TestApp, request: &OpenRequest, body: &str, headers: &[&str]) -> HttpResponse {
    let path = format!("/requests/{}/answer", request.uid);
    let mut post = app.request("POST", &path).header("Content-Type: application/x-www-form-urlencoded");
    for header in headers {
        post = post.header(header);
    }
    post.header("Accept: text/html").body(body.as_bytes()).send()
}

/// The answer that the agent would get.
fn take_answer(app: &TestApp, request: &OpenRequest) -> Option<RequestAnswer> {
    let mut store = Store::open(&app.database_path()).unwrap().store;
    store.take_answer(request.request_id, Timestamp::now()).unwrap()
}

#[test]
fn a_form_answers_and_the_page_says_who_answered_from_where() {
    let (app, agent_id) = start(|_| {});
    let request = OpenRequest::open(&app, agent_id);
    let page = get_page(&app, "/requests");
    assert!(page.body.contains("Requests <strong class=\"waiting\">(1)</strong>") || page.body.contains("(1)"));
    assert!(page.body.contains("wants to use <code><bdi>Bash</bdi></code>"), "{}", page.body);
    let body = format!("form={}&answer=allow&scope=project&until=1d", read_form_value(&page));
    let answered = post_form(&app, &request, &body, &[]);
    assert_eq!(
        (answered.status, answered.header("location")),
        (303, Some(&*format!("/requests#closed-{}", request.uid)))
    );
    let answer = take_answer(&app, &request).unwrap();
    assert_eq!((answer.choice, answer.message.as_deref()), (AnswerChoice::Allow, None));
    assert!(answer.remember.unwrap().until.is_some());
    let page = get_page(&app, "/requests");
    let closed = slice_between(&page.body, &format!("id=\"closed-{}\"", request.uid), "</li>");
    assert!(closed.contains("✓ Allowed</strong> by <bdi>ann</bdi> on the page"), "{closed}");
    assert!(!page.body.contains("<form class=\"answer\"") && page.body.contains("No agent asks for anything."));
    let late = post_form(&app, &request, &body, &[]);
    assert_eq!(late.status, 409);
    assert!(late.body.contains("Already answered") && late.body.contains("by ann (page)"), "{}", late.body);
}

#[test]
fn a_request_says_what_it_would_do_and_offers_the_agents_suggestions() {
    let (app, agent_id) = start(|_| {});
    let request = OpenRequest::open_with(&app, agent_id, |request| {
        request.detail = json!({
            "input": {"command": "make"}, "reading": ["runs: make", "</ul><b>allowed</b> \u{202e}"],
            "suggestions": [{"type": "addRules", "behavior": "allow", "destination": "session",
                "rules": [{"toolName": "Bash", "ruleContent": "make:*"}]}],
        });
    });
    let page = get_page(&app, "/requests");
    assert!(page.body.contains("<ul class=\"reading\"><li><bdi>runs: make</bdi></li>"), "{}", page.body);
    assert!(page.body.contains("&lt;/ul&gt;&lt;b&gt;allowed") && !page.body.contains('\u{202e}'));
    assert!(page.body.contains("<option value=\"1\">always allow Bash(make:*) (kept in: session)</option>"));
    let cards = get_page(&app, "/");
    assert!(
        cards.body.contains("would: <bdi>runs: make</bdi>") && cards.body.contains("See its request"),
        "{}",
        cards.body
    );
    let value = read_form_value(&page);
    let refused = post_form(&app, &request, &format!("form={value}&answer=allow&message=go"), &[]);
    assert_eq!(refused.status, 400);
    assert!(refused.body.contains("only with a denial"), "{}", refused.body);
    assert_eq!(post_form(&app, &request, &format!("form={value}&answer=allow&suggestion=7"), &[]).status, 400);
    assert_eq!(post_form(&app, &request, &format!("form={value}&answer=allow&suggestion=1&message="), &[]).status, 303);
    assert_eq!(take_answer(&app, &request).unwrap().suggestion, Some(1));
}

#[test]
fn an_answer_that_the_agent_did_not_get_says_so() {
    let (app, agent_id) = start(|_| {});
    let mut hook = LiveProcess::new();
    let waiter = Some(ProcessIdentity::from_pid(hook.pid()));
    let request = OpenRequest::open_with(&app, agent_id, |request| request.waiter = waiter);
    let value = read_form_value(&get_page(&app, "/requests"));
    assert_eq!(post_form(&app, &request, &format!("form={value}&answer=allow"), &[]).status, 303);
    let read_end = || {
        let page = get_page(&app, "/requests");
        slice_between(&page.body, &format!("id=\"closed-{}\"", request.uid), "</li>").to_owned()
    };
    assert!(read_end().contains("(the agent does not have it yet)"), "{}", read_end());
    hook.terminate();
    let end = read_end();
    assert!(end.contains("The agent did not get it</strong>: <bdi>its hook ended before</bdi>"), "{end}");
}

#[test]
fn a_question_is_answered_with_options_and_texts() {
    let (app, agent_id) = start(|_| {});
    let request = OpenRequest::open_with(&app, agent_id, |request| {
        request.kind = RequestKind::Question;
        request.detail = json!({"questions": [
            {"question": "Which table?", "header": "Tax", "options": [{"label": "old"}, {"label": "new", "description": "of 2026"}]},
            {"question": "Which tests?", "multi_select": true, "options": [{"label": "unit"}, {"label": "page"}]},
        ]});
    });
    let page = get_page(&app, "/requests");
    assert!(page.body.contains("<legend>") && page.body.contains("type=\"checkbox\" name=\"option-1\" value=\"1\""));
    let value = read_form_value(&page);
    let refused = post_form(&app, &request, &format!("form={value}&answer=reply&option-0=1"), &[]);
    assert_eq!(refused.status, 400);
    assert!(refused.body.contains("A reply is empty."), "{}", refused.body);
    let body = format!("form={value}&answer=reply&option-0=1&option-1=0&option-1=1&text-1=lint");
    assert_eq!(post_form(&app, &request, &body, &[]).status, 303);
    assert_eq!(take_answer(&app, &request).unwrap().replies, ["new", "unit, page, lint"]);
}

#[test]
fn a_form_needs_the_value_of_its_page() {
    let (app, agent_id) = start(|settings| settings.answer_token = Some(AccessToken::new("answerer")));
    let request = OpenRequest::open(&app, agent_id);
    let logged_in = app.request("POST", "/login").body(b"token=answerer").send();
    let cookie = format!("Cookie: {}", logged_in.header("set-cookie").unwrap().split(';').next().unwrap());
    // A reader of the page gets no form.
    let page = get_page(&app, "/requests");
    assert!(!page.body.contains("<form class=\"answer\"") && page.body.contains("Log in with a token that may answer"));
    let page = app.request("GET", "/requests").header(&cookie).send();
    let value = read_form_value(&page);
    let good = format!("form={value}&answer=deny");
    let own = format!("Origin: http://{}", app.address);
    let cases = [
        (good.as_str(), vec![], 403),
        ("answer=deny", vec![cookie.as_str()], 403),
        ("form=&answer=deny", vec![&cookie], 403),
        (&good.replace(&value[..4], "0000"), vec![&cookie], 403),
        (&good, vec![&cookie, "Origin: http://evil.example"], 403),
        (&good, vec![&cookie, "Origin: null"], 403),
        (&good, vec![&cookie, "Sec-Fetch-Site: cross-site"], 403),
        (&good, vec![&cookie, &own, "Sec-Fetch-Site: same-origin"], 303),
    ];
    for (body, headers, status) in cases {
        let answer = post_form(&app, &request, body, &headers);
        assert_eq!(answer.status, status, "{body} {headers:?}: {}", answer.body);
    }
    assert_eq!(take_answer(&app, &request).unwrap().choice, AnswerChoice::Deny);
}

#[test]
fn without_a_token_the_value_is_needed_too() {
    let (app, agent_id) = start(|_| {});
    let request = OpenRequest::open(&app, agent_id);
    assert_eq!(post_form(&app, &request, "answer=allow", &[]).status, 403);
    let value = read_form_value(&get_page(&app, "/requests"));
    let body = format!("form={value}&answer=allow");
    let renamed = app.request("POST", &format!("/requests/{}/answer", request.uid)).host("evil.example");
    assert_eq!(renamed.body(body.as_bytes()).send().status, 421);
    assert_eq!(take_answer(&app, &request), None);
    assert_eq!(post_form(&app, &request, &body, &[]).status, 303);
    assert_eq!(post_form(&app, &request, &"x".repeat(300_000), &[]).status, 413);
}

#[test]
fn the_call_is_shown_in_full_within_bounds() {
    let (app, agent_id) = start(|_| {});
    let open = |detail: serde_json::Value| OpenRequest::open_with(&app, agent_id, |request| request.detail = detail);
    let long = format!("echo {}", "x".repeat(1024 * 1024));
    let command = open(json!({"input": {"command": long}, "cwd": "/work"}));
    let edit = open(json!({
        "input": {"file_path": "src/a.rs", "old_string": "let a = 1;\nb();", "new_string": "let a = 2;\nb();"},
        "reasons": [{"author": "guard", "rule": "git-push-force", "text": "others lose their work"}],
        "reading": ["write src/a.rs"],
    }));
    let page = get_page(&app, "/requests");
    assert!(page.body.len() < 200_000, "{}", page.body.len());
    let card = slice_between(&page.body, &format!("id=\"request-{}\"", command.uid), "</article>");
    assert!(card.contains("… 1028581 more bytes are not shown."), "{}", &card[card.len() - 2000..]);
    let card = slice_between(&page.body, &format!("id=\"request-{}\"", edit.uid), "</article>");
    for part in
        ["<del>- let a = 1;", "<ins>+ let a = 2;", "<span class=\"same\">  b();", "git-push-force", "write src/a.rs"]
    {
        assert!(card.contains(part), "{part}: {card}");
    }
}

#[test]
fn an_agents_card_and_page_link_to_its_open_request() {
    let (app, agent_id) = start(|_| {});
    let link = |request: &OpenRequest| format!("href=\"/requests#request-{}\"", request.uid);
    let request = OpenRequest::open(&app, agent_id);
    for path in ["/".to_owned(), format!("/agents/{agent_id}"), format!("/fragments/agents/{agent_id}")] {
        assert!(get_page(&app, &path).body.contains(&link(&request)), "{path}");
    }
    let answered = app.request("POST", &request.api_path()).json(r#"{"answer":"deny"}"#).send();
    assert_eq!(answered.status, 200);
    assert!(!get_page(&app, "/").body.contains(&link(&request)));
}

fn sign(app: &TestApp, request: &OpenRequest, choice: AnswerChoice, expires_in: i64) -> String {
    let key = AnswerKey::load_or_create(app.data_dir()).unwrap();
    let expires_at = Timestamp::now().as_second() + expires_in;
    format!("/answer/{}", key.sign_link(&AnswerLink { uid: request.uid.clone(), choice, expires_at }))
}

#[test]
fn a_signed_link_shows_a_form_and_answers_once() {
    let (app, agent_id) = start(|settings| settings.token = None);
    let request = OpenRequest::open(&app, agent_id);
    let link = sign(&app, &request, AnswerChoice::Deny, 60);
    for method in ["GET", "HEAD", "GET"] {
        let page = app.request(method, &link).header("Sec-Fetch-Site: cross-site").header("Sec-Fetch-Mode: navigate");
        assert_eq!(page.header("Sec-Fetch-Dest: document").send().status, 200, "{method}");
    }
    assert_eq!(take_answer(&app, &request), None, "looking does not answer");
    let page = app.get(&link);
    assert!(page.body.contains("<button class=\"deny\">Deny</button>") && !page.body.contains("class=\"allow\""));
    // Its body cannot change the answer.
    let answered = app.request("POST", &link).body(b"answer=allow&choice=allow").send();
    assert_eq!(answered.status, 200, "{answered:?}");
    assert!(answered.body.contains("✕ Denied</strong> by <bdi>a link from 127.0.0.1</bdi> by the link of a notice"));
    assert_eq!(take_answer(&app, &request).unwrap().choice, AnswerChoice::Deny);
    assert_eq!(app.request("POST", &link).send().status, 409);
    let page = app.get(&link);
    assert!(page.status == 200 && page.body.contains("✕ Denied") && !page.body.contains("<button"), "{}", page.body);
}

#[test]
fn only_a_valid_link_answers() {
    let (app, agent_id) = start(|_| {});
    let request = OpenRequest::open(&app, agent_id);
    let other = OpenRequest::open(&app, agent_id);
    let deny = sign(&app, &request, AnswerChoice::Deny, 60);
    let cases = [
        (deny.replace(".deny.", ".allow."), 403),
        (deny.replace(&request.uid, &other.uid), 403),
        (deny[..deny.len() - 1].to_owned(), 403),
        ("/answer/x".to_owned(), 403),
        ("/answer/%2e%2e".to_owned(), 403),
        (sign(&app, &request, AnswerChoice::Deny, -1), 410),
        (sign(&app, &request, AnswerChoice::Reply, 60), 400),
    ];
    for (link, status) in cases {
        assert_eq!(app.request("POST", &link).send().status, status, "{link}");
    }
    let foreign = app.request("POST", &deny).header("Origin: http://evil.example").send();
    assert_eq!(foreign.status, 403);
    assert_eq!(app.request("POST", &deny).host("evil.example").send().status, 421);
    assert_eq!((take_answer(&app, &request), take_answer(&app, &other)), (None, None));
}

#[test]
fn a_link_needs_no_token_and_gives_no_other_right() {
    let app = TestApp::with_settings(|settings| settings.token = Some(AccessToken::new("reader")));
    let event = app.request("POST", "/hook/session-start").header("Authorization: Bearer reader");
    let event = event.json(&json!({"session_id": "s1", "cwd": app.data_dir()}).to_string()).send().expect_json();
    let request = OpenRequest::open(&app, event["agent_id"].as_i64().unwrap());
    let link = sign(&app, &request, AnswerChoice::Allow, 60);
    assert_eq!(app.get("/requests").status, 401);
    assert_eq!(app.get(&link).status, 200);
    assert_eq!(app.request("POST", &link).send().status, 200);
    assert_eq!(take_answer(&app, &request).unwrap().choice, AnswerChoice::Allow);
}

#[test]
fn a_link_of_an_ended_request_says_so() {
    let (app, agent_id) = start(|_| {});
    let request = OpenRequest::open_with(&app, agent_id, |request| {
        request.opened_at = Timestamp::now() - Duration::from_secs(60);
        request.expires_at = request.opened_at + Duration::from_secs(1);
    });
    let link = sign(&app, &request, AnswerChoice::Allow, 60);
    assert!(app.get(&link).body.contains("no answer came in time"));
    assert_eq!(app.request("POST", &link).send().status, 410);
}

#[test]
fn remembered_answers_are_listed_and_only_those_who_may_answer_forget_them() {
    let app = TestApp::with_settings(|settings| {
        settings.token = Some(AccessToken::new("reader"));
        settings.answer_token = Some(AccessToken::new("answerer"));
    });
    remember_call(&app, "abcdef012345");
    let get = |token: &str| {
        let page = app.request("GET", "/requests").header(&format!("Authorization: Bearer {token}")).send();
        slice_between(&page.body, "id=\"remembered-abcdef012345\"", "</li>").to_owned()
    };
    assert!(get("reader").contains("Bash: make") && !get("reader").contains("<form"), "{}", get("reader"));
    let listed = get("answerer");
    let value =
        slice_between(&listed, "name=\"form\" value=\"", "\">").trim_start_matches("name=\"form\" value=\"").to_owned();
    let forget = |path: &str, token: &str, body: &str| {
        let post = app.request("POST", path).header(&format!("Authorization: Bearer {token}"));
        post.header("Accept: text/html").body(body.as_bytes()).send().status
    };
    let (form, api) = ("/remembered/abcdef012345/forget", "/api/remembered/abcdef012345/forget");
    assert_eq!(forget(form, "reader", &format!("form={value}")), 403);
    assert_eq!(forget(api, "reader", ""), 403);
    assert_eq!(forget(form, "answerer", "form=no"), 403);
    assert_eq!(forget("/remembered/ffff/forget", "answerer", &format!("form={value}")), 404);
    assert_eq!(forget(form, "answerer", &format!("form={value}")), 303);
    assert_eq!(forget(api, "answerer", ""), 404);
}
