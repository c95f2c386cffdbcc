//! The guard's rules, by what they are about.

use super::MarkdownTable;
use crate::support::CliSandbox;

pub fn render_guard_table() -> String {
    let rules = CliSandbox::new().run_snell(&["guard", "rules", "--json"], "").json();
    let rules = rules["rules"].as_array().unwrap();
    let mut tiers: Vec<&str> = Vec::new();
    for rule in rules {
        let tier = rule["tier"].as_str().unwrap();
        if !tiers.contains(&tier) {
            tiers.push(tier);
        }
    }
    let mut table = MarkdownTable::new(["tier", "rules", "deny", "ask", "allow"]);
    for tier in tiers {
        let of_tier = |decision: Option<&str>| {
            let found = rules.iter().filter(|rule| rule["tier"] == tier);
            let found = found.filter(|rule| decision.is_none_or(|decision| rule["decision"] == decision));
            found.count().to_string()
        };
        let decisions = [None, Some("deny"), Some("ask"), Some("allow")];
        table.push_row(&format!("`{tier}`"), decisions.map(of_tier));
    }
    table.to_markdown()
}
