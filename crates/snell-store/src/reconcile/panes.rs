//! Checks tmux panes: an agent has ended if its pane is closed or shows a shell prompt.

use std::collections::HashMap;

use snell::Timestamp;

use super::{AgentEnding, end_agent};
use crate::db::model::{AgentRow, AgentState, ProcessIdentity, StateSource, to_stored_precision};
use crate::db::rows::Rows;
use crate::error::Result;
use crate::store::Store;

/// Foreground commands that show that the agent has left its pane.
const SHELLS: &[&str] =
    &["ash", "bash", "csh", "dash", "elvish", "fish", "ksh", "nu", "pwsh", "sh", "tcsh", "xonsh", "zsh"];

/// A tmux server with all its panes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TmuxServerPanes {
    /// Its socket; nothing for the default server.
    pub socket: Option<String>,
    /// Its panes; empty if it does not run.
    pub panes: Vec<TmuxPane>,
}

/// A pane of a tmux server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TmuxPane {
    /// Its id, such as `%3`.
    pub id: String,
    /// Whether its command has ended.
    pub is_dead: bool,
    /// Its foreground command.
    pub command: String,
}

impl TmuxPane {
    /// Whether a shell is in its foreground, which would run any input.
    pub fn is_showing_shell(&self) -> bool {
        SHELLS.contains(&self.command.trim_start_matches('-'))
    }
}

/// How an agent left its pane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PaneDeparture {
    Closed,
    ShellPrompt,
}

impl Store {
    /// The tmux servers of agents that run on this host and have not ended; nothing stands for the default server.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub fn list_tmux_servers(&mut self) -> Result<Vec<Option<String>>> {
        let mut servers: Vec<_> = self.list_agents_in_panes()?.into_iter().map(|agent| agent.tmux_server).collect();
        servers.sort();
        servers.dedup();
        Ok(servers)
    }

    /// Ends agents whose panes show that they are gone. Events since `looked_at` take precedence, and so does a live
    /// process.
    ///
    /// # Errors
    ///
    /// When the database cannot be read or written.
    pub fn reconcile_panes(&mut self, servers: &[TmuxServerPanes], looked_at: Timestamp) -> Result<()> {
        let looked_at = to_stored_precision(looked_at);
        let mut panes: HashMap<(Option<&str>, &str), &TmuxPane> = HashMap::new();
        for server in servers {
            let of_server = server.panes.iter();
            panes.extend(of_server.map(|pane| ((server.socket.as_deref(), pane.id.as_str()), pane)));
        }
        let left: Vec<_> = self
            .list_agents_in_panes()?
            .into_iter()
            .filter(|agent| servers.iter().any(|server| server.socket == agent.tmux_server))
            .filter(|agent| agent.last_seen_at <= looked_at && !has_live_process(agent))
            .filter_map(|agent| {
                let pane = agent.tmux_pane.as_deref().unwrap_or_default();
                let left = detect_departure(panes.get(&(agent.tmux_server.as_deref(), pane)).copied(), &agent)?;
                Some((agent, left))
            })
            .collect();
        if left.is_empty() {
            return Ok(());
        }
        self.run_transaction("reconciled", looked_at, &mut |rows| {
            for (before, left) in &left {
                let Some(mut agent) = rows.find_agent(before.agent_id)?.filter(|agent| agent == before) else {
                    continue;
                };
                let (why, reason) = match left {
                    PaneDeparture::Closed => ("its tmux pane is closed", "pane_closed"),
                    PaneDeparture::ShellPrompt => ("its tmux pane shows a shell prompt", "left_pane"),
                };
                end_agent(rows, &mut agent, AgentEnding { source: StateSource::Poll, why, reason }, looked_at)?;
                if *left == PaneDeparture::ShellPrompt {
                    agent.mark_low_confidence();
                }
                rows.save_agent(&mut agent)?;
            }
            Ok(())
        })
    }

    fn list_agents_in_panes(&mut self) -> Result<Vec<AgentRow>> {
        let mut agents = self.read_rows(&mut |rows| rows.list_live_agents())?;
        agents.retain(|agent| {
            agent.tmux_pane.is_some() && self.is_local_agent(agent) && agent.state != AgentState::Ended
        });
        Ok(agents)
    }
}

fn has_live_process(agent: &AgentRow) -> bool {
    let process = agent.process.filter(|_| agent.process_is_certain);
    process.is_some_and(|process: ProcessIdentity| !process.is_gone())
}

/// Whether the agent has left its pane. A shell may be there because the agent runs in the background, or because the
/// pane's process was only a wrapper. So a shell counts only if no process is known.
fn detect_departure(pane: Option<&TmuxPane>, agent: &AgentRow) -> Option<PaneDeparture> {
    match pane {
        None => Some(PaneDeparture::Closed),
        Some(pane) if pane.is_dead => Some(PaneDeparture::Closed),
        Some(pane) => (pane.is_showing_shell() && agent.process.is_none()).then_some(PaneDeparture::ShellPrompt),
    }
}
