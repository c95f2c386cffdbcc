//! `snell list`: the hooks that are configured here.

use snell::Severity;

use super::DONE;
use crate::around::Around;
use crate::hook_view::HookView;
use crate::output::{self, Table};

/// List the hooks that are configured here, in the order in which they run
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  snell list --project ~/work")]
pub(crate) struct Args {
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    around: Around,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    let (engine, diagnostics) = args.around.engine()?.load();
    let hooks = engine.hooks();
    let listed: Vec<_> = hooks.iter().map(|hook| HookView::of(hook)).collect();
    if args.json {
        output::json(&listed)?;
        return Ok(DONE);
    }
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
                format!("{}:{}", hook.source, hook.line),
            ]);
        }
        table.print();
    }
    let errors = diagnostics
        .iter()
        .filter(|found| found.severity == Severity::Error)
        .count();
    if errors > 0 {
        output::note(&format!(
            "{} in the configuration; run `snell lint`",
            output::count(errors, "error")
        ));
    }
    Ok(DONE)
}
