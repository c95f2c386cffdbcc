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
