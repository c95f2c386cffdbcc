//! The list of events: whatever it is filtered by, it says what looking at every event would.

use snell_store::{Judgement, LogEntry, LogFilter};

use crate::support::{Kept, at, sent};

/// Events of several agents in two projects, some of them decided, some of them late.
fn many() -> Kept {
    let mut kept = Kept::new();
    let projects = [kept.project().to_str().unwrap().to_owned(), kept.other_project("other")];
    let names = ["PreToolUse", "PostToolUse", "Notification", "Stop"];
    for number in 0..120_i64 {
        let session = format!("s{}", number % 7);
        let index = usize::try_from(number).unwrap();
        let late = if number % 11 == 0 { 40 } else { 0 };
        let mut observation = sent(names[index % 4], &session)
            .with("tool_name", ["Bash", "Edit", "Read"][index % 3])
            .with("tool_use_id", format!("t{number}"))
            .with("cwd", projects[index % 7 % 2].as_str())
            .at(number - late)
            .observed_in(&kept.project());
        if number % 5 == 0 {
            observation.judgement = Some(Judgement {
                decision: Some("block".into()),
                ..Judgement::default()
            });
        }
        kept.store.ingest(observation).unwrap();
    }
    kept
}

fn matches(filter: &LogFilter, entry: &LogEntry, project: &str) -> bool {
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
fn every_combination_of_filters_finds_what_a_look_at_every_event_finds() {
    let mut kept = many();
    let all = kept.events();
    assert_eq!(all.len(), 120);
    let other = all
        .iter()
        .find(|entry| entry.project == "other")
        .unwrap()
        .project
        .clone();
    // Each of the nine filters is there or not; times lie in either half of what there is.
    for choice in 0..512_u32 {
        let on = |bit: u32| choice & (1 << bit) != 0;
        let filter = LogFilter {
            agent_id: on(0).then_some(2),
            project_id: on(1).then_some(2),
            session: on(2).then(|| "s".to_owned() + if on(0) { "" } else { "3" }),
            event: on(3).then(|| "PreToolUse".to_owned()),
            tool: on(4).then(|| "Bash".to_owned()),
            decision: on(5).then(|| "block".to_owned()),
            since: on(6).then(|| at(if on(8) { 10 } else { 70 })),
            until: on(7).then(|| at(if on(6) { 90 } else { 30 })),
            before_id: on(8).then_some(100),
            after_id: None,
            limit: 20,
        };
        let mut expected: Vec<_> = all
            .iter()
            .filter(|entry| matches(&filter, entry, &other))
            .map(|entry| entry.id)
            .collect();
        expected.reverse();
        expected.truncate(20);
        let found: Vec<_> = kept.store.log(&filter).unwrap().iter().map(|entry| entry.id).collect();
        assert_eq!(found, expected, "{filter:?}");
    }
}

#[test]
fn what_came_after_an_event_is_listed_from_the_oldest_on() {
    let mut kept = many();
    let filter = LogFilter {
        after_id: Some(90),
        session: Some("s".into()),
        limit: 3,
        ..LogFilter::default()
    };
    let found: Vec<_> = kept.store.log(&filter).unwrap().iter().map(|entry| entry.id).collect();
    assert_eq!(found, [91, 92, 93]);
}
