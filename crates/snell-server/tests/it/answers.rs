//! Who may answer requests of agents, and what becomes of an answer.

use std::time::Duration;

use serde_json::{Value, json};
use snell::Timestamp;
use snell_server::AccessToken;
use snell_store::Store;
use snell_store::requests::{AnswerChoice, RequestKind, RequestStatus, WatcherLock};
use snell_test_support::http::{HttpRequest, HttpResponse};
use snell_test_support::wait::wait_until;

use crate::support::{OpenRequest, TestApp};

const ALLOW: &str = r#"{"answer":"allow"}"#;

/// A server with these tokens, and an agent.
fn start_with_tokens(token: Option<&str>, answer_token: Option<&str>) -> (TestApp, i64) {
    let app = TestApp::with_settings(|settings| {
        settings.token = token.map(AccessToken::new);
        settings.answer_token = answer_token.map(AccessToken::new);
        settings.user_name = Some("ann".to_owned());
        settings.allow_hosts = vec!["receiver.test".to_owned()];
    });
    let cwd = app.data_dir().join("projects/shop");
    let mut event = app.request("POST", "/hook/session-start");
    if let Some(token) = token {
        event = event.header(&format!("Authorization: Bearer {token}"));
    }
    let event = event.json(&json!({"session_id": "s1", "cwd": cwd}).to_string()).send();
    (app, event.expect_json()["agent_id"].as_i64().unwrap())
}

/// The cookie of a login with this token, as a browser sends it.
fn log_in(app: &TestApp, token: &str) -> String {
    let answer = app.request("POST", "/login").body(format!("token={token}&next=/").as_bytes()).send();
    let set = answer.header("set-cookie").unwrap_or_else(|| panic!("no cookie: {answer:?}"));
    format!("Cookie: {}", set.split(';').next().unwrap())
}

#[test]
fn only_clients_with_the_right_may_answer() {
    let (read, answer) = (Some("reader"), Some("answerer"));
    let bearer = |token: &str| format!("Authorization: Bearer {token}");
    // The tokens of the server, the header of the client, and the statuses of an answer and of a reading.
    let cases = [
        (None, None, String::new(), 200, 200),
        (None, None, "Host: receiver.test".into(), 403, 200),
        (None, None, "X-Forwarded-For: 203.0.113.7".into(), 403, 200),
        (None, None, "Forwarded: for=203.0.113.7".into(), 403, 200),
        (None, None, "Origin: http://evil.example".into(), 403, 403),
        (None, None, "Sec-Fetch-Site: cross-site".into(), 403, 403),
        (None, None, "Sec-Fetch-Site: same-site".into(), 403, 403),
        (None, None, "Host: evil.example".into(), 421, 421),
        (read, None, String::new(), 401, 401),
        (read, None, bearer("reader"), 403, 200),
        (read, None, bearer("answerer"), 401, 401),
        (read, None, "reader's cookie".into(), 403, 200),
        (None, answer, String::new(), 403, 200),
        (None, answer, bearer("answerer"), 200, 200),
        (None, answer, bearer("wrong"), 403, 200),
        (None, answer, "answerer's cookie".into(), 403, 200),
        (read, answer, String::new(), 401, 401),
        (read, answer, bearer("reader"), 403, 200),
        (read, answer, bearer("answerer"), 200, 200),
        (read, answer, bearer("wrong"), 401, 401),
        (read, answer, "reader's cookie".into(), 403, 200),
        // Forms of the page carry a proof; the API has none.
        (read, answer, "answerer's cookie".into(), 403, 200),
    ];
    for (token, answer_token, header, status, read_status) in cases {
        let (app, agent_id) = start_with_tokens(token, answer_token);
        let request = OpenRequest::open(&app, agent_id);
        let name = format!("{token:?} {answer_token:?} {header}");
        let with_header = |request: HttpRequest| match header.split_once("'s cookie") {
            Some((token, _)) => request.header(&log_in(&app, token)),
            None if header.starts_with("Host: ") => request.host(header.trim_start_matches("Host: ")),
            None if header.is_empty() => request,
            None => request.header(&header),
        };
        let read = with_header(app.request("GET", &request.api_path())).send();
        assert_eq!(read.status, read_status, "{name}: {read:?}");
        let answered = with_header(app.request("POST", &request.api_path())).json(ALLOW).send();
        assert_eq!(answered.status, status, "{name}: {answered:?}");
        let mut store = Store::open(&app.database_path()).unwrap().store;
        let taken = store.take_answer(request.request_id, Timestamp::now()).unwrap();
        assert_eq!(taken.map(|answer| answer.choice), (status == 200).then_some(AnswerChoice::Allow), "{name}");
    }
}

#[test]
fn a_client_without_the_right_gets_a_hint() {
    let (app, agent_id) = start_with_tokens(Some("reader"), Some("answerer"));
    let request = OpenRequest::open(&app, agent_id);
    let refused = app.request("POST", &request.api_path()).header("Authorization: Bearer reader").json(ALLOW).send();
    let expected = "you may not answer requests of agents (hint: send the answer token; `snell serve \
                    --answer-token-file` sets it)";
    assert_eq!(refused.message(), expected);
}

#[test]
fn the_answer_token_reads_and_answers_but_sends_no_events() {
    let (app, _) = start_with_tokens(Some("reader"), Some("answerer"));
    let cookie = log_in(&app, "answerer");
    for header in ["Authorization: Bearer answerer", &cookie] {
        for path in ["/", "/api/agents", "/api/requests"] {
            assert_eq!(app.request("GET", path).header(header).send().status, 200, "{path}");
        }
        let event = app.request("POST", "/hook/stop").header(header).json(r#"{"session_id":"s"}"#).send();
        assert_eq!(event.status, 401, "{header}");
    }
}

#[test]
fn the_unix_socket_answers_without_a_token() {
    let (app, agent_id) = start_with_tokens(Some("reader"), Some("answerer"));
    let request = OpenRequest::open(&app, agent_id);
    let answer = app.request("POST", &request.api_path()).json(ALLOW).send_over_unix_socket(&app.socket_path());
    assert_eq!(answer.expect_json()["answered_by"], "ann");
}

#[test]
fn equal_tokens_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let mut settings = snell_server::ServeSettings::new(directory.path());
    settings.token = Some(AccessToken::new("same"));
    settings.answer_token = Some(AccessToken::new("same"));
    assert_eq!(TestApp::start_error(settings, "127.0.0.1:0"), "the token and the answer token are equal");
}

fn answer(app: &TestApp, request: &OpenRequest, body: &str) -> HttpResponse {
    app.request("POST", &request.api_path()).json(body).send()
}

#[test]
fn the_first_answer_counts_and_later_ones_learn_about_it() {
    let (app, agent_id) = start_with_tokens(None, None);
    let request = OpenRequest::open(&app, agent_id);
    let listed = app.get_json("/api/requests");
    assert_eq!((&listed["items"][0]["uid"], &listed["items"][0]["status"]), (&json!(request.uid), &json!("open")));

    let body = r#"{"answer":"deny","message":"not now","remember":null}"#;
    let answered = answer(&app, &request, body).expect_json();
    assert_eq!(answered["answer"], json!({"choice": "deny", "message": "not now"}));
    assert_eq!((&answered["answered_by"], &answered["answered_from"]), (&json!("ann"), &json!("api")));

    let late = answer(&app, &request, ALLOW);
    assert_eq!(late.status, 409);
    let expected = "this request was answered with \"deny\" by ann (api) at ";
    assert!(late.message().starts_with(expected), "{}", late.message());
    assert_eq!(app.get_json("/api/requests")["items"], json!([]));
    assert_eq!(app.get_json("/api/requests?status=answered")["items"][0]["uid"], json!(request.uid));
    assert_eq!(app.get_json(&request.api_path())["status"], "answered");
}

#[test]
fn of_many_clients_that_answer_at_once_one_wins() {
    let (app, agent_id) = start_with_tokens(None, None);
    let request = OpenRequest::open(&app, agent_id);
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let answer = |choice: &str| answer(&app, &request, &json!({"answer": choice}).to_string()).status;
        let threads: Vec<_> =
            ["allow", "deny"].repeat(4).into_iter().map(|choice| scope.spawn(move || answer(choice))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let won = statuses.iter().filter(|status| **status == 200).count();
    assert!(won == 1 && statuses.iter().all(|status| [200, 409].contains(status)), "{statuses:?}");
}

#[test]
fn an_answer_that_does_not_fit_says_why_and_leaves_the_request_open() {
    let (app, agent_id) = start_with_tokens(None, None);
    let permission = OpenRequest::open(&app, agent_id);
    let question = OpenRequest::open_with(&app, agent_id, |request| {
        request.kind = RequestKind::Question;
        request.detail = json!({"questions": [{"question": "Which?", "options": [{"label": "a"}]}]});
    });
    let cases = [
        (&permission, "nonsense", "the request body is not an answer: "),
        (&permission, r#"{"answer":"yes"}"#, "unknown variant `yes`"),
        (&permission, r#"{"answer":"allow","answer":"deny"}"#, "duplicate field"),
        (&permission, r#"{"answer":"allow","no":1}"#, "unknown field `no`"),
        (&permission, r#"{"answer":"reply","replies":["a"]}"#, "a permission cannot be answered with a reply"),
        (&permission, r#"{"answer":"allow","remember":{"scope":"all"}}"#, "unknown variant `all`"),
        (
            &permission,
            r#"{"answer":"allow","remember":{"scope":"project","until":"soon"}}"#,
            "\"until\" must be a time",
        ),
        (&permission, r#"{"answer":"allow","remember":{"scope":"project","until":"2020-01-01"}}"#, "is in the past"),
        (&permission, r#"{"answer":"deny","message":"a\u001b[2J"}"#, "control characters"),
        (&question, r#"{"answer":"reply"}"#, "one reply for each of 1 questions"),
        (&question, ALLOW, "a question cannot be allowed"),
    ];
    for (request, body, expected) in cases {
        let refused = answer(&app, request, body);
        assert_eq!(refused.status, 400, "{body}: {refused:?}");
        assert!(refused.message().contains(expected), "{body}: {}", refused.message());
    }
    let no_json = app.request("POST", &permission.api_path()).body(ALLOW.as_bytes()).send();
    assert_eq!(no_json.status, 400);
    assert_eq!(app.get_json("/api/requests")["items"].as_array().unwrap().len(), 2);
    let replied = answer(&app, &question, r#"{"answer":"reply","replies":["a"]}"#).expect_json();
    assert_eq!(replied["answer"]["replies"], json!(["a"]));
}

#[test]
fn unknown_and_ended_requests_are_refused() {
    let (app, agent_id) = start_with_tokens(None, None);
    let request = OpenRequest::open(&app, agent_id);
    let prefix = &request.uid[..4];
    for uid in ["none", prefix, "%25", "x%20y"] {
        let refused = app.request("POST", &format!("/api/requests/{uid}")).json(ALLOW).send();
        assert_eq!(refused.status, 404, "{uid}: {refused:?}");
        assert_eq!(app.get(&format!("/api/requests/{uid}")).status, 404, "{uid}");
    }
    let over = OpenRequest::open_with(&app, agent_id, |request| {
        request.opened_at = Timestamp::now() - Duration::from_secs(60);
        request.expires_at = request.opened_at + Duration::from_secs(1);
    });
    let refused = answer(&app, &over, ALLOW);
    assert_eq!(refused.status, 410);
    assert!(refused.message().ends_with(": no answer came in time"), "{}", refused.message());
}

#[test]
fn the_stream_reports_requests_and_the_server_closes_those_that_are_over() {
    let (app, agent_id) = start_with_tokens(None, None);
    let mut stream = app.open_stream("?types=request_opened,request_closed");
    let request = OpenRequest::open_with(&app, agent_id, |request| {
        request.opened_at = Timestamp::now() - Duration::from_secs(60);
        request.expires_at = Timestamp::now() - Duration::from_secs(4);
    });
    let mut next = || -> (String, Value) {
        let event = stream.next_event();
        (event.event, event.data)
    };
    let (event, data) = next();
    assert_eq!(
        (event.as_str(), &data["uid"], &data["status"]),
        ("request_opened", &json!(request.uid), &json!("open"))
    );
    let (event, data) = next();
    assert_eq!(
        (event.as_str(), &data["uid"], &data["status"]),
        ("request_closed", &json!(request.uid), &json!("expired"))
    );
    let mut store = Store::open(&app.database_path()).unwrap().store;
    let refused = store.take_answer(request.request_id, Timestamp::now()).unwrap();
    assert_eq!(refused, None);
    assert_eq!(app.get_json(&request.api_path())["status"], RequestStatus::Expired.as_str());
}

#[test]
fn hooks_wait_only_while_a_client_that_may_answer_listens() {
    let (app, _) = start_with_tokens(Some("reader"), Some("answerer"));
    let open = |token: &str| {
        let request = app.request("GET", "/api/events/stream").header(&format!("Authorization: Bearer {token}"));
        let mut client = snell_test_support::sse::SseClient::open(&request.without_chunking());
        client.read_greeting();
        client
    };
    let is_watched = || WatcherLock::is_held(app.data_dir());
    let _reader = open("reader");
    assert!(!is_watched(), "a reader cannot answer");
    let first = open("answerer");
    let second = open("answerer");
    assert!(is_watched());
    drop(first);
    assert!(is_watched());
    drop(second);
    wait_until(|| (!is_watched()).then_some(()));
}
