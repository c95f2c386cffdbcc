//! `snell supervise`: stays with hooks that nobody waits for. Started by `snell run`, never by people.

use super::{DONE, runtime};

pub(crate) fn run() -> anyhow::Result<u8> {
    runtime()?.block_on(snell::supervise(std::io::stdin().lock()))?;
    Ok(DONE)
}
