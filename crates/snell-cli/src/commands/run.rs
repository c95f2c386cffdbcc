//! `snell run`: a host's event in, the verdict out.

use std::io::{IsTerminal, Read};

use anyhow::{Context, bail};
use snell::{Diagnostic, Engine, Event, GuardReport, Report, Timestamp, Verdict};

use super::{BLOCKED, DONE, adopt_orphans, block_on};
use crate::around::{Around, RequireTrust, now, user_name};
use crate::guard::Hearing;
use crate::output;

/// A larger payload is refused rather than held in memory several times over.
pub(super) const MAX_PAYLOAD_BYTES: u64 = 64 * 1024 * 1024;

/// Fire an event: its JSON on stdin, the verdict as JSON on stdout
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    echo '{\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"git push\"}}' | snell run PreToolUse\n  \
    echo '{\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"make\"}}' | snell run PreToolUse --guard\n  \
    snell run SessionStart --project ~/work < /dev/null\n\n\
    Exit codes: 0 go on, 2 blocked, 1 anything of our own.")]
pub(crate) struct Args {
    /// The event's name or an alias of it (PreToolUse, BeforeTool, pre-tool-use …)
    event: String,
    /// Print JSON, as it always does
    #[arg(long, hide = true)]
    json: bool,
    /// Also let the guard judge the tool call, before the hooks do
    #[arg(long)]
    guard: bool,
    #[command(flatten)]
    trust: RequireTrust,
    #[command(flatten)]
    around: Around,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    let (mut event, notes) = event_from_stdin(&args.event)?;
    if event.user_name.is_none() {
        event.user_name = user_name();
    }
    let (engine, mut diagnostics) = args.trust.engine(&args.around)?.load();
    diagnostics.extend(notes);
    adopt_orphans();
    let (verdict, guard) = if args.guard {
        fire_guarded(args, &engine, &event)?
    } else {
        (block_on(engine.fire(event))?, None)
    };
    let mut report = Report::new(&verdict, &diagnostics);
    report.guard = guard;
    let written = output::json(&report);
    // A block is a block, also for a host that does not hear why.
    if verdict.is_blocked() {
        if let Err(error) = written {
            output::error(&error);
        }
        return Ok(BLOCKED);
    }
    written.map(|()| DONE)
}

/// What the guard says about the event, then the hooks, and then the guard again if they changed the tool's input.
fn fire_guarded(args: &Args, engine: &Engine, event: &Event) -> anyhow::Result<(Verdict, Option<GuardReport>)> {
    let project = args.around.project()?;
    let now = now()?.unwrap_or_else(Timestamp::now);
    let Some(mut hearing) = Hearing::of(event, &engine.settings(), &project, now) else {
        return Ok((block_on(engine.fire(event.clone()))?, None));
    };
    let mut verdict = Verdict::new(event.name.clone());
    hearing.hear(&mut verdict);
    verdict = verdict.followed_by(block_on(engine.fire(event.clone()))?);
    hearing.hear_again(&mut verdict);
    Ok((verdict, hearing.report()))
}

/// The event on standard input; a terminal there means that there are no details.
pub(super) fn event_from_stdin(name: &str) -> anyhow::Result<(Event, Vec<Diagnostic>)> {
    Ok(Event::from_json(Some(name), &payload_from_stdin()?)?)
}

/// What is on standard input, within limits; nothing if that is a terminal.
pub(super) fn payload_from_stdin() -> anyhow::Result<Vec<u8>> {
    let mut payload = Vec::new();
    let stdin = std::io::stdin().lock();
    if !stdin.is_terminal() {
        stdin
            .take(MAX_PAYLOAD_BYTES + 1)
            .read_to_end(&mut payload)
            .context("cannot read the event from stdin")?;
    }
    if payload.len() as u64 > MAX_PAYLOAD_BYTES {
        bail!("the event on stdin is larger than {MAX_PAYLOAD_BYTES} bytes");
    }
    Ok(payload)
}
