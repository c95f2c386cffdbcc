//! A line that is typed into an agent's terminal, so that it wakes up and looks at what its workers have done.

mod turns;

use anyhow::{Context, bail};
use snell_server::tmux::{PaneInFull, Server};
use snell_store::{SessionFilter, State, StoreError, Whereabouts, Which};

use crate::caller::Caller;
use crate::commands::block_on;
use crate::memory::Memory;
use crate::output::in_brief;
use crate::times::{how_long, shown};
use turns::Turn;

/// How much is told of why an agent waits.
const WHY_SHOWN: usize = 100;

/// What was typed, and where.
#[derive(Debug)]
pub(crate) struct Typed {
    pane: String,
    text: String,
}

impl std::fmt::Display for Typed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Typed into the tmux pane {}: {}", self.pane, self.text)
    }
}

/// How carefully it is looked who would read what is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Care {
    /// Nothing is typed where the agent is not, or where it might answer for its user.
    Checked,
    /// The user says that it is right.
    Forced,
}

/// What can be seen of an agent's process.
#[derive(Clone, Copy, Debug)]
enum Life {
    /// No process is known, or what was taken for one is gone.
    Unknown,
    /// It is gone.
    Gone,
    /// It is there.
    Lives {
        /// Whether it lives in the pane, where that can be seen.
        in_pane: Option<bool>,
        /// Whether it reads what is typed, where that can be seen.
        in_foreground: Option<bool>,
    },
}

/// Wakes up the agent of a session.
pub(crate) fn wake_session(memory: &mut Memory, conversation_id: i64, care: Care) -> anyhow::Result<Typed> {
    let filter = SessionFilter {
        conversation_id: Some(conversation_id),
        ..SessionFilter::default()
    };
    let session = memory.ask(|store| store.session_rows(&filter))?.pop();
    let session = session.context("the session was removed, because it was old")?;
    let agent = whereabouts(memory, session.agent_id)?;
    let id = &session.session_id;
    if agent.conversation_id != Some(conversation_id) {
        bail!("agent {} has left the session {id} for another one", agent.agent_id);
    }
    wake_agent(memory, session.agent_id, care)
}

/// Wakes up an agent. Whoever else does so at the same time waits, so that each line stays together with its Enter.
pub(crate) fn wake_agent(memory: &mut Memory, number: i64, care: Care) -> anyhow::Result<Typed> {
    let _turn = Turn::take(memory.directory(), number)?;
    let mut agent = whereabouts(memory, number)?;
    if care == Care::Checked && agent.state == State::AwaitingInput {
        agent = looked_after(memory, number)?;
        if agent.state == State::AwaitingInput {
            bail!(waits_for_its_user(&agent, memory));
        }
    }
    type_trigger(&agent, care)
}

fn whereabouts(memory: &mut Memory, number: i64) -> anyhow::Result<Whereabouts> {
    let agent = memory.ask(|store| store.whereabouts(number))?;
    agent.with_context(|| format!("agent {number} was removed, because it was old"))
}

/// Where an agent is, once its transcript was looked at: no hook tells when its user turns something down.
fn looked_after(memory: &mut Memory, number: i64) -> anyhow::Result<Whereabouts> {
    let now = memory.now();
    memory.ask(|store| match store.reconcile(Which::Agent(number), now) {
        Err(StoreError::Locked) => Ok(()),
        other => other,
    })?;
    whereabouts(memory, number)
}

/// Why an agent is left alone that waits for its user.
fn waits_for_its_user(agent: &Whereabouts, memory: &Memory) -> String {
    let (number, since) = (agent.agent_id, agent.state_since);
    format!(
        "agent {number} waits for a decision of its user, and Enter might make it ({} since {}, {} ago: {}); wake it up \
         when that is done, or with `snell wake {number} --force`",
        agent.state,
        shown(since),
        how_long(since, memory.now()),
        in_brief(&agent.why, WHY_SHOWN)
    )
}

fn type_trigger(agent: &Whereabouts, care: Care) -> anyhow::Result<Typed> {
    let number = agent.agent_id;
    if agent.state == State::Ended {
        bail!("agent {number} has ended");
    }
    if !agent.is_here {
        let host = agent.host.as_deref().unwrap_or("another host");
        bail!("agent {number} runs on {host}; wake it up there");
    }
    let Some(pane) = agent.tmux_pane.as_deref() else {
        bail!("agent {number} sits in no tmux pane, so nothing can be typed for it");
    };
    let text = wake_up()?;
    let server = Server::at(agent.tmux_server.clone());
    block_on(async {
        let panes = server.panes().await;
        let panes = panes.with_context(|| format!("cannot look at the tmux pane {pane} of agent {number}"))?;
        // Only an id that tmux itself gave is handed back to it.
        let Some(found) = panes.into_iter().find(|found| found.pane.id == pane) else {
            bail!("the tmux pane {pane} of agent {number} is closed");
        };
        if found.pane.is_dead {
            bail!("what ran in the tmux pane {pane} of agent {number} has ended");
        }
        if care == Care::Checked
            && let Some(objection) = objection(life_of(agent, &found), &found)
        {
            bail!(
                "agent {number} would not read what is typed into the tmux pane {pane}: {objection}; --force types it all \
                 the same"
            );
        }
        let typed = server.type_line(&found, &text).await;
        typed.with_context(|| format!("cannot type into the tmux pane {pane} of agent {number}"))
    })??;
    Ok(Typed {
        pane: pane.to_owned(),
        text,
    })
}

/// What is typed, and what `snell hook` knows when it comes as a prompt.
fn wake_up() -> anyhow::Result<String> {
    Ok(Caller::settings()?.messages.wake_up())
}

fn life_of(agent: &Whereabouts, pane: &PaneInFull) -> Life {
    // Whoever tries a hook by hand is taken for an agent, and its shell for the agent's process.
    let Some(process) = agent.process.filter(|process| !process.is_a_bare_shell()) else {
        return Life::Unknown;
    };
    if process.is_gone() {
        // What called once may have been a mere messenger, and its end says nothing.
        return if agent.process_is_certain {
            Life::Gone
        } else {
            Life::Unknown
        };
    }
    Life::Lives {
        in_pane: pane.pid.and_then(|pid| process.lives_in(pid)),
        in_foreground: process.is_in_foreground(),
    }
}

/// Why nothing should be typed into this pane; nothing if the agent reads it. Nothing here looks anywhere.
fn objection(life: Life, pane: &PaneInFull) -> Option<String> {
    if pane.is_synchronized {
        return Some("the other panes of its window would get it, too (synchronize-panes)".into());
    }
    if pane.takes_no_input {
        return Some("its input is turned off".into());
    }
    let shell = || {
        let shown = pane.pane.shows_a_shell();
        shown.then(|| format!("a shell ({}) waits there", pane.pane.command))
    };
    match life {
        Life::Gone => Some("its process is gone".into()),
        Life::Lives {
            in_pane: Some(false), ..
        } => Some("its process does not live there".into()),
        Life::Lives {
            in_foreground: Some(false),
            ..
        } => Some(format!("{} is in the foreground", pane.pane.command)),
        Life::Lives {
            in_pane: Some(true), ..
        } => None,
        Life::Unknown | Life::Lives { in_pane: None, .. } => shell(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use snell_store::Pane;

    fn pane(command: &str) -> PaneInFull {
        PaneInFull {
            pane: Pane {
                id: "%1".into(),
                is_dead: false,
                command: command.into(),
            },
            pid: Some(7),
            is_in_mode: false,
            is_synchronized: false,
            takes_no_input: false,
        }
    }

    fn lives(in_pane: Option<bool>, in_foreground: Option<bool>) -> Life {
        Life::Lives { in_pane, in_foreground }
    }

    #[test]
    fn nothing_is_typed_where_the_agent_is_not() {
        let rows = [
            (Life::Unknown, "claude", None),
            (Life::Unknown, "-zsh", Some("a shell (-zsh) waits there")),
            (Life::Gone, "claude", Some("its process is gone")),
            (lives(Some(true), Some(true)), "bash", None),
            (lives(Some(true), None), "bash", None),
            (lives(Some(true), Some(false)), "vim", Some("vim is in the foreground")),
            (
                lives(Some(false), Some(true)),
                "claude",
                Some("its process does not live there"),
            ),
            (lives(None, None), "claude", None),
            (lives(None, None), "fish", Some("a shell (fish) waits there")),
        ];
        for (life, command, expected) in rows {
            assert_eq!(
                objection(life, &pane(command)).as_deref(),
                expected,
                "{life:?} {command}"
            );
        }
    }

    #[test]
    fn a_pane_that_shares_or_drops_what_is_typed_is_left_alone() {
        let shares = PaneInFull {
            is_synchronized: true,
            ..pane("claude")
        };
        let drops = PaneInFull {
            takes_no_input: true,
            ..pane("claude")
        };
        for pane in [shares, drops] {
            assert!(objection(lives(Some(true), Some(true)), &pane).is_some(), "{pane:?}");
        }
    }
}
