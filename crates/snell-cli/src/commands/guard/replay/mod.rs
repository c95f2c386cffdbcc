//! `snell guard replay`: judges recorded calls by the current settings.

mod recorded_call;
mod replayed_call;
mod summary;

use std::path::{Path, PathBuf};

use anyhow::bail;
use serde_json::Value;
use snell::{EventName, Timestamp};
use snell_store::derive::project;
use snell_store::record::redaction;
use snell_store::{LogFilter, Redactions};

use super::project_guards::{GuardPolicyArgs, GuardedProjectCache};
use crate::commands::DONE;
use crate::output::{self, Spinner, time};
use crate::record::open_store::StoreHandle;
use recorded_call::{AgentProjectCache, RecordedCall};
use replayed_call::ReplayedCall;
use summary::ReplaySummary;

/// How many calls are in memory at a time.
const PAGE_SIZE: u32 = 200;

/// Judge recorded calls by the current settings, and show what would change
///
/// Each call is judged in its own project by the current settings, and compared with the guard's decision at the time.
/// Calls without a recorded decision were allowed. If the settings have the preset audit, the calls are judged by standard.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  snell guard replay --since 7d\n  \
    snell guard replay --preset strict --project ~/api\n  \
    snell guard replay --json | jq 'select(.now.decision == \"deny\")'")]
pub(crate) struct Args {
    /// Also show calls whose decision stays the same
    #[arg(long)]
    all: bool,
    /// Print JSON: one object on each line, the last one with the counts
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    which: ReplayFilterArgs,
    #[command(flatten)]
    policy: GuardPolicyArgs,
}

/// Which calls
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Which calls")]
struct ReplayFilterArgs {
    /// Calls of this agent
    #[arg(long, value_name = "ID")]
    agent: Option<i64>,
    /// Calls of the session whose id starts with this
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Calls in this project
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// Calls of this tool
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// Calls since this time: an age (2h, 3d), a date, or an RFC 3339 time
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Calls before this time
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
}

impl ReplayFilterArgs {
    fn to_log_filter(&self, now: Timestamp) -> anyhow::Result<LogFilter> {
        Ok(LogFilter {
            agent_id: self.agent,
            session: self.session.clone(),
            event: Some(EventName::PreToolUse.as_str().to_owned()),
            tool: self.tool.clone(),
            since: time::parse_optional_time("--since", self.since.as_deref(), now)?,
            until: time::parse_optional_time("--until", self.until.as_deref(), now)?,
            limit: PAGE_SIZE,
            ..LogFilter::default()
        })
    }

    fn find_project_id(&self, store_handle: &mut StoreHandle) -> anyhow::Result<Option<i64>> {
        let Some(directory) = &self.project else {
            return Ok(None);
        };
        let root = project::find_project_root(directory);
        let root = root.to_string_lossy();
        match store_handle.query(|store| store.find_project_id(&root))? {
            None => bail!("no events are recorded for project {root}"),
            found => Ok(found),
        }
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    let mut store_handle = StoreHandle::open()?;
    let mut tally = ReplaySummary::default();
    if !args.json {
        output::start_paging();
    }
    // Check the filter even if nothing is recorded.
    let mut filter = args.which.to_log_filter(store_handle.now())?;
    if store_handle.has_no_records() {
        output::print_note("nothing has been recorded yet");
    } else {
        filter.project_id = args.which.find_project_id(&mut store_handle)?;
        replay_calls(args, filter, &mut store_handle, &mut tally)?;
    }
    if args.json {
        output::print_json_line(&tally.to_view())?;
    } else {
        output::print_text(&tally.render());
    }
    Ok(DONE)
}

/// Judges page after page, newest first, and prints the changes.
fn replay_calls(
    args: &Args,
    mut filter: LogFilter,
    store_handle: &mut StoreHandle,
    tally: &mut ReplaySummary,
) -> anyhow::Result<()> {
    let mut guards = args.policy.new_project_cache().enforcing();
    // Only the user's own file can turn the guard off, so any project will do.
    guards.get_or_load(Path::new("/"))?.warn_if_off();
    let mut projects = AgentProjectCache::default();
    let spinner = Spinner::start("judging recorded calls");
    loop {
        let page = store_handle.query(|store| RecordedCall::load_page(store, &filter, &mut projects))?;
        let Some(last) = page.last() else {
            break;
        };
        filter.before_id = Some(last.entry.id);
        for call in &page {
            let change = rejudge_call(call, &mut guards)?;
            tally.add(&change);
            if args.all || change.is_changed() {
                print_replayed_call(args, &change, store_handle.now())?;
            }
        }
        spinner.set_text(format!("judged {}", output::format_count(tally.calls(), "call")));
        if !output::is_stdout_open() {
            break;
        }
    }
    drop(spinner);
    tally.is_audit = guards.has_audit();
    Ok(())
}

fn rejudge_call<'a>(call: &'a RecordedCall, guards: &mut GuardedProjectCache) -> anyhow::Result<ReplayedCall<'a>> {
    let tool = call.entry.tool.as_deref().unwrap_or_default();
    let input = call.input();
    let losses = Redactions::from_value(input);
    let agent = call.entry.payload.get("platform").and_then(Value::as_str);
    let guard = guards.get_or_load(Path::new(&call.project))?.guard.for_agent(agent);
    let cwd = Some(Path::new(&call.cwd));
    let judgement = if losses.masked {
        let mut input = input.clone();
        redaction::replace_marks_in_json(&mut input);
        guard.judge(tool, &input, cwd)
    } else {
        guard.judge(tool, input, cwd)
    };
    Ok(ReplayedCall { recorded: call, now: judgement, redactions: losses })
}

fn print_replayed_call(args: &Args, change: &ReplayedCall<'_>, now: Timestamp) -> anyhow::Result<()> {
    if args.json {
        return output::print_json_line(&change.to_view());
    }
    output::print_text(&change.render_line(now));
    Ok(())
}
