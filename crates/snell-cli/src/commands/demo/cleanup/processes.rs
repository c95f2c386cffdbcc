//! Ends processes that are left at the end of the demo: background hooks, and hooks of a cancelled `snell hook`.

use std::path::PathBuf;
use std::time::Duration;

#[cfg(target_os = "linux")]
use rustix::process::{Pid, Signal, kill_process};

/// The time that processes have to end, before the first signal and after each one.
const END_TIMEOUT: Duration = Duration::from_secs(2);
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Ends the processes whose data directory this is. Only Linux shows the environment of a process; elsewhere the hooks of the
/// demo end by themselves, because they are short.
pub(in super::super) async fn end_processes(data: PathBuf) {
    #[cfg(target_os = "linux")]
    for signal in [None, Some(Signal::TERM), Some(Signal::KILL)] {
        let mut left = find_processes(&data);
        if let Some(signal) = signal {
            for pid in &left {
                // The process may have ended meanwhile.
                let _ = kill_process(*pid, signal);
            }
        }
        let began = tokio::time::Instant::now();
        while !left.is_empty() && began.elapsed() < END_TIMEOUT {
            tokio::time::sleep(POLL_INTERVAL).await;
            left = find_processes(&data);
        }
        if left.is_empty() {
            return;
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (data, END_TIMEOUT, POLL_INTERVAL);
}

/// The processes whose environment names this directory.
#[cfg(target_os = "linux")]
fn find_processes(data: &std::path::Path) -> Vec<Pid> {
    use std::os::unix::ffi::OsStrExt;

    let sign = [b"SNELL_HOME=", data.as_os_str().as_bytes()].concat();
    let own = rustix::process::getpid();
    let is_ours = |pid: &Pid| {
        let environment = std::fs::read(format!("/proc/{}/environ", pid.as_raw_nonzero())).unwrap_or_default();
        *pid != own && environment.split(|byte| *byte == 0).any(|variable| variable == sign)
    };
    let listed = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = listed.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.filter_map(Pid::from_raw).filter(is_ours).collect()
}
