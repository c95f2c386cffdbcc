//! The tables of what works. Each cell is what the product did when it was asked; `SNELL_BLESS=1` writes them anew.

mod agents;
mod contracts;
mod events;
mod formats;
mod guard;
mod integrations;
mod losses;
mod matchers;

use std::fs;

use snell_test_support::files::find_repository_root;

pub use formats::{CONTRACTS, HookSpec, create_project};

/// What a cell says where there is nothing.
const NOTHING: &str = "–";

/// A table as Markdown has it.
struct MarkdownTable {
    head: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl MarkdownTable {
    fn new<'a>(head: impl IntoIterator<Item = &'a str>) -> Self {
        Self { head: head.into_iter().map(str::to_owned).collect(), rows: Vec::new() }
    }

    fn push_row(&mut self, name: &str, cells: impl IntoIterator<Item = String>) {
        self.rows.push([name.to_owned()].into_iter().chain(cells).collect());
    }

    fn to_markdown(&self) -> String {
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let rule = format!("|{}\n", "---|".repeat(self.head.len()));
        line(&self.head) + &rule + &self.rows.iter().map(|row| line(row)).collect::<String>()
    }
}

/// "yes", or nothing.
fn render_yes(whether: bool) -> String {
    if whether { "yes" } else { NOTHING }.to_owned()
}

/// Compares what stands between the marks of a page with what was found, or writes it there.
fn compare_or_write_page(page: &str, blocks: &[(&str, String)]) {
    let path = find_repository_root().join(page);
    let mut text = fs::read_to_string(&path).unwrap();
    for (mark, found) in blocks {
        let (open, close) = (format!("<!-- {mark} -->\n"), format!("<!-- end of {mark} -->"));
        let (before, rest) = text.split_once(&open).unwrap_or_else(|| panic!("{page} has no {open}"));
        let (written, after) = rest.split_once(&close).unwrap_or_else(|| panic!("{page} has no {close}"));
        let found = format!("\n{found}\n");
        if std::env::var_os("SNELL_BLESS").is_none() {
            let remedy = "run `SNELL_BLESS=1 cargo test -p snell-cli --test it documentation::capability_tables`";
            assert_eq!(written, found, "{page} is out of date; {remedy}");
        }
        text = format!("{before}{open}{found}{close}{after}");
    }
    if std::env::var_os("SNELL_BLESS").is_some() {
        fs::write(&path, text).unwrap();
    }
}

/// All blocks of a page are written by one test, so that no two write the same file.
#[test]
fn the_page_about_compatibility_says_what_works() {
    compare_or_write_page(
        "docs/reference/compatibility.md",
        &[
            ("ways in", integrations::render_integrations_table()),
            ("contracts", contracts::render_contracts_list()),
            ("agents", agents::render_agents_table()),
            ("guard", guard::render_guard_list()),
        ],
    );
}

#[test]
fn the_page_about_events_says_what_hooks_can_do_about_each() {
    compare_or_write_page("docs/reference/events.md", &[("events", events::render_events_table())]);
}
