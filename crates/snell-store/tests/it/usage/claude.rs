//! Claude Code's files.

use serde_json::json;
use snell_store::UsageFilter;
use snell_store::usage::{TokenCounts, UsageBreakdown};

use super::{UsageSandbox, answer, lines, prompt};

#[test]
fn a_message_of_several_lines_counts_once_with_its_last_counts() {
    let mut kept = UsageSandbox::new("claude");
    kept.write("p/s.jsonl", lines(&[prompt("s", 0), answer("s", 1, 1), answer("s", 1, 7), answer("s", 1, 40)]));
    kept.count();
    let expected = TokenCounts { input: 10, output: 40, cache_read: 100, cache_write: 50, cache_write_1h: 30 };
    assert_eq!(kept.total(), (1, expected));
}

#[test]
fn resumed_and_forked_sessions_and_sub_agents_count_once_each() {
    let mut kept = UsageSandbox::new("claude");
    kept.write("p/s.jsonl", lines(&[prompt("s", 0), answer("s", 1, 5), answer("s", 2, 5)]));
    // A fork has copies with its own session id.
    kept.write("p/fork.jsonl", lines(&[answer("fork", 1, 5), answer("fork", 2, 5), answer("fork", 3, 5)]));
    let mut inner = answer("s", 4, 5);
    inner["isSidechain"] = json!(true);
    inner["agentId"] = json!("a1");
    kept.write("p/s/subagents/agent-a1.jsonl", lines(&[inner.clone()]));
    // Earlier versions wrote the lines of sub-agents into the session's file.
    kept.write("p/old.jsonl", lines(&[inner]));
    kept.count();
    assert_eq!(kept.total().0, 4);
    assert_eq!(kept.total().1.output, 20);
}

#[test]
fn lines_without_a_request_do_not_count() {
    let mut kept = UsageSandbox::new("claude");
    let mut synthetic = answer("s", 1, 5);
    synthetic["message"]["model"] = json!("<synthetic>");
    let mut without_usage = answer("s", 2, 5);
    without_usage["message"].as_object_mut().unwrap().remove("usage");
    let mut without_ids = answer("s", 3, 5);
    for key in ["requestId", "uuid"] {
        without_ids.as_object_mut().unwrap().remove(key);
    }
    without_ids["message"].as_object_mut().unwrap().remove("id");
    let compacted = json!({"type": "system", "subtype": "compact_boundary", "compactMetadata": {"preTokens": 9}});
    kept.write("p/s.jsonl", lines(&[synthetic, without_usage, without_ids, compacted, answer("s", 4, 5)]));
    kept.count();
    assert_eq!(kept.total().0, 1);
}

#[test]
fn a_request_belongs_to_the_turn_before_it_and_so_do_those_of_sub_agents() {
    let mut kept = UsageSandbox::new("claude");
    kept.write("p/s.jsonl", lines(&[prompt("s", 0), answer("s", 1, 1), prompt("s", 10), answer("s", 11, 2)]));
    let mut inner = answer("s", 12, 4);
    inner["isSidechain"] = json!(true);
    kept.write("p/s/subagents/agent-a1.jsonl", lines(&[inner]));
    kept.count();
    let turns = kept.summarize(UsageBreakdown::Turn).parts;
    let shown: Vec<_> = turns.iter().map(|turn| (turn.key.turn_at.unwrap().to_string(), turn.tokens.output)).collect();
    assert_eq!(shown, [("2026-03-01T10:00:00Z".to_owned(), 1), ("2026-03-01T10:10:00Z".to_owned(), 6)]);
}

#[test]
fn a_model_without_a_price_is_unknown_and_a_sum_with_it_is_partial() {
    let mut kept = UsageSandbox::new("claude");
    let mut other = answer("t", 2, 5);
    other["message"]["model"] = json!("claude-nobody-knows");
    kept.write("p/t.jsonl", lines(std::slice::from_ref(&other)));
    kept.count();
    let total = kept.summarize(UsageBreakdown::Day).total.unwrap();
    assert_eq!((total.cost.usd(), total.cost.is_partial()), (None, false));
    let json = serde_json::to_value(&total).unwrap();
    assert_eq!((&json["cost_usd"], &json["unpriced_models"]), (&json!(null), &json!(["claude-nobody-knows"])));
    kept.write("p/s.jsonl", lines(&[answer("s", 1, 1_000_000)]));
    kept.count();
    let total = kept.summarize(UsageBreakdown::Day).total.unwrap();
    assert!(total.cost.is_partial());
    // 15 dollars of output; 10 input, 100 from the cache, 20 and 30 into it.
    let expected = 15.0 + (10.0 * 3.0 + 100.0 * 0.3 + 20.0 * 3.75 + 30.0 * 6.0) / 1e6;
    assert!((total.cost.usd().unwrap() - expected).abs() < 1e-9, "{total:?}");
    let models = kept.summarize(UsageBreakdown::Model).parts;
    assert_eq!(models.iter().filter(|part| part.cost.usd().is_none()).count(), 1);
}

#[test]
fn filters_select_requests() {
    let mut kept = UsageSandbox::new("claude");
    let mut elsewhere = answer("t", 2, 7);
    elsewhere["cwd"] = json!("/work/web");
    kept.write("p/s.jsonl", lines(&[answer("s", 1, 5), elsewhere]));
    kept.count();
    let time = |text: &str| Some(text.parse().unwrap());
    let none = UsageFilter::default;
    let cases = [
        (UsageFilter { since: time("2026-03-01T10:02:00Z"), ..none() }, 7),
        (UsageFilter { until: time("2026-03-01T10:02:00Z"), ..none() }, 5),
        (UsageFilter { project: Some("/work/web".into()), ..none() }, 7),
        (UsageFilter { session_id: Some("s".into()), ..none() }, 5),
        (UsageFilter { product: Some("claude".into()), ..none() }, 12),
        (UsageFilter { product: Some("codex".into()), ..none() }, 0),
        (UsageFilter { agent_id: Some(1), ..none() }, 0),
    ];
    for (filter, expected) in cases {
        let sums = kept.store.summarize_usage(UsageBreakdown::Day.grouping(), &filter).unwrap();
        assert_eq!(sums.iter().map(|sum| sum.tokens.output).sum::<i64>(), expected, "{filter:?}");
    }
}
