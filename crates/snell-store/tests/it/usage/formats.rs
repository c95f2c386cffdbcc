//! The files of other agents.

use std::fs;

use serde_json::{Value, json};
use snell_store::usage::{TokenCounts, UsageBreakdown};

use super::{UsageSandbox, lines};

/// Tokens without an hour in a cache.
fn tokens(input: i64, output: i64, cache_read: i64, cache_write: i64) -> TokenCounts {
    TokenCounts { input, output, cache_read, cache_write, cache_write_1h: 0 }
}

fn codex_meta(session: &str) -> Value {
    json!({"timestamp": "2026-03-01T10:00:00Z", "type": "session_meta", "payload": {"id": session, "cwd": "/work/api"}})
}

fn codex_turn(turn: &str, minute: u32) -> Value {
    let payload = json!({"turn_id": turn, "cwd": "/work/api", "model": "gpt-5.4"});
    json!({"timestamp": format!("2026-03-01T10:{minute:02}:00Z"), "type": "turn_context", "payload": payload})
}

/// The totals of a session, of which half of the input was cached.
fn codex_count(total: u64, last: u64, minute: u32) -> Value {
    let counts =
        |input: u64| json!({"input_tokens": input, "cached_input_tokens": input / 2, "output_tokens": 5 * input});
    let info = json!({"total_token_usage": counts(total), "last_token_usage": counts(last)});
    let payload = json!({"type": "token_count", "info": info});
    json!({"timestamp": format!("2026-03-01T10:{minute:02}:30Z"), "type": "event_msg", "payload": payload})
}

#[test]
fn codex_counts_repeat_and_forks_begin_with_a_copy() {
    let mut kept = UsageSandbox::new("codex");
    let original = [
        codex_meta("one"),
        codex_turn("t1", 1),
        json!({"type": "event_msg", "payload": {"type": "token_count", "info": null}}),
        codex_count(100, 100, 1),
        codex_count(100, 100, 1),
        codex_turn("t2", 2),
        // It is repeated when a turn starts.
        codex_count(100, 100, 1),
        codex_turn("t2", 2),
        codex_count(300, 200, 2),
    ];
    kept.write("2026/03/01/rollout-one.jsonl", lines(&original));
    kept.count();
    assert_eq!(kept.total(), (2, tokens(150, 1500, 150, 0)));
    let mut fork = vec![codex_meta("two")];
    fork.extend(original.clone().map(|mut line| {
        line["timestamp"] = json!("2026-03-01T10:02:59Z");
        line
    }));
    fork.extend([codex_turn("t3", 3), codex_count(400, 100, 3)]);
    kept.write("2026/03/01/rollout-two.jsonl", lines(&fork));
    kept.write("2026/03/01/notes.jsonl", lines(&original));
    kept.count();
    assert_eq!(kept.total(), (3, tokens(200, 2000, 200, 0)));
    let sessions = kept.summarize(UsageBreakdown::Session).parts;
    let requests: Vec<_> = sessions.iter().map(|part| (part.key.session_id.clone().unwrap(), part.requests)).collect();
    assert_eq!(requests, [("one".to_owned(), 2), ("two".to_owned(), 1)]);
    assert_eq!(kept.summarize(UsageBreakdown::Turn).parts.len(), 3);
    assert_eq!(sessions[0].key.project.as_deref(), Some("/work/api"));
    // 100 tokens of input, 100 from the cache, 1000 of output …
    assert!((sessions[1].cost.usd().unwrap() - (50.0 * 2.5 + 50.0 * 0.25 + 500.0 * 15.0) / 1e6).abs() < 1e-9);
}

#[test]
fn copilot_totals_of_a_resumed_session_are_differences() {
    let mut kept = UsageSandbox::new("copilot");
    let usage = |input: u64, output: u64, read: u64, write: u64, count: u64| {
        let usage =
            json!({"inputTokens": input, "outputTokens": output, "cacheReadTokens": read, "cacheWriteTokens": write});
        json!({"requests": {"count": count, "cost": 0.33}, "usage": usage})
    };
    let end = |id: &str, metrics: Value| json!({"type": "session.shutdown", "id": id, "timestamp": "2026-03-01T10:00:00Z", "data": {"modelMetrics": metrics}});
    let start = json!({"type": "session.start", "data": {"sessionId": "s", "context": {"cwd": "/work/api"}}});
    let first = end("e1", json!({"claude-haiku-4.5": usage(12_612, 35, 2, 12_600, 1)}));
    let both = json!({"claude-haiku-4.5": usage(12_612, 35, 2, 12_600, 1), "gpt-5-mini": usage(100, 10, 40, 0, 3)});
    kept.write("s/events.jsonl", lines(&[start.clone(), first.clone()]));
    kept.count();
    assert_eq!(kept.total(), (1, tokens(10, 35, 2, 12_600)));
    kept.write("s/events.jsonl", lines(&[start, first, json!({"type": "session.resume"}), end("e2", both)]));
    kept.count();
    assert_eq!(kept.total(), (4, tokens(70, 45, 42, 12_600)));
    // Another session begins with totals of its own.
    let other = json!({"type": "session.start", "data": {"sessionId": "t"}});
    let before = end("e3", json!({"gpt-5-mini": usage(500, 5, 0, 0, 1)}));
    let after = end("e4", json!({"gpt-5-mini": usage(400, 4, 0, 0, 1)}));
    let first = json!({"type": "session.start", "data": {"sessionId": "u"}});
    kept.write("t/events.jsonl", lines(&[first, before, other, after]));
    kept.count();
    assert_eq!(kept.total(), (6, tokens(970, 54, 42, 12_600)));
}

#[test]
fn gemini_messages_that_a_resumed_session_repeats_count_once() {
    let mut kept = UsageSandbox::new("gemini");
    let message = |id: &str, input: u64| {
        let counts = json!({"input": input, "output": 1, "cached": 30, "thoughts": 20, "tool": 4, "total": input + 25});
        json!({"id": id, "timestamp": "2026-03-01T10:00:00Z", "type": "gemini", "tokens": counts, "model": "gemini-2.5-pro"})
    };
    let head = |session: &str| json!({"sessionId": session, "projectHash": "x", "startTime": "2026-03-01T10:00:00Z"});
    let user =
        json!({"id": "u1", "timestamp": "2026-03-01T09:59:00Z", "type": "user", "content": [{"text": "Go on."}]});
    kept.write("p/chats/session-1.jsonl", lines(&[head("s1"), user.clone(), message("m1", 100)]));
    let repeated = json!({"$set": {"messages": [user, message("m1", 100)], "lastUpdated": "2026-03-01T10:00:00Z"}});
    kept.write("p/chats/session-2.jsonl", lines(&[head("s2"), repeated, message("m2", 50)]));
    kept.write("p/logs.jsonl", lines(&[message("m3", 50)]));
    kept.count();
    assert_eq!(kept.total(), (2, tokens(70 + 4 + 20 + 4, 42, 60, 0)));
}

#[test]
fn qwen_thoughts_are_output_once() {
    let mut kept = UsageSandbox::new("qwen");
    let answer = |uuid: &str, total: u64| {
        let counts = json!({"promptTokenCount": 100, "candidatesTokenCount": 30, "thoughtsTokenCount": 10,
            "cachedContentTokenCount": 40, "totalTokenCount": total});
        json!({"uuid": uuid, "sessionId": "s", "timestamp": "2026-03-01T10:00:00Z", "type": "assistant", "cwd": "/work/api",
            "model": "qwen3-coder-plus", "usageMetadata": counts})
    };
    kept.write("p/chats/s.jsonl", lines(&[answer("a", 140), answer("b", 130), answer("a", 140)]));
    kept.count();
    assert_eq!(kept.total(), (2, tokens(120, 40 + 30, 80, 0)));
    let total = kept.summarize(UsageBreakdown::Product).total.unwrap();
    assert_eq!(total.cost.usd(), None);
}

#[test]
fn pi_reports_its_own_cost_which_counts_for_models_without_a_price() {
    let mut kept = UsageSandbox::new("pi");
    let head = json!({"type": "session", "id": "s", "timestamp": "2026-03-01T10:00:00Z", "cwd": "/work/api"});
    let answer = |id: &str, model: &str, cost: f64| {
        let usage = json!({"input": 10, "output": 5, "cacheRead": 3, "cacheWrite": 2, "cost": {"total": cost}});
        json!({"type": "message", "id": id, "timestamp": "2026-03-01T10:00:01Z",
            "message": {"role": "assistant", "model": model, "usage": usage}})
    };
    let messages = [answer("a", "new-model", 0.25), answer("b", "new-model", 0.0), answer("c", "gpt-5", 9.0)];
    kept.write("p/s.jsonl", lines(&[&[head][..], &messages].concat()));
    kept.write("p/branch.jsonl", lines(&messages));
    kept.count();
    assert_eq!(kept.total(), (3, tokens(30, 15, 9, 6)));
    let total = kept.summarize(UsageBreakdown::Product).total.unwrap();
    assert!(total.cost.is_partial());
    let of_gpt = (12.0 * 1.25 + 5.0 * 10.0 + 3.0 * 0.125) / 1e6;
    assert!((total.cost.usd().unwrap() - 0.25 - of_gpt).abs() < 1e-9, "{total:?}");
}

#[test]
fn noise_in_any_format_is_no_usage() {
    for product in ["claude", "codex", "copilot", "gemini", "pi", "qwen"] {
        let mut kept = UsageSandbox::new(product);
        let hostile = [
            json!(null),
            json!([]),
            json!("text"),
            json!({"type": 5}),
            json!({"type": "message", "id": "x", "timestamp": "2026-03-01T10:00:00Z", "message": {"role": "assistant", "usage": {"input": -1}}}),
            json!({"type": "event_msg", "payload": {"type": "token_count", "info": {"total_token_usage": {"input_tokens": "12"}}}}),
            json!({"type": "gemini", "id": "x", "tokens": {"input": 1.5}}),
            json!({"type": "session.shutdown", "id": "x", "data": {"modelMetrics": {"m": {"usage": {"inputTokens": 1e300}}}}}),
            json!({"type": "assistant", "uuid": "x", "usageMetadata": {"promptTokenCount": [1]}}),
        ];
        for path in ["s.jsonl", "rollout-s.jsonl", "s/events.jsonl", "p/chats/s.jsonl"] {
            kept.write(path, lines(&hostile));
        }
        fs::write(kept.transcripts().join("chats.jsonl"), [0xff, 0, b'\n', b'{']).unwrap();
        kept.count();
        assert_eq!(kept.total().0, 0, "{product}");
    }
}

fn kimi_record(minute: i64, input: u64) -> Value {
    let usage = json!({"inputOther": input, "output": 7, "inputCacheRead": 3 * input, "inputCacheCreation": 2});
    json!({"type": "usage.record", "model": "kimi-code/k3", "usage": usage, "usageScope": "turn",
        "time": 1_772_359_200_000 + minute * 60_000})
}

#[test]
fn kimi_records_count_once_by_their_place_in_their_file() {
    let mut kept = UsageSandbox::new("kimi");
    let step_end =
        json!({"type": "context.append_loop_event", "event": {"type": "step.end", "usage": {"inputOther": 9}}});
    let mut main = vec![
        json!({"type": "metadata", "protocol_version": "1.5", "created_at": 1}),
        json!({"type": "config.update", "cwd": "/work/api"}),
        json!({"type": "turn.prompt", "origin": {"kind": "user"}, "time": 1_772_359_200_000_i64}),
        step_end,
        kimi_record(1, 10),
        // The same numbers at the same time are another request.
        kimi_record(1, 10),
    ];
    kept.write("wd_api/session_1/agents/main/wire.jsonl", lines(&main));
    let cwd = main[1].clone();
    kept.write("wd_api/session_1/agents/sub/wire.jsonl", lines(&[cwd, kimi_record(1, 5)]));
    kept.write("wd_api/session_1/notes/wire.jsonl", lines(&main));
    kept.count();
    assert_eq!(kept.total(), (3, tokens(25, 21, 75, 6)));
    main.push(kimi_record(2, 100));
    kept.write("wd_api/session_1/agents/main/wire.jsonl", lines(&main));
    kept.count();
    assert_eq!(kept.total(), (4, tokens(125, 28, 375, 8)));
    let session = kept.summarize(UsageBreakdown::Session).parts.remove(0);
    assert_eq!((session.key.session_id.as_deref(), session.requests), (Some("session_1"), 4));
    assert_eq!(kept.summarize(UsageBreakdown::Turn).parts.len(), 1);
}

#[test]
fn vibe_totals_of_a_session_grow_with_its_file() {
    let mut kept = UsageSandbox::new("vibe");
    let write = |kept: &UsageSandbox, session: &str, prompt: u64, steps: u64| {
        let meta = json!({
            "session_id": session, "start_time": "2026-03-01T10:00:00+00:00", "config": {"active_model": "devstral-2"},
            "environment": {"working_directory": "/work/api"}, "total_messages": 4,
            "stats": {"steps": steps, "session_prompt_tokens": prompt, "session_completion_tokens": 20,
                "session_cached_tokens": prompt / 2, "session_cost": 0.25},
        });
        kept.write(&format!("session_{session}/meta.json"), serde_json::to_string_pretty(&meta).unwrap());
    };
    write(&kept, "a", 100, 1);
    write(&kept, "b", 10, 1);
    kept.write("session_c/meta.json", "{\"session_id\": \"c\", \"stats\": {\"steps\"");
    kept.count();
    assert_eq!(kept.total(), (2, tokens(55, 40, 55, 0)));
    write(&kept, "a", 300, 3);
    kept.count();
    assert_eq!(kept.total(), (4, tokens(155, 40, 155, 0)));
    kept.count();
    assert_eq!(kept.total().0, 4);
    let total = kept.summarize(UsageBreakdown::Day).total.unwrap();
    assert_eq!(total.cost.usd(), Some(0.5));
}
