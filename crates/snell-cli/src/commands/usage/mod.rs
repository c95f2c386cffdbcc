//! `snell usage`: the tokens of agents, and what they cost.

mod table;

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use clap::builder::PossibleValue;
use snell::{AgentProduct, UserMessage};
use snell_store::derive::project::find_project_root;
use snell_store::usage::{PriceList, UsageBreakdown, UsageScan, UsageSummary};
use snell_store::{Result as StoreResult, Store, StoreError, UsageFilter};

use super::{DONE, log};
use crate::env::ConfigArgs;
use crate::env::transcripts::find_usage_directories;
use crate::output::{self, Spinner, time};
use crate::record::open_store::StoreHandle;

const NO_USAGE_MESSAGE: &str = "No usage yet. Snell reads it from the files that agents write: snell docs usage";

/// Show the tokens of agents, and what they cost
///
/// Counts are from the files that agents write, and from what they export to `snell serve`. The cost is by public list prices; a
/// subscription costs something else. `[usage.prices]` in snell.toml has your own prices.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  snell usage\n  snell usage --by project --since 7d\n  \
    snell usage --by model --json | jq .total.cost_usd")]
pub(crate) struct Args {
    /// Show a row for each of these
    #[arg(long, value_name = "PART", default_value = "day")]
    by: BreakdownArg,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    filter_args: UsageFilterArgs,
}

/// The filters.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Filters")]
struct UsageFilterArgs {
    /// Count requests since this age (2h, 3d), date or RFC 3339 time
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Count requests before this time
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// Count requests of the project in this directory
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// Count requests of this agent (its number), or of the agents of this product (claude)
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
    /// Count requests of the session with this id
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

/// A breakdown, by its word.
#[derive(Clone, Copy, Debug)]
struct BreakdownArg(UsageBreakdown);

impl ValueEnum for BreakdownArg {
    fn value_variants<'a>() -> &'a [Self] {
        const {
            &[
                Self(UsageBreakdown::Day),
                Self(UsageBreakdown::Project),
                Self(UsageBreakdown::Agent),
                Self(UsageBreakdown::Product),
                Self(UsageBreakdown::Model),
                Self(UsageBreakdown::Session),
                Self(UsageBreakdown::Turn),
            ]
        }
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.as_str()))
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    let mut store_handle = StoreHandle::open()?;
    let filter = args.filter_args.to_usage_filter(&store_handle)?;
    let by = args.by.0;
    let directories = find_usage_directories();
    let mut sums = Vec::new();
    if !store_handle.has_no_records() || directories.iter().any(|directory| !directory.is_empty()) {
        let spinner = Spinner::start("counting tokens");
        let is_current = store_handle.query(|store| {
            let is_current = update_usage(store, &spinner)?;
            sums = store.summarize_usage(by.grouping(), &filter)?;
            Ok(is_current)
        })?;
        drop(spinner);
        if !is_current {
            output::print_warning("another process uses the database, so the newest requests are not counted");
        }
    }
    let (engine, _) = ConfigArgs::new(None, None).engine_builder()?.load();
    let prices = PriceList::new(&engine.settings().usage.prices);
    let summary = UsageSummary::new(by, &sums, &prices, &time::display_time_zone());
    if args.json {
        output::print_json(&summary)?;
    } else if let Some(total) = &summary.total {
        output::start_paging();
        table::print_summary(&summary, total);
        note_unpriced(&summary);
    } else if filter == UsageFilter::default() {
        output::print_line(NO_USAGE_MESSAGE);
    } else {
        output::print_note("no matching requests");
    }
    Ok(DONE)
}

/// Reads what agents have written since the last time. Returns whether all of it is counted.
fn update_usage(store: &mut Store, spinner: &Spinner) -> StoreResult<bool> {
    let mut scan = UsageScan::start(store, &find_usage_directories())?;
    loop {
        match scan.run_step(store) {
            Ok(false) => return Ok(true),
            Ok(true) => {}
            Err(StoreError::Locked) => return Ok(false),
            Err(error) => return Err(error),
        }
        let progress = scan.progress();
        let percent = progress.read_bytes.saturating_mul(100) / progress.all_bytes.max(1);
        let files = output::format_count(progress.files_left, "file");
        spinner.set_text(format!("counting tokens: {}%, {files} left", percent.min(100)));
    }
}

/// Names the models without a price: a sum without them is not the whole cost.
fn note_unpriced(summary: &UsageSummary) {
    let unpriced = summary.total.as_ref().map(|total| &total.unpriced_models);
    let names: Vec<_> = unpriced.into_iter().flatten().map(|model| table::name_model(model)).collect();
    if names.is_empty() {
        return;
    }
    let note = UserMessage::new(format!("the price of these models is unknown: {}", names.join(", ")));
    output::print_note(note.with_hint("set it under [usage.prices.\"MODEL\"] in ~/.config/snell/snell.toml"));
}

impl UsageFilterArgs {
    fn to_usage_filter(&self, store_handle: &StoreHandle) -> anyhow::Result<UsageFilter> {
        let (agent_id, product) = log::parse_agent_option(self.agent.as_deref())?;
        Ok(UsageFilter {
            since: time::parse_optional_time("--since", self.since.as_deref(), store_handle.now())?,
            until: time::parse_optional_time("--until", self.until.as_deref(), store_handle.now())?,
            product: product.map(|product: &AgentProduct| product.name.to_owned()),
            project: self.project.as_deref().map(resolve_project),
            agent_id,
            session_id: self.session.clone(),
        })
    }
}

/// The project of a directory, which need not exist any more.
fn resolve_project(directory: &Path) -> String {
    let directory = std::path::absolute(directory).unwrap_or_else(|_| directory.to_owned());
    find_project_root(&directory).to_string_lossy().into_owned()
}
