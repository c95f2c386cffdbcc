//! What a worker has to say, as it stands in a file or is handed over: of much, the beginning and the end.

use std::fs::File;
use std::io::{self, IsTerminal, Read, Seek, SeekFrom};
use std::path::Path;

use anyhow::{Context, bail};

use crate::output::shortened;

/// So much is read of the beginning, and so much of the end. Far less of it is kept.
const PART: usize = 512 * 1024;

/// What is no file is read this far, because it may have no end.
const FAR: u64 = 256 * 1024 * 1024;

/// How much is repeated of a path that somebody wrote.
const PATH_SHOWN: usize = 200;

/// Reads a summary from a file; `-` is standard input. What is no text is made one.
pub(super) fn read(path: &Path) -> anyhow::Result<String> {
    let bytes = if path == Path::new("-") {
        let stdin = io::stdin().lock();
        if stdin.is_terminal() {
            bail!("--summary-file - reads standard input, and that is a terminal; use --summary TEXT");
        }
        ends_of(stdin).context("cannot read the summary from standard input")?
    } else {
        let shown = || shortened(&path.display().to_string(), PATH_SHOWN);
        of_file(path).with_context(|| format!("cannot read the summary from {}", shown()))?
    };
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn of_file(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let metadata = file.metadata()?;
    let part = PART as u64;
    if !metadata.is_file() || metadata.len() <= 2 * part {
        return ends_of(file);
    }
    let mut bytes = Vec::new();
    file.by_ref().take(part).read_to_end(&mut bytes)?;
    file.seek(SeekFrom::Start(metadata.len() - part))?;
    file.take(part).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The beginning and the end of what can only be read from one to the other.
fn ends_of(source: impl Read) -> io::Result<Vec<u8>> {
    let mut source = source.take(FAR);
    let mut next = |bytes: &mut Vec<u8>| source.by_ref().take(PART as u64).read_to_end(bytes);
    let mut begin = Vec::new();
    next(&mut begin)?;
    let mut end = Vec::new();
    while next(&mut end)? > 0 {
        let too_much = end.len().saturating_sub(PART);
        end.drain(..too_much);
    }
    begin.append(&mut end);
    Ok(begin)
}
