//! `snell run`: a host's event in, the verdict out.

use std::io::{IsTerminal, Read};

use anyhow::{Context, bail};
use snell::{Diagnostic, Event, Report};

use super::{BLOCKED, DONE, adopt_orphans, block_on};
use crate::around::{Around, RequireTrust, user_name};
use crate::output;

/// A larger payload is refused rather than held in memory several times over.
const MAX_PAYLOAD_BYTES: u64 = 64 * 1024 * 1024;

/// Fire an event: its JSON on stdin, the verdict as JSON on stdout
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    echo '{\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"git push\"}}' | snell run PreToolUse\n  \
    snell run SessionStart --project ~/work < /dev/null\n\n\
    Exit codes: 0 go on, 2 blocked, 1 anything of our own.")]
pub(crate) struct Args {
    /// The event's name or an alias of it (PreToolUse, BeforeTool, pre-tool-use …)
    event: String,
    /// Print JSON, as it always does
    #[arg(long, hide = true)]
    json: bool,
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
    let verdict = block_on(engine.fire(event))?;
    let written = output::json(&Report::new(&verdict, &diagnostics));
    // A block is a block, also for a host that does not hear why.
    if verdict.is_blocked() {
        if let Err(error) = written {
            output::error(&error);
        }
        return Ok(BLOCKED);
    }
    written.map(|()| DONE)
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
