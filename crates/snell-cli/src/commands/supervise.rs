//! `snell supervise`: stays with hooks that nobody waits for. Started by `snell run`, never by people.

use super::{DONE, adopt_orphans, runtime, unless_told_to_end};

pub(crate) fn run() -> anyhow::Result<u8> {
    adopt_orphans();
    let hooks = snell::supervise(std::io::stdin().lock());
    runtime()?.block_on(unless_told_to_end(hooks))??;
    Ok(DONE)
}
