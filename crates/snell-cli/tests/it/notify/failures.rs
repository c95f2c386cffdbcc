//! Receivers that are down, slow or unwilling, and machines on which nothing can be kept.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::time::Instant;

use serde_json::{Value, json};
use snell_test_support::files::{list_entries_recursively, set_file_mode};
use snell_test_support::http::find_unused_address;
use snell_test_support::process::{CommandOutput, spawn_with_stdin, wait_for_output};
use snell_test_support::skip::require_util_linux_script;
use snell_test_support::wait::wait_until;

use super::receiver::{NotifyReceiver, ReceiverBehavior};
use super::{IN_TIME, list_outbox_files, read_waiting_bodies, run_notify, send_prompt_notification};
use crate::support::CliSandbox;

#[test]
fn an_event_that_a_receiver_cannot_take_now_waits_and_is_sent_with_the_next() {
    let rows = [
        (ReceiverBehavior::IsSilent, "did not answer in time"),
        (ReceiverBehavior::Dribbles, "did not answer in time"),
        (ReceiverBehavior::HangsUp, "cannot be reached"),
        (ReceiverBehavior::TalksNonsense, "cannot be reached"),
        (ReceiverBehavior::Answers(302), "answered 302"),
        (ReceiverBehavior::Answers(401), "answered 401"),
        (ReceiverBehavior::Answers(403), "answered 403"),
        (ReceiverBehavior::Answers(404), "answered 404"),
        (ReceiverBehavior::Answers(405), "answered 405"),
        (ReceiverBehavior::Answers(408), "answered 408"),
        (ReceiverBehavior::Answers(410), "answered 410"),
        (ReceiverBehavior::Answers(421), "answered 421"),
        (ReceiverBehavior::Answers(429), "answered 429"),
        (ReceiverBehavior::Answers(500), "answered 500: {\"status\":\"told 500\"}"),
        (ReceiverBehavior::Answers(503), "answered 503"),
    ];
    for (mood, said) in rows {
        let receiver = NotifyReceiver::with_behavior(mood);
        let sandbox = CliSandbox::new();
        let first = send_prompt_notification(&sandbox, &receiver.url(), "first");
        first.assert_warning_contains(said);
        first.assert_warning_contains("so 1 event waits");
        assert_eq!(receiver.requests().len(), 1, "{mood:?}");
        send_prompt_notification(&sandbox, &receiver.url(), "second").assert_warning_contains("so 2 events wait");
        receiver.set_behavior(ReceiverBehavior::Answers(200));
        send_prompt_notification(&sandbox, &receiver.url(), "third").assert_no_warning();
        assert_eq!(receiver.unique_prompts(), ["first", "second", "third"], "{mood:?}");
        assert_eq!(read_waiting_bodies(&sandbox), [] as [Value; 0], "{mood:?}");
    }
}

#[test]
fn an_event_that_a_receiver_will_never_take_is_put_aside_and_the_next_is_sent() {
    for status in [400, 409, 413, 415, 422] {
        let receiver = NotifyReceiver::with_behavior(ReceiverBehavior::Answers(status));
        let sandbox = CliSandbox::new();
        send_prompt_notification(&sandbox, &receiver.url(), "unwanted")
            .assert_warning_contains(&format!("refused UserPromptSubmit ({status}: "));
        receiver.set_behavior(ReceiverBehavior::Answers(200));
        send_prompt_notification(&sandbox, &receiver.url(), "wanted").assert_no_warning();
        let sent: Vec<_> = receiver.requests().iter().map(|request| request.json()["prompt"].clone()).collect();
        assert_eq!(sent, ["unwanted", "wanted"], "{status}");
        let [refused] = list_outbox_files(&sandbox, "refused").try_into().unwrap();
        let kept: Value = serde_json::from_slice(&fs::read(refused).unwrap()).unwrap();
        assert_eq!(kept["body"]["prompt"], "unwanted");
        assert_eq!(kept["answer"], format!("{status}: {{\"status\":\"told {status}\"}}"));
    }
}

#[test]
fn what_was_refused_is_tried_again_when_somebody_says_so() {
    let receiver = NotifyReceiver::with_behavior(ReceiverBehavior::Answers(400));
    let sandbox = CliSandbox::new();
    let url = receiver.url();
    let retry = ["--retry", "--url", url.as_str()];
    run_notify(&sandbox, &retry, "").assert_warning_contains("no refused events");
    for prompt in ["1", "2"] {
        send_prompt_notification(&sandbox, &url, prompt).assert_warning_contains("refused UserPromptSubmit");
    }
    receiver.set_behavior(ReceiverBehavior::Answers(503));
    send_prompt_notification(&sandbox, &url, "3").assert_warning_contains("so 1 event waits");
    // Whoever tries in vain has them still, behind the others.
    let again = run_notify(&sandbox, &retry, "");
    assert!(again.stderr.contains("sending 2 refused events again"), "{again:?}");
    assert!(again.stderr.contains("answered 503"), "{again:?}");
    assert!(again.stderr.contains("so 3 events wait"), "{again:?}");
    assert!(list_outbox_files(&sandbox, "refused").is_empty());
    receiver.set_behavior(ReceiverBehavior::Answers(200));
    let already = receiver.requests().len();
    run_notify(&sandbox, &retry, "").assert_warning_contains("no refused events");
    let requests = receiver.requests();
    let prompts: Vec<_> = requests[already..].iter().map(|request| request.json()["prompt"].clone()).collect();
    assert_eq!(prompts, ["3", "1", "2"]);
    assert_eq!(read_waiting_bodies(&sandbox), [] as [Value; 0]);
}

#[test]
fn who_asks_for_another_try_hears_of_everything_that_still_waits() {
    let [unwilling, other] = [NotifyReceiver::with_behavior(ReceiverBehavior::Answers(400)), NotifyReceiver::new()];
    let sandbox = CliSandbox::new();
    let (url, other_url) = (unwilling.url(), other.url());
    send_prompt_notification(&sandbox, &url, "unwanted").assert_warning_contains("refused UserPromptSubmit");
    unwilling.set_behavior(ReceiverBehavior::Answers(503));
    // It was refused by one receiver, and the call is about another.
    let retry = ["--retry", "--url", other_url.as_str()];
    let again = run_notify(&sandbox, &retry, "");
    assert!(again.stderr.contains("sending 1 refused event again"), "{again:?}");
    assert!(again.stderr.contains(&format!("{url} answered 503")), "{again:?}");
    assert!(again.stderr.contains("so 1 event waits"), "{again:?}");
    // Somebody else delivers, and has not come to it.
    let lock = fs::File::open(sandbox.data().join("outbox/lock")).unwrap();
    lock.lock().unwrap();
    for asked in [url.as_str(), other_url.as_str()] {
        let left = run_notify(&sandbox, &["--retry", "--url", asked], "");
        assert!(left.stderr.contains("no refused events"), "{left:?}");
        let waits = format!("1 event waits for {url}; another process is sending them");
        assert!(left.stderr.contains(&waits), "{left:?}");
    }
    drop(lock);
    unwilling.set_behavior(ReceiverBehavior::Answers(200));
    let last = run_notify(&sandbox, &retry, "");
    assert_eq!(last.stderr, "snell: warning: no refused events\n");
    assert_eq!(read_waiting_bodies(&sandbox), [] as [Value; 0]);
}

#[test]
fn who_had_no_time_for_everything_says_how_much_was_sent_and_leaves_the_rest_to_another_process() {
    let receiver = NotifyReceiver::with_behavior(ReceiverBehavior::Answers(503));
    let sandbox = CliSandbox::new();
    for number in 0..9 {
        send_prompt_notification(&sandbox, &receiver.url(), &number.to_string());
    }
    receiver.set_behavior(ReceiverBehavior::IsSlow);
    let ran = send_prompt_notification(&sandbox, &receiver.url(), "9");
    ran.assert_warning_contains(" of the waiting events within the time limit; a background process sends the other ");
    assert!(!ran.stderr.contains("did not answer"), "{ran:?}");
    receiver.set_behavior(ReceiverBehavior::Answers(200));
    wait_until(|| read_waiting_bodies(&sandbox).is_empty().then_some(()));
    let expected: Vec<_> = (0..10).map(|number: u32| number.to_string()).collect();
    assert_eq!(receiver.unique_prompts(), expected);
}

#[test]
fn a_receiver_that_comes_back_gets_everything_in_order() {
    let address = find_unused_address();
    let url = format!("http://{address}");
    let sandbox = CliSandbox::new();
    for prompt in ["1", "2", "3"] {
        send_prompt_notification(&sandbox, &url, prompt).assert_warning_contains("cannot be reached");
    }
    let receiver = NotifyReceiver::bind(address, ReceiverBehavior::Answers(200));
    send_prompt_notification(&sandbox, &url, "4").assert_no_warning();
    assert_eq!(receiver.unique_prompts(), ["1", "2", "3", "4"]);
    assert_eq!(receiver.requests().len(), 4);
}

#[test]
fn a_receiver_that_hangs_does_not_hold_up_another() {
    let [hanging, good] = [NotifyReceiver::with_behavior(ReceiverBehavior::IsSilent), NotifyReceiver::new()];
    let sandbox = CliSandbox::new();
    send_prompt_notification(&sandbox, &hanging.url(), "into the void")
        .assert_warning_contains("did not answer in time");
    send_prompt_notification(&sandbox, &good.url(), "on time").assert_no_warning();
    assert_eq!(good.unique_prompts(), ["on time"]);
    hanging.set_behavior(ReceiverBehavior::Answers(200));
    // Whoever sends to the one delivers also what waits for the other.
    send_prompt_notification(&sandbox, &good.url(), "again").assert_no_warning();
    assert_eq!(hanging.unique_prompts(), ["into the void"]);
}

#[test]
fn names_that_lead_nowhere_and_other_protocols_cost_no_more_than_the_time() {
    let receiver = NotifyReceiver::new();
    let sandbox = CliSandbox::new();
    // 192.0.2.1 is no machine: whether that is said at once or never depends on the network.
    let secure = receiver.url().replace("http:", "https:");
    for url in ["http://no-such-host.invalid:7433", "http://192.0.2.1:7433", secure.as_str()] {
        let ran = send_prompt_notification(&sandbox, url, "lost in the post");
        assert!(ran.stderr.contains("so 1 event waits"), "{url}: {ran:?}");
    }
    assert_eq!(read_waiting_bodies(&sandbox).len(), 3);
}

#[test]
fn where_nothing_can_be_kept_the_event_is_sent_all_the_same() {
    let receiver = NotifyReceiver::new();
    let sandbox = CliSandbox::new();
    fs::write(sandbox.data().join("outbox"), "a file where a directory should be").unwrap();
    let ran = send_prompt_notification(&sandbox, &receiver.url(), "by itself");
    assert!(ran.stderr.contains("cannot write the event to disk"), "{ran:?}");
    assert!(ran.stderr.contains("but it was sent"), "{ran:?}");
    assert_eq!(receiver.unique_prompts(), ["by itself"]);
    let ran = send_prompt_notification(&sandbox, &format!("http://{}", find_unused_address()), "nowhere");
    assert!(ran.stderr.contains("so it is lost"), "{ran:?}");
}

#[test]
fn without_a_home_it_keeps_what_it_must_where_it_can() {
    let receiver = NotifyReceiver::with_behavior(ReceiverBehavior::Answers(503));
    let sandbox = CliSandbox::new();
    for mood in [ReceiverBehavior::Answers(503), ReceiverBehavior::Answers(200)] {
        receiver.set_behavior(mood);
        let payload = json!({"session_id": "s1", "prompt": format!("{mood:?}")});
        let args = ["notify", "user-prompt-submit", "--url", &receiver.url()];
        let ran = run_without_home(&sandbox, &args, &sandbox.data(), &payload);
        assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{ran:?}");
    }
    assert_eq!(receiver.unique_prompts(), ["Answers(503)", "Answers(200)"]);
}

/// A call without a home, whose directory for temporary files is this.
fn run_without_home(sandbox: &CliSandbox, args: &[&str], temporary: &Path, payload: &Value) -> CommandOutput {
    let mut command = sandbox.command(args);
    command.env_remove("HOME").env_remove("SNELL_HOME").env("TMPDIR", temporary);
    let child = spawn_with_stdin(&mut command, payload.to_string());
    wait_for_output(child)
}

#[test]
fn without_a_home_nothing_is_kept_where_another_user_could_see_or_change_it() {
    let receiver = NotifyReceiver::new();
    let user = rustix::process::geteuid();
    let name = format!("snell-{}", user.as_raw());
    type TempDirSetup = fn(&Path);
    let mut rows: Vec<(&str, TempDirSetup, &str)> = vec![
        ("a link", |path| create_neighbour_link(path), "it is not a directory"),
        ("a file", |path| fs::write(path, "").unwrap(), "it is not a directory"),
        ("open to others", |path| create_open_dir(path), "other users can write to it"),
    ];
    if user.is_root() {
        rows.push(("somebody else's", |path| create_foreign_dir(path), "it belongs to another user"));
    }
    for (case, lay, why) in rows {
        let guard = "[[hook]]\nevent = \"PreToolUse\"\nrun = \"echo not today >&2; exit 2\"\n";
        let sandbox = CliSandbox::with_frozen_clock().home_file("snell/snell.toml", guard);
        let sandbox_config = sandbox.home();
        let sandbox = sandbox.env("XDG_CONFIG_HOME", sandbox_config.to_str().unwrap());
        let temporary = tempfile::tempdir().unwrap();
        let directory = temporary.path().join(&name);
        lay(&directory);
        let before = list_entries_recursively(temporary.path());
        let payload = json!({"session_id": "s1", "prompt": case});
        let args = ["notify", "user-prompt-submit", "--url", &receiver.url()];
        let ran = run_without_home(&sandbox, &args, temporary.path(), &payload);
        assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{case}: {ran:?}");
        let said = format!("cannot use {} ({why}); nothing is recorded", directory.display());
        assert!(ran.stderr.contains(&said), "{case}: {ran:?}");
        assert!(ran.stderr.contains("but it was sent"), "{case}: {ran:?}");
        assert_eq!(receiver.unique_prompts().last().unwrap(), case);
        // Nobody's directory keeps an event from being judged.
        let payload = json!({"session_id": "s1", "hook_event_name": "PreToolUse", "tool_name": "Bash"});
        let ran = run_without_home(&sandbox, &["hook", "--agent", "claude"], temporary.path(), &payload);
        assert!(ran.stdout.contains("not today"), "{case}: {ran:?}");
        assert_eq!(ran.stderr.matches(&said).count(), 1, "{case}: {ran:?}");
        let ran = run_without_home(&sandbox, &["status"], temporary.path(), &json!({}));
        assert!(ran.stderr.contains(&said), "{case}: {ran:?}");
        assert_eq!(list_entries_recursively(temporary.path()), before, "{case}");
    }
}

fn create_neighbour_link(path: &Path) {
    let neighbour = path.with_file_name("neighbour");
    fs::create_dir(&neighbour).unwrap();
    std::os::unix::fs::symlink(neighbour, path).unwrap();
}

fn create_open_dir(path: &Path) {
    fs::create_dir(path).unwrap();
    set_file_mode(path, 0o777);
}

fn create_foreign_dir(path: &Path) {
    fs::create_dir(path).unwrap();
    std::os::unix::fs::chown(path, Some(65_534), None).unwrap();
}

#[test]
fn a_standard_error_that_nobody_reads_holds_nobody_up() {
    let sandbox = CliSandbox::new();
    // A pipe that is full, and whose other end is open.
    let (_reader, mut writer) = std::io::pipe().unwrap();
    let flags = rustix::fs::fcntl_getfl(&writer).unwrap();
    rustix::fs::fcntl_setfl(&writer, flags | rustix::fs::OFlags::NONBLOCK).unwrap();
    while writer.write(&[b'x'; 1024]).is_ok() {}
    while writer.write(b"x").is_ok() {}
    rustix::fs::fcntl_setfl(&writer, flags).unwrap();
    let mut command = sandbox.command(&["notify", "Stop", "--url", &format!("http://{}", find_unused_address())]);
    let started = Instant::now();
    let mut child = command.stdin(Stdio::piped()).stderr(writer).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"{\"session_id\":\"s1\"}").unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(started.elapsed() < IN_TIME, "{:?}", started.elapsed());
    assert_eq!(read_waiting_bodies(&sandbox).len(), 1);
}

#[test]
fn a_full_outbox_says_that_old_events_had_to_go() {
    let sandbox = CliSandbox::new();
    let url = format!("http://{}", find_unused_address());
    send_prompt_notification(&sandbox, &url, "newest so far");
    let [first] = list_outbox_files(&sandbox, "").try_into().unwrap();
    let (_, rest) = first.file_name().unwrap().to_str().unwrap().split_once('-').unwrap();
    for number in 1..10_000 {
        fs::hard_link(&first, first.with_file_name(format!("{number:020}-{rest}"))).unwrap();
    }
    fs::remove_file(sandbox.data().join("outbox/order")).unwrap();
    let ran = send_prompt_notification(&sandbox, &url, "one too many");
    assert!(ran.stderr.contains("the outbox is full"), "{ran:?}");
    assert!(ran.stderr.contains("so 9844 events wait"), "{ran:?}");
}

#[test]
fn a_terminal_on_standard_input_is_not_waited_for() {
    let receiver = NotifyReceiver::new();
    let sandbox = CliSandbox::new();
    if require_util_linux_script().is_none() {
        return;
    }
    let url = receiver.url();
    let line = format!("exec script --quiet --return --command \"$0 notify Stop --url {url}\" /dev/null </dev/null");
    let started = Instant::now();
    let output = spawn_with_stdin(&mut sandbox.shell(&line, &[]), "").wait_with_output().unwrap();
    assert!(started.elapsed() < IN_TIME, "{:?}", started.elapsed());
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && shown.contains("standard input is empty"), "{shown}");
    assert!(receiver.requests().is_empty());
}

#[test]
fn what_a_receiver_says_cannot_steer_a_terminal() {
    let sandbox = CliSandbox::new();
    let receiver = NotifyReceiver::with_behavior(ReceiverBehavior::Answers(500));
    let ran = run_notify(&sandbox, &["\u{1b}[31mStop", "--url", &receiver.url()], "{\"session_id\":\"s1\"}");
    assert!(!ran.stderr.contains('\u{1b}'), "{ran:?}");
}

#[test]
fn a_fault_of_the_users_file_is_told_with_the_place_where_it_is() {
    let receiver = NotifyReceiver::with_behavior(ReceiverBehavior::Answers(200));
    let sandbox = CliSandbox::new().home_file(".config/snell/snell.toml", "[server]\nurl = \"nowhere\"\n");
    let said = send_prompt_notification(&sandbox, &receiver.url(), "first");
    said.assert_warning_contains("snell: ~/.config/snell/snell.toml:2:7: error: ");
    assert_eq!(receiver.unique_prompts(), ["first"]);
}
