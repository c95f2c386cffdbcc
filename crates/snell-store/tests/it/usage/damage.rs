//! Files that are cut, repeated, truncated, replaced or hostile.

use std::fs::{self, OpenOptions};
use std::io::Write;

use proptest::prelude::*;
use serde_json::json;
use snell_store::usage::UsageBreakdown;

use super::{UsageSandbox, answer, lines, prompt};

fn build_transcript() -> String {
    let mut all = Vec::new();
    for number in 0..6 {
        all.extend([prompt("s", number), answer("s", number, 1), answer("s", number, u64::from(number) * 100)]);
    }
    lines(&all)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn a_file_that_is_read_while_it_grows_counts_as_a_whole_one(cuts in prop::collection::vec(0usize..9000, 1..4)) {
        let text = build_transcript();
        let mut whole = UsageSandbox::new("claude");
        whole.write("p/s.jsonl", &text);
        whole.count();
        let mut cut = UsageSandbox::new("claude");
        let mut cuts: Vec<_> = cuts.into_iter().map(|at| at.min(text.len())).collect();
        cuts.sort_unstable();
        for end in cuts {
            let path = cut.transcripts().join("s.jsonl");
            let grown = fs::metadata(&path).map_or(0, |metadata| metadata.len() as usize);
            let mut file = OpenOptions::new().create(true).append(true).open(path).unwrap();
            file.write_all(&text.as_bytes()[grown..end.max(grown)]).unwrap();
            cut.count();
        }
        let path = cut.transcripts().join("s.jsonl");
        let grown = fs::metadata(&path).unwrap().len() as usize;
        OpenOptions::new().append(true).open(path).unwrap().write_all(&text.as_bytes()[grown..]).unwrap();
        cut.count();
        prop_assert_eq!(cut.total(), whole.total());
    }

    #[test]
    fn copies_of_lines_in_any_order_change_nothing(order in prop::collection::vec(0usize..18, 0..40)) {
        let text = build_transcript();
        let mut kept = UsageSandbox::new("claude");
        kept.write("p/s.jsonl", &text);
        kept.count();
        let expected = kept.total();
        let all: Vec<_> = text.lines().collect();
        kept.write("q/copy.jsonl", order.iter().map(|index| format!("{}\n", all[*index])).collect::<String>());
        kept.count();
        prop_assert_eq!(kept.total(), expected);
    }

    #[test]
    fn no_bytes_stop_the_count(noise in prop::collection::vec(any::<u8>(), 0..400)) {
        let mut kept = UsageSandbox::new("claude");
        let mut content = noise;
        content.push(b'\n');
        content.extend(lines(&[answer("s", 1, 5)]).bytes());
        kept.write("p/s.jsonl", &content);
        kept.count();
        prop_assert_eq!(kept.total().0, 1);
    }
}

#[test]
fn a_truncated_or_replaced_file_is_read_from_its_start() {
    let mut kept = UsageSandbox::new("claude");
    kept.write("p/s.jsonl", build_transcript());
    kept.count();
    let before = kept.total();
    kept.write("p/s.jsonl", lines(&[answer("s", 0, 1)]));
    kept.count();
    assert_eq!(kept.total(), before, "its requests are known");
    kept.write("p/s.jsonl", lines(&[answer("s", 0, 1), answer("s", 20, 3)]));
    kept.count();
    let path = kept.transcripts().join("p/s.jsonl");
    fs::rename(&path, path.with_extension("old")).unwrap();
    kept.write("p/s.jsonl", lines(&[answer("s", 21, 4)]));
    kept.count();
    assert_eq!(kept.total().0, before.0 + 2);
    assert_eq!(kept.total().1.output, before.1.output + 7);
}

#[test]
fn nothing_is_read_again_unless_a_file_changes() {
    let mut kept = UsageSandbox::new("claude");
    // The last line is incomplete.
    kept.write("p/s.jsonl", format!("{}{{\"type\":\"assis", build_transcript()));
    kept.count();
    let before = kept.total();
    assert_eq!(kept.count(), 1);
    assert_eq!(kept.total(), before);
}

#[test]
fn numbers_that_no_request_has_do_not_count() {
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let cases = [
        "-5".to_owned(),
        "1.5".into(),
        "1e30".into(),
        "18446744073709551615".into(),
        "9223372036854775807".into(),
        "10000000001".into(),
        "\"12\"".into(),
        "true".into(),
        "[1]".into(),
        "{\"a\":1}".into(),
        "NaN".into(),
        deep,
    ];
    let mut kept = UsageSandbox::new("claude");
    let mut text = lines(&[answer("s", 99, 5)]);
    for (number, hostile) in cases.iter().enumerate() {
        let line = answer("s", u32::try_from(number).unwrap(), 0).to_string();
        text.push_str(&line.replace("\"input_tokens\":10", &format!("\"input_tokens\":{hostile}")));
        text.push('\n');
    }
    let mut nothing = answer("s", 98, 5);
    nothing["message"]["usage"]["input_tokens"] = json!(null);
    text.push_str(&lines(&[nothing]));
    kept.write("p/s.jsonl", text);
    kept.count();
    let (requests, tokens) = kept.total();
    assert_eq!((requests, tokens.input, tokens.output), (2, 10, 10));
}

#[test]
fn sums_of_the_largest_numbers_do_not_overflow() {
    let mut kept = UsageSandbox::new("claude");
    let line = |number: u32| {
        let mut line = answer("s", number, 0);
        line["message"]["usage"]["input_tokens"] = json!(10_000_000_000_u64);
        line
    };
    kept.write("p/s.jsonl", lines(&(0..200).map(line).collect::<Vec<_>>()));
    kept.count();
    let total = kept.summarize(UsageBreakdown::Day).total.unwrap();
    assert_eq!(total.tokens.input, 2_000_000_000_000);
    assert!(total.cost.usd().unwrap() > 6_000_000.0);
}

#[test]
fn a_line_of_a_hundred_megabytes_is_skipped() {
    let mut kept = UsageSandbox::new("claude");
    let path = kept.transcripts().join("s.jsonl");
    let mut file = fs::File::create(path).unwrap();
    write!(file, "{}{{\"x\":\"", lines(&[answer("s", 1, 5)])).unwrap();
    let chunk = vec![b'x'; 1024 * 1024];
    for _ in 0..100 {
        file.write_all(&chunk).unwrap();
    }
    write!(file, "\"}}\n{}", lines(&[answer("s", 2, 6)])).unwrap();
    assert!(kept.count() > 5, "it is read in steps");
    assert_eq!((kept.total().0, kept.total().1.output), (2, 11));
}

#[test]
fn directories_symlinks_and_pipes_are_no_transcripts() {
    let mut kept = UsageSandbox::new("claude");
    kept.write("p/s.jsonl", lines(&[answer("s", 1, 5)]));
    fs::create_dir(kept.transcripts().join("d.jsonl")).unwrap();
    std::os::unix::fs::symlink(kept.transcripts(), kept.transcripts().join("loop")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", kept.transcripts().join("zero.jsonl")).unwrap();
    kept.count();
    assert_eq!(kept.total().0, 1);
}
