//! `snell guard explain`: what the guard reads in a call, what that would do, which rules look at it, and what would
//! have to be different.

use anyhow::bail;
use snell_guard::explain::{Consequence, Explanation, Flip, Look, Step};

use super::call::{Call, Which};
use super::place::Place;
use super::wire::Explained;
use super::{rules, shown};
use crate::commands::DONE;
use crate::output::{self, Style, harmless, styled};

/// What most programs would read, and nobody needs to be told.
const INHERITED: &str = "what the agent has";

/// Show what the guard reads in a call, which rules look at it, and what would change the verdict
///
/// Every program that would run is shown as the shell would run it, unwrapped and with what is known put in, with what it
/// would do to which place. Every change that is offered was judged.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  snell guard explain 'x=rm; sudo $x -rf ~/old'\n  \
    snell guard explain --tool Read --input '{\"file_path\":\".env\"}' --json")]
pub(crate) struct Args {
    #[command(flatten)]
    which: Which,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: Place,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    let Some(call) = args.which.read()? else {
        bail!(
            "there is no call to explain; name a command (snell guard explain 'ls -l'), or a tool with --tool and --input"
        );
    };
    let mut places = args.place.look_and_tell()?;
    let (guard, cwd) = places.at(None)?;
    let explanation = guard.explain(&call.tool, &call.input, Some(cwd));
    if args.json {
        output::json(&Explained::of(&explanation))?;
    } else {
        output::text(&in_words(&call, &explanation));
    }
    Ok(DONE)
}

fn in_words(call: &Call, explanation: &Explanation) -> String {
    let mut text = shown::judged(call, &explanation.judgement);
    for (number, step) in explanation.steps.iter().enumerate() {
        text.push('\n');
        show_step(number + 1, step, &mut text);
    }
    if explanation.steps_left_off > 0 {
        let more = output::count(explanation.steps_left_off, "more program");
        text.push_str(&format!("\n… and {more}\n"));
    }
    if !explanation.effects.is_empty() {
        text.push('\n');
        show_effects(&explanation.effects, "", &mut text);
    }
    show_flips(&explanation.flips, &mut text);
    text
}

/// One program that would run.
fn show_step(number: usize, step: &Step, text: &mut String) {
    let words: Vec<_> = step
        .variables
        .iter()
        .chain(step.words.iter().map(|word| &word.text))
        .cloned()
        .collect();
    let words = words.join(" ");
    text.push_str(&format!("{number}. {}\n", styled(&harmless(&words), Style::Bold)));
    let mut row = |title: &str, said: &str| {
        if !said.is_empty() {
            text.push_str(&format!("   {title:<8} {}\n", harmless(said)));
        }
    };
    row(
        "written",
        Some(step.text.trim()).filter(|text| *text != words).unwrap_or_default(),
    );
    row("through", &step.through.join(", "));
    row("in", step.cwd.as_deref().unwrap_or("a directory that cannot be known"));
    row(
        "stdin",
        Some(step.stdin.as_str())
            .filter(|stdin| *stdin != INHERITED)
            .unwrap_or_default(),
    );
    let circumstances = [
        (step.privileged, "as another user"),
        (step.elsewhere, "on another machine or in a container"),
    ];
    let circumstances: Vec<_> = circumstances
        .iter()
        .filter(|(holds, _)| *holds)
        .map(|(_, words)| *words)
        .collect();
    row("runs", &circumstances.join(", "));
    row("allowed", step.allowed_by.as_deref().unwrap_or_default());
    show_effects(&step.effects, "   ", text);
    if step.effects_left_off > 0 {
        let more = output::count(step.effects_left_off, "more thing");
        text.push_str(&format!("   … and {more} that it would do\n"));
    }
}

fn show_effects(effects: &[Consequence], indent: &str, text: &mut String) {
    for effect in effects {
        // What only one rule is about has no name but the rule's.
        let deeper = match happens(effect) {
            Some(happens) => {
                text.push_str(&format!("{indent}{}\n", harmless(&happens)));
                "   "
            }
            None => "",
        };
        let (matched, others): (Vec<_>, Vec<_>) = effect.rules.iter().partition(|look| look.matched);
        for look in matched {
            text.push_str(&format!("{indent}{deeper}{}\n", matched_in_words(look)));
        }
        if !others.is_empty() {
            let others: Vec<_> = others.iter().map(|look| look.rule).collect();
            let others = format!("no match: {}", others.join(", "));
            text.push_str(&format!("{indent}{deeper}{}\n", styled(&others, Style::Faint)));
        }
    }
}

/// What happens to which place.
fn happens(effect: &Consequence) -> Option<String> {
    let target = effect.target.as_deref()?;
    let place = if effect.place.is_empty() {
        String::new()
    } else {
        format!(" ({})", effect.place.join(", "))
    };
    let depth = if effect.recursive {
        ", with all that is in it"
    } else {
        ""
    };
    Some(format!("{} {target}{place}{depth}", effect.does))
}

/// What a rule that matches does here, and who says so.
fn matched_in_words(look: &Look) -> String {
    let verdict = styled(look.verdict.name(), shown::style(look.verdict));
    let locked = if look.locked { ", locked" } else { "" };
    let allowed = match &look.allowed_by {
        Some(reason) => format!("; does not count here: {}", harmless(reason)),
        None => String::new(),
    };
    let source = rules::named(look.source);
    format!("{verdict} {} ({}, {source}{locked}){allowed}", look.rule, look.tier)
}

fn show_flips(flips: &[Flip], text: &mut String) {
    if flips.is_empty() {
        return;
    }
    text.push_str(&format!(
        "\n{}\n",
        styled("What would change the verdict:", Style::Bold)
    ));
    for flip in flips {
        let decision = styled(flip.decision.name(), shown::style(flip.decision));
        text.push_str(&format!("  {decision}  {}\n", harmless(&flip.what)));
        for line in flip.then.lines().filter(|line| !line.is_empty()) {
            text.push_str(&format!("         {}\n", harmless(line)));
        }
    }
}
