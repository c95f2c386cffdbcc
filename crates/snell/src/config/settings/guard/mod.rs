//! `[guard]`: what is to be done about calls that the guard minds.
//!
//! The user's own file may say everything. A project's file may choose `strict`, name rules, paths and commands; one that
//! is not trusted may only make things stricter. What each said stays known with its place, because only the guard knows
//! which rules there are.

mod reader;

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::values::expand_tilde;
use crate::hook::SourceLocation;
use crate::matcher::normalize_path;

pub(super) use reader::read_guard;

/// How much the guard minds, mildest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum GuardPreset {
    /// Everything is judged and recorded, nothing is stopped.
    Audit,
    /// As the rules say.
    #[default]
    Standard,
    /// What others would ask about is denied, and what cannot be known is asked about.
    Strict,
}

/// What is to be done about a call, mildest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GuardChoice {
    /// It may happen.
    Allow,
    /// The user decides.
    Ask,
    /// It must not happen.
    Deny,
}

impl GuardChoice {
    /// How it is written.
    pub fn name(self) -> &'static str {
        let row = CHOICES.iter().find(|(_, choice)| *choice == self);
        row.map_or("", |(name, _)| name)
    }
}

/// Whose word something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GuardAuthor {
    /// The user's, who may say everything.
    User,
    /// That of a project which the user trusts.
    Project,
    /// That of a project which nobody trusts: it counts where it makes things stricter.
    Untrusted,
}

/// What somebody wants to be done about a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RuleChoice {
    /// The rule's id, as it was written. Whether there is such a rule is not known here.
    pub rule: String,
    /// What is to be done.
    pub choice: GuardChoice,
    /// Whose word it is.
    pub author: GuardAuthor,
    /// Where it was written.
    pub origin: SourceLocation,
}

/// A path that is protected.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProtectedPath {
    /// In full, if the home directory is known; `*`, `?` and `**` are wildcards.
    pub path: PathBuf,
    /// Whose word it is.
    pub author: GuardAuthor,
    /// Where it was written.
    pub origin: SourceLocation,
}

/// A command that may run although a rule minds it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AllowedCommand {
    /// The command, word by word; `*` and `**` are wildcards.
    pub command: String,
    /// Why it may.
    pub reason: String,
    /// The last day on which it may.
    pub until: Option<Date>,
    /// Whose word it is.
    pub author: GuardAuthor,
    /// Where it was written.
    pub origin: SourceLocation,
}

impl AllowedCommand {
    /// Whether its last day is over. Days are those of UTC: no machine has to know where it stands for that.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        let today = now.to_zoned(TimeZone::UTC).date();
        self.until.is_some_and(|until| until < today)
    }
}

/// A file of the user's own that cannot be read, and so has no say.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnreadableFile {
    /// Where reading it ended.
    pub origin: SourceLocation,
    /// Why.
    pub why: String,
}

/// What is to be done about calls that the guard minds.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GuardSettings {
    /// The user's own file, if it cannot be read: then the defaults count where it may have said something else.
    pub unreadable_file: Option<UnreadableFile>,
    /// For all rules.
    pub preset: GuardPreset,
    /// Where that was written, if it was.
    pub preset_origin: Option<SourceLocation>,
    /// What is done where the guard itself fails.
    pub on_failure: GuardChoice,
    /// Where that was written, if it was.
    pub on_failure_origin: Option<SourceLocation>,
    /// What must not be changed.
    pub protect: Vec<ProtectedPath>,
    /// What must not even be read.
    pub secrets: Vec<ProtectedPath>,
    /// What is to be done about single rules, in the order in which it was said.
    pub rules: Vec<RuleChoice>,
    /// Commands that may run although a rule minds them, those included whose time is over.
    pub allow: Vec<AllowedCommand>,
}

impl Default for GuardSettings {
    fn default() -> Self {
        Self {
            unreadable_file: None,
            preset: GuardPreset::default(),
            preset_origin: None,
            on_failure: GuardChoice::Ask,
            on_failure_origin: None,
            protect: Vec::new(),
            secrets: Vec::new(),
            rules: Vec::new(),
            allow: Vec::new(),
        }
    }
}

const PRESETS: &[(&str, GuardPreset)] =
    &[("standard", GuardPreset::Standard), ("strict", GuardPreset::Strict), ("audit", GuardPreset::Audit)];

/// The one that counts where the guard fails and nobody says otherwise is the first.
const CHOICES: &[(&str, GuardChoice)] =
    &[("ask", GuardChoice::Ask), ("deny", GuardChoice::Deny), ("allow", GuardChoice::Allow)];

/// The keys of `[guard]`.
pub(super) const GUARD_KEYS: &[&str] = &["preset", "on_failure", "protect", "secrets", "rules", "allow"];

/// The keys of a `[[guard.allow]]`.
pub(super) const ALLOW_KEYS: &[&str] = &["command", "reason", "until"];

/// What one file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FileGuardSettings {
    preset: Option<(GuardPreset, SourceLocation)>,
    on_failure: Option<(GuardChoice, SourceLocation)>,
    protect: Vec<ProtectedPath>,
    secrets: Vec<ProtectedPath>,
    rules: Vec<RuleChoice>,
    allow: Vec<AllowedCommand>,
}

/// The author of everything in a file until all files are merged: whether one is trusted is not known while it is read.
const UNKNOWN_AUTHOR: GuardAuthor = GuardAuthor::Untrusted;

/// Where the paths of files begin.
#[derive(Clone, Copy, Debug)]
pub(in crate::config) struct PathBases<'a> {
    pub(in crate::config) home: Option<&'a Path>,
    pub(in crate::config) project: &'a Path,
}

impl GuardSettings {
    /// All files together, each with whose word it is.
    pub(super) fn from_files<'a>(
        files: impl Iterator<Item = (&'a FileGuardSettings, GuardAuthor)>,
        bases: PathBases<'_>,
    ) -> Self {
        let mut settings = Self::default();
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
        let base = if is_users { bases.home } else { Some(bases.project) };
        let path = |said: &ProtectedPath| ProtectedPath {
            path: resolve_path(&said.path, base, bases.home),
            author,
            ..said.clone()
        };
        self.protect.extend(file.protect.iter().map(path));
        self.secrets.extend(file.secrets.iter().map(path));
        self.rules.extend(file.rules.iter().map(|said| RuleChoice { author, ..said.clone() }));
        // To allow something is never stricter.
        let allowed = file.allow.iter().filter(|_| author != GuardAuthor::Untrusted);
        self.allow.extend(allowed.map(|said| AllowedCommand { author, ..said.clone() }));
    }

    /// The choice that counts for a rule about which `usual` would be done if nobody chose: the user's own, else that of a
    /// trusted project, unless a project is stricter. Nothing if nobody's counts.
    pub fn choice_for(&self, rule: &str, usual: GuardChoice) -> Option<&RuleChoice> {
        let of = |author: GuardAuthor| {
            let mut said = self.rules.iter().rev();
            said.find(move |choice| choice.rule == rule && choice.author == author)
        };
        let chosen = of(GuardAuthor::User).or_else(|| of(GuardAuthor::Project));
        let least = chosen.map_or(usual, |chosen| chosen.choice);
        let stricter = [of(GuardAuthor::Project), of(GuardAuthor::Untrusted)];
        let stricter = stricter.into_iter().flatten().filter(|said| said.choice > least);
        stricter.max_by_key(|said| said.choice).or(chosen)
    }
}

/// A path without `.` and `..`, as far as that can be told without looking.
fn resolve_path(path: &Path, base: Option<&Path>, home: Option<&Path>) -> PathBuf {
    let path = expand_tilde(path, home);
    let path = base.map_or_else(|| path.clone(), |base| base.join(&path));
    normalize_path(&path)
}

#[cfg(test)]
mod tests;
