//! Coding agents as programs that tests run: one file and one row of [`REAL_AGENTS`] each.
//!
//! A row says where the agent comes from, how it is driven without a network, and which words of its own a call needs.
//! These words stand for values in it: `$URL` (the model), `$PROMPT`, `$PROJECT`, `$HOME`.

mod cache;
mod claude;
mod cline;
mod codex;
mod copilot;
mod gemini;
mod grok;
mod kilo;
mod kimi;
mod opencode;
mod pi;
mod qwen;
mod tools;
mod vibe;

pub use cache::AgentCache;
pub use tools::{AgentToolSet, ToolTemplate};

/// The agents, in the order of tables.
pub static REAL_AGENTS: &[&RealAgent] = &[
    &claude::CLAUDE,
    &codex::CODEX,
    &gemini::GEMINI,
    &qwen::QWEN,
    &copilot::COPILOT,
    &opencode::OPENCODE,
    &kilo::KILO,
    &pi::PI,
    &cline::CLINE,
    &kimi::KIMI,
    &grok::GROK,
    &vibe::VIBE,
];

/// A package with its version.
#[derive(Clone, Copy, Debug)]
pub struct AgentPackage {
    /// The name in the registry.
    pub name: &'static str,
    /// The version that is tested.
    pub version: &'static str,
}

/// Where packages come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PackageSource {
    /// npm, for Node.js 22.
    Npm,
    /// PyPI, into a virtual environment of Python 3.12 or newer.
    PythonVenv,
}

/// An agent.
#[derive(Debug)]
pub struct RealAgent {
    /// Its name in commands and files.
    pub name: &'static str,
    /// Its name in texts.
    pub title: &'static str,
    /// Where its packages come from.
    pub source: PackageSource,
    /// Its packages. The first has the version of the agent.
    pub packages: &'static [AgentPackage],
    /// Its program, below its directory of the cache.
    pub program: &'static str,
    /// Its environment, beside `HOME`, `PATH` and the like.
    pub variables: &'static [(&'static str, &'static str)],
    /// Files of the home directory: their paths and texts.
    pub home_files: &'static [(&'static str, &'static str)],
    /// Files of the cache that are copied to the home directory, and directories to which symlinks lead.
    pub home_copies: &'static [(&'static str, &'static str)],
    /// Arguments of a run with a prompt.
    pub prompt_arguments: &'static [&'static str],
    /// Arguments of a run that goes on with the last session; none if that takes a terminal.
    pub resume_arguments: Option<&'static [&'static str]>,
    /// Its tools.
    pub tools: AgentToolSet,
}

/// A row to start from.
const BASE_AGENT: RealAgent = RealAgent {
    name: "",
    title: "",
    source: PackageSource::Npm,
    packages: &[],
    program: "",
    variables: &[],
    home_files: &[],
    home_copies: &[],
    prompt_arguments: &[],
    resume_arguments: None,
    tools: AgentToolSet {
        shell: ToolTemplate { name: "", input: "" },
        other_shells: &[],
        write_file: ToolTemplate { name: "", input: "" },
        subagent: None,
        question: None,
    },
};

/// A proxy that is not there, for agents whose resolver takes seconds to find out that there is no network.
const NO_RESOLVER: (&str, &str) = ("HTTPS_PROXY", "http://127.0.0.1:9");

impl RealAgent {
    /// The agent of this name.
    pub fn find(name: &str) -> Option<&'static Self> {
        REAL_AGENTS.iter().find(|agent| agent.name == name).copied()
    }

    /// The version that is tested.
    pub fn version(&self) -> &'static str {
        self.packages[0].version
    }
}
