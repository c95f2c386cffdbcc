//! Requests that no hook can answer: opened once per wait, taken once, and only while the same question waits.

use snell::Timestamp;
use snell_store::requests::{
    AnswerAuthor, AnswerChannel, AnswerChoice, AnswerOrigin, AnswerOutcome, PaneAnswer, RequestAnswer, RequestFilter,
    RequestKind, RequestStatus, RequestView,
};
use snell_store::{DispatchView, Store};

use crate::support::{SentEvent, TestStore, build_event, build_prompt, build_stop};

const QUESTION: &str = "I found two ways. Shall I push it?";

impl TestStore {
    /// The agent of a session ends its turn in a pane with these words.
    fn end_turn(&mut self, words: &str, second: i64) {
        self.ingest_event(build_prompt("s", "Build it.").with_pane("%7").at_second(second));
        self.ingest_event(build_stop("s", words).with_pane("%7").at_second(second + 1));
    }

    fn list_changes_to_plan(&mut self) -> Vec<DispatchView> {
        self.store.dispatches().list_unplanned(0, 100).unwrap()
    }

    /// What a dispatcher does with the changes so far.
    fn open_wait_requests(&mut self) -> Vec<RequestView> {
        let changes = self.list_changes_to_plan();
        let open = |change| self.store.open_wait_request(change, Timestamp::now()).unwrap();
        changes.iter().filter_map(open).collect()
    }

    fn open_question(&mut self) -> RequestView {
        self.end_turn(QUESTION, 1);
        self.open_wait_requests().remove(0)
    }

    fn answer(&mut self, request: &RequestView, choice: AnswerChoice, reply: &str) -> AnswerOutcome {
        let answer =
            RequestAnswer { choice, replies: vec![reply.to_owned()], message: None, remember: None, suggestion: None };
        let author = AnswerAuthor { name: "ann".to_owned(), origin: AnswerOrigin::Terminal };
        self.store.answer_request(&request.uid, &answer, &author, Timestamp::now()).unwrap()
    }

    fn accept_answer(&mut self, request: &RequestView) {
        let outcome = self.answer(request, AnswerChoice::Reply, "yes");
        assert!(matches!(outcome, AnswerOutcome::Accepted(_)), "{outcome:?}");
    }

    fn take(&mut self, request: &RequestView) -> PaneAnswer {
        self.store.take_pane_answer(request.request_id, Timestamp::now()).unwrap()
    }

    fn reload(&mut self, request: &RequestView) -> RequestView {
        let filter = RequestFilter { uid_prefix: Some(request.uid.clone()), limit: 1, ..RequestFilter::default() };
        self.store.list_requests(&filter).unwrap().remove(0)
    }
}

#[test]
fn a_question_at_the_prompt_opens_one_request() {
    let mut kept = TestStore::new();
    let request = kept.open_question();
    let shown = (request.kind, request.channel, request.title.as_str(), request.status);
    assert_eq!(shown, (RequestKind::Question, AnswerChannel::Pane, "Shall I push it?", RequestStatus::Open));
    assert_eq!(request.detail["questions"][0]["question"], QUESTION);
    assert!(request.expires_at.duration_since(request.opened_at).as_secs() == 24 * 60 * 60, "{request:?}");
    assert_eq!(kept.open_wait_requests(), []);
    // A request that is closed while the agent still waits is not opened again.
    kept.store.close_request(request.request_id, RequestStatus::Withdrawn, "test", Timestamp::now()).unwrap();
    assert_eq!(kept.open_wait_requests(), []);
    // The next question is another wait.
    kept.end_turn("Which branch do you want?", 10);
    assert_eq!(kept.open_wait_requests().len(), 1);
}

#[test]
fn of_many_dispatchers_one_opens_the_request() {
    let mut kept = TestStore::new();
    kept.end_turn(QUESTION, 1);
    let changes = kept.list_changes_to_plan();
    let database = kept.location();
    let open = || {
        let mut store = Store::open_at(&database).unwrap().store;
        changes.iter().filter_map(|change| store.open_wait_request(change, Timestamp::now()).unwrap()).count()
    };
    let opened: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(open)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(opened, 1);
}

#[test]
fn a_wait_that_cannot_be_answered_from_here_names_its_place_and_takes_no_answer() {
    let permission = |event: SentEvent| event.with_field("tool_name", "Bash").with_pane("%7").at_second(2);
    let choices =
        build_event("PreToolUse", "s").with_field("tool_name", "AskUserQuestion").with_pane("%7").at_second(2);
    let cases = [
        (permission(build_event("PermissionRequest", "s")), RequestKind::Permission, "tmux pane %7"),
        (choices, RequestKind::Question, "tmux pane %7"),
        (build_stop("s", QUESTION).at_second(2), RequestKind::Question, "no tmux pane is known"),
        (
            build_stop("s", QUESTION).with_pane("%7").with_host("attic").at_second(2),
            RequestKind::Question,
            "host attic",
        ),
    ];
    for (event, kind, place) in cases {
        let mut kept = TestStore::new();
        kept.ingest_event(event);
        let request = kept.open_wait_requests().remove(0);
        assert_eq!((request.channel, request.kind), (AnswerChannel::Elsewhere, kind), "{request:?}");
        for choice in [AnswerChoice::Allow, AnswerChoice::Deny, AnswerChoice::Reply] {
            let AnswerOutcome::Refused(view, why) = kept.answer(&request, choice, "yes") else {
                panic!("{choice} was accepted: {request:?}");
            };
            assert_eq!(view.status, RequestStatus::Open);
            assert!(why.text.contains("own terminal") && why.hint.as_ref().unwrap().contains(place), "{why:?}");
        }
        assert_eq!(kept.take(&request), PaneAnswer::Missing);
    }
}

#[test]
fn a_hook_that_waits_replaces_a_request_without_a_way_back() {
    let mut kept = TestStore::new();
    kept.ingest_event(build_event("PermissionRequest", "s").with_field("tool_name", "Bash").at_second(1));
    let elsewhere = kept.open_wait_requests().remove(0);
    let reply = crate::requests::build_request(elsewhere.agent_id, None);
    kept.store.open_request(&reply).unwrap();
    let open = kept.store.list_requests(&RequestFilter::open()).unwrap();
    assert_eq!(open.iter().map(|open| open.channel).collect::<Vec<_>>(), [AnswerChannel::Reply]);
    assert_eq!(kept.reload(&elsewhere).closed_reason.as_deref(), Some("a hook of the agent waits for the answer"));
}

#[test]
fn an_answer_that_would_be_a_command_is_refused_and_the_request_stays_open() {
    let mut kept = TestStore::new();
    let request = kept.open_question();
    for (choice, reply) in [(AnswerChoice::Reply, "/clear"), (AnswerChoice::Reply, "a\nb"), (AnswerChoice::Allow, "")] {
        let refused = kept.answer(&request, choice, reply);
        assert!(matches!(refused, AnswerOutcome::Refused(..)), "{reply:?}: {refused:?}");
        assert_eq!(kept.reload(&request).status, RequestStatus::Open);
    }
    kept.accept_answer(&request);
}

#[test]
fn an_answer_is_taken_once_and_a_killed_typist_leaves_a_note() {
    let mut kept = TestStore::new();
    let request = kept.open_question();
    assert_eq!(kept.take(&request), PaneAnswer::Missing);
    kept.accept_answer(&request);
    assert_eq!(kept.store.find_untyped_answers(Timestamp::now()).unwrap().len(), 1);
    let PaneAnswer::Line(agent, line) = kept.take(&request) else { panic!("it was not taken") };
    assert_eq!((agent.tmux_pane.as_deref(), line.as_str()), (Some("%7"), "yes"));
    // A process that is killed now has told enough.
    let taken = kept.reload(&request);
    assert!(taken.delivered_at.is_none() && taken.closed_reason.unwrap().contains("began to type the answer"));
    assert_eq!(kept.take(&request), PaneAnswer::Missing);
    assert_eq!(kept.store.find_untyped_answers(Timestamp::now()).unwrap(), []);

    let typed = kept.store.finish_pane_answer(request.request_id, Ok(()), Timestamp::now()).unwrap();
    assert!(typed.delivered_at.is_some() && typed.closed_reason.is_none(), "{typed:?}");
    assert_eq!(kept.take(&request), PaneAnswer::Missing);
}

#[test]
fn of_many_typists_one_gets_the_answer() {
    let mut kept = TestStore::new();
    let request = kept.open_question();
    kept.accept_answer(&request);
    let database = kept.location();
    let take = || {
        let mut store = Store::open_at(&database).unwrap().store;
        matches!(store.take_pane_answer(request.request_id, Timestamp::now()).unwrap(), PaneAnswer::Line(..))
    };
    let taken = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(take)).collect();
        threads.into_iter().filter_map(|thread| thread.join().ok()).filter(|taken| *taken).count()
    });
    assert_eq!(taken, 1);
}

#[test]
fn an_answer_is_not_typed_when_the_agent_asks_nothing_or_something_else() {
    let later = [
        ("a prompt", build_prompt("s", "No.").at_second(6)),
        ("its end", build_event("SessionEnd", "s").at_second(6)),
        ("another question", build_stop("s", "Which branch do you want?").at_second(6)),
        // The events in between were lost, so the agent seems to wait since the first question.
        ("a dialog", build_event("PermissionRequest", "s").with_field("tool_name", "Bash").at_second(6)),
    ];
    for (what, event) in later {
        let mut kept = TestStore::new();
        let request = kept.open_question();
        kept.accept_answer(&request);
        kept.ingest_event(event.clone());
        let taken = kept.take(&request);
        assert_eq!(taken, PaneAnswer::Over("the agent no longer waits for this answer".to_owned()), "{what}");
        let reason = kept.reload(&request).closed_reason;
        assert_eq!(reason.as_deref(), Some("the agent no longer waits for this answer"), "{what}");
        assert_eq!(kept.take(&request), PaneAnswer::Missing, "{what}");
        // The same while the request is open: nobody can answer it any more.
        let mut kept = TestStore::new();
        let request = kept.open_question();
        kept.ingest_event(event.clone());
        assert_eq!(kept.reload(&request).status, RequestStatus::Withdrawn, "{what}");
        let late = kept.answer(&request, AnswerChoice::Reply, "yes");
        assert!(matches!(late, AnswerOutcome::TooLate(_)), "{what}: {late:?}");
    }
}
