//! The login with a token.

use snell_server::AccessToken;
use snell_test_support::http::HttpResponse;

use crate::support::TestApp;

fn start_with_token() -> TestApp {
    TestApp::with_settings(|settings| settings.token = Some(AccessToken::new("correct-horse")))
}

fn post_login(app: &TestApp, body: &str, headers: &[&str]) -> HttpResponse {
    let mut request = app.request("POST", "/login").header("Content-Type: application/x-www-form-urlencoded");
    for header in headers {
        request = request.header(header);
    }
    request.body(body.as_bytes()).send()
}

/// The cookie of a response, in the form in which a browser sends it.
fn read_cookie(answer: &HttpResponse) -> String {
    let set = answer.header("set-cookie").unwrap();
    format!("Cookie: {}", set.split(';').next().unwrap())
}

#[test]
fn one_login_allows_reading() {
    let app = start_with_token();
    let asked = app.get("/agents/1?tools=1");
    assert_eq!((asked.status, asked.header("referrer-policy")), (401, Some("same-origin")));
    assert!(asked.body.contains("action=\"/login\"") && asked.body.contains("value=\"/agents/1?tools=1\""));
    let origin = format!("Origin: http://{}", app.address);
    let as_browsers_do = [origin.as_str(), "Sec-Fetch-Site: same-origin"];
    let answer = post_login(&app, "token=correct-horse&next=%2Fagents%2F1%3Ftools%3D1", &as_browsers_do);
    assert_eq!((answer.status, answer.header("location")), (303, Some("/agents/1?tools=1")));
    let set = answer.header("set-cookie").unwrap();
    for part in ["; HttpOnly", "; SameSite=Strict", "; Path=/", "; Max-Age=7776000"] {
        assert!(set.contains(part), "{set}");
    }
    assert!(!set.contains("correct-horse") && !set.contains("Secure"), "{set}");
    let cookie = read_cookie(&answer);
    for path in ["/", "/fragments/needs", "/api/agents", "/hook/status"] {
        assert_eq!(app.request("GET", path).header(&cookie).send().status, 200, "{path}");
        assert_eq!(app.request("HEAD", path).header(&cookie).send().status, 200, "{path}");
    }
    // It survives a restart, because it is derived from the token.
    let app = app.restart();
    assert_eq!(app.request("GET", "/").header(&cookie).send().status, 200);
}

#[test]
fn a_cookie_allows_only_reading() {
    let app = start_with_token();
    let cookie = read_cookie(&post_login(&app, "token=correct-horse", &[]));
    let event = app.request("POST", "/hook/stop").header(&cookie).json(r#"{"session_id":"s"}"#);
    assert_eq!(event.send().status, 401);
    let foreign = app.request("GET", "/api/agents").header(&cookie).header("Origin: http://evil.example");
    assert_eq!(foreign.send().status, 403);
    let renamed = app.request("GET", "/").header(&cookie).host("evil.example");
    assert_eq!(renamed.send().status, 421);
    let value = cookie.rsplit('=').next().unwrap();
    let (name, wrong) = (cookie.trim_end_matches(value), format!("{}0", &value[..value.len() - 1]));
    for other in [format!("{name}{wrong}"), format!("{name}correct-horse"), name.to_owned(), "Cookie: a=b".into()] {
        let answer = app.request("GET", "/").header(&other).send();
        assert!(answer.status == 401 || other == cookie, "{other}");
    }
    let bearer = app.request("GET", "/").header(&format!("Authorization: Bearer {value}"));
    assert_eq!(bearer.send().status, 401, "the cookie is not the token");
}

#[test]
fn a_wrong_token_shows_an_error_and_sets_no_cookie() {
    let app = start_with_token();
    for body in ["token=wrong&next=%2F", "token=", "next=%2F", "", "token=correct-horse2", "nonsense"] {
        let answer = post_login(&app, body, &[]);
        assert_eq!((answer.status, answer.header("set-cookie")), (401, None), "{body}");
        assert!(answer.body.contains("The token is wrong.") && answer.body.contains("<form"), "{body}");
    }
    let long = format!("token={}", "x".repeat(20_000));
    assert_eq!(post_login(&app, &long, &[]).status, 413);
}

#[test]
fn a_login_does_not_redirect_elsewhere_and_other_sites_cannot_log_in() {
    let app = start_with_token();
    for next in ["https%3A%2F%2Fevil.example", "%2F%2Fevil.example", "%2F%5Cevil.example", "javascript%3Aalert(1)"] {
        let answer = post_login(&app, &format!("token=correct-horse&next={next}"), &[]);
        assert_eq!((answer.status, answer.header("location")), (303, Some("/")), "{next}");
    }
    for header in ["Origin: http://evil.example", "Sec-Fetch-Site: cross-site", "Origin: null"] {
        let answer = post_login(&app, "token=correct-horse", &[header]);
        assert_eq!((answer.status, answer.header("set-cookie")), (403, None), "{header}");
    }
    assert_eq!(app.request("GET", "/login").host("evil.example").send().status, 421);
}

#[test]
fn a_login_over_tls_sets_a_secure_cookie() {
    let app = TestApp::with_settings(|settings| {
        settings.token = Some(AccessToken::new("correct-horse"));
        settings.allow_hosts = vec!["receiver.test".into()];
    });
    let request = app.request("POST", "/login").host("receiver.test").header("Origin: https://receiver.test");
    let answer = request.body(b"token=correct-horse").send();
    assert!(answer.header("set-cookie").unwrap().ends_with("; Secure"), "{answer:?}");
}

#[test]
fn logging_out_ends_the_access() {
    let app = start_with_token();
    let cookie = read_cookie(&post_login(&app, "token=correct-horse", &[]));
    let answer = app.request("POST", "/logout").header(&cookie).send();
    assert_eq!((answer.status, answer.header("location")), (303, Some("/login")));
    let set = answer.header("set-cookie").unwrap();
    assert!(set.contains("=; Path=/; Max-Age=0;"), "{set}");
    let foreign = app.request("POST", "/logout").header("Origin: http://evil.example").send();
    assert_eq!(foreign.status, 403);
}

#[test]
fn nothing_derived_from_the_token_is_shown_without_it() {
    let app = start_with_token();
    let cookie = read_cookie(&post_login(&app, "token=correct-horse", &[]));
    let (name, value) = cookie.trim_start_matches("Cookie: ").split_once('=').unwrap();
    let shown = [
        "X-Nothing: 1".to_owned(),
        format!("Cookie: {name}="),
        format!("Cookie: {name}=0"),
        format!("Cookie: other={value}"),
        "Authorization: Bearer wrong".into(),
    ];
    let open = ["POST /logout", "POST /login", "GET /login", "GET /healthz", "GET /", "GET /api/agents"];
    for (header, line) in shown.iter().flat_map(|header| open.map(|line| (header, line))) {
        let (method, path) = line.split_once(' ').unwrap();
        let answer = app.request(method, path).header(header).send();
        let told = format!("{answer:?}");
        assert!(!told.contains(name) && !told.contains(value), "{line} with {header}: {told}");
    }
}

#[test]
fn without_a_token_there_is_no_login() {
    let app = TestApp::start();
    for answer in [app.get("/login"), post_login(&app, "token=x", &[]), app.request("POST", "/logout").send()] {
        assert_eq!((answer.status, answer.header("location"), answer.header("set-cookie")), (303, Some("/"), None));
    }
    assert!(!app.get("/").body.contains("/logout"));
}
