//! What a receiver is sent.

use std::fs;
use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};
use snell_test_support::http::find_unused_address;
use snell_test_support::process::{spawn_with_stdin, wait_for_output};

use super::receiver::{NotifyReceiver, ReceiverBehavior};
use super::{IN_TIME, read_waiting_bodies, run_notify, send_prompt_notification};
use crate::support::CliSandbox;

const SECRET: &str = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";

/// The only body that a receiver was sent.
fn expect_single_body(receiver: &NotifyReceiver) -> Value {
    let [request] = receiver.requests().try_into().unwrap();
    request.json()
}

#[test]
fn the_payload_is_forwarded_with_what_is_known_of_its_agent() {
    let receiver = NotifyReceiver::new();
    let sandbox = CliSandbox::with_frozen_clock()
        .env("TMUX_PANE", "%7")
        .env("CLAUDE_HEADSPACE_TMUX_SESSION", "work")
        .env("CLAUDE_HEADSPACE_SESSION_ID", "h1");
    let payload = json!({"session_id": "s1", "transcript_path": "/t.jsonl", "permission_mode": "plan", "n": 1.50});
    run_notify(&sandbox, &["Stop", "--url", &receiver.url()], &payload.to_string()).assert_no_warning();
    let [request] = receiver.requests().try_into().unwrap();
    assert_eq!(request.line, "POST /hook/stop HTTP/1.1");
    assert_eq!(request.headers["content-type"], "application/json");
    assert!(!request.headers.contains_key("authorization"));
    let mut body = request.json();
    let event_id = body.as_object_mut().unwrap().shift_remove("event_id").unwrap();
    assert!(event_id.as_str().is_some_and(|id| id.len() > 8), "{event_id}");
    let host = rustix::system::uname().nodename().to_str().unwrap().to_owned();
    let expected = json!({
        "session_id": "s1", "transcript_path": "/t.jsonl", "permission_mode": "plan", "n": 1.50,
        "hook_event_name": "Stop", "cwd": sandbox.project(), "tmux_pane": "%7", "tmux_session": "work",
        "headspace_session_id": "h1", "pid": std::process::id(), "host": host, "timestamp": "2026-03-01T12:00:00Z",
    });
    assert_eq!(body, expected);
    assert_eq!(read_waiting_bodies(&sandbox), [] as [Value; 0]);
}

#[test]
fn what_the_environment_does_not_say_is_not_there() {
    let with = |name: &str, value: &str| CliSandbox::new().env(name, value);
    // What is set, the payload, and what must then be there or not.
    let rows = [
        (CliSandbox::new(), json!({}), "tmux_session", None),
        (with("CLAUDE_HEADSPACE_TMUX_SESSION", ""), json!({}), "tmux_session", None),
        (with("CLAUDE_HEADSPACE_TMUX_SESSION", "w"), json!({}), "tmux_session", Some(json!("w"))),
        (CliSandbox::new(), json!({}), "tmux_pane", None),
        (with("TMUX_PANE", ""), json!({}), "tmux_pane", None),
        (CliSandbox::new(), json!({}), "headspace_session_id", None),
        (with("CLAUDE_PID", "4711"), json!({}), "pid", Some(json!(4711))),
        (with("CLAUDE_PID", "none"), json!({}), "pid", Some(json!(std::process::id()))),
        (with("CLAUDE_PID", "0"), json!({}), "pid", Some(json!(std::process::id()))),
        (CliSandbox::new(), json!({"pid": 0}), "pid", Some(json!(std::process::id()))),
        (with("CLAUDE_SESSION_ID", "env"), json!({"session_id": "own"}), "session_id", Some(json!("own"))),
        (with("CLAUDE_SESSION_ID", "env"), json!({"prompt": ""}), "session_id", Some(json!("env"))),
        (with("CLAUDE_SESSION_ID", "env"), json!({"session_id": ""}), "session_id", Some(json!("env"))),
        (with("CLAUDE_SESSION_ID", "env"), json!({"session_id": 5}), "session_id", Some(json!("env"))),
        (CliSandbox::new(), json!({"prompt": ""}), "session_id", None),
        (CliSandbox::new(), json!({"cwd": "/there"}), "cwd", Some(json!("/there"))),
        (CliSandbox::new(), json!({"working_directory": "/there"}), "cwd", None),
        (CliSandbox::new(), json!({"event_id": "mine"}), "event_id", Some(json!("mine"))),
        (
            CliSandbox::new(),
            json!({"timestamp": "2020-01-01T00:00:00Z"}),
            "timestamp",
            Some(json!("2020-01-01T00:00:00Z")),
        ),
    ];
    for (sandbox, mut payload, field, expected) in rows.into_iter().chain(list_product_rows()) {
        payload["n"] = json!(1);
        let receiver = NotifyReceiver::new();
        run_notify(&sandbox, &["Stop", "--url", &receiver.url()], &payload.to_string()).assert_no_warning();
        assert_eq!(expect_single_body(&receiver).get(field), expected.as_ref(), "{field} of {payload}");
    }
    // Whoever counts from 1 is not the only one.
    let receiver = NotifyReceiver::new();
    run_notify(&CliSandbox::new(), &["Stop", "--url", &receiver.url()], r#"{"event_id": 7}"#).assert_no_warning();
    assert!(expect_single_body(&receiver)["event_id"].is_string());
}

/// The product: by the payload and the environment, as far as they fit together.
fn list_product_rows() -> Vec<(CliSandbox, Value, &'static str, Option<Value>)> {
    let in_claude_code = || CliSandbox::new().env("CLAUDECODE", "1");
    let stop = json!({"hook_event_name": "Stop", "session_id": "s1", "transcript_path": "/t.jsonl"});
    vec![
        (in_claude_code(), stop.clone(), "platform", Some(json!("claude"))),
        (CliSandbox::new(), json!({"hook_event_name": "AfterAgent"}), "platform", Some(json!("gemini"))),
        (in_claude_code(), json!({"platform": "lantern"}), "platform", Some(json!("lantern"))),
        (CliSandbox::new(), json!({"prompt": ""}), "platform", None),
    ]
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
    let receiver = NotifyReceiver::new();
    let sandbox = CliSandbox::new();
    for (event, _, _) in rows {
        run_notify(&sandbox, &[event, "--url", &receiver.url()], "{\"session_id\":\"s1\"}").assert_no_warning();
    }
    let requests = receiver.requests();
    for ((event, route, name), request) in rows.into_iter().zip(&requests) {
        assert_eq!(request.line, format!("POST {route} HTTP/1.1"), "{event}");
        assert_eq!(request.json()["hook_event_name"], name, "{event}");
    }
    assert_eq!(requests.len(), rows.len());
}

#[test]
fn the_agent_is_found_behind_shells_and_a_script() {
    let receiver = NotifyReceiver::new();
    let url = receiver.url();
    let snell = env!("CARGO_BIN_EXE_snell");
    let sandbox = CliSandbox::new().script("forward.sh", &format!("\"{snell}\" notify \"$@\"\nexit 0"));
    let script = sandbox.project().join("forward.sh");
    let script = script.to_str().unwrap();
    for line in [
        format!("\"$0\" notify Stop --url {url}; true"),
        format!("{script} Stop --url {url}; true"),
        format!("sh {script} Stop --url {url}; true"),
    ] {
        let output = spawn_with_stdin(&mut sandbox.shell(&line, &[]), "{\"session_id\":\"s1\"}");
        assert!(output.wait_with_output().unwrap().status.success());
    }
    let pids: Vec<_> = receiver.unique_events().iter().map(|body| body["pid"].clone()).collect();
    assert_eq!(pids, vec![json!(std::process::id()); 3]);
}

#[test]
fn the_receiver_is_the_one_that_is_named_nearest() {
    let [on_the_line, in_the_environment, in_the_file] =
        [NotifyReceiver::new(), NotifyReceiver::new(), NotifyReceiver::new()];
    let file = format!("[server]\nurl = \"{}/\"\n", in_the_file.url());
    let sandbox = || CliSandbox::new().home_file(".config/snell/snell.toml", &file);
    let payload = "{\"session_id\":\"s1\"}";
    run_notify(&sandbox(), &["Stop"], payload).assert_no_warning();
    assert_eq!(in_the_file.requests().len(), 1);
    let with_variable = sandbox().env("SNELL_URL", &in_the_environment.url());
    run_notify(&with_variable, &["Stop"], payload).assert_no_warning();
    assert_eq!(in_the_environment.requests().len(), 1);
    run_notify(&with_variable, &["Stop", "--url", &on_the_line.url()], payload).assert_no_warning();
    assert_eq!((on_the_line.requests().len(), in_the_environment.requests().len()), (1, 1));
    // A project has no say.
    let project = CliSandbox::new().file("snell.toml", &file).env("SNELL_URL", &on_the_line.url());
    run_notify(&project, &["Stop"], payload).assert_no_warning();
    assert_eq!((on_the_line.requests().len(), in_the_file.requests().len()), (2, 1));
}

#[test]
fn a_token_comes_from_the_nearest_file_and_goes_only_where_it_belongs() {
    let receiver = NotifyReceiver::new();
    let url = receiver.url();
    let sandbox = || {
        CliSandbox::new()
            .secret_home_file("own.token", "of-the-file\n")
            .secret_home_file("line.token", "of-the-line")
            .secret_home_file("variable.token", "  of-the-variable  \n")
    };
    let settings = |url: &str| format!("[server]\nurl = \"{url}\"\ntoken_file = \"~/own.token\"\n");
    let with_file = |url: &str| sandbox().home_file(".config/snell/snell.toml", &settings(url));
    let variable = |sandbox: CliSandbox| {
        let path = sandbox.home().join("variable.token");
        sandbox.env("SNELL_TOKEN_FILE", path.to_str().unwrap())
    };
    let rows = [
        (sandbox(), vec![], None),
        (with_file(&url), vec![], Some("Bearer of-the-file")),
        // It is this machine's own.
        (with_file("https://elsewhere.example"), vec![], Some("Bearer of-the-file")),
        (variable(with_file(&url)), vec![], Some("Bearer of-the-variable")),
        (variable(with_file(&url)), vec!["--token-file", "../home/line.token"], Some("Bearer of-the-line")),
    ];
    for (sandbox, more, expected) in rows {
        let args = ["Stop", "--url", &url].into_iter().chain(more);
        run_notify(&sandbox, &args.collect::<Vec<_>>(), "{\"session_id\":\"s1\"}").assert_no_warning();
        let requests = receiver.requests();
        let told = requests.last().unwrap().headers.get("authorization");
        assert_eq!(told.map(String::as_str), expected);
    }
    // To somebody else, the file's token is not even left in the outbox.
    let sandbox = with_file(&url);
    run_notify(&sandbox, &["Stop", "--url", "http://elsewhere.invalid"], "{\"session_id\":\"s1\"}");
    let left = fs::read_to_string(&super::list_outbox_files(&sandbox, "")[0]).unwrap();
    assert!(!left.contains("own.token"), "{left}");
}

#[test]
fn a_token_that_cannot_be_used_sends_nothing_and_keeps_the_event() {
    let receiver = NotifyReceiver::new();
    let sandbox = CliSandbox::new()
        .secret_home_file("empty", " \n")
        .secret_home_file("key", "-----BEGIN\nKEY-----\n")
        .open_home_file("open", "good");
    for (file, said) in [
        ("missing", "cannot read the token"),
        ("empty", "must contain one word"),
        ("key", "must contain one word"),
        ("open", "has mode 644, so other users can read it (hint: run `chmod 600"),
    ] {
        let file = &format!("../home/{file}");
        let args = ["Stop", "--url", &receiver.url(), "--token-file", file];
        run_notify(&sandbox, &args, "{\"session_id\":\"s1\"}").assert_warning_contains(said);
    }
    assert!(receiver.requests().is_empty());
    assert_eq!(read_waiting_bodies(&sandbox).len(), 4);
    // The token that counts is the one of today.
    let sandbox = sandbox.secret_home_file("good", "good");
    let args = ["Stop", "--url", &receiver.url(), "--token-file", "../home/good"];
    run_notify(&sandbox, &args, "{\"session_id\":\"s1\"}").assert_no_warning();
    let requests = receiver.requests();
    let tokens: Vec<_> = requests.iter().map(|request| request.headers["authorization"].as_str()).collect();
    assert_eq!(tokens, ["Bearer good"; 5]);
}

#[test]
fn an_event_whose_token_is_gone_does_not_hold_up_those_that_need_none() {
    let receiver = NotifyReceiver::new();
    let sandbox = CliSandbox::new();
    let url = receiver.url();
    let payload = "{\"session_id\":\"s1\"}";
    let with_token = ["Stop", "--url", &url, "--token-file", "../home/gone"];
    let without = ["Stop", "--url", &url];
    run_notify(&sandbox, &with_token, payload).assert_warning_contains("was not called: cannot read the token");
    // One that asks for a token says so, and everything waits.
    receiver.set_behavior(ReceiverBehavior::Answers(401));
    let ran = run_notify(&sandbox, &without, payload);
    ran.assert_warning_contains("answered 401");
    ran.assert_warning_contains("cannot read the token");
    ran.assert_warning_contains("(os error 2))), so 2 events wait");
    receiver.set_behavior(ReceiverBehavior::Answers(200));
    run_notify(&sandbox, &without, payload).assert_no_warning();
    assert_eq!((receiver.unique_events().len(), read_waiting_bodies(&sandbox).len()), (3, 0));
    // While it is there it is shown, also by a caller that names none.
    receiver.set_behavior(ReceiverBehavior::Answers(503));
    let sandbox = sandbox.secret_home_file("gone", "back");
    run_notify(&sandbox, &with_token, payload).assert_warning_contains("answered 503");
    receiver.set_behavior(ReceiverBehavior::Answers(200));
    let already = receiver.requests().len();
    run_notify(&sandbox, &without, payload).assert_no_warning();
    let requests = receiver.requests();
    let tokens: Vec<_> =
        requests[already..].iter().map(|request| request.headers.get("authorization").map(String::as_str)).collect();
    assert_eq!(tokens, [Some("Bearer back"), None]);
}

#[test]
fn a_token_that_others_can_read_is_never_sent() {
    let receiver = NotifyReceiver::new();
    let settings = format!("[server]\nurl = \"{}\"\ntoken_file = \"open\"\n", receiver.url());
    let payload = "{\"session_id\":\"s1\"}";
    let said = "has mode 644, so other users can read it (hint: run `chmod 600";
    let by_the_file = CliSandbox::new().open_home_file("open", "mine").home_file(".config/snell/snell.toml", &settings);
    run_notify(&by_the_file, &["Stop"], payload).assert_warning_contains(said);
    let by_the_variable = CliSandbox::new().open_home_file("open", "mine");
    let path = by_the_variable.home().join("open");
    let by_the_variable = by_the_variable.env("SNELL_TOKEN_FILE", path.to_str().unwrap());
    run_notify(&by_the_variable, &["Stop", "--url", &receiver.url()], payload).assert_warning_contains(said);
    assert!(receiver.requests().is_empty());
    assert_eq!((read_waiting_bodies(&by_the_file).len(), read_waiting_bodies(&by_the_variable).len()), (1, 1));
    // What waits is sent with it once it is a secret.
    let mended = by_the_file.secret_home_file("open", "mine");
    run_notify(&mended, &["Stop"], payload).assert_no_warning();
    assert_eq!((receiver.unique_events().len(), read_waiting_bodies(&mended).len()), (2, 0));
}

#[test]
fn secrets_are_neither_sent_nor_written() {
    let receiver = NotifyReceiver::new();
    let sandbox = CliSandbox::new();
    let prompt = format!("use {SECRET} for it");
    send_prompt_notification(&sandbox, &receiver.url(), &prompt).assert_no_warning();
    assert_eq!(expect_single_body(&receiver)["prompt"], "use [masked: GitHub token] for it");
    send_prompt_notification(&sandbox, &format!("http://{}", find_unused_address()), &prompt);
    let left = fs::read_to_string(&super::list_outbox_files(&sandbox, "")[0]).unwrap();
    assert!(left.contains("[masked: ") && !left.contains(SECRET), "{left}");
}

#[test]
fn what_is_too_large_for_a_receiver_is_cut_and_arrives() {
    // A slow machine must be done with it in time.
    let many: Vec<_> = (0..60).map(|_| "y".repeat(20_000)).collect();
    let rows = [
        ("one long text", json!({"session_id": "s1", "prompt": "x".repeat(1_200_000)})),
        ("many texts", json!({"session_id": "s1", "tool_input": {"texts": many}})),
    ];
    for (case, payload) in rows {
        let receiver = NotifyReceiver::new();
        run_notify(&CliSandbox::new(), &["Stop", "--url", &receiver.url()], &payload.to_string()).assert_no_warning();
        let [request] = receiver.requests().try_into().unwrap();
        let length: usize = request.headers["content-length"].parse().unwrap();
        assert!(length < 1024 * 1024, "{case}: {length}");
        assert_eq!(request.json()["session_id"], "s1", "{case}");
        assert!(request.body.contains("bytes left out"), "{case}");
    }
}

#[test]
fn what_is_nested_too_deeply_is_left_out_however_deep_it_is() {
    for levels in [90, 150, 257, 100_000] {
        let receiver = NotifyReceiver::new();
        let (open, close) = ("[".repeat(levels), "]".repeat(levels));
        let payload = format!("{{\"session_id\":\"s1\",\"tool_input\":{{\"deep\":{open}{close}}},\"prompt\":\"Go.\"}}");
        run_notify(&CliSandbox::new(), &["Stop", "--url", &receiver.url()], &payload).assert_no_warning();
        let body = expect_single_body(&receiver);
        assert_eq!((&body["session_id"], &body["prompt"]), (&json!("s1"), &json!("Go.")));
        assert_eq!(body.to_string().contains("nested too deeply"), levels > 100, "{levels}");
    }
}

#[test]
fn variables_for_proxies_lead_nowhere() {
    let receiver = NotifyReceiver::new();
    let dead = format!("http://{}", find_unused_address());
    let names = ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"];
    let sandbox = names.iter().fold(CliSandbox::new(), |sandbox, name| sandbox.env(name, &dead));
    send_prompt_notification(&sandbox, &receiver.url(), "straight on").assert_no_warning();
    assert_eq!(receiver.unique_prompts(), ["straight on"]);
}

#[test]
fn an_agent_that_does_not_close_its_pipe_is_heard_all_the_same() {
    let receiver = NotifyReceiver::new();
    let sandbox = CliSandbox::new();
    for (said, arrives) in [("{\"session_id\":\"s1\",\"prompt\":\"whole\"}", true), ("{\"session_id\":", false)] {
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
        let ran = wait_for_output(child);
        assert!(started.elapsed() < IN_TIME, "{:?}", started.elapsed());
        assert_eq!((ran.code, ran.stdout.as_str()), (0, ""));
        if arrives {
            ran.assert_no_warning();
        } else {
            ran.assert_warning_contains("was not complete after one second");
        }
        drop(pipe);
    }
    assert_eq!(receiver.unique_prompts(), ["whole"]);
}

#[test]
fn what_is_no_event_is_said_and_not_sent() {
    let receiver = NotifyReceiver::new();
    let sandbox = CliSandbox::new();
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    let rows = [
        ("Stop", "", "standard input is empty"),
        ("Stop", " \n", "standard input is empty"),
        ("Stop", "not JSON", "not valid JSON"),
        ("Stop", "[1]", "must be a JSON object"),
        ("Stop", "null", "must be a JSON object"),
        ("Stop", "{\"session_id\": \"s1\"", "not valid JSON"),
        ("Stop", deep.as_str(), "must be a JSON object"),
        ("Stop", "{\"session_id\": [[[", "not valid JSON"),
        (" ", "{\"session_id\": \"s1\"}", "has no name"),
    ];
    for (event, stdin, said) in rows {
        run_notify(&sandbox, &[event, "--url", &receiver.url()], stdin).assert_warning_contains(said);
    }
    assert!(receiver.requests().is_empty());
    assert!(!sandbox.data().join("outbox").exists());
    // If the environment says which session it is, that is enough.
    let launched = CliSandbox::new().env("CLAUDE_SESSION_ID", "launched");
    run_notify(&launched, &["session-start", "--url", &receiver.url()], "").assert_no_warning();
    assert_eq!(expect_single_body(&receiver)["session_id"], "launched");
}

#[test]
fn a_mistake_on_the_command_line_does_not_stop_an_agent() {
    let sandbox = CliSandbox::new();
    let rows: [(&[&str], &str); 6] = [
        (&[], "required arguments"),
        (&["Stop", "--retry"], "cannot be used with"),
        (&["Stop", "--nonsense"], "unexpected argument"),
        (&["Stop", "and", "more"], "unexpected argument"),
        (&["Stop", "--url", "box.example:7433"], "must start with http://"),
        (&["Stop", "--url", "http://me:pw@box.example"], "must not contain a user name or password"),
    ];
    for (args, said) in rows {
        let ran = run_notify(&sandbox, args, "{\"session_id\":\"s1\"}");
        assert!(ran.stderr.contains(said), "{args:?}: {ran:?}");
    }
    let wrong = CliSandbox::new().env("SNELL_URL", "elsewhere");
    run_notify(&wrong, &["Stop"], "{\"session_id\":\"s1\"}")
        .assert_warning_contains("SNELL_URL must start with http://");
}
