//! `snell forward`: delivers what waits for receivers elsewhere, for a while. Started by `snell hook`, never by people.

use std::fs::File;
use std::os::fd::AsFd;
use std::path::PathBuf;

use snell_store::queue::outbox::{ForwarderSettings, Outbox, OutboxReceiver, run_forwarder};

use super::DONE;
use crate::record::http_delivery::OutboxHttpClient;

/// Deliver what waits for receivers elsewhere, for a while
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Where Snell keeps what it records
    directory: PathBuf,
    /// The receiver of whoever started it
    #[arg(long)]
    url: Option<String>,
    /// The file that holds that receiver's token
    #[arg(long)]
    token_file: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    // It outlives the terminal that its first hook was called from.
    let _ = rustix::process::setsid();
    let outbox = Outbox::in_data_dir(&args.directory);
    let handed = File::from(std::io::stdin().as_fd().try_clone_to_owned()?);
    let turn = match outbox.adopt_lock(handed).unwrap_or_default() {
        Some(turn) => Some(turn),
        None => outbox.try_lock_delivery()?,
    };
    if let Some(turn) = turn {
        let own = args.url.clone().map(|url| OutboxReceiver { url, token_file: args.token_file.clone() });
        let mut post = OutboxHttpClient::without_deadline(own);
        run_forwarder(&outbox, turn, ForwarderSettings::default(), &mut |letter| post.deliver(letter))?;
    }
    Ok(DONE)
}
