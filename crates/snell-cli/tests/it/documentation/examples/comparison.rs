//! What is written against what came: times, sizes and ports differ, and `…` stands for whatever is there.

use super::ConsoleStep;

/// What follows a number that differs each time.
const UNITS: &[&str] = &[" ms", "s ago", " KiB", " MiB"];

/// Text in which every number that differs each time is the same.
pub fn normalize_text(text: &str) -> String {
    let mut lines = String::new();
    for line in text.split_inclusive('\n') {
        lines += &zero_measurements(&zero_log_time(line));
    }
    lines
}

/// A line whose measured numbers are 0.
fn zero_measurements(line: &str) -> String {
    let mut told = String::new();
    let mut rest = line;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, number) = rest.split_at(at);
        let end = number.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(number.len());
        let (digits, after) = number.split_at(end);
        told += before;
        told += if UNITS.iter().any(|unit| after.starts_with(unit)) { "0" } else { digits };
        rest = after;
    }
    told + rest
}

/// A line of the log without the time at which it begins.
fn zero_log_time(line: &str) -> String {
    let begins = line.as_bytes().get(..9).is_some_and(|begin| {
        let pattern = b"00:00:00 ";
        begin.iter().zip(pattern).all(|(c, p)| if *p == b'0' { c.is_ascii_digit() } else { c == p })
    });
    if begins { format!("00:00:00{}", &line[8..]) } else { line.to_owned() }
}

/// A line of the demo in which every number is the same: its clock, ports, processes and times.
pub fn zero_numbers(line: &str) -> String {
    let mut told = String::new();
    for c in line.chars() {
        match c {
            '0'..='9' | '.' if told.ends_with('0') => {}
            '0'..='9' => told.push('0'),
            c => told.push(c),
        }
    }
    told
}

/// Whether a line is as it is written, where `…` stands for any text.
pub fn matches_line(written: &str, came: &str) -> bool {
    let Some((before, after)) = written.split_once('…') else {
        return written == came;
    };
    let rest = came.strip_prefix(before);
    rest.is_some_and(|rest| (0..=rest.len()).any(|at| rest.get(at..).is_some_and(|rest| matches_line(after, rest))))
}

/// Whether all lines are as they are written, where a line that is nothing but `…` stands for any number of them.
fn matches_lines(written: &[String], came: &[String]) -> bool {
    let Some((first, others)) = written.split_first() else {
        return came.is_empty();
    };
    if first.trim() == "…" {
        return (0..=came.len()).any(|skipped| matches_lines(others, &came[skipped..]));
    }
    let Some((line, rest)) = came.split_first() else {
        return false;
    };
    matches_line(&normalize_text(first), line) && matches_lines(others, rest)
}

/// Both texts, if they do not fit.
pub fn describe_difference(page: &str, step: &ConsoleStep, came: &[String]) -> Option<String> {
    let (written, came_text) = (step.expected.join("\n"), came.join("\n"));
    let told = format!("{page}\n$ {}\n--- written\n{written}\n--- came\n{came_text}\n", step.typed);
    (!matches_lines(&step.expected, came)).then_some(told)
}

#[test]
fn what_differs_each_time_fits_and_nothing_else_does() {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let cases = [
        ("exit code 0, 4 ms", "exit code 0, 4.25 ms", true),
        ("exit code 0, 4 ms", "exit code 1, 4 ms", false),
        ("12:00:00    1  api", "23:59:59    1  api", true),
        ("12:00:00    1  api", "23:59:59    2  api", false),
        ("a\n…\nd", "a\nb\nc\nd", true),
        ("a\n…\nd", "a\nb\nc", false),
        ("say … now", "say it now", true),
        ("say … now", "say it", false),
        ("say …", "say anything", true),
        ("a", "a\nb", false),
        ("a\nb", "a", false),
    ];
    for (written, came, fit) in cases {
        assert_eq!(matches_lines(&lines(written), &lines(&normalize_text(came))), fit, "{written:?} and {came:?}");
    }
}
