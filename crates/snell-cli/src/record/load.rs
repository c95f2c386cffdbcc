//! The load of this machine, and the limits of this process.

use std::fs::File;
use std::io::Read;

use rustix::process::{Resource, getrlimit};

/// A daemon needs this many descriptors.
const ENOUGH_DESCRIPTORS: u64 = 64;

/// Whether a daemon started here would inherit limits that are too low for it.
pub(crate) fn has_tight_limits() -> bool {
    let descriptors = getrlimit(Resource::Nofile).current;
    getrlimit(Resource::Fsize).current.is_some() || descriptors.is_some_and(|limit| limit < ENOUGH_DESCRIPTORS)
}

/// Whether the machine is so busy that waiting for another process takes longer than its work.
pub(crate) fn is_overloaded() -> bool {
    let processors = rustix::thread::sched_getaffinity(None).map_or(1, |set| set.count());
    count_running_processes().is_some_and(|running| running > 4 * processors)
}

/// The number of running or runnable processes, this one included.
fn count_running_processes() -> Option<u32> {
    // Three averages, then `running/all`, then the last process id: `0.20 0.18 0.12 1/80 11206`.
    let mut line = [0; 128];
    let length = File::open("/proc/loadavg").and_then(|mut file| file.read(&mut line)).ok()?;
    parse_running_count(std::str::from_utf8(&line[..length]).ok()?)
}

fn parse_running_count(line: &str) -> Option<u32> {
    let (running, _) = line.split_ascii_whitespace().nth(3)?.split_once('/')?;
    running.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_says_is_understood() {
        assert_eq!(parse_running_count("0.20 0.18 0.12 17/80 11206\n"), Some(17));
        assert_eq!(parse_running_count("nothing of the kind"), None);
        assert_eq!(count_running_processes().is_some(), std::path::Path::new("/proc/loadavg").exists());
    }
}
