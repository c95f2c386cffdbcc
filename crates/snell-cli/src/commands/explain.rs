//! `snell explain`: which hooks an event would run, and why the others would not.

use anyhow::Context;
use serde::Serialize;
use snell::{Diagnostic, Engine, Event, EventName, HookExplanation};

use super::DONE;
use super::run::read_event_from_stdin;
use crate::env::{ConfigArgs, TrustArgs, print_project_note};
use crate::output::hook::{HookJsonView, find_hook_trust, note_own_hooks};
use crate::output::{self, CommandError};

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
    /// Include hooks that only call Snell itself
    #[arg(long)]
    all: bool,
    /// Print JSON, with all hooks
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
    let (engine, mut diagnostics) = args.trust.apply_to_builder(args.around.engine_builder_with_trust()?).load();
    let standing = find_event_standing(&engine, &args.event)?;
    let (event, notes) = read_event(args)?;
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
    output::start_paging();
    print_project_note(&args.around);
    let (own, explained): (Vec<_>, Vec<_>) = explained.into_iter().partition(|one| one.hook.is_excluded && !args.all);
    let (firing, others): (Vec<_>, Vec<_>) = explained.iter().partition(|one| one.fires);
    let tool = event.tool_name().map(|tool| format!(" on {tool}")).unwrap_or_default();
    output::print_line(&format!(
        "{}{}{tool}: {} of {} would run.",
        event.name,
        standing.label(),
        firing.len(),
        output::format_count(explained.len(), "hook")
    ));
    print_explanations("Would run, in this order:", &firing);
    print_explanations("Would not run:", &others);
    let own: Vec<_> = own.iter().map(|one| &one.hook).collect();
    note_own_hooks(&own, Some("to include them, add --all"));
    Ok(DONE)
}

/// Whether an event is known.
#[derive(Clone, Copy, Debug, PartialEq)]
enum EventStanding {
    Known,
    /// No agent has it, but a hook runs on it.
    Kept,
}

impl EventStanding {
    fn label(self) -> &'static str {
        match self {
            Self::Known => "",
            Self::Kept => " (unknown event, kept)",
        }
    }
}

/// Refuses an event that no agent has and that no hook runs on.
fn find_event_standing(engine: &Engine, name: &str) -> anyhow::Result<EventStanding> {
    let event = EventName::parse(name);
    if event.is_known() {
        return Ok(EventStanding::Known);
    }
    if engine.hooks().iter().any(|hook| hook.events.contains(&event)) {
        return Ok(EventStanding::Kept);
    }
    let hint = match EventName::suggest_name(name) {
        Some(near) => format!("did you mean \"{near}\"?"),
        None => "to see all events: snell docs events".into(),
    };
    Err(CommandError::new(format!("unknown event \"{name}\"")).with_hint(hint).into())
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
