//! `notify-headspace.sh`, run as the agent runs it, against a real receiver.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Home, look};
use crate::support::{Ran, start};

/// A receiver that keeps what it was told: the first line of each request, and its body.
pub struct Receiver {
    address: SocketAddr,
    requests: mpsc::Receiver<(String, String)>,
}

impl Receiver {
    pub fn new() -> Self {
        Self::that_answers(true)
    }

    /// One that takes connections and says nothing.
    pub fn silent() -> Self {
        Self::that_answers(false)
    }

    fn that_answers(answers: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (sender, requests) = mpsc::channel();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let sender = sender.clone();
                thread::spawn(move || receive(stream, answers, &sender));
            }
        });
        Self { address, requests }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What came next.
    pub fn next(&self) -> (String, Value) {
        let (line, body) = self
            .requests
            .recv_timeout(Duration::from_secs(10))
            .expect("nothing came");
        (
            line,
            serde_json::from_str(&body).unwrap_or_else(|error| panic!("{error}: {body}")),
        )
    }

    pub fn has_more(&self) -> bool {
        self.requests.try_recv().is_ok()
    }
}

fn receive(stream: TcpStream, answers: bool, sender: &mpsc::Sender<(String, String)>) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        if line.trim().is_empty() {
            break;
        }
        lines.push(line.trim().to_ascii_lowercase());
    }
    assert!(
        lines.contains(&"content-type: application/json".to_owned()),
        "{lines:?}"
    );
    let length = lines
        .iter()
        .find_map(|line| line.strip_prefix("content-length: ")?.parse().ok())?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    if !answers {
        // Until the other end has had enough.
        return reader.read_line(&mut String::new()).ok().map(drop);
    }
    let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}";
    reader.get_mut().write_all(answer).ok()?;
    sender
        .send((lines.first()?.clone(), String::from_utf8(body).ok()?))
        .ok()
}

/// A machine that only forwards.
fn forwarding(url: Option<&str>) -> Home {
    let home = Home::new();
    let url = url.map(|url| ["--url", url]);
    home.done(
        &[
            &["install", "claude", "--notify"][..],
            url.as_ref().map_or(&[], |url| &url[..]),
        ]
        .concat(),
    );
    assert_eq!(look(&home.script()).mode, 0o755);
    home
}

/// The shells here that a script for any shell must run under.
fn shells() -> Vec<Vec<&'static str>> {
    let known: [&[&str]; 4] = [&["sh"], &["dash"], &["bash", "--posix"], &["busybox", "sh"]];
    let works = |shell: &&&[&str]| {
        let tried = Command::new(shell[0]).args(&shell[1..]).args(["-c", "exit 0"]).output();
        tried.is_ok_and(|output| output.status.success())
    };
    known.iter().filter(works).map(|shell| shell.to_vec()).collect()
}

/// Runs the script by a shell, with these variables.
fn run(home: &Home, shell: &[&str], event: &str, variables: &[(&str, &str)], payload: &str) -> Ran {
    let mut command = home.sandbox.program(shell[0]);
    command
        .args(&shell[1..])
        .arg(home.script())
        .arg(event)
        .envs(variables.iter().copied());
    start(&mut command, payload).wait_with_output().unwrap().into()
}

fn is_silent(ran: &Ran) {
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "", ""));
}

fn without_the_program(home: &Home) {
    fs::remove_file(home.program()).unwrap();
}

/// Puts a program in the place of `snell` that writes down how it was called.
fn stand_in(home: &Home) -> PathBuf {
    without_the_program(home);
    let called = home.sandbox.home().join("called");
    let text = format!(
        "#!/bin/sh\necho said\n{{ printf '%s\\n' \"$PPID\" \"$@\"; cat; }} > '{}'\n",
        called.display()
    );
    fs::write(home.program(), text).unwrap();
    fs::set_permissions(home.program(), fs::Permissions::from_mode(0o755)).unwrap();
    called
}

#[test]
fn it_calls_the_program_in_its_own_place_and_keeps_its_words_from_the_agent() {
    for url in [None, Some("http://127.0.0.1:9")] {
        let home = forwarding(url);
        let called = stand_in(&home);
        let mut command = home.sandbox.program(home.script());
        command.arg("stop");
        let ran: Ran = start(&mut command, "{\"a\": 1}").wait_with_output().unwrap().into();
        is_silent(&ran);
        let url = url.map_or(String::new(), |url| format!("--url\n{url}\n"));
        let expected = format!("{}\nnotify\nstop\n{url}{{\"a\": 1}}", std::process::id());
        assert_eq!(fs::read_to_string(called).unwrap(), expected);
    }
}

#[test]
fn whatever_becomes_of_the_program_the_agent_is_not_told_so() {
    for shell in shells() {
        for body in [
            "#!/bin/sh\nexit 0\n",
            "#!/nowhere/at/all\n",
            "\u{7f}ELF is what programs begin with",
        ] {
            let home = forwarding(Some("http://127.0.0.1:9"));
            stand_in(&home);
            fs::write(home.program(), body).unwrap();
            let ran = run(&home, &shell, "stop", &[], "{}");
            assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{shell:?} {body}: {ran:?}");
        }
    }
}

#[test]
fn without_the_program_curl_forwards_what_the_program_would() {
    let receiver = Receiver::new();
    let home = forwarding(Some(&receiver.url()));
    without_the_program(&home);
    let session = "CLAUDE_HEADSPACE_TMUX_SESSION";
    let strange = "it's \"a\\b\"\n\t\u{1}\u{7f} ü \u{1f980} $HOME `x` %s ; }";
    type Case<'a> = (&'a [(&'a str, &'a str)], &'a str, Value);
    let cases: [Case<'_>; 9] = [
        (&[], "{\"session_id\": \"s\"}", json!({"session_id": "s"})),
        (&[], "{}", json!({})),
        (&[], " {\n }\n", json!({})),
        (&[(session, "")], "{\"a\": {}}", json!({"a": {}})),
        (&[(session, "main")], "{}", json!({"tmux_session": "main"})),
        (
            &[(session, "main")],
            "\n{ \"a\": [1, 2] }\n",
            json!({"a": [1, 2], "tmux_session": "main"}),
        ),
        (
            &[(session, strange)],
            "{\"a\": \"%s \\\\ \\\" \\n\"}",
            json!({"a": "%s \\ \" \n", "tmux_session": strange}),
        ),
        (
            &[
                ("TMUX_PANE", "%7"),
                (session, "main"),
                ("CLAUDE_HEADSPACE_SESSION_ID", "h-1"),
            ],
            "{\"session_id\": \"s\"}",
            json!({"session_id": "s", "tmux_pane": "%7", "tmux_session": "main", "headspace_session_id": "h-1"}),
        ),
        (&[("TMUX_PANE", "%7")], "{}", json!({"tmux_pane": "%7"})),
    ];
    for shell in shells() {
        for (variables, payload, expected) in &cases {
            is_silent(&run(&home, &shell, "user-prompt-submit", variables, payload));
            let (line, body) = receiver.next();
            assert_eq!(line, "post /hook/user-prompt-submit http/1.1");
            assert_eq!(body, *expected, "{shell:?} {variables:?} {payload}");
        }
    }
    assert!(!receiver.has_more());
}

#[test]
fn a_long_payload_arrives_whole() {
    let receiver = Receiver::new();
    let home = forwarding(Some(&receiver.url()));
    without_the_program(&home);
    let payload = json!({"prompt": "ü\n\"".repeat(200_000)});
    for shell in shells() {
        is_silent(&run(
            &home,
            &shell,
            "stop",
            &[("TMUX_PANE", "%1")],
            &payload.to_string(),
        ));
        let (_, body) = receiver.next();
        assert_eq!(body["prompt"], payload["prompt"], "{shell:?}");
        assert_eq!(body["tmux_pane"], "%1");
    }
}

#[test]
fn where_no_receiver_was_named_the_environment_names_one() {
    let receiver = Receiver::new();
    let home = forwarding(None);
    without_the_program(&home);
    is_silent(&run(&home, &["sh"], "stop", &[("SNELL_URL", &receiver.url())], "{}"));
    assert_eq!(receiver.next().0, "post /hook/stop http/1.1");
    // No proxy stands between a machine and itself.
    let proxy = [
        ("SNELL_URL", receiver.url()),
        ("http_proxy", "http://127.0.0.1:9".to_owned()),
    ];
    let proxy: Vec<_> = proxy.iter().map(|(name, value)| (*name, value.as_str())).collect();
    is_silent(&run(&home, &["sh"], "stop", &proxy, "{}"));
    assert_eq!(receiver.next().0, "post /hook/stop http/1.1");
}

#[test]
fn a_receiver_that_is_gone_or_hangs_costs_two_seconds_at_most() {
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let silent = Receiver::silent();
    for url in [format!("http://{gone}"), silent.url()] {
        let home = forwarding(Some(&url));
        without_the_program(&home);
        for shell in shells() {
            let started = Instant::now();
            is_silent(&run(&home, &shell, "stop", &[], "{\"session_id\": \"s\"}"));
            // Two seconds, on a machine that has time for it.
            assert!(started.elapsed() < Duration::from_secs(8), "{:?}", started.elapsed());
        }
    }
}

#[test]
fn with_neither_the_program_nor_curl_it_does_nothing() {
    let home = Home::new();
    let nothing = home.sandbox.home().join("nothing");
    fs::create_dir(&nothing).unwrap();
    let mut install = home.command(&["install", "claude", "--notify"]);
    install.env("PATH", &nothing);
    assert!(install.output().unwrap().status.success());
    without_the_program(&home);
    for shell in ["/bin/sh", "/bin/bash"]
        .into_iter()
        .filter(|shell| std::path::Path::new(shell).exists())
    {
        let ran = run(&home, &[shell], "stop", &[("PATH", nothing.to_str().unwrap())], "{}");
        assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{ran:?}");
    }
}

#[test]
fn what_is_no_event_is_told_to_nobody() {
    let receiver = Receiver::new();
    let home = forwarding(Some(&receiver.url()));
    without_the_program(&home);
    for event in ["", "../api", "a b", "Stop", "stop?x=1"] {
        is_silent(&run(&home, &["sh"], event, &[], "{}"));
    }
    assert!(!receiver.has_more());
}

#[test]
fn every_event_of_the_agent_is_told_by_its_own_name() {
    let home = forwarding(None);
    let mut told = super::handlers(&home.text());
    told.sort();
    let told: Vec<_> = told
        .iter()
        .map(|(event, _, args)| format!("{event} {}", args.join(" ")))
        .collect();
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
    assert!(!home.text().contains('~') && !home.text().contains("$HOME"));
}

#[test]
fn a_script_of_that_name_that_was_there_before_comes_back() {
    let home = Home::new();
    fs::create_dir_all(home.script().parent().unwrap()).unwrap();
    fs::write(home.script(), "#!/bin/sh\n# mine\n").unwrap();
    fs::set_permissions(home.script(), fs::Permissions::from_mode(0o755)).unwrap();
    home.done(&["install", "claude", "--notify"]);
    home.done(&["install", "claude", "--notify", "--url", "http://tower:7433"]);
    // The receiver stays until another one is named.
    home.done(&["install", "claude", "--notify"]);
    assert!(
        fs::read_to_string(home.script())
            .unwrap()
            .contains("url='http://tower:7433'\n")
    );
    home.done(&["uninstall", "claude"]);
    assert_eq!(fs::read_to_string(home.script()).unwrap(), "#!/bin/sh\n# mine\n");
}

#[test]
fn a_script_that_its_user_has_changed_stays() {
    let home = forwarding(None);
    let mine = format!("{}\n# mine\n", fs::read_to_string(home.script()).unwrap());
    fs::write(home.script(), &mine).unwrap();
    let ran = home.done(&["uninstall", "claude"]);
    assert!(
        ran.stderr.contains("stays, because it is not as Snell wrote it"),
        "{ran:?}"
    );
    assert_eq!(fs::read_to_string(home.script()).unwrap(), mine);
}

#[test]
fn a_script_that_cannot_be_run_any_more_is_put_right() {
    let home = forwarding(None);
    fs::set_permissions(home.script(), fs::Permissions::from_mode(0o644)).unwrap();
    home.done(&["install", "claude", "--notify"]);
    assert_eq!(look(&home.script()).mode, 0o755);
    let ran = home.done(&["install", "claude", "--notify"]);
    assert!(ran.stdout.starts_with("Nothing to do"), "{ran:?}");
}
