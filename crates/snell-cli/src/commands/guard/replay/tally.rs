//! How many calls would be decided differently, and by which rules.

use std::collections::BTreeMap;

use serde::Serialize;
use snell_guard::Verdict;

use super::change::Change;
use crate::output::{count, harmless};

/// What a change is called, by people and by programs, the gravest first.
const TURNS: &[(Verdict, Verdict, &str, &str)] = &[
    (Verdict::Allow, Verdict::Deny, "newly denied", "newly_denied"),
    (
        Verdict::Ask,
        Verdict::Deny,
        "denied instead of asked",
        "denied_instead_of_asked",
    ),
    (Verdict::Allow, Verdict::Ask, "newly asked", "newly_asked"),
    (
        Verdict::Deny,
        Verdict::Ask,
        "asked instead of denied",
        "asked_instead_of_denied",
    ),
    (Verdict::Ask, Verdict::Allow, "no longer asked", "no_longer_asked"),
    (Verdict::Deny, Verdict::Allow, "no longer denied", "no_longer_denied"),
];

/// How many rules are named for each kind of change.
const RULES_NAMED: usize = 5;

/// What was counted.
#[derive(Debug, Default)]
pub(super) struct Tally {
    calls: usize,
    unchanged: usize,
    masked: usize,
    shortened: usize,
    incomplete: usize,
    /// By change and rule.
    changed: BTreeMap<(Verdict, Verdict), BTreeMap<String, usize>>,
}

/// The same, for programs.
#[derive(Serialize)]
pub(super) struct TallyView<'a> {
    r#type: &'static str,
    calls: usize,
    unchanged: usize,
    masked: usize,
    shortened: usize,
    /// How many changes of each kind, and by which rules.
    changed: BTreeMap<&'static str, TurnView<'a>>,
}

#[derive(Serialize)]
struct TurnView<'a> {
    calls: usize,
    rules: &'a BTreeMap<String, usize>,
}

impl Tally {
    pub(super) fn calls(&self) -> usize {
        self.calls
    }

    pub(super) fn add(&mut self, change: &Change<'_>) {
        self.calls += 1;
        let losses = change.losses();
        self.masked += usize::from(losses.masked);
        self.shortened += usize::from(losses.shortened);
        self.incomplete += usize::from(losses.any());
        if !change.is_one() {
            self.unchanged += 1;
            return;
        }
        let rules = self.changed.entry(change.turn()).or_default();
        match rules.get_mut(change.rule()) {
            Some(calls) => *calls += 1,
            None => {
                rules.insert(change.rule().to_owned(), 1);
            }
        }
    }

    /// The kinds of change that there are: what each is called, and how often which rule has made it.
    fn turns(&self) -> impl Iterator<Item = (&'static str, &'static str, usize, &BTreeMap<String, usize>)> {
        TURNS.iter().filter_map(|(then, now, words, name)| {
            let rules = self.changed.get(&(*then, *now))?;
            Some((*words, *name, rules.values().sum(), rules))
        })
    }

    pub(super) fn for_programs(&self) -> TallyView<'_> {
        TallyView {
            r#type: "summary",
            calls: self.calls,
            unchanged: self.unchanged,
            masked: self.masked,
            shortened: self.shortened,
            changed: self
                .turns()
                .map(|(_, name, calls, rules)| (name, TurnView { calls, rules }))
                .collect(),
        }
    }

    pub(super) fn for_people(&self) -> String {
        let calls = count(self.calls, "recorded call");
        let mut text = if self.calls == self.unchanged {
            format!("{calls}: nothing would change.\n")
        } else {
            format!(
                "{calls}: {} would be decided differently.\n",
                self.calls - self.unchanged
            )
        };
        for (words, _, calls, rules) in self.turns() {
            text.push_str(&format!("{calls:>7} {words}: {}\n", most_frequent(rules)));
        }
        if self.incomplete > 0 {
            let (some, masked, shortened) = (self.incomplete, self.masked, self.shortened);
            text.push_str(&format!(
                "{some:>7} were not recorded whole (secrets masked: {masked}, shortened: {shortened}), and may be judged \
                 differently than they were.\n"
            ));
        }
        text
    }
}

/// The rules that are named most often first.
fn most_frequent(rules: &BTreeMap<String, usize>) -> String {
    let mut rules: Vec<_> = rules.iter().collect();
    rules.sort_by_key(|(_, calls)| std::cmp::Reverse(**calls));
    let more = rules.len().saturating_sub(RULES_NAMED);
    let mut named: Vec<_> = rules
        .iter()
        .take(RULES_NAMED)
        .map(|(rule, calls)| format!("{} ({calls})", harmless(rule)))
        .collect();
    if more > 0 {
        named.push(format!("and {}", count(more, "more rule")));
    }
    named.join(", ")
}
