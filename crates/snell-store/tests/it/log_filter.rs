//! The list of events: each combination of filters gives the same result as a scan of all events.

use snell::Decision;
use snell_store::{DecisionRecord, LogEntry, LogFilter};

use crate::support::{TestStore, build_event, make_timestamp};

/// Events of several agents in two projects, some with a decision, some late.
fn create_many_events() -> TestStore {
    let mut kept = TestStore::new();
    let projects = [kept.project_dir().to_str().unwrap().to_owned(), kept.create_other_project("other")];
    let names = ["PreToolUse", "PostToolUse", "Notification", "Stop"];
    for number in 0..120_i64 {
        let session = format!("s{}", number % 7);
        let index = usize::try_from(number).unwrap();
        let late = if number % 11 == 0 { 40 } else { 0 };
        let mut observation = build_event(names[index % 4], &session)
            .with_field("tool_name", ["Bash", "Edit", "Read"][index % 3])
            .with_field("tool_use_id", format!("t{number}"))
            .with_field("cwd", projects[index % 7 % 2].as_str())
            .at_second(number - late)
            .into_record_in(&kept.project_dir());
        if number % 5 == 0 {
            observation.judgement = Some(DecisionRecord { decision: Decision::Deny, ..DecisionRecord::default() });
        }
        kept.store.ingest(observation).unwrap();
    }
    kept
}

fn is_match(filter: &LogFilter, entry: &LogEntry, project: &str) -> bool {
    let same = |wanted: &Option<String>, is: &Option<String>| wanted.is_none() || wanted == is;
    filter.agent_id.is_none_or(|agent| agent == entry.agent_id)
        && filter.project_id.is_none_or(|_| entry.project == project)
        && filter
            .session
            .as_ref()
            .is_none_or(|prefix| entry.session_id.as_ref().is_some_and(|id| id.starts_with(prefix)))
        && filter.event.as_ref().is_none_or(|name| *name == entry.event)
        && same(&filter.tool, &entry.tool)
        && same(&filter.decision, &entry.decision)
        && filter.since.is_none_or(|since| entry.at >= since)
        && filter.until.is_none_or(|until| entry.at < until)
        && filter.before_id.is_none_or(|id| entry.id < id)
        && filter.after_id.is_none_or(|id| entry.id > id)
}

#[test]
fn every_combination_of_filters_gives_the_same_result_as_a_full_scan() {
    let mut kept = create_many_events();
    let all = kept.list_events();
    assert_eq!(all.len(), 120);
    let other = all.iter().find(|entry| entry.project == "other").unwrap().project.clone();
    // Each of the nine filters is set or not; times are in both halves of the time span.
    for choice in 0..512_u32 {
        let on = |bit: u32| choice & (1 << bit) != 0;
        let filter = LogFilter {
            product: None,
            agent_id: on(0).then_some(2),
            project_id: on(1).then_some(2),
            session: on(2).then(|| "s".to_owned() + if on(0) { "" } else { "3" }),
            event: on(3).then(|| "PreToolUse".to_owned()),
            tool: on(4).then(|| "Bash".to_owned()),
            decision: on(5).then(|| "block".to_owned()),
            rule: None,
            since: on(6).then(|| make_timestamp(if on(8) { 10 } else { 70 })),
            until: on(7).then(|| make_timestamp(if on(6) { 90 } else { 30 })),
            before_id: on(8).then_some(100),
            after_id: None,
            limit: 20,
        };
        let mut expected: Vec<_> =
            all.iter().filter(|entry| is_match(&filter, entry, &other)).map(|entry| entry.id).collect();
        expected.reverse();
        expected.truncate(20);
        let found: Vec<_> = kept.store.query_log(&filter).unwrap().iter().map(|entry| entry.id).collect();
        assert_eq!(found, expected, "{filter:?}");
    }
}

#[test]
fn events_after_an_event_are_listed_from_the_oldest_on() {
    let mut kept = create_many_events();
    let filter = LogFilter { after_id: Some(90), session: Some("s".into()), limit: 3, ..LogFilter::default() };
    let found: Vec<_> = kept.store.query_log(&filter).unwrap().iter().map(|entry| entry.id).collect();
    assert_eq!(found, [91, 92, 93]);
}
