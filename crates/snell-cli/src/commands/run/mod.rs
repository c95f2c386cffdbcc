//! `snell run`: runs the hooks of a host's event, and prints the verdict.

mod record;

use std::io::{IsTerminal, Read};
use std::time::Instant;

use anyhow::{Context, bail};
use snell::{Diagnostic, Engine, Event, Timestamp, Verdict, VerdictReport};

use super::{BLOCKED, DONE, adopt_orphans, block_on, has_hook_for_event};
use crate::env::caller::CallerEnv;
use crate::env::{HostConfigArgs, TrustArgs, read_clock_override, read_user_name};
use crate::guard::GuardRun;
use crate::output;
use record::HostRecording;

/// A larger payload is refused, because memory holds several copies of it.
pub(super) const MAX_PAYLOAD_BYTES: u64 = 64 * 1024 * 1024;

/// Run the hooks of an event (JSON on stdin), and print the verdict
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
    /// Name of the event, or an alias (PreToolUse, BeforeTool …)
    event: String,
    /// Print JSON (always on)
    #[arg(long, hide = true)]
    json: bool,
    /// Let the guard judge the tool call before the hooks
    #[arg(long)]
    guard: bool,
    /// Record the event, which needs a session_id
    #[arg(long)]
    record: bool,
    #[command(flatten)]
    trust: TrustArgs,
    #[command(flatten)]
    around: HostConfigArgs,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    let started = Instant::now();
    let (mut event, notes) = read_event_from_stdin(&args.event)?;
    if args.record {
        HostRecording::check_session_id(&event)?;
    }
    if event.user_name.is_none() {
        event.user_name = read_user_name();
    }
    let around = args.around.to_config_args();
    let (engine, mut diagnostics) = args.trust.engine_builder(&around)?.load();
    let (settings, now) = (engine.settings(), read_clock_override());
    let mut record = None;
    if args.record {
        let caller = CallerEnv { data: around.data_dir(), now };
        let recording = HostRecording::new(&caller, &event, around.resolve_project()?, &settings, &diagnostics);
        let recording = record.insert(recording);
        if has_hook_for_event(&engine, &event) {
            recording.write_pending_event();
        }
    }
    diagnostics.extend(notes);
    adopt_orphans();
    let mut guard_run = None;
    if args.guard {
        let now = now.unwrap_or_else(Timestamp::now);
        guard_run = GuardRun::for_event(&event, &settings, &around.resolve_project()?, now);
    }
    let verdict = fire_event(&engine, &event, guard_run.as_mut())?;
    let mut report = VerdictReport::new(&verdict, &diagnostics);
    report.guard = guard_run.as_ref().and_then(|guard_run| guard_run.worst_report(&verdict));
    if let Some(record) = &mut record {
        let guard = guard_run.map(|guard_run| guard_run.to_records()).unwrap_or_default();
        let approved = report.guard.as_ref().and_then(|guard| guard.approved.as_deref());
        record.set_decision(&verdict, guard, approved, started.elapsed());
    }
    let written = output::print_json(&report);
    if let Some(record) = record {
        record.store_event();
    }
    // The exit code blocks even if the host cannot read the reason.
    if verdict.is_blocked() {
        if let Err(error) = written {
            output::print_error(&error);
        }
        return Ok(BLOCKED);
    }
    written.map(|()| DONE)
}

/// Runs the guard, then the hooks, then the guard again if they changed the tool's input.
fn fire_event(engine: &Engine, event: &Event, guard_run: Option<&mut GuardRun<'_>>) -> anyhow::Result<Verdict> {
    let Some(guard_run) = guard_run else {
        return block_on(engine.fire(event.clone()));
    };
    let mut verdict = Verdict::new(event.name.clone());
    guard_run.judge_original(&mut verdict);
    match block_on(engine.fire(event.clone())) {
        Ok(of_hooks) => verdict = verdict.merge_later(of_hooks),
        // A denial of the guard applies even if a signal ends the hooks.
        Err(error) if verdict.is_blocked() => output::print_error(&error),
        Err(error) => return Err(error),
    }
    guard_run.rejudge_if_changed(&mut verdict);
    Ok(verdict)
}

/// The event on standard input; without fields if that is a terminal.
pub(super) fn read_event_from_stdin(name: &str) -> anyhow::Result<(Event, Vec<Diagnostic>)> {
    Ok(Event::from_json(Some(name), &read_payload_from_stdin()?)?)
}

/// The bytes on standard input, within limits; none if that is a terminal.
pub(super) fn read_payload_from_stdin() -> anyhow::Result<Vec<u8>> {
    let mut payload = Vec::new();
    let stdin = std::io::stdin().lock();
    if !stdin.is_terminal() {
        stdin.take(MAX_PAYLOAD_BYTES + 1).read_to_end(&mut payload).context("cannot read the event from stdin")?;
    }
    if payload.len() as u64 > MAX_PAYLOAD_BYTES {
        bail!("the event on stdin is larger than {MAX_PAYLOAD_BYTES} bytes");
    }
    Ok(payload)
}
