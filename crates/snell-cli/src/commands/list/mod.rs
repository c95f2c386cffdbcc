//! `snell list`: the hooks of a project, or the agents.

mod agents;

use snell::{ProjectFile, Severity, TrustStatus, UserMessage};

use super::DONE;
use crate::env::{ConfigArgs, TrustArgs, format_lint_command, print_project_note};
use crate::output::hook::{HookJsonView, find_hook_trust, note_own_hooks};
use crate::output::{self, TableColumn, TextTable};

/// List the hooks of this project, in the order in which they run
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  snell list --project ~/work\n  snell list --agents")]
pub(crate) struct Args {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// List the agents, and the parts of a hook's answer that each accepts
    #[arg(long, conflicts_with_all = ["require_trust", "project", "configs"])]
    agents: bool,
    #[command(flatten)]
    trust: TrustArgs,
    #[command(flatten)]
    around: ConfigArgs,
}

const COLUMNS: [TableColumn; 5] = [
    TableColumn::new("EVENT"),
    TableColumn::new("MATCHER").with_drop_rank(3),
    TableColumn::new("COMMAND").flexible(),
    TableColumn::new("CONTRACT").with_drop_rank(1),
    TableColumn::new("SOURCE").with_drop_rank(2),
];

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    if args.agents {
        return list_agents(args);
    }
    let (engine, diagnostics) = args.trust.apply_to_builder(args.around.engine_builder_with_trust()?).load();
    let hooks = engine.hooks();
    let files = engine.project_files();
    if args.json {
        let views: Vec<_> = hooks.iter().map(|hook| HookJsonView::new(hook, find_hook_trust(&files, hook))).collect();
        output::print_json(&views)?;
        return Ok(DONE);
    }
    output::start_paging();
    print_project_note(&args.around);
    let (own, others): (Vec<_>, Vec<_>) = hooks.iter().partition(|hook| hook.is_excluded);
    let listed: Vec<_> = others.into_iter().map(|hook| HookJsonView::new(hook, None)).collect();
    if listed.is_empty() {
        output::print_line("No hooks here. To add some: snell docs write-hooks");
    } else {
        let mut table = TextTable::new(COLUMNS);
        for hook in &listed {
            let mut command = hook.command.clone();
            if let Some(why) = hook.disabled {
                command = format!("(off: {why}) {command}");
            }
            table.add_row([
                hook.events.join(","),
                hook.matcher.unwrap_or("-").to_owned(),
                command,
                hook.contract.to_owned(),
                hook.location(),
            ]);
        }
        table.print();
    }
    note_own_hooks(&own, None);
    let errors = diagnostics.iter().filter(|found| found.severity == Severity::Error).count();
    if errors > 0 {
        let warning = UserMessage::new(format!("{} in the configuration", output::format_count(errors, "error")));
        let command = format_lint_command(&args.around.resolve_project()?);
        output::print_warning(warning.with_hint(format!("run `{command}`")));
    }
    note_untrusted_files(&files, args);
    Ok(DONE)
}

fn list_agents(args: &Args) -> anyhow::Result<u8> {
    args.around.check_home_dir()?;
    let home = args.around.home_dir();
    if args.json {
        agents::print_agents_as_json(home.as_deref())?;
    } else {
        output::start_paging();
        agents::print_agents(home.as_deref());
    }
    Ok(DONE)
}

/// Names the files of the project that are ignored where trust is required, even if it is not required here.
fn note_untrusted_files(files: &[ProjectFile], args: &Args) {
    let untrusted: Vec<_> = files.iter().filter(|file| file.status != TrustStatus::Trusted).collect();
    for file in &untrusted {
        let state = match file.status {
            TrustStatus::Changed => "has changed since you trusted it",
            _ => "is not trusted",
        };
        let (shown, command) = (&file.display_path, &file.command);
        let warning = UserMessage::new(format!(
            "{shown} {state}, so it is ignored inside agents and by `snell run --require-trust`"
        ));
        output::print_warning(warning.with_hint(format!("review the file, then run `{command}`")));
    }
    let pins = (!untrusted.is_empty()).then(|| args.around.trust_file().load_or_empty());
    if let Some(fault) = pins.as_ref().and_then(|pins| pins.fault()) {
        output::print_warning(format!("no file is trusted: {fault}"));
    }
}
