//! `data/rules/*.toml`: what is judged, sorted so that the gravest comes first.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::PathBuf;

use serde::Deserialize;

use crate::{Fault, list, parse};

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
pub(crate) const KINDS: &[(&str, &str)] = &[
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
const CLASSES: &[(&str, &str)] = &[
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
    ("told", "Told"),
    ("home-project", "HomeProject"),
    ("cache", "Cache"),
    ("personal", "Personal"),
    ("hook", "Hook"),
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    rule: Vec<Rule>,
}

/// One rule as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rule {
    pub(crate) id: String,
    tier: String,
    #[serde(default = "deny")]
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

fn deny() -> String {
    "deny".to_owned()
}

/// All rules, gravest first. A rule's place in this order is its number.
pub(crate) fn read(files: &[PathBuf]) -> Result<Vec<Rule>, Fault> {
    let mut rules: Vec<Rule> = Vec::new();
    let mut ids = BTreeSet::new();
    for path in files {
        for rule in parse::<File>(path)?.rule {
            check(&rule).map_err(|fault| format!("{}: rule `{}`: {fault}", path.display(), rule.id))?;
            if !ids.insert(rule.id.clone()) {
                return Err(format!("{}: rule `{}` is there twice", path.display(), rule.id).into());
            }
            rules.push(rule);
        }
    }
    rules.sort_by_key(|rule| (rank(DECISIONS, &rule.decision), rank(TIERS, &rule.tier)));
    Ok(rules)
}

fn check(rule: &Rule) -> Result<(), Fault> {
    name(DECISIONS, &rule.decision)?;
    name(TIERS, &rule.tier)?;
    rule.effects.iter().try_for_each(|kind| name(KINDS, kind).map(drop))?;
    let mut classes = rule.on.iter().chain(&rule.except);
    classes.try_for_each(|class| name(CLASSES, class).map(drop))?;
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
pub(crate) fn table(rules: &[Rule]) -> Result<String, Fault> {
    let mut out = String::from("/// Every rule, gravest first.\npub static RULES: &[Rule] = &[\n");
    for rule in rules {
        let kinds = union("Kinds", "Kind", &names(KINDS, &rule.effects)?);
        let classes = union("Classes", "Class", &names(CLASSES, &rule.on)?);
        let except = union("Classes", "Class", &names(CLASSES, &rule.except)?);
        writeln!(
            out,
            "    Rule {{ id: {:?}, tier: Tier::{}, decision: Decision::{}, reason: {:?}, advice: {:?}, locked: {}, effects: {kinds}, \
             on: {classes}, except: {except}, recursive: {}, cases: Cases {{ matches: {}, not_match: {}, whole_match: {}, whole_not_match: {} }} }},",
            rule.id,
            name(TIERS, &rule.tier)?,
            name(DECISIONS, &rule.decision)?,
            rule.reason,
            rule.advice,
            rule.locked,
            rule.recursive,
            list(&rule.matches),
            list(&rule.not_match),
            list(&rule.whole_match),
            list(&rule.whole_not_match),
        )?;
    }
    out.push_str("];\n");
    Ok(out)
}

/// A set that is written as the sum of its members.
fn union(set: &str, member: &str, names: &[&str]) -> String {
    let members: Vec<String> = names.iter().map(|name| format!("{member}::{name} as u32")).collect();
    format!(
        "{set}({})",
        if members.is_empty() {
            "0".to_owned()
        } else {
            members.join(" | ")
        }
    )
}

fn names(table: &[(&'static str, &'static str)], words: &[String]) -> Result<Vec<&'static str>, Fault> {
    words.iter().map(|word| name(table, word)).collect()
}

/// The code's name for a word of the data.
pub(crate) fn name(table: &[(&'static str, &'static str)], word: &str) -> Result<&'static str, Fault> {
    let found = table
        .iter()
        .find(|(written, _)| *written == word)
        .map(|(_, name)| *name);
    found.ok_or_else(|| {
        let known: Vec<&str> = table.iter().map(|(written, _)| *written).collect();
        format!("`{word}` is none of {}", known.join(", ")).into()
    })
}

fn rank(table: &[(&str, &str)], word: &str) -> usize {
    table
        .iter()
        .position(|(written, _)| *written == word)
        .unwrap_or(table.len())
}
