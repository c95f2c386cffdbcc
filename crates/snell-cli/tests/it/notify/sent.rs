//! What a receiver is sent.

use std::fs;
use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};

use super::receiver::{Mood, Receiver, nobody};
use super::{IN_TIME, notify, notify_with, waiting};
use crate::support::{Sandbox, start};

const SECRET: &str = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";

/// The only body that a receiver was sent.
fn only(receiver: &Receiver) -> Value {
    let [request] = receiver.requests().try_into().unwrap();
    request.body
}

#[test]
fn the_payload_is_forwarded_with_what_is_known_of_its_agent() {
    let receiver = Receiver::new();
    let sandbox = Sandbox::recording()
        .env("TMUX_PANE", "%7")
        .env("CLAUDE_HEADSPACE_TMUX_SESSION", "work")
        .env("CLAUDE_HEADSPACE_SESSION_ID", "h1");
    let payload = json!({"session_id": "s1", "transcript_path": "/t.jsonl", "permission_mode": "plan", "n": 1.50});
    notify_with(&sandbox, &["Stop", "--url", &receiver.url()], &payload.to_string()).says_nothing();
    let [request] = receiver.requests().try_into().unwrap();
    assert_eq!(request.line, "POST /hook/stop HTTP/1.1");
    assert_eq!(request.headers["content-type"], "application/json");
    assert!(!request.headers.contains_key("authorization"));
    let mut body = request.body;
    let event_id = body.as_object_mut().unwrap().shift_remove("event_id").unwrap();
    assert!(event_id.as_str().is_some_and(|id| id.len() > 8), "{event_id}");
    let host = rustix::system::uname().nodename().to_str().unwrap().to_owned();
    let expected = json!({
        "session_id": "s1", "transcript_path": "/t.jsonl", "permission_mode": "plan", "n": 1.50,
        "hook_event_name": "Stop", "cwd": sandbox.project(), "tmux_pane": "%7", "tmux_session": "work",
        "headspace_session_id": "h1", "pid": std::process::id(), "host": host, "timestamp": "2026-03-01T12:00:00Z",
    });
    assert_eq!(body, expected);
    assert_eq!(waiting(&sandbox), [] as [Value; 0]);
}

#[test]
fn what_the_environment_does_not_say_is_not_there() {
    let with = |name: &str, value: &str| Sandbox::new().env(name, value);
    // What is set, the payload, and what must then be there or not.
    let rows = [
        (Sandbox::new(), json!({}), "tmux_session", None),
        (
            with("CLAUDE_HEADSPACE_TMUX_SESSION", ""),
            json!({}),
            "tmux_session",
            None,
        ),
        (
            with("CLAUDE_HEADSPACE_TMUX_SESSION", "w"),
            json!({}),
            "tmux_session",
            Some(json!("w")),
        ),
        (Sandbox::new(), json!({}), "tmux_pane", None),
        (with("TMUX_PANE", ""), json!({}), "tmux_pane", None),
        (Sandbox::new(), json!({}), "headspace_session_id", None),
        (with("CLAUDE_PID", "4711"), json!({}), "pid", Some(json!(4711))),
        (
            with("CLAUDE_PID", "none"),
            json!({}),
            "pid",
            Some(json!(std::process::id())),
        ),
        (
            with("CLAUDE_PID", "0"),
            json!({}),
            "pid",
            Some(json!(std::process::id())),
        ),
        (
            Sandbox::new(),
            json!({"pid": 0}),
            "pid",
            Some(json!(std::process::id())),
        ),
        (
            with("CLAUDE_SESSION_ID", "env"),
            json!({"session_id": "own"}),
            "session_id",
            Some(json!("own")),
        ),
        (
            with("CLAUDE_SESSION_ID", "env"),
            json!({"prompt": ""}),
            "session_id",
            Some(json!("env")),
        ),
        (
            with("CLAUDE_SESSION_ID", "env"),
            json!({"session_id": ""}),
            "session_id",
            Some(json!("env")),
        ),
        (
            with("CLAUDE_SESSION_ID", "env"),
            json!({"session_id": 5}),
            "session_id",
            Some(json!("env")),
        ),
        (Sandbox::new(), json!({"prompt": ""}), "session_id", None),
        (Sandbox::new(), json!({"cwd": "/there"}), "cwd", Some(json!("/there"))),
        (Sandbox::new(), json!({"working_directory": "/there"}), "cwd", None),
        (
            Sandbox::new(),
            json!({"event_id": "mine"}),
            "event_id",
            Some(json!("mine")),
        ),
        (
            Sandbox::new(),
            json!({"timestamp": "2020-01-01T00:00:00Z"}),
            "timestamp",
            Some(json!("2020-01-01T00:00:00Z")),
        ),
    ];
    for (sandbox, mut payload, field, expected) in rows {
        payload["n"] = json!(1);
        let receiver = Receiver::new();
        notify_with(&sandbox, &["Stop", "--url", &receiver.url()], &payload.to_string()).says_nothing();
        assert_eq!(only(&receiver).get(field), expected.as_ref(), "{field} of {payload}");
    }
    // Whoever counts from 1 is not the only one.
    let receiver = Receiver::new();
    notify_with(
        &Sandbox::new(),
        &["Stop", "--url", &receiver.url()],
        r#"{"event_id": 7}"#,
    )
    .says_nothing();
    assert!(only(&receiver)["event_id"].is_string());
}

#[test]
fn every_event_goes_to_its_route_under_its_name() {
    let rows = [
        ("session-start", "/hook/session-start", "SessionStart"),
        ("SessionEnd", "/hook/session-end", "SessionEnd"),
        ("user-prompt-submit", "/hook/user-prompt-submit", "UserPromptSubmit"),
        ("stop", "/hook/stop", "Stop"),
        ("Notification", "/hook/notification", "Notification"),
        ("BeforeTool", "/hook/pre-tool-use", "PreToolUse"),
        ("post-tool-use", "/hook/post-tool-use", "PostToolUse"),
        ("PermissionRequest", "/hook/permission-request", "PermissionRequest"),
        ("SubagentStop", "/hook/event", "SubagentStop"),
        ("TeammateIdle", "/hook/event", "TeammateIdle"),
        ("../status?x=1", "/hook/event", "../status?x=1"),
    ];
    let receiver = Receiver::new();
    let sandbox = Sandbox::new();
    for (event, _, _) in rows {
        notify_with(&sandbox, &[event, "--url", &receiver.url()], "{\"session_id\":\"s1\"}").says_nothing();
    }
    let requests = receiver.requests();
    for ((event, route, name), request) in rows.into_iter().zip(&requests) {
        assert_eq!(request.line, format!("POST {route} HTTP/1.1"), "{event}");
        assert_eq!(request.body["hook_event_name"], name, "{event}");
    }
    assert_eq!(requests.len(), rows.len());
}

#[test]
fn the_agent_is_found_behind_shells_and_a_script() {
    let receiver = Receiver::new();
    let url = receiver.url();
    let snell = env!("CARGO_BIN_EXE_snell");
    let sandbox = Sandbox::new().script("forward.sh", &format!("\"{snell}\" notify \"$@\"\nexit 0"));
    let script = sandbox.project().join("forward.sh");
    let script = script.to_str().unwrap();
    for line in [
        format!("\"$0\" notify Stop --url {url}; true"),
        format!("{script} Stop --url {url}; true"),
        format!("sh {script} Stop --url {url}; true"),
    ] {
        let output = start(&mut sandbox.shell(&line, &[]), "{\"session_id\":\"s1\"}");
        assert!(output.wait_with_output().unwrap().status.success());
    }
    let pids: Vec<_> = receiver.stored().iter().map(|body| body["pid"].clone()).collect();
    assert_eq!(pids, vec![json!(std::process::id()); 3]);
}

#[test]
fn the_receiver_is_the_one_that_is_named_nearest() {
    let [on_the_line, in_the_environment, in_the_file] = [Receiver::new(), Receiver::new(), Receiver::new()];
    let file = format!("[server]\nurl = \"{}/\"\n", in_the_file.url());
    let sandbox = || Sandbox::new().home_file(".config/snell/snell.toml", &file);
    let payload = "{\"session_id\":\"s1\"}";
    notify_with(&sandbox(), &["Stop"], payload).says_nothing();
    assert_eq!(in_the_file.requests().len(), 1);
    let with_variable = sandbox().env("SNELL_URL", &in_the_environment.url());
    notify_with(&with_variable, &["Stop"], payload).says_nothing();
    assert_eq!(in_the_environment.requests().len(), 1);
    notify_with(&with_variable, &["Stop", "--url", &on_the_line.url()], payload).says_nothing();
    assert_eq!(
        (on_the_line.requests().len(), in_the_environment.requests().len()),
        (1, 1)
    );
    // A project has no say.
    let project = Sandbox::new()
        .file("snell.toml", &file)
        .env("SNELL_URL", &on_the_line.url());
    notify_with(&project, &["Stop"], payload).says_nothing();
    assert_eq!((on_the_line.requests().len(), in_the_file.requests().len()), (2, 1));
}

#[test]
fn a_token_comes_from_the_nearest_file_and_goes_only_where_it_belongs() {
    let receiver = Receiver::new();
    let url = receiver.url();
    let sandbox = || {
        Sandbox::new()
            .secret_home_file("own.token", "of-the-file\n")
            .secret_home_file("line.token", "of-the-line")
            .secret_home_file("variable.token", "  of-the-variable  \n")
    };
    let settings = |url: &str| format!("[server]\nurl = \"{url}\"\ntoken_file = \"~/own.token\"\n");
    let with_file = |url: &str| sandbox().home_file(".config/snell/snell.toml", &settings(url));
    let variable = |sandbox: Sandbox| {
        let path = sandbox.home().join("variable.token");
        sandbox.env("SNELL_TOKEN_FILE", path.to_str().unwrap())
    };
    let rows = [
        (sandbox(), vec![], None),
        (with_file(&url), vec![], Some("Bearer of-the-file")),
        // It is this machine's own.
        (
            with_file("https://elsewhere.example"),
            vec![],
            Some("Bearer of-the-file"),
        ),
        (variable(with_file(&url)), vec![], Some("Bearer of-the-variable")),
        (
            variable(with_file(&url)),
            vec!["--token-file", "../home/line.token"],
            Some("Bearer of-the-line"),
        ),
    ];
    for (sandbox, more, expected) in rows {
        let args = ["Stop", "--url", &url].into_iter().chain(more);
        notify_with(&sandbox, &args.collect::<Vec<_>>(), "{\"session_id\":\"s1\"}").says_nothing();
        let requests = receiver.requests();
        let told = requests.last().unwrap().headers.get("authorization");
        assert_eq!(told.map(String::as_str), expected);
    }
    // To somebody else, the file's token is not even left in the outbox.
    let sandbox = with_file(&url);
    notify_with(
        &sandbox,
        &["Stop", "--url", "http://elsewhere.invalid"],
        "{\"session_id\":\"s1\"}",
    );
    let left = fs::read_to_string(&super::files(&sandbox, "")[0]).unwrap();
    assert!(!left.contains("own.token"), "{left}");
}

#[test]
fn a_token_that_cannot_be_used_sends_nothing_and_keeps_the_event() {
    let receiver = Receiver::new();
    let sandbox = Sandbox::new()
        .secret_home_file("empty", " \n")
        .secret_home_file("key", "-----BEGIN\nKEY-----\n")
        .open_home_file("open", "good");
    for (file, said) in [
        ("missing", "cannot read the token"),
        ("empty", "must hold one word"),
        ("key", "must hold one word"),
        ("open", "can be read by others (mode 644); run: chmod 600"),
    ] {
        let file = &format!("../home/{file}");
        let args = ["Stop", "--url", &receiver.url(), "--token-file", file];
        notify_with(&sandbox, &args, "{\"session_id\":\"s1\"}").says(said);
    }
    assert!(receiver.requests().is_empty());
    assert_eq!(waiting(&sandbox).len(), 4);
    // The token that counts is the one of today.
    let sandbox = sandbox.secret_home_file("good", "good");
    let args = ["Stop", "--url", &receiver.url(), "--token-file", "../home/good"];
    notify_with(&sandbox, &args, "{\"session_id\":\"s1\"}").says_nothing();
    let requests = receiver.requests();
    let tokens: Vec<_> = requests
        .iter()
        .map(|request| request.headers["authorization"].as_str())
        .collect();
    assert_eq!(tokens, ["Bearer good"; 5]);
}

#[test]
fn an_event_whose_token_is_gone_does_not_hold_up_those_that_need_none() {
    let receiver = Receiver::new();
    let sandbox = Sandbox::new();
    let url = receiver.url();
    let payload = "{\"session_id\":\"s1\"}";
    let with_token = ["Stop", "--url", &url, "--token-file", "../home/gone"];
    let without = ["Stop", "--url", &url];
    notify_with(&sandbox, &with_token, payload).says("was not asked: cannot read the token");
    // One that asks for a token says so, and everything waits.
    receiver.is_now(Mood::Answers(401));
    let ran = notify_with(&sandbox, &without, payload);
    ran.says("answered 401");
    ran.says("cannot read the token");
    ran.says("so none was shown); waiting for it: 2 events");
    receiver.is_now(Mood::Answers(200));
    notify_with(&sandbox, &without, payload).says_nothing();
    assert_eq!((receiver.stored().len(), waiting(&sandbox).len()), (3, 0));
    // While it is there it is shown, also by a caller that names none.
    receiver.is_now(Mood::Answers(503));
    let sandbox = sandbox.secret_home_file("gone", "back");
    notify_with(&sandbox, &with_token, payload).says("answered 503");
    receiver.is_now(Mood::Answers(200));
    let already = receiver.requests().len();
    notify_with(&sandbox, &without, payload).says_nothing();
    let requests = receiver.requests();
    let tokens: Vec<_> = requests[already..]
        .iter()
        .map(|request| request.headers.get("authorization").map(String::as_str))
        .collect();
    assert_eq!(tokens, [Some("Bearer back"), None]);
}

#[test]
fn a_token_that_others_can_read_goes_nowhere_whoever_names_its_file() {
    let receiver = Receiver::new();
    let settings = format!("[server]\nurl = \"{}\"\ntoken_file = \"open\"\n", receiver.url());
    let payload = "{\"session_id\":\"s1\"}";
    let said = "can be read by others (mode 644); run: chmod 600";
    let by_the_file = Sandbox::new()
        .open_home_file("open", "mine")
        .home_file(".config/snell/snell.toml", &settings);
    notify_with(&by_the_file, &["Stop"], payload).says(said);
    let by_the_variable = Sandbox::new().open_home_file("open", "mine");
    let path = by_the_variable.home().join("open");
    let by_the_variable = by_the_variable.env("SNELL_TOKEN_FILE", path.to_str().unwrap());
    notify_with(&by_the_variable, &["Stop", "--url", &receiver.url()], payload).says(said);
    assert!(receiver.requests().is_empty());
    assert_eq!((waiting(&by_the_file).len(), waiting(&by_the_variable).len()), (1, 1));
    // What waits is sent with it once it is a secret.
    let mended = by_the_file.secret_home_file("open", "mine");
    notify_with(&mended, &["Stop"], payload).says_nothing();
    assert_eq!((receiver.stored().len(), waiting(&mended).len()), (2, 0));
}

#[test]
fn secrets_are_neither_sent_nor_written() {
    let receiver = Receiver::new();
    let sandbox = Sandbox::new();
    let prompt = format!("use {SECRET} for it");
    notify(&sandbox, &receiver.url(), &prompt).says_nothing();
    assert_eq!(only(&receiver)["prompt"], "use [masked: GitHub token] for it");
    notify(&sandbox, &format!("http://{}", nobody()), &prompt);
    let left = fs::read_to_string(&super::files(&sandbox, "")[0]).unwrap();
    assert!(left.contains("[masked: ") && !left.contains(SECRET), "{left}");
}

#[test]
fn what_is_too_large_for_a_receiver_is_cut_and_arrives() {
    // A slow machine must be done with it in time.
    let many: Vec<_> = (0..60).map(|_| "y".repeat(20_000)).collect();
    let rows = [
        (
            "one long text",
            json!({"session_id": "s1", "prompt": "x".repeat(1_200_000)}),
        ),
        ("many texts", json!({"session_id": "s1", "tool_input": {"texts": many}})),
    ];
    for (case, payload) in rows {
        let receiver = Receiver::new();
        notify_with(
            &Sandbox::new(),
            &["Stop", "--url", &receiver.url()],
            &payload.to_string(),
        )
        .says_nothing();
        let [request] = receiver.requests().try_into().unwrap();
        let length: usize = request.headers["content-length"].parse().unwrap();
        assert!(length < 1024 * 1024, "{case}: {length}");
        assert_eq!(request.body["session_id"], "s1", "{case}");
        assert!(request.body.to_string().contains("bytes left out"), "{case}");
    }
}

#[test]
fn what_is_nested_too_deeply_is_left_out_however_deep_it_is() {
    for levels in [90, 150, 257, 100_000] {
        let receiver = Receiver::new();
        let (open, close) = ("[".repeat(levels), "]".repeat(levels));
        let payload = format!("{{\"session_id\":\"s1\",\"tool_input\":{{\"deep\":{open}{close}}},\"prompt\":\"Go.\"}}");
        notify_with(&Sandbox::new(), &["Stop", "--url", &receiver.url()], &payload).says_nothing();
        let body = only(&receiver);
        assert_eq!((&body["session_id"], &body["prompt"]), (&json!("s1"), &json!("Go.")));
        assert_eq!(body.to_string().contains("nested too deeply"), levels > 100, "{levels}");
    }
}

#[test]
fn variables_for_proxies_lead_nowhere() {
    let receiver = Receiver::new();
    let dead = format!("http://{}", nobody());
    let names = [
        "http_proxy",
        "HTTP_PROXY",
        "https_proxy",
        "HTTPS_PROXY",
        "all_proxy",
        "ALL_PROXY",
    ];
    let sandbox = names
        .iter()
        .fold(Sandbox::new(), |sandbox, name| sandbox.env(name, &dead));
    notify(&sandbox, &receiver.url(), "straight on").says_nothing();
    assert_eq!(receiver.prompts(), ["straight on"]);
}

#[test]
fn an_agent_that_does_not_close_its_pipe_is_heard_all_the_same() {
    let receiver = Receiver::new();
    let sandbox = Sandbox::new();
    for (said, arrives) in [
        ("{\"session_id\":\"s1\",\"prompt\":\"whole\"}", true),
        ("{\"session_id\":", false),
    ] {
        let started = std::time::Instant::now();
        let mut child = sandbox
            .command(&["notify", "user-prompt-submit", "--url", &receiver.url()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // It is kept open until the process has ended.
        let mut pipe = child.stdin.take().unwrap();
        pipe.write_all(said.as_bytes()).unwrap();
        let ran: crate::support::Ran = child.wait_with_output().unwrap().into();
        assert!(started.elapsed() < IN_TIME, "{:?}", started.elapsed());
        assert_eq!((ran.code, ran.stdout.as_str()), (0, ""));
        if arrives {
            ran.says_nothing();
        } else {
            ran.says("neither closed nor complete");
        }
        drop(pipe);
    }
    assert_eq!(receiver.prompts(), ["whole"]);
}

#[test]
fn what_is_no_event_is_said_and_not_sent() {
    let receiver = Receiver::new();
    let sandbox = Sandbox::new();
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    let rows = [
        ("Stop", "", "nothing on standard input"),
        ("Stop", " \n", "nothing on standard input"),
        ("Stop", "not JSON", "not valid JSON"),
        ("Stop", "[1]", "must be a JSON object"),
        ("Stop", "null", "must be a JSON object"),
        ("Stop", "{\"session_id\": \"s1\"", "not valid JSON"),
        ("Stop", deep.as_str(), "must be a JSON object"),
        ("Stop", "{\"session_id\": [[[", "not valid JSON"),
        (" ", "{\"session_id\": \"s1\"}", "has no name"),
    ];
    for (event, stdin, said) in rows {
        notify_with(&sandbox, &[event, "--url", &receiver.url()], stdin).says(said);
    }
    assert!(receiver.requests().is_empty());
    assert!(!sandbox.data().join("outbox").exists());
    // If the environment says which session it is, that is enough.
    let launched = Sandbox::new().env("CLAUDE_SESSION_ID", "launched");
    notify_with(&launched, &["session-start", "--url", &receiver.url()], "").says_nothing();
    assert_eq!(only(&receiver)["session_id"], "launched");
}

#[test]
fn a_mistake_on_the_command_line_does_not_stop_an_agent() {
    let sandbox = Sandbox::new();
    let rows: [(&[&str], &str); 6] = [
        (&[], "required arguments"),
        (&["Stop", "--retry"], "cannot be used with"),
        (&["Stop", "--nonsense"], "unexpected argument"),
        (&["Stop", "and", "more"], "unexpected argument"),
        (&["Stop", "--url", "box.example:7433"], "does not begin with http://"),
        (
            &["Stop", "--url", "http://me:pw@box.example"],
            "holds a user's name or password",
        ),
    ];
    for (args, said) in rows {
        let ran = notify_with(&sandbox, args, "{\"session_id\":\"s1\"}");
        assert!(ran.stderr.contains(said), "{args:?}: {ran:?}");
    }
    let wrong = Sandbox::new().env("SNELL_URL", "elsewhere");
    notify_with(&wrong, &["Stop"], "{\"session_id\":\"s1\"}").says("SNELL_URL does not begin with http://");
}
