//! `snell supervise`: stays with hooks that nobody waits for. Started by `snell run`, never by people.

use super::{DONE, adopt_orphans, block_on};

pub(crate) fn run() -> anyhow::Result<u8> {
    adopt_orphans();
    block_on(snell::supervise(std::io::stdin().lock()))??;
    Ok(DONE)
}
