//! `snell session ping`: a session gives a sign of itself.

use crate::commands::DONE;
use crate::output;
use crate::record::open_store::StoreHandle;
use crate::session_arg::SessionSelector;

/// Note that a session has given a sign of itself
///
/// Sessions in the background are reminded of this before they end. The message stands in `snell log`, and whoever watches
/// is told.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  snell session ping\n  snell session ping \"done: 3 files changed, all tests pass\""
)]
pub(crate) struct Args {
    /// What there is to say
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
    output::print_line(&format!("{} has given a sign of itself.", session.session_id));
    Ok(DONE)
}
