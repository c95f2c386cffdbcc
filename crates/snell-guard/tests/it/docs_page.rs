//! The numbers in `docs/reference/guard.md` are those of the code. `SNELL_BLESS=1` writes them.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use snell_guard::limits::{LIMITS, LimitOutcome};
use snell_guard::policy::GuardDecision;
use snell_guard::rules::RULES;
use snell_test_support::files::find_repository_root;

use snell_guard::ApprovalLevel;

use crate::approvals::{count_approved, count_approved_danger};
use crate::corpus::read_corpus;

/// Compares the text between two marks of the page, or writes it.
fn compare_or_write_page(mark: &str, block: &str) {
    let path = find_repository_root().join("docs/reference/guard.md");
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
        "docs/reference/guard.md is out of date; run `SNELL_BLESS=1 cargo test -p snell-guard --test it docs_page`"
    );
}

/// 1048576 as `1,048,576`.
fn group_digits(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Both blocks are in one file, so one test writes them.
#[test]
fn the_page_says_what_the_limits_are_and_how_well_the_corpus_is_judged() {
    compare_or_write_page("limits", &render_limits());
    compare_or_write_page("scores", &render_scores());
    compare_or_write_page("approvals", &render_approvals());
}

/// How much is approved, and that no dangerous row is.
fn render_approvals() -> String {
    let levels = [("read", ApprovalLevel::Read), ("project", ApprovalLevel::Project)].map(|(name, level)| {
        let (approved, all) = count_approved(level);
        let share = approved * 1_000 / all;
        let (danger, rows) = count_approved_danger(level);
        format!(
            "- `{name}`: {approved}/{all} ({}.{} %); of the dangerous calls {danger}/{rows}\n",
            share / 10,
            share % 10
        )
    });
    format!(
        "Approved, of the harmless shell commands of developers, in a trusted project. The corpus has every kind of program once or twice; agents mostly \
         list, search and test, so of their calls more are approved.\n\n{}",
        levels.concat()
    )
}

fn render_limits() -> String {
    let groups = [LimitOutcome::AskUser, LimitOutcome::TreatAsUnknown].map(|outcome| {
        let limits = LIMITS.iter().filter(|limit| limit.outcome == outcome);
        let lines: String = limits.map(|limit| format!("- {} {}\n", group_digits(limit.max), limit.subject)).collect();
        format!("{}:\n\n{lines}", outcome.description())
    });
    groups.join("\n")
}

/// Scores by the expected decision and by the first half of the class.
fn render_scores() -> String {
    let mut scores: BTreeMap<Reverse<GuardDecision>, BTreeMap<String, CorpusScore>> = BTreeMap::new();
    let rows = read_corpus();
    for row in &rows {
        let (found, _) = row.judge_row();
        let is_right = match row.expected {
            GuardDecision::Ask => found >= GuardDecision::Ask,
            other => found == other,
        };
        let about = row.class.split('/').next().unwrap_or_default().to_owned();
        scores.entry(Reverse(row.expected)).or_default().entry(about).or_default().count(is_right);
    }
    let mut text = format!("{} rules, {} rows. Right verdicts:\n\n", RULES.len(), rows.len());
    for (expected, classes) in scores {
        let mut all = CorpusScore::default();
        let mut parts = Vec::new();
        for (about, score) in &classes {
            all.right += score.right;
            all.rows += score.rows;
            parts.push(format!("{about} {}/{}", score.right, score.rows));
        }
        let share = all.right * 1_000 / all.rows;
        let (name, share) = (expected.0.name(), format!("{}.{} %", share / 10, share % 10));
        text += &format!("- `{name}`: {}/{} ({share}): {}\n", all.right, all.rows, parts.join(", "));
    }
    text
}

/// How many rows of a class get the right verdict.
#[derive(Default)]
struct CorpusScore {
    right: usize,
    rows: usize,
}

impl CorpusScore {
    fn count(&mut self, is_right: bool) {
        self.right += usize::from(is_right);
        self.rows += 1;
    }
}
