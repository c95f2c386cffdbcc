//! `snell run`: a host's event in, the verdict out.

mod record;

use std::io::{IsTerminal, Read};
use std::time::Instant;

use anyhow::{Context, bail};
use snell::{Diagnostic, Engine, Event, Report, Timestamp, Verdict};

use super::{BLOCKED, DONE, adopt_orphans, block_on, concerns_a_hook};
use crate::around::{Around, HostAround, RequireTrust, now, user_name};
use crate::caller::Caller;
use crate::guard::Hearing;
use crate::output;
use record::Record;

/// A larger payload is refused rather than held in memory several times over.
pub(super) const MAX_PAYLOAD_BYTES: u64 = 64 * 1024 * 1024;

/// Fire an event: its JSON on stdin, the verdict as JSON on stdout
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    echo '{\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"git push\"}}' \\\n    \
      | snell run PreToolUse\n  \
    echo '{\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"make\"}}' \\\n    \
      | snell run PreToolUse --guard\n  \
    echo '{\"session_id\":\"s1\",\"agent_name\":\"mine\",\"prompt\":\"Go\"}' \\\n    \
      | snell run UserPromptSubmit --record\n  \
    snell run SessionStart --project ~/work < /dev/null")]
pub(crate) struct Args {
    /// The event's name or an alias of it (PreToolUse, BeforeTool, pre-tool-use …)
    event: String,
    /// Print JSON, as it always does
    #[arg(long, hide = true)]
    json: bool,
    /// Also let the guard judge the tool call, before the hooks do
    #[arg(long)]
    guard: bool,
    /// Also record what happens, as `snell hook` does; the event must have a session_id
    #[arg(long)]
    record: bool,
    #[command(flatten)]
    trust: RequireTrust,
    #[command(flatten)]
    around: HostAround,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    let started = Instant::now();
    let (mut event, notes) = event_from_stdin(&args.event)?;
    if args.record {
        Record::check(&event)?;
    }
    if event.user_name.is_none() {
        event.user_name = user_name();
    }
    let around = args.around.around();
    let (engine, mut diagnostics) = args.trust.engine(&around)?.load();
    let mut record = record(args, &around, &engine, &event, &diagnostics)?;
    diagnostics.extend(notes);
    adopt_orphans();
    let mut hearing = hearing(args, &around, &engine, &event)?;
    let verdict = fire(&engine, &event, hearing.as_mut())?;
    let mut report = Report::new(&verdict, &diagnostics);
    report.guard = hearing.as_ref().and_then(Hearing::report);
    if let Some(record) = &mut record {
        let guard = hearing.map(|hearing| hearing.recorded()).unwrap_or_default();
        record.decided(&verdict, guard, started.elapsed());
    }
    let written = output::json(&report);
    if let Some(record) = record {
        record.keep();
    }
    // A block is a block, also for a host that does not hear why.
    if verdict.is_blocked() {
        if let Err(error) = written {
            output::error(&error);
        }
        return Ok(BLOCKED);
    }
    written.map(|()| DONE)
}

/// What is to be kept of the event, if that is wanted.
fn record(
    args: &Args,
    around: &Around,
    engine: &Engine,
    event: &Event,
    findings: &[Diagnostic],
) -> anyhow::Result<Option<Record>> {
    if !args.record {
        return Ok(None);
    }
    let caller = Caller {
        data: around.data_dir(),
        now: now(),
    };
    let mut record = Record::new(&caller, event, around.project()?, &engine.settings(), findings);
    if concerns_a_hook(engine, event) {
        record.before_hooks();
    }
    Ok(Some(record))
}

/// The guard, if it is asked for and the event is about a call to come.
fn hearing<'a>(args: &Args, around: &Around, engine: &Engine, event: &'a Event) -> anyhow::Result<Option<Hearing<'a>>> {
    if !args.guard {
        return Ok(None);
    }
    let project = around.project()?;
    let now = now().unwrap_or_else(Timestamp::now);
    Ok(Hearing::of(event, &engine.settings(), &project, now))
}

/// What the guard says about the event, then the hooks, and then the guard again if they changed the tool's input.
fn fire(engine: &Engine, event: &Event, hearing: Option<&mut Hearing<'_>>) -> anyhow::Result<Verdict> {
    let Some(hearing) = hearing else {
        return block_on(engine.fire(event.clone()));
    };
    let mut verdict = Verdict::new(event.name.clone());
    hearing.hear(&mut verdict);
    match block_on(engine.fire(event.clone())) {
        Ok(said) => verdict = verdict.followed_by(said),
        // The guard's "no" counts, even if hooks are ended before they have spoken.
        Err(error) if verdict.is_blocked() => output::error(&error),
        Err(error) => return Err(error),
    }
    hearing.hear_again(&mut verdict);
    Ok(verdict)
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
