//! `snell list`: the hooks that are configured here.

use std::sync::Arc;

use snell::{Hook, Judgement, ProjectFile, Severity};

use super::DONE;
use crate::around::{Around, RequireTrust, lint_of, tell_project};
use crate::hook_view::{HookView, trusted};
use crate::output::{self, Table};

/// List the hooks that are configured here, in the order in which they run
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  snell list --project ~/work")]
pub(crate) struct Args {
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    trust: RequireTrust,
    #[command(flatten)]
    around: Around,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    let (engine, diagnostics) = args.trust.demand(args.around.engine_with_pins()?).load();
    let hooks = engine.hooks();
    let files = engine.project_files();
    if args.json {
        let views: Vec<_> = hooks
            .iter()
            .map(|hook| HookView::of(hook, trusted(&files, hook)))
            .collect();
        output::json(&views)?;
        return Ok(DONE);
    }
    tell_project(&args.around);
    let (own, others): (Vec<_>, Vec<_>) = hooks.iter().partition(|hook| hook.is_left_out);
    let listed: Vec<_> = others.into_iter().map(|hook| HookView::of(hook, None)).collect();
    if listed.is_empty() {
        output::line("No hooks are configured here. `snell docs configuration` shows where they can be written.");
    } else {
        let mut table = Table::new(["EVENT", "MATCHER", "COMMAND", "CONTRACT", "SOURCE"], 2);
        for hook in &listed {
            let mut command = hook.command.clone();
            if let Some(why) = hook.disabled {
                command = format!("(off: {why}) {command}");
            }
            table.row([
                hook.events.join(","),
                hook.matcher.unwrap_or("-").to_owned(),
                command,
                hook.contract.to_owned(),
                hook.place(),
            ]);
        }
        table.print();
    }
    tell_of_own(&own);
    let errors = diagnostics
        .iter()
        .filter(|found| found.severity == Severity::Error)
        .count();
    if errors > 0 {
        output::note(&format!(
            "{} in the configuration; run `{}`",
            output::count(errors, "error"),
            lint_of(&args.around.project()?)
        ));
    }
    tell_of_trust(&files, args);
    Ok(DONE)
}

/// Says where Snell itself is registered: one line a file, because it is there once for every event.
fn tell_of_own(own: &[&Arc<Hook>]) {
    let mut files: Vec<&str> = own.iter().map(|hook| hook.origin.shown.as_str()).collect();
    files.dedup();
    for file in files {
        let number = own.iter().filter(|hook| hook.origin.shown == file).count();
        let times = output::count(number, "time");
        output::note(&format!(
            "{file} calls Snell itself, {times}; that is for the agent that reads it, and is left out here"
        ));
    }
}

/// Says which files of the project do not count where trust is required, whether it is required here or not.
fn tell_of_trust(files: &[ProjectFile], args: &Args) {
    let untrusted: Vec<_> = files
        .iter()
        .filter(|file| file.judgement != Judgement::Trusted)
        .collect();
    for file in &untrusted {
        let state = match file.judgement {
            Judgement::Changed => "was changed since it was trusted",
            _ => "is not trusted",
        };
        let (shown, command) = (&file.shown, &file.command);
        output::note(&format!(
            "{shown} {state}, so it does not count where trust is required; look at it, then run: {command}"
        ));
    }
    let pins = (!untrusted.is_empty()).then(|| args.around.pins().read());
    if let Some(fault) = pins.as_ref().and_then(|pins| pins.fault()) {
        output::note(&format!("nothing is trusted: {fault}"));
    }
}
