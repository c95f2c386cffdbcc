//! A disk that is full: what cannot be stored is refused, everything else goes on, and it ends by itself.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use rustix::process::{Pid, Resource, Rlimit, Signal, prlimit};
use serde_json::{Value, json};
use snell_test_support::database::{assert_database_intact, query_texts};
use snell_test_support::http::HttpRequest;
use snell_test_support::serve_process::ServeProcess;
use snell_test_support::skip::report_skipped;
use snell_test_support::wait::wait_until;

use crate::support::CliSandbox;

/// More events than fit anywhere here.
const MANY: usize = 2000;

/// A disk that can be filled.
trait FillableDisk {
    fn fill_up(&self);
    fn make_room(&self);
    /// Copies the database, once nobody uses it any more, to where SQLite can open it.
    fn copy_database(&self, to: &Path);
}

/// A small disk of the server's own. Others find it by a directory that they hold open.
struct SmallDisk(File);

impl SmallDisk {
    fn path(&self, name: &str) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.0.as_raw_fd())).join(name)
    }
}

impl FillableDisk for SmallDisk {
    fn fill_up(&self) {
        let mut filler = File::create(self.path("filler")).unwrap();
        let mut zeros: &[u8] = &[0; 8 * 1024 * 1024];
        assert!(std::io::copy(&mut zeros, &mut filler).is_err());
    }

    fn make_room(&self) {
        fs::remove_file(self.path("filler")).unwrap();
    }

    fn copy_database(&self, to: &Path) {
        for name in ["snell.db", "snell.db-wal"] {
            if self.path(name).exists() {
                fs::copy(self.path(name), to.join(name)).unwrap();
            }
        }
    }
}

/// A limit for the length of the files that the server writes.
struct FileSizeLimit {
    server: Pid,
    data: PathBuf,
}

impl FileSizeLimit {
    fn set_limit(&self, bytes: Option<u64>) {
        let limit = Rlimit { current: bytes, maximum: None };
        prlimit(Some(self.server), Resource::Fsize, limit).unwrap();
    }
}

impl FillableDisk for FileSizeLimit {
    fn fill_up(&self) {
        let log = fs::metadata(self.data.join("snell.db-wal")).map_or(0, |log| log.len());
        self.set_limit(Some(log + 8192));
    }

    fn make_room(&self) {
        self.set_limit(None);
    }

    fn copy_database(&self, to: &Path) {
        assert_eq!(to, self.data);
    }
}

/// An event that takes some room.
fn build_large_event(number: usize) -> Value {
    json!({"session_id": "s1", "cwd": "/", "event_id": number.to_string(), "prompt": "x".repeat(4000)})
}

/// Tells events from this number on until one is refused; answers its number.
fn send_until_refused(receiver: &ServeProcess, from: usize) -> usize {
    let is_refused = |number: &usize| {
        let answer = HttpRequest::for_hook(&receiver.address, "stop", &build_large_event(*number)).send();
        answer.status != 200
    };
    (from..MANY).find(is_refused).expect("the disk is not full")
}

#[track_caller]
fn assert_refused(receiver: &ServeProcess, number: usize) {
    let answer = HttpRequest::for_hook(&receiver.address, "stop", &build_large_event(number)).send();
    assert_eq!(answer.status, 503, "{answer:?}");
    let again_in: u32 = answer.header("retry-after").unwrap().parse().unwrap();
    assert!((1..60).contains(&again_in), "{answer:?}");
    let message = answer.message();
    assert!(message.contains("disk") && message.ends_with(" (hint: try again in a moment)"), "{message}");
}

fn run_full_disk_story(sandbox: &CliSandbox, receiver: ServeProcess, disk: &dyn FillableDisk) {
    let mut acknowledged: BTreeSet<_> = (0..20).collect();
    for number in &acknowledged {
        receiver.send_event("stop", &build_large_event(*number));
    }
    let mut next = 20;
    // Whatever was made of the first time must not keep the second one from passing.
    for _ in 0..2 {
        disk.fill_up();
        let refused = send_until_refused(&receiver, next);
        acknowledged.extend(next..refused);
        for number in [refused, refused + 1, refused] {
            assert_refused(&receiver, number);
        }
        assert_eq!(receiver.find_agent("s1").unwrap()["state"], "idle");
        let newest = receiver.get_json("/api/events?limit=1")["items"][0]["id"].take();
        assert_eq!(newest, json!(acknowledged.len()), "nothing that was refused is shown");
        for path in ["/api/agents/1/turns", "/hook/status", "/api/hooks"] {
            receiver.get_json(path);
        }
        assert_eq!(receiver.request("GET", "/healthz").send().status, 200);
        let mut stream = receiver.open_stream("");

        disk.make_room();
        let told = wait_until(|| {
            let answer = HttpRequest::for_hook(&receiver.address, "stop", &build_large_event(refused)).send();
            (answer.status == 200).then(|| answer.json())
        });
        assert_eq!(told["duplicate"], false, "what was refused was not stored");
        acknowledged.insert(refused);
        stream.next_data_of("card_refresh");
        next = refused + 2;
    }
    let (code, said) = receiver.stop_with_signal(Signal::TERM);
    assert_eq!(code, Some(0), "{said}");
    disk.copy_database(&sandbox.data());
    let database = sandbox.database();
    let stored = query_texts(&database, "SELECT event_id FROM events").into_iter();
    let stored: BTreeSet<usize> = stored.map(|id| id.parse().unwrap()).collect();
    assert_eq!(stored, acknowledged);
    assert_database_intact(&database);
}

#[test]
fn a_small_disk_that_is_full_refuses_events_until_there_is_room() {
    let sandbox = CliSandbox::new();
    let disk = sandbox.home().join("disk");
    fs::create_dir(&disk).unwrap();
    let script = r#"mount -t tmpfs -o size=2m none "$DISK" && exec "$0" serve --addr 127.0.0.1:0 --log off"#;
    let mut command = sandbox.shell("exec unshare -m sh -c \"$SCRIPT\" \"$0\"", &[]);
    command.env("SCRIPT", script).env("DISK", &disk).env("SNELL_HOME", &disk);
    match ServeProcess::spawn(&mut command) {
        Ok(receiver) => {
            let seen_by_it = format!("/proc/{}/root{}", receiver.pid(), disk.display());
            let held = SmallDisk(File::open(seen_by_it).unwrap());
            run_full_disk_story(&sandbox, receiver, &held);
        }
        Err(said) if said.contains("mount:") || said.contains("unshare:") => {
            report_skipped(&format!("not everybody may mount a disk: {said}"));
        }
        Err(said) => panic!("{said}"),
    }
}

#[test]
fn files_that_may_not_grow_refuse_events_until_they_may() {
    let sandbox = CliSandbox::new();
    // A process is killed for writing more than it may, unless it says that it would rather be told.
    let line = "trap '' XFSZ; exec \"$0\" \"$@\"";
    let mut command = sandbox.shell(line, &["serve", "--addr", "127.0.0.1:0", "--log", "off"]);
    let receiver = ServeProcess::spawn(&mut command).unwrap();
    let disk = FileSizeLimit { server: Pid::from_raw(receiver.pid().cast_signed()).unwrap(), data: sandbox.data() };
    run_full_disk_story(&sandbox, receiver, &disk);
}

#[test]
fn a_server_that_finds_its_disk_full_says_where_and_what_to_do() {
    let sandbox = CliSandbox::new();
    let disk = sandbox.home().join("disk");
    fs::create_dir(&disk).unwrap();
    let script = r#"mount -t tmpfs -o size=1m none "$DISK" || exit 77
        head -c 2m /dev/zero 2>/dev/null >"$DISK/filler"
        exec "$0" serve --addr 127.0.0.1:0 --log off"#;
    let mut command = sandbox.shell("exec unshare -m sh -c \"$SCRIPT\" \"$0\"", &[]);
    command.env("SCRIPT", script).env("DISK", &disk).env("SNELL_HOME", &disk);
    match ServeProcess::spawn(&mut command) {
        Ok(_) => panic!("it runs on a full disk"),
        Err(said) if said.contains("mount:") || said.contains("unshare:") => {
            report_skipped(&format!("not everybody may mount a disk: {said}"));
        }
        Err(said) => {
            let (database, disk) = (disk.join("snell.db"), disk.display());
            let expected = format!(
                "error: cannot open the database {}: the disk of {disk} is full (0 KiB left)\nhint: free some space, or set \
                 SNELL_HOME to a directory on another disk",
                database.display()
            );
            assert!(said.contains(&expected), "{said}");
        }
    }
}
