//! `snell guard explain`: the programs that a call would run, their effects, the rules that check them, and the changes
//! that flip the decision.

use snell_guard::explain::{DecisionFlip, ExplainedEffect, ExplainedStep, GuardExplanation, RuleEvaluation};

use super::call_args::{GuardCallArgs, ToolCallRequest};
use super::location::GuardLocationArgs;
use super::wire::GuardExplanationWire;
use super::{render, rules};
use crate::commands::DONE;
use crate::output::{self, CommandError, TextStyle, apply_style, escape_invisible};

/// The description of inherited standard input, which is not shown: most programs have it.
const INHERITED_STDIN: &str = "the agent's own";

/// Show what the guard finds in a call, which rules check it, and what would change the verdict
///
/// Every program is shown as the shell would run it: without wrappers, with known values filled in, and with its
/// effects
/// on paths. The guard has judged every suggested change.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  snell guard explain 'x=rm; sudo $x -rf ~/old'\n  \
    snell guard explain --tool Read --input '{\"file_path\":\".env\"}' --json")]
pub(crate) struct Args {
    #[command(flatten)]
    which: GuardCallArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: GuardLocationArgs,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    let Some(call) = args.which.parse_call()? else {
        let hint = "pass a command (snell guard explain 'ls -l') or a tool (--tool and --input)";
        return Err(CommandError::new("no call to explain").with_hint(hint).into());
    };
    let mut places = args.place.resolve_locations()?;
    let (guard, cwd) = places.guard_for_cwd(None)?;
    let explanation = guard.for_agent(args.place.agent()).explain(&call.tool, &call.input, Some(cwd));
    if args.json {
        output::print_json(&GuardExplanationWire::from_explanation(&explanation))?;
    } else {
        output::start_paging();
        let hint = match args.place.agent() {
            None => render::render_agent_hint(guard, &call, cwd, &explanation.judgement),
            Some(_) => String::new(),
        };
        output::print_text(&render_explanation(&call, &explanation, &hint));
    }
    Ok(DONE)
}

fn render_explanation(call: &ToolCallRequest, explanation: &GuardExplanation, hint: &str) -> String {
    let mut text = render::render_judgement(call, &explanation.judgement);
    text.push_str(hint);
    for (number, step) in explanation.steps.iter().enumerate() {
        text.push('\n');
        render_step(number + 1, step, &mut text);
    }
    if explanation.steps_left_off > 0 {
        let more = output::format_count(explanation.steps_left_off, "more program");
        text.push_str(&format!("\n… and {more}\n"));
    }
    if !explanation.effects.is_empty() {
        text.push('\n');
        render_effects(&explanation.effects, "", &mut text);
    }
    render_flips(&explanation.flips, &mut text);
    text
}

/// One program that would run.
fn render_step(number: usize, step: &ExplainedStep, text: &mut String) {
    let words: Vec<_> = step.variables.iter().chain(step.words.iter().map(|word| &word.text)).cloned().collect();
    let words = words.join(" ");
    text.push_str(&format!("{number}. {}\n", apply_style(&escape_invisible(&words), TextStyle::Bold)));
    let mut row = |title: &str, value: &str| {
        if !value.is_empty() {
            text.push_str(&format!("   {title:<8} {}\n", escape_invisible(value)));
        }
    };
    row("written", Some(step.text.trim()).filter(|text| *text != words).unwrap_or_default());
    row("through", &step.through.join(", "));
    row("in", step.cwd.as_deref().unwrap_or("an unknown directory"));
    row("stdin", Some(step.stdin.as_str()).filter(|stdin| *stdin != INHERITED_STDIN).unwrap_or_default());
    let circumstances =
        [(step.privileged, "as another user"), (step.elsewhere, "on another machine or in a container")];
    let circumstances: Vec<_> = circumstances.iter().filter(|(holds, _)| *holds).map(|(_, words)| *words).collect();
    row("runs", &circumstances.join(", "));
    row("allowed", step.allowed_by.as_deref().unwrap_or_default());
    render_effects(&step.effects, "   ", text);
    if step.effects_left_off > 0 {
        let more = output::format_count(step.effects_left_off, "more effect");
        text.push_str(&format!("   … and {more}\n"));
    }
}

fn render_effects(effects: &[ExplainedEffect], indent: &str, text: &mut String) {
    for effect in effects {
        // The effect of a rule without a path has no description; the rule's line shows it.
        let deeper = match describe_effect(effect) {
            Some(happens) => {
                text.push_str(&format!("{indent}{}\n", escape_invisible(&happens)));
                "   "
            }
            None => "",
        };
        let (matched, others): (Vec<_>, Vec<_>) = effect.rules.iter().partition(|evaluation| evaluation.matched);
        for look in matched {
            text.push_str(&format!("{indent}{deeper}{}\n", describe_match(look)));
        }
        if !others.is_empty() {
            let others: Vec<_> = others.iter().map(|look| look.rule).collect();
            let others = format!("no match: {}", others.join(", "));
            text.push_str(&format!("{indent}{deeper}{}\n", apply_style(&others, TextStyle::Faint)));
        }
    }
}

/// The effect on its target, in words.
fn describe_effect(effect: &ExplainedEffect) -> Option<String> {
    let target = effect.target.as_deref()?;
    let place = if effect.place.is_empty() { String::new() } else { format!(" ({})", effect.place.join(", ")) };
    let depth = if effect.recursive { ", with everything in it" } else { "" };
    Some(format!("{} {target}{place}{depth}", effect.does))
}

/// The decision of a matching rule, and its source.
fn describe_match(look: &RuleEvaluation) -> String {
    let verdict = apply_style(look.verdict.name(), render::decision_style(look.verdict));
    let locked = if look.locked { ", locked" } else { "" };
    let allowed = match &look.allowed_by {
        Some(reason) => format!("; overridden by an allowed command: {}", escape_invisible(reason)),
        None => String::new(),
    };
    let source = rules::source_name(look.source);
    format!("{verdict} {} ({}, {source}{locked}){allowed}", look.rule, look.tier)
}

fn render_flips(flips: &[DecisionFlip], text: &mut String) {
    if flips.is_empty() {
        return;
    }
    text.push_str(&format!("\n{}\n", apply_style("To change the decision:", TextStyle::Bold)));
    for flip in flips {
        let decision = apply_style(&format!("{:<5}", flip.decision.name()), render::decision_style(flip.decision));
        text.push_str(&format!("  {decision}  {}\n", escape_invisible(&flip.what)));
        for line in flip.then.lines().filter(|line| !line.is_empty()) {
            text.push_str(&format!("         {}\n", escape_invisible(line)));
        }
    }
}
