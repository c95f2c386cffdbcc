//! The guard's rules, by what they are about.

use crate::support::CliSandbox;

pub fn render_guard_list() -> String {
    let rules = CliSandbox::new().run_snell(&["guard", "rules", "--json"], "").json();
    let rules = rules["rules"].as_array().unwrap();
    let mut tiers: Vec<&str> = Vec::new();
    for rule in rules {
        let tier = rule["tier"].as_str().unwrap();
        if !tiers.contains(&tier) {
            tiers.push(tier);
        }
    }
    let mut list = String::new();
    for tier in tiers {
        let count = |decision: &str| {
            let found = rules.iter().filter(|rule| rule["tier"] == tier && rule["decision"] == decision).count();
            (found > 0).then(|| format!("{found} {decision}"))
        };
        let counts: Vec<_> = ["deny", "ask", "allow"].into_iter().filter_map(count).collect();
        list += &format!("- `{tier}`: {}\n", counts.join(", "));
    }
    list
}
