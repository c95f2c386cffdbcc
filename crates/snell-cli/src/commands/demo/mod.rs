//! `snell demo`: a session of three agents, played through the real engine, hooks and guard, with the page beside it.
//!
//! Everything happens in a directory of its own, and ends with it. What is played is a table ([`script`]); what comes of
//! each step is whatever `snell hook`, `snell run` and the receiver really answer.

mod answer;
mod blocks;
mod browser;
mod calls;
mod cast;
mod house;
mod leftovers;
mod player;
mod remains;
mod script;
mod stage;
mod staying;
mod summary;
mod teller;

use std::io::IsTerminal;
use std::time::Duration;

use anyhow::Context;

use super::DONE;
use crate::output;
use calls::Calls;
use house::House;
use player::{Pace, Player};
use stage::Stage;
use staying::{Ended, Endings};

/// Threads that serve requests and start processes.
const WORKERS: usize = 2;

/// How long a process or a request may take before something is wrong.
const PATIENCE: Duration = Duration::from_secs(60);

/// Watch Snell at work: three agents, their hooks, the guard and the page
///
/// Plays a session of about a minute in a temporary directory, through the real hooks, and shows it on a page whose address
/// is printed first. It reads and writes nothing of yours, runs no tool, and leaves nothing behind.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  snell demo\n  snell demo --fast | cat\n  snell demo --keep --open\n\n\
    If a signal ends it before, the exit code is 128 and the signal's number."
)]
pub(crate) struct Args {
    /// Play without pauses
    #[arg(long)]
    fast: bool,
    /// Let the page stay until Ctrl-C [default: at a terminal, until Enter or Ctrl-C]
    #[arg(long, conflicts_with = "once")]
    keep: bool,
    /// End when everything is played, also at a terminal
    #[arg(long)]
    once: bool,
    /// Open the page in your browser; otherwise only its address is printed
    #[arg(long)]
    open: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .enable_all()
        .build()
        .context("cannot start the threads that the demo needs")?;
    let ended = runtime.block_on(async {
        // Whoever ends us from now on finds somebody who clears away.
        let mut endings = Endings::watch()?;
        remains::clear(&std::env::temp_dir()).await;
        let stage = Stage::set_up()?;
        let ended = on_stage(args, &stage, &mut endings).await;
        let ended = ended.map_err(|error| stage.explain(error));
        leftovers::end(stage.data()).await;
        let cleared = stage.clear().await;
        ended.and_then(|ended| cleared.map(|()| ended))
    });
    // Whatever has not ended by now is not waited for.
    runtime.shutdown_background();
    ended.map(Ended::code)
}

/// Opens the house, plays, and closes it again, however the play went.
async fn on_stage(args: &Args, stage: &Stage, endings: &mut Endings) -> anyhow::Result<Ended> {
    let pace = if args.fast { Pace::Fast } else { Pace::ForPeople };
    let house = House::open(stage.data(), pace.looks_every()).await?;
    let played = tokio::select! {
        played = perform(args, stage, &house, pace) => played,
        ended = endings.any() => {
            house.close().await;
            return Ok(ended);
        }
    };
    if played.is_ok() && stays(args) {
        staying::forget_what_was_typed();
        output::line("");
        let (url, key) = (house.url(), staying::key());
        teller::say(&format!("The page stays at {url} until you press {key}."), usize::MAX);
        endings.any_or_enter().await;
    }
    // Until now the agents have lived, so that there is something to look at.
    let ended = played.map(|_| Ended::Played);
    house.close().await;
    ended
}

async fn perform<'a>(args: &Args, stage: &'a Stage, house: &'a House, pace: Pace) -> anyhow::Result<Player<'a>> {
    teller::announce(&house.url(), stage);
    if args.open {
        browser::open(&house.url());
    }
    let mut player = Player::new(Calls { stage, house }, pace);
    player.trust().await?;
    player.play(script::SCENES).await?;
    summary::tell(&player, stage, house).await?;
    Ok(player)
}

/// A person at a terminal wants to look around; a program wants it to end.
fn stays(args: &Args) -> bool {
    args.keep || (!args.once && output::is_terminal() && std::io::stdin().is_terminal())
}
