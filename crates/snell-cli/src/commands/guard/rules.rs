//! `snell guard rules`: what is judged, how grave it is, and what happens then here.

use anyhow::bail;
use clap::builder::PossibleValuesParser;
use serde::Serialize;
use snell::{GuardAuthor, GuardSettings, Origin, Timestamp, did_you_mean};
use snell_guard::rules::{Cases, RULES, Rule, Tier};
use snell_guard::{Preset, Source, Verdict};

use super::guards::Known;
use super::in_force::InForce;
use super::place::Place;
use super::shown;
use crate::around;
use crate::commands::DONE;
use crate::guard::choice;
use crate::output::{self, Style, Table, styled};

/// Show the rules, and what each one does here
///
/// Names a rule by its id to see all about it. A choice for a rule is written in snell.toml, under [guard.rules].
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  snell guard rules\n  snell guard rules --tier secret\n  snell guard rules push\n  \
    snell guard rules git.push-force"
)]
pub(crate) struct Args {
    /// A rule's id, or a word to look for in ids, reasons and advice
    #[arg(value_name = "RULE")]
    word: Option<String>,
    /// Only rules of this tier
    #[arg(long, value_name = "TIER", value_parser = tiers())]
    tier: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: Place,
}

/// Tiers, gravest first.
const TIERS: &[Tier] = &[
    Tier::Catastrophic,
    Tier::OwnGuard,
    Tier::Secret,
    Tier::Privilege,
    Tier::Process,
    Tier::Infra,
    Tier::Destructive,
    Tier::Style,
];

fn tiers() -> PossibleValuesParser {
    TIERS.iter().map(|tier| tier.name()).collect::<Vec<_>>().into()
}

/// A rule, and what happens here when it matches.
#[derive(Debug, Serialize)]
struct RuleView {
    id: &'static str,
    tier: &'static str,
    decision: &'static str,
    /// Who says so.
    source: &'static str,
    /// Where that is written.
    origin: Option<String>,
    locked: bool,
    reason: String,
    advice: &'static str,
    #[serde(skip)]
    rule: &'static Rule,
    #[serde(skip)]
    verdict: Verdict,
}

/// All about one rule, for programs.
#[derive(Serialize)]
struct Whole<'a> {
    #[serde(flatten)]
    view: &'a RuleView,
    #[serde(rename = "match")]
    matches: Vec<&'static str>,
    not_match: Vec<&'static str>,
}

/// Everything, for programs.
#[derive(Serialize)]
struct Everything<'a> {
    preset: &'static str,
    on_failure: &'static str,
    rules: &'a [RuleView],
    #[serde(flatten)]
    beside: InForce,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    let mut places = args.place.look()?;
    let known = places.here()?;
    known.tell_if_off();
    let policy = &known.guard.policy;
    if policy.preset == Preset::Audit {
        output::note("the preset is audit: nothing is stopped, and this is what would be");
    }
    let word = args.word.as_deref();
    if let Some(rule) = RULES.iter().find(|rule| Some(rule.id) == word) {
        return show_one(&RuleView::of(rule, known), args.json);
    }
    let listed = listed(args, known);
    if let Some(word) = word.filter(|_| listed.is_empty()) {
        let of_tier = args
            .tier
            .as_ref()
            .map_or_else(String::new, |tier| format!(" of the tier {tier}"));
        let near = did_you_mean(word, RULES.iter().map(|rule| rule.id));
        let near = near.map_or_else(String::new, |near| format!(" (did you mean \"{near}\"?)"));
        bail!("no rule{of_tier} is called \"{word}\" or has that in it{near}; `snell guard rules` shows all of them");
    }
    let beside = InForce::of(&known.settings.guard, around::now().unwrap_or_else(Timestamp::now));
    if args.json {
        output::json(&Everything {
            preset: policy.preset.name(),
            on_failure: policy.on_failure.name(),
            rules: &listed,
            beside,
        })?;
        return Ok(DONE);
    }
    show(&listed);
    if word.is_none() && args.tier.is_none() {
        beside.show();
    }
    Ok(DONE)
}

/// The rules that are asked for, gravest first.
fn listed(args: &Args, known: &Known) -> Vec<RuleView> {
    let word = args.word.as_deref().unwrap_or_default().to_lowercase();
    let has_word = |rule: &&Rule| {
        let texts = [rule.id, rule.reason, rule.advice];
        texts.iter().any(|text| text.to_lowercase().contains(&word))
    };
    let of_tier = |rule: &&Rule| args.tier.as_deref().is_none_or(|tier| rule.tier.name() == tier);
    let mut rules: Vec<_> = RULES.iter().filter(has_word).filter(of_tier).collect();
    rules.sort_by_key(|rule| (rule.tier, rule.id));
    rules.into_iter().map(|rule| RuleView::of(rule, known)).collect()
}

impl RuleView {
    fn of(rule: &'static Rule, known: &Known) -> Self {
        let (verdict, source) = known.guard.policy.verdict_with_source(rule);
        Self {
            id: rule.id,
            tier: rule.tier.name(),
            decision: verdict.name(),
            source: named(source),
            origin: written(rule, verdict, source, &known.settings.guard).map(Origin::to_string),
            locked: rule.locked,
            reason: in_general(rule.reason),
            advice: rule.advice,
            rule,
            verdict,
        }
    }

    /// Where the decision comes from, as people read it.
    fn from(&self) -> String {
        match &self.origin {
            Some(origin) => format!("{} {origin}", self.source),
            None => self.source.to_owned(),
        }
    }
}

/// Where a decision comes from, as it is told.
pub(super) fn named(source: Source) -> &'static str {
    match source {
        Source::Rule => "default",
        Source::Preset => "preset",
        Source::OnFailure => "on_failure",
        Source::User => "user",
        Source::Project => "project",
    }
}

/// Where it is written that a rule is decided like this, if it is written anywhere.
fn written<'a>(rule: &Rule, verdict: Verdict, source: Source, settings: &'a GuardSettings) -> Option<&'a Origin> {
    let chosen = |is_author: fn(GuardAuthor) -> bool| {
        let mut said = settings.rules.iter().rev();
        let found = said.find(|said| said.rule == rule.id && said.choice == choice(verdict) && is_author(said.author));
        found.map(|said| &said.origin)
    };
    match source {
        Source::Rule => None,
        Source::Preset => settings.preset_origin.as_ref(),
        Source::OnFailure => settings.on_failure_origin.as_ref(),
        Source::User => chosen(|author| author == GuardAuthor::User),
        Source::Project => chosen(|author| author != GuardAuthor::User),
    }
}

/// A reason that is about no call in particular.
fn in_general(reason: &str) -> String {
    let text = reason
        .replace("{target}", "the target")
        .replace("{program}", "the program")
        .replace("`{field}`", "a field");
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().collect::<String>());
    first.unwrap_or_default() + letters.as_str()
}

fn show(listed: &[RuleView]) {
    let mut table = Table::new(["RULE", "TIER", "DECISION", "FROM", "LOCKED", "REASON"], 5);
    for view in listed {
        let plain = |text: &str| (text.to_owned(), Style::Plain);
        table.styled_row([
            plain(view.id),
            plain(view.tier),
            (view.decision.to_owned(), shown::style(view.verdict)),
            plain(&view.from()),
            plain(if view.locked { "locked" } else { "" }),
            plain(&view.reason),
        ]);
    }
    table.print();
}

fn show_one(view: &RuleView, json: bool) -> anyhow::Result<u8> {
    let Cases {
        matches,
        not_match,
        whole_match,
        whole_not_match,
    } = view.rule.cases;
    let whole = Whole {
        view,
        matches: [matches, whole_match].concat(),
        not_match: [not_match, whole_not_match].concat(),
    };
    if json {
        output::json(&whole)?;
        return Ok(DONE);
    }
    output::heading(view.id);
    output::line(&view.reason);
    output::line("");
    let decision = styled(view.decision, shown::style(view.verdict));
    let mut text = format!("Tier      {}\nDecision  {decision} ({})\n", view.tier, view.from());
    if view.locked {
        text.push_str("Locked    a project cannot make it milder, and what `allow` names is judged by it all the same, also in your own file\n");
    }
    text.push_str(&format!("Instead   {}\n", view.advice));
    output::text(&text);
    show_cases("It matches:", &whole.matches);
    show_cases("It does not match:", &whole.not_match);
    Ok(DONE)
}

fn show_cases(title: &str, cases: &[&str]) {
    if cases.is_empty() {
        return;
    }
    output::line("");
    output::heading(title);
    for case in cases {
        output::line(&format!("  {case}"));
    }
}
