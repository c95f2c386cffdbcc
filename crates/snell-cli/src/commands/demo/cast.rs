//! The three agents of the demo. Each has a process that only waits.

use anyhow::Context;
use serde::Deserialize;
use tokio::process::{Child, ChildStdin};

use super::stage::DemoStage;

/// The project with hooks of every format.
pub(super) const LIGHTHOUSE: &str = "lighthouse";
/// A project without hooks.
pub(super) const HARBOUR: &str = "harbour";

/// The program that calls `snell run`.
pub(super) const HOST: &str = "lantern";

/// An agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum DemoAgent {
    Builder,
    Reviewer,
    Nightly,
}

/// How an agent calls Snell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DemoIntegration {
    /// Like Claude Code: it calls `snell hook`, and runs the hooks of `.claude` itself.
    Guest,
    /// Like an agent without its own hooks: it calls `snell run --record`.
    Host,
}

/// The properties of an agent.
#[derive(Debug)]
pub(super) struct DemoAgentProfile {
    pub(super) name: &'static str,
    pub(super) integration: DemoIntegration,
    pub(super) project: &'static str,
    pub(super) role: Option<&'static str>,
    pub(super) mode: &'static str,
}

impl DemoAgent {
    pub(super) const ALL: &[Self] = &[Self::Builder, Self::Reviewer, Self::Nightly];

    pub(super) fn name(self) -> &'static str {
        self.profile().name
    }

    pub(super) fn profile(self) -> &'static DemoAgentProfile {
        match self {
            Self::Builder => &DemoAgentProfile {
                name: "builder",
                integration: DemoIntegration::Guest,
                project: LIGHTHOUSE,
                role: Some("builder"),
                mode: "interactive",
            },
            Self::Reviewer => &DemoAgentProfile {
                name: "reviewer",
                integration: DemoIntegration::Host,
                project: LIGHTHOUSE,
                role: None,
                mode: "interactive",
            },
            Self::Nightly => &DemoAgentProfile {
                name: "nightly",
                integration: DemoIntegration::Guest,
                project: HARBOUR,
                role: None,
                mode: "background",
            },
        }
    }
}

/// The process of an agent. It ends when its standard input is closed, so it cannot outlive the demo.
#[derive(Debug)]
pub(super) struct DemoAgentProcess {
    process: Child,
    _alive: Option<ChildStdin>,
}

impl DemoAgentProcess {
    pub(super) fn spawn(stage: &DemoStage, part: &DemoAgentProfile) -> anyhow::Result<Self> {
        let mut command = stage.isolated_command("/bin/sh");
        command.args(["-c", "read -r nothing", part.name]).current_dir(stage.project_dir(part.project));
        let mut process = command.spawn().context("cannot start /bin/sh")?;
        Ok(Self { _alive: process.stdin.take(), process })
    }

    /// Its process id, while it runs.
    pub(super) fn pid(&self) -> Option<u32> {
        self.process.id()
    }

    /// Kills it.
    pub(super) async fn kill(mut self) -> anyhow::Result<()> {
        self.process.kill().await.context("cannot end a process of the demo")
    }
}
