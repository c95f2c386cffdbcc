//! Tokens of people and machines, and people whom a proxy names.

use std::fs;
use std::os::unix::fs::MetadataExt;

use serde_json::json;
use snell::Timestamp;
use snell_server::{AccessRole, AccessToken, NamedTokens, TrustedHeader, TrustedProxy};
use snell_store::{LogFilter, Store};
use snell_test_support::files::set_file_mode;
use snell_test_support::http::{HttpRequest, HttpResponse};

use crate::support::{OpenRequest, TestApp};

const ALLOW: &str = r#"{"answer":"allow"}"#;
const EVENT: &str = r#"{"session_id":"s1","cwd":"/work/shop","host":"build-17"}"#;

/// A server that serves no one without a token.
fn start() -> (TestApp, NamedTokens) {
    let app = TestApp::with_settings(|settings| settings.token = Some(AccessToken::new("shared")));
    let tokens = NamedTokens::in_directory(app.data_dir());
    (app, tokens)
}

fn bearer(token: &str) -> String {
    format!("Authorization: Bearer {token}")
}

fn open_request(app: &TestApp) -> OpenRequest {
    let event = app.request("POST", "/hook/session-start").header(&bearer("shared")).json(EVENT).send();
    OpenRequest::open(app, event.expect_json()["agent_id"].as_i64().unwrap())
}

fn answer(app: &TestApp, request: &OpenRequest, header: &str) -> HttpResponse {
    app.request("POST", &request.api_path()).header(header).json(ALLOW).send()
}

#[test]
fn each_role_does_its_own_tasks_and_no_others() {
    let (app, tokens) = start();
    // The statuses of an event, of the receiver's status, of a page, of data, of metrics, and of an answer.
    let cases = [
        ("send", [200, 200, 403, 403, 403, 403]),
        ("look", [403, 200, 200, 200, 200, 403]),
        ("answer", [403, 200, 200, 200, 200, 200]),
        ("administer", [200, 200, 200, 200, 200, 200]),
    ];
    for (role, expected) in cases {
        let issued = tokens.create(role, AccessRole::parse(role).unwrap(), Timestamp::now()).unwrap();
        let request = open_request(&app);
        let header = bearer(&issued.text);
        let get = |path: &str| app.request("GET", path).header(&header).send().status;
        let event = app.request("POST", "/hook/stop").header(&header).json(EVENT).send();
        let answered = answer(&app, &request, &header);
        let found = [event.status, get("/hook/status"), get("/"), get("/api/agents"), get("/metrics"), answered.status];
        assert_eq!(found, expected, "{role}: {event:?} {answered:?}");
        if event.status == 403 {
            let expected = format!("the role \"{role}\" does not allow this");
            assert!(event.message().starts_with(&expected), "{event:?}");
        }
    }
}

#[test]
fn only_a_token_of_an_administrator_creates_and_revokes_tokens() {
    let (app, tokens) = start();
    let create = |header: &str, name: &str| {
        let body = json!({"name": name, "role": "look"}).to_string();
        app.request("POST", "/api/tokens").header(header).json(&body).send()
    };
    for role in ["send", "look", "answer"] {
        let issued = tokens.create(role, AccessRole::parse(role).unwrap(), Timestamp::now()).unwrap();
        assert_eq!(create(&bearer(&issued.text), "eve").status, 403, "{role}");
    }
    assert_eq!(create(&bearer("shared"), "eve").status, 403, "the shared token administers nothing");
    let admin = tokens.create("root", AccessRole::Administer, Timestamp::now()).unwrap();
    let set = app.request("POST", "/login").body(format!("token={}&next=/", admin.text).as_bytes()).send();
    let cookie = format!("Cookie: {}", set.header("set-cookie").unwrap().split(';').next().unwrap());
    for header in [&cookie, "X-Other: none"] {
        assert_eq!(create(header, "eve").status, 401, "{header}");
        assert_eq!(app.request("GET", "/api/tokens").header(header).send().status, 401, "{header}");
    }
    let created = create(&bearer(&admin.text), "ada").expect_json();
    let header = bearer(created["token"].as_str().unwrap());
    assert_eq!(app.request("GET", "/api/agents").header(&header).send().status, 200);
    let path = format!("/api/tokens/{}/revoke", created["id"].as_str().unwrap());
    assert_eq!(app.request("POST", &path).header(&bearer(&admin.text)).send().status, 200);
    assert_eq!(app.request("GET", "/api/agents").header(&header).send().status, 401);
    // Without any shared token, this user's own connections administer nothing either.
    let open = TestApp::start();
    assert_eq!(open.get("/api/tokens").status, 403);
}

#[test]
fn an_answer_names_the_person() {
    let (app, tokens) = start();
    let issued = tokens.create("Ada Lovelace", AccessRole::Answer, Timestamp::now()).unwrap();
    let request = open_request(&app);
    assert_eq!(answer(&app, &request, &bearer(&issued.text)).status, 200);
    let mut store = Store::open(&app.database_path()).unwrap().store;
    let answered = store.find_request(request.request_id).unwrap().unwrap();
    assert_eq!(answered.answered_by.as_deref(), Some("Ada Lovelace"));
    // By the form of the page, after a login.
    let request = open_request(&app);
    let set = app.request("POST", "/login").body(format!("token={}&next=/", issued.text).as_bytes()).send();
    let cookie = format!("Cookie: {}", set.header("set-cookie").unwrap().split(';').next().unwrap());
    assert!(!cookie.contains(&issued.text[6..]), "the cookie is not the token");
    let page = app.request("GET", "/requests").header(&cookie).send();
    let value = page.body.split("name=\"form\" value=\"").nth(1).unwrap().split('"').next().unwrap();
    assert_eq!(answer(&app, &request, &cookie).status, 403, "a cookie alone is not enough");
    let form = app
        .request("POST", &format!("/requests/{}/answer", request.uid))
        .header(&cookie)
        .body(format!("form={value}&answer=deny").as_bytes());
    assert_eq!(form.send().status, 303);
    assert_eq!(store.find_request(request.request_id).unwrap().unwrap().answered_by.as_deref(), Some("Ada Lovelace"));
    // Neither the token nor what is stored of it is on a page.
    let stored = fs::read_to_string(app.data_dir().join("tokens.json")).unwrap();
    assert!(!stored.contains(&issued.text[6..]) && !stored.contains(cookie.rsplit('=').next().unwrap()));
    assert!(!page.body.contains(&issued.text));
}

#[test]
fn a_revoked_token_is_refused_at_once_also_as_a_cookie() {
    let (app, tokens) = start();
    let issued = tokens.create("ada", AccessRole::Look, Timestamp::now()).unwrap();
    let set = app.request("POST", "/login").body(format!("token={}&next=/", issued.text).as_bytes()).send();
    let cookie = format!("Cookie: {}", set.header("set-cookie").unwrap().split(';').next().unwrap());
    let headers = [bearer(&issued.text), cookie];
    let statuses = || headers.each_ref().map(|header| app.request("GET", "/").header(header).send().status);
    assert_eq!(statuses(), [200, 200]);
    assert!(tokens.create("ada", AccessRole::Look, Timestamp::now()).is_err(), "the name is in use");
    tokens.revoke("ada").unwrap();
    assert_eq!(statuses(), [401, 401]);
    let again = tokens.create("ada", AccessRole::Look, Timestamp::now()).unwrap();
    assert_eq!(statuses(), [401, 401], "a new token of the same name is another one");
    tokens.revoke(&again.stored.id).unwrap();
    assert!(tokens.revoke("ada").is_err());
}

#[test]
fn a_revoked_token_is_refused_even_where_no_token_is_needed() {
    let app = TestApp::start();
    let tokens = NamedTokens::in_directory(app.data_dir());
    let issued = tokens.create("ada", AccessRole::Send, Timestamp::now()).unwrap();
    assert_eq!(app.get("/api/agents").status, 200, "this user needs no token");
    let with_token = || app.request("POST", "/hook/stop").header(&bearer(&issued.text)).json(EVENT).send().status;
    assert_eq!(with_token(), 200);
    tokens.revoke("ada").unwrap();
    assert_eq!(with_token(), 401);
}

#[test]
fn a_token_that_only_sends_cannot_log_in() {
    let (app, tokens) = start();
    let issued = tokens.create("build-17", AccessRole::Send, Timestamp::now()).unwrap();
    let refused = app.request("POST", "/login").body(format!("token={}&next=/", issued.text).as_bytes()).send();
    assert_eq!((refused.status, refused.header("set-cookie")), (401, None));
    assert!(refused.body.contains("may send events, but not read"), "{}", refused.body);
}

#[test]
fn a_file_that_others_can_read_or_that_is_damaged_admits_no_one() {
    let (app, tokens) = start();
    let issued = tokens.create("ada", AccessRole::Look, Timestamp::now()).unwrap();
    let path = app.data_dir().join("tokens.json");
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
    let status = || app.request("GET", "/").header(&bearer(&issued.text)).send().status;
    assert_eq!(status(), 200);
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, "{").unwrap();
    assert_eq!(status(), 401);
    assert!(tokens.list().unwrap_err().to_string().contains("is not a list of tokens"));
    fs::remove_file(&path).unwrap();
    fs::write(&path, text).unwrap();
    set_file_mode(&path, 0o644);
    assert_eq!(status(), 401);
    assert!(tokens.list().unwrap_err().to_string().contains("has mode 644"));
}

#[test]
fn an_event_with_a_token_of_its_own_claims_nothing_about_this_machine() {
    let (app, tokens) = start();
    let issued = tokens.create("build-17", AccessRole::Send, Timestamp::now()).unwrap();
    let own = rustix::system::uname().nodename().to_string_lossy().into_owned();
    // The host that the event names, and whether its process is believed.
    for (number, (host, is_believed)) in
        [("build-17", true), (own.as_str(), false), ("", false)].into_iter().enumerate()
    {
        let session = format!("s{number}");
        let event = json!({"session_id": session, "cwd": "/work/shop", "host": host, "pid": 4242});
        let sent = app.request("POST", "/hook/session-start").header(&bearer(&issued.text)).json(&event.to_string());
        let agent = sent.send().expect_json()["agent_id"].as_i64().unwrap();
        let mut store = Store::open(&app.database_path()).unwrap().store;
        let log = store.query_log(&LogFilter { limit: 100, ..LogFilter::default() }).unwrap();
        let entry = log.into_iter().find(|entry| entry.agent_id == agent).unwrap();
        let payload = store.find_event(entry.id).unwrap().unwrap().entry.payload;
        assert_eq!(payload.get("pid").is_some(), is_believed, "{host}: {payload:?}");
    }
}

/// A server behind a proxy on this machine that names people.
fn start_behind_proxy(roles: &[(&str, AccessRole)]) -> TestApp {
    TestApp::with_settings(|settings| {
        let proxies = vec![TrustedProxy::parse("127.0.0.1").unwrap(), TrustedProxy::parse("unix").unwrap()];
        let roles = roles.iter().map(|(name, role)| ((*name).to_owned(), *role)).collect();
        settings.trusted_header = TrustedHeader::new("X-Forwarded-User", proxies, roles);
    })
}

#[test]
fn a_proxy_names_people_and_each_has_a_role() {
    let app = start_behind_proxy(&[("ada", AccessRole::Answer), ("*", AccessRole::Look)]);
    let tokens = NamedTokens::in_directory(app.data_dir());
    let sender = tokens.create("build-17", AccessRole::Send, Timestamp::now()).unwrap();
    let event = app.request("POST", "/hook/session-start").header(&bearer(&sender.text)).json(EVENT).send();
    let request = OpenRequest::open(&app, event.expect_json()["agent_id"].as_i64().unwrap());
    let socket = app.socket_path();
    let send = |request: HttpRequest, over_socket: bool| match over_socket {
        true => request.send_over_unix_socket(&socket).status,
        false => request.send().status,
    };
    // The headers; the statuses of a page, of an event and of an answer.
    let cases: [(&[&str], [u16; 3]); 6] = [
        (&["X-Forwarded-User: ada"], [200, 401, 403]),
        (&["X-Forwarded-User: bob"], [200, 401, 403]),
        (&[], [401, 401, 401]),
        (&["X-Forwarded-User: "], [401, 401, 401]),
        (&["X-Forwarded-User: bob", "X-Forwarded-User: ada"], [401, 401, 401]),
        (&["X-Forwarded-User: ada", "Sec-Fetch-Site: cross-site"], [403, 403, 403]),
    ];
    for (headers, expected) in cases {
        for over_socket in [false, true] {
            let with_headers =
                |request: HttpRequest| headers.iter().fold(request, |request, header| request.header(header));
            let page = send(with_headers(app.request("GET", "/requests")), over_socket);
            let event = send(with_headers(app.request("POST", "/hook/stop")).json(EVENT), over_socket);
            let answered = send(with_headers(app.request("POST", &request.api_path())).json(ALLOW), over_socket);
            assert_eq!([page, event, answered], expected, "{headers:?} {over_socket}");
        }
    }
    // A person answers by the form, which a reader does not get.
    let page = |name: &str| app.request("GET", "/requests").header(&format!("X-Forwarded-User: {name}")).send().body;
    assert!(!page("bob").contains("name=\"form\""));
    let ada = page("ada");
    let value = ada.split("name=\"form\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let form = |name: &str| {
        let path = format!("/requests/{}/answer", request.uid);
        let form = app.request("POST", &path).header(&format!("X-Forwarded-User: {name}"));
        form.body(format!("form={value}&answer=deny").as_bytes()).send().status
    };
    assert_eq!((form("bob"), form("ada")), (403, 303));
    let mut store = Store::open(&app.database_path()).unwrap().store;
    assert_eq!(store.find_request(request.request_id).unwrap().unwrap().answered_by.as_deref(), Some("ada"));
}

#[test]
fn people_without_a_role_and_headers_of_other_clients_are_refused() {
    let app = start_behind_proxy(&[("ada", AccessRole::Look)]);
    let stranger = app.request("GET", "/api/agents").header("X-Forwarded-User: eve").send();
    assert_eq!(stranger.status, 403);
    assert!(stranger.message().starts_with("\"eve\" may not use this server"), "{stranger:?}");
    // Another address than the proxy's.
    let other = TestApp::with_settings(|settings| {
        settings.token = Some(AccessToken::new("shared"));
        let proxies = vec![TrustedProxy::parse("192.0.2.1").unwrap()];
        settings.trusted_header =
            TrustedHeader::new("X-Forwarded-User", proxies, vec![("*".into(), AccessRole::Administer)]);
    });
    assert_eq!(other.request("GET", "/").header("X-Forwarded-User: ada").send().status, 401);
}
