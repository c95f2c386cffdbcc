//! Answers that are typed into an agent's pane, in a real tmux: each at most once, and never to anything but the agent's
//! prompt.

use std::collections::HashSet;
use std::time::Duration;

use snell::Timestamp;
use snell_server::pane_input::{self, PaneLock};
use snell_store::Store;
use snell_store::requests::{
    AnswerAuthor, AnswerChannel, AnswerChoice, AnswerOrigin, AnswerOutcome, RequestAnswer, RequestFilter,
    RequestStatus, RequestView,
};
use snell_test_support::serve_process::ServeProcess;
use snell_test_support::skip::report_skipped;
use snell_test_support::wait::wait_until;

use crate::serve::{ANYWHERE, start_server};
use crate::support::CliSandbox;
use crate::tmux::TestTmuxServer;

const ENABLED: &str = "[answers]\nenabled = true\n";

/// An agent that ends each turn with a question, and writes down each line that it gets at its prompt.
/// A shell that lost its terminal may spin, so its time is limited.
const ASKER: &str = r#"#!/bin/sh
ulimit -t 10
tell() {
  printf '{"session_id":"%s","hook_event_name":"%s","cwd":"%s","prompt":"x","last_assistant_message":"%s"}' \
    "$session" "$1" "$PWD" "$2" | "$SNELL" hook --agent claude > /dev/null
}
session=$1
tell SessionStart
tell UserPromptSubmit
turn=1
while tell Stop "Two ways. Shall I push number $turn?"; IFS= read -r line; do
  printf '%s\n' "$line" >> "$session.typed"
  tell UserPromptSubmit
  turn=$((turn + 1))
done
"#;

/// An agent whose terminal does not show what is typed, as a dialog does not.
const SILENT: &str = "#!/bin/sh\nstty -echo\nexec sh asker.sh \"$1\"\n";

/// An agent that asks for a permission. Its number of a key is an answer.
const DIALOG: &str = r#"#!/bin/sh
ulimit -t 10
tell() {
  printf '{"session_id":"%s","hook_event_name":"%s","cwd":"%s","tool_name":"Bash","tool_input":{"command":"ls"}}' \
    "$session" "$1" "$PWD" | "$SNELL" hook --agent claude > /dev/null
}
session=$1
tell SessionStart
tell UserPromptSubmit
tell PermissionRequest
while IFS= read -r line; do printf '%s\n' "$line" >> "$session.typed"; done
"#;

fn create_sandbox(config: &str) -> CliSandbox {
    CliSandbox::new()
        .env("SNELL", env!("CARGO_BIN_EXE_snell"))
        .env("SNELL_SCRIBE", "off")
        .file(".git/HEAD", "ref: refs/heads/main\n")
        .home_file(".config/snell/snell.toml", config)
        .file("asker.sh", ASKER)
        .file("silent.sh", SILENT)
        .file("dialog.sh", DIALOG)
}

fn serve(sandbox: &CliSandbox) -> ServeProcess {
    start_server(sandbox, &[ANYWHERE, &["--log", "off"]].concat())
}

fn list_requests(sandbox: &CliSandbox) -> Vec<RequestView> {
    let filter = RequestFilter { limit: 100, ..RequestFilter::default() };
    let opened = sandbox.database().exists().then(|| Store::open(&sandbox.database()).unwrap());
    opened.map(|opened| { opened }.store.list_requests(&filter).unwrap()).unwrap_or_default()
}

/// Waits for the open request of a session.
fn wait_for_request(sandbox: &CliSandbox, session: &str) -> RequestView {
    let is_its =
        |request: &RequestView| request.session_id.as_deref() == Some(session) && request.status == RequestStatus::Open;
    wait_until(|| list_requests(sandbox).into_iter().find(is_its))
}

fn reload(sandbox: &CliSandbox, request: &RequestView) -> RequestView {
    list_requests(sandbox).into_iter().find(|found| found.uid == request.uid).unwrap()
}

/// Waits until an answer was typed or given up, and no process types any more.
fn wait_for_delivery(sandbox: &CliSandbox, request: &RequestView) -> RequestView {
    wait_until(|| {
        let _turn = PaneLock::acquire(&sandbox.data(), request.agent_id).unwrap();
        let now = reload(sandbox, request);
        (now.delivered_at.is_some() || now.closed_reason.is_some()).then_some(now)
    })
}

fn build_answer(text: &str) -> (RequestAnswer, AnswerAuthor) {
    let answer = RequestAnswer {
        choice: AnswerChoice::Reply,
        replies: vec![text.to_owned()],
        message: None,
        remember: None,
        suggestion: None,
    };
    (answer, AnswerAuthor { name: "ann".to_owned(), origin: AnswerOrigin::Terminal })
}

/// Answers as a command in a terminal does.
fn answer(sandbox: &CliSandbox, request: &RequestView, text: &str) -> AnswerOutcome {
    let mut store = Store::open(&sandbox.database()).unwrap().store;
    let (answer, author) = build_answer(text);
    pane_input::answer_request(&mut store, &request.uid, &answer, &author, Timestamp::now()).unwrap()
}

/// Answers as a process does that is killed before it types, three seconds ago.
fn answer_without_typing(sandbox: &CliSandbox, request: &RequestView, text: &str) {
    let mut store = Store::open(&sandbox.database()).unwrap().store;
    let (answer, author) = build_answer(text);
    let earlier = Timestamp::now() - Duration::from_secs(3);
    let outcome = store.answer_request(&request.uid, &answer, &author, earlier).unwrap();
    assert!(matches!(outcome, AnswerOutcome::Accepted(_)), "{outcome:?}");
}

#[track_caller]
fn assert_accepted(outcome: &AnswerOutcome) {
    assert!(matches!(outcome, AnswerOutcome::Accepted(view) if view.delivered_at.is_some()), "{outcome:?}");
}

#[track_caller]
fn assert_refused(outcome: &AnswerOutcome, status: RequestStatus, why: &str) {
    let AnswerOutcome::Refused(view, reason) = outcome else { panic!("{outcome:?}") };
    assert_eq!(view.status, status, "{reason:?}");
    let told = format!("{} ({})", reason.text, reason.hint.as_deref().unwrap_or_default());
    assert!(told.contains(why), "{told}");
}

#[test]
fn the_answer_is_the_next_prompt_of_the_agent() {
    let sandbox = create_sandbox(ENABLED);
    let Some(tmux) = TestTmuxServer::start(&sandbox) else {
        return report_skipped("there is no tmux");
    };
    let _server = serve(&sandbox);
    tmux.open_pane("exec sh asker.sh one");
    let request = wait_for_request(&sandbox, "one");
    assert_eq!((request.channel, request.title.as_str()), (AnswerChannel::Pane, "Shall I push number 1?"));
    assert_accepted(&answer(&sandbox, &request, "yes; do"));
    let next = wait_for_request(&sandbox, "one");
    assert_eq!(next.title, "Shall I push number 2?");
    assert_eq!(sandbox.read("one.typed"), "yes; do\n");
    // The second answer is too late, whatever happened since.
    assert!(matches!(answer(&sandbox, &request, "no"), AnswerOutcome::TooLate(_)));
    // A person who answers in the terminal closes the request everywhere.
    tmux.run_tmux(&["send-keys", "no", "Enter"]);
    wait_until(|| (reload(&sandbox, &next).status == RequestStatus::Withdrawn).then_some(()));
    assert_eq!(sandbox.read("one.typed"), "yes; do\nno\n");
}

#[test]
fn an_answer_whose_process_was_killed_is_typed_once_by_the_server_or_the_daemon() {
    let sandbox = create_sandbox(ENABLED).env("SNELL_SCRIBE", "wait");
    let Some(tmux) = TestTmuxServer::start(&sandbox) else {
        return report_skipped("there is no tmux");
    };
    let _server = serve(&sandbox);
    tmux.open_pane("exec sh asker.sh one");
    for turn in 1..=5 {
        let request = wait_for_request(&sandbox, "one");
        answer_without_typing(&sandbox, &request, &format!("answer {turn}"));
        wait_until(|| reload(&sandbox, &request).delivered_at.map(drop));
    }
    wait_for_request(&sandbox, "one");
    assert_eq!(sandbox.read("one.typed"), "answer 1\nanswer 2\nanswer 3\nanswer 4\nanswer 5\n");
    assert_eq!(list_requests(&sandbox).len(), 6);
}

#[test]
fn no_kill_makes_an_answer_come_twice_or_a_request_stay_or_appear_twice() {
    let sandbox = create_sandbox(ENABLED);
    let Some(tmux) = TestTmuxServer::start(&sandbox) else {
        return report_skipped("there is no tmux");
    };
    tmux.open_pane("exec sh asker.sh one");
    let count = |text: &str| {
        let typed = std::fs::read_to_string(sandbox.project().join("one.typed")).unwrap_or_default();
        typed.matches(text).count()
    };
    let (mut delivered, mut interrupted) = (0, 0);
    for round in 0..ROUNDS {
        let mut server = serve(&sandbox);
        // Also while the request is opened.
        std::thread::sleep(Duration::from_millis(u64::from(round * 53 % 200)));
        server.kill();
        let mut server = serve(&sandbox);
        let request = wait_for_request(&sandbox, "one");
        let text = format!("answer {round}.");
        answer_without_typing(&sandbox, &request, &text);
        std::thread::sleep(Duration::from_millis(u64::from(round * 137 % 620)));
        server.kill();
        let _server = serve(&sandbox);
        let closed = wait_for_delivery(&sandbox, &request);
        if closed.delivered_at.is_some() {
            delivered += 1;
            wait_until(|| (count(&text) == 1).then_some(()));
        } else {
            interrupted += 1;
            assert!(closed.closed_reason.unwrap().contains("began to type the answer"));
            // A person looks at the terminal, and goes on. The line may begin with an answer that has no Enter.
            let further = format!(" go on after {round}.");
            tmux.run_tmux(&["send-keys", &further, "Enter"]);
            wait_until(|| (count(&further) == 1).then_some(()));
        }
        let title = format!("Shall I push number {}?", sandbox.read("one.typed").lines().count() + 1);
        wait_until(|| list_requests(&sandbox).iter().any(|request| request.title == title).then_some(()));
        assert!(count(&text) <= 1, "round {round}: {}", sandbox.read("one.typed"));
    }
    let requests = list_requests(&sandbox);
    assert_eq!(requests.iter().filter(|request| request.status == RequestStatus::Open).count(), 1);
    let titles: HashSet<_> = requests.iter().map(|request| &request.title).collect();
    assert_eq!(titles.len(), requests.len(), "{requests:?}");
    assert!(delivered > 0, "{delivered} delivered, {interrupted} interrupted");
}

/// How often the servers are killed.
const ROUNDS: u16 = 12;

#[test]
fn nothing_is_typed_where_the_agent_does_not_read_and_the_request_stays_open() {
    let sandbox = create_sandbox(ENABLED);
    let Some(tmux) = TestTmuxServer::start(&sandbox) else {
        return report_skipped("there is no tmux");
    };
    let _server = serve(&sandbox);
    let pane = tmux.open_pane("exec sh asker.sh one");
    tmux.run_tmux(&["split-window", "-d", "-t", &pane, "exec cat > neighbour.typed"]);
    let request = wait_for_request(&sandbox, "one");
    let obstacles: [(&[&str], &[&str], &str); 3] = [
        (&["copy-mode", "-t", &pane], &["send-keys", "-t", &pane, "-X", "cancel"], "copy mode"),
        (
            &["set-option", "-w", "-t", &pane, "synchronize-panes", "on"],
            &["set-option", "-w", "-t", &pane, "synchronize-panes", "off"],
            "synchronize-panes",
        ),
        (&["select-pane", "-d", "-t", &pane], &["select-pane", "-e", "-t", &pane], "its input is turned off"),
    ];
    for (begin, end, why) in obstacles {
        tmux.run_tmux(begin);
        assert_refused(&answer(&sandbox, &request, "yes"), RequestStatus::Open, why);
        tmux.run_tmux(end);
    }
    assert!(!sandbox.exists("one.typed"));
    assert_accepted(&answer(&sandbox, &request, "yes"));
    assert_eq!(sandbox.wait_for_content("one.typed"), "yes\n");
    assert_eq!(sandbox.read("neighbour.typed"), "");
}

#[test]
fn a_shell_in_the_agents_pane_gets_no_answer() {
    let sandbox = create_sandbox(ENABLED);
    let Some(tmux) = TestTmuxServer::start(&sandbox) else {
        return report_skipped("there is no tmux");
    };
    let _server = serve(&sandbox);
    // The agent is put into the background, and a shell waits in its place.
    let pane = tmux.open_pane("set -m; sh asker.sh one < /dev/zero & exec sh");
    let request = wait_for_request(&sandbox, "one");
    wait_until(|| (tmux.query_pane(&pane, "#{pane_current_command}") == "sh").then_some(()));
    assert_refused(&answer(&sandbox, &request, "touch typed-into-shell"), RequestStatus::Open, "foreground");
    // The same for an answer that is found later.
    answer_without_typing(&sandbox, &request, "touch typed-into-shell");
    let closed = wait_for_delivery(&sandbox, &request);
    assert!(closed.closed_reason.unwrap().contains("would not read a line"));
    let screen = tmux.run_tmux(&["capture-pane", "-p", "-t", &pane]);
    assert!(!screen.contains("touch") && !sandbox.exists("typed-into-shell"), "{screen}");
}

#[test]
fn enter_is_not_pressed_where_the_answer_does_not_appear() {
    let sandbox = create_sandbox(ENABLED);
    let Some(tmux) = TestTmuxServer::start(&sandbox) else {
        return report_skipped("there is no tmux");
    };
    let _server = serve(&sandbox);
    let pane = tmux.open_pane("exec sh silent.sh one");
    let request = wait_for_request(&sandbox, "one");
    let refused = answer(&sandbox, &request, "yes");
    assert_refused(&refused, RequestStatus::Answered, "did not show the answer, so Enter was not pressed");
    assert!(reload(&sandbox, &request).closed_reason.unwrap().contains(&format!("look at the tmux pane {pane}")));
    // A marker shows that no Enter came before it.
    tmux.run_tmux(&["send-keys", "-t", &pane, " marker", "Enter"]);
    assert_eq!(sandbox.wait_for_content("one.typed"), "yes marker\n");
}

#[test]
fn a_permission_dialog_is_listed_with_its_place_and_never_typed_into() {
    let sandbox = create_sandbox(ENABLED);
    let Some(tmux) = TestTmuxServer::start(&sandbox) else {
        return report_skipped("there is no tmux");
    };
    let _server = serve(&sandbox);
    let pane = tmux.open_pane("exec sh dialog.sh one");
    let request = wait_for_request(&sandbox, "one");
    assert_eq!(request.channel, AnswerChannel::Elsewhere);
    for text in ["1", "y", "yes"] {
        assert_refused(&answer(&sandbox, &request, text), RequestStatus::Open, &format!("tmux pane {pane}"));
    }
    // Nothing shows it as one that can be answered.
    assert!(!request.answerable);
    let listed = sandbox.run_snell(&["requests"], "").stdout;
    assert!(listed.contains("only in its own terminal") && !listed.contains("left"), "{listed}");
    let refused = sandbox.run_snell(&["answer", &request.uid, "allow"], "");
    assert!(refused.code == 1 && refused.stderr.contains("in the agent's own terminal"), "{refused:?}");
    let ran = sandbox.run_snell(&["wake", &request.agent_id.to_string()], "");
    assert!(ran.code == 1 && ran.stderr.contains("pressing Enter could answer for the user"), "{ran:?}");
    // A sub-agent's dialog is open although the agent works.
    sandbox.open_database_with("UPDATE agents SET state = 'processing'");
    let ran = sandbox.run_snell(&["wake", &request.agent_id.to_string()], "");
    assert!(ran.code == 1 && ran.stderr.contains(&format!("(request {}: ", request.uid)), "{ran:?}");
    assert!(!sandbox.exists("one.typed"));
}

#[test]
fn a_hostile_answer_is_typed_as_it_is_or_refused() {
    let sandbox = create_sandbox(ENABLED);
    let Some(tmux) = TestTmuxServer::start(&sandbox) else {
        return report_skipped("there is no tmux");
    };
    let _server = serve(&sandbox);
    let pane = tmux.open_pane("exec sh asker.sh one");
    let refused = [
        "!touch x",
        "/exit",
        "#note",
        "\u{1b}[201~ls",
        "a\nb",
        "a\u{3}",
        "a\rb",
        "exit",
        "",
        "b\\",
        "&b",
        "@x",
        "$x",
        "?",
    ];
    let request = wait_for_request(&sandbox, "one");
    for text in refused {
        let outcome = answer(&sandbox, &request, text);
        assert!(matches!(&outcome, AnswerOutcome::Refused(view, _) if view.status == RequestStatus::Open), "{text:?}");
    }
    assert!(!sandbox.exists("one.typed"));
    let literal =
        ["Enter", "-t %0 -X cancel", "a; kill-server;", "\"; touch x; '$(touch y)`touch z`", "#{pane_id} C-c", "ä 🟢"];
    for text in literal {
        let text = format!("it is {text}");
        assert_accepted(&answer(&sandbox, &wait_for_request(&sandbox, "one"), &text));
        wait_until(|| sandbox.wait_for_content("one.typed").ends_with(&format!("{text}\n")).then_some(()));
    }
    assert_eq!(sandbox.read("one.typed").lines().count(), literal.len());
    assert!(["x", "y", "z"].iter().all(|name| !sandbox.exists(name)));
    assert_eq!(tmux.query_pane(&pane, "#{pane_dead}"), "0");
}

#[test]
fn only_agents_and_projects_that_the_settings_name_have_requests() {
    let shop = tempfile::tempdir().unwrap();
    let config = format!("{ENABLED}agents = [\"claude\"]\nprojects = [{:?}]\n", shop.path());
    let sandbox = create_sandbox(&config);
    let _server = serve(&sandbox);
    let tell = |session: &str, agent: &str, directory: &std::path::Path, event: &str| {
        let payload = serde_json::json!({
            "session_id": session, "cwd": directory, "hook_event_name": event, "prompt": "x",
            "last_assistant_message": "Shall I push it?",
        });
        let ran = sandbox.run_snell(&["hook", "--agent", agent], &payload.to_string());
        assert_eq!(ran.code, 0, "{ran:?}");
    };
    let project = sandbox.project();
    for (session, agent, directory) in
        [("elsewhere", "claude", project.as_path()), ("other", "codex", shop.path()), ("asks", "claude", shop.path())]
    {
        for event in ["SessionStart", "UserPromptSubmit", "Stop"] {
            tell(session, agent, directory, event);
        }
    }
    // Changes are looked at in their order.
    wait_for_request(&sandbox, "asks");
    assert_eq!(list_requests(&sandbox).len(), 1);
}
