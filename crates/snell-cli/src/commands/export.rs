//! `snell export`: all records of one session.

use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use snell_store::SessionView;

use super::DONE;
use crate::output::{self, Spinner};
use crate::record::open_store::{DatabaseArgs, StoreHandle};
use crate::session_arg;

/// Write all records of one session as JSON Lines
///
/// The first line is the session. Events, with the results of their hooks, and turns follow in the order of time. The field
/// `type` is the kind of a line.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  snell export 5f3a | jq -r 'select(.type == \"turn\") | .text'\n  \
    snell export 5f3a2b --output session.jsonl")]
pub(crate) struct Args {
    /// Session id, or its beginning
    session: String,
    /// Write to this file, which appears only when complete
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    database: DatabaseArgs,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    let mut store_handle = StoreHandle::open_named(&args.database)?;
    let session = session_arg::find_by_prefix(&args.session, &mut store_handle)?;
    match &args.output {
        None => match write_session(&session, &mut store_handle, &mut output::stdout_writer(), escape_for_terminal)? {
            // The reader closed the pipe.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
            written => drop(written.context("cannot write the session")?),
        },
        Some(path) => {
            let lines = write_session_file(&session, &mut store_handle, path)?;
            output::print_line(&format!("Wrote {} to {}.", output::format_count(lines, "line"), path.display()));
        }
    }
    Ok(DONE)
}

/// Writes the session line by line, and returns the number of lines. The inner error is the error of `to`.
fn write_session(
    session: &SessionView,
    store_handle: &mut StoreHandle,
    to: &mut dyn Write,
    shown: fn(String) -> String,
) -> anyhow::Result<io::Result<usize>> {
    let mut lines = 0;
    let mut written = Ok(());
    store_handle.query(|store| {
        store.export_session(session, &mut |exported| {
            written = serde_json::to_string(&exported)
                .map_err(io::Error::from)
                .and_then(|line| writeln!(to, "{}", shown(line)));
            lines += 1;
            written.is_ok()
        })
    })?;
    Ok(written.and_then(|()| to.flush()).map(|()| lines))
}

/// The line, with control characters escaped on a terminal.
fn escape_for_terminal(line: String) -> String {
    if output::is_terminal() { output::escape_invisible_json(&line) } else { line }
}

/// Writes a temporary file next to the target, and renames it when it is complete.
fn write_session_file(session: &SessionView, store_handle: &mut StoreHandle, path: &Path) -> anyhow::Result<usize> {
    let cannot = || format!("cannot write {}", path.display());
    let directory = path.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."));
    let _spinner = Spinner::start("exporting the session");
    let mut file = tempfile::Builder::new().prefix(".snell-export-").tempfile_in(directory).with_context(cannot)?;
    let written = write_session(session, store_handle, &mut BufWriter::new(&mut file), std::convert::identity)?;
    let lines = written.with_context(cannot)?;
    file.as_file().sync_all().with_context(cannot)?;
    file.persist(path).with_context(cannot)?;
    Ok(lines)
}
