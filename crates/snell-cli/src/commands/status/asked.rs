//! What the store says of itself, and what is wrong if it says nothing.

use snell::is_not_regular;
use snell_store::{AgentFilter, AgentView, State, Store, StoreError, Totals};

use super::Attention;
use crate::memory::{self, Memory};

/// How the store is asked.
pub(super) type Ask = fn(&mut Memory, &mut Vec<Attention>) -> Asked;

/// What the store answered.
pub(super) struct Asked {
    pub(super) state: &'static str,
    pub(super) error: Option<String>,
    pub(super) totals: Option<Totals>,
    pub(super) waiting_agents: Vec<AgentView>,
}

impl Asked {
    /// Nothing but how the database is.
    fn state(state: &'static str, error: Option<String>) -> Self {
        Self {
            state,
            error,
            totals: None,
            waiting_agents: Vec::new(),
        }
    }
}

/// Looks at the database as it is, and changes nothing.
pub(super) fn look(memory: &mut Memory, attention: &mut Vec<Attention>) -> Asked {
    if matches!(memory.path().try_exists(), Ok(false)) {
        return Asked::state("none", None);
    }
    match Store::open_to_look(&memory.path()) {
        Ok(_) => Asked::state("ok", None),
        Err(error) => unusable(memory, error, attention),
    }
}

/// Asks the store for all that is shown of it.
pub(super) fn ask(memory: &mut Memory, attention: &mut Vec<Attention>) -> Asked {
    if memory.is_blank() {
        return Asked::state("none", None);
    }
    let now = memory.now();
    let (answer, remarks) = memory.try_to_ask(|store| {
        memory::look_after(store, now)?;
        Ok((store.totals()?, store.agents(&AgentFilter::default())?))
    });
    // A database that was set aside just now is found on disk like all others.
    let remarks = remarks.into_iter().filter(|_| memory.waiting() > 0);
    attention.extend(remarks.map(|what| Attention {
        what,
        remedy: "nothing that waits is lost; it is stored when the database can be written".into(),
    }));
    match answer {
        Ok((totals, mut agents)) => {
            agents.retain(|agent| agent.state == State::AwaitingInput);
            Asked {
                totals: Some(totals),
                waiting_agents: agents,
                ..Asked::state("ok", None)
            }
        }
        Err(error) => unusable(memory, error, attention),
    }
}

/// A database that cannot be used.
fn unusable(memory: &Memory, error: StoreError, attention: &mut Vec<Attention>) -> Asked {
    let (state, remedy) = match &error {
        StoreError::Locked => ("locked", "try again; if it stays locked, end the program that holds it"),
        StoreError::Damaged(_) => ("damaged", "it is moved aside, and a new one begun, with the next event"),
        StoreError::TooNew { .. } => ("unusable", "install the newer version of Snell"),
        _ => (
            "unusable",
            "see that the directory can be written and the disk has room",
        ),
    };
    let is_misplaced = matches!(&error, StoreError::File { source, .. } if is_not_regular(source));
    let what = format!("{:#}", anyhow::Error::from(error));
    // Something else in the place of a file is found on disk, and named with its own remedy.
    if !is_misplaced {
        attention.push(Attention {
            what: format!("{}: {what}", memory.path().display()),
            remedy: remedy.into(),
        });
    }
    Asked::state(state, Some(what))
}
