//! Reads the result of a worker from a file or standard input: of a long one, the beginning and the end.

use std::fs::File;
use std::io::{self, IsTerminal, Read, Seek, SeekFrom};
use std::path::Path;

use anyhow::Context;

use crate::output::{CommandError, truncate_to_width};

/// The bytes that are read from the beginning, and from the end. Records keep far less.
const PART_BYTES: usize = 512 * 1024;

/// The most bytes that are read from a pipe or device, which may have no end.
const MAX_STREAM_BYTES: u64 = 256 * 1024 * 1024;

/// The longest path in a message.
const PATH_SHOWN: usize = 200;

/// Reads a summary from a file; `-` is standard input. Invalid UTF-8 is replaced.
pub(super) fn read_summary(path: &Path) -> anyhow::Result<String> {
    let bytes = if path == Path::new("-") {
        let stdin = io::stdin().lock();
        if stdin.is_terminal() {
            let error = CommandError::new("--summary-file - reads standard input, but that is a terminal");
            return Err(error.with_hint("use --summary TEXT").into());
        }
        read_stream_ends(stdin).context("cannot read the summary from standard input")?
    } else {
        let shown = || truncate_to_width(&path.display().to_string(), PATH_SHOWN);
        read_file_ends(path).with_context(|| format!("cannot read the summary from {}", shown()))?
    };
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn read_file_ends(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let metadata = file.metadata()?;
    let part = PART_BYTES as u64;
    if !metadata.is_file() || metadata.len() <= 2 * part {
        return read_stream_ends(file);
    }
    let mut bytes = Vec::new();
    file.by_ref().take(part).read_to_end(&mut bytes)?;
    file.seek(SeekFrom::Start(metadata.len() - part))?;
    file.take(part).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The beginning and the end of a source that cannot seek.
fn read_stream_ends(source: impl Read) -> io::Result<Vec<u8>> {
    let mut source = source.take(MAX_STREAM_BYTES);
    let mut next = |bytes: &mut Vec<u8>| source.by_ref().take(PART_BYTES as u64).read_to_end(bytes);
    let mut begin = Vec::new();
    next(&mut begin)?;
    let mut end = Vec::new();
    while next(&mut end)? > 0 {
        let too_much = end.len().saturating_sub(PART_BYTES);
        end.drain(..too_much);
    }
    begin.append(&mut end);
    Ok(begin)
}
