//! The list of events for people: lines, a limited search, and one event in full.

use serde_json::json;
use snell::{Decision, HookRunStatus};
use snell_store::{DecisionRecord, GuardVerdictRecord, HookRunRecord, LogFilter, LogSearchResult};

use crate::support::{TestStore, build_event, build_prompt, build_stop, make_timestamp};

impl TestStore {
    fn search_log(&mut self, filter: &LogFilter, text: &str) -> (Vec<i64>, Option<i64>) {
        let LogSearchResult { lines, last_scanned_id: reached } = self.store.search_log(filter, Some(text)).unwrap();
        (lines.iter().map(|line| line.entry.id).collect(), reached)
    }

    /// Stores so many calls; every hundredth contains "needle".
    fn take_many_calls(&mut self, calls: i64) {
        for number in 0..calls {
            let word = if number % 100 == 0 { "Needle" } else { "hay" };
            let call = build_event("PreToolUse", &format!("s{}", number % 3)).with_field("tool_name", "Bash");
            self.ingest_event(call.with_field("tool_input", json!({"command": format!("grep {word} {number}")})));
        }
    }
}

fn build_limit_filter(limit: u32) -> LogFilter {
    LogFilter { limit, ..LogFilter::default() }
}

#[test]
fn a_search_finds_a_text_in_payloads_summaries_and_reasons() {
    let mut kept = TestStore::new();
    kept.ingest_event(build_prompt("s", "Mend the \"till\"\nplease"));
    let mut call = build_event("PreToolUse", "s")
        .with_field("tool_name", "Bash")
        .with_field("tool_input", json!({"command": "make TILL"}))
        .into_record_in(&kept.project_dir());
    call.judgement = Some(DecisionRecord { reason: Some("no Broom allowed".into()), ..DecisionRecord::default() });
    kept.store.ingest(call).unwrap();
    kept.ingest_event(build_stop("s", "Done. Größer now."));
    let cases: [(&str, &[i64]); 7] = [
        ("till", &[2, 1]),
        ("\"till\"\nplease", &[1]),
        ("broom", &[2]),
        ("größer", &[3]),
        ("nothing of that kind", &[]),
        ("100%", &[]),
        ("PreToolUse", &[2]),
    ];
    for (text, expected) in cases {
        assert_eq!(kept.search_log(&build_limit_filter(10), text), (expected.to_vec(), None), "{text:?}");
    }
    let after = LogFilter { after_id: Some(1), ..build_limit_filter(10) };
    assert_eq!(kept.search_log(&after, "till"), (vec![2], None));
}

#[test]
fn a_search_scans_a_limited_number_of_events_and_can_continue() {
    let mut kept = TestStore::new();
    kept.take_many_calls(4200);
    let (first, reached) = kept.search_log(&build_limit_filter(100), "needle");
    assert_eq!((first.len(), reached), (40, Some(201)));
    let further = LogFilter { before_id: reached, ..build_limit_filter(100) };
    let (rest, reached) = kept.search_log(&further, "needle");
    assert_eq!((rest, reached), (vec![101, 1], None));
    // The limit ends the search, and filters reduce the scan.
    let (some, reached) = kept.search_log(&build_limit_filter(3), "needle");
    assert_eq!((some, reached), (vec![4101, 4001, 3901], None));
    let of_one = LogFilter { session: Some("s1".into()), ..build_limit_filter(100) };
    let (some, reached) = kept.search_log(&of_one, "needle");
    assert_eq!((some.len(), some[0], reached), (14, 4001, None));
    // If the events are scattered, it stops sooner.
    let of_all = LogFilter { session: Some("s".into()), ..build_limit_filter(100) };
    let (some, reached) = kept.search_log(&of_all, "needle");
    assert_eq!((some.len(), some[0], reached), (20, 4101, Some(2201)));
}

#[test]
fn a_search_in_very_long_payloads_ends_sooner() {
    let mut kept = TestStore::new();
    for _ in 0..200 {
        kept.ingest_event(build_prompt("s", &"x".repeat(60_000)));
    }
    let (found, reached) = kept.search_log(&build_limit_filter(10), "needle");
    assert!(found.is_empty() && reached.is_some_and(|reached| reached > 1), "{reached:?}");
}

#[test]
fn a_line_has_the_text_but_not_the_payload() {
    let mut kept = TestStore::new();
    kept.ingest_event(build_prompt("s", "Do it."));
    kept.ingest_event(build_event("PreToolUse", "s").with_field("tool_name", "Bash").with_field("prompt", "not said"));
    kept.ingest_event(build_stop("s", "Done."));
    kept.ingest_event(build_stop("s", "  "));
    let lines = kept.store.search_log(&build_limit_filter(10), None).unwrap().lines;
    let texts: Vec<_> = lines.iter().map(|line| line.message.as_deref()).collect();
    assert_eq!(texts, [None, Some("Done."), None, Some("Do it.")]);
    assert!(lines.iter().all(|line| line.entry.payload.is_null()));
    let events = kept.store.query_log(&build_limit_filter(10)).unwrap();
    for (line, event) in lines.iter().zip(events) {
        assert!(event.payload.is_object());
        assert_eq!((line.entry.id, &line.entry.event), (event.id, &event.event));
    }
}

#[test]
fn one_event_has_its_hook_runs_and_verdicts() {
    let mut kept = TestStore::new();
    let mut call =
        build_event("PreToolUse", "s").with_field("tool_name", "Bash").at_second(3).into_record_in(&kept.project_dir());
    call.judgement = Some(DecisionRecord {
        runs: vec![HookRunRecord {
            command: "true".into(),
            status: Some(HookRunStatus::Ok),
            ..HookRunRecord::default()
        }],
        guard: vec![GuardVerdictRecord {
            decision: Decision::Deny,
            rule: "some-rule".into(),
            tier: "t".into(),
            reason: "no".into(),
            advice: None,
            would: Decision::None,
            of_changed_input: false,
        }],
        ..DecisionRecord::default()
    });
    kept.store.ingest(call).unwrap();
    let event = kept.store.find_event(1).unwrap().unwrap();
    assert_eq!((event.entry.at, event.entry.tool.as_deref()), (make_timestamp(3), Some("Bash")));
    assert_eq!(event.entry.payload["tool_name"], "Bash");
    assert_eq!((event.hook_runs[0].command.as_str(), event.guard_verdicts[0].rule.as_str()), ("true", "some-rule"));
    assert_eq!(kept.store.find_event(2).unwrap(), None);
}

#[test]
fn projects_are_listed_by_name() {
    let mut kept = TestStore::new();
    for name in ["b", "a", "c"] {
        let path = kept.create_other_project(name);
        kept.ingest_event(build_event("SessionStart", name).with_field("cwd", path));
    }
    let names = |kept: &mut TestStore, most| -> Vec<_> {
        let projects = kept.store.list_projects(most).unwrap();
        projects.into_iter().map(|project| project.name).collect()
    };
    assert_eq!(names(&mut kept, 10), ["a", "b", "c"]);
    assert_eq!(names(&mut kept, 2), ["a", "b"]);
}

#[test]
fn a_tool_is_found_in_upper_and_lower_case() {
    let mut kept = TestStore::new();
    for (number, tool) in ["Bash", "bash", "Read", "mcp__Mail__send"].iter().enumerate() {
        kept.ingest_event(build_event("PreToolUse", "s").with_field("tool_name", *tool).at_second(number as i64));
    }
    let cases: [(&str, &[i64]); 6] =
        [("Bash", &[2, 1]), ("BASH", &[2, 1]), ("read", &[3]), ("MCP__mail__SEND", &[4]), ("Bas", &[]), ("B_sh", &[])];
    for (tool, expected) in cases {
        for project_id in [None, Some(1)] {
            let filter = LogFilter { tool: Some(tool.into()), project_id, limit: 10, ..LogFilter::default() };
            let found: Vec<_> = kept.store.query_log(&filter).unwrap().iter().map(|entry| entry.id).collect();
            assert_eq!(found, expected, "{tool} {project_id:?}");
        }
    }
}
