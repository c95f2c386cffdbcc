//! `snell session status`: what a session works on.

use anyhow::bail;

use crate::commands::DONE;
use crate::output;
use crate::output::time::format_elapsed;
use crate::record::open_store::StoreHandle;
use crate::session_arg::SessionSelector;

/// Say what a session works on; without a text, show what it says
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  snell session status \"migrating the users table\"\n  snell session status\n  \
    snell session status --clear")]
pub(crate) struct Args {
    /// What it works on, in a few words
    #[arg(value_name = "TEXT")]
    text: Vec<String>,
    /// Say nothing about it any more
    #[arg(long, conflicts_with = "text")]
    clear: bool,
    #[command(flatten)]
    whose: SessionSelector,
}

pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    let text = args.text.join(" ");
    if !args.text.is_empty() && text.chars().all(|c| c.is_whitespace() || c.is_control()) {
        bail!(
            "the status is empty; write what the session works on, such as: snell session status \"fixing the login\" \
             (or --clear)"
        );
    }
    let only_shows = args.text.is_empty() && !args.clear;
    let mut memory = if only_shows { StoreHandle::open()? } else { StoreHandle::open_for_writing()? };
    let session = args.whose.resolve(&mut memory)?;
    let (id, number, now) = (&session.session_id, session.conversation_id, memory.now());
    if args.clear {
        memory.write_with_retry(|store| store.set_status(number, None, now))?;
        output::print_line(&format!("The status of {id} is cleared."));
    } else if !args.text.is_empty() {
        let kept = memory.write_with_retry(|store| store.set_status(number, Some(&text), now))?;
        output::print_line(&format!("The status of {id} is now: {}", kept.unwrap_or_default()));
    } else {
        match (&session.status_text, session.status_set_at) {
            (None, _) => output::print_line(&format!("No status is set for {id}.")),
            (Some(text), None) => output::print_line(text),
            (Some(text), Some(since)) => {
                output::print_line(&format!("{text} (set {} ago)", format_elapsed(since, now)))
            }
        }
    }
    Ok(DONE)
}
