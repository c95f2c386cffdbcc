//! Runs a registered command as the agent would.

use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use snell::{FileAccess, RegularFile};
use tempfile::TempDir;

use super::cleanup::SelfTestCleanup;
use crate::install::atomic_file;
use crate::install::handler::HandlerCommand;
use crate::install::notify_script;

/// No run takes longer, even on a slow machine.
const RUN_TIMEOUT: Duration = Duration::from_secs(20);

/// A larger file is neither a script of Snell nor a trust file.
const MAX_COPIED_BYTES: u64 = 16 * 1024 * 1024;

/// A temporary home directory.
#[derive(Debug)]
pub(super) struct SelfTestSandbox {
    directory: TempDir,
}

impl SelfTestSandbox {
    /// A sandbox with the user's trusted files.
    pub(super) fn new(data: &Path) -> io::Result<Self> {
        let sandbox = Self { directory: tempfile::Builder::new().prefix("snell-doctor-").tempdir()? };
        std::fs::create_dir(sandbox.data_dir())?;
        let trust = "trust.json";
        match RegularFile::open(&data.join(trust), FileAccess::Read) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            file => copy_file(file?, &sandbox.data_dir().join(trust))?,
        }
        Ok(sandbox)
    }

    pub(super) fn home_dir(&self) -> &Path {
        self.directory.path()
    }

    /// The data directory of the sandbox.
    pub(super) fn data_dir(&self) -> PathBuf {
        self.home_dir().join("data")
    }
}

/// A run of a command.
#[derive(Debug)]
pub(super) struct SelfTestRun<'a> {
    pub(super) call: &'a HandlerCommand,
    /// Its program and arguments.
    pub(super) words: &'a [String],
    pub(super) sandbox: &'a SelfTestSandbox,
    pub(super) project: &'a Path,
    /// The receiver that gets the event.
    pub(super) receiver: String,
    pub(super) payload: String,
    /// Whether the agent is Claude Code, which sets variables of its own.
    pub(super) is_claude: bool,
}

/// The end of a run.
#[derive(Debug)]
pub(super) enum SelfTestEnd {
    NotStarted(io::Error),
    TimedOut(Duration),
    Exited { code: Option<i32>, took: Duration, stdout: String, stderr: String },
}

impl SelfTestRun<'_> {
    pub(super) fn run(&self, cleanup: &SelfTestCleanup) -> SelfTestEnd {
        let started = Instant::now();
        let child = self.build_command().and_then(|mut command| cleanup.spawn_process(&mut command));
        let child = match child {
            Ok(child) => child,
            Err(error) => return SelfTestEnd::NotStarted(error),
        };
        let group = Pid::from_child(&child);
        let (sender, ended) = mpsc::channel();
        let payload = self.payload.clone();
        // The thread outlives this call if the program does not end.
        thread::spawn(move || sender.send(write_payload_and_wait(child, &payload)));
        let ended = ended.recv_timeout(RUN_TIMEOUT);
        cleanup.mark_ended();
        match ended {
            Ok(Ok(output)) => SelfTestEnd::Exited {
                code: output.status.code(),
                took: started.elapsed(),
                stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
                stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            },
            Ok(Err(error)) => SelfTestEnd::NotStarted(error),
            Err(_) => {
                let _ = kill_process_group(group, Signal::KILL);
                SelfTestEnd::TimedOut(RUN_TIMEOUT)
            }
        }
    }

    fn build_command(&self) -> io::Result<Command> {
        let mut command = match self.redirected_call()? {
            HandlerCommand::Exec { command, args } => {
                let mut exec = Command::new(command);
                exec.args(args);
                exec
            }
            HandlerCommand::Shell { command } => {
                let mut shell = Command::new("/bin/sh");
                shell.args(["-c", &command]);
                shell
            }
        };
        command
            .current_dir(self.project)
            .env("HOME", self.sandbox.home_dir())
            .env("XDG_CONFIG_HOME", self.sandbox.home_dir().join("config"))
            .env("SNELL_HOME", self.sandbox.data_dir())
            .env("SNELL_URL", &self.receiver)
            // A daemon would outlive the sandbox.
            .env("SNELL_SCRIBE", "off")
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if self.is_claude {
            command.env("CLAUDECODE", "1").env("CLAUDE_PROJECT_DIR", self.project);
        }
        Ok(command)
    }

    /// The receiver in the notify script, if the command is one.
    pub(super) fn named_receiver(&self) -> Option<String> {
        let program = Path::new(self.words.first()?);
        program.file_name().filter(|name| *name == notify_script::SCRIPT_NAME)?;
        notify_script::read_assignment(&atomic_file::read_text(program)?, "url").filter(|url| !url.is_empty())
    }

    /// The same call, with a copy of the script if the script names a receiver.
    fn redirected_call(&self) -> io::Result<HandlerCommand> {
        let (Some((program, args)), Some(_)) = (self.words.split_first(), self.named_receiver()) else {
            return Ok(self.call.clone());
        };
        let file = RegularFile::open(Path::new(program), FileAccess::Read)?;
        let permissions = file.metadata().permissions();
        let text = String::from_utf8_lossy(&file.read_all(MAX_COPIED_BYTES)?).into_owned();
        let copy = self.sandbox.home_dir().join(notify_script::SCRIPT_NAME);
        std::fs::write(&copy, notify_script::replace_url(&text, &self.receiver))?;
        std::fs::set_permissions(&copy, permissions)?;
        let command = copy.to_string_lossy().into_owned();
        Ok(match self.call {
            HandlerCommand::Exec { .. } => HandlerCommand::Exec { command, args: args.to_vec() },
            HandlerCommand::Shell { .. } => HandlerCommand::Shell {
                command: format!("{} {}", notify_script::shell_quote(&command), args.join(" ")),
            },
        })
    }
}

/// Copies a file into a sandbox with its permissions: a trust file that others can write to is ignored.
fn copy_file(file: RegularFile, to: &Path) -> io::Result<()> {
    let permissions = file.metadata().permissions();
    std::fs::write(to, file.read_all(MAX_COPIED_BYTES)?)?;
    std::fs::set_permissions(to, permissions)
}

/// Writes the payload to a program, and waits for its end.
fn write_payload_and_wait(mut child: Child, payload: &str) -> io::Result<Output> {
    if let Some(mut stdin) = child.stdin.take() {
        // A program may close its standard input.
        let _ = stdin.write_all(payload.as_bytes());
    }
    child.wait_with_output()
}
