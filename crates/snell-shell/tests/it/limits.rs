//! Texts that would take long, or overflow a limit.

use std::time::{Duration, Instant};

use snell_shell::{SyntaxProblemKind, limits, parse, parse_counting_steps};

/// A mebibyte of everything that can be repeated.
fn list_worst_texts() -> Vec<(&'static str, String)> {
    let many = |text: &str| text.repeat(limits::TEXT_BYTES / text.len());
    let documents = |count: usize| -> String {
        let marks: String = (0..count).map(|i| format!(" <<M{i}")).collect();
        let bodies: String = (0..count).map(|i| format!("x $y\nM{i}\n")).collect();
        format!("cat{marks}\n{bodies}")
    };
    let below = (0..10_000).map(|i| format!("cat <<M{i}\nx $y\nM{i}\n")).collect();
    vec![
        ("one word", many("a")),
        ("plain commands", many("rm -rf foo bar\n")),
        ("short commands", many("a;")),
        ("arguments", many("a ")),
        ("comments", many("# a\n")),
        ("blanks", many(" ")),
        ("newlines", many("\n")),
        ("continuations", many("\\\n")),
        ("$(", many("$(")),
        ("`", many("`")),
        ("\\`", format!("`{}", many("\\`"))),
        ("${", many("${")),
        ("${x:-", many("${x:-")),
        ("$((", many("$((")),
        ("(", many("(")),
        ("(( )", many("(( a ) ")),
        ("(( '", many("(( ' ")),
        ("(( # '", many("(( # '\n")),
        (")", many(")")),
        ("{", many("{")),
        ("{ ", many("{ ")),
        ("{a,", many("{a,")),
        ("{a,b}", many("{a,b}")),
        (",}", format!("{}{}", many("{a,").split_at(300_000).0, many(",}").split_at(300_000).0)),
        ("\"", many("\"")),
        ("\" unclosed", format!("\"{}", many("a "))),
        ("'", many("'")),
        ("$'", many("$'\\x41' ")),
        ("\"${x:-\"", many("\"${x:-\"")),
        ("\"${x:-'", many("\"${x:-'")),
        ("[", many("[")),
        ("[ ]", many("[a]")),
        ("[:", many("[[:")),
        ("a[", many("a[")),
        ("a[ a[", many("a[0] ")),
        ("[[ (", format!("[[ {}", many("( "))),
        ("[[ !", format!("[[ {}", many("! "))),
        ("!", many("! ")),
        ("@(", many("@(")),
        ("*", many("*")),
        ("~:", format!("a={}", many("~:"))),
        ("<(", many("<(")),
        ("a=(", many("a=(")),
        ("<<", many("<<")),
        ("<<a", many("<<a ")),
        ("<<a below", format!("cat <<a\n{}", many("b\n"))),
        ("<<a joined", format!("cat <<a\n{}", many("b\\\n"))),
        ("<<-", format!("cat <<-a\n{}", many("\t\n"))),
        ("10 000 documents on one line", documents(10_000)),
        ("10 000 documents below each other", below),
        ("documents in documents", many("cat <<a\n$(")),
        ("redirections", many(">a")),
        ("numbers", many("1")),
        ("if", many("if ")),
        ("case", many("case a in b) ")),
        ("f()", many("f() ")),
        ("function", many("function f ")),
        ("coproc", many("coproc ")),
        ("&&", many("a && ")),
        ("|", many("a | ")),
        ("${x/", many("${x/")),
        ("${x:?:", format!("${{x:{}", many("?:"))),
        ("${x[", many("${x[")),
        ("NUL", many("a\0")),
        ("NUL and `", many("`\0")),
        ("characters of four bytes", many("😀")),
    ]
}

#[test]
fn the_worst_texts_take_steps_in_proportion() {
    for (name, text) in list_worst_texts() {
        let (_, steps) = parse_counting_steps(&text);
        assert!(steps <= 32 * text.len() as u64, "{name}: {steps} steps for {} bytes", text.len());
    }
}

/// Every construct that can hold itself, and what closes it.
const NESTING: &[(&str, &str)] = &[
    ("$(", ")"),
    ("\"$(", ")\""),
    ("\"${x:-", "}\""),
    ("( ", " )"),
    ("{ ", "; }"),
    ("if ", "; then b; fi"),
    ("while a; do ", "; done"),
    ("for x in a; do ", "; done"),
    ("case a in b) ", ";; esac"),
    ("f() { ", "; }"),
    ("<(", ")"),
    ("$((", "))"),
    ("$[", "]"),
    ("a=(", ")"),
    ("${a[", "]}"),
    ("x @(", ")"),
    ("[[ ( ", " ) ]]"),
    ("! ( ", ")"),
    ("coproc { ", "; }"),
    ("function f { ", "; }"),
    ("cat <<E\n$(", ")\nE\n"),
];

/// Half of a usual thread's stack, without optimization.
const STACK_BYTES: usize = 1 << 20;

#[test]
fn depth_ends_at_the_limit_with_a_problem_and_on_a_small_stack() {
    let trial = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(nest_everything);
    trial.expect("a thread").join().expect("no overflow");
}

fn nest_everything() {
    let pairs = NESTING.iter().flat_map(|a| NESTING.iter().map(move |b| (a, b)));
    for ((a, close_a), (b, close_b)) in pairs {
        let text = format!("{}x{}", format!("{a}{b}").repeat(200), format!("{close_b}{close_a}").repeat(200));
        parse(&text);
    }
    for (open, close) in NESTING {
        let text = format!("first; {}a{}", open.repeat(1_000), close.repeat(1_000));
        let parsed = parse(&text);
        assert!(!parsed.problems.is_empty(), "{open}");
        assert!(!parsed.script.items.is_empty(), "{open}");
    }
    let deep = format!("{}a{}", "$(".repeat(1_000), ")".repeat(1_000));
    assert_eq!(parse(&deep).problems[0].kind, SyntaxProblemKind::TooDeep);
}

#[test]
fn what_people_write_is_far_from_the_limits() {
    for (open, close) in NESTING.iter().filter(|(open, _)| !open.starts_with("cat") && !open.starts_with("[[")) {
        let text = format!("{}a{}", open.repeat(20), close.repeat(20));
        let limits: Vec<_> =
            parse(&text).problems.into_iter().filter(|p| p.kind == SyntaxProblemKind::TooDeep).collect();
        assert_eq!(limits, [], "{open}");
    }
}

#[test]
fn beyond_a_mebibyte_nothing_is_read() {
    let text = format!("{}\nrm x", "#".repeat(limits::TEXT_BYTES));
    let parsed = parse(&text);
    assert_eq!(parsed.problems.len(), 1);
    assert_eq!(parsed.problems[0].kind, SyntaxProblemKind::TooLong);
    assert_eq!(parsed.problems[0].span, limits::TEXT_BYTES..text.len());
}

#[test]
#[ignore = "a measurement: run it in release"]
#[expect(clippy::print_stdout, reason = "prints a table")]
fn figures() {
    let ordinary = [
        "git status --short",
        "cd crates/snell && cargo test -p snell --lib 2>&1 | tail -n 20",
        "for f in src/*.rs; do wc -l \"$f\"; done | sort -n",
        "git commit -m \"$(cat <<'EOF'\nA message\n\nwith lines\nEOF\n)\"",
        "find . -name '*.tmp' -print0 | xargs -0 rm -f",
    ];
    for text in ordinary {
        let mut times: Vec<Duration> = (0..10_001).map(|_| time_parsing(text)).collect();
        times.sort();
        println!("{:>10.2?}  {text:?}", times[5_000]);
    }
    for (name, text) in list_worst_texts() {
        let best = (0..3).map(|_| time_parsing(&text)).min().unwrap_or_default();
        println!("{best:>10.2?}  {name}");
    }
}

/// Includes the time to drop the tree.
fn time_parsing(text: &str) -> Duration {
    let start = Instant::now();
    drop(std::hint::black_box(parse(text)));
    start.elapsed()
}
