//! `snell notices list`: the deliveries of changes, to targets and hooks.

use snell_store::DeliveryView;

use crate::commands::DONE;
use crate::output::time::format_time_short;
use crate::output::{self, TableColumn, TextTable};
use crate::record::open_store::StoreHandle;

/// How many deliveries are shown by default.
const DEFAULT_LIMIT: u32 = 50;

/// The longest text of a cell.
const SHOWN_CELLS: usize = 60;

/// List notices and runs of derived events, the newest first
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  snell notices list\n  snell notices list --limit 5 --json")]
pub(crate) struct Args {
    /// Show at most this many
    #[arg(long, value_name = "NUMBER", default_value_t = DEFAULT_LIMIT, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    let mut store_handle = StoreHandle::open()?;
    let deliveries = if store_handle.has_no_records() {
        Vec::new()
    } else {
        store_handle.query(|store| store.dispatches().list_deliveries(args.limit))?
    };
    if args.json {
        output::print_json(&deliveries)?;
    } else if deliveries.is_empty() {
        output::print_line("No notices yet. To set them up: snell docs notices");
    } else {
        build_table(&deliveries, &store_handle).print();
    }
    Ok(DONE)
}

fn build_table(deliveries: &[DeliveryView], store_handle: &StoreHandle) -> TextTable<6> {
    let mut table = TextTable::new([
        TableColumn::new("TIME").with_drop_rank(1),
        TableColumn::new("AGENT").with_drop_rank(2),
        TableColumn::new("KIND"),
        TableColumn::new("TARGET").with_drop_rank(3),
        TableColumn::new("STATUS"),
        TableColumn::new("ABOUT").flexible(),
    ]);
    for delivery in deliveries {
        let status = match &delivery.detail {
            Some(detail) => format!("{} ({detail})", delivery.status),
            None => delivery.status.to_string(),
        };
        table.add_row([
            format_time_short(delivery.at, store_handle.now()),
            delivery.agent_id.to_string(),
            delivery.kind.clone(),
            delivery.target.clone(),
            output::shorten_to_one_line(&status, SHOWN_CELLS),
            output::shorten_to_one_line(&delivery.text, SHOWN_CELLS),
        ]);
    }
    table
}
