//! `snell session ping`: records a sign of life of a session.

use crate::commands::DONE;
use crate::output;
use crate::record::open_store::StoreHandle;
use crate::session_arg::SessionSelector;

/// Record a sign of life of a session, with an optional message
///
/// Snell reminds background sessions to do this before they end. The message appears in `snell log` and in the receiver's
/// stream.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  snell session ping\n  snell session ping \"done: 3 files changed, all tests pass\""
)]
pub(crate) struct Args {
    /// Message to record
    #[arg(value_name = "MESSAGE")]
    message: Vec<String>,
    #[command(flatten)]
    whose: SessionSelector,
}

pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    let mut store_handle = StoreHandle::open_for_writing()?;
    let session = args.whose.resolve(&mut store_handle)?;
    let message = args.message.join(" ");
    let message = Some(message.trim()).filter(|message| !message.is_empty());
    let now = store_handle.now();
    store_handle.write_with_retry(|store| store.record_ping(session.conversation_id, message, now))?;
    output::print_line(&format!("Recorded a sign of life of {}.", session.session_id));
    Ok(DONE)
}
