use std::time::{Duration, Instant};

use crate::effects;
use crate::interpret;
use crate::interpret::{CodeLanguage, InlineCode};
use crate::invocation::{Invocation, SymbolicText};
use crate::rules::{RuleDecision, collect_findings};
use crate::test_support::test_context;

/// The rule that matches a command line with inline code.
fn judge_line(line: &str) -> Option<&'static str> {
    let found = interpret::interpret_script(line, &test_context());
    let mut list = effects::collect_effects(&found.invocations, &test_context()).effects;
    for inline in &found.inline {
        list.extend(super::analyze_code(inline, &found.invocations[inline.invocation], &test_context()));
    }
    collect_findings(&list)
        .first()
        .filter(|finding| finding.rule.decision == RuleDecision::Deny)
        .map(|finding| finding.rule.id)
}

/// The string after a key in a row of the corpus, whose rows always have the same format.
fn read_field(row: &str, key: &str) -> String {
    let marks = [format!("\"{key}\":\""), format!("\"{key}\": \"")];
    let Some(start) = marks.iter().find_map(|mark| row.find(mark).map(|at| at + mark.len())) else {
        return String::new();
    };
    let mut text = String::new();
    let mut rest = row[start..].chars();
    while let Some(c) = rest.next() {
        match c {
            '"' => break,
            '\\' => match rest.next() {
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                Some('r') => text.push('\r'),
                Some('u') => {
                    let code: String = rest.by_ref().take(4).collect();
                    text.extend(char::from_u32(u32::from_str_radix(&code, 16).unwrap()));
                }
                Some(other) => text.push(other),
                None => {}
            },
            other => text.push(other),
        }
    }
    text
}

/// `language deny|allow code`, with `\\n` for a new line.
#[test]
fn code_is_judged_as_the_table_says() {
    let mut faults = Vec::new();
    for row in include_str!("cases.txt").lines().filter(|row| !row.is_empty()) {
        let (language, rest) = row.split_once(' ').unwrap();
        let (expected, code) = rest.split_once(' ').unwrap();
        let found = judge_code(language, &code.replace("\\n", "\n"));
        if found.is_some() != (expected == "deny") {
            faults.push(format!("{row}: {found:?}"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn judge_code(language: &str, text: &str) -> Option<&'static str> {
    let code = match language {
        "python" => CodeLanguage::Python,
        "node" => CodeLanguage::Node,
        "perl" => CodeLanguage::Perl,
        "ruby" => CodeLanguage::Ruby,
        "php" => CodeLanguage::Php,
        "lua" => CodeLanguage::Lua,
        "r" => CodeLanguage::R,
        "julia" => CodeLanguage::Julia,
        "elixir" => CodeLanguage::Elixir,
        "applescript" => CodeLanguage::AppleScript,
        "tcl" => CodeLanguage::Tcl,
        other => panic!("no such language: {other}"),
    };
    let inline = InlineCode { language: code, text: SymbolicText::from_text(text), invocation: 0 };
    let invocation = Invocation { cwd: Some(test_context().cwd), ..Invocation::default() };
    let list = super::analyze_code(&inline, &invocation, &test_context());
    collect_findings(&list)
        .first()
        .filter(|finding| finding.rule.decision == RuleDecision::Deny)
        .map(|finding| finding.rule.id)
}

/// The CPU time of this thread, if the system reports it: other processes do not affect it.
fn thread_cpu_time() -> Option<Duration> {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanos = told.split(' ').next()?.parse().ok()?;
    Some(Duration::from_nanos(nanos))
}

#[test]
fn long_and_deep_code_is_read_to_its_end() {
    let (start, before) = (Instant::now(), thread_cpu_time());
    for piece in [
        "(",
        "[",
        "{",
        "x=[x,x]\n",
        "a+",
        "f(",
        "os.remove(",
        "\"",
        "`",
        "q(",
        "x.y.",
        "f'{",
        "<<",
        "<<A\n",
        "exec('",
        "def f(x): f(x)\n",
        "def a",
        "function f(x) { f(x); ",
        "sub f { f(1) } ",
        "while(1){fork;",
        "f = x => f(x);",
        "eval \"",
        "/",
        "for x in ",
    ] {
        let code = piece.repeat(20_000 / piece.len());
        for language in ["python", "node", "perl", "ruby", "php", "lua", "r", "applescript", "tcl"] {
            judge_code(language, &code);
        }
    }
    // Seconds are enough for a debug build; a superlinear algorithm would take minutes.
    let took = thread_cpu_time().map_or(start.elapsed(), |now| now.saturating_sub(before.unwrap_or_default()));
    assert!(took < Duration::from_secs(60), "{took:?}");
}

#[test]
fn the_corpus_of_inline_code_is_judged_as_it_says() {
    let rows = [include_str!("../../corpus/dangerous.jsonl"), include_str!("../../corpus/harmless.jsonl")];
    let (mut denied, mut missed, mut wrong) = (0, Vec::new(), Vec::new());
    for row in rows.iter().flat_map(|rows| rows.lines()) {
        let class = read_field(row, "class");
        if !class.contains("interpreter") && !class.contains("inline") {
            continue;
        }
        let command = read_field(row, "command");
        match (read_field(row, "expected").as_str(), judge_line(&command)) {
            ("deny", Some(_)) => denied += 1,
            ("deny", None) => missed.push(command),
            (_, Some(rule)) => wrong.push(format!("{rule}: {command}")),
            (_, None) => {}
        }
    }
    assert!(wrong.is_empty(), "denied without need:\n{}", wrong.join("\n"));
    let share = denied * 100 / (denied + missed.len());
    assert!(share >= 90, "{denied} denied, {} missed:\n{}", missed.len(), missed.join("\n"));
}

#[test]
fn no_harmless_call_is_denied_for_the_code_in_it() {
    let mut wrong = Vec::new();
    for row in include_str!("../../corpus/harmless.jsonl").lines() {
        let command = read_field(row, "command");
        let found = interpret::interpret_script(&command, &test_context());
        for inline in &found.inline {
            let list = super::analyze_code(inline, &found.invocations[inline.invocation], &test_context());
            wrong.extend(collect_findings(&list).first().map(|finding| format!("{}: {command}", finding.rule.id)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
