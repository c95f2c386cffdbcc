//! `notify-headspace.sh`, run as the agent runs it, against a real receiver.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Home, look};
use crate::support::{Ran, start, wait_until};

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
        (line, once(&body))
    }

    pub fn has_more(&self) -> bool {
        self.requests.try_recv().is_ok()
    }
}

/// A JSON object in which nothing is said twice.
fn once(body: &str) -> Value {
    let value: Value = serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {body}"));
    for name in ["tmux_pane", "tmux_session", "headspace_session_id"] {
        assert!(body.matches(&format!("\"{name}\"")).count() < 2, "{body}");
    }
    value
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
fn a_program_that_cannot_be_run_is_done_without() {
    let receiver = Receiver::new();
    for shell in shells() {
        for body in [
            "#!/nowhere/at/all\n",
            "\u{7f}ELF is what programs begin with",
            "\u{7f}ELF\0\0\u{1}",
        ] {
            let home = forwarding(Some(&receiver.url()));
            stand_in(&home);
            fs::write(home.program(), body).unwrap();
            let ran = run(&home, &shell, "stop", &[], "{\"a\": 1}");
            assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{shell:?} {body}: {ran:?}");
            assert_eq!(receiver.next(), ("post /hook/stop http/1.1".into(), json!({"a": 1})));
        }
    }
    let home = forwarding(Some(&receiver.url()));
    stand_in(&home);
    fs::write(home.program(), "#!/bin/sh\nexit 3\n").unwrap();
    assert_eq!(run(&home, &["sh"], "stop", &[], "{}").stdout, "");
    assert!(!receiver.has_more());
}

#[test]
fn without_the_program_curl_forwards_what_the_program_would() {
    let receiver = Receiver::new();
    let home = forwarding(Some(&receiver.url()));
    without_the_program(&home);
    let session = "CLAUDE_HEADSPACE_TMUX_SESSION";
    let strange = "it's \"a\\b\"\n\t\u{1}\u{7f} ü \u{1f980} $HOME `x` %s ; }";
    type Case<'a> = (&'a [(&'a str, &'a str)], &'a str, Value);
    let cases: [Case<'_>; 12] = [
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
        (&[], " \t{\"a\": \" }\"} \r\n ", json!({"a": " }"})),
        // What the payload says itself is not said twice.
        (
            &[("TMUX_PANE", "%7"), (session, "main")],
            "{\"tmux_session\": \"own\"}",
            json!({"tmux_session": "own", "tmux_pane": "%7"}),
        ),
        (
            &[
                ("TMUX_PANE", "%7"),
                (session, "main"),
                ("CLAUDE_HEADSPACE_SESSION_ID", "h"),
            ],
            "{\"tmux_pane\":\"%1\",\"tmux_session\":\"own\",\"headspace_session_id\":\"o\"}",
            json!({"tmux_pane": "%1", "tmux_session": "own", "headspace_session_id": "o"}),
        ),
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

/// Processes that have this in their environment.
fn processes_with(mark: &str) -> Vec<String> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let marked = processes.filter(|process| {
        let environment = fs::read(process.path().join("environ")).unwrap_or_default();
        String::from_utf8_lossy(&environment).contains(mark)
    });
    let names = marked.map(|process| fs::read_to_string(process.path().join("comm")).unwrap_or_default());
    names.collect()
}

#[test]
fn an_agent_that_does_not_close_its_pipe_costs_two_seconds_at_most_and_nothing_is_left_running() {
    let receiver = Receiver::new();
    let home = forwarding(Some(&receiver.url()));
    without_the_program(&home);
    let slow = home.sandbox.home().join("slow/sleep");
    fs::create_dir(slow.parent().unwrap()).unwrap();
    fs::write(&slow, "#!/bin/sh\nexec /bin/sleep 60\n").unwrap();
    fs::set_permissions(&slow, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!(
        "{}:{}",
        slow.parent().unwrap().display(),
        std::env::var("PATH").unwrap()
    );
    for (index, shell) in shells().iter().enumerate() {
        for (said, is_whole) in [("", false), ("{\"a\": ", false), ("{\"a\": 1}", true)] {
            let mark = format!("mark-{}-{index}-{}", std::process::id(), said.len());
            let mut command = home.sandbox.program(shell[0]);
            command
                .args(&shell[1..])
                .arg(home.script())
                .arg("stop")
                .env("TMUX_PANE", &mark);
            command
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped());
            let started = Instant::now();
            let mut child = command.spawn().unwrap();
            let mut pipe = child.stdin.take().unwrap();
            pipe.write_all(said.as_bytes()).unwrap();
            is_silent(&child.wait_with_output().unwrap().into());
            // Two seconds, on a machine that has time for it.
            assert!(started.elapsed() < Duration::from_secs(8), "{:?}", started.elapsed());
            if is_whole {
                assert_eq!(receiver.next().1, json!({"a": 1, "tmux_pane": mark}));
            }
            wait_until(|| processes_with(&mark).is_empty().then_some(()));
            assert!(pipe.write_all(b"x").is_err(), "somebody still listens");
        }
        // One that has closed it is not waited for, however long a second takes.
        let mark = format!("mark-{}-{index}-closed", std::process::id());
        let variables = [("TMUX_PANE", mark.as_str()), ("PATH", &path)];
        is_silent(&run(&home, shell, "stop", &variables, "{}"));
        wait_until(|| processes_with(&mark).is_empty().then_some(()));
        receiver.next();
    }
    assert!(!receiver.has_more());
}

#[test]
fn what_is_no_object_is_told_to_nobody() {
    let receiver = Receiver::new();
    let home = forwarding(Some(&receiver.url()));
    without_the_program(&home);
    for payload in ["", " \n", "[]", "null", "{", "{\"a\": 1", "}"] {
        is_silent(&run(&home, &["sh"], "stop", &[("TMUX_PANE", "%1")], payload));
    }
    // Nor is anything if there is no `cat` to read it.
    let nothing = home.sandbox.home().join("nothing");
    fs::create_dir(&nothing).unwrap();
    let path = [("PATH", nothing.to_str().unwrap())];
    is_silent(&run(&home, &["/bin/sh"], "stop", &path, "{}"));
    assert!(!receiver.has_more());
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
