//! `snell explain`: which hooks an event would run, and why the others would not.

use anyhow::Context;
use serde::Serialize;
use snell::{Diagnostic, Event, EventName, HookExplanation};

use super::DONE;
use super::run::read_event_from_stdin;
use crate::env::{ConfigArgs, TrustArgs, print_project_note};
use crate::output;
use crate::output::hook::{HookJsonView, find_hook_trust};

/// Show which hooks an event would run, and why the others would not
///
/// No hook runs. Without --tool the event is read from standard input.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    snell explain PreToolUse --tool Bash --input '{\"command\":\"git push\"}'\n  \
    snell explain Stop < event.json")]
pub(crate) struct Args {
    /// Name of the event, or an alias
    event: String,
    /// Explain a call of this tool, instead of an event on stdin
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// Use this tool input (JSON)
    #[arg(long, value_name = "JSON", requires = "tool")]
    input: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    trust: TrustArgs,
    #[command(flatten)]
    around: ConfigArgs,
}

/// One hook and whether it would run, as JSON.
#[derive(Serialize)]
struct HookExplanationView<'a> {
    fires: bool,
    why: &'a str,
    #[serde(flatten)]
    hook: HookJsonView<'a>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    let (event, notes) = read_event(args)?;
    let (engine, mut diagnostics) = args.trust.apply_to_builder(args.around.engine_builder_with_trust()?).load();
    diagnostics.extend(notes);
    diagnostics.extend(engine.check_event(&event));
    diagnostics.iter().for_each(output::print_finding);
    let explained = engine.explain(&event);
    if args.json {
        let files = engine.project_files();
        let views = explained.iter().map(|one| HookExplanationView {
            fires: one.fires,
            why: &one.why,
            hook: HookJsonView::new(&one.hook, find_hook_trust(&files, &one.hook)),
        });
        output::print_json(&views.collect::<Vec<_>>())?;
        return Ok(DONE);
    }
    print_project_note(&args.around);
    let (firing, others): (Vec<_>, Vec<_>) = explained.iter().partition(|one| one.fires);
    let tool = event.tool_name().map(|tool| format!(" on {tool}")).unwrap_or_default();
    output::print_line(&format!(
        "{}{tool}: {} of {} would run.",
        event.name,
        firing.len(),
        output::format_count(explained.len(), "hook")
    ));
    print_explanations("Would run, in this order:", &firing);
    print_explanations("Would not run:", &others);
    Ok(DONE)
}

fn read_event(args: &Args) -> anyhow::Result<(Event, Vec<Diagnostic>)> {
    let Some(tool) = &args.tool else {
        return read_event_from_stdin(&args.event);
    };
    let input = args.input.as_deref().unwrap_or("{}");
    let input = serde_json::from_str(input).with_context(|| format!("--input is not JSON: {input}"))?;
    Ok((Event::new(EventName::parse(&args.event)).with_tool(tool, input), Vec::new()))
}

fn print_explanations(title: &str, explained: &[&HookExplanation]) {
    if explained.is_empty() {
        return;
    }
    output::print_line("");
    output::print_heading(title);
    for one in explained {
        let hook = &one.hook;
        output::print_line(&format!("  {} {}  {}", hook.contract_name(), hook.origin, hook.command_summary()));
        output::print_faint(&format!("      {}", one.why));
    }
}
