//! The list of events as people look at it: lines, a search that ends, and one event in full.

use serde_json::json;
use snell_store::{GuardVerdict, Judgement, LogFilter, LogLines, Run};

use crate::support::{Kept, at, prompt, sent, stop};

impl Kept {
    fn find(&mut self, filter: &LogFilter, text: &str) -> (Vec<i64>, Option<i64>) {
        let LogLines { lines, reached } = self.store.log_lines(filter, Some(text)).unwrap();
        (lines.iter().map(|line| line.entry.id).collect(), reached)
    }

    /// Tells of so many calls; every hundredth is about a needle.
    fn call_often(&mut self, calls: i64) {
        for number in 0..calls {
            let word = if number % 100 == 0 { "Needle" } else { "hay" };
            let call = sent("PreToolUse", &format!("s{}", number % 3)).with("tool_name", "Bash");
            self.take(call.with("tool_input", json!({"command": format!("grep {word} {number}")})));
        }
    }
}

fn at_most(limit: u32) -> LogFilter {
    LogFilter {
        limit,
        ..LogFilter::default()
    }
}

#[test]
fn a_search_finds_a_text_in_what_was_sent_in_summaries_and_in_reasons() {
    let mut kept = Kept::new();
    kept.take(prompt("s", "Mend the \"till\"\nplease"));
    let mut call = sent("PreToolUse", "s")
        .with("tool_name", "Bash")
        .with("tool_input", json!({"command": "make TILL"}))
        .observed_in(&kept.project());
    call.judgement = Some(Judgement {
        reason: Some("no Broom allowed".into()),
        ..Judgement::default()
    });
    kept.store.ingest(call).unwrap();
    kept.take(stop("s", "Done. Größer now."));
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
        assert_eq!(kept.find(&at_most(10), text), (expected.to_vec(), None), "{text:?}");
    }
    let after = LogFilter {
        after_id: Some(1),
        ..at_most(10)
    };
    assert_eq!(kept.find(&after, "till"), (vec![2], None));
}

#[test]
fn a_search_looks_at_so_many_events_and_goes_on_where_it_stopped() {
    let mut kept = Kept::new();
    kept.call_often(4200);
    let (first, reached) = kept.find(&at_most(100), "needle");
    assert_eq!((first.len(), reached), (40, Some(201)));
    let further = LogFilter {
        before_id: reached,
        ..at_most(100)
    };
    let (rest, reached) = kept.find(&further, "needle");
    assert_eq!((rest, reached), (vec![101, 1], None));
    // Enough is enough, and filters narrow what is looked at.
    let (some, reached) = kept.find(&at_most(3), "needle");
    assert_eq!((some, reached), (vec![4101, 4001, 3901], None));
    let of_one = LogFilter {
        session: Some("s1".into()),
        ..at_most(100)
    };
    let (some, reached) = kept.find(&of_one, "needle");
    assert_eq!((some.len(), some[0], reached), (14, 4001, None));
    // Where they lie apart, it stops sooner.
    let of_all = LogFilter {
        session: Some("s".into()),
        ..at_most(100)
    };
    let (some, reached) = kept.find(&of_all, "needle");
    assert_eq!((some.len(), some[0], reached), (20, 4101, Some(2201)));
}

#[test]
fn a_search_in_very_long_payloads_ends_sooner() {
    let mut kept = Kept::new();
    for _ in 0..200 {
        kept.take(prompt("s", &"x".repeat(60_000)));
    }
    let (found, reached) = kept.find(&at_most(10), "needle");
    assert!(
        found.is_empty() && reached.is_some_and(|reached| reached > 1),
        "{reached:?}"
    );
}

#[test]
fn a_line_has_what_was_said_but_not_what_was_sent() {
    let mut kept = Kept::new();
    kept.take(prompt("s", "Do it."));
    kept.take(
        sent("PreToolUse", "s")
            .with("tool_name", "Bash")
            .with("prompt", "not said"),
    );
    kept.take(stop("s", "Done."));
    kept.take(stop("s", "  "));
    let lines = kept.store.log_lines(&at_most(10), None).unwrap().lines;
    let said: Vec<_> = lines.iter().map(|line| line.said.as_deref()).collect();
    assert_eq!(said, [None, Some("Done."), None, Some("Do it.")]);
    assert!(lines.iter().all(|line| line.entry.payload.is_null()));
    let events = kept.store.log(&at_most(10)).unwrap();
    for (line, event) in lines.iter().zip(events) {
        assert!(event.payload.is_object());
        assert_eq!((line.entry.id, &line.entry.event), (event.id, &event.event));
    }
}

#[test]
fn one_event_is_told_with_everything_that_hangs_on_it() {
    let mut kept = Kept::new();
    let mut call = sent("PreToolUse", "s")
        .with("tool_name", "Bash")
        .at(3)
        .observed_in(&kept.project());
    call.judgement = Some(Judgement {
        runs: vec![Run {
            command: "true".into(),
            status: "ok".into(),
            ..Run::default()
        }],
        guard: vec![GuardVerdict {
            decision: "deny".into(),
            rule: "some-rule".into(),
            tier: "t".into(),
            reason: "no".into(),
            advice: None,
            would: None,
            of_changed_input: false,
        }],
        ..Judgement::default()
    });
    kept.store.ingest(call).unwrap();
    let event = kept.store.event(1).unwrap().unwrap();
    assert_eq!((event.entry.at, event.entry.tool.as_deref()), (at(3), Some("Bash")));
    assert_eq!(event.entry.payload["tool_name"], "Bash");
    assert_eq!(
        (
            event.hook_runs[0].command.as_str(),
            event.guard_verdicts[0].rule.as_str()
        ),
        ("true", "some-rule")
    );
    assert_eq!(kept.store.event(2).unwrap(), None);
}

#[test]
fn projects_are_listed_by_name() {
    let mut kept = Kept::new();
    for name in ["b", "a", "c"] {
        let path = kept.other_project(name);
        kept.take(sent("SessionStart", name).with("cwd", path));
    }
    let names = |kept: &mut Kept, most| -> Vec<_> {
        let projects = kept.store.projects(most).unwrap();
        projects.into_iter().map(|project| project.name).collect()
    };
    assert_eq!(names(&mut kept, 10), ["a", "b", "c"]);
    assert_eq!(names(&mut kept, 2), ["a", "b"]);
}

#[test]
fn a_tool_is_found_however_its_letters_are_written() {
    let mut kept = Kept::new();
    for (number, tool) in ["Bash", "bash", "Read", "mcp__Mail__send"].iter().enumerate() {
        kept.take(sent("PreToolUse", "s").with("tool_name", *tool).at(number as i64));
    }
    let cases: [(&str, &[i64]); 6] = [
        ("Bash", &[2, 1]),
        ("BASH", &[2, 1]),
        ("read", &[3]),
        ("MCP__mail__SEND", &[4]),
        ("Bas", &[]),
        ("B_sh", &[]),
    ];
    for (tool, expected) in cases {
        for project_id in [None, Some(1)] {
            let filter = LogFilter {
                tool: Some(tool.into()),
                project_id,
                limit: 10,
                ..LogFilter::default()
            };
            let found: Vec<_> = kept.store.log(&filter).unwrap().iter().map(|entry| entry.id).collect();
            assert_eq!(found, expected, "{tool} {project_id:?}");
        }
    }
}
