//! Access control: pages of other sites, and clients without the token.

use std::fs;
use std::os::unix::fs::MetadataExt;

use serde_json::json;
use snell_server::{AccessToken, ServeSettings};
use snell_test_support::files::set_file_mode;
use snell_test_support::http::HttpRequest;

use crate::support::TestApp;

const EVENT: &str = r#"{"session_id":"s"}"#;

#[test]
fn a_foreign_host_name_is_refused() {
    let app = TestApp::with_settings(|settings| {
        settings.allow_hosts = vec!["receiver.test".into(), "proxy.test:8443".into()]
    });
    let port = app.address.port();
    let ours = [
        "localhost".to_owned(),
        format!("localhost:{port}"),
        format!("LOCALHOST:{port}"),
        "127.0.0.1".into(),
        format!("127.0.0.1:{port}"),
        "[::1]".into(),
        format!("[::1]:{port}"),
        "receiver.test".into(),
        "Receiver.Test:443".into(),
        "proxy.test:8443".into(),
    ];
    let foreign = [
        "evil.example".to_owned(),
        format!("evil.example:{port}"),
        "localhost.evil.example".into(),
        format!("localhost.:{port}"),
        "127.0.0.1.nip.io".into(),
        "localhost:1".into(),
        "127.0.0.2".into(),
        "0.0.0.0".into(),
        "proxy.test".into(),
        "proxy.test:8444".into(),
        "localhost@evil.example".into(),
        "".into(),
    ];
    for (hosts, status) in [(&ours[..], 200), (&foreign[..], 421)] {
        for host in hosts {
            for path in ["/healthz", "/api/agents", "/"] {
                let answer = app.request("GET", path).host(host).send();
                assert_eq!(answer.status, status, "{host} {path}");
            }
        }
    }
    assert_eq!(app.request("GET", "/healthz").without_host().send().status, 421);
    let twice = app.request("GET", "/healthz").header("Host: localhost").send();
    assert!([400, 421].contains(&twice.status), "{twice:?}");
    let absolute = app.request("GET", "http://evil.example/api/agents").send();
    assert_eq!(absolute.status, 421);
}

#[test]
fn pages_of_other_sites_are_refused() {
    let app = TestApp::start();
    let own = format!("http://{}", app.address);
    let foreign = [
        "Origin: http://evil.example".to_owned(),
        "Origin: null".into(),
        "Origin: http://localhost".into(),
        format!("Origin: http://localhost:{}", app.address.port()),
        format!("Origin: {own}.evil.example"),
        format!("Origin: {own}/"),
        format!("Origin: ftp://{}", app.address),
        "Sec-Fetch-Site: cross-site".into(),
        "Sec-Fetch-Site: same-site".into(),
    ];
    let own = [format!("Origin: {own}"), "Sec-Fetch-Site: same-origin".to_owned(), "Sec-Fetch-Site: none".into()];
    let requests: [fn(&TestApp) -> HttpRequest; 4] = [
        |app| app.request("POST", "/hook/stop").json(EVENT),
        |app| app.request("GET", "/api/agents"),
        |app| app.request("GET", "/hook/status"),
        |app| app.request("GET", "/metrics"),
    ];
    for request in requests {
        for header in &foreign {
            let answer = request(&app).header(header).send();
            assert_eq!(answer.status, 403, "{header}");
            assert_eq!(answer.message(), "requests from pages of other sites are not allowed");
            let allows = |(name, _): &(String, String)| name.starts_with("access-control-");
            assert!(!answer.headers.iter().any(allows), "{answer:?}");
        }
        for header in &own {
            assert_eq!(request(&app).header(header).send().status, 200, "{header}");
        }
    }
    for header in &foreign {
        let answer = app.request("GET", "/api/events/stream").header(header).send();
        assert_eq!(answer.status, 403, "{header}");
    }
    let two = app.request("GET", "/api/agents").header(&own[0]).header("Origin: http://evil.example");
    assert_eq!(two.send().status, 403);
}

#[test]
fn a_link_from_another_site_opens_only_pages() {
    let app = TestApp::start();
    // The headers of the request, and whether the page is shown.
    let rows = [
        ("cross-site", "navigate", "document", true),
        ("same-site", "navigate", "document", true),
        ("cross-site", "navigate", "iframe", false),
        ("cross-site", "navigate", "object", false),
        ("cross-site", "navigate", "", false),
        ("cross-site", "no-cors", "script", false),
        ("cross-site", "no-cors", "image", false),
        ("cross-site", "no-cors", "style", false),
        ("cross-site", "no-cors", "document", false),
        ("cross-site", "no-cors", "empty", false),
        ("same-site", "no-cors", "image", false),
        ("cross-site", "cors", "empty", false),
        ("cross-site", "", "", false),
        ("same-origin", "cors", "empty", true),
        ("none", "navigate", "document", true),
    ];
    for (site, mode, dest, is_shown) in rows {
        let ask = |path| {
            let told = [("Site", site), ("Mode", mode), ("Dest", dest)];
            let told = told.iter().filter(|(_, value)| !value.is_empty());
            let request = told.fold(app.request("GET", path), |request, (name, value)| {
                request.header(&format!("Sec-Fetch-{name}: {value}"))
            });
            request.send().status
        };
        let is_ours = ["same-origin", "none"].contains(&site);
        assert_eq!(ask("/"), if is_shown { 200 } else { 403 }, "{site} {mode} {dest}");
        assert_eq!(ask("/api/agents"), if is_ours { 200 } else { 403 }, "{site} {mode} {dest}");
    }
    let twice = app
        .request("GET", "/")
        .header("Sec-Fetch-Site: cross-site")
        .header("Sec-Fetch-Mode: navigate")
        .header("Sec-Fetch-Dest: image")
        .header("Sec-Fetch-Dest: document");
    assert_eq!(twice.send().status, 403);
}

#[test]
fn simple_requests_of_pages_are_refused() {
    let app = TestApp::start();
    // Forms and simple requests have one of these types. Other types need a preflight request.
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"] {
        let request = app.request("POST", "/hook/stop").header(&format!("Content-Type: {kind}"));
        assert_eq!(request.body(EVENT.as_bytes()).send().status, 400, "{kind}");
    }
    let asks = app
        .request("OPTIONS", "/hook/stop")
        .header("Origin: http://evil.example")
        .header("Access-Control-Request-Method: POST")
        .header("Access-Control-Request-Headers: content-type");
    let answer = asks.send();
    assert_eq!(answer.status, 403);
    assert_eq!(answer.header("access-control-allow-origin"), None);
    assert_eq!(app.get_json("/api/events")["items"], json!([]));
}

#[test]
fn every_response_has_the_security_headers() {
    let app = TestApp::start();
    let answers = [
        app.get("/healthz"),
        app.get("/nothing"),
        app.get("/api/agents"),
        app.request("GET", "/api/agents").host("evil.example").send(),
        app.request("POST", "/hook/stop").json("{").send(),
        app.request("OPTIONS", "/").send(),
        app.get("/fragments/agents/99"),
        app.post_hook("stop", &json!({"session_id": "s"})),
        app.open_stream("").head,
    ];
    for answer in answers {
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'; "), "{policy}");
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("cross-origin-resource-policy", "same-origin"),
            ("cross-origin-opener-policy", "same-origin"),
            ("cache-control", "no-store"),
        ] {
            assert_eq!(answer.header(name), Some(value), "{name} of {answer:?}");
        }
    }
}

#[test]
fn with_a_token_everything_but_the_liveness_check_needs_it() {
    let app = TestApp::with_settings(|settings| settings.token = Some(AccessToken::new("correct horse")));
    let paths = ["/", "/api/agents", "/hook/status", "/metrics", "/api/events/stream", "/api/openapi.json", "/nothing"];
    let wrong = [
        None,
        Some("Bearer wrong"),
        Some("Bearer correct hors"),
        Some("Bearer correct horse2"),
        Some("Bearer "),
        Some("Basic correct horse"),
        Some("correct horse"),
    ];
    for path in paths {
        for shown in wrong {
            let mut request = app.request("GET", path);
            if let Some(shown) = shown {
                request = request.header(&format!("Authorization: {shown}"));
            }
            let answer = request.send();
            assert_eq!(answer.status, 401, "{path} {shown:?}");
            assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
        }
    }
    // A wrong method does not reveal the right ones.
    let answer = app.request("DELETE", "/api/agents").send();
    assert_eq!((answer.status, answer.header("allow")), (401, None));
    let with_token = |request: HttpRequest| request.header("Authorization: Bearer correct horse").send().status;
    assert_eq!(with_token(app.request("GET", "/api/agents")), 200);
    assert_eq!(with_token(app.request("GET", "/nothing")), 404);
    assert_eq!(with_token(app.request("POST", "/hook/stop").json(EVENT)), 200);
    assert_eq!(app.request("POST", "/hook/stop").json(EVENT).send().status, 401);
    assert_eq!(app.get("/healthz").status, 200);
    // The token does not allow pages of other sites.
    let foreign = app.request("GET", "/api/agents").header("Origin: http://evil.example");
    assert_eq!(with_token(foreign), 403);
}

#[test]
fn the_unix_socket_needs_no_token_and_no_host_name() {
    let app = TestApp::with_settings(|settings| settings.token = Some(AccessToken::new("secret")));
    for request in [
        app.request("GET", "/api/agents").host("whatever"),
        app.request("GET", "/api/agents").host("snell.sock"),
        app.request("POST", "/hook/stop").json(EVENT),
    ] {
        assert_eq!(request.send_over_unix_socket(&app.socket_path()).status, 200);
    }
    let foreign = app.request("GET", "/api/agents").header("Origin: http://evil.example");
    assert_eq!(foreign.send_over_unix_socket(&app.socket_path()).status, 403);
    let socket = fs::metadata(app.data_dir().join("snell.sock")).unwrap();
    assert_eq!(socket.mode() & 0o777, 0o600);
}

#[test]
fn a_reachable_address_needs_a_token() {
    let directory = tempfile::tempdir().unwrap();
    let message = TestApp::start_error(ServeSettings::new(directory.path()), "0.0.0.0:0");
    assert!(message.contains("is reachable from other machines, so a token is required"), "{message}");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0, "nothing was made");
}

#[test]
fn a_token_file_must_be_private() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str, mode: u32| {
        let path = directory.path().join(name);
        fs::write(&path, text).unwrap();
        set_file_mode(&path, mode);
        path
    };
    for (name, text, mode) in [("a", "secret\n", 0o600), ("b", "  secret", 0o400)] {
        assert_eq!(AccessToken::from_file(&file(name, text, mode)).unwrap(), AccessToken::new("secret"), "{name}");
    }
    let message = |path: &std::path::Path| snell_store::format_error_chain(&AccessToken::from_file(path).unwrap_err());
    for mode in [0o644, 0o640, 0o604, 0o610, 0o777] {
        let path = file("open", "secret", mode);
        let shown = path.display();
        assert_eq!(message(&path), format!("the token file {shown} has mode {mode:03o}, so other users can read it"));
    }
    for (name, text) in [("empty", "\n"), ("words", "two words"), ("long", &"x".repeat(5000)), ("umlaut", "ä")] {
        assert!(message(&file(name, text, 0o600)).contains("must contain one word"), "{name}");
    }
    assert!(message(directory.path()).contains("it is a directory, not a regular file"));
    let pipe = directory.path().join("pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, rustix::fs::Mode::from_raw_mode(0o600), 0)
        .unwrap();
    assert!(message(&pipe).contains("it is a FIFO, not a regular file"));
    assert!(message(&directory.path().join("missing")).contains("cannot read the token file"));
    assert_eq!(format!("{:?}", AccessToken::new("secret")), "AccessToken(…)");
}
