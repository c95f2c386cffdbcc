//! `[guard]`: what the guard does with tool calls.
//!
//! The user's own file may set everything. A project's file may set `strict`, rules, paths and commands; an untrusted one
//! can only make the guard stricter. Each entry keeps its position, because only the guard knows which rules exist.

mod backup;
mod entries;
mod reader;

use std::path::{Path, PathBuf};

use super::values::expand_tilde;
use crate::hook::SourceLocation;
use crate::matcher::normalize_path;

pub use backup::BackupSettings;
#[cfg(test)]
pub(super) use entries::ENTRY_KEYS;
pub(crate) use entries::read_agent_names;
pub use entries::{GuardCase, GuardEntry, GuardEntryCases, ToolCondition, read_guard_cases, read_user_guard_entries};
pub(super) use reader::read_guard;

/// How strict the guard is, mildest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum GuardPreset {
    /// The guard judges and records everything, and blocks nothing.
    Audit,
    /// The guard asks about everything that people do on purpose now and then, and denies the rest.
    #[default]
    Standard,
    /// The guard denies as the document of Claude OS does.
    ClaudeOs,
    /// The guard denies instead of asking, and asks about calls with unknown effects.
    Strict,
}

/// The guard's reaction to a call, mildest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GuardChoice {
    /// The call runs.
    Allow,
    /// The user decides.
    Ask,
    /// The call is blocked.
    Deny,
}

impl GuardChoice {
    /// Its name in settings.
    pub fn name(self) -> &'static str {
        let row = CHOICES.iter().find(|(_, choice)| *choice == self);
        row.map_or("", |(name, _)| name)
    }
}

/// The reaction to a question in a session in which no user can answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HeadlessChoice {
    /// The call is blocked.
    #[default]
    Deny,
    /// The call runs.
    Allow,
}

impl HeadlessChoice {
    /// Its name in settings.
    pub fn name(self) -> &'static str {
        let row = HEADLESS_CHOICES.iter().find(|(_, choice)| *choice == self);
        row.map_or("", |(name, _)| name)
    }
}

/// The calls that the guard approves, so that the agent need not ask.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum GuardApproval {
    /// Nothing.
    #[default]
    Off,
    /// Calls that change nothing.
    Read,
    /// Also calls that edit, build and test the project.
    Project,
}

impl GuardApproval {
    /// Its name in settings.
    pub fn name(self) -> &'static str {
        let row = APPROVALS.iter().find(|(_, approval)| *approval == self);
        row.map_or("", |(name, _)| name)
    }
}

/// The branches that no push may overwrite or delete.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProtectedBranches {
    /// The list in the user's own file, which replaces the guard's own.
    pub users: Option<Vec<String>>,
    /// Further branches, which projects protect.
    pub projects: Vec<String>,
}

/// The author of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GuardAuthor {
    /// The user, who may set everything.
    User,
    /// A project that the user trusts.
    Project,
    /// A project that the user does not trust: its settings apply only if they are stricter.
    Untrusted,
}

/// A setting for one rule.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RuleChoice {
    /// The rule's id, as it was written. Such a rule may not exist.
    pub rule: String,
    /// The guard's reaction.
    pub choice: GuardChoice,
    /// Its author.
    pub author: GuardAuthor,
    /// Its position.
    pub origin: SourceLocation,
}

/// A path that is protected.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProtectedPath {
    /// The absolute path if the home directory is known. `*`, `?` and `**` are wildcards.
    pub path: PathBuf,
    /// Its author.
    pub author: GuardAuthor,
    /// Its position.
    pub origin: SourceLocation,
}

/// A file of the user that cannot be read, so its settings are unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnreadableFile {
    /// The position of the error.
    pub origin: SourceLocation,
    /// The error.
    pub why: String,
}

/// The merged settings of the guard.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GuardSettings {
    /// The user's own file, if it cannot be read. Then the defaults apply.
    pub unreadable_file: Option<UnreadableFile>,
    /// The strictness for all rules.
    pub preset: GuardPreset,
    /// The position of that setting, if there is one.
    pub preset_origin: Option<SourceLocation>,
    /// The reaction to a call if the guard fails.
    pub on_failure: GuardChoice,
    /// The position of that setting, if there is one.
    pub on_failure_origin: Option<SourceLocation>,
    /// The reaction to a question if no user can answer.
    pub headless: HeadlessChoice,
    /// The position of that setting, if there is one.
    pub headless_origin: Option<SourceLocation>,
    /// Whether files are copied aside before a call deletes or overwrites them.
    pub backup: BackupSettings,
    /// Whether a call is judged by what its session did before.
    pub session: bool,
    /// The calls that the guard approves.
    pub approve: GuardApproval,
    /// Commands that may run the project's own code without a question, as patterns of words.
    pub approve_commands: Vec<String>,
    /// Whether the user trusts the project. Only the engine knows, and only if it matters for `approve`.
    pub is_project_trusted: bool,
    /// Branches that no push may overwrite or delete.
    pub protected_branches: ProtectedBranches,
    /// Paths that must not be changed.
    pub protect: Vec<ProtectedPath>,
    /// Paths that must not be read.
    pub secrets: Vec<ProtectedPath>,
    /// The settings of single rules, in the order of the files.
    pub rules: Vec<RuleChoice>,
    /// Calls that are denied, asked about or allowed, also expired entries.
    pub entries: Vec<GuardEntry>,
}

impl Default for GuardSettings {
    fn default() -> Self {
        Self {
            unreadable_file: None,
            preset: GuardPreset::default(),
            preset_origin: None,
            on_failure: GuardChoice::Ask,
            on_failure_origin: None,
            headless: HeadlessChoice::default(),
            headless_origin: None,
            backup: BackupSettings::default(),
            session: true,
            approve: GuardApproval::default(),
            approve_commands: Vec::new(),
            is_project_trusted: false,
            protected_branches: ProtectedBranches::default(),
            protect: Vec::new(),
            secrets: Vec::new(),
            rules: Vec::new(),
            entries: Vec::new(),
        }
    }
}

const PRESETS: &[(&str, GuardPreset)] = &[
    ("standard", GuardPreset::Standard),
    ("claude-os", GuardPreset::ClaudeOs),
    ("strict", GuardPreset::Strict),
    ("audit", GuardPreset::Audit),
];

const APPROVALS: &[(&str, GuardApproval)] =
    &[("off", GuardApproval::Off), ("read", GuardApproval::Read), ("project", GuardApproval::Project)];

const HEADLESS_CHOICES: &[(&str, HeadlessChoice)] = &[("deny", HeadlessChoice::Deny), ("allow", HeadlessChoice::Allow)];

/// The first one is the default of `on_failure`.
const CHOICES: &[(&str, GuardChoice)] =
    &[("ask", GuardChoice::Ask), ("deny", GuardChoice::Deny), ("allow", GuardChoice::Allow)];

/// The keys of `[guard]`.
pub(super) const GUARD_KEYS: &[&str] = &[
    "preset",
    "on_failure",
    "headless",
    "backup",
    "backup_keep",
    "backup_mb",
    "backup_ms",
    "session",
    "approve",
    "approve_commands",
    "protected_branches",
    "protect",
    "secrets",
    "rules",
    "deny",
    "ask",
    "allow",
];

/// The `[guard]` settings of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FileGuardSettings {
    preset: Option<(GuardPreset, SourceLocation)>,
    on_failure: Option<(GuardChoice, SourceLocation)>,
    headless: Option<(HeadlessChoice, SourceLocation)>,
    backup: backup::FileBackupSettings,
    session: Option<bool>,
    approve: Option<GuardApproval>,
    approve_commands: Vec<String>,
    protected_branches: Option<Vec<String>>,
    protect: Vec<ProtectedPath>,
    secrets: Vec<ProtectedPath>,
    rules: Vec<RuleChoice>,
    entries: Vec<GuardEntry>,
}

/// The author of entries until all files are merged. A reader does not know whether its file is trusted.
const UNKNOWN_AUTHOR: GuardAuthor = GuardAuthor::Untrusted;

/// The directories in which relative paths start.
#[derive(Clone, Copy, Debug)]
pub(in crate::config) struct PathBases<'a> {
    pub(in crate::config) home: Option<&'a Path>,
    pub(in crate::config) project: &'a Path,
}

impl GuardSettings {
    /// Merges all files.
    pub(super) fn from_files<'a>(
        files: impl Iterator<Item = (&'a FileGuardSettings, GuardAuthor)>,
        bases: PathBases<'_>,
        default_preset: GuardPreset,
    ) -> Self {
        let mut settings = Self { preset: default_preset, ..Self::default() };
        for (file, author) in files {
            settings.add_file(file, author, bases);
        }
        settings
    }

    fn add_file(&mut self, file: &FileGuardSettings, author: GuardAuthor, bases: PathBases<'_>) {
        let is_users = author == GuardAuthor::User;
        if let Some((preset, origin)) = &file.preset
            && (is_users || *preset > self.preset)
        {
            self.preset = *preset;
            self.preset_origin = Some(origin.clone());
        }
        if let Some((choice, origin)) = file.on_failure.as_ref().filter(|_| is_users) {
            self.on_failure = *choice;
            self.on_failure_origin = Some(origin.clone());
        }
        if let Some((choice, origin)) = file.headless.as_ref().filter(|_| is_users) {
            self.headless = *choice;
            self.headless_origin = Some(origin.clone());
        }
        if is_users {
            self.backup.add_file(file.backup);
            self.session = file.session.unwrap_or(self.session);
            self.approve = file.approve.unwrap_or(self.approve);
            self.approve_commands.extend(file.approve_commands.iter().cloned());
        }
        match (&file.protected_branches, is_users) {
            (Some(branches), true) => self.protected_branches.users = Some(branches.clone()),
            (Some(branches), false) => self.protected_branches.projects.extend(branches.iter().cloned()),
            (None, _) => {}
        }
        let base = if is_users { bases.home } else { Some(bases.project) };
        let path = |entry: &ProtectedPath| ProtectedPath {
            path: resolve_path(&entry.path, base, bases.home),
            author,
            ..entry.clone()
        };
        self.protect.extend(file.protect.iter().map(path));
        self.secrets.extend(file.secrets.iter().map(path));
        self.rules.extend(file.rules.iter().map(|rule| RuleChoice { author, ..rule.clone() }));
        // An exception is never stricter.
        let may_apply = |entry: &&GuardEntry| author != GuardAuthor::Untrusted || entry.action != GuardChoice::Allow;
        self.entries.extend(
            file.entries
                .iter()
                .filter(may_apply)
                .map(|entry| GuardEntry { author, ..entry.with_resolved_path(base, bases.home) }),
        );
    }

    /// Notes that the user's own file cannot be read. It may have chosen a stricter preset than the default.
    pub(in crate::config) fn apply_unreadable_file(&mut self, file: UnreadableFile) {
        self.preset = self.preset.max(GuardPreset::ClaudeOs);
        self.unreadable_file = Some(file);
    }

    /// The setting that applies to a rule with the default `usual`: the user's own, else that of a trusted project, unless a
    /// project is stricter. `None` if no setting applies.
    pub fn choice_for(&self, rule: &str, usual: GuardChoice) -> Option<&RuleChoice> {
        let of = |author: GuardAuthor| {
            let mut newest_first = self.rules.iter().rev();
            newest_first.find(move |choice| choice.rule == rule && choice.author == author)
        };
        let chosen = of(GuardAuthor::User).or_else(|| of(GuardAuthor::Project));
        let least = chosen.map_or(usual, |chosen| chosen.choice);
        let stricter = [of(GuardAuthor::Project), of(GuardAuthor::Untrusted)];
        let stricter = stricter.into_iter().flatten().filter(|rule| rule.choice > least);
        stricter.max_by_key(|rule| rule.choice).or(chosen)
    }
}

/// The absolute path without `.` and `..`. It does not read the file system.
fn resolve_path(path: &Path, base: Option<&Path>, home: Option<&Path>) -> PathBuf {
    let path = expand_tilde(path, home);
    let path = base.map_or_else(|| path.clone(), |base| base.join(&path));
    normalize_path(&path)
}

#[cfg(test)]
mod tests;
