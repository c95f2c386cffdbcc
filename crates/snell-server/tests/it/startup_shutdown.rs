//! Start and shutdown of a server.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixListener;
use std::time::{Duration, Instant};

use serde_json::json;
use snell_server::{ServeSettings, ServerListener};
use snell_test_support::http::HttpResponse;
use snell_test_support::wait::{WAIT_TIMEOUT, wait_until};

use crate::support::TestApp;

#[test]
fn running_requests_finish_before_the_shutdown() {
    let mut app = TestApp::start();
    let body = r#"{"session_id":"s1","prompt":"last words"}"#;
    let request = app.request("POST", "/hook/user-prompt-submit").json(body).bytes();
    let mut stream = TcpStream::connect(app.address).unwrap();
    stream.set_read_timeout(Some(WAIT_TIMEOUT)).unwrap();
    let (first, rest) = request.split_at(request.len() - 5);
    stream.write_all(first).unwrap();
    wait_until(|| app.get("/metrics").body.contains("snell_http_connections 2").then_some(()));
    app.request_stop();
    // New connections are refused.
    wait_until(|| TcpStream::connect(app.address).is_err().then_some(()));
    stream.write_all(rest).unwrap();
    let mut told = Vec::new();
    stream.read_to_end(&mut told).unwrap();
    assert_eq!(HttpResponse::parse(&told).status, 200);
    app.stop();
    assert!(!app.data_dir().join("snell.sock").exists());
    let app = app.restart();
    assert_eq!(app.get_json("/api/agents/1/turns")["items"][0]["text"], "last words");
}

#[test]
fn streams_and_idle_connections_do_not_delay_the_shutdown() {
    let mut app = TestApp::with_settings(|settings| settings.grace = Duration::from_secs(600));
    let mut streams: Vec<_> = (0..3).map(|_| app.open_stream("")).collect();
    let _silent: Vec<_> = (0..3).map(|_| TcpStream::connect(app.address).unwrap()).collect();
    app.stop();
    for stream in &mut streams {
        assert_eq!(stream.read_event(), None);
    }
}

#[test]
fn a_slow_client_delays_the_shutdown_only_for_the_grace_period() {
    let mut app = TestApp::with_settings(|settings| settings.grace = Duration::from_millis(100));
    let mut stream = TcpStream::connect(app.address).unwrap();
    let request = app.request("POST", "/hook/stop").json(r#"{"session_id":"s1"}"#).bytes();
    stream.write_all(&request[..request.len() - 1]).unwrap();
    wait_until(|| app.get("/metrics").body.contains("snell_http_connections 2").then_some(()));
    let started = Instant::now();
    app.stop();
    assert!(started.elapsed() < WAIT_TIMEOUT);
}

#[test]
fn one_directory_has_one_server() {
    let app = TestApp::start();
    let message = TestApp::start_error(ServeSettings::new(app.data_dir()), "127.0.0.1:0");
    let shown = app.data_dir().display();
    let (pid, address) = (std::process::id(), app.address);
    let expected = format!("another `snell serve` already uses {shown}: process {pid} at http://{address}");
    assert_eq!(message, expected);
    assert_eq!(app.request("GET", "/healthz").send_over_unix_socket(&app.socket_path()).status, 200);
    let database = app.data_dir().join("elsewhere.db");
    let mut settings = ServeSettings::new(app.data_dir());
    settings.database = Some(database.clone().into());
    TestApp::start_error(settings, "127.0.0.1:0");
    assert!(!database.exists(), "nothing was made");
    let message = ServerListener::bind(app.address).unwrap_err().to_string();
    assert!(message.starts_with(&format!("{} is already in use", app.address)), "{message}");
}

#[test]
fn a_stale_socket_is_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("snell.sock");
    drop(UnixListener::bind(&path).unwrap());
    assert!(path.exists());
    let app = TestApp::with_settings(|settings| settings.directory = directory.path().to_owned());
    assert_eq!(app.request("GET", "/healthz").send_over_unix_socket(&directory.path().join("snell.sock")).status, 200);
}

#[test]
fn a_database_may_be_elsewhere() {
    let elsewhere = tempfile::tempdir().unwrap();
    let database = elsewhere.path().join("other.db");
    let app = TestApp::with_settings(|settings| settings.database = Some(database.clone().into()));
    let mut stream = app.open_stream("");
    app.begin_session("s1");
    assert_eq!(stream.next_event().event, "session_created");
    assert!(database.exists());
    assert!(!app.database_path().exists());
    assert_eq!(app.get_json("/api/agents")["items"].as_array().unwrap().len(), 1);
}

#[test]
fn a_missing_directory_is_created_and_a_long_path_has_no_socket() {
    let root = tempfile::tempdir().unwrap();
    let long = root.path().join("long".repeat(40));
    let app = TestApp::with_settings(|settings| settings.directory = long.clone());
    app.begin_session("s1");
    assert!(!long.join("snell.sock").exists());
    let elsewhere = root.path().join("elsewhere.db");
    let home = root.path().join("not/there/yet");
    let app = TestApp::with_settings(|settings| {
        settings.directory = home.clone();
        settings.database = Some(elsewhere.clone().into());
    });
    app.begin_session("s1");
    assert_eq!(app.request("GET", "/healthz").send_over_unix_socket(&home.join("snell.sock")).status, 200);
}

#[test]
fn an_invalid_host_name_cannot_be_allowed() {
    for name in ["http://receiver.test", "http://x/", "receiver.test/", "", "*", "a b", "x:y"] {
        let directory = tempfile::tempdir().unwrap();
        let mut settings = ServeSettings::new(directory.path());
        settings.allow_hosts = vec![name.into()];
        let message = TestApp::start_error(settings, "127.0.0.1:0");
        assert!(message.starts_with(&format!("\"{name}\" is not a host name")), "{message}");
    }
}

#[test]
fn an_unusable_database_is_reported_at_startup() {
    let directory = tempfile::tempdir().unwrap();
    let mut settings = ServeSettings::new(directory.path());
    let database = directory.path().join("a-file/snell.db");
    std::fs::write(directory.path().join("a-file"), "").unwrap();
    settings.database = Some(database.clone().into());
    let message = TestApp::start_error(settings, "127.0.0.1:0");
    assert_eq!(message, format!("cannot open the database {}", database.display()));
    let home = directory.path().join("not/there/yet");
    let mut settings = ServeSettings::new(&home);
    settings.database = Some(database.into());
    TestApp::start_error(settings, "127.0.0.1:0");
    assert!(!directory.path().join("not").exists(), "nothing was made");
}

#[test]
fn acknowledged_events_survive_a_restart() {
    let app = TestApp::start();
    for number in 0..20 {
        app.send_event(
            "user-prompt-submit",
            &json!({"session_id": "s1", "prompt": format!("{number}"), "event_id": format!("{number}")}),
        );
    }
    let app = app.restart();
    let events = app.get_json("/api/events?limit=500");
    assert_eq!(events["items"].as_array().unwrap().len(), 20);
}
