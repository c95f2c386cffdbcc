//! `snell log`: shows events, and removes old ones.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::Context;
use clap::ValueEnum;
use serde::Serialize;
use snell::{AgentProduct, Diagnostic, EventName, RetentionPeriod, Severity, Timestamp, UserMessage};
use snell_guard::rules::RULES;
use snell_store::{DecisionAuthor, LogEntry, LogFilter, PruneCounts};

use super::{DONE, repeat_until_signal};
use crate::backup::BackupStore;
use crate::env::ConfigArgs;
use crate::env::caller::CallerEnv;
use crate::env::once_markers::OnceMarkers;
use crate::guard::session::prune_session_files;
use crate::output::{self, CommandError, Spinner, log, time};
use crate::record::open_store::{DatabaseArgs, StoreHandle};

/// The default number of entries.
const DEFAULT_LIMIT: u32 = 50;
/// The default number of old entries with `--follow`.
const DEFAULT_FOLLOW_LIMIT: u32 = 10;
/// The most new entries of one query.
const FOLLOW_BATCH_SIZE: u32 = 1000;
/// The pause between queries for new entries.
const FOLLOW_INTERVAL: Duration = Duration::from_millis(200);
/// The entries whose authors are read at a time.
const AUTHOR_BATCH_SIZE: usize = 500;
/// How long markers of messages that users see only once are kept.
const ONCE_MARKER_MAX_AGE: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Show events, the newest first
///
/// A line has the local time, the agent, its product, its project, the event, its subject, the decision with its author ([guard RULE] or
/// [hook FILE:LINE]), and the number of hooks that reacted and failed.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  snell log --tool Bash --since 2h\n  snell log --verdict block --json\n  \
    snell log --follow\n  snell log --prune --keep 7d --dry-run")]
pub(crate) struct Args {
    /// Wait for new events and show them
    #[arg(long, conflicts_with = "before")]
    follow: bool,
    /// Print JSON Lines, with the payload
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    database: DatabaseArgs,
    #[command(flatten)]
    filter_args: LogFilterArgs,
    #[command(flatten)]
    pruning: LogPruneArgs,
}

/// The filters.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Filters")]
struct LogFilterArgs {
    /// Show this agent (its number), or the agents of this product (claude)
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
    /// Show the session whose id starts with this
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Show this event (name or alias)
    #[arg(long, value_name = "NAME")]
    event: Option<String>,
    /// Show calls of this tool (case does not matter)
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// Show this decision
    #[arg(long, value_name = "VERDICT")]
    verdict: Option<LogVerdictArg>,
    /// Show verdicts of this rule of the guard
    #[arg(long, value_name = "ID")]
    rule: Option<String>,
    /// Start at this age (2h, 3d), date or RFC 3339 time
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// End before this time
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// Show at most this many [default: 50, with --follow 10 old ones]
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: Option<u32>,
    /// Show events older than the event with this number
    #[arg(long, value_name = "ID")]
    before: Option<i64>,
}

/// Removal of old records.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Remove old records")]
struct LogPruneArgs {
    /// Remove records older than `keep` in snell.toml
    #[arg(long, conflicts_with_all = ["LogFilterArgs", "follow"])]
    prune: bool,
    /// Use this period instead (7d, 2w, forever)
    #[arg(long, value_name = "DURATION", requires = "prune")]
    keep: Option<String>,
    /// Only count the records to remove
    #[arg(long, requires = "prune")]
    dry_run: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum LogVerdictArg {
    Allow,
    Ask,
    #[value(alias = "deny")]
    Block,
}

/// An entry, as JSON.
#[derive(Serialize)]
struct LogEntryView<'a> {
    #[serde(flatten)]
    entry: &'a LogEntry,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    authors: Vec<DecisionAuthor>,
}

/// The removed records, as JSON.
#[derive(Serialize)]
struct PruneReport {
    keep: String,
    before: Option<Timestamp>,
    dry_run: bool,
    #[serde(flatten)]
    removed: PruneCounts,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    let mut store_handle = StoreHandle::open_named(&args.database)?;
    if args.pruning.prune {
        prune_log(&args.pruning, args.json, &mut store_handle)?;
        return Ok(DONE);
    }
    let filter = args.filter_args.to_log_filter(store_handle.now())?;
    if args.follow {
        follow_log(args, &filter, &mut store_handle)?;
    } else {
        print_entries(args, &filter, &mut store_handle)?;
    }
    Ok(DONE)
}

impl LogFilterArgs {
    fn to_log_filter(&self, now: Timestamp) -> anyhow::Result<LogFilter> {
        let verdict = self.verdict.map(|verdict| match verdict {
            LogVerdictArg::Allow => "allow",
            LogVerdictArg::Ask => "ask",
            LogVerdictArg::Block => "block",
        });
        let (agent_id, product) = parse_agent_option(self.agent.as_deref())?;
        Ok(LogFilter {
            agent_id,
            product: product.map(|product| product.name.to_owned()),
            project_id: None,
            session: self.session.clone(),
            event: self.event.as_deref().map(canonical_event_name),
            tool: self.tool.clone(),
            decision: verdict.map(str::to_owned),
            rule: self.rule.clone().inspect(|rule| note_unknown_rule(rule)),
            since: time::parse_optional_time("--since", self.since.as_deref(), now)?,
            until: time::parse_optional_time("--until", self.until.as_deref(), now)?,
            before_id: self.before,
            after_id: None,
            limit: self.limit.unwrap_or(DEFAULT_LIMIT),
        })
    }
}

/// The agent or the product of `--agent`.
pub(super) fn parse_agent_option(text: Option<&str>) -> anyhow::Result<(Option<i64>, Option<&'static AgentProduct>)> {
    let Some(text) = text else {
        return Ok((None, None));
    };
    if let Ok(number) = text.parse() {
        return Ok((Some(number), None));
    }
    if let Some(product) = AgentProduct::find_by_name(text) {
        return Ok((None, Some(product)));
    }
    let names: Vec<_> = AgentProduct::all().iter().map(|product| product.name).collect();
    let error = CommandError::new(format!("--agent is neither the number of an agent nor a product: \"{text}\""));
    let hint = format!("`snell agents` shows the numbers; the products are {}", names.join(", "));
    Err(error.with_hint(hint).into())
}

/// An unknown rule is still searched, because an earlier version may have had it.
fn note_unknown_rule(rule: &str) {
    if !RULES.iter().any(|known| known.id == rule) {
        let note = UserMessage::new(format!("unknown rule \"{rule}\""));
        output::print_note(note.with_hint("`snell guard rules` lists all rules"));
    }
}

/// The name under which an event is stored. An unknown name is searched as it is, because agents may send any name.
fn canonical_event_name(name: &str) -> String {
    if let Some(near) = EventName::suggest_name(name) {
        let note = UserMessage::new(format!("unknown event \"{name}\""));
        output::print_note(note.with_hint(format!("did you mean \"{near}\"?")));
    }
    EventName::parse(name).as_str().to_owned()
}

fn print_entries(args: &Args, filter: &LogFilter, store_handle: &mut StoreHandle) -> anyhow::Result<()> {
    let mut found = Vec::new();
    if !store_handle.has_no_records() {
        // One more shows whether there are older entries.
        let one_more = LogFilter { limit: filter.limit.saturating_add(1), ..filter.clone() };
        found = store_handle.query(|store| store.query_log(&one_more))?;
    }
    let limit = usize::try_from(filter.limit)?;
    let more = found.len() > limit;
    found.truncate(limit);
    if !args.json {
        output::start_paging();
    }
    print_page(args, &found, store_handle)?;
    if args.json {
        return Ok(());
    }
    match found.last() {
        Some(last) if more => {
            let note = UserMessage::new("there are older events");
            output::print_note(note.with_hint(format!("to see them, add --before {}", last.id)));
        }
        None if store_handle.has_no_records() => output::print_note("no event has been recorded yet"),
        None => output::print_note("no matching events"),
        Some(_) => {}
    }
    Ok(())
}

/// Prints entries with the authors of their decisions.
fn print_page(args: &Args, entries: &[LogEntry], store_handle: &mut StoreHandle) -> anyhow::Result<()> {
    for chunk in entries.chunks(AUTHOR_BATCH_SIZE) {
        let decided = chunk.iter().filter(|entry| entry.decision.is_some() || entry.would.is_some());
        let ids: Vec<_> = decided.map(|entry| entry.id).collect();
        let mut authors: BTreeMap<i64, Vec<DecisionAuthor>> = BTreeMap::new();
        let mut verdicts = Vec::new();
        if !ids.is_empty() {
            for (id, author) in store_handle.query(|store| store.list_decision_authors(&ids))? {
                authors.entry(id).or_default().push(author);
            }
            verdicts = store_handle.query(|store| store.list_guard_verdicts(&ids))?;
        }
        for entry in chunk {
            let authors = authors.remove(&entry.id).unwrap_or_default();
            if args.json {
                output::print_json_line(&LogEntryView { entry, authors })?;
            } else {
                let advice = verdicts.iter().filter(|(id, _)| *id == entry.id);
                let advice: Vec<_> = advice.filter_map(|(_, verdict)| verdict.advice.as_deref()).collect();
                let notes = log::LogEntryNotes { authors: &authors, advice: &advice };
                output::print_text(&log::render_log_entry(entry, notes, store_handle.now()));
            }
        }
    }
    Ok(())
}

fn follow_log(args: &Args, filter: &LogFilter, store_handle: &mut StoreHandle) -> anyhow::Result<()> {
    // The newest entry so far, shown or not.
    let mut last_seen_id = None;
    repeat_until_signal(FOLLOW_INTERVAL, || {
        if store_handle.has_no_records() {
            last_seen_id = Some(0);
            return Ok(());
        }
        let found = store_handle.query(|store| {
            let last = store.last_event_id()?;
            let Some(after) = last_seen_id else {
                let limit = args.filter_args.limit.unwrap_or(DEFAULT_FOLLOW_LIMIT);
                let mut found = store.query_log(&LogFilter { limit, ..filter.clone() })?;
                found.reverse();
                last_seen_id = Some(found.last().map_or(last, |entry| entry.id.max(last)));
                return Ok(found);
            };
            if last == after {
                return Ok(Vec::new());
            }
            let found = store.query_log(&LogFilter {
                // A smaller id means that the database is new or was emptied.
                after_id: Some(if last < after { 0 } else { after }),
                limit: FOLLOW_BATCH_SIZE,
                ..filter.clone()
            })?;
            let full = u32::try_from(found.len()).is_ok_and(|found| found == FOLLOW_BATCH_SIZE);
            let newest = found.last().map_or(0, |entry| entry.id);
            last_seen_id = Some(if full { newest } else { newest.max(last) });
            Ok(found)
        })?;
        print_page(args, &found, store_handle)
    })
}

/// The retention period in the user's settings. A faulty file is an error, because removed records do not come back.
fn load_retention() -> anyhow::Result<RetentionPeriod> {
    let (engine, findings) = ConfigArgs::new(None, None).engine_builder()?.load();
    let fault = |found: &&Diagnostic| found.severity == Severity::Error && found.path.ends_with("snell.toml");
    if let Some(fault) = findings.iter().find(fault) {
        let Diagnostic { path, line, column, message, .. } = fault;
        let error = CommandError::new(format!("cannot read `keep`: {path}:{line}:{column}: {message}"));
        return Err(error.with_hint("fix the file, or pass --keep").into());
    }
    Ok(engine.settings().keep)
}

fn prune_log(args: &LogPruneArgs, json: bool, store_handle: &mut StoreHandle) -> anyhow::Result<()> {
    let keep = match args.keep.as_deref() {
        Some(text) => match RetentionPeriod::parse(text) {
            Some(keep) => keep,
            None => {
                let error = CommandError::new(format!("--keep is not a duration: \"{text}\""));
                return Err(error.with_hint("use a number with a unit, such as 7d or 2w, or forever").into());
            }
        },
        None => load_retention()?,
    };
    let before = time::retention_cutoff(keep, store_handle.now());
    let removed = match before {
        Some(before) if !store_handle.has_no_records() => remove_old_events(args, before, store_handle)?,
        _ => PruneCounts::default(),
    };
    if !args.dry_run {
        let long_ago = std::time::SystemTime::now().checked_sub(ONCE_MARKER_MAX_AGE).context("the clock is wrong")?;
        OnceMarkers::in_data_dir(store_handle.data_dir()).prune(long_ago);
        // Backups have limits of their own.
        if let Ok(settings) = CallerEnv::load_user_settings() {
            BackupStore::in_data_dir(store_handle.data_dir()).prune(&settings.guard.backup, None);
        }
        if let Some(before) = before {
            prune_session_files(store_handle.data_dir(), before.into());
        }
    }
    let report = PruneReport { keep: time::format_retention(keep), before, dry_run: args.dry_run, removed };
    if json {
        output::print_json(&report)?;
    } else {
        output::print_line(&summarize_pruning(&report));
    }
    Ok(())
}

fn remove_old_events(
    args: &LogPruneArgs,
    before: Timestamp,
    store_handle: &mut StoreHandle,
) -> anyhow::Result<PruneCounts> {
    let spinner = Spinner::start("counting old events");
    if args.dry_run {
        return store_handle.query(|store| store.count_older_than(before));
    }
    store_handle.query(|store| {
        store.prune(before, &mut |so_far| {
            spinner.set_text(format!("removed {}", output::format_count(so_far.events, "event")));
        })
    })
}

fn summarize_pruning(report: &PruneReport) -> String {
    let Some(before) = report.before else {
        return "Nothing to remove: records are kept forever.".into();
    };
    let PruneCounts { events, turns, sessions, agents, .. } = report.removed;
    let before = time::format_time(before);
    if events + turns + sessions + agents == 0 {
        return format!("Nothing to remove: no records are older than {} (before {before}).", report.keep);
    }
    let would = if report.dry_run { "Would remove" } else { "Removed" };
    format!(
        "{would} {}, {}, {} and {} older than {} (before {before}).",
        output::format_count(events, "event"),
        output::format_count(turns, "turn"),
        output::format_count(sessions, "replaced session"),
        output::format_count(agents, "agent"),
        report.keep,
    )
}
