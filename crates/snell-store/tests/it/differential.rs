//! Both databases give the same answers.

use std::fmt::Debug;
use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};
use snell::Timestamp;
use snell_store::requests::{
    AnswerAuthor, AnswerChoice, AnswerOrigin, AnswerOutcome, NewRequest, RequestAnswer, RequestFilter, RequestView,
};
use snell_store::usage::{UsageDirectory, UsageScan};
use snell_store::{
    AgentActivity, AgentFilter, DecisionRecord, EventRecord, ExportLine, GuardFilter, GuardOutcome, LogFilter,
    SessionFilter, SightingFilter, Store, TimelineAspect, TimelineFilter, TurnFilter, UsageFilter, UsageGrouping,
};
use tempfile::TempDir;

use crate::engines::TestDatabase;
use crate::requests::build_request;
use crate::support::{build_event, make_timestamp};

/// Texts that a database could change: a zero byte, noncharacters, half of a pair, and what looks like an escape.
const ODD_TEXTS: &[&str] =
    &["plain", "zero \u{0} byte", "\u{10FFFF}0 \u{10FFFF}", "\\u0000 \\ud800", "ünïcode 🐘 ' \" %"];

/// One store in each database, with the same directory.
struct StorePair {
    root: TempDir,
    stores: [Store; 2],
    _database: TestDatabase,
}

impl StorePair {
    fn new() -> Option<Self> {
        let database = TestDatabase::new_postgres()?;
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("project/.git")).unwrap();
        let file = Store::open(&root.path().join("snell.db")).unwrap().store;
        let server = Store::open_at(&database.location(root.path())).unwrap().store;
        Some(Self { root, stores: [file, server], _database: database })
    }

    fn ingest(&mut self, records: &[EventRecord]) {
        self.assert_same("ingest", |store| store.ingest_all(records.to_vec()).unwrap());
    }

    #[track_caller]
    fn assert_same<T: Debug>(&mut self, question: &str, mut ask: impl FnMut(&mut Store) -> T) {
        let [file, server] = &mut self.stores;
        let (expected, found) = (format!("{:#?}", ask(file)), format!("{:#?}", ask(server)));
        assert_eq!(expected, found, "{question}");
    }

    /// Compares the answers of all queries.
    fn compare_answers(&mut self) {
        self.compare_agents();
        self.compare_events();
        self.compare_sessions();
        self.compare_counts();
    }

    fn compare_agents(&mut self) {
        let everyone = AgentFilter { ended_after: Some(make_timestamp(-1000)), ..AgentFilter::default() };
        self.assert_same("list_agents", |store| store.list_agents(&everyone).unwrap());
        let some = AgentFilter { limit: Some(1), project_id: Some(1), ..everyone.clone() };
        self.assert_same("list_agents", |store| store.list_agents(&some).unwrap());
        for activity in AgentActivity::ALL {
            self.assert_same("count_agents", |store| store.count_agents(*activity).unwrap());
        }
        for agent_id in 1..4 {
            let all = TimelineFilter { agent_id, limit: 100, ..TimelineFilter::default() };
            self.assert_same("query_timeline", |store| store.query_timeline(&all).unwrap());
            for aspect in
                [TimelineAspect::Call, TimelineAspect::Verdict, TimelineAspect::Change, TimelineAspect::Itself]
            {
                let with = TimelineFilter { with: vec![aspect, TimelineAspect::Run], ..all.clone() };
                self.assert_same("query_timeline", |store| store.query_timeline(&with).unwrap());
            }
            let sightings = SightingFilter { agent_id, limit: 100, ..SightingFilter::default() };
            self.assert_same("list_sightings", |store| store.list_sightings(&sightings).unwrap());
            self.assert_same("find_earlier_event", |store| store.find_earlier_event(agent_id, None, 1).unwrap());
            let turns = TurnFilter { agent_id, limit: 100, ..TurnFilter::default() };
            self.assert_same("list_turns", |store| store.list_turns(&turns).unwrap());
            self.assert_same("list_agent_guard_hours", |store| {
                store.list_agent_guard_hours(agent_id, make_timestamp(0), 100).unwrap()
            });
            self.assert_same("list_agent_usage", |store| store.list_agent_usage(Some(agent_id)).unwrap());
        }
    }

    fn compare_events(&mut self) {
        let all = LogFilter { limit: 100, ..LogFilter::default() };
        let filters = [
            all.clone(),
            LogFilter { after_id: Some(2), limit: 3, ..all.clone() },
            LogFilter { before_id: Some(6), ..all.clone() },
            LogFilter { agent_id: Some(1), ..all.clone() },
            LogFilter { product: Some("claude".into()), ..all.clone() },
            LogFilter { project_id: Some(1), session: Some("s".into()), ..all.clone() },
            LogFilter { session: Some("s1".into()), ..all.clone() },
            LogFilter { event: Some("Stop".into()), ..all.clone() },
            LogFilter { tool: Some("BASH".into()), ..all.clone() },
            LogFilter { decision: Some("block".into()), ..all.clone() },
            LogFilter { rule: Some("a".into()), ..all.clone() },
            LogFilter { since: Some(make_timestamp(3)), until: Some(make_timestamp(9)), ..all.clone() },
        ];
        for filter in filters {
            self.assert_same(&format!("query_log {filter:?}"), |store| store.query_log(&filter).unwrap());
            for text in [None, Some("elephant"), Some("zero")] {
                self.assert_same("search_log", |store| store.search_log(&filter, text).unwrap());
            }
        }
        let rows: Vec<i64> = (1..40).collect();
        self.assert_same("list_decision_authors", |store| store.list_decision_authors(&rows).unwrap());
        self.assert_same("list_guard_verdicts", |store| store.list_guard_verdicts(&rows).unwrap());
        for row in &rows {
            self.assert_same("find_event", |store| store.find_event(*row).unwrap());
        }
        self.assert_same("last_event_id", |store| store.last_event_id().unwrap());
        self.assert_same("list_changes_after", |store| store.list_changes_after(0, 1000).unwrap());
        self.assert_same("change_range", |store| store.change_range().unwrap());
        self.assert_same("summarize_events_since", |store| store.summarize_events_since(Some(1)).unwrap());
        for outcome in [None, Some(GuardOutcome::Denied), Some(GuardOutcome::WouldAsk)] {
            let filter = GuardFilter { outcome, limit: 100, ..GuardFilter::default() };
            self.assert_same("query_guard_log", |store| store.query_guard_log(&filter).unwrap());
        }
    }

    fn compare_sessions(&mut self) {
        for ended_too in [false, true] {
            let filter = SessionFilter { ended_too, ..SessionFilter::default() };
            self.assert_same("list_sessions", |store| store.list_sessions(&filter).unwrap());
        }
        self.assert_same("find_sessions", |store| store.find_sessions("s").unwrap());
        self.assert_same("export_session", |store| {
            let mut lines: Vec<ExportLine> = Vec::new();
            for session in store.find_sessions("s").unwrap() {
                let mut keep = |line| {
                    lines.push(line);
                    true
                };
                store.export_session(&session, &mut keep).unwrap();
            }
            lines
        });
        self.assert_same("find_mission", |store| store.find_mission("m").unwrap());
        for conversation_id in 1..4 {
            self.assert_same("list_workers", |store| store.list_workers(conversation_id).unwrap());
        }
        self.assert_same("list_unplanned", |store| {
            let mut changes = store.dispatches().list_unplanned(0, 100).unwrap();
            // They are random, or by the real clock.
            changes.iter_mut().for_each(|change| (change.uid, change.recorded_at) = (String::new(), change.at));
            changes
        });
    }

    fn compare_counts(&mut self) {
        self.assert_same("list_projects", |store| store.list_projects(100).unwrap());
        self.assert_same("list_failed_hooks", |store| store.list_failed_hooks(make_timestamp(0)).unwrap());
        self.assert_same("count_totals", |store| store.count_totals().unwrap());
        self.assert_same("count_older_than", |store| store.count_older_than(make_timestamp(8)).unwrap());
        for second in [-4000, 0, 5] {
            self.assert_same("list_hook_stats", |store| store.list_hook_stats(make_timestamp(second)).unwrap());
        }
        for hook in [None, Some(1)] {
            self.assert_same("list_hook_hours", |store| store.list_hook_hours(make_timestamp(0), hook).unwrap());
        }
        self.assert_same("list_guard_hours", |store| store.list_guard_hours(make_timestamp(0)).unwrap());
        self.assert_same("count_open_requests", |store| store.count_open_requests().unwrap());
        self.assert_same("list_remembered_answers", |store| {
            store.list_remembered_answers(make_timestamp(0), 10).unwrap()
        });
        for grouping in [UsageGrouping::Time, UsageGrouping::Project, UsageGrouping::Agent, UsageGrouping::Turn] {
            self.assert_same("summarize_usage", |store| {
                let sums = store.summarize_usage(grouping, &UsageFilter::default()).unwrap();
                let mut sums: Vec<_> = sums.iter().map(|sum| format!("{sum:?}")).collect();
                sums.sort();
                sums
            });
        }
        self.assert_same("list_agent_usage", |store| store.list_agent_usage(None).unwrap());
        self.assert_same("read_usage_version", |store| store.read_usage_version().unwrap());
    }
}

/// A random event: its kind, session, text, tool call, decision and age.
fn build_record(pair: &StorePair, number: i64, step: (usize, usize, usize, usize)) -> EventRecord {
    let (kind, session, text, judged) = step;
    let text = ODD_TEXTS[text];
    let session = ["s1", "s2", "s1-other"][session];
    let tool = |name| build_event(name, session).with_field("tool_name", "Bash");
    let call = json!({"command": text, "huge": 0});
    let event = match kind {
        0 => build_event("SessionStart", session).with_field("source", "startup"),
        1 => build_event("UserPromptSubmit", session).with_field("prompt", text),
        2 => tool("PreToolUse").with_field("tool_use_id", format!("t{number}")).with_field("tool_input", call),
        3 => {
            tool("PostToolUse").with_field("tool_use_id", format!("t{}", number - 1)).with_field("tool_response", text)
        }
        4 => tool("PreToolUse").with_field("tool_input", call),
        5 => tool("PostToolUse").with_field("tool_input", call),
        6 => build_event("Stop", session).with_field("last_assistant_message", format!("{text}. Shall I?")),
        7 => build_event("SubagentStop", session).with_field("agent_id", "w1").with_field("agent_type", "Explore"),
        _ => build_event("SessionEnd", session).with_field("reason", text),
    };
    let event = if number % 3 == 0 { event.with_pane("%1") } else { event };
    let mut record = event.at_second(number).with_host("box").into_record_in(&pair.root.path().join("project"));
    // It is kept as it was written.
    record.payload.insert("huge".into(), serde_json::from_str("1e+999999").unwrap());
    let run = |status: &str| {
        json!({"contract": "snell", "source": text, "line": 3, "command": "a", "status": status,
        "duration_us": number * 100, "stdout": text, "stderr": ""})
    };
    let verdict = |decision: &str, would: &str| {
        json!({"decision": decision, "would": would, "rule": "a", "tier": "low",
        "reason": text})
    };
    let judgement = match judged {
        1 => {
            json!({"took_us": 5, "decision": "deny", "reason": text, "guard": [verdict("deny", "")], "runs": [run("ok"), run("failed")]})
        }
        2 => json!({"took_us": 7, "guard": [verdict("allow", "ask")], "runs": [run("started"), run("timed_out")]}),
        _ => Value::Null,
    };
    record.judgement = Some(judgement)
        .filter(|judged| !judged.is_null())
        .map(|judged| serde_json::from_value::<DecisionRecord>(judged).unwrap());
    record
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn one_stream_of_events_has_the_same_answers_in_both_databases(
        steps in prop::collection::vec((0_usize..9, 0_usize..3, 0_usize..5, 0_usize..4), 1..25),
        batch in 1_usize..9,
    ) {
        let Some(mut pair) = StorePair::new() else { return Ok(()) };
        let records: Vec<_> = (0..).zip(steps).map(|(number, step)| build_record(&pair, number, step)).collect();
        for some in records.chunks(batch) {
            pair.ingest(some);
        }
        pair.compare_answers();
        // Again, which changes nothing.
        pair.ingest(&records);
        pair.compare_answers();
        pair.assert_same("prune", |store| store.prune(make_timestamp(9), &mut |_| {}).unwrap());
        pair.compare_events();
        pair.compare_sessions();
        pair.compare_counts();
    }
}

#[test]
fn tokens_are_the_same_in_both_databases() {
    let Some(mut pair) = StorePair::new() else { return };
    let record = build_event("SessionStart", "s1").with_host("box").into_record_in(&pair.root.path().join("project"));
    pair.ingest(&[record]);
    let transcripts = pair.root.path().join("transcripts");
    std::fs::create_dir(&transcripts).unwrap();
    let lines: Vec<String> = (0..5)
        .map(|second| {
            json!({
                "type": "assistant", "sessionId": "s1", "timestamp": make_timestamp(second * 900).to_string(),
                "uuid": format!("a{second}"), "requestId": format!("r{second}"), "isSidechain": false,
                "message": {"id": format!("m{second}"), "role": "assistant", "model": "claude-opus-4-5", "content": [],
                    "usage": {"input_tokens": 10 + second, "output_tokens": 7}},
            })
            .to_string()
        })
        .collect();
    std::fs::write(transcripts.join("s1.jsonl"), lines.join("\n") + "\n").unwrap();
    let directory = UsageDirectory { product: "claude".into(), path: transcripts };
    for store in &mut pair.stores {
        let mut scan = UsageScan::start(store, std::slice::from_ref(&directory)).unwrap();
        while scan.run_step(store).unwrap() {}
    }
    pair.compare_agents();
    pair.compare_counts();
    let counted = pair.stores[1].read_usage_version().unwrap();
    assert_eq!(counted.0, 5);
    pair.assert_same("prune", |store| store.prune(make_timestamp(1000), &mut |_| {}).unwrap());
    pair.compare_counts();
}

#[test]
fn payloads_survive_byte_by_byte() {
    let Some(mut pair) = StorePair::new() else { return };
    let payload =
        r#"{"session_id":"s","zero":"a\u0000b","huge":1e+999999,"b":1,"a":1.50,"long":123456789012345678901234567890}"#;
    let fields: serde_json::Map<String, Value> = serde_json::from_str(payload).unwrap();
    let mut record = build_event("Stop", "s").into_record_in(&pair.root.path().join("project"));
    record.payload.extend(fields);
    pair.ingest(&[record]);
    let texts = pair.stores.each_mut().map(|store| {
        let all = LogFilter { limit: 1, ..LogFilter::default() };
        store.query_log(&all).unwrap().remove(0).payload.to_string()
    });
    for text in &texts {
        for kept in
            [r#""zero":"a\u0000b""#, r#""huge":1e+999999"#, r#""b":1,"a":1.50"#, "123456789012345678901234567890"]
        {
            assert!(text.contains(kept), "{kept}: {text}");
        }
    }
    assert_eq!(texts[0], texts[1]);
}

#[test]
fn requests_are_the_same_in_both_databases() {
    let Some(mut pair) = StorePair::new() else { return };
    let asks = build_event("PermissionRequest", "s1").with_field("tool_name", "Bash").with_host("box");
    pair.ingest(&[asks.into_record_in(&pair.root.path().join("project"))]);
    // They are random, or by the real clock.
    let normalize = |request: &RequestView| RequestView { uid: String::new(), ..request.clone() };
    for (number, text) in (1..).zip(ODD_TEXTS) {
        let opened_at = Timestamp::from_second(Timestamp::now().as_second()).unwrap();
        let reading = ["deletes files", text];
        let detail = json!({"input": {"command": text}, "reading": reading});
        let mut request = NewRequest { detail, title: (*text).to_owned(), ..build_request(1, None) };
        (request.opened_at, request.expires_at) = (opened_at, opened_at + Duration::from_secs(3600));
        pair.assert_same("open_request", |store| normalize(&store.open_request(&request).unwrap()));
        pair.assert_same("list_agents", |store| {
            let mut agents = store.list_agents(&AgentFilter::default()).unwrap();
            assert_eq!(agents[0].request_reading, reading);
            agents.iter_mut().for_each(|agent| agent.open_request = None);
            agents
        });
        let answer = RequestAnswer { message: Some((*text).to_owned()), ..RequestAnswer::new(AnswerChoice::Deny) };
        let author = AnswerAuthor { name: (*text).to_owned(), origin: AnswerOrigin::Page };
        pair.assert_same("answer_request", |store| {
            let uid = store.find_request(number).unwrap().unwrap().uid;
            let outcome = store.answer_request(&uid, &answer, &author, opened_at).unwrap();
            assert!(matches!(outcome, AnswerOutcome::Accepted(_)), "{outcome:?}");
            assert_eq!(store.take_answer(number, opened_at).unwrap().as_ref(), Some(&answer));
            (store.take_answer(number, opened_at).unwrap(), store.list_unsettled_requests().unwrap())
        });
        pair.assert_same("list_requests", |store| {
            let all = RequestFilter { limit: 10, ..RequestFilter::default() };
            store.list_requests(&all).unwrap().iter().map(normalize).collect::<Vec<_>>()
        });
    }
}
