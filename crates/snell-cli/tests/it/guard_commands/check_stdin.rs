//! `snell guard check` and calls on standard input: a line in, a line out.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::{Value, json};
use snell_test_support::process::CommandOutput;

use crate::support::CliSandbox;

/// The output for these bytes.
fn run_check(args: &[&str], input: &[u8]) -> CommandOutput {
    let sandbox = CliSandbox::new();
    let mut child = spawn_check(&sandbox, args);
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    // Answers come while calls are still written.
    let writer = std::thread::spawn(move || stdin.write_all(&input).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output.into()
}

fn spawn_check(sandbox: &CliSandbox, args: &[&str]) -> Child {
    sandbox
        .command(&[&["guard", "check"], args].concat())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn render_bash_call(command: &str) -> String {
    json!({"tool": "Bash", "input": {"command": command}}).to_string()
}

/// Every answer in brief: the decision, or the error and the line.
fn summarize_answers(ran: &CommandOutput) -> Vec<String> {
    let answers = ran.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    answers
        .map(|answer| match answer["decision"].as_str() {
            Some(decision) => decision.to_owned(),
            None => format!("{}: {}", answer["line"], answer["error"].as_str().unwrap()),
        })
        .collect()
}

#[test]
fn every_line_is_answered_by_one_in_the_same_order() {
    let calls = [
        render_bash_call("ls"),
        render_bash_call("rm -rf /"),
        render_bash_call("history -c"),
        render_bash_call("rm -rf /"),
        render_bash_call("ls"),
    ];
    let ran = run_check(&[], calls.join("\n").as_bytes());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert_eq!(summarize_answers(&ran), ["allow", "deny", "ask", "deny", "allow"]);
    assert_eq!(
        ran.stdout.lines().next().unwrap(),
        r#"{"decision":"allow","rule":null,"tier":null,"reason":null,"advice":null,"coverage":"full"}"#
    );
    let nothing = run_check(&[], b"");
    assert_eq!((nothing.code, nothing.stdout.as_str()), (0, ""));
}

#[test]
fn a_line_that_is_no_call_is_answered_in_its_place_and_the_rest_goes_on() {
    let ls = render_bash_call("ls");
    let deep = format!(r#"{{"tool": "Bash", "input": {}{}}}"#, "[".repeat(300), "]".repeat(300));
    let bottomless = "[".repeat(1_000_000);
    let cases: &[(&[u8], &str)] = &[
        (b"foo", "a call must be a JSON object"),
        (b"[\"Bash\", {}]", "a call must be a JSON object"),
        (b"null", "a call must be a JSON object"),
        (b"{\"tool\": \"Bash\", ", "EOF while parsing"),
        (b"{\"tool\": \"Bash\", \"input\": {}} {}", "trailing characters"),
        (b"{\"input\": {}}", "missing field `tool`"),
        (b"{\"tool\": \"Bash\"}", "missing field `input`"),
        (b"{\"tool\": 5, \"input\": {}}", "invalid type: "),
        (b"{\"tool\": \"a\", \"tool\": \"b\", \"input\": {}}", "duplicate field `tool`"),
        (b"{\"tool\": \"a\", \"tool_name\": \"a\", \"input\": {}}", "duplicate field `tool`"),
        (b"{\"tool\": \"a\", \"input\": {}, \"tool_input\": {}}", "duplicate field `input`"),
        (b"{\"tool\": \"a\", \"input\": {}, \"cwd\": \"src\"}", "\"cwd\" must be an absolute path, not \"src\""),
        (b"{\"tool\": \"a\", \"input\": {}, \"cwd\": 7}", "invalid type: "),
        (b"{\"tool\": \"\xff\", \"input\": {}}", "the line is not UTF-8 from byte 11 on"),
        (deep.as_bytes(), "the JSON is nested more than 256 levels deep"),
        (bottomless.as_bytes(), "a call must be a JSON object"),
    ];
    let mut input = Vec::new();
    for (line, _) in cases {
        input.extend_from_slice(&[line, b"\n" as &[u8], ls.as_bytes(), b"\n"].concat());
    }
    let ran = run_check(&[], &input);
    assert_eq!(ran.code, 1);
    assert_eq!(
        ran.stderr,
        "warning: 16 of 32 lines are not valid calls\nhint: read \"error\" in the answers to these lines\n"
    );
    let answers = summarize_answers(&ran);
    assert_eq!(answers.len(), 2 * cases.len());
    for (number, (line, fault)) in cases.iter().enumerate() {
        let expected = format!("{}: {fault}", 2 * number + 1);
        let shown = String::from_utf8_lossy(&line[..line.len().min(80)]);
        assert!(answers[2 * number].starts_with(&expected), "{shown}: {}", answers[2 * number]);
        assert_eq!(answers[2 * number + 1], "allow", "after {shown}");
    }
}

#[test]
fn lines_may_come_as_other_programs_write_them() {
    let rows: &[(&[u8], &[&str])] = &[
        (b"\xef\xbb\xbf{\"tool\":\"Bash\",\"input\":{\"command\":\"rm -rf /\"}}", &["deny"]),
        (
            b"{\"tool\":\"Bash\",\"input\":{\"command\":\"ls\"}}\r\n\r\n{\"tool\":\"Bash\",\"input\":{\"command\":\"rm -rf /\"}}\r\n",
            &["allow", "deny"],
        ),
        (b"\n  \n\t{\"tool\":\"Bash\",\"input\":\"rm -rf /\"}  \n\n", &["deny"]),
        // As an agent sends it to its hooks.
        (
            b"{\"session_id\":\"s\",\"hook_event_name\":\"PreToolUse\",\"cwd\":\"/\",\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"rm -rf etc\"}}",
            &["deny"],
        ),
        (b"{\"tool\":\"Bash\",\"input\":{\"command\":\"rm -rf / \\ud800\"},\"cwd\":null}", &["deny"]),
        (b"{\"tool\":\"Bash\",\"input\":null}", &["ask"]),
        (b"{\"tool\":\"NoSuchTool\",\"input\":[]}", &["allow"]),
    ];
    for (input, expected) in rows {
        let ran = run_check(&[], input);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", String::from_utf8_lossy(input));
        assert_eq!(summarize_answers(&ran), *expected, "{}", String::from_utf8_lossy(input));
    }
}

#[test]
fn a_line_without_end_is_refused_and_not_held() {
    let long = |bytes: usize| {
        let command = json!({"tool": "Bash", "input": {"command": format!("echo {}", "x".repeat(bytes))}});
        command.to_string()
    };
    let input = [long(1 << 20), long(100_000_000), render_bash_call("rm -rf /")].join("\n");
    let ran = run_check(&[], input.as_bytes());
    let answers = summarize_answers(&ran);
    assert_eq!(ran.code, 1);
    assert_eq!(answers.len(), 3);
    assert_eq!(answers[1], "2: the line is longer than 67108864 bytes");
    assert_eq!(answers[2], "deny");
}

#[test]
fn each_call_is_judged_where_it_is_made() {
    let sandbox = CliSandbox::new();
    let call = |cwd: &str| json!({"tool": "Bash", "input": {"command": "rm -rf lib"}, "cwd": cwd}).to_string();
    let project = sandbox.project();
    let inside = project.join("sub");
    let cwds = [project.to_str().unwrap(), inside.to_str().unwrap(), "/", "/usr/../"];
    let mut lines = cwds.map(call).join("\n");
    lines.push_str(&format!("\n{}", render_bash_call("rm -rf lib")));
    let ran = sandbox.run_snell(&["guard", "check"], &lines);
    assert_eq!(summarize_answers(&ran), ["allow", "allow", "deny", "deny", "allow"]);
    // With --project, that project applies in every directory.
    let elsewhere = call("/srv/app").replace("lib", "build");
    let ran = sandbox.run_snell(&["guard", "check"], &elsewhere);
    assert_eq!(summarize_answers(&ran), ["allow"]);
    let ran = sandbox.run_snell(&["guard", "check", "--project", "."], &elsewhere);
    assert_eq!(summarize_answers(&ran), ["deny"]);
}

#[test]
fn a_sender_that_waits_gets_its_answer() {
    let sandbox = CliSandbox::new();
    let mut child = spawn_check(&sandbox, &[]);
    let mut stdin = child.stdin.take().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let (heard, answers) = mpsc::channel();
    std::thread::spawn(move || lines.for_each(|line| heard.send(line.unwrap()).unwrap()));
    for (command, decision) in [("ls", "allow"), ("rm -rf /", "deny"), ("pwd", "allow")] {
        writeln!(stdin, "{}", render_bash_call(command)).unwrap();
        let answer = answers.recv_timeout(Duration::from_secs(60)).expect("an answer");
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(answer["decision"], decision, "{command}");
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
    assert!(answers.recv().is_err(), "nothing else is said");
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let sandbox = CliSandbox::new();
    let lines = format!("{}\n", render_bash_call("ls")).repeat(5000);
    let path = sandbox.project().join("calls.jsonl");
    std::fs::write(&path, lines).unwrap();
    let mut child = sandbox
        .command(&["guard", "check"])
        .stdin(std::fs::File::open(&path).unwrap())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(first.starts_with("{\"decision\":\"allow\""), "{first}");
    assert!(output.status.success(), "{output:?}");
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn answers_that_cannot_be_written_are_a_failure() {
    let sandbox = CliSandbox::new();
    let path = sandbox.project().join("calls.jsonl");
    std::fs::write(&path, render_bash_call("ls")).unwrap();
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output =
        sandbox.command(&["guard", "check"]).stdin(std::fs::File::open(&path).unwrap()).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.starts_with("error: cannot write the answers"), "{told}");
}
