//! `data/rules/*.toml`: what is judged, sorted so that the gravest comes first.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::PathBuf;

use serde::Deserialize;

use crate::{BuildError, format_list, parse_toml};

/// Tiers, gravest first.
const TIERS: &[(&str, &str)] = &[
    ("catastrophic", "Catastrophic"),
    ("self", "OwnGuard"),
    ("secret", "Secret"),
    ("privilege", "Privilege"),
    ("process", "Process"),
    ("infra", "Infra"),
    ("destructive", "Destructive"),
    ("style", "Style"),
];
/// Decisions, gravest first.
const DECISIONS: &[(&str, &str)] = &[("deny", "Deny"), ("ask", "Ask")];
/// What a program may do to a place: the names in the data and in the code.
pub(crate) const PATH_ACTIONS: &[(&str, &str)] = &[
    ("delete", "Delete"),
    ("overwrite", "Overwrite"),
    ("put", "Put"),
    ("append", "Append"),
    ("take", "Take"),
    ("read", "Read"),
    ("link", "Link"),
    ("mode", "Mode"),
    ("open-up", "OpenUp"),
    ("set-id", "SetId"),
    ("chown", "Chown"),
    ("send", "Send"),
    ("send-raw", "SendRaw"),
    ("fetch", "Fetch"),
    ("edit", "Edit"),
    ("replace", "Replace"),
    ("use", "Use"),
    ("may-edit", "MayEdit"),
    ("make", "Make"),
    ("lock", "Lock"),
    ("copy", "Copy"),
    ("unpack", "Unpack"),
];
/// What a place may be: the names in the data and in the code.
const PATH_CLASSES: &[(&str, &str)] = &[
    ("root", "Root"),
    ("root-if-empty", "RootIfEmpty"),
    ("system", "System"),
    ("device", "Device"),
    ("harmless", "Harmless"),
    ("network", "Network"),
    ("home-root", "HomeRoot"),
    ("home", "Home"),
    ("start-up", "StartUp"),
    ("secret", "Secret"),
    ("secret-dir", "SecretDir"),
    ("project-root", "ProjectRoot"),
    ("project-git", "ProjectGit"),
    ("project", "Project"),
    ("temp-root", "TempRoot"),
    ("temp", "Temp"),
    ("own", "Own"),
    ("own-hooks", "OwnHooks"),
    ("own-program", "OwnProgram"),
    ("elsewhere", "Elsewhere"),
    ("unknown", "Unknown"),
    ("holds-own", "HoldsOwn"),
    ("protected", "Protected"),
    ("holds-protected", "HoldsProtected"),
    ("sealed", "Sealed"),
    ("holds-sealed", "HoldsSealed"),
    ("vital", "Vital"),
    ("told", "FromInput"),
    ("home-project", "HomeProject"),
    ("cache", "Cache"),
    ("personal", "Personal"),
    ("hook", "Hook"),
];

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
    tier: String,
    #[serde(default = "default_decision")]
    decision: String,
    reason: String,
    advice: String,
    #[serde(default)]
    locked: bool,
    #[serde(default)]
    effects: Vec<String>,
    #[serde(default)]
    on: Vec<String>,
    /// Places that it does not judge, although they are among those.
    #[serde(default)]
    except: Vec<String>,
    #[serde(default)]
    recursive: bool,
    /// Whoever calls the guard reports it, so that no call can match it.
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

fn default_decision() -> String {
    "deny".to_owned()
}

/// All rules, gravest first. A rule's place in this order is its number.
pub(crate) fn load_rules(files: &[PathBuf]) -> Result<Vec<RuleEntry>, BuildError> {
    let mut rules: Vec<RuleEntry> = Vec::new();
    let mut ids = BTreeSet::new();
    for path in files {
        for rule in parse_toml::<RuleFile>(path)?.rule {
            check_rule(&rule).map_err(|fault| format!("{}: rule `{}`: {fault}", path.display(), rule.id))?;
            if !ids.insert(rule.id.clone()) {
                return Err(format!("{}: rule `{}` is there twice", path.display(), rule.id).into());
            }
            rules.push(rule);
        }
    }
    rules.sort_by_key(|rule| (find_rank(DECISIONS, &rule.decision), find_rank(TIERS, &rule.tier)));
    Ok(rules)
}

fn check_rule(rule: &RuleEntry) -> Result<(), BuildError> {
    find_rust_name(DECISIONS, &rule.decision)?;
    find_rust_name(TIERS, &rule.tier)?;
    rule.effects.iter().try_for_each(|kind| find_rust_name(PATH_ACTIONS, kind).map(drop))?;
    let mut classes = rule.on.iter().chain(&rule.except);
    classes.try_for_each(|class| find_rust_name(PATH_CLASSES, class).map(drop))?;
    let said = |text: &str| !text.trim().is_empty();
    if rule.effects.is_empty() != rule.on.is_empty() {
        return Err("`effects` and `on` go together".into());
    }
    if !said(&rule.reason) || !said(&rule.advice) {
        return Err("it needs a `reason` and an `advice`".into());
    }
    if rule.reported {
        return Ok(());
    }
    if rule.matches.is_empty() && rule.whole_match.is_empty() {
        return Err("it needs at least one case that it matches".into());
    }
    if rule.not_match.is_empty() && rule.whole_not_match.is_empty() {
        return Err("it needs at least one case that it does not match".into());
    }
    Ok(())
}

/// All rules as a static table.
pub(crate) fn generate_rule_table(rules: &[RuleEntry]) -> Result<String, BuildError> {
    let mut out = String::from("/// Every rule, gravest first.\npub static RULES: &[GuardRule] = &[\n");
    for rule in rules {
        let kinds = format_set("PathActions", "PathAction", &find_rust_names(PATH_ACTIONS, &rule.effects)?);
        let classes = format_set("PathClasses", "PathClass", &find_rust_names(PATH_CLASSES, &rule.on)?);
        let except = format_set("PathClasses", "PathClass", &find_rust_names(PATH_CLASSES, &rule.except)?);
        writeln!(
            out,
            "    GuardRule {{ id: {:?}, tier: RuleTier::{}, decision: RuleDecision::{}, reason: {:?}, advice: {:?}, locked: {}, effects: {kinds}, \
             on: {classes}, except: {except}, recursive: {}, cases: RuleCases {{ matches: {}, not_match: {}, whole_match: {}, whole_not_match: {} }} }},",
            rule.id,
            find_rust_name(TIERS, &rule.tier)?,
            find_rust_name(DECISIONS, &rule.decision)?,
            rule.reason,
            rule.advice,
            rule.locked,
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

/// A set that is written as the sum of its members.
fn format_set(set: &str, member: &str, names: &[&str]) -> String {
    let members: Vec<String> = names.iter().map(|name| format!("{member}::{name} as u32")).collect();
    format!("{set}({})", if members.is_empty() { "0".to_owned() } else { members.join(" | ") })
}

fn find_rust_names(table: &[(&'static str, &'static str)], words: &[String]) -> Result<Vec<&'static str>, BuildError> {
    words.iter().map(|word| find_rust_name(table, word)).collect()
}

/// The code's name for a word of the data.
pub(crate) fn find_rust_name(table: &[(&'static str, &'static str)], word: &str) -> Result<&'static str, BuildError> {
    let found = table.iter().find(|(written, _)| *written == word).map(|(_, name)| *name);
    found.ok_or_else(|| {
        let known: Vec<&str> = table.iter().map(|(written, _)| *written).collect();
        format!("`{word}` is none of {}", known.join(", ")).into()
    })
}

fn find_rank(table: &[(&str, &str)], word: &str) -> usize {
    table.iter().position(|(written, _)| *written == word).unwrap_or(table.len())
}
