//! `snell demo`: plays a session of three agents through the real engine, hooks and guard, and shows it on the page.
//!
//! Everything happens in a temporary directory. The steps are a table ([`script`]); the results are the real answers of
//! `snell hook`, `snell run` and the receiver.

mod answer;
mod cast;
mod cleanup;
mod client;
mod player;
mod receiver;
mod script;
mod stage;
mod summary;
mod terminal;

use std::io::IsTerminal;
use std::time::Duration;

use anyhow::Context;

use super::DONE;
use crate::output::{self, Spinner};
use crate::process::browser;
use cleanup::exit_watcher::{self, DemoExitWatcher};
use client::DemoClient;
use player::{DemoPace, DemoPlayer};
use receiver::DemoReceiver;
use stage::DemoStage;

/// Threads that serve requests and start processes.
const WORKER_THREADS: usize = 2;

/// The time limit of a process or request.
const STEP_TIMEOUT: Duration = Duration::from_secs(60);

/// Watch Snell at work with three simulated agents
///
/// Plays a session of about a minute in a temporary directory, with real hooks, and shows it on a page. The first line has the
/// address of the page. It does not touch your files, runs no tools, and removes its own files at the end.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  snell demo\n  snell demo --fast | cat\n  snell demo --keep --open\n\n\
    If a signal ends it, the exit code is 128 plus the number of the signal.")]
pub(crate) struct Args {
    /// Play without pauses
    #[arg(long)]
    fast: bool,
    /// Keep the page until Ctrl-C
    ///
    /// On a terminal, the default is to keep it until Enter or Ctrl-C.
    #[arg(long, conflicts_with = "once")]
    keep: bool,
    /// End after the last scene, even on a terminal
    #[arg(long)]
    once: bool,
    /// Open the page in your browser
    #[arg(long)]
    open: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKER_THREADS)
        .enable_all()
        .build()
        .context("cannot start threads")?;
    let ended = runtime.block_on(async {
        // From here on, a signal leads to the cleanup below.
        let mut exits = DemoExitWatcher::new()?;
        let spinner = Spinner::start("preparing the demo");
        cleanup::directories::remove_dead_demos(&std::env::temp_dir()).await;
        let stage = DemoStage::set_up()?;
        drop(spinner);
        let code = play_on_stage(args, &stage, &mut exits).await;
        let code = code.map_err(|error| stage.add_disk_full_context(error));
        let _spinner = Spinner::start("cleaning up");
        cleanup::processes::end_processes(stage.data_dir()).await;
        let removed = stage.remove().await;
        code.and_then(|code| removed.map(|()| code))
    });
    // Tasks that have not ended by now are cancelled.
    runtime.shutdown_background();
    ended
}

/// Starts the receiver, plays the script, and shuts the receiver down. Returns the exit code.
async fn play_on_stage(args: &Args, stage: &DemoStage, exits: &mut DemoExitWatcher) -> anyhow::Result<u8> {
    let pace = if args.fast { DemoPace::Fast } else { DemoPace::Normal };
    let spinner = Spinner::start("starting the receiver");
    let receiver = DemoReceiver::start(stage.data_dir(), pace.poll_interval()).await?;
    drop(spinner);
    let played = tokio::select! {
        played = play_script(args, stage, &receiver, pace) => played,
        code = exits.wait_for_exit() => {
            receiver.shut_down().await;
            return Ok(code);
        }
    };
    let is_watched = output::is_terminal() && std::io::stdin().is_terminal();
    if played.is_ok() && (args.keep || (!args.once && is_watched)) {
        exit_watcher::discard_typed_input();
        output::print_line("");
        let (url, key) = (receiver.url(), exit_watcher::exit_key_name());
        terminal::print_wrapped(&format!("The page stays at {url} until you press {key}."), usize::MAX);
        exits.wait_for_exit_or_enter().await;
    }
    // The agents' processes run until here, so that the page shows them at work.
    let code = played.map(|_| DONE);
    receiver.shut_down().await;
    code
}

async fn play_script<'a>(
    args: &Args,
    stage: &'a DemoStage,
    receiver: &DemoReceiver,
    pace: DemoPace,
) -> anyhow::Result<DemoPlayer<'a>> {
    terminal::print_intro(&receiver.url(), stage);
    if args.open {
        browser::open_url(&receiver.url());
    }
    let mut player = DemoPlayer::new(DemoClient { stage }, pace);
    player.trust_project().await?;
    player.play_scenes(&script::load_scenes()?).await?;
    summary::print_summary(&player, stage)?;
    Ok(player)
}
