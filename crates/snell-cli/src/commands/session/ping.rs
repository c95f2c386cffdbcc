//! `snell session ping`: a session gives a sign of itself.

use crate::commands::DONE;
use crate::memory::Memory;
use crate::output;
use crate::whose::Whose;

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
    whose: Whose,
}

pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    let mut memory = Memory::find_to_note()?;
    let session = args.whose.find(&mut memory)?;
    let message = args.message.join(" ");
    let message = Some(message.trim()).filter(|message| !message.is_empty());
    let now = memory.now();
    memory.tell(|store| store.ping(session.conversation_id, message, now))?;
    output::line(&format!("{} has given a sign of itself.", session.session_id));
    Ok(DONE)
}
