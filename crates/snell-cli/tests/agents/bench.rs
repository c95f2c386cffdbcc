//! A throw-away home directory in which an agent runs against a scripted model.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::Value;
use snell_test_support::agents::{AgentCache, RealAgent};
use snell_test_support::database::query_texts;
use snell_test_support::files::{parse_json_lines, write_file};
use snell_test_support::model::{ModelScript, ScriptedModel};
use snell_test_support::process::{CommandOutput, ProcessEntry, Signal, find_processes, run_with_stdin, send_signal};
use snell_test_support::serve_process::ServeProcess;
use tempfile::TempDir;

/// Longer than any run takes. A run that takes longer hangs.
const RUN_LIMIT: Duration = Duration::from_secs(120);

/// Keeps agents from the network on machines that give them no namespace of their own: nothing listens there.
const CLOSED_PROXY: [(&str, &str); 3] =
    [("HTTP_PROXY", "http://127.0.0.1:9"), ("HTTPS_PROXY", "http://127.0.0.1:9"), ("NO_PROXY", "127.0.0.1,localhost")];

/// An agent in its home directory.
pub struct AgentBench {
    pub agent: &'static RealAgent,
    pub model: ScriptedModel,
    cache: AgentCache,
    root: TempDir,
}

/// A run of an agent to its end.
#[derive(Debug)]
pub struct AgentRun {
    pub is_hung: bool,
    /// What it printed, on both streams.
    pub output: String,
}

impl AgentBench {
    /// An agent that was never used, and a model that plays this script.
    pub fn new(agent: &'static RealAgent, cache: &AgentCache, script: ModelScript) -> Self {
        let root = tempfile::Builder::new().prefix("snell-agent-").tempdir().unwrap();
        let bench = Self { agent, model: ScriptedModel::start(agent, script), cache: cache.clone(), root };
        for directory in [bench.home(), bench.project(), bench.root.path().join("tmp")] {
            fs::create_dir(directory).unwrap();
        }
        for (path, text) in agent.home_files {
            write_file(&bench.home().join(path), bench.fill(text));
        }
        for (from, to) in agent.home_copies {
            let (from, to) = (bench.cache.directory(agent).join(from), bench.home().join(to));
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            if from.is_dir() {
                symlink(from, to).unwrap();
            } else {
                fs::copy(from, to).unwrap();
            }
        }
        let git = bench.command(Path::new("git")).args(["init", "--quiet"]).status().unwrap();
        assert!(git.success());
        write_file(&bench.project().join("README.md"), "Notes.\n");
        bench
    }

    pub fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    pub fn project(&self) -> PathBuf {
        self.root.path().join("project")
    }

    /// A path outside the home directory and the project.
    pub fn path(&self, name: &str) -> String {
        self.root.path().join(name).to_str().unwrap().to_owned()
    }

    /// The program of the agent.
    pub fn program(&self) -> PathBuf {
        self.cache.program(self.agent)
    }

    /// The user's own file with hooks that run under every agent.
    pub fn write_hooks(&self, text: &str) {
        write_file(&self.home().join(".config/snell/snell.toml"), text);
    }

    /// Adds Snell to the agent's settings.
    pub fn install_snell(&self) {
        let run = self.run_snell(&["install", self.agent.name]);
        assert_eq!(run.code, 0, "{run:?}");
    }

    pub fn run_snell(&self, arguments: &[&str]) -> CommandOutput {
        let mut command = self.command(Path::new(env!("CARGO_BIN_EXE_snell")));
        run_with_stdin(command.args(arguments), "")
    }

    /// Starts a server that shows the agents of this home directory.
    pub fn start_server(&self) -> ServeProcess {
        let mut command = self.command(Path::new(env!("CARGO_BIN_EXE_snell")));
        ServeProcess::spawn(command.args(["serve", "--addr", "127.0.0.1:0", "--log", "off"])).unwrap()
    }

    /// All agents that Snell knows, also those that ended.
    pub fn list_agents(&self) -> Vec<Value> {
        let run = self.run_snell(&["agents", "--all", "--json"]);
        assert_eq!(run.code, 0, "{run:?}");
        run.json().as_array().unwrap().clone()
    }

    /// The intent of each turn, the oldest first.
    pub fn list_turn_intents(&self) -> Vec<String> {
        let database = self.home().join(".local/share/snell/snell.db");
        query_texts(&database, "SELECT intent FROM turns ORDER BY turn_id")
    }

    /// Whether Snell has denied a call.
    pub fn has_denied(&self) -> bool {
        let run = self.run_snell(&["log", "--json"]);
        assert_eq!(run.code, 0, "{run:?}");
        parse_json_lines(&run.stdout).iter().any(|event| event["decision"] == "block")
    }

    /// The workers of a session, which Snell knows by its id.
    pub fn list_workers(&self, session: &str) -> Vec<Value> {
        let run = self.run_snell(&["worker", "list", "--session", session, "--json"]);
        assert_eq!(run.code, 0, "{run:?}");
        run.json().as_array().unwrap().clone()
    }

    /// Runs the agent with a prompt.
    pub fn run_prompt(&self, prompt: &str) -> AgentRun {
        self.run(self.agent.prompt_arguments, prompt)
    }

    /// Runs the agent with a prompt in its last session, if it can do that without a terminal.
    pub fn resume_session(&self, prompt: &str) -> Option<AgentRun> {
        Some(self.run(self.agent.resume_arguments?, prompt))
    }

    fn run(&self, arguments: &[&str], prompt: &str) -> AgentRun {
        let mut child = self.spawn(arguments, prompt);
        let (sender, receiver) = mpsc::channel();
        let waiter = thread::spawn(move || {
            child.wait().unwrap();
            let _ = sender.send(());
        });
        let is_hung = receiver.recv_timeout(RUN_LIMIT).is_err();
        if is_hung {
            self.kill_processes(|_| true);
        }
        waiter.join().unwrap();
        let read = |name: &str| String::from_utf8_lossy(&fs::read(self.root.path().join(name)).unwrap()).into_owned();
        AgentRun { is_hung, output: read("stdout") + &read("stderr") }
    }

    /// Starts the agent with a prompt.
    pub fn spawn_prompt(&self, prompt: &str) -> Child {
        self.spawn(self.agent.prompt_arguments, prompt)
    }

    /// Its output goes to files: a process that outlives it would hold a pipe open. It has a process group, because some agents
    /// consist of a launcher and the program itself.
    fn spawn(&self, arguments: &[&str], prompt: &str) -> Child {
        let create = |name: &str| File::create(self.root.path().join(name)).unwrap();
        let arguments = arguments.iter().map(|argument| self.fill(argument).replace("$PROMPT", prompt));
        let mut command = self.command(&self.program());
        command.process_group(0).args(arguments).stdin(Stdio::null()).stdout(create("stdout")).stderr(create("stderr"));
        command.spawn().unwrap()
    }

    /// A program with the environment of the agent.
    pub fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        let machine_path = std::env::var_os("PATH").unwrap();
        let path = [self.cache.node_programs()].into_iter().chain(std::env::split_paths(&machine_path));
        command
            .current_dir(self.project())
            .env_clear()
            .env("HOME", self.home())
            .env("PATH", std::env::join_paths(path).unwrap())
            .env("TMPDIR", self.root.path().join("tmp"))
            .envs([
                ("USER", "me"),
                ("SHELL", "/bin/bash"),
                ("LANG", "C.UTF-8"),
                ("TERM", "xterm-256color"),
                ("NO_COLOR", "1"),
            ])
            .envs(self.agent.variables.iter().map(|(name, value)| (name, self.fill(value))));
        // In a network namespace of its own nothing is reached anyway, and some agents try a proxy for seconds.
        if std::env::var_os("SNELL_AGENTS_ISOLATED").is_none() {
            command.envs(CLOSED_PROXY);
        }
        command
    }

    /// Puts the values of this bench into a text of the agent's row.
    fn fill(&self, text: &str) -> String {
        text.replace("$URL", &self.model.url())
            .replace("$PROJECT", self.project().to_str().unwrap())
            .replace("$HOME", self.home().to_str().unwrap())
    }

    /// Kills the processes of the agent, but none of Snell.
    pub fn kill_agent(&self) {
        let snell = Path::new(env!("CARGO_BIN_EXE_snell"));
        self.kill_processes(|process| process.executable() != snell);
    }

    /// Kills processes that have this home directory and match.
    fn kill_processes(&self, matches: impl Fn(&ProcessEntry) -> bool) {
        let variable = format!("HOME={}\0", self.home().display());
        for pid in find_processes(|process| process.environment().contains(&variable) && matches(process)) {
            // It may have ended meanwhile.
            let _ = std::panic::catch_unwind(|| send_signal(pid, Signal::KILL));
        }
    }
}

impl Drop for AgentBench {
    fn drop(&mut self) {
        self.model.release();
        // Daemons that the agent and Snell leave behind.
        self.kill_processes(|_| true);
        if std::env::var_os("SNELL_AGENTS_KEEP").is_some() {
            self.root.disable_cleanup(true);
            let bodies: Vec<_> = self.model.requests().into_iter().map(|request| request.body).collect();
            write_file(&self.root.path().join("requests.json"), serde_json::to_string_pretty(&bodies).unwrap());
        }
    }
}
