//! `notify-headspace.sh`, run as the agent runs it, against a real receiver.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use snell_test_support::files::{set_file_mode, snapshot_file, write_script};
use snell_test_support::http::find_unused_address;
use snell_test_support::process::{CommandOutput, find_processes, run_with_stdin, wait_for_output};
use snell_test_support::stub_server::{StubReply, StubServer};
use snell_test_support::wait::wait_until;

use super::InstallHome;

/// A receiver of the script's requests.
pub struct ScriptReceiver(StubServer);

impl ScriptReceiver {
    pub fn new() -> Self {
        Self(StubServer::with_reply(StubReply::answer(200, "{}")))
    }

    /// One that takes connections and says nothing.
    pub fn silent() -> Self {
        Self(StubServer::with_reply(StubReply::Silent))
    }

    pub fn url(&self) -> String {
        self.0.url()
    }

    /// The first line of the next request, in lower case, and its body.
    #[track_caller]
    pub fn next_request(&self) -> (String, Value) {
        let request = self.0.next_request();
        assert_eq!(request.headers["content-type"], "application/json", "{request:?}");
        for name in ["tmux_pane", "tmux_session", "headspace_session_id"] {
            assert!(request.body.matches(&format!("\"{name}\"")).count() < 2, "{request:?}");
        }
        (request.line.to_ascii_lowercase(), request.json())
    }

    /// Whether an event came that was not looked at yet. A `GET` asks for the receiver's health, and is no event.
    pub fn has_request(&self) -> bool {
        std::iter::from_fn(|| self.0.take_request()).any(|request| request.line.starts_with("POST "))
    }
}

/// A machine that only forwards.
fn install_forwarding(url: Option<&str>) -> InstallHome {
    let home = InstallHome::new();
    let url = url.map(|url| ["--url", url]);
    home.run_successfully(&[&["install", "claude", "--notify"][..], url.as_ref().map_or(&[], |url| &url[..])].concat());
    assert_eq!(snapshot_file(&home.notify_script_path()).mode, 0o755);
    home
}

/// The shells here that a script for any shell must run under.
fn list_posix_shells() -> Vec<Vec<&'static str>> {
    let known: [&[&str]; 4] = [&["sh"], &["dash"], &["bash", "--posix"], &["busybox", "sh"]];
    let works = |shell: &&&[&str]| {
        let tried = Command::new(shell[0]).args(&shell[1..]).args(["-c", "exit 0"]).output();
        tried.is_ok_and(|output| output.status.success())
    };
    known.iter().filter(works).map(|shell| shell.to_vec()).collect()
}

/// Runs the script by a shell, with these variables.
fn run_script(
    home: &InstallHome,
    shell: &[&str],
    event: &str,
    variables: &[(&str, &str)],
    payload: &str,
) -> CommandOutput {
    let mut command = home.sandbox.program(shell[0]);
    command.args(&shell[1..]).arg(home.notify_script_path()).arg(event).envs(variables.iter().copied());
    run_with_stdin(&mut command, payload)
}

fn remove_program(home: &InstallHome) {
    fs::remove_file(home.program_path()).unwrap();
}

/// Puts a program in the place of `snell` that writes down how it was called.
fn install_stub_program(home: &InstallHome) -> PathBuf {
    remove_program(home);
    let called = home.sandbox.home().join("called");
    let text = format!("#!/bin/sh\necho said\n{{ printf '%s\\n' \"$PPID\" \"$@\"; cat; }} > '{}'\n", called.display());
    fs::write(home.program_path(), text).unwrap();
    set_file_mode(home.program_path(), 0o755);
    called
}

#[test]
fn it_calls_the_program_in_its_own_place_and_keeps_its_words_from_the_agent() {
    for url in [None, Some("http://127.0.0.1:9")] {
        let home = install_forwarding(url);
        let called = install_stub_program(&home);
        let mut command = home.sandbox.program(home.notify_script_path());
        command.arg("stop");
        let ran = run_with_stdin(&mut command, "{\"a\": 1}");
        ran.assert_silent();
        let url = url.map_or(String::new(), |url| format!("--url\n{url}\n"));
        let expected = format!("{}\nnotify\nstop\n{url}{{\"a\": 1}}", std::process::id());
        assert_eq!(fs::read_to_string(called).unwrap(), expected);
    }
}

#[test]
fn a_program_that_cannot_be_run_is_done_without() {
    let receiver = ScriptReceiver::new();
    for shell in list_posix_shells() {
        for body in ["#!/nowhere/at/all\n", "\u{7f}ELF is what programs begin with", "\u{7f}ELF\0\0\u{1}"] {
            let home = install_forwarding(Some(&receiver.url()));
            install_stub_program(&home);
            fs::write(home.program_path(), body).unwrap();
            let ran = run_script(&home, &shell, "stop", &[], "{\"a\": 1}");
            assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{shell:?} {body}: {ran:?}");
            assert_eq!(receiver.next_request(), ("post /hook/stop http/1.1".into(), json!({"a": 1})));
        }
    }
    let home = install_forwarding(Some(&receiver.url()));
    install_stub_program(&home);
    fs::write(home.program_path(), "#!/bin/sh\nexit 3\n").unwrap();
    assert_eq!(run_script(&home, &["sh"], "stop", &[], "{}").stdout, "");
    assert!(!receiver.has_request());
}

#[test]
fn without_the_program_curl_forwards_what_the_program_would() {
    let receiver = ScriptReceiver::new();
    let home = install_forwarding(Some(&receiver.url()));
    remove_program(&home);
    let session = "CLAUDE_HEADSPACE_TMUX_SESSION";
    let strange = "it's \"a\\b\"\n\t\u{1}\u{7f} ü \u{1f980} $HOME `x` %s ; }";
    type ScriptPayloadCase<'a> = (&'a [(&'a str, &'a str)], &'a str, Value);
    let cases: [ScriptPayloadCase<'_>; 14] = [
        (&[], "{\"session_id\": \"s\"}", json!({"session_id": "s"})),
        (&[], "{}", json!({})),
        (&[], " {\n }\n", json!({})),
        (&[(session, "")], "{\"a\": {}}", json!({"a": {}})),
        (&[(session, "main")], "{}", json!({"tmux_session": "main"})),
        (&[(session, "main")], "\n{ \"a\": [1, 2] }\n", json!({"a": [1, 2], "tmux_session": "main"})),
        (&[(session, strange)], "{\"a\": \"%s \\\\ \\\" \\n\"}", json!({"a": "%s \\ \" \n", "tmux_session": strange})),
        (
            &[("TMUX_PANE", "%7"), (session, "main"), ("CLAUDE_HEADSPACE_SESSION_ID", "h-1")],
            "{\"session_id\": \"s\"}",
            json!({"session_id": "s", "tmux_pane": "%7", "tmux_session": "main", "headspace_session_id": "h-1"}),
        ),
        (&[("TMUX_PANE", "%7")], "{}", json!({"tmux_pane": "%7"})),
        (&[("CLAUDECODE", "1")], "{}", json!({"platform": "claude"})),
        (&[("CLAUDECODE", "1")], "{\"platform\": \"own\"}", json!({"platform": "own"})),
        (&[], " \t{\"a\": \" }\"} \r\n ", json!({"a": " }"})),
        // What the payload says itself is not said twice.
        (
            &[("TMUX_PANE", "%7"), (session, "main")],
            "{\"tmux_session\": \"own\"}",
            json!({"tmux_session": "own", "tmux_pane": "%7"}),
        ),
        (
            &[("TMUX_PANE", "%7"), (session, "main"), ("CLAUDE_HEADSPACE_SESSION_ID", "h")],
            "{\"tmux_pane\":\"%1\",\"tmux_session\":\"own\",\"headspace_session_id\":\"o\"}",
            json!({"tmux_pane": "%1", "tmux_session": "own", "headspace_session_id": "o"}),
        ),
    ];
    for shell in list_posix_shells() {
        for (variables, payload, expected) in &cases {
            run_script(&home, &shell, "user-prompt-submit", variables, payload).assert_silent();
            let (line, body) = receiver.next_request();
            assert_eq!(line, "post /hook/user-prompt-submit http/1.1");
            assert_eq!(body, *expected, "{shell:?} {variables:?} {payload}");
        }
    }
    assert!(!receiver.has_request());
}

#[test]
fn a_long_payload_arrives_whole() {
    let receiver = ScriptReceiver::new();
    let home = install_forwarding(Some(&receiver.url()));
    remove_program(&home);
    let payload = json!({"prompt": "ü\n\"".repeat(200_000)});
    for shell in list_posix_shells() {
        run_script(&home, &shell, "stop", &[("TMUX_PANE", "%1")], &payload.to_string()).assert_silent();
        let (_, body) = receiver.next_request();
        assert_eq!(body["prompt"], payload["prompt"], "{shell:?}");
        assert_eq!(body["tmux_pane"], "%1");
    }
}

#[test]
fn where_no_receiver_was_named_the_environment_names_one() {
    let receiver = ScriptReceiver::new();
    let home = install_forwarding(None);
    remove_program(&home);
    run_script(&home, &["sh"], "stop", &[("SNELL_URL", &receiver.url())], "{}").assert_silent();
    assert_eq!(receiver.next_request().0, "post /hook/stop http/1.1");
    // No proxy stands between a machine and itself.
    let proxy = [("SNELL_URL", receiver.url()), ("http_proxy", "http://127.0.0.1:9".to_owned())];
    let proxy: Vec<_> = proxy.iter().map(|(name, value)| (*name, value.as_str())).collect();
    run_script(&home, &["sh"], "stop", &proxy, "{}").assert_silent();
    assert_eq!(receiver.next_request().0, "post /hook/stop http/1.1");
}

#[test]
fn a_receiver_that_is_gone_or_hangs_costs_two_seconds_at_most() {
    let gone = find_unused_address();
    let silent = ScriptReceiver::silent();
    for url in [format!("http://{gone}"), silent.url()] {
        let home = install_forwarding(Some(&url));
        remove_program(&home);
        for shell in list_posix_shells() {
            let started = Instant::now();
            run_script(&home, &shell, "stop", &[], "{\"session_id\": \"s\"}").assert_silent();
            // Two seconds, on a machine that has time for it.
            assert!(started.elapsed() < Duration::from_secs(8), "{:?}", started.elapsed());
        }
    }
}

/// Processes that have this in their environment.
fn list_processes_with_env(mark: &str) -> Vec<u32> {
    find_processes(|process| process.environment().contains(mark))
}

#[test]
fn an_agent_that_does_not_close_its_pipe_costs_two_seconds_at_most_and_nothing_is_left_running() {
    let receiver = ScriptReceiver::new();
    let home = install_forwarding(Some(&receiver.url()));
    remove_program(&home);
    let slow = home.sandbox.home().join("slow/sleep");
    write_script(&slow, "exec /bin/sleep 60");
    let path = format!("{}:{}", slow.parent().unwrap().display(), std::env::var("PATH").unwrap());
    for (index, shell) in list_posix_shells().iter().enumerate() {
        for (said, is_whole) in [("", false), ("{\"a\": ", false), ("{\"a\": 1}", true)] {
            let mark = format!("mark-{}-{index}-{}", std::process::id(), said.len());
            let mut command = home.sandbox.program(shell[0]);
            command.args(&shell[1..]).arg(home.notify_script_path()).arg("stop").env("TMUX_PANE", &mark);
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
            let started = Instant::now();
            let mut child = command.spawn().unwrap();
            let mut pipe = child.stdin.take().unwrap();
            pipe.write_all(said.as_bytes()).unwrap();
            wait_for_output(child).assert_silent();
            // Two seconds, on a machine that has time for it.
            assert!(started.elapsed() < Duration::from_secs(8), "{:?}", started.elapsed());
            if is_whole {
                assert_eq!(receiver.next_request().1, json!({"a": 1, "tmux_pane": mark}));
            }
            wait_until(|| list_processes_with_env(&mark).is_empty().then_some(()));
            assert!(pipe.write_all(b"x").is_err(), "somebody still listens");
        }
        // One that has closed it is not waited for, however long a second takes.
        let mark = format!("mark-{}-{index}-closed", std::process::id());
        let variables = [("TMUX_PANE", mark.as_str()), ("PATH", &path)];
        run_script(&home, shell, "stop", &variables, "{}").assert_silent();
        wait_until(|| list_processes_with_env(&mark).is_empty().then_some(()));
        receiver.next_request();
    }
    assert!(!receiver.has_request());
}

#[test]
fn what_is_no_object_is_told_to_nobody() {
    let receiver = ScriptReceiver::new();
    let home = install_forwarding(Some(&receiver.url()));
    remove_program(&home);
    for payload in ["", " \n", "[]", "null", "{", "{\"a\": 1", "}"] {
        run_script(&home, &["sh"], "stop", &[("TMUX_PANE", "%1")], payload).assert_silent();
    }
    // Nor is anything if there is no `cat` to read it.
    let nothing = home.sandbox.home().join("nothing");
    fs::create_dir(&nothing).unwrap();
    let path = [("PATH", nothing.to_str().unwrap())];
    run_script(&home, &["/bin/sh"], "stop", &path, "{}").assert_silent();
    assert!(!receiver.has_request());
}

#[test]
fn with_neither_the_program_nor_curl_it_does_nothing() {
    let home = InstallHome::new();
    let nothing = home.sandbox.home().join("nothing");
    fs::create_dir(&nothing).unwrap();
    let mut install = home.snell_command(&["install", "claude", "--notify"]);
    install.env("PATH", &nothing);
    assert!(install.output().unwrap().status.success());
    remove_program(&home);
    for shell in ["/bin/sh", "/bin/bash"].into_iter().filter(|shell| std::path::Path::new(shell).exists()) {
        let ran = run_script(&home, &[shell], "stop", &[("PATH", nothing.to_str().unwrap())], "{}");
        assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{ran:?}");
    }
}

#[test]
fn what_is_no_event_is_told_to_nobody() {
    let receiver = ScriptReceiver::new();
    let home = install_forwarding(Some(&receiver.url()));
    remove_program(&home);
    for event in ["", "../api", "a b", "Stop", "stop?x=1"] {
        run_script(&home, &["sh"], event, &[], "{}").assert_silent();
    }
    assert!(!receiver.has_request());
}

#[test]
fn every_event_of_the_agent_is_told_by_its_own_name() {
    let home = install_forwarding(None);
    let mut told = super::list_handlers(&home.read_settings());
    told.sort();
    let told: Vec<_> = told.iter().map(|(event, _, args)| format!("{event} {}", args.join(" "))).collect();
    assert_eq!(
        told,
        [
            "Notification notification",
            "PermissionRequest permission-request",
            "PostToolUse post-tool-use",
            "PreToolUse pre-tool-use",
            "SessionEnd session-end",
            "SessionStart session-start",
            "Stop stop",
            "UserPromptSubmit user-prompt-submit",
        ]
    );
    assert!(!home.read_settings().contains('~') && !home.read_settings().contains("$HOME"));
}
