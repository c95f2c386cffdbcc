//! `snell demo`: everything it promises to show is shown, by the receiver and in the terminal, and nothing of it stays.

mod failures;
mod interruption;
mod output;
mod terminal;

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};

use rustix::process::Signal;
use snell_test_support::files::list_names;
use snell_test_support::process::send_signal;

use crate::support::CliSandbox;

/// A place for demos, and a user who must not notice them.
struct DemoSandbox {
    sandbox: CliSandbox,
}

/// A demo that is being played.
struct DemoProcess {
    process: Child,
    stdout: Option<BufReader<ChildStdout>>,
}

/// How a demo ended.
#[derive(Debug)]
struct DemoProcessExit {
    code: Option<i32>,
    stderr: String,
}

impl DemoSandbox {
    fn new() -> Self {
        Self::with_sandbox(CliSandbox::new())
    }

    fn with_sandbox(sandbox: CliSandbox) -> Self {
        let theatre = Self { sandbox };
        fs::create_dir(theatre.temp_dir()).unwrap();
        theatre
    }

    /// Where the demo may make a directory.
    fn temp_dir(&self) -> PathBuf {
        self.sandbox.project().join("tmp")
    }

    fn demo_command(&self, args: &[&str]) -> Command {
        let mut command = self.sandbox.command(&["demo"]);
        command.args(args).env("TMPDIR", self.temp_dir());
        command
    }

    fn spawn_demo(&self, args: &[&str]) -> DemoProcess {
        let mut command = self.demo_command(args);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let stdout = process.stdout.take().map(BufReader::new);
        DemoProcess { process, stdout }
    }

    /// Neither a file nor a process of it is left, and its user's directories are as they were: empty.
    #[track_caller]
    fn assert_nothing_left(&self) {
        assert_eq!(list_names(&self.temp_dir()), [""; 0]);
        assert_eq!(list_names(&self.sandbox.project()), ["tmp"]);
        assert_eq!(list_names(&self.sandbox.home()), [""; 0]);
        assert_eq!(list_names(&self.sandbox.data()), [""; 0]);
        let left = self.list_processes();
        assert!(left.is_empty(), "{left:?}");
    }

    /// Every process that has to do with the place for demos: by its environment, its directory or its command line.
    fn list_processes(&self) -> Vec<String> {
        let tmp = self.temp_dir().into_os_string().into_encoded_bytes();
        let mentions = |bytes: &[u8]| bytes.windows(tmp.len()).any(|window| window == tmp);
        let listed = fs::read_dir("/proc").into_iter().flatten().flatten();
        let processes = listed.map(|entry| entry.path());
        let ours = processes.filter(|process| {
            let read = |name: &str| fs::read(process.join(name)).unwrap_or_default();
            let cwd = fs::read_link(process.join("cwd")).unwrap_or_default();
            mentions(&read("environ")) || mentions(&read("cmdline")) || cwd.starts_with(self.temp_dir())
        });
        ours.map(|process| fs::read_to_string(process.join("stat")).unwrap_or_default())
            .filter(|stat| !stat.is_empty())
            .collect()
    }
}

impl DemoProcess {
    /// The next lines, up to the first that has this in it.
    #[track_caller]
    fn read_until(&mut self, sign: &str) -> String {
        let mut text = String::new();
        while !text.lines().last().is_some_and(|line| line.contains(sign)) {
            let read = self.stdout.as_mut().unwrap().read_line(&mut text).unwrap();
            assert!(read > 0, "{sign} is not in: {text}");
        }
        text
    }

    fn send_signal(&self, signal: Signal) {
        send_signal(self.process.id(), signal);
    }

    /// Everything that is still said, and how it ends.
    fn read_to_end(mut self) -> (String, DemoProcessExit) {
        let mut text = String::new();
        self.stdout.take().unwrap().read_to_string(&mut text).unwrap();
        (text, self.wait_for_exit())
    }

    /// Nobody reads any more; how it ends.
    fn close_and_wait(mut self) -> DemoProcessExit {
        drop(self.stdout.take());
        self.wait_for_exit()
    }

    fn wait_for_exit(&mut self) -> DemoProcessExit {
        let mut stderr = String::new();
        self.process.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        DemoProcessExit { code: self.process.wait().unwrap().code(), stderr }
    }
}

impl Drop for DemoProcess {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
