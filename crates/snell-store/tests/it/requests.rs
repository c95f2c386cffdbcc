//! Requests to the user: opened, answered once, closed when their hook or their agent goes on.

use std::time::Duration;

use serde_json::json;
use snell::Timestamp;
use snell_store::requests::{
    AnswerAuthor, AnswerChannel, AnswerChoice, AnswerOrigin, AnswerOutcome, NewRequest, RememberScope, RememberTerm,
    RememberedAnswer, RememberedCall, RequestAnswer, RequestFilter, RequestKind, RequestOrigin, RequestStatus,
    RequestView,
};
use snell_store::{AgentState, Store};

use crate::support::{LiveProcess, TestStore, build_event, build_prompt, make_timestamp};

pub fn build_request(agent_id: i64, waiter: Option<&LiveProcess>) -> NewRequest {
    let opened_at = Timestamp::now();
    NewRequest {
        kind: RequestKind::Permission,
        origin: RequestOrigin::Agent,
        channel: AnswerChannel::Reply,
        agent_id,
        session_id: Some("s".to_owned()),
        event_id: None,
        tool: Some("Bash".to_owned()),
        tool_use_id: None,
        title: "Bash: make".to_owned(),
        detail: json!({"command": "make"}),
        opened_at,
        expires_at: opened_at + Duration::from_secs(60),
        waiter: waiter.map(|waiter| waiter.process),
    }
}

fn build_answer(choice: AnswerChoice) -> RequestAnswer {
    RequestAnswer { choice, replies: Vec::new(), message: None, remember: None, suggestion: None }
}

fn build_author(name: &str) -> AnswerAuthor {
    AnswerAuthor { name: name.to_owned(), origin: AnswerOrigin::Terminal }
}

impl TestStore {
    /// Opens a request of an agent that waits for a permission.
    fn open_request(&mut self, waiter: Option<&LiveProcess>) -> RequestView {
        self.ingest_event(build_prompt("s", "Build it.").at_second(1));
        let asks = build_event("PermissionRequest", "s").with_field("tool_name", "Bash").at_second(2);
        let agent_id = self.ingest_event(asks).agent_id;
        self.store.open_request(&build_request(agent_id, waiter)).unwrap()
    }

    fn find_request(&mut self, uid: &str) -> RequestView {
        let filter = RequestFilter { uid_prefix: Some(uid.to_owned()), limit: 2, ..RequestFilter::default() };
        self.store.list_requests(&filter).unwrap().remove(0)
    }

    fn list_request_changes(&mut self) -> Vec<String> {
        let changes = self.store.list_changes_after(0, u32::MAX).unwrap();
        let kinds = changes.iter().map(|change| change.kind.as_str().to_owned());
        kinds.filter(|kind| kind.starts_with("request_")).collect()
    }
}

#[test]
fn the_first_answer_wins_and_is_taken_once() {
    let mut kept = TestStore::new();
    let request = kept.open_request(None);
    assert_eq!((request.status, request.uid.len()), (RequestStatus::Open, 12));
    assert_eq!(kept.store.take_answer(request.request_id, Timestamp::now()).unwrap(), None);

    let mut answer = |choice, name| {
        let (answer, author) = (build_answer(choice), build_author(name));
        kept.store.answer_request(&request.uid, &answer, &author, Timestamp::now()).unwrap()
    };
    assert!(matches!(answer(AnswerChoice::Deny, "ann"), AnswerOutcome::Accepted(_)));
    let AnswerOutcome::TooLate(late) = answer(AnswerChoice::Allow, "bob") else {
        panic!("the second answer was accepted");
    };
    assert_eq!((late.status, late.answered_by.as_deref()), (RequestStatus::Answered, Some("ann")));
    assert_eq!(late.answered_from, Some(AnswerOrigin::Terminal));

    let mut take = || kept.store.take_answer(request.request_id, Timestamp::now()).unwrap();
    assert_eq!(take(), Some(build_answer(AnswerChoice::Deny)));
    assert_eq!(take(), None);
    assert!(kept.find_request(&request.uid).delivered_at.is_some());
    // It is reported again once the agent has it.
    assert_eq!(kept.list_request_changes(), ["request_opened", "request_closed", "request_closed"]);
}

#[test]
fn an_answer_that_its_hook_cannot_take_any_more_is_given_up() {
    let mut kept = TestStore::new();
    let mut hook = LiveProcess::new();
    let answer = |kept: &mut TestStore, request: &RequestView| {
        let answer = build_answer(AnswerChoice::Allow);
        kept.store.answer_request(&request.uid, &answer, &build_author("ann"), Timestamp::now()).unwrap();
    };
    let waits = kept.open_request(Some(&hook));
    answer(&mut kept, &waits);
    assert_eq!(kept.store.sweep_requests(Timestamp::now()).unwrap(), 0);
    hook.terminate();
    assert_eq!(kept.store.sweep_requests(Timestamp::now()).unwrap(), 1);
    let after = kept.find_request(&waits.uid);
    assert_eq!((after.status, after.delivered_at), (RequestStatus::Answered, None));
    assert_eq!(after.closed_reason.as_deref(), Some("its hook ended before"));
    assert_eq!(kept.store.sweep_requests(Timestamp::now()).unwrap(), 0);
    assert_eq!(kept.store.take_answer(waits.request_id, Timestamp::now()).unwrap(), None);

    let slow = kept.store.open_request(&build_request(waits.agent_id, None)).unwrap();
    answer(&mut kept, &slow);
    assert_eq!(kept.store.sweep_requests(Timestamp::now() + Duration::from_secs(70)).unwrap(), 1);
    assert_eq!(kept.find_request(&slow.uid).closed_reason.as_deref(), Some("its hook did not take it in time"));
    assert_eq!(kept.store.take_answer(slow.request_id, Timestamp::now()).unwrap(), None);
}

#[test]
fn of_many_processes_that_answer_at_once_one_wins() {
    let mut kept = TestStore::new();
    let request = kept.open_request(None);
    let database = kept.location();
    let answer = |name: String| {
        let mut store = Store::open_at(&database).unwrap().store;
        let answer = build_answer(AnswerChoice::Allow);
        let outcome = store.answer_request(&request.uid, &answer, &build_author(&name), Timestamp::now()).unwrap();
        matches!(outcome, AnswerOutcome::Accepted(_)).then_some(name)
    };
    let winners: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|number| scope.spawn(move || answer(format!("person {number}")))).collect();
        threads.into_iter().filter_map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(winners.len(), 1, "{winners:?}");
    assert_eq!(kept.find_request(&request.uid).answered_by.as_ref(), winners.first());
}

#[test]
fn a_request_is_closed_when_its_hook_is_gone_or_its_time_is_over() {
    let mut kept = TestStore::new();
    let mut hook = LiveProcess::new();
    let waits = kept.open_request(Some(&hook));
    let agent_id = waits.agent_id;
    let other = kept.store.open_request(&build_request(agent_id, None)).unwrap();
    assert_eq!(kept.store.sweep_requests(Timestamp::now()).unwrap(), 0);

    hook.terminate();
    assert_eq!(kept.store.sweep_requests(Timestamp::now()).unwrap(), 1);
    assert_eq!(kept.find_request(&waits.uid).status, RequestStatus::Withdrawn);
    let answer = build_answer(AnswerChoice::Allow);
    let late = kept.store.answer_request(&waits.uid, &answer, &build_author("ann"), Timestamp::now()).unwrap();
    assert!(matches!(late, AnswerOutcome::TooLate(_)), "{late:?}");

    let later = Timestamp::now() + Duration::from_secs(70);
    let late = kept.store.answer_request(&other.uid, &answer, &build_author("ann"), later).unwrap();
    assert!(matches!(late, AnswerOutcome::TooLate(_)), "{late:?}");
    assert_eq!(kept.find_request(&other.uid).status, RequestStatus::Expired);
}

#[test]
fn a_request_is_withdrawn_when_its_agent_no_longer_waits() {
    let mut kept = TestStore::new();
    let request = kept.open_request(None);
    kept.ingest_event(build_event("PostToolUse", "s").with_field("tool_name", "Bash").at_second(3));
    let after = kept.find_request(&request.uid);
    assert_eq!(after.status, RequestStatus::Withdrawn);
    assert_eq!(after.closed_reason.as_deref(), Some("the agent no longer waits"));
}

#[test]
fn a_remembered_answer_counts_for_the_same_call_in_its_scope_until_it_ends() {
    let mut kept = TestStore::new();
    let remember = |scope, key: &str, subject: &str, until| RememberedAnswer {
        scope,
        scope_key: key.to_owned(),
        tool: "Bash".to_owned(),
        subject: subject.to_owned(),
        title: "Bash: make".to_owned(),
        asked_by: vec!["rule make".to_owned()],
        request_uid: "abc".to_owned(),
        created_at: make_timestamp(0),
        until,
    };
    let stored = [
        remember(RememberScope::Session, "s", "make", None),
        remember(RememberScope::Project, "/work/shop", "make test", Some(make_timestamp(100))),
    ];
    for remembered in &stored {
        kept.store.remember_answer(remembered).unwrap();
        kept.store.remember_answer(remembered).unwrap();
    }
    let (none, known, new) =
        (&[][..], &["rule make".to_owned()][..], &["rule make".to_owned(), "hook x".to_owned()][..]);
    let cases = [
        ("s", "/elsewhere", "make", 1, none, true),
        ("s", "/elsewhere", "make", 1, known, true),
        ("s", "/elsewhere", "make", 1, new, false),
        ("other", "/elsewhere", "make", 1, none, false),
        ("s", "/elsewhere", "make install", 1, none, false),
        ("other", "/work/shop", "make test", 99, none, true),
        ("other", "/work/shop", "make test", 100, none, false),
        ("other", "/work/shop/sub", "make test", 99, none, false),
    ];
    for (session, project_path, subject, second, asked_by, expected) in cases {
        let call = RememberedCall { session_id: Some(session), project_path, tool: "Bash", subject, asked_by };
        let found = kept.store.find_remembered_answer(&call, make_timestamp(second)).unwrap();
        assert_eq!(found.is_some(), expected, "{session} {project_path} {subject} {second}");
    }
}

#[test]
fn an_answer_must_fit_its_request() {
    let mut kept = TestStore::new();
    let permission = kept.open_request(None);
    let mut question = RequestView { kind: RequestKind::Question, ..permission.clone() };
    question.detail = json!({"questions": [
        {"question": "Which?", "options": [{"label": "a"}, {"label": "b"}]}, {"question": "Why?"}
    ]});
    let now = Timestamp::now();
    let with = |choice, replies: &[&str], message: Option<&str>, until: Option<Timestamp>| RequestAnswer {
        replies: replies.iter().map(|text| (*text).to_owned()).collect(),
        message: message.map(str::to_owned),
        remember: until.map(|until| RememberTerm { scope: RememberScope::Session, until: Some(until) }),
        ..build_answer(choice)
    };
    use AnswerChoice::{Allow, Deny, Reply};
    let (later, earlier) = (Some(now + Duration::from_secs(9)), Some(now));
    let long = "x".repeat(5000);
    let cases = [
        (&permission, with(Allow, &[], None, None), None),
        (&permission, with(Allow, &[], None, later), None),
        (&permission, with(Deny, &[], Some("use make\n\tinstead"), None), None),
        (&permission, with(Reply, &["yes"], None, None), Some("cannot be answered with a reply")),
        (&permission, with(Allow, &["yes"], None, None), Some("only questions have replies")),
        (&permission, with(Allow, &[], None, earlier), Some("in the past")),
        (&permission, with(Deny, &[], None, later), Some("can be remembered")),
        (&permission, with(Deny, &[], Some("a\u{1b}[2Jb"), None), Some("control characters")),
        (&permission, with(Deny, &[], Some(&long), None), Some("longer than 4000")),
        (&question, with(Reply, &["a", "because"], None, None), None),
        (&question, with(Deny, &[], Some("later"), None), None),
        (&question, with(Allow, &[], None, None), Some("cannot be allowed")),
        (&question, with(Reply, &["a"], None, None), Some("each of 2 questions")),
        (&question, with(Reply, &["a", " "], None, None), Some("a reply is empty")),
        (&question, with(Reply, &["a", "b"], None, later), Some("can be remembered")),
    ];
    for (request, answer, expected) in cases {
        let found = request.check_answer(&answer, now).err().map(|problem| problem.text);
        let fits = match (&found, expected) {
            (Some(found), Some(expected)) => found.contains(expected),
            (found, expected) => found.is_none() && expected.is_none(),
        };
        assert!(fits, "{answer:?}: {found:?}");
    }
}

#[test]
fn a_request_of_a_sub_agent_stays_open_while_the_agent_and_other_sub_agents_go_on() {
    let mut kept = TestStore::new();
    let first = kept.open_request(None);
    let agent_id = first.agent_id;
    let of_subagent = |name: &str| build_event(name, "s").with_field("tool_name", "Bash").with_field("agent_id", "a1");
    kept.ingest_event(of_subagent("PermissionRequest").at_second(3));
    let mut request = build_request(agent_id, None);
    request.detail = json!({"subagent": "a1"});
    let second = kept.store.open_request(&request).unwrap();
    let statuses = |kept: &mut TestStore| [&first, &second].map(|request| kept.find_request(&request.uid).status);
    assert_eq!(statuses(&mut kept), [RequestStatus::Open; 2]);

    let ended = build_event("PostToolUse", "s").with_field("tool_name", "Bash").at_second(4);
    assert_eq!(kept.ingest_event(ended).state, AgentState::AwaitingInput);
    assert_eq!(statuses(&mut kept), [RequestStatus::Withdrawn, RequestStatus::Open]);

    assert_eq!(kept.ingest_event(of_subagent("PostToolUse").at_second(5)).state, AgentState::Processing);
    assert_eq!(statuses(&mut kept), [RequestStatus::Withdrawn; 2]);
}
