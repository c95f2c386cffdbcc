//! `snell guard replay`: recorded calls, judged once more by what counts today.

mod change;
mod recorded;
mod tally;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::bail;
use snell::{EventName, Timestamp};
use snell_store::{LogFilter, Losses, mask, project};

use super::guards::{Guards, Policy};
use crate::commands::DONE;
use crate::memory::Memory;
use crate::output;
use crate::times;
use change::Change;
use recorded::{Projects, Recorded};
use tally::Tally;

/// How many calls are in memory at a time.
const PAGE: u32 = 200;

/// From then on people are told how far it has come, and how often.
const PATIENCE: Duration = Duration::from_secs(1);
const TOLD_EVERY: Duration = Duration::from_millis(200);

/// Judge recorded calls by what counts today, and show what would change
///
/// Each call is judged where it was made, by the settings that are in force there now, and compared with what the guard
/// said when it was recorded. A call about which it said nothing was let through.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  snell guard replay --since 7d\n  \
    snell guard replay --preset strict --project ~/api\n  \
    snell guard replay --json | jq 'select(.now.decision == \"deny\")'")]
pub(crate) struct Args {
    /// Show the calls that are judged as before, too
    #[arg(long)]
    all: bool,
    /// Print JSON: one object on each line, the last one with the counts
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    which: Filters,
    #[command(flatten)]
    policy: Policy,
}

/// Which calls
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Which calls")]
struct Filters {
    /// Of this agent
    #[arg(long, value_name = "ID")]
    agent: Option<i64>,
    /// Of the session whose id begins like this
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Made in this project
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// Of this tool
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// At this time or later: how long ago (2h, 3d), a date, or an RFC 3339 time
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Before this time
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
}

impl Filters {
    fn read(&self, now: Timestamp) -> anyhow::Result<LogFilter> {
        let time = |option: &str, text: &Option<String>| -> anyhow::Result<Option<Timestamp>> {
            text.as_deref().map(|text| times::parse(option, text, now)).transpose()
        };
        Ok(LogFilter {
            agent_id: self.agent,
            session: self.session.clone(),
            event: Some(EventName::PreToolUse.as_str().to_owned()),
            tool: self.tool.clone(),
            since: time("--since", &self.since)?,
            until: time("--until", &self.until)?,
            limit: PAGE,
            ..LogFilter::default()
        })
    }

    fn project_id(&self, memory: &mut Memory) -> anyhow::Result<Option<i64>> {
        let Some(directory) = &self.project else {
            return Ok(None);
        };
        let root = project::root_of(directory);
        let root = root.to_string_lossy();
        match memory.ask(|store| store.project_id(&root))? {
            None => bail!("nothing was recorded in the project {root}"),
            found => Ok(found),
        }
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    let mut memory = Memory::find()?;
    let mut tally = Tally::default();
    // A mistake is one, also where there is nothing to be found.
    let mut filter = args.which.read(memory.now())?;
    if memory.is_blank() {
        output::note("nothing has been recorded yet");
    } else {
        filter.project_id = args.which.project_id(&mut memory)?;
        replay(args, filter, &mut memory, &mut tally)?;
    }
    if args.json {
        output::json_line(&tally.for_programs())?;
    } else {
        output::text(&tally.for_people());
    }
    Ok(DONE)
}

/// Judges page after page, the newest first, and shows what would change.
fn replay(args: &Args, mut filter: LogFilter, memory: &mut Memory, tally: &mut Tally) -> anyhow::Result<()> {
    let mut guards = args.policy.guards()?;
    // Only the user's own file can switch it off.
    guards.of(Path::new("/"))?.tell_if_off();
    let mut projects = Projects::default();
    let mut progress = Progress::new();
    loop {
        let page = memory.ask(|store| Recorded::page(store, &filter, &mut projects))?;
        let Some(last) = page.last() else {
            break;
        };
        filter.before_id = Some(last.entry.id);
        for call in &page {
            let change = judge(call, &mut guards)?;
            tally.add(&change);
            if args.all || change.is_one() {
                progress.clear();
                tell(args, &change, memory.now())?;
            }
        }
        progress.tell(tally.calls());
        if !output::is_heard() {
            break;
        }
    }
    progress.clear();
    Ok(())
}

fn judge<'a>(call: &'a Recorded, guards: &mut Guards) -> anyhow::Result<Change<'a>> {
    let tool = call.entry.tool.as_deref().unwrap_or_default();
    let input = call.input();
    let losses = Losses::of(input);
    let guard = &guards.of(Path::new(&call.project))?.guard;
    let cwd = Some(Path::new(&call.cwd));
    let judgement = if losses.masked {
        let mut input = input.clone();
        mask::put_words_for_masked(&mut input);
        guard.judge(tool, &input, cwd)
    } else {
        guard.judge(tool, input, cwd)
    };
    Ok(Change::of(call, losses, judgement))
}

fn tell(args: &Args, change: &Change<'_>, now: Timestamp) -> anyhow::Result<()> {
    if args.json {
        return output::json_line(&change.for_programs());
    }
    output::text(&change.for_people(now));
    Ok(())
}

/// Tells people who wait how far it has come.
struct Progress {
    began: Instant,
    told: Option<Instant>,
}

impl Progress {
    fn new() -> Self {
        Self {
            began: Instant::now(),
            told: None,
        }
    }

    fn tell(&mut self, calls: usize) {
        let is_due = self.told.is_none_or(|told| told.elapsed() >= TOLD_EVERY);
        if is_due && self.began.elapsed() >= PATIENCE {
            output::progress(&format!("judged {} …", output::count(calls, "call")));
            self.told = Some(Instant::now());
        }
    }

    fn clear(&mut self) {
        if self.told.take().is_some() {
            output::progress("");
        }
    }
}
