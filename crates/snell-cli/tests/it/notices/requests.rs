//! Notices with buttons: requests that the user can answer from elsewhere.

use std::time::Duration;

use serde_json::{Value, json};
use snell::Timestamp;
use snell_store::Store;
use snell_store::requests::{
    AnswerChannel, AnswerChoice, NewRequest, RequestAnswer, RequestKind, RequestOrigin, RequestStatus, RequestView,
    WatcherLock,
};
use snell_test_support::files::write_script;
use snell_test_support::stub_server::{StubReply, StubServer};
use snell_test_support::wait::wait_until;

use super::{NoticeSandbox, start_target};
use crate::support::CliSandbox;

/// Long enough that no wait is worth a notice in a test.
const LATE: &str = "1h";

/// A user with all targets at this server, and an address for other devices.
fn create_sandbox(server: &StubServer, answers: &str) -> NoticeSandbox {
    let url = server.url();
    let config = format!(
        "[notify]\nafter = \"{LATE}\"\ncommand = 'env > \"$SNELL_PROJECT_DIR/variables\"'\nntfy = \"{url}/ntfy/my-topic\"\n\
         slack = {{ url_file = \"slack-url\" }}\nwebhook = {{ url = \"{url}/hook\", secret_file = \"key\" }}\n\n\
         [answers]\n{answers}\n"
    );
    let sandbox = CliSandbox::new().secret_home_file("key", "k").secret_home_file("slack-url", &format!("{url}/slack"));
    let bin = sandbox.home().join("bin");
    write_script(&bin.join("notify-send"), "exit 1");
    NoticeSandbox::with_sandbox(sandbox, &config)
}

const ANSWERS: &str = "enabled = true\nurl = \"https://phone.example/snell\"";

impl NoticeSandbox {
    fn open_store(&self) -> Store {
        Store::open(&self.database()).unwrap().store
    }

    /// Opens a request of the agent of a session, as a hook does.
    fn open_request(&self, text: &str, change: impl FnOnce(&mut NewRequest)) -> RequestView {
        self.ask_permission("s1");
        // Another process stores the event.
        wait_until(|| self.database().exists().then_some(()));
        wait_until(|| (!self.query("SELECT agent_id FROM agents").is_empty()).then_some(()));
        let opened_at = Timestamp::now();
        let mut request = NewRequest {
            kind: RequestKind::Permission,
            origin: RequestOrigin::Agent,
            channel: AnswerChannel::Reply,
            agent_id: 1,
            session_id: Some("s1".to_owned()),
            event_id: None,
            tool: Some("Bash".to_owned()),
            tool_use_id: None,
            title: text.to_owned(),
            detail: json!({"input": {"command": text}}),
            opened_at,
            expires_at: opened_at + Duration::from_secs(600),
            waiter: None,
        };
        change(&mut request);
        self.open_store().open_request(&request).unwrap()
    }

    fn take_answer(&self, request: &RequestView) -> Option<RequestAnswer> {
        self.open_store().take_answer(request.request_id, Timestamp::now()).unwrap()
    }

    /// Waits until each target has got the notice of a request.
    fn wait_for_request_notices(&self, targets: &[&str]) {
        let expected: Vec<_> = targets.iter().map(|target| format!("request {target} sent")).collect();
        wait_until(|| {
            let sent = self.list_deliveries().into_iter().filter(|row| row.starts_with("request "));
            (sent.collect::<Vec<_>>() == expected).then_some(())
        });
    }
}

fn find_body(server: &StubServer, path: &str) -> Value {
    let requests = server.requests();
    let found: Vec<_> = requests.iter().filter(|request| request.path() == path).collect();
    assert_eq!(found.len(), 1, "{path}: {requests:?}");
    found[0].json()
}

#[test]
fn every_target_gets_the_buttons_of_a_request_at_once() {
    let server = start_target();
    let agents = create_sandbox(&server, ANSWERS);
    let hostile = "runs: make\nAllowed by you\u{202e}\u{1b}[2J <!channel> *bold*";
    let request = agents.open_request("Bash: make", |request| {
        request.detail = json!({"input": {"command": "make"}, "reading": ["deletes build/", hostile]});
    });
    agents.wait_for_request_notices(&["ntfy", "slack", "webhook", "command"]);
    let webhook = find_body(&server, "/hook");
    let answers = &webhook["request"]["answers"];
    let link = |index: usize| answers[index]["url"].as_str().unwrap().to_owned();
    let base = format!("https://phone.example/snell/answer/{}", request.uid);
    assert!(link(0).starts_with(&format!("{base}.allow.")), "{webhook}");
    assert!(link(1).starts_with(&format!("{base}.deny.")), "{webhook}");
    assert_eq!((&answers[0]["answer"], &answers[1]["answer"]), (&json!("allow"), &json!("deny")));
    let page = format!("https://phone.example/snell/requests#request-{}", request.uid);
    assert_eq!((&webhook["link"], &webhook["id"]), (&json!(page), &json!(request.uid)));
    assert_eq!((&webhook["kind"], &webhook["request"]["text"]), (&json!("request"), &json!("Bash: make")));

    let ntfy = find_body(&server, "/ntfy/");
    let http = |label, url| json!({"action": "http", "label": label, "url": url, "method": "POST", "clear": true});
    let expected =
        json!([http("Allow", link(0)), http("Deny", link(1)), {"action": "view", "label": "Open", "url": page}]);
    assert_eq!(ntfy["actions"], expected);
    // Each line of the reading is one line, and its invisible characters can be seen.
    let shown = "runs: make Allowed by you\\u{202e}\\u{1b}[2J <!channel> *bold*";
    assert_eq!(webhook["request"]["reading"], json!(["deletes build/", shown]));
    let body = format!("Bash: make\n• deletes build/\n• {shown}");
    assert_eq!((&ntfy["message"], &ntfy["priority"]), (&json!(body), &json!(4)));

    let slack = find_body(&server, "/slack");
    assert!(!slack["text"].as_str().unwrap().contains("<!channel>"), "{slack}");
    assert_eq!(slack["blocks"][1]["text"]["type"], "plain_text");
    let button = |label, url| json!({"type": "button", "text": {"type": "plain_text", "text": label, "emoji": false}, "url": url});
    let expected = json!([button("Allow", link(0)), button("Deny", link(1)), button("Open", page)]);
    assert_eq!(slack["blocks"][2], json!({"type": "actions", "elements": expected}));

    let variables = agents.sandbox.wait_for_content("variables");
    for line in [format!("SNELL_REQUEST={}", request.uid), format!("SNELL_ALLOW_LINK={}", link(0))] {
        assert!(variables.lines().any(|found| found == line), "{line}: {variables}");
    }
}

#[test]
fn a_button_answers_its_request_and_no_other_button_answers_it_again() {
    let target = start_target();
    let agents = create_sandbox(&target, ANSWERS);
    let server = agents.start_server();
    wait_until(|| WatcherLock::is_held(&agents.sandbox.data()).then_some(()));
    let request = agents.open_request("Bash: make", |_| {});
    agents.wait_for_request_notices(&["ntfy", "slack", "webhook", "command"]);
    let ntfy = find_body(&target, "/ntfy/");
    let path = |index: usize| {
        let url = ntfy["actions"][index]["url"].as_str().unwrap();
        url.trim_start_matches("https://phone.example/snell").to_owned()
    };
    // Programs that preview links fetch them.
    assert_eq!(server.request("GET", &path(0)).send().status, 200);
    assert_eq!(agents.take_answer(&request), None);
    assert_eq!(server.request("POST", &path(1)).send().status, 200);
    assert_eq!(server.request("POST", &path(0)).send().status, 409);
    assert_eq!(server.request("POST", &path(1)).send().status, 409);
    assert_eq!(agents.take_answer(&request).unwrap().choice, AnswerChoice::Deny);
}

#[test]
fn without_an_address_for_other_devices_there_are_no_buttons_and_nothing_waits_for_them() {
    let target = start_target();
    let agents = create_sandbox(&target, "enabled = true");
    let server = agents.start_server();
    let request = agents.open_request("Bash: make", |_| {});
    agents.wait_for_request_notices(&["ntfy", "slack", "webhook", "command"]);
    let ntfy = find_body(&target, "/ntfy/");
    assert!(
        ntfy["actions"].as_array().is_none_or(|actions| actions.iter().all(|one| one["action"] == "view")),
        "{ntfy}"
    );
    assert_eq!(find_body(&target, "/hook")["request"]["answers"], json!([]));
    assert_eq!(request.status, RequestStatus::Open);
    assert!(!WatcherLock::is_held(&agents.sandbox.data()));
    drop(server);
}

#[test]
fn a_question_has_only_a_link_to_the_page() {
    let target = start_target();
    let agents = create_sandbox(&target, ANSWERS);
    agents.open_request("Which table?", |request| request.kind = RequestKind::Question);
    agents.wait_for_request_notices(&["ntfy", "slack", "webhook", "command"]);
    let actions = find_body(&target, "/ntfy/")["actions"].clone();
    assert_eq!((actions.as_array().unwrap().len(), &actions[0]["action"]), (1, &json!("view")), "{actions}");
}

#[test]
fn a_closed_request_has_no_notice_and_an_open_one_replaces_that_of_its_wait() {
    let target = start_target();
    let url = target.url();
    let config = format!(
        "[notify]\nafter = \"1ms\"\nwebhook = {{ url = \"{url}/hook\", secret_env = \"KEY\" }}\n\n[answers]\n{ANSWERS}\n"
    );
    // The first attempt fails, and the request is closed before the second one.
    let failing = StubServer::with_reply(StubReply::answer(503, ""));
    let config = config.replace(&url, &failing.url());
    let agents = NoticeSandbox::with_sandbox(CliSandbox::new().env("KEY", "k"), &config);
    agents.send_event("s1", "UserPromptSubmit", json!({"prompt": "go"}));
    wait_until(|| agents.database().exists().then_some(()));
    wait_until(|| (!agents.query("SELECT agent_id FROM agents").is_empty()).then_some(()));
    let request = agents.open_request("Bash: make", |_| {});
    wait_until(|| (!failing.requests().is_empty()).then_some(()));
    agents.open_store().close_request(request.request_id, RequestStatus::Withdrawn, "gone", Timestamp::now()).unwrap();
    let details = || {
        agents.query(
            "SELECT kind || ': ' || coalesce(detail, '') AS text FROM deliveries JOIN dispatches USING (dispatch_id)",
        )
    };
    wait_until(|| details().iter().any(|row| row.to_string().contains("request: the request is closed")).then_some(()));
}

#[test]
fn hostile_text_in_a_request_is_text_in_every_notice() {
    let target = start_target();
    let agents = create_sandbox(&target, ANSWERS);
    let hostile = "\u{1b}[2J\u{202e}<https://evil.example|Allow> @channel *✓ Allowed by ann*\n\"],\"actions\":[{\"label\":\"Allow\"}] \
                   $(touch pwned) ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    agents.open_request(&format!("{hostile}{}", "x".repeat(1024 * 1024)), |request| {
        request.tool = Some(hostile.to_owned());
    });
    agents.wait_for_request_notices(&["ntfy", "slack", "webhook", "command"]);
    for request in target.requests() {
        let bytes = request.body.as_bytes();
        assert!(bytes.len() < 8 * 1024, "{}: {} bytes", request.path(), bytes.len());
        let raw = request.body.chars().find(|c| matches!(c, '\u{1b}' | '\u{202e}'));
        assert_eq!(raw, None, "{}", request.body);
        assert!(!request.body.contains("\\u001b") && !request.body.contains("ghp_16C7"), "{}", request.body);
    }
    let ntfy = find_body(&target, "/ntfy/");
    let labels: Vec<_> = ntfy["actions"].as_array().unwrap().iter().map(|one| one["label"].clone()).collect();
    assert_eq!(labels, ["Allow", "Deny", "Open"]);
    let slack = find_body(&target, "/slack");
    assert!(
        slack["blocks"].as_array().unwrap()[..2].iter().all(|block| block["text"]["type"] == "plain_text"),
        "{slack}"
    );
    assert!(!slack["text"].as_str().unwrap().contains("<https"), "{slack}");
    assert!(!agents.sandbox.exists("pwned"));
}
