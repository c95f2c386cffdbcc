//! Old requests become sums, which stay.

use snell_store::UsageFilter;
use snell_store::usage::UsageBreakdown;

use super::{UsageSandbox, answer, lines, prompt};

#[test]
fn pruning_keeps_the_sums_and_nothing_counts_again() {
    let mut kept = UsageSandbox::new("claude");
    let text = lines(&[prompt("s", 0), answer("s", 1, 5), answer("s", 20, 6), answer("s", 40, 7)]);
    kept.write("p/s.jsonl", &text);
    kept.count();
    let (before, days) = (kept.total(), kept.summarize(UsageBreakdown::Day));
    kept.store.prune("2026-03-01T10:30:00Z".parse().unwrap(), &mut |_| {}).unwrap();
    assert_eq!(kept.total(), before);
    let after = kept.summarize(UsageBreakdown::Day);
    assert_eq!(after.parts[0].cost, days.parts[0].cost);
    assert_eq!(kept.store.read_usage_version().unwrap().0, 1, "two of three requests are sums now");
    // A copy of the session has requests that are only in the sums.
    kept.write("p/copy.jsonl", &text);
    kept.count();
    assert_eq!(kept.total(), before);
    let sessions = kept.summarize(UsageBreakdown::Session).parts;
    let names: Vec<_> = sessions.iter().map(|part| part.key.session_id.clone().unwrap()).collect();
    assert_eq!(names.len(), 2);
    assert!(names.contains(&"s".to_owned()) && names.contains(&String::new()), "{names:?}");
    let of_project = UsageFilter { project: Some("/work/api".into()), ..UsageFilter::default() };
    let sums = kept.store.summarize_usage(UsageBreakdown::Project.grouping(), &of_project).unwrap();
    assert_eq!(sums.iter().map(|sum| sum.requests).sum::<i64>(), 3, "sums know their project");
}
