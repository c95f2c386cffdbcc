//! `snell log`: what happened, event by event; and forgetting what is old.

use std::time::Duration;

use anyhow::{Context, bail};
use clap::ValueEnum;
use serde::Serialize;
use snell::{Diagnostic, EventName, Keep, Severity, Timestamp};
use snell_store::{LogEntry, LogFilter, Pruned};

use super::{DONE, again_and_again};
use crate::around::Around;
use crate::caller::forget_told;
use crate::log_line;
use crate::memory::Memory;
use crate::output;
use crate::times;

/// How many entries are shown.
const SHOWN: u32 = 50;
/// How many old ones are shown before new ones are waited for.
const SHOWN_BEFORE: u32 = 10;
/// How many new ones are fetched at a time.
const FOLLOWED_AT_ONCE: u32 = 1000;
/// How often new ones are looked for.
const FOLLOW_EVERY: Duration = Duration::from_millis(200);
/// How long it is remembered what users were told.
const TOLD_FOR: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Show what happened, the newest first
///
/// A line has the time (UTC), the agent, its project, the event, what it was about, what was decided, and how many hooks
/// reacted to it.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  snell log --tool Bash --since 2h\n  snell log --verdict block --json\n  \
    snell log --follow\n  snell log --prune --keep 7d --dry-run"
)]
pub(crate) struct Args {
    /// Show new entries as they come, the oldest first, until interrupted
    #[arg(long, conflicts_with = "before")]
    follow: bool,
    /// Print JSON: one object on each line, with the payload
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    which: Filters,
    #[command(flatten)]
    pruning: Pruning,
}

/// Which entries
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Which entries")]
struct Filters {
    /// Of this agent
    #[arg(long, value_name = "ID")]
    agent: Option<i64>,
    /// Of the session whose id begins like this
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Of this event, by its name or an alias of it
    #[arg(long, value_name = "NAME")]
    event: Option<String>,
    /// About this tool, whether its letters are small or not
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// Decided like this
    #[arg(long, value_name = "VERDICT")]
    verdict: Option<Verdict>,
    /// At this time or later: how long ago (2h, 3d), a date, or an RFC 3339 time
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Before this time
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// At most so many [default: 50; with --follow, 10 before the new ones]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: Option<u32>,
    /// Older than this entry
    #[arg(long, value_name = "ID")]
    before: Option<i64>,
}

/// Forgetting
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Forgetting")]
struct Pruning {
    /// Remove what is older than `keep` in snell.toml says
    #[arg(long, conflicts_with_all = ["Filters", "follow"])]
    prune: bool,
    /// For this once, remove what is older than this (7d, 2w, forever)
    #[arg(long, value_name = "DURATION", requires = "prune")]
    keep: Option<String>,
    /// Remove nothing; say how much would be removed
    #[arg(long, requires = "prune")]
    dry_run: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Verdict {
    Allow,
    Ask,
    #[value(alias = "deny")]
    Block,
}

/// What was removed, for programs.
#[derive(Serialize)]
struct Report {
    keep: String,
    before: Option<Timestamp>,
    dry_run: bool,
    #[serde(flatten)]
    removed: Pruned,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    let mut memory = Memory::find()?;
    if args.pruning.prune {
        prune(&args.pruning, args.json, &mut memory)?;
        return Ok(DONE);
    }
    let filter = args.which.read(memory.now())?;
    if args.follow {
        follow(args, &filter, &mut memory)?;
    } else {
        show(args, &filter, &mut memory)?;
    }
    Ok(DONE)
}

impl Filters {
    fn read(&self, now: Timestamp) -> anyhow::Result<LogFilter> {
        let time = |option: &str, text: &Option<String>| {
            let text = text.as_deref();
            text.map(|text| times::parse(option, text, now)).transpose()
        };
        let verdict = self.verdict.map(|verdict| match verdict {
            Verdict::Allow => "allow",
            Verdict::Ask => "ask",
            Verdict::Block => "block",
        });
        Ok(LogFilter {
            agent_id: self.agent,
            project_id: None,
            session: self.session.clone(),
            event: self.event.as_deref().map(canonical),
            tool: self.tool.clone(),
            decision: verdict.map(str::to_owned),
            since: time("--since", &self.since)?,
            until: time("--until", &self.until)?,
            before_id: self.before,
            after_id: None,
            limit: self.limit.unwrap_or(SHOWN),
        })
    }
}

/// The name by which an event is kept. One that nobody knows is looked for as well: agents send what they like.
fn canonical(name: &str) -> String {
    if let Some(meant) = EventName::meant_by(name) {
        output::note(&format!(
            "\"{name}\" is no event that Snell knows (did you mean \"{meant}\"?)"
        ));
    }
    EventName::parse(name).as_str().to_owned()
}

fn show(args: &Args, filter: &LogFilter, memory: &mut Memory) -> anyhow::Result<()> {
    let mut found = Vec::new();
    if !memory.is_blank() {
        // One more tells whether there are more.
        let one_more = LogFilter {
            limit: filter.limit.saturating_add(1),
            ..filter.clone()
        };
        found = memory.ask(|store| store.log(&one_more))?;
    }
    let limit = usize::try_from(filter.limit)?;
    let more = found.len() > limit;
    found.truncate(limit);
    for entry in &found {
        tell(args, entry, memory.now())?;
    }
    if args.json {
        return Ok(());
    }
    match found.last() {
        Some(last) if more => output::note(&format!("there is more; older entries: --before {}", last.id)),
        None if memory.is_blank() => output::note("nothing has been recorded yet"),
        None => output::note("no entry is like that"),
        Some(_) => {}
    }
    Ok(())
}

fn tell(args: &Args, entry: &LogEntry, now: Timestamp) -> anyhow::Result<()> {
    if args.json {
        output::json_line(entry)
    } else {
        output::text(&log_line::of(entry, now));
        Ok(())
    }
}

fn follow(args: &Args, filter: &LogFilter, memory: &mut Memory) -> anyhow::Result<()> {
    // The newest entry that was seen, whether or not it was shown.
    let mut reached = None;
    again_and_again(FOLLOW_EVERY, || {
        if memory.is_blank() {
            reached = Some(0);
            return Ok(());
        }
        let found = memory.ask(|store| {
            let last = store.last_id()?;
            let Some(after) = reached else {
                let limit = args.which.limit.unwrap_or(SHOWN_BEFORE);
                let mut found = store.log(&LogFilter {
                    limit,
                    ..filter.clone()
                })?;
                found.reverse();
                reached = Some(found.last().map_or(last, |entry| entry.id.max(last)));
                return Ok(found);
            };
            if last == after {
                return Ok(Vec::new());
            }
            let found = store.log(&LogFilter {
                // A smaller number than before is one of a new database, or of one that was emptied.
                after_id: Some(if last < after { 0 } else { after }),
                limit: FOLLOWED_AT_ONCE,
                ..filter.clone()
            })?;
            let full = u32::try_from(found.len()).is_ok_and(|found| found == FOLLOWED_AT_ONCE);
            let newest = found.last().map_or(0, |entry| entry.id);
            reached = Some(if full { newest } else { newest.max(last) });
            Ok(found)
        })?;
        for entry in &found {
            tell(args, entry, memory.now())?;
        }
        Ok(())
    })
}

/// How long the user's settings say. Where they cannot be read they may say something else, and what is removed does not
/// come back.
fn keep_of_settings() -> anyhow::Result<Keep> {
    let (engine, findings) = Around::of(None, None).engine()?.load();
    let fault = |found: &&Diagnostic| found.severity == Severity::Error && found.path.ends_with("snell.toml");
    if let Some(fault) = findings.iter().find(fault) {
        bail!("how long records are kept is not certain ({fault}); mend that, or say it with --keep");
    }
    Ok(engine.settings().keep)
}

fn prune(args: &Pruning, json: bool, memory: &mut Memory) -> anyhow::Result<()> {
    let keep = match args.keep.as_deref() {
        Some(text) => match Keep::parse(text) {
            Some(keep) => keep,
            None => bail!("--keep is \"{text}\"; write a duration with its unit, such as 7d or 2w, or \"forever\""),
        },
        None => keep_of_settings()?,
    };
    let before = times::kept_since(keep, memory.now());
    let removed = match before {
        Some(before) if !memory.is_blank() => remove(args, before, memory)?,
        _ => Pruned::default(),
    };
    if !args.dry_run {
        let long_ago = std::time::SystemTime::now()
            .checked_sub(TOLD_FOR)
            .context("the clock is wrong")?;
        forget_told(memory.directory(), long_ago);
    }
    let report = Report {
        keep: times::keep(keep),
        before,
        dry_run: args.dry_run,
        removed,
    };
    if json {
        output::json(&report)?;
    } else {
        output::line(&summary(&report));
    }
    Ok(())
}

fn remove(args: &Pruning, before: Timestamp, memory: &mut Memory) -> anyhow::Result<Pruned> {
    if args.dry_run {
        return memory.ask(|store| store.older(before));
    }
    let removed = memory.ask(|store| {
        store.prune(before, &mut |so_far| {
            output::progress(&format!("removed {} …", output::count(so_far.events, "event")));
        })
    });
    output::progress("");
    removed
}

fn summary(report: &Report) -> String {
    let Some(before) = report.before else {
        return "Nothing is removed: everything is kept forever.".into();
    };
    let Pruned {
        events,
        turns,
        sessions,
        agents,
        ..
    } = report.removed;
    let before = times::shown(before);
    if events + turns + sessions + agents == 0 {
        return format!("Nothing is older than {} (before {before}).", report.keep);
    }
    let would = if report.dry_run { "Would remove" } else { "Removed" };
    format!(
        "{would} {}, {}, {} and {} older than {} (before {before}).",
        output::count(events, "event"),
        output::count(turns, "turn"),
        output::count(sessions, "replaced session"),
        output::count(agents, "agent"),
        report.keep,
    )
}
