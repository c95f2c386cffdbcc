//! `snell demo`: everything it promises to show is shown, by the receiver and in the terminal, and nothing of it stays.

mod ended;
mod shown;
mod terminal;
mod trouble;

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::support::Sandbox;

/// A place for demos, and a user who must not notice them.
struct Theatre {
    sandbox: Sandbox,
}

/// A demo that is being played.
struct Demo {
    process: Child,
    stdout: Option<BufReader<ChildStdout>>,
}

/// How a demo ended.
#[derive(Debug)]
struct End {
    code: Option<i32>,
    stderr: String,
}

impl Theatre {
    fn new() -> Self {
        Self::around(Sandbox::new())
    }

    fn around(sandbox: Sandbox) -> Self {
        let theatre = Self { sandbox };
        fs::create_dir(theatre.tmp()).unwrap();
        theatre
    }

    /// Where the demo may make a directory.
    fn tmp(&self) -> PathBuf {
        self.sandbox.project().join("tmp")
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.sandbox.command(&["demo"]);
        command.args(args).env("TMPDIR", self.tmp());
        command
    }

    fn start(&self, args: &[&str]) -> Demo {
        let mut command = self.command(args);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let stdout = process.stdout.take().map(BufReader::new);
        Demo { process, stdout }
    }

    /// Neither a file nor a process of it is left, and its user's directories are as they were: empty.
    #[track_caller]
    fn is_as_before(&self) {
        assert_eq!(names(&self.tmp()), [""; 0]);
        assert_eq!(names(&self.sandbox.project()), ["tmp"]);
        assert_eq!(names(&self.sandbox.home()), [""; 0]);
        assert_eq!(names(&self.sandbox.data()), [""; 0]);
        let left = self.processes();
        assert!(left.is_empty(), "{left:?}");
    }

    /// Every process that has to do with the place for demos: by its environment, its directory or its command line.
    fn processes(&self) -> Vec<String> {
        let tmp = self.tmp().into_os_string().into_encoded_bytes();
        let mentions = |bytes: &[u8]| bytes.windows(tmp.len()).any(|window| window == tmp);
        let listed = fs::read_dir("/proc").into_iter().flatten().flatten();
        let processes = listed.map(|entry| entry.path());
        let ours = processes.filter(|process| {
            let read = |name: &str| fs::read(process.join(name)).unwrap_or_default();
            let cwd = fs::read_link(process.join("cwd")).unwrap_or_default();
            mentions(&read("environ")) || mentions(&read("cmdline")) || cwd.starts_with(self.tmp())
        });
        ours.map(|process| fs::read_to_string(process.join("stat")).unwrap_or_default())
            .filter(|stat| !stat.is_empty())
            .collect()
    }
}

impl Demo {
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

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.process), signal).unwrap();
    }

    /// Everything that is still said, and how it ends.
    fn end(mut self) -> (String, End) {
        let mut text = String::new();
        self.stdout.take().unwrap().read_to_string(&mut text).unwrap();
        (text, self.wait())
    }

    /// Nobody reads any more; how it ends.
    fn unheard(mut self) -> End {
        drop(self.stdout.take());
        self.wait()
    }

    fn wait(&mut self) -> End {
        let mut stderr = String::new();
        self.process.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        End {
            code: self.process.wait().unwrap().code(),
            stderr,
        }
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The names in a directory, sorted.
fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}
