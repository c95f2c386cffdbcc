//! The rights of people and machines.

use serde::{Deserialize, Serialize};

/// The role of a person or a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AccessRole {
    /// A machine that sends events, and reads nothing but the receiver's status.
    Send,
    /// A person who reads pages and data.
    Look,
    /// A person who reads, and answers requests of agents.
    Answer,
    /// A person who does all of this, and creates and revokes tokens.
    Administer,
}

/// The task of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AccessTask {
    /// It sends an event.
    Send,
    /// It asks for the receiver's status, which senders and readers may do.
    Probe,
    /// It reads.
    Look,
    /// It answers a request of an agent.
    Answer,
    /// It lists, creates or revokes tokens.
    Administer,
}

/// The tasks of each role.
const TASKS: &[(AccessRole, &str, &[AccessTask])] = &[
    (AccessRole::Send, "send", &[AccessTask::Send, AccessTask::Probe]),
    (AccessRole::Look, "look", &[AccessTask::Look, AccessTask::Probe]),
    (AccessRole::Answer, "answer", &[AccessTask::Look, AccessTask::Probe, AccessTask::Answer]),
    (
        AccessRole::Administer,
        "administer",
        &[AccessTask::Send, AccessTask::Look, AccessTask::Probe, AccessTask::Answer, AccessTask::Administer],
    ),
];

impl AccessRole {
    /// The names of all roles.
    pub fn names() -> impl Iterator<Item = &'static str> {
        TASKS.iter().map(|(_, name, _)| *name)
    }

    /// The role with this name.
    pub fn parse(name: &str) -> Option<Self> {
        TASKS.iter().find(|(_, known, _)| *known == name).map(|(role, ..)| *role)
    }

    /// Its name.
    pub fn as_str(self) -> &'static str {
        TASKS.iter().find(|(role, ..)| *role == self).map_or("", |(_, name, _)| *name)
    }

    pub(crate) fn allows(self, task: AccessTask) -> bool {
        TASKS.iter().any(|(role, _, tasks)| *role == self && tasks.contains(&task))
    }
}

impl std::fmt::Display for AccessRole {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}
