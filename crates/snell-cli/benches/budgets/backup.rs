//! How much longer a hook takes if it saves files before a call deletes or overwrites them.

use std::fs;
use std::path::Path;
use std::process::Command;

use snell_test_support::files::write_file;

use crate::hook::BenchAgent;
use crate::measure::{TimeSamples, format_ratio, print_row, time_contenders, to_millis};

/// Files that git has.
const TRACKED: usize = 2_000;

/// Files that git does not have: more than fit into the time.
const UNTRACKED: usize = 1_000;

/// A file that takes longer to copy than there is time, unless the file system can share blocks.
const LARGE_BYTES: usize = 20_000_000;

/// Calls, and their descriptions.
const CALLS: &[(&str, &str)] = &[
    ("ls -la", "nothing"),
    ("echo x > notes.txt", "one file"),
    ("sed -i s/a/b/ few/*", "50 files"),
    ("rm -rf data", "1 000 files, as many as fit"),
    ("echo x > large.bin", "a large file, if it fits"),
    ("git restore .", "changes in 2 000 tracked files, none"),
];

pub(crate) fn bench_backups(root: &Path) {
    for (number, (command, what)) in CALLS.iter().enumerate() {
        let directory = root.join(format!("backup-{number}"));
        let on = BenchAgent::new(&directory.join("on")).calling(command).saving_files("true");
        let off = BenchAgent::new(&directory.join("off")).calling(command).saving_files("false");
        fill_project(on.project());
        fill_project(off.project());
        let [off, on] = time_contenders([&mut || off.run_hook(), &mut || on.run_hook()]);
        print_row(&format!("snell hook, backup of {what}"), &on, Some(describe_delay(&on, &off)));
    }
}

/// The ratio to a hook without backups, and the delay.
fn describe_delay(on: &TimeSamples, off: &TimeSamples) -> String {
    let delay = |fraction| to_millis(on.percentile(fraction)) - to_millis(off.percentile(fraction));
    let ratio = format_ratio(on.p50(), off.p50());
    format!("{ratio} of no backup, {:+.2} ms; p95 {:+.2} ms; budget 5", delay(0.5), delay(0.95))
}

fn fill_project(project: &Path) {
    fs::remove_dir_all(project).unwrap();
    for number in 0..TRACKED {
        write_file(&project.join(format!("src/{}/{number}", number % 40)), "tracked\n".repeat(50));
    }
    let git = |args: &[&str]| {
        let done = Command::new("git").current_dir(project).args(args).output().unwrap();
        assert!(done.status.success(), "{done:?}");
    };
    git(&["init", "--quiet"]);
    git(&["add", "--all"]);
    for number in 0..UNTRACKED {
        write_file(&project.join(format!("data/{}/{number}", number % 20)), "untracked\n".repeat(200));
    }
    for number in 0..50 {
        write_file(&project.join(format!("few/{number}")), "untracked\n".repeat(200));
    }
    write_file(&project.join("notes.txt"), "notes\n".repeat(100));
    write_file(&project.join("large.bin"), vec![1; LARGE_BYTES]);
}
