//! How it starts, what it says, how it ends.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;

use rustix::process::Signal;
use serde_json::json;
use snell_test_support::files::{set_file_mode, write_script};
use snell_test_support::wait::wait_until;

use super::start_server;
use crate::support::CliSandbox;

#[test]
fn it_says_where_it_listens_and_ends_when_it_is_told() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let sandbox = CliSandbox::new();
        let receiver = start_server(&sandbox, &["--addr", "127.0.0.1:0"]);
        assert!(!receiver.address.ends_with(":0"), "{}", receiver.address);
        receiver.send_event("session-start", &json!({"session_id": "s1"}));
        assert!(sandbox.data().join("snell.sock").exists());
        let (code, said) = receiver.stop_with_signal(signal);
        assert_eq!(code, Some(0), "{said}");
        assert!(said.contains("listening"), "{said}");
        assert!(!sandbox.data().join("snell.sock").exists());
        assert_eq!(sandbox.run_snell(&["agents", "--json"], "").json()[0]["session_id"], "s1");
    }
}

#[test]
fn a_port_is_short_for_an_address_of_this_machine() {
    let sandbox = CliSandbox::new().home_file(".config/snell/snell.toml", "[server]\naddr = \"nowhere\"\n");
    let receiver = start_server(&sandbox, &["--port", "0"]);
    assert!(receiver.address.starts_with("127.0.0.1:") && receiver.port() != 0, "{}", receiver.address);
    let both = sandbox.run_snell(&["serve", "--port", "0", "--addr", "127.0.0.1:0"], "");
    assert!(both.code == 1 && both.stderr.contains("cannot be used with"), "{both:?}");
}

#[test]
fn another_snell_at_the_address_is_named() {
    let (first, second) = (CliSandbox::new(), CliSandbox::new());
    let token = first.home().join("token");
    fs::write(&token, "secret").unwrap();
    set_file_mode(&token, 0o600);
    for args in [&["--port", "0"][..], &["--port", "0", "--token-file", token.to_str().unwrap()]] {
        let receiver = start_server(&first, args);
        let refused = second.run_snell(&["serve", "--port", &receiver.port().to_string(), "--open"], "");
        let url = format!("http://{}", receiver.address);
        let expected = format!("error: another Snell already listens on {url}\nhint: open {url} in a browser, or ");
        assert!(refused.code == 1 && refused.stderr.contains(&expected), "{refused:?}");
    }
}

#[test]
fn a_browser_is_opened_only_on_request_and_without_one_it_serves_too() {
    for (args, opened) in [(&["--port", "0"][..], false), (&["--port", "0", "--open"], true)] {
        let sandbox = CliSandbox::new();
        let bin = sandbox.home().join("bin");
        for name in ["xdg-open", "open"] {
            write_script(
                &bin.join(name),
                "echo \"$1\" > \"$HOME/opened.new\"; mv \"$HOME/opened.new\" \"$HOME/opened\"",
            );
        }
        let page = sandbox.home().join("opened");
        let sandbox = sandbox.env("PATH", &format!("{}:/usr/bin:/bin", bin.display()));
        let receiver = start_server(&sandbox, args);
        if opened {
            let url = wait_until(|| fs::read_to_string(&page).ok());
            assert_eq!(url, format!("http://{}\n", receiver.address));
        }
        receiver.stop_with_signal(Signal::TERM);
        assert_eq!(page.exists(), opened);
    }
    let sandbox = CliSandbox::new().env("PATH", "/nowhere");
    let receiver = start_server(&sandbox, &["--port", "0", "--open"]);
    receiver.hook_status();
    let (code, said) = receiver.stop_with_signal(Signal::TERM);
    assert!(code == Some(0) && said.contains("cannot open a browser with "), "{said}");
}

#[test]
fn what_keeps_it_from_starting_is_said() {
    let sandbox = CliSandbox::new();
    let token = sandbox.home().join("token");
    fs::write(&token, "secret").unwrap();
    set_file_mode(&token, 0o644);
    let token = token.to_str().unwrap();
    fs::remove_dir(sandbox.data()).unwrap();
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = other.local_addr().unwrap().to_string();
    let cases: &[(&[&str], &str)] = &[
        (&["--addr", &taken], "is already in use\nhint: end the program that uses it, such as another `snell serve`"),
        (&["--addr", "nowhere"], "cannot listen on \"nowhere\"\nhint: use IP:PORT, such as 127.0.0.1:7433"),
        (
            &["--addr", "0.0.0.0:0"],
            "is reachable from other machines, so a token is required\nhint: create a token with `snell token create`, or write \
             one to a file and pass it with --token-file",
        ),
        (&["--addr", "127.0.0.1:0", "--token-file", token], "hint: run `chmod 600 "),
        (&["--addr", "127.0.0.1:0", "--token-file", "/nowhere"], "cannot read the token file /nowhere"),
        (
            &["--addr", "127.0.0.1:0", "--db", "postgres://ann:secret@127.0.0.1:1/y"],
            "cannot open the database postgres://ann@127.0.0.1:1/y: cannot reach the database: ",
        ),
        (&["--addr", "127.0.0.1:0", "--db", "mysql://x/y"], "unknown kind of database \"mysql://\""),
        (&["--addr", "127.0.0.1:0", "--db", "mysql:x"], "unknown kind of database \"mysql\"\nhint: use sqlite:PATH"),
        (&["--addr", "127.0.0.1:0", "--db", "sqlite::memory:"], "a database in memory is lost when the receiver ends"),
        (&["--addr", "127.0.0.1:0", "--allow-host", "http://x/"], "\"http://x/\" is not a host name"),
        (&["--addr", "127.0.0.1:0", "--allow-host", ""], "\"\" is not a host name"),
        (&["--addr", "127.0.0.1:0", "--allow-host", "*"], "\"*\" is not a host name"),
        (&["--addr", "127.0.0.1:0", "--db", "sqlite:"], "hint: use sqlite:PATH"),
        (&["--addr", "127.0.0.1:0", "--db", "/"], "/ is a directory"),
        (&["--poll-active", "60"], "use a number with a unit, such as 60s or 5m"),
        (&["--poll-silent", "0s"], "use a number with a unit, such as 60s or 5m"),
        (&["--log", "loud"], "--log"),
        (&["--log-format", "xml"], "--log-format"),
    ];
    for (args, message) in cases {
        let args: Vec<_> = ["serve"].iter().chain(*args).copied().collect();
        let ran = sandbox.run_snell(&args, "");
        assert_eq!(ran.code, 1, "{args:?}");
        assert!(ran.stderr.contains(message), "{args:?}: {}", ran.stderr);
        assert_eq!(ran.stdout, "", "{args:?}");
    }
    assert!(!sandbox.data().exists(), "nothing was made");
    let sandbox = sandbox.home_file(".config/snell/snell.toml", "[server]\nallow_hosts = [\"*\"]\n");
    let ran = sandbox.run_snell(&["serve", "--addr", "127.0.0.1:0"], "");
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("\"allow_hosts\" has the invalid host \"*\""), "{}", ran.stderr);
}

#[test]
fn with_another_database_its_directory_is_made_all_the_same() {
    let sandbox = CliSandbox::new();
    let database = sandbox.home().join("elsewhere.db");
    fs::remove_dir(sandbox.data()).unwrap();
    let receiver = start_server(&sandbox, &["--addr", "127.0.0.1:0", "--db", database.to_str().unwrap()]);
    assert_eq!(receiver.request("GET", "/healthz").send().status, 200);
    assert!(database.exists());
    let mode = fs::metadata(sandbox.data()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn a_name_that_nobody_knows_in_the_users_file_is_told_at_the_start() {
    let sandbox = CliSandbox::new()
        .home_file(".config/snell/snell.toml", "[server]\naddr = \"127.0.0.1:0\"\nmax_stream_client = 3\n");
    let receiver = start_server(&sandbox, &[]);
    let (code, said) = receiver.stop_with_signal(Signal::TERM);
    assert_eq!(code, Some(0));
    assert!(said.contains("WARN") && said.contains("max_stream_client"), "{said}");
    assert!(said.contains(" ~/.config/snell/snell.toml:3:1"), "{said}");
}

#[test]
fn the_users_file_says_how_to_serve_and_the_command_line_comes_first() {
    let sandbox = CliSandbox::new();
    let token = sandbox.home().join("token");
    fs::write(&token, "secret").unwrap();
    set_file_mode(&token, 0o600);
    let sandbox = sandbox.home_file(
        ".config/snell/snell.toml",
        "[server]\naddr = \"127.0.0.1:0\"\ntoken_file = \"~/token\"\npoll_active = \"90s\"\npoll_silent = \"7s\"\n\
         max_stream_clients = 3\n",
    );
    let receiver = start_server(&sandbox, &["--poll-silent", "9s"]);
    assert_eq!(receiver.request("GET", "/hook/status").send().status, 401);
    let status = receiver.request("GET", "/hook/status").header("Authorization: Bearer secret").send().body;
    assert!(status.contains("\"poll_active\":90,\"poll_silent\":9,"), "{status}");
    assert!(status.contains("\"max_stream_clients\":3"), "{status}");
    let (code, said) = receiver.stop_with_signal(Signal::TERM);
    assert_eq!(code, Some(0));
    assert!(!said.contains("secret"), "{said}");
}

#[test]
fn a_file_that_cannot_be_understood_keeps_it_from_starting() {
    let sandbox = CliSandbox::new().home_file(".config/snell/snell.toml", "[server]\naddr = 7\n");
    let ran = sandbox.run_snell(&["serve"], "");
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("error: invalid configuration: "), "{}", ran.stderr);
    assert!(ran.stderr.contains("snell.toml:2:"), "{}", ran.stderr);
}

#[test]
fn what_cannot_be_understood_is_only_told_if_the_command_line_says_it() {
    let cases: &[(&str, &str, &[&str])] = &[
        ("addr = \"x\"", "--addr", &["--addr", "127.0.0.1:0"]),
        ("poll_silent = 7", "--poll-silent", &["--addr", "127.0.0.1:0", "--poll-silent", "9s"]),
        ("allow_hosts = [\"*\"]", "--allow-host", &["--addr", "127.0.0.1:0", "--allow-host", "box"]),
        ("db = \"mysql:x\"", "--db", &["--addr", "127.0.0.1:0", "--db", "sqlite:other.db"]),
    ];
    for (line, option, args) in cases {
        let sandbox = CliSandbox::new().home_file(".config/snell/snell.toml", &format!("[server]\n{line}\n"));
        // Somebody looks for the file where it is said to be, from wherever that is.
        let place = "~/.config/snell/snell.toml:2:";
        let ran = sandbox.run_snell(&["serve", "--silent-after", "9s"], "");
        assert_eq!(ran.code, 1, "{line}");
        let said = format!("error: invalid configuration: {place}");
        assert!(ran.stderr.contains(&said), "{line}: {}", ran.stderr);
        let remedy = format!(", or pass {option}\n");
        assert!(ran.stderr.ends_with(&remedy), "{line}: {}", ran.stderr);
        assert!(!ran.stderr.contains("using the default"), "{line}: {}", ran.stderr);
        let (code, said) = start_server(&sandbox, args).stop_with_signal(Signal::TERM);
        assert_eq!(code, Some(0), "{line}");
        assert!(said.contains("WARN") && said.contains(place), "{line}: {said}");
    }
}

#[test]
fn the_log_tells_of_requests_but_not_of_what_they_carry() {
    let sandbox = CliSandbox::new();
    let args = ["--addr", "127.0.0.1:0", "--log", "debug", "--log-format", "json"];
    let receiver = start_server(&sandbox, &args);
    for body in [r#"{"session_id":"s1","prompt":"very private"}"#, r#"{"session_id":"very private"#] {
        receiver.request("POST", "/hook/stop").json(body).send();
    }
    for (method, path) in [
        ("GET", "/nothing?very=private"),
        ("GET", "/very/private"),
        ("GET", "/api/agents/private"),
        ("GET", "/api/agents?private=1"),
        ("GET", "/api/agents?limit=private"),
        ("GET", "/api/events/stream?last_event_id=private"),
        ("PRIVATE", "/hook/stop"),
    ] {
        receiver.request(method, path).send();
    }
    let (_, said) = receiver.stop_with_signal(Signal::TERM);
    let lines: Vec<serde_json::Value> = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told = |level: &str, status: u64| {
        let is = |line: &&serde_json::Value| line["level"] == level && line["fields"]["status"] == status;
        lines.iter().any(|line| is(&line))
    };
    assert!(told("DEBUG", 200) && told("WARN", 400) && told("WARN", 404), "{said}");
    assert!(!said.to_lowercase().contains("private"), "{said}");
    let routes = lines.iter().filter_map(|line| line["fields"]["route"].as_str());
    let routes: Vec<_> = routes.collect();
    for route in ["/hook/stop", "other", "/api/agents/{id}", "/api/agents", "/api/events/stream"] {
        assert!(routes.contains(&route), "{route} in {said}");
    }
}
