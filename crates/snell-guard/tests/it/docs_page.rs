//! What `docs/guard.md` says in numbers is what the code does. `SNELL_BLESS=1` writes it anew.

use std::collections::BTreeMap;

use snell_guard::limits::LIMITS;
use snell_guard::policy::GuardDecision;
use snell_guard::rules::RULES;
use snell_test_support::files::find_repository_root;

use crate::corpus::read_corpus;

/// Compares what stands between two marks of the page, or writes it.
fn compare_or_write_page(mark: &str, block: &str) {
    let path = find_repository_root().join("docs/guard.md");
    let page = std::fs::read_to_string(&path).expect("the page is there");
    let (open, close) = (format!("<!-- {mark} -->\n"), format!("<!-- end of {mark} -->"));
    let (before, rest) = page.split_once(&open).expect("the block begins");
    let (written, after) = rest.split_once(&close).expect("the block ends");
    let block = format!("\n{block}\n");
    if std::env::var_os("SNELL_BLESS").is_some() {
        std::fs::write(&path, format!("{before}{open}{block}{close}{after}")).expect("the page can be written");
        return;
    }
    assert_eq!(
        written, block,
        "docs/guard.md is out of date; run `SNELL_BLESS=1 cargo test -p snell-guard --test it docs_page`"
    );
}

/// 1048576 as people read it.
fn group_digits(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// Both blocks stand in one file, so one test writes them.
#[test]
fn the_page_says_what_the_limits_are_and_how_well_the_corpus_is_judged() {
    compare_or_write_page("limits", &render_limits());
    compare_or_write_page("scores", &render_scores());
}

fn render_limits() -> String {
    let head = "| of | at most | beyond |\n|---|---|---|\n".to_owned();
    LIMITS.iter().fold(head, |table, limit| {
        let most = group_digits(limit.max);
        table + &format!("| {} | {most} | {} |\n", limit.subject, limit.outcome.description())
    })
}

/// By what is expected, and by the first half of the class: what it is about.
fn render_scores() -> String {
    let mut classes: BTreeMap<(std::cmp::Reverse<GuardDecision>, String), (usize, usize)> = BTreeMap::new();
    for row in read_corpus() {
        let (found, _) = row.judge_row();
        let right = match row.expected {
            GuardDecision::Ask => found >= GuardDecision::Ask,
            other => found == other,
        };
        let about = row.class.split('/').next().unwrap_or_default().to_owned();
        for about in [about, "all".to_owned()] {
            let score = classes.entry((std::cmp::Reverse(row.expected), about)).or_default();
            score.0 += usize::from(right);
            score.1 += 1;
        }
    }
    let mut table = format!(
        "{} rules, {} rows.\n\n| should be | about | right | of | share |\n|---|---|---|---|---|\n",
        RULES.len(),
        read_corpus().len()
    );
    for ((expected, about), (right, all)) in classes {
        let share = right * 1_000 / all;
        table += &format!("| {} | {about} | {right} | {all} | {}.{} % |\n", expected.0.name(), share / 10, share % 10);
    }
    table
}
