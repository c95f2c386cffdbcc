//! `snell session status`: the task that a session works on.

use crate::commands::DONE;
use crate::output::time::format_elapsed;
use crate::output::{self, CommandError};
use crate::record::open_store::StoreHandle;
use crate::session_arg::SessionSelector;

/// Set the status of a session, or show it
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  snell session status \"migrating the users table\"\n  snell session status\n  \
    snell session status --clear")]
pub(crate) struct Args {
    /// Task of the session, in a few words [default: show the status]
    #[arg(value_name = "TEXT")]
    text: Vec<String>,
    /// Remove the status
    #[arg(long, conflicts_with = "text")]
    clear: bool,
    #[command(flatten)]
    whose: SessionSelector,
}

pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    let text = args.text.join(" ");
    if !args.text.is_empty() && text.chars().all(|c| c.is_whitespace() || c.is_control()) {
        let error = CommandError::new("the status is empty");
        let hint = "write a status, such as: snell session status \"fixing the login\" (or remove it with --clear)";
        return Err(error.with_hint(hint).into());
    }
    let only_shows = args.text.is_empty() && !args.clear;
    let mut store_handle = if only_shows { StoreHandle::open()? } else { StoreHandle::open_for_writing()? };
    let session = args.whose.resolve(&mut store_handle)?;
    let (id, number, now) = (&session.session_id, session.conversation_id, store_handle.now());
    if args.clear {
        store_handle.write_with_retry(|store| store.set_status(number, None, now))?;
        output::print_line(&format!("Removed the status of {id}."));
    } else if !args.text.is_empty() {
        let kept = store_handle.write_with_retry(|store| store.set_status(number, Some(&text), now))?;
        output::print_line(&format!("The status of {id} is now: {}", kept.unwrap_or_default()));
    } else {
        match (&session.status_text, session.status_set_at) {
            (None, _) => output::print_line(&format!("{id} has no status.")),
            (Some(text), None) => output::print_line(text),
            (Some(text), Some(since)) => {
                output::print_line(&format!("{text} (set {} ago)", format_elapsed(since, now)))
            }
        }
    }
    Ok(DONE)
}
