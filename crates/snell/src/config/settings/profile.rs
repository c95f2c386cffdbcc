//! `profile`: a way of working that switches several handlers on and has texts and limits of its own.

use super::guard::GuardPreset;
use crate::config::reader::ConfigReader;
use crate::config::spanned::SpannedNode;
use crate::diagnostic::UserMessage;

/// A way of working.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WorkProfile {
    /// Files at the start of a session, reminders, and rules for messages to people, with the texts of Claude OS.
    ClaudeOs,
}

/// Every profile, by its name in `snell.toml`.
const PROFILES: &[(&str, WorkProfile)] = &[("claude-os", WorkProfile::ClaudeOs)];

impl WorkProfile {
    /// The names of all profiles.
    pub fn names() -> impl Iterator<Item = &'static str> {
        PROFILES.iter().map(|(name, _)| *name)
    }

    /// The profile of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        PROFILES.iter().find(|(known, _)| *known == name).map(|(_, profile)| *profile)
    }

    /// Its name in `snell.toml`.
    pub fn name(self) -> &'static str {
        let row = PROFILES.iter().find(|(_, profile)| *profile == self);
        row.map_or("", |(name, _)| name)
    }
}

/// How a profile was switched on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProfileOrigin {
    /// The user's own `snell.toml` names it.
    UserFile,
    /// The variables of a launcher. A project can set variables too, so this is not the user's word.
    Launcher,
}

/// The profile of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActiveProfile {
    /// The profile.
    pub profile: WorkProfile,
    /// How it was switched on.
    pub origin: ProfileOrigin,
}

impl ActiveProfile {
    /// The profile of the user's own file, else that of the launcher.
    pub(super) fn select(in_file: Option<WorkProfile>, launcher: Option<WorkProfile>) -> Option<Self> {
        let of_file = in_file.map(|profile| Self { profile, origin: ProfileOrigin::UserFile });
        of_file.or(launcher.map(|profile| Self { profile, origin: ProfileOrigin::Launcher }))
    }
}

/// The guard's preset if no file sets one.
pub(super) fn default_guard_preset(profile: Option<ActiveProfile>) -> GuardPreset {
    match profile.map(|active| active.profile) {
        Some(WorkProfile::ClaudeOs) => GuardPreset::ClaudeOs,
        None => GuardPreset::default(),
    }
}

pub(super) fn read_profile(reader: &mut ConfigReader<'_>, node: &SpannedNode) -> Option<WorkProfile> {
    let name = reader.expect_text(node, "profile")?;
    let profile = WorkProfile::from_name(&name);
    if profile.is_none() {
        let known: Vec<_> = WorkProfile::names().collect();
        let message = UserMessage::new(format!("unknown profile \"{name}\" (no profile applies)"))
            .with_hint(format!("use \"{}\"", known.join("\" or \"")))
            .with_suggestion(&name, known);
        reader.add_error(node.offset, message);
    }
    profile
}
