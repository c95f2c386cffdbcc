//! The agents that Snell can be installed in: a new one is a row.

use std::path::{Path, PathBuf};

use anyhow::bail;
use serde::{Deserialize, Serialize};
use snell::{Guest, read_text_file};

/// A larger file says nothing about trust. Claude Code keeps its history in the same file.
const MAX_TRUST_BYTES: u64 = 64 * 1024 * 1024;

/// An agent that Snell can be installed in.
#[derive(Debug)]
pub(crate) struct InstallAgent {
    /// What it is called in options: `claude`.
    pub(crate) name: &'static str,
    /// The variable that names its own directory, and what that directory is called in the home directory otherwise.
    directory: (&'static str, &'static str),
    /// The files that it reads hooks from.
    pub(crate) files: &'static [AgentSettingsFile],
    /// Events on which Snell does not register, and why.
    pub(crate) left_out: &'static [(&'static str, &'static str)],
    /// How many seconds an event's hook may take, where the agent's own limit would be wrong.
    pub(crate) timeouts: &'static [(&'static str, u32)],
    /// What a machine that only forwards tells: events, and what the receiver calls them.
    pub(crate) forwarded: &'static [(&'static str, &'static str)],
    /// Where it notes which directories its user trusts, and under which names. Hooks do not run in others.
    trust: (&'static str, [&'static str; 2]),
    /// Others that read the same files: what they are called, and what in the home directory shows that they are here.
    pub(crate) readers: &'static [(&'static str, &'static str)],
}

/// A file that an agent reads hooks from.
#[derive(Debug)]
pub(crate) struct AgentSettingsFile {
    pub(crate) scope: SettingsScope,
    /// Below the directory of its scope. In a directory that ends with `.d` every JSON file counts.
    path: &'static str,
}

/// Whose hooks a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SettingsScope {
    /// The user's, in every project.
    User,
    /// A project's, for everybody who works on it.
    Project,
    /// The user's, in one project.
    Local,
    /// Whoever administers the machine.
    Managed,
}

impl SettingsScope {
    /// Whether files of these scopes are read together, wherever they are: the user's is read in every project.
    pub(crate) fn overlaps(self, other: Self) -> bool {
        let is_of_a_project = |scope| matches!(scope, Self::Project | Self::Local);
        (self == Self::User && is_of_a_project(other)) || (other == Self::User && is_of_a_project(self))
    }

    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
            Self::Local => "local",
            Self::Managed => "managed",
        }
    }
}

/// Where an agent's files are looked for.
#[derive(Clone, Debug)]
pub(crate) struct AgentDirs {
    pub(crate) home: PathBuf,
    pub(crate) project: PathBuf,
    /// What the agent's variable says about its directory.
    pub(crate) directory: Option<PathBuf>,
}

static AGENTS: &[&InstallAgent] = &[&CLAUDE];

static CLAUDE: InstallAgent = InstallAgent {
    name: "claude",
    directory: ("CLAUDE_CONFIG_DIR", ".claude"),
    files: &[
        settings_file(SettingsScope::User, "settings.json"),
        settings_file(SettingsScope::Project, ".claude/settings.json"),
        settings_file(SettingsScope::Local, ".claude/settings.local.json"),
        settings_file(SettingsScope::Managed, "/etc/claude-code/managed-settings.json"),
        settings_file(SettingsScope::Managed, "/etc/claude-code/managed-settings.d"),
        settings_file(SettingsScope::Managed, "/Library/Application Support/ClaudeCode/managed-settings.json"),
    ],
    left_out: &[
        (
            "WorktreeCreate",
            "a hook there makes the worktree itself and prints its path, so one that only looks on would break it",
        ),
        ("MessageDisplay", "it comes for every piece of text that is shown, and each would cost a process"),
    ],
    timeouts: &[
        // Claude Code's limit is 30 s here, and 600 s elsewhere. How long a hook may take is said in snell.toml.
        ("UserPromptSubmit", 600),
        // All hooks share 1.5 s here, unless one asks for more.
        ("SessionEnd", 10),
    ],
    forwarded: &[
        ("SessionStart", "session-start"),
        ("UserPromptSubmit", "user-prompt-submit"),
        ("PreToolUse", "pre-tool-use"),
        ("PermissionRequest", "permission-request"),
        ("PostToolUse", "post-tool-use"),
        ("Notification", "notification"),
        ("Stop", "stop"),
        ("SessionEnd", "session-end"),
    ],
    trust: (".claude.json", ["projects", "hasTrustDialogAccepted"]),
    readers: &[
        ("Cursor", ".cursor"),
        ("VS Code", ".vscode"),
        ("Copilot", ".copilot"),
        ("Grok Build", ".grok"),
        ("Continue", ".continue"),
    ],
};

const fn settings_file(scope: SettingsScope, path: &'static str) -> AgentSettingsFile {
    AgentSettingsFile { scope, path }
}

impl InstallAgent {
    /// The agent of this name.
    pub(crate) fn find_by_name(name: &str) -> anyhow::Result<&'static Self> {
        match AGENTS.iter().find(|agent| agent.name == name) {
            Some(agent) => Ok(agent),
            None => {
                let names: Vec<_> = AGENTS.iter().map(|agent| agent.name).collect();
                bail!("Snell cannot be installed in \"{name}\" yet; it can in: {}", names.join(", "))
            }
        }
    }

    pub(crate) fn all() -> &'static [&'static Self] {
        AGENTS
    }

    /// What people call it.
    pub(crate) fn title(&self) -> &'static str {
        self.guest().map_or(self.name, |guest| guest.title)
    }

    fn guest(&self) -> Option<&'static Guest> {
        Guest::find_by_name(self.name)
    }

    /// The variable that names its directory.
    pub(crate) fn directory_variable(&self) -> &'static str {
        self.directory.0
    }

    /// Its own directory.
    pub(crate) fn config_dir(&self, around: &AgentDirs) -> PathBuf {
        let usual = || self.default_config_dir(around);
        around.directory.clone().unwrap_or_else(usual)
    }

    /// What its own directory is where no variable says otherwise.
    pub(crate) fn default_config_dir(&self, around: &AgentDirs) -> PathBuf {
        around.home.join(self.directory.1)
    }

    /// Where a file of it is.
    pub(crate) fn settings_path(&self, file: &AgentSettingsFile, around: &AgentDirs) -> PathBuf {
        match file.scope {
            SettingsScope::User => self.config_dir(around).join(file.path),
            SettingsScope::Project | SettingsScope::Local => around.project.join(file.path),
            SettingsScope::Managed => PathBuf::from(file.path),
        }
    }

    /// All its files, with those of directories in which every file counts.
    pub(crate) fn all_settings_paths(&self, around: &AgentDirs) -> Vec<(SettingsScope, PathBuf)> {
        let mut places = Vec::new();
        for file in self.files {
            let path = self.settings_path(file, around);
            if !file.path.ends_with(".d") {
                places.push((file.scope, path));
                continue;
            }
            let entries = std::fs::read_dir(&path).into_iter().flatten().flatten();
            let mut inside: Vec<_> = entries.map(|entry| entry.path()).collect();
            inside.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
            inside.sort();
            places.extend(inside.into_iter().map(|path| (file.scope, path)));
        }
        places
    }

    /// Where its file of this scope is.
    pub(crate) fn settings_path_in_scope(&self, scope: SettingsScope, around: &AgentDirs) -> PathBuf {
        let file = self.files.iter().find(|file| file.scope == scope);
        file.map_or_else(|| self.config_dir(around), |file| self.settings_path(file, around))
    }

    /// The script of a machine that only forwards.
    pub(crate) fn script_path(&self, around: &AgentDirs) -> PathBuf {
        self.config_dir(around).join("hooks").join(super::notify_script::SCRIPT_NAME)
    }

    /// The events on which `snell hook` is registered.
    pub(crate) fn events(&self) -> impl Iterator<Item = &'static str> {
        let known = self.guest().map_or(&[][..], |guest| guest.events);
        let is_left_out = |event: &str| self.left_out.iter().any(|(name, _)| *name == event);
        known.iter().copied().filter(move |event| !is_left_out(event))
    }

    /// How many seconds its hook on this event may take, where that has to be said.
    pub(crate) fn timeout(&self, event: &str) -> Option<u32> {
        let row = self.timeouts.iter().find(|(name, _)| *name == event);
        row.map(|(_, seconds)| *seconds)
    }

    /// Whether its user has told it to trust the project, or a directory around it; nothing if that cannot be seen.
    pub(crate) fn is_project_trusted(&self, around: &AgentDirs) -> Option<bool> {
        let (name, [projects, trusted]) = self.trust;
        let directory = around.directory.as_ref().unwrap_or(&around.home);
        let text = read_text_file(&directory.join(name), MAX_TRUST_BYTES).ok()?;
        let noted: serde_json::Value = serde_json::from_str(&text).ok()?;
        let noted = noted[projects].as_object()?;
        let mut directories = around.project.ancestors().filter_map(Path::to_str);
        Some(directories.any(|directory| noted.get(directory).is_some_and(|one| one[trusted] == true)))
    }

    /// Who else reads its files, as far as that can be seen.
    pub(crate) fn find_other_readers(&self, home: &Path) -> Vec<&'static str> {
        let here = self.readers.iter().filter(|(_, sign)| home.join(sign).exists());
        here.map(|(name, _)| *name).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_of_claude_code_is_registered_or_left_out_for_a_reason() {
        let events: Vec<_> = CLAUDE.events().collect();
        let known = CLAUDE.guest().unwrap().events;
        assert_eq!((events.len(), known.len()), (29, 31));
        let named = CLAUDE.left_out.iter().map(|(event, _)| event);
        let named = named.chain(CLAUDE.timeouts.iter().map(|(event, _)| event));
        for event in named.chain(CLAUDE.forwarded.iter().map(|(event, _)| event)) {
            assert!(known.contains(event), "{event}");
        }
    }
}
