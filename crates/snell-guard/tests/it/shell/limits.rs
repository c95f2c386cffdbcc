//! Texts that try to take long, or to grow without end.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use snell_guard::interpret::limits;
use snell_test_support::scripts::{any_mutilated_script, any_token_soup};

use super::find_invocations;

/// Texts that grow during the analysis, and the limit that stops them.
fn list_growing_texts() -> Vec<(&'static str, String)> {
    let many = |text: &str| text.repeat(snell_shell::limits::TEXT_BYTES / text.len());
    let doubled = |count: usize| format!("x=aaaaaaaa; {} p $x", "x=$x$x;".repeat(count));
    vec![
        ("plain commands", many("rm -rf foo bar\n")),
        ("short commands", many("a;")),
        ("arguments", many("a ")),
        ("one word", many("a")),
        ("assignments", (0..60_000).map(|i| format!("x{i}=a;")).collect()),
        ("assignments in branches", (0..30_000).map(|i| format!("if a;then x{i}=b;fi;")).collect()),
        ("conditional assignments", many("a&&x=b;")),
        ("pipes", many("a|")),
        ("pipes of text", many("echo a|cat|")),
        ("doubling", doubled(100)),
        ("braces", "p {a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}\n".repeat(1_000)),
        ("ranges", "p {1..1000000} {1..1000000}\n".repeat(1_000)),
        (
            "loops in loops",
            "for i in {1..60}; do for j in {1..60}; do for k in {1..60}; do p $i$j$k; done; done; done".into(),
        ),
        ("endless loops", many("while a;do b;done;")),
        ("recursion", "f() { f $1a; f $1b; }; f".into()),
        (
            "functions in functions",
            (0..5_000).map(|i| format!("f{}() {{ f{i}; f{i}; }};", i + 1)).chain(["f5000".into()]).collect(),
        ),
        ("readings", many("p ${A:-a}${B:-b}${C:-c}${D:-d}${E:-e}\n")),
        ("readings within readings", format!("{}x{}", "$(p ${x:-".repeat(40), "})".repeat(40))),
        ("branches that differ", many("if a;then x=$x$RANDOM;else y=$y$x;fi;p $x $y;")),
        ("eval", "eval ".repeat(200_000) + "a"),
        ("eval of itself", "x='eval \"$x\"'; eval \"$x\"".into()),
        ("sh -c", many("sh -c 'a';")),
        ("a script by standard input", format!("bash <<'E'\n{}\nE", "rm x\n".repeat(100_000))),
        ("wrappers", "sudo ".repeat(200_000) + "a"),
        ("xargs", format!("echo {} | xargs -n1 rm", many("a "))),
        ("xargs of xargs", format!("echo a | {} a", "xargs ".repeat(10_000))),
        ("functions", (0..40_000).map(|i| format!("f{i}() {{ a; }};")).collect()),
        ("appending", many("x+=aaaaaaaaaaaaaaaa;")),
        ("arrays", many("x+=(a b c d);")),
        ("replacing", format!("x={}; {}", "ab".repeat(4_000), "p ${x//a*b/c};".repeat(2_000))),
        ("removing", format!("x={}; {}", "ab".repeat(4_000), "p ${x%%*a*b*c};".repeat(2_000))),
        ("writing", many("a>>f;echo b>>f;")),
        ("files", (0..30_000).map(|i| format!("echo a>f{i};")).collect()),
        ("substitutions", many("p $(echo a)$(b);")),
        ("nested substitutions", many("$(")),
        ("here-documents", (0..10_000).map(|i| format!("cat <<M{i}\nx $y\nM{i}\n")).collect()),
        ("redirections", many(">a")),
        ("case", many("case $x in a) b;; esac;")),
        ("arithmetic", many("p $((1+2*3));")),
        ("subshells", many("(x=1);")),
        ("directories", many("a&&cd x;")),
        ("aliases", (0..30_000).map(|i| format!("alias a{i}='b c';")).collect()),
        ("find", format!("find {} -exec rm {{}} +", many("a "))),
        ("git", many("git -c core.pager='a b' log;")),
        ("awk", format!("awk '{}'", "system(\"a\");".repeat(50_000))),
        ("sed", format!("sed '{}' f", "s/a/b/e;".repeat(50_000))),
        ("patterns", many("/*/r?;")),
        ("traps", many("trap 'a' EXIT;")),
        ("read", format!("while read x; do p $x; done <<'E'\n{}\nE", "a\n".repeat(100_000))),
        ("printf", format!("x=$(printf '%s\\n' {}); p $x", many("a "))),
        ("tr", format!("{} tr a-z b-z", "echo aaaaaaaaaaaaaaaaaaaaaaaaaa | tr a-z b-za | ".repeat(3_000))),
    ]
}

#[test]
fn everything_ends_and_says_so() {
    for (name, text) in list_growing_texts() {
        let found = find_invocations(&text);
        assert!(found.invocations.len() <= limits::INVOCATIONS, "{name}");
        assert!(found.steps <= 4 * limits::STEPS, "{name}: {} steps", found.steps);
    }
}

/// Everything that can contain itself, in the syntax tree or in texts that are parsed later.
const NESTING: &[(&str, &str)] = &[
    ("p $(", ")"),
    ("p \"$(", ")\""),
    ("p \"${x:-", "}\""),
    ("p ${x:+", "}"),
    ("( ", " )"),
    ("{ ", "; }"),
    ("if ", "; then b; fi"),
    ("while a; do ", "; done"),
    ("for x in a b; do ", "; done"),
    ("case a in b) ", ";; esac"),
    ("f() { ", "; }; f"),
    ("p <(", ")"),
    ("p >(", ")"),
    ("p $((", "))"),
    ("a=(", ")"),
    ("p ${a[", "]}"),
    ("coproc { ", "; }"),
    ("a | ( ", ")"),
    ("[[ -n $(", ") ]]"),
];

#[test]
fn depth_needs_no_more_stack_than_there_is() {
    let number = format!("$(({}1{}))", "(".repeat(5_000), ")".repeat(5_000));
    for (open, close) in NESTING {
        for depth in [30, 90, 1_000] {
            find_invocations(&format!("{}p {number}{}", open.repeat(depth), close.repeat(depth)));
        }
        let inner = format!("{}p {number}{}", open.repeat(60), close.repeat(60)).replace('\'', "");
        let mut text = inner.clone();
        for _ in 0..6 {
            text = format!("{}eval '{}'{}", open.repeat(15), text.replace('\'', "'\\''"), close.repeat(15));
        }
        find_invocations(&text);
    }
    for wrapper in ["sudo ", "env ", "nice ", "command ", "xargs ", "find . -exec ", "git bisect run ", "ssh h "] {
        find_invocations(&format!("{}p", wrapper.repeat(1_000)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_is_too_odd(text in prop_oneof![any_mutilated_script(), any_token_soup(), any::<String>()]) {
        let found = find_invocations(&text);
        prop_assert!(found.steps <= 4 * limits::STEPS);
    }
}

#[test]
fn a_passed_limit_is_a_reason() {
    for text in [
        "a;".repeat(limits::INVOCATIONS + 1),
        "p {1..1000000}".to_owned(),
        format!("{}p", "eval ".repeat(40)),
        format!("echo {} | xargs -n1 rm", "a ".repeat(100)),
        format!("find {} -exec rm {{}} +", "a ".repeat(100)),
        format!("x=aaaaaaaa; {} p $x", "x=$x$x;".repeat(40)),
    ] {
        let coverage = find_invocations(&text).coverage;
        let limited = coverage.is_limited();
        assert!(limited, "{}: {coverage:?}", text.get(..40).unwrap_or(&text));
    }
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
        "x=rm; sudo bash -c \"$x -rf /tmp/x\"",
        "docker run --rm -v \"$PWD\":/w -w /w node:20 npm test",
    ];
    for text in ordinary {
        let mut times: Vec<Duration> = (0..10_001).map(|_| time_analysis(text)).collect();
        times.sort();
        println!("{:>10.2?}  {text:?}", times[5_000]);
    }
    for (name, text) in list_growing_texts() {
        let best = (0..3).map(|_| time_analysis(&text)).min().unwrap_or_default();
        let parsing = (0..3).map(|_| time_parsing(&text)).min().unwrap_or_default();
        let found = find_invocations(&text);
        println!(
            "{best:>10.2?} (parsing {parsing:>10.2?})  {name}: {} steps, {} found, {:?}",
            found.steps,
            found.invocations.len(),
            found.coverage
        );
    }
}

fn time_analysis(text: &str) -> Duration {
    let start = Instant::now();
    drop(std::hint::black_box(find_invocations(text)));
    start.elapsed()
}

fn time_parsing(text: &str) -> Duration {
    let start = Instant::now();
    drop(std::hint::black_box(snell_shell::parse(text)));
    start.elapsed()
}
