//! The same files, counted a second time by other means: a text is searched for numbers, without a JSON parser, and all files are
//! read at once.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::json;
use snell_store::usage::TokenCounts;

use super::{UsageSandbox, answer, lines, prompt};

/// The text between a key and the next comma, brace or quote.
fn value_after<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let start = text.find(&format!("\"{key}\":"))? + key.len() + 3;
    let rest = text[start..].trim_start_matches('"');
    rest.split([',', '}', '"']).next()
}

fn count_files(directory: &Path, found: &mut BTreeMap<String, TokenCounts>) {
    for entry in fs::read_dir(directory).unwrap().flatten() {
        if entry.path().is_dir() {
            count_files(&entry.path(), found);
            continue;
        }
        let text = fs::read_to_string(entry.path()).unwrap();
        for line in text.lines().filter(|line| line.contains("\"type\":\"assistant\"") && !line.contains("<synthetic>"))
        {
            // `iterations` comes after the counts only by chance: it is cut out.
            let (head, tail) = line.split_once("\"iterations\":[").unwrap_or((line, "]"));
            let line = format!("{head}{}", tail.split_once(']').unwrap().1);
            let number = |key| value_after(&line, key).map_or(0, |text| text.parse().unwrap());
            let id = format!("{}/{}", value_after(&line, "requestId").unwrap(), value_after(&line, "id").unwrap());
            let best = found.entry(id).or_default();
            best.input = best.input.max(number("input_tokens"));
            best.output = best.output.max(number("output_tokens"));
            best.cache_read = best.cache_read.max(number("cache_read_input_tokens"));
            best.cache_write = best.cache_write.max(number("cache_creation_input_tokens"));
            best.cache_write_1h = best.cache_write_1h.max(number("ephemeral_1h_input_tokens"));
        }
    }
}

#[test]
fn another_count_of_the_same_files_has_the_same_result() {
    let mut kept = UsageSandbox::new("claude");
    let mut seed = 7_u64;
    let mut random = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    for file in 0..8_u32 {
        let session = format!("s{file}");
        let mut all = Vec::new();
        for _ in 0..60 {
            // Some requests are in several files.
            let number = u32::try_from(random(300)).unwrap();
            let mut line = answer(&session, number, random(5000));
            line["message"]["usage"]["input_tokens"] = json!(random(100_000));
            if random(20) == 0 {
                line["message"]["model"] = json!("<synthetic>");
            }
            if random(5) == 0 {
                all.push(prompt(&session, number));
            }
            all.push(line);
        }
        let path =
            if file % 3 == 0 { format!("p/s0/subagents/agent-{file}.jsonl") } else { format!("p/{session}.jsonl") };
        kept.write(&path, lines(&all));
        if file % 2 == 0 {
            kept.count();
        }
    }
    kept.count();
    let mut found = BTreeMap::new();
    count_files(&kept.transcripts(), &mut found);
    let mut expected = TokenCounts::default();
    for tokens in found.values() {
        expected += *tokens;
    }
    assert!(found.len() > 200 && expected.input > 1_000_000);
    assert_eq!(kept.total(), (i64::try_from(found.len()).unwrap(), expected));
}

#[test]
fn another_count_of_kimis_and_vibes_files_has_the_same_result() {
    let mut seed = 11_u64;
    let mut random = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let (mut kimi, mut vibe) = (UsageSandbox::new("kimi"), UsageSandbox::new("vibe"));
    for file in 0..6 {
        let records: Vec<_> = (0..40)
            .map(|_| {
                let usage = json!({"inputOther": random(9000), "output": random(900), "inputCacheRead": random(9000),
                "inputCacheCreation": random(90)});
                // Some records are at the same time, and some lines are about something else.
                let kind = if random(4) == 0 { "step.end" } else { "usage.record" };
                json!({"type": kind, "model": "k3", "usage": usage, "time": 1_772_359_200_000_u64 + random(5)})
            })
            .collect();
        kimi.write(&format!("wd/session_{}/agents/agent{}/wire.jsonl", file / 2, file % 2), lines(&records));
        let stats = json!({"steps": 2, "session_prompt_tokens": 9000 + random(9000),
            "session_completion_tokens": random(900), "session_cached_tokens": random(9000)});
        let meta = json!({"session_id": format!("s{file}"), "start_time": "2026-03-01T10:00:00Z", "stats": stats});
        vibe.write(&format!("session_{file}/meta.json"), serde_json::to_string_pretty(&meta).unwrap());
        kimi.count();
        vibe.count();
    }
    let sum = |sandbox: &UsageSandbox, needed: &str, key: &str| -> i64 {
        let mut texts = Vec::new();
        collect_texts(&sandbox.transcripts(), &mut texts);
        let lines = texts.iter().flat_map(|text| text.lines()).filter(|line| line.contains(needed));
        lines.filter_map(|line| value_after(&line.replace(": ", ":"), key)?.trim().parse::<i64>().ok()).sum()
    };
    let of_kimi = |key: &str| sum(&kimi, "usage.record", key);
    let expected = TokenCounts {
        input: of_kimi("inputOther"),
        output: of_kimi("output"),
        cache_read: of_kimi("inputCacheRead"),
        cache_write: of_kimi("inputCacheCreation"),
        cache_write_1h: 0,
    };
    assert!(expected.input > 100_000);
    assert_eq!(kimi.total().1, expected);
    let of_vibe = |key: &str| sum(&vibe, key, key);
    let cached = of_vibe("session_cached_tokens");
    let expected = TokenCounts {
        input: of_vibe("session_prompt_tokens") - cached,
        output: of_vibe("session_completion_tokens"),
        cache_read: cached,
        ..TokenCounts::default()
    };
    assert_eq!(vibe.total(), (12, expected));
}

fn collect_texts(directory: &Path, texts: &mut Vec<String>) {
    for entry in fs::read_dir(directory).unwrap().flatten() {
        if entry.path().is_dir() {
            collect_texts(&entry.path(), texts);
        } else {
            texts.push(fs::read_to_string(entry.path()).unwrap());
        }
    }
}
