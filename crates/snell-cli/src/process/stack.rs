//! Gives the parsers enough stack under a low stack limit (`ulimit -s`).

use std::thread;

use rustix::process::{Resource, getrlimit};

/// The parsers' depth limits are tested with this much stack.
const ENOUGH_BYTES: u64 = 2 << 20;
/// The usual stack of a main thread.
const USUAL_BYTES: usize = 8 << 20;

/// Runs the program on this thread, or on a thread with a larger stack if this one's limit is low.
pub(crate) fn run_with_enough_stack(program: fn() -> u8) -> u8 {
    let limit_bytes = getrlimit(Resource::Stack).current;
    if limit_bytes.is_none_or(|limit| limit >= ENOUGH_BYTES) {
        return program();
    }
    match thread::Builder::new().stack_size(USUAL_BYTES).spawn(program) {
        Ok(thread) => thread.join().unwrap_or(crate::commands::FAILED),
        Err(_) => program(),
    }
}
