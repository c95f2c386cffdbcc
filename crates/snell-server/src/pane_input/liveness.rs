//! Whether an agent's process reads the lines that are typed into its pane.

use snell_store::AgentLocation;

use crate::reconciler::tmux::TmuxPaneDetails;

/// The state of an agent's process.
#[derive(Clone, Copy, Debug)]
enum AgentLiveness {
    /// No process is known, or the known one was not certain and has ended.
    Unknown,
    /// It has ended.
    Gone,
    /// It runs.
    Alive {
        /// Whether it runs in the pane, if known.
        in_pane: Option<bool>,
        /// Whether it is in the foreground of the pane, if known.
        in_foreground: Option<bool>,
    },
}

/// Why the agent would not read a line that is typed into this pane; nothing if it would.
pub fn find_pane_objection(agent: &AgentLocation, pane: &TmuxPaneDetails) -> Option<String> {
    find_objection(check_liveness(agent, pane), pane)
}

fn check_liveness(agent: &AgentLocation, pane: &TmuxPaneDetails) -> AgentLiveness {
    // The shell of a user who tries a hook by hand looks like an agent's process.
    let Some(process) = agent.process.filter(|process| !process.is_interactive_shell()) else {
        return AgentLiveness::Unknown;
    };
    if process.is_gone() {
        // An uncertain process may have been a short-lived helper, so its end proves nothing.
        return if agent.process_is_certain { AgentLiveness::Gone } else { AgentLiveness::Unknown };
    }
    AgentLiveness::Alive {
        in_pane: pane.pid.and_then(|pid| process.is_descendant_of(pid)),
        in_foreground: process.is_in_foreground(),
    }
}

/// Why not to type into this pane; nothing if the agent reads it. Pure: it reads no system state.
fn find_objection(life: AgentLiveness, pane: &TmuxPaneDetails) -> Option<String> {
    if pane.is_synchronized {
        return Some("the other panes of its window would get the line too (synchronize-panes)".into());
    }
    if pane.takes_no_input {
        return Some("its input is turned off".into());
    }
    let shell = || {
        let shown = pane.pane.is_showing_shell();
        shown.then(|| format!("a shell ({}) is waiting there", pane.pane.command))
    };
    match life {
        AgentLiveness::Gone => Some("its process has ended".into()),
        AgentLiveness::Alive { in_pane: Some(false), .. } => Some("its process does not run there".into()),
        AgentLiveness::Alive { in_foreground: Some(false), .. } => {
            Some(format!("{} is in the foreground", pane.pane.command))
        }
        AgentLiveness::Alive { in_pane: Some(true), .. } => None,
        AgentLiveness::Unknown | AgentLiveness::Alive { in_pane: None, .. } => shell(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use snell_store::TmuxPane;

    fn build_pane(command: &str) -> TmuxPaneDetails {
        TmuxPaneDetails {
            pane: TmuxPane { id: "%1".into(), is_dead: false, command: command.into() },
            pid: Some(7),
            is_in_mode: false,
            is_synchronized: false,
            takes_no_input: false,
        }
    }

    fn alive_agent(in_pane: Option<bool>, in_foreground: Option<bool>) -> AgentLiveness {
        AgentLiveness::Alive { in_pane, in_foreground }
    }

    #[test]
    fn nothing_is_typed_where_the_agent_is_not() {
        let rows = [
            (AgentLiveness::Unknown, "claude", None),
            (AgentLiveness::Unknown, "-zsh", Some("a shell (-zsh) is waiting there")),
            (AgentLiveness::Gone, "claude", Some("its process has ended")),
            (alive_agent(Some(true), Some(true)), "bash", None),
            (alive_agent(Some(true), None), "bash", None),
            (alive_agent(Some(true), Some(false)), "vim", Some("vim is in the foreground")),
            (alive_agent(Some(false), Some(true)), "claude", Some("its process does not run there")),
            (alive_agent(None, None), "claude", None),
            (alive_agent(None, None), "fish", Some("a shell (fish) is waiting there")),
        ];
        for (life, command, expected) in rows {
            assert_eq!(find_objection(life, &build_pane(command)).as_deref(), expected, "{life:?} {command}");
        }
    }

    #[test]
    fn a_pane_that_shares_or_drops_what_is_typed_is_left_alone() {
        let shares = TmuxPaneDetails { is_synchronized: true, ..build_pane("claude") };
        let drops = TmuxPaneDetails { takes_no_input: true, ..build_pane("claude") };
        for pane in [shares, drops] {
            assert!(find_objection(alive_agent(Some(true), Some(true)), &pane).is_some(), "{pane:?}");
        }
    }
}
