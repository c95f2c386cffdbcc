//! How Snell registers itself in a product's settings, as data.

use serde::{Deserialize, Serialize};

/// How Snell registers itself in a product's settings.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct InstallRecipe {
    /// The variable with the product's own directory, and the name of that directory in the home directory by default.
    pub directory: (&'static str, &'static str),
    /// The files from which it reads hooks.
    pub files: &'static [AgentSettingsFile],
    /// Events on which Snell does not register, and why.
    pub left_out: &'static [(&'static str, &'static str)],
    /// Timeouts in seconds of events for which the product's own timeout would be wrong.
    pub timeouts: &'static [(&'static str, u32)],
    /// The events that a forwarding machine sends, and their names at the receiver.
    pub forwarded: &'static [(&'static str, &'static str)],
    /// The file in which it records trusted directories, and the keys there. Hooks do not run in others.
    pub trust: (&'static str, [&'static str; 2]),
    /// Other products that read the same files: their titles, and a directory in the home directory that shows they are
    /// installed.
    pub readers: &'static [(&'static str, &'static str)],
    /// The directory of its transcripts, in its own directory.
    pub transcripts: &'static str,
}

/// A file from which a product reads hooks.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct AgentSettingsFile {
    /// The scope of its hooks.
    pub scope: SettingsScope,
    /// Its path in the directory of its scope. If it ends with `.d`, it is a directory of JSON files.
    pub path: &'static str,
}

/// The scope of a file's hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SettingsScope {
    /// The user's, in every project.
    User,
    /// A project's, for all its users.
    Project,
    /// The user's, in one project.
    Local,
    /// The administrator's.
    Managed,
}

impl SettingsScope {
    /// Whether a product reads files of both scopes together. It reads the user's in every project.
    pub fn overlaps(self, other: Self) -> bool {
        let is_in_project = |scope| matches!(scope, Self::Project | Self::Local);
        (self == Self::User && is_in_project(other)) || (other == Self::User && is_in_project(self))
    }

    /// Its name in messages.
    pub fn title(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
            Self::Local => "local",
            Self::Managed => "managed",
        }
    }
}

impl AgentSettingsFile {
    pub(super) const fn new(scope: SettingsScope, path: &'static str) -> Self {
        Self { scope, path }
    }
}
