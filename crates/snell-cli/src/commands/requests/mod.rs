//! `snell requests`: what agents ask their user.

mod remembered;
mod request_text;

use std::collections::BTreeSet;
use std::time::Duration;

use snell::Timestamp;
use snell_store::requests::{RequestFilter, RequestStatus, RequestView, WatcherLock};

use super::{DONE, repeat_until_signal};
use crate::output::time::format_elapsed;
use crate::output::{self, CommandError, TableColumn, TextTable};
use crate::record::open_store::StoreHandle;
pub(crate) use remembered::forget_answer;
pub(crate) use request_text::{describe_end, print_request};

/// How often `--watch` looks for new requests.
const WATCH_INTERVAL: Duration = Duration::from_millis(250);

/// How many requests are shown by default.
const DEFAULT_LIMIT: u32 = 50;

/// The longest text of a cell.
const SHOWN_CELLS: usize = 60;

const NO_REQUESTS: &str = "No open requests. To answer agents from here: snell docs answers";

/// Show what agents ask you
///
/// Answer with `snell answer`. Hooks open requests if the table `answers` of your snell.toml is on, and only while an answer can come:
/// `snell requests --watch` runs, a page of `snell serve` is open, or notices have buttons.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  snell requests\n  snell requests --watch\n  snell requests 5f3a2b\n  \
    snell requests --remembered\n  \
    snell requests --all --json | jq '.[] | select(.status == \"answered\")'")]
pub(crate) struct Args {
    /// Show this request in full
    ///
    /// The beginning of its id is enough.
    #[arg(value_name = "ID", conflicts_with_all = ["watch", "all", "remembered"])]
    id: Option<String>,
    /// Show requests in full as they come, until Ctrl-C; hooks wait meanwhile
    #[arg(long, conflicts_with = "all")]
    watch: bool,
    /// Include closed requests
    #[arg(long)]
    all: bool,
    /// Show the remembered answers instead, which `snell answer --forget` ends
    #[arg(long, conflicts_with_all = ["watch", "all", "limit"])]
    remembered: bool,
    /// Show at most this many
    #[arg(long, value_name = "NUMBER", default_value_t = DEFAULT_LIMIT, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// Print JSON, with --watch a line per change
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    let mut store_handle = StoreHandle::open()?;
    if args.remembered {
        let answers = remembered::load_answers(&mut store_handle)?;
        if args.json {
            output::print_json(&answers)?;
        } else {
            remembered::print_answers(&answers);
        }
        return Ok(DONE);
    }
    if let Some(id) = &args.id {
        let request = find_request(&mut store_handle, id)?;
        if args.json {
            output::print_json(&request)?;
        } else {
            print_request(&request, Timestamp::now());
        }
        return Ok(DONE);
    }
    if args.watch {
        return watch_requests(args, &mut store_handle);
    }
    let status = (!args.all).then_some(RequestStatus::Open);
    let filter = RequestFilter { status, limit: args.limit, ..RequestFilter::default() };
    let requests = load_requests(&mut store_handle, &filter)?;
    if args.json {
        output::print_json(&requests)?;
    } else if requests.is_empty() {
        output::print_line(NO_REQUESTS);
    } else {
        build_table(&requests, Timestamp::now()).print();
    }
    Ok(DONE)
}

/// The requests, after those that are over were closed. Their times are of the real clock.
pub(crate) fn load_requests(
    store_handle: &mut StoreHandle,
    filter: &RequestFilter,
) -> anyhow::Result<Vec<RequestView>> {
    if store_handle.has_no_records() {
        return Ok(Vec::new());
    }
    store_handle.query(|store| {
        store.sweep_requests(Timestamp::now())?;
        store.list_requests(filter)
    })
}

/// The request with this id, or the only one whose id starts with it.
pub(crate) fn find_request(store_handle: &mut StoreHandle, id: &str) -> anyhow::Result<RequestView> {
    let filter = RequestFilter { uid_prefix: Some(id.to_owned()), limit: 2, ..RequestFilter::default() };
    let mut found = if id.is_empty() { Vec::new() } else { load_requests(store_handle, &filter)? };
    match (found.len(), found.pop()) {
        (1, Some(request)) => Ok(request),
        (0, _) => Err(CommandError::new(format!("no request has the id \"{id}\""))
            .with_hint("run `snell requests` for the open ones")
            .into()),
        _ => Err(CommandError::new(format!("several requests have an id that begins with \"{id}\""))
            .with_hint("write more of the id")
            .into()),
    }
}

/// Shows each request when it is opened, and a line when it is closed.
fn watch_requests(args: &Args, store_handle: &mut StoreHandle) -> anyhow::Result<u8> {
    std::fs::create_dir_all(store_handle.data_dir())?;
    let _watcher = WatcherLock::hold(store_handle.data_dir())?;
    let mut shown = BTreeSet::new();
    if !args.json {
        output::print_faint("Waiting for requests. Answer in another terminal: snell answer. Ctrl-C ends.");
    }
    repeat_until_signal(WATCH_INTERVAL, || {
        let mut open = load_requests(store_handle, &RequestFilter::open())?;
        open.reverse();
        let gone: Vec<_> = shown.iter().filter(|id| open.iter().all(|one| one.request_id != **id)).copied().collect();
        for id in gone {
            shown.remove(&id);
            if let Some(closed) = store_handle.query(|store| store.find_request(id))? {
                print_change(args, &closed)?;
            }
        }
        for request in open {
            if shown.insert(request.request_id) {
                print_change(args, &request)?;
            }
        }
        Ok(())
    })?;
    Ok(DONE)
}

fn print_change(args: &Args, request: &RequestView) -> anyhow::Result<()> {
    let now = Timestamp::now();
    if args.json {
        output::print_json_line(request)?;
    } else if request.status == RequestStatus::Open {
        output::print_line("");
        print_request(request, now);
    } else {
        output::print_line(&format!("Request {}: {}", request.uid, describe_end(request, now)));
    }
    Ok(())
}

fn build_table(requests: &[RequestView], now: Timestamp) -> TextTable<6> {
    let mut table = TextTable::new([
        TableColumn::new("ID"),
        TableColumn::new("AGENT").with_drop_rank(2),
        TableColumn::new("PROJECT").with_drop_rank(3),
        TableColumn::new("SINCE").with_drop_rank(1),
        TableColumn::new("STATUS"),
        TableColumn::new("ASKS").flexible(),
    ]);
    for request in requests {
        let status = match request.status {
            RequestStatus::Open if !request.answerable => "only in its own terminal".to_owned(),
            RequestStatus::Open => format!("open, {} left", format_elapsed(now, request.expires_at)),
            _ => describe_end(request, now),
        };
        table.add_row([
            request.uid.clone(),
            format!("{} {}", request.product.as_deref().unwrap_or("-"), request.agent_id),
            request.project.clone(),
            format!("{} ago", format_elapsed(request.opened_at, now)),
            output::shorten_to_one_line(&status, SHOWN_CELLS),
            output::shorten_to_one_line(&request.title, SHOWN_CELLS),
        ]);
    }
    table
}
