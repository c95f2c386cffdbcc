//! Calls Snell as the agents would. Each call is a new process of this program.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Output;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use serde_json::{Value, json};
use snell::Timestamp;
use snell_store::{AgentFilter, AgentView};
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use super::STEP_TIMEOUT;
use super::answer::DemoAnswer;
use super::cast::{DemoAgentProfile, DemoIntegration, HOST};
use super::stage::DemoStage;
use crate::output;

/// The calling agent, and its process if it runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct DemoCaller {
    pub(super) profile: &'static DemoAgentProfile,
    pub(super) pid: Option<u32>,
}

/// Calls Snell on behalf of the agents.
#[derive(Clone, Copy, Debug)]
pub(super) struct DemoClient<'a> {
    pub(super) stage: &'a DemoStage,
}

impl DemoClient<'_> {
    /// Trusts a project. Returns the number of trusted files.
    pub(super) async fn trust_project(&self, project: &Path) -> anyhow::Result<usize> {
        let mut command = self.stage.snell_command([OsStr::new("trust"), project.as_os_str()]);
        let (stdout, _) = self.run_snell(&mut command, &Value::Null).await?;
        Ok(stdout.lines().filter(|line| line.starts_with("  ") && line.contains(" hook")).count())
    }

    /// Sends an event to Snell. Returns the answer, and how long the agent waited for it.
    pub(super) async fn fire_event(
        &self,
        caller: DemoCaller,
        event: &str,
        fields: Value,
    ) -> anyhow::Result<(DemoAnswer, Duration)> {
        let mut payload = json!({
            "session_id": caller.profile.name,
            "hook_event_name": event,
            "cwd": self.stage.project_dir(caller.profile.project),
        });
        if let (Some(payload), Value::Object(fields)) = (payload.as_object_mut(), fields) {
            payload.extend(fields);
        }
        match caller.profile.integration {
            DemoIntegration::Guest => {
                let (stdout, took) = self.run_snell(&mut self.agent_command(caller, ["hook"]), &payload).await?;
                Ok((DemoAnswer::from_hook_stdout(&stdout)?, took))
            }
            DemoIntegration::Host => {
                payload["agent_name"] = HOST.into();
                let mut command = self.agent_command(caller, ["run", event, "--record"]);
                let (stdout, took) = self.run_snell(&mut command, &payload).await?;
                let report = serde_json::from_str(&stdout).context("the report of `snell run` is not JSON")?;
                Ok((DemoAnswer::from_run_report(&report), took))
            }
        }
    }

    /// Draws an agent's status line, which reports its context use.
    pub(super) async fn draw_status_line(&self, caller: DemoCaller, percent: u32) -> anyhow::Result<String> {
        let payload = json!({
            "session_id": caller.profile.name,
            "cwd": self.stage.project_dir(caller.profile.project),
            "context_window": {"used_percentage": percent},
        });
        let (stdout, _) = self.run_snell(&mut self.agent_command(caller, ["statusline"]), &payload).await?;
        Ok(stdout)
    }

    /// The record of an agent.
    pub(super) fn load_agent(&self, name: &str) -> anyhow::Result<AgentView> {
        let filter = AgentFilter { ended_after: Some(Timestamp::MIN), ..AgentFilter::default() };
        let agents = self.stage.query_store(|store| store.list_agents(&filter))?;
        let mut agents = agents.into_iter();
        let found = agents.find(|agent| agent.session_id.as_deref() == Some(name));
        found.with_context(|| format!("the agent {name} is not recorded"))
    }

    /// Runs this program to its end. Returns its output and its duration.
    async fn run_snell(&self, command: &mut Command, payload: &Value) -> anyhow::Result<(String, Duration)> {
        let which = command.as_std().get_args().next().unwrap_or_default();
        let shown = format!("snell {}", which.display());
        let began = Instant::now();
        let output = run_process(command, &payload.to_string()).await.with_context(|| shown.clone())?;
        let took = began.elapsed();
        let stderr = String::from_utf8_lossy(&output.stderr);
        let remark = format!("{shown} printed: {}", stderr.trim());
        // Exit code 2 means that the event was blocked.
        if !matches!(output.status.code(), Some(0 | 2)) {
            bail!("{remark} ({})", output.status);
        }
        // A message on standard error is not fatal, unless the disk is full.
        if !stderr.is_empty() {
            ensure!(!self.stage.is_disk_full(), remark);
            output::print_note(remark);
        }
        Ok((String::from_utf8_lossy(&output.stdout).into_owned(), took))
    }

    /// This program with the variables that the agent's product sets.
    fn agent_command<const N: usize>(&self, caller: DemoCaller, args: [&str; N]) -> Command {
        let DemoAgentProfile { integration: way, project, role, mode, .. } = caller.profile;
        let project = self.stage.project_dir(project);
        let mut command = self.stage.snell_command(args);
        command
            .current_dir(&project)
            .env("CLAUDE_SESSION_MODE", mode)
            .envs(role.map(|role| ("CLAUDE_SESSION_ROLE", role)));
        if *way == DemoIntegration::Guest {
            command
                .env("CLAUDECODE", "1")
                .env("CLAUDE_PROJECT_DIR", &project)
                .envs(caller.pid.map(|pid| ("CLAUDE_PID", pid.to_string())));
        }
        command
    }
}

/// Runs a process to its end.
async fn run_process(command: &mut Command, stdin: &str) -> anyhow::Result<Output> {
    let mut child = command.spawn().context("cannot start")?;
    if let Some(mut pipe) = child.stdin.take() {
        // If the process does not read its input, its own error message is more useful.
        let _ = pipe.write_all(stdin.as_bytes()).await;
    }
    let ended = tokio::time::timeout(STEP_TIMEOUT, child.wait_with_output()).await;
    Ok(ended.context("timed out")??)
}
