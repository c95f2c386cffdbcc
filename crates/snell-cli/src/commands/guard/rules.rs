//! `snell guard rules`: lists the rules with their tiers and their decisions here.

use std::collections::{BTreeMap, BTreeSet};

use clap::builder::PossibleValuesParser;
use serde::Serialize;
use snell::{GuardAuthor, GuardSettings, SourceLocation, Timestamp, did_you_mean};
use snell_guard::rules::{GuardRule, RULES, RuleCases};
use snell_guard::{DecisionSource, GuardDecision, GuardPolicy, PolicyPreset};

use super::location::GuardLocationArgs;
use super::policy_lists::GuardListsView;
use super::project_guards::GuardedProject;
use super::render;
use crate::commands::DONE;
use crate::env;
use crate::guard::choice_from_decision;
use crate::output::{self, CommandError, TableColumn, TextStyle, TextTable, apply_style};

/// List the rules and their decisions here
///
/// With a rule's id, show its details. To change a rule's decision, set it in snell.toml under [guard.rules].
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  snell guard rules\n  snell guard rules --tier secret\n  snell guard rules push\n  \
    snell guard rules git.push-force"
)]
pub(crate) struct Args {
    /// A rule's id, or a word to search for in ids, reasons and advice
    #[arg(value_name = "RULE")]
    word: Option<String>,
    /// List only rules of this tier
    #[arg(long, value_name = "TIER", value_parser = tier_names())]
    tier: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: GuardLocationArgs,
}

/// The tiers, gravest first.
fn tier_names() -> PossibleValuesParser {
    let tiers: BTreeSet<_> = RULES.iter().map(|rule| rule.tier).collect();
    tiers.iter().map(|tier| tier.name()).collect::<Vec<_>>().into()
}

/// A rule and its decision here.
#[derive(Debug, Serialize)]
struct GuardRuleView {
    id: &'static str,
    tier: &'static str,
    decision: &'static str,
    /// The source of the decision.
    source: &'static str,
    /// The place in a file that sets it.
    origin: Option<String>,
    locked: bool,
    /// The decision of each preset.
    presets: BTreeMap<&'static str, &'static str>,
    reason: String,
    advice: &'static str,
    #[serde(skip)]
    rule: &'static GuardRule,
    #[serde(skip)]
    verdict: GuardDecision,
}

/// The details of one rule as JSON.
#[derive(Serialize)]
struct RuleDetailView<'a> {
    #[serde(flatten)]
    view: &'a GuardRuleView,
    #[serde(rename = "match")]
    matches: Vec<&'static str>,
    not_match: Vec<&'static str>,
}

/// All rules as JSON.
#[derive(Serialize)]
struct GuardRulesView<'a> {
    preset: &'static str,
    on_failure: &'static str,
    headless: &'static str,
    protected_branches: &'a [String],
    rules: &'a [GuardRuleView],
    #[serde(flatten)]
    beside: GuardListsView,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    let mut places = args.place.resolve_locations()?;
    let known = places.default_project()?;
    let policy = known.guard.policy();
    if policy.preset == PolicyPreset::Audit {
        output::print_note("the preset is audit, so these decisions are reported but not enforced");
    }
    let word = args.word.as_deref();
    if let Some(rule) = RULES.iter().find(|rule| Some(rule.id) == word) {
        return print_rule(&GuardRuleView::new(rule, known), args.json);
    }
    let listed = select_rules(args, known);
    if let Some(word) = word.filter(|_| listed.is_empty()) {
        let of_tier = args.tier.as_ref().map_or_else(String::new, |tier| format!(" of tier {tier}"));
        let error = CommandError::new(format!("no rule{of_tier} matches \"{word}\""));
        let hint = match did_you_mean(word, RULES.iter().map(|rule| rule.id)) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => "run `snell guard rules` to list all rules".to_owned(),
        };
        return Err(error.with_hint(hint).into());
    }
    let beside =
        GuardListsView::from_settings(&known.settings.guard, env::read_clock_override().unwrap_or_else(Timestamp::now));
    if args.json {
        output::print_json(&GuardRulesView {
            preset: policy.preset.name(),
            on_failure: policy.on_failure.name(),
            headless: known.settings.guard.headless.name(),
            protected_branches: &policy.protected_branches,
            rules: &listed,
            beside,
        })?;
        return Ok(DONE);
    }
    output::start_paging();
    print_rules(&listed);
    if word.is_none() && args.tier.is_none() {
        output::print_line("");
        output::print_line(&format!("Protected branches: {}", policy.protected_branches.join(", ")));
        beside.print();
    }
    Ok(DONE)
}

/// The rules that match the arguments, gravest first.
fn select_rules(args: &Args, known: &GuardedProject) -> Vec<GuardRuleView> {
    let word = args.word.as_deref().unwrap_or_default().to_lowercase();
    let has_word = |rule: &&GuardRule| {
        let texts = [rule.id, rule.reason, rule.advice];
        texts.iter().any(|text| text.to_lowercase().contains(&word))
    };
    let of_tier = |rule: &&GuardRule| args.tier.as_deref().is_none_or(|tier| rule.tier.name() == tier);
    let mut rules: Vec<_> = RULES.iter().filter(has_word).filter(of_tier).collect();
    rules.sort_by_key(|rule| (rule.tier, rule.id));
    rules.into_iter().map(|rule| GuardRuleView::new(rule, known)).collect()
}

impl GuardRuleView {
    fn new(rule: &'static GuardRule, known: &GuardedProject) -> Self {
        let (verdict, source) = known.guard.policy().decide_with_source(rule);
        Self {
            id: rule.id,
            tier: rule.tier.name(),
            decision: verdict.name(),
            source: source_name(source),
            origin: find_origin(rule, verdict, source, &known.settings.guard).map(SourceLocation::to_string),
            locked: rule.locked,
            presets: PolicyPreset::ENFORCING
                .iter()
                .map(|preset| (preset.name(), GuardPolicy::new(*preset).decide(rule).name()))
                .collect(),
            reason: generalize_reason(rule.reason),
            advice: rule.advice,
            rule,
            verdict,
        }
    }

    /// The source of the decision, as people read it.
    fn describe_origin(&self) -> String {
        match &self.origin {
            Some(origin) => format!("{} {origin}", self.source),
            None => self.source.to_owned(),
        }
    }
}

/// The name of a decision's source.
pub(super) fn source_name(source: DecisionSource) -> &'static str {
    match source {
        DecisionSource::Rule => "default",
        DecisionSource::Preset => "preset",
        DecisionSource::OnFailure => "on_failure",
        DecisionSource::User => "user",
        DecisionSource::Project => "project",
    }
}

/// The place in a file that sets this decision, if any.
fn find_origin<'a>(
    rule: &GuardRule,
    verdict: GuardDecision,
    source: DecisionSource,
    settings: &'a GuardSettings,
) -> Option<&'a SourceLocation> {
    let chosen = |is_author: fn(GuardAuthor) -> bool| {
        let mut choices = settings.rules.iter().rev();
        let found = choices.find(|choice| {
            (choice.rule == rule.id || Some(choice.rule.as_str()) == rule.split_from)
                && choice.choice == choice_from_decision(verdict)
                && is_author(choice.author)
        });
        found.map(|choice| &choice.origin)
    };
    match source {
        DecisionSource::Rule => None,
        DecisionSource::Preset => settings.preset_origin.as_ref(),
        DecisionSource::OnFailure => settings.on_failure_origin.as_ref(),
        DecisionSource::User => chosen(|author| author == GuardAuthor::User),
        DecisionSource::Project => chosen(|author| author != GuardAuthor::User),
    }
}

/// The reason of a rule without a particular call.
fn generalize_reason(reason: &str) -> String {
    let text = reason
        .replace("{command}", "a command")
        .replace("{target}", "the target")
        .replace("{program}", "the program")
        .replace("`{field}`", "a field")
        .replace(": {cause}", "")
        .replace("{cause}", "The same effect was denied before.");
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().collect::<String>());
    first.unwrap_or_default() + letters.as_str()
}

const COLUMNS: [TableColumn; 6] = [
    TableColumn::new("RULE"),
    TableColumn::new("TIER").with_drop_rank(3),
    TableColumn::new("DECISION"),
    TableColumn::new("FROM").with_drop_rank(2),
    TableColumn::new("LOCKED").with_drop_rank(1),
    TableColumn::new("REASON").flexible(),
];

fn print_rules(listed: &[GuardRuleView]) {
    let mut table = TextTable::new(COLUMNS);
    for view in listed {
        let plain = |text: &str| (text.to_owned(), TextStyle::Plain);
        table.add_styled_row([
            plain(view.id),
            plain(view.tier),
            (view.decision.to_owned(), render::decision_style(view.verdict)),
            plain(&view.describe_origin()),
            plain(if view.locked { "locked" } else { "" }),
            plain(&view.reason),
        ]);
    }
    table.print();
}

fn print_rule(view: &GuardRuleView, json: bool) -> anyhow::Result<u8> {
    let RuleCases { matches, not_match, whole_match, whole_not_match } = view.rule.cases;
    let whole = RuleDetailView {
        view,
        matches: [matches, whole_match].concat(),
        not_match: [not_match, whole_not_match].concat(),
    };
    if json {
        output::print_json(&whole)?;
        return Ok(DONE);
    }
    output::start_paging();
    output::print_heading(view.id);
    output::print_line(&view.reason);
    output::print_line("");
    let decision = apply_style(view.decision, render::decision_style(view.verdict));
    let mut text = format!("Tier      {}\nDecision  {decision} ({})\n", view.tier, view.describe_origin());
    let presets: Vec<_> = PolicyPreset::ENFORCING
        .iter()
        .map(|preset| format!("{} {}", preset.name(), view.presets[preset.name()]))
        .collect();
    text.push_str(&format!("Presets   {}\n", presets.join(", ")));
    if view.locked {
        text.push_str("Locked    a project cannot make it milder, and `allow` entries do not override it\n");
    }
    text.push_str(&format!("Instead   {}\n", view.advice));
    output::print_text(&text);
    print_cases("It matches:", &whole.matches);
    print_cases("It does not match:", &whole.not_match);
    Ok(DONE)
}

fn print_cases(title: &str, cases: &[&str]) {
    if cases.is_empty() {
        return;
    }
    output::print_line("");
    output::print_heading(title);
    for case in cases {
        output::print_line(&format!("  {case}"));
    }
}
