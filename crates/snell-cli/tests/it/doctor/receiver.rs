//! Whom events are sent to, and what is shown of it.

use std::fs;
use std::os::unix::fs::symlink;

use snell_test_support::files::{set_file_mode, write_file};
use snell_test_support::http::find_unused_address;
use snell_test_support::process::run_with_stdin;
use snell_test_support::stub_server::{StubReply, StubServer};

use super::{create_healthy_home, list_faults, list_findings, run_doctor};
use crate::install::InstallHome;
use crate::install::notify_script::ScriptReceiver;

/// A server that answers requests for these paths, and everything to a client with the right token.
fn spawn_stub_server(answers: &'static [(&'static str, u16, &'static str)]) -> String {
    let server = StubServer::with_handler(|request| {
        let answer = answers.iter().find(|(path, _, _)| request.line.contains(path));
        let (status, body) = answer.map_or((404, ""), |(_, status, body)| (*status, *body));
        let is_known = request.headers.get("authorization").is_some_and(|token| token == "Bearer sesame");
        StubReply::answer(if is_known { 200 } else { status }, body)
    });
    server.url()
}

#[test]
fn the_receiver_is_asked_how_it_is() {
    const STATUS: &str = r#"{"enabled":true,"mode":"hooks_active","last_event_ago":12.4}"#;
    let gone = format!("http://{}", find_unused_address());
    let silent = ScriptReceiver::silent();
    let cases = [
        (
            spawn_stub_server(&[("/healthz", 200, "ok\n"), ("/hook/status", 200, STATUS)]),
            "ok",
            ": hooks active, last event 12s ago",
        ),
        (
            spawn_stub_server(&[
                ("/healthz", 200, "ok"),
                ("/hook/status", 200, r#"{"enabled":false,"mode":"polling_fallback","last_event_ago":null}"#),
            ]),
            "ok",
            ": polling fallback, does not accept events",
        ),
        (
            spawn_stub_server(&[("/healthz", 200, "ok"), ("/hook/status", 401, STATUS)]),
            "warning",
            "the token is missing | set `token_file` beside `url` in [server]",
        ),
        (
            spawn_stub_server(&[("/healthz", 401, "")]),
            "warning",
            "the token is missing | set `token_file` beside `url` in [server]",
        ),
        (
            spawn_stub_server(&[
                ("/healthz", 200, "ok"),
                ("/hook/status", 200, r#"{"enabled":true,"mode":"hooks_active","config":{"access":"this_user"}}"#),
            ]),
            "ok",
            ": hooks active; other users of this machine are refused",
        ),
        (
            spawn_stub_server(&[
                ("/healthz", 200, "ok"),
                ("/hook/status", 200, r#"{"enabled":true,"mode":"hooks_active","config":{"access":"token"}}"#),
            ]),
            "ok",
            ": hooks active; clients need a token",
        ),
        (
            spawn_stub_server(&[
                ("/healthz", 200, "ok"),
                (
                    "/hook/status",
                    200,
                    r#"{"enabled":true,"mode":"hooks_active","config":{"access":"this_user_and_unknown"}}"#,
                ),
            ]),
            "warning",
            ": hooks active; it also accepts connections of unknown users | remove `unknown_senders",
        ),
        (
            spawn_stub_server(&[
                ("/healthz", 200, "ok"),
                ("/hook/status", 200, r#"{"enabled":true,"mode":"hooks_active","config":{"access":"any_user"}}"#),
            ]),
            "warning",
            "every user of this machine can use it, because this operating system does not report which user made a connection | use a token",
        ),
        (
            spawn_stub_server(&[
                ("/healthz", 200, "ok"),
                ("/hook/status", 403, r#"{"status":"error","message":"ask its owner"}"#),
            ]),
            "warning",
            "refuses the events of this machine: ask its owner | do what the receiver's message says",
        ),
        (spawn_stub_server(&[]), "warning", "it answers 404, so it is not a receiver of Snell"),
        (
            spawn_stub_server(&[("/", 200, "<h1>Welcome</h1>")]),
            "warning",
            "its answer differs from that of `snell serve`, so it is not a receiver of Snell",
        ),
        (
            spawn_stub_server(&[("/healthz", 200, "ok"), ("/hook/status", 200, "{\"status\": \"ok\"}")]),
            "warning",
            "it does not report its status, so it is not a receiver of Snell",
        ),
        (gone, "warning", "and does not answer"),
        (silent.url(), "warning", "and does not answer"),
    ];
    for (url, level, expected) in cases {
        let home = create_healthy_home();
        write_file(&home.sandbox.home().join(".config/snell/snell.toml"), format!("[server]\nurl = '{url}'\n"));
        let found = run_doctor(&home);
        let about: Vec<_> = found.iter().filter(|one| one.starts_with("Receiver")).collect();
        assert_eq!(about.len(), 1, "{found:#?}");
        assert!(about[0].starts_with(&format!("Receiver {level} {url}")) && about[0].contains(expected), "{about:?}");
    }
    let home = create_healthy_home();
    let url = spawn_stub_server(&[("/healthz", 200, "ok"), ("/hook/status", 401, STATUS)]);
    let token = home.sandbox.home().join("token");
    write_file(&token, "sesame\n");
    set_file_mode(&token, 0o644);
    let settings = format!("[server]\nurl = '{url}'\ntoken_file = 'token'\n");
    write_file(&home.sandbox.home().join(".config/snell/snell.toml"), &settings);
    let open = "its token cannot be used: the token file";
    let found = run_doctor(&home);
    assert!(found.iter().any(|one| one.contains(open) && one.contains("run `chmod 600")), "{found:#?}");
    set_file_mode(&token, 0o600);
    assert!(run_doctor(&home).iter().any(|one| one.contains("hooks active")));
    // What is there already need not be written.
    write_file(&token, "please\n");
    let found = run_doctor(&home);
    let file = token.display();
    let wrong = format!("the token in {file} is wrong | write the token of the receiver into {file}");
    assert!(found.iter().any(|one| one.contains(&wrong)), "{found:#?}");
}

#[test]
fn a_receiver_that_is_refused_is_reported_and_its_password_is_not_shown() {
    let home = InstallHome::new().with_program_in_path();
    home.run_successfully(&["install", "claude", "--notify", "--url", "http://tower:7433"]);
    let script = fs::read_to_string(home.notify_script_path()).unwrap();
    fs::write(home.notify_script_path(), script.replace("http://tower", "http://me:secret@tower")).unwrap();
    let found = list_faults(&home);
    assert_eq!(found.len(), 2, "{found:#?}");
    assert!(
        found[0].starts_with("Receiver problem the address of the receiver must not contain a user name or password"),
        "{found:#?}"
    );
    assert!(
        found[1].starts_with("Proof problem")
            && found[1].contains("the address of the receiver must not contain a user name"),
        "{found:#?}"
    );
    assert!(!found.concat().contains("secret"), "{found:#?}");
}

#[test]
fn a_machine_that_only_forwards_is_shown_what_arrives_and_its_receiver_hears_nothing() {
    for names_receiver in [true, false] {
        let receiver = ScriptReceiver::new();
        let home = InstallHome::new().with_program_in_path();
        let url = receiver.url();
        let options: &[&str] = if names_receiver { &["--url", &url] } else { &[] };
        home.run_successfully(&[&["install", "claude", "--notify"], options].concat());
        // What the program itself forwards is told elsewhere; without it the script does.
        fs::remove_file(home.program_path()).unwrap();
        symlink(env!("CARGO_BIN_EXE_snell"), home.sandbox.home().join("snell")).unwrap();
        let mut command = home.sandbox.program(home.sandbox.home().join("snell"));
        command.args(["doctor", "--json"]).env("CLAUDE_HEADSPACE_TMUX_SESSION", "main").env("SNELL_URL", &url);
        let ran = run_with_stdin(&mut command, "");
        let found = list_findings(&ran);
        let proof = found
            .iter()
            .find(|one| one.starts_with("Proof ok Notification by"))
            .unwrap_or_else(|| panic!("{found:#?}"));
        assert!(
            proof.contains("; arrived as POST /hook/notification with the fields tmux_session, platform, session_id,"),
            "{proof}"
        );
        let stood_in_for = if names_receiver { url.as_str() } else { "the default receiver" };
        assert!(proof.contains(&format!("used instead of {stood_in_for}) |")), "{proof}");
        assert!(found.iter().any(|one| one.contains("which does not exist; using curl")), "{found:#?}");
        assert!(!receiver.has_request());
    }
}
