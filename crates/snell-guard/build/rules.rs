//! `data/rules/*.toml`: the rules, sorted by gravity.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::PathBuf;

use serde::Deserialize;

use crate::{BuildError, format_list, format_variant, parse_toml};

/// Tiers, gravest first.
#[derive(Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "lowercase")]
enum RuleTierName {
    Catastrophic,
    #[serde(rename = "self")]
    OwnGuard,
    Secret,
    Privilege,
    Process,
    Infra,
    Destructive,
    Style,
}

/// Decisions, gravest first.
#[derive(Debug, Default, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "lowercase")]
enum RuleDecisionName {
    #[default]
    Deny,
    Ask,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleFile {
    rule: Vec<RuleEntry>,
}

/// One rule as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RuleEntry {
    pub(crate) id: String,
    tier: RuleTierName,
    #[serde(default)]
    decision: RuleDecisionName,
    /// The decision of the presets `standard` and `audit`, if it is milder.
    standard: Option<RuleDecisionName>,
    split_from: Option<String>,
    #[serde(default)]
    headline: bool,
    reason: String,
    advice: String,
    #[serde(default)]
    locked: bool,
    #[serde(default)]
    effects: Vec<String>,
    #[serde(default)]
    on: Vec<String>,
    /// Classes of places that it does not judge, even if `on` matches.
    #[serde(default)]
    except: Vec<String>,
    #[serde(default)]
    recursive: bool,
    /// The guard's caller reports this rule, so no call can match it.
    #[serde(default)]
    reported: bool,
    #[serde(default, rename = "match")]
    matches: Vec<String>,
    #[serde(default)]
    not_match: Vec<String>,
    #[serde(default)]
    whole_match: Vec<String>,
    #[serde(default)]
    whole_not_match: Vec<String>,
}

/// All rules, gravest first. A rule's index in this order is its number.
pub(crate) fn load_rules(files: &[PathBuf]) -> Result<Vec<RuleEntry>, BuildError> {
    let mut rules: Vec<RuleEntry> = Vec::new();
    let mut ids = BTreeSet::new();
    for path in files {
        for rule in parse_toml::<RuleFile>(path)?.rule {
            check_rule(&rule).map_err(|fault| format!("{}: rule `{}`: {fault}", path.display(), rule.id))?;
            if !ids.insert(rule.id.clone()) {
                return Err(format!("{}: duplicate rule `{}`", path.display(), rule.id).into());
            }
            rules.push(rule);
        }
    }
    if let Some(orphan) = rules.iter().find(|rule| rule.split_from.as_ref().is_some_and(|id| !ids.contains(id))) {
        return Err(format!("rule `{}`: `split_from` names no rule", orphan.id).into());
    }
    rules.sort_by(|one, other| (&one.decision, &one.tier).cmp(&(&other.decision, &other.tier)));
    Ok(rules)
}

fn check_rule(rule: &RuleEntry) -> Result<(), BuildError> {
    let said = |text: &str| !text.trim().is_empty();
    if rule.effects.is_empty() != rule.on.is_empty() {
        return Err("`effects` and `on` must be used together".into());
    }
    if !said(&rule.reason) || !said(&rule.advice) {
        return Err("the rule must have `reason` and `advice`".into());
    }
    if rule.standard.as_ref().is_some_and(|standard| *standard <= rule.decision) {
        return Err("`standard` must be milder than `decision`".into());
    }
    if rule.standard.is_some() && (rule.locked || rule.tier <= RuleTierName::Secret) {
        return Err(
            "`standard` must not relax a locked rule, nor one of the tiers catastrophic, self and secret".into()
        );
    }
    if rule.headline && rule.matches.is_empty() {
        return Err("a rule with `headline` must have `match`".into());
    }
    if rule.reported {
        return Ok(());
    }
    if rule.matches.is_empty() && rule.whole_match.is_empty() {
        return Err("the rule must have at least one case that it matches".into());
    }
    if rule.not_match.is_empty() && rule.whole_not_match.is_empty() {
        return Err("the rule must have at least one case that it does not match".into());
    }
    Ok(())
}

/// All rules as a static table.
pub(crate) fn generate_rule_table(rules: &[RuleEntry]) -> Result<String, BuildError> {
    let mut out = String::from("/// Every rule, gravest first.\npub static RULES: &[GuardRule] = &[\n");
    for rule in rules {
        writeln!(
            out,
            "    GuardRule {{ id: {:?}, tier: RuleTier::{:?}, decision: RuleDecision::{:?}, standard: RuleDecision::{:?}, split_from: {:?}, headline: {}, reason: {:?}, advice: {:?}, locked: {}, effects: {}, \
             on: {}, except: {}, recursive: {}, cases: RuleCases {{ matches: {}, not_match: {}, whole_match: {}, whole_not_match: {} }} }},",
            rule.id,
            rule.tier,
            rule.decision,
            rule.standard.as_ref().unwrap_or(&rule.decision),
            rule.split_from,
            rule.headline,
            rule.reason,
            rule.advice,
            rule.locked,
            format_set("PathActions", "PathAction", &rule.effects),
            format_set("PathClasses", "PathClass", &rule.on),
            format_set("PathClasses", "PathClass", &rule.except),
            rule.recursive,
            format_list(&rule.matches),
            format_list(&rule.not_match),
            format_list(&rule.whole_match),
            format_list(&rule.whole_not_match),
        )?;
    }
    out.push_str("];\n");
    Ok(out)
}

/// A set as the union of its members.
fn format_set(set: &str, member: &str, words: &[String]) -> String {
    let members: Vec<String> = words.iter().map(|word| format_variant(member, word) + " as u64").collect();
    format!("{set}({})", if members.is_empty() { "0".to_owned() } else { members.join(" | ") })
}
