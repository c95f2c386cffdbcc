//! Who plays: three agents, each with a process of its own that does nothing but live.

use tokio::process::{Child, ChildStdin};

use super::stage::Stage;
use anyhow::Context;

/// The project that has hooks of every system.
pub(super) const LIGHTHOUSE: &str = "lighthouse";
/// A project without any.
pub(super) const HARBOUR: &str = "harbour";

/// The program that calls `snell run`.
pub(super) const HOST: &str = "lantern";

/// An agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Who {
    Builder,
    Reviewer,
    Nightly,
}

/// How an agent reaches Snell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// As Claude Code does: it calls `snell hook`, and runs what `.claude` says by itself.
    Guest,
    /// As an agent without hooks of its own does: it calls `snell run`, and lets it record what came of it.
    Host,
}

/// What an agent is.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) name: &'static str,
    pub(super) way: Way,
    pub(super) project: &'static str,
    pub(super) role: Option<&'static str>,
    pub(super) mode: &'static str,
}

impl Who {
    pub(super) const ALL: &[Self] = &[Self::Builder, Self::Reviewer, Self::Nightly];

    pub(super) fn part(self) -> &'static Part {
        match self {
            Self::Builder => &Part {
                name: "builder",
                way: Way::Guest,
                project: LIGHTHOUSE,
                role: Some("builder"),
                mode: "interactive",
            },
            Self::Reviewer => &Part {
                name: "reviewer",
                way: Way::Host,
                project: LIGHTHOUSE,
                role: None,
                mode: "interactive",
            },
            Self::Nightly => &Part {
                name: "nightly",
                way: Way::Guest,
                project: HARBOUR,
                role: None,
                mode: "background",
            },
        }
    }
}

/// The process of an agent. It lives until its standard input is closed, so it cannot outlive us.
#[derive(Debug)]
pub(super) struct Body {
    process: Child,
    _alive: Option<ChildStdin>,
}

impl Body {
    pub(super) fn start(stage: &Stage, part: &Part) -> anyhow::Result<Self> {
        let mut command = stage.command("/bin/sh");
        command
            .args(["-c", "read -r nothing", part.name])
            .current_dir(stage.project(part.project));
        let mut process = command.spawn().context("cannot start /bin/sh")?;
        Ok(Self {
            _alive: process.stdin.take(),
            process,
        })
    }

    /// Its number, while it lives.
    pub(super) fn pid(&self) -> Option<u32> {
        self.process.id()
    }

    /// Ends it without a word.
    pub(super) async fn kill(mut self) -> anyhow::Result<()> {
        self.process.kill().await.context("cannot end a process of the play")
    }
}
