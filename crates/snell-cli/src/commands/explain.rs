//! `snell explain`: which hooks an event would fire, and why the others would not.

use anyhow::Context;
use serde::Serialize;
use snell::{Diagnostic, Event, EventName, Explanation, ProjectFile};

use super::DONE;
use super::run::event_from_stdin;
use crate::around::{Around, RequireTrust, tell_project};
use crate::hook_view::{HookView, trusted};
use crate::output;

/// Say which hooks an event would fire, and why the others would not; runs nothing
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    snell explain PreToolUse --tool Bash --input '{\"command\":\"git push\"}'\n  \
    snell explain Stop < event.json")]
pub(crate) struct Args {
    /// The event's name or an alias of it
    event: String,
    /// The tool's name, instead of an event on stdin
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// The tool's input as JSON
    #[arg(long, value_name = "JSON", requires = "tool")]
    input: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    trust: RequireTrust,
    #[command(flatten)]
    around: Around,
}

/// One hook and what it makes of the event, for programs.
#[derive(Serialize)]
struct Explained<'a> {
    fires: bool,
    why: &'a str,
    #[serde(flatten)]
    hook: HookView<'a>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    let (event, notes) = event(args)?;
    let (engine, mut diagnostics) = args.trust.demand(args.around.engine_with_pins()?).load();
    diagnostics.extend(notes);
    diagnostics.extend(engine.remarks(&event));
    for diagnostic in &diagnostics {
        output::note(&diagnostic.to_string());
    }
    let explained = engine.explain(&event);
    if args.json {
        let files = engine.project_files();
        let explained: Vec<_> = explained.iter().map(|one| for_programs(one, &files)).collect();
        output::json(&explained)?;
        return Ok(DONE);
    }
    tell_project(&args.around);
    let (firing, others): (Vec<_>, Vec<_>) = explained.iter().partition(|one| one.fires);
    let tool = event.tool_name().map(|tool| format!(" on {tool}")).unwrap_or_default();
    output::line(&format!(
        "{}{tool}: {} of {} would run.",
        event.name,
        firing.len(),
        output::count(explained.len(), "hook")
    ));
    show("Would run, in this order:", &firing);
    show("Would not run:", &others);
    Ok(DONE)
}

fn event(args: &Args) -> anyhow::Result<(Event, Vec<Diagnostic>)> {
    let Some(tool) = &args.tool else {
        return event_from_stdin(&args.event);
    };
    let input = args.input.as_deref().unwrap_or("{}");
    let input = serde_json::from_str(input).with_context(|| format!("--input is not JSON: {input}"))?;
    Ok((
        Event::new(EventName::parse(&args.event)).with_tool(tool, input),
        Vec::new(),
    ))
}

fn show(title: &str, explained: &[&Explanation]) {
    if explained.is_empty() {
        return;
    }
    output::line("");
    output::heading(title);
    for one in explained {
        let hook = &one.hook;
        output::line(&format!("  {} {}  {}", hook.contract(), hook.origin, hook.command()));
        output::faint(&format!("      {}", one.why));
    }
}

fn for_programs<'a>(one: &'a Explanation, files: &[ProjectFile]) -> Explained<'a> {
    Explained {
        fires: one.fires,
        why: &one.why,
        hook: HookView::of(&one.hook, trusted(files, &one.hook)),
    }
}
