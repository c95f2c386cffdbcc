//! `[handlers]`: which of the built-in handlers run.

use super::profile::{ActiveProfile, ProfileOrigin};
use super::{AuthoredSettings, GuardAuthor};
use crate::config::reader::ConfigReader;
use crate::config::spanned::SpannedNode;

/// A reaction that is built into Snell as a guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuiltinHandler {
    /// Records sessions and their states.
    Track,
    /// Sends files to an agent when a session starts.
    Context,
    /// Reminds an agent of its context usage and its status.
    Remind,
    /// Checks who may send messages, and to whom.
    Comms,
    /// Judges what a tool call would do, before it runs.
    Guard,
}

/// When a handler runs without a line in `[handlers]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UsualRun {
    Always,
    /// With a profile, or if a file has the handler's own table.
    WithProfile,
}

struct HandlerRow {
    /// Its key in `[handlers]`, and its own table.
    name: &'static str,
    handler: BuiltinHandler,
    usual: UsualRun,
}

const fn handler_row(name: &'static str, handler: BuiltinHandler, usual: UsualRun) -> HandlerRow {
    HandlerRow { name, handler, usual }
}

const HANDLERS: &[HandlerRow] = &[
    handler_row("track", BuiltinHandler::Track, UsualRun::Always),
    handler_row("context", BuiltinHandler::Context, UsualRun::WithProfile),
    handler_row("remind", BuiltinHandler::Remind, UsualRun::WithProfile),
    handler_row("comms", BuiltinHandler::Comms, UsualRun::WithProfile),
    handler_row("guard", BuiltinHandler::Guard, UsualRun::Always),
];

/// Whether a handler runs, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandlerSwitch {
    /// It runs by default.
    Usual,
    /// It runs because the user wants it: by a profile, `true`, or its own table.
    ByUser,
    /// It runs because a trusted project's file has its table.
    ByProject,
    /// It runs because of the variables of a launcher.
    ByLauncher,
    /// It does not run, because it was not asked for.
    NotWanted,
    /// It does not run, because the user switched it off.
    Off,
}

/// Which of the built-in handlers run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandlerSwitches {
    /// In the order of [`HANDLERS`].
    switches: Vec<HandlerSwitch>,
}

impl HandlerSwitches {
    pub(super) fn from_files(files: &[AuthoredSettings<'_>], profile: Option<ActiveProfile>) -> Self {
        Self { switches: HANDLERS.iter().map(|row| decide_switch(row, files, profile)).collect() }
    }

    /// Whether this one runs.
    pub fn is_enabled(&self, handler: BuiltinHandler) -> bool {
        match self.switch_of(handler) {
            HandlerSwitch::Usual | HandlerSwitch::ByUser | HandlerSwitch::ByProject | HandlerSwitch::ByLauncher => true,
            HandlerSwitch::NotWanted | HandlerSwitch::Off => false,
        }
    }

    /// Whether this one runs, and why.
    pub fn switch_of(&self, handler: BuiltinHandler) -> HandlerSwitch {
        let index = HANDLERS.iter().position(|row| row.handler == handler);
        index.and_then(|index| self.switches.get(index).copied()).unwrap_or(HandlerSwitch::Off)
    }
}

fn decide_switch(row: &HandlerRow, files: &[AuthoredSettings<'_>], profile: Option<ActiveProfile>) -> HandlerSwitch {
    let mut lines = files.iter().flat_map(|file| &file.settings.handlers).rev();
    let line = lines.find(|(handler, _)| *handler == row.handler).map(|(_, on)| *on);
    let has_table = |author: GuardAuthor| {
        let mut of_author = files.iter().filter(|file| file.author == author);
        of_author.any(|file| file.settings.handler_tables.contains(&row.handler))
    };
    let by_profile = |origin: ProfileOrigin| profile.is_some_and(|active| active.origin == origin);
    match (line, row.usual) {
        (Some(false), _) => HandlerSwitch::Off,
        (_, UsualRun::Always) => HandlerSwitch::Usual,
        (Some(true), _) => HandlerSwitch::ByUser,
        _ if by_profile(ProfileOrigin::UserFile) || has_table(GuardAuthor::User) => HandlerSwitch::ByUser,
        _ if has_table(GuardAuthor::Project) => HandlerSwitch::ByProject,
        _ if by_profile(ProfileOrigin::Launcher) => HandlerSwitch::ByLauncher,
        _ => HandlerSwitch::NotWanted,
    }
}

impl BuiltinHandler {
    /// Its key in `[handlers]`.
    pub fn name(self) -> &'static str {
        let row = HANDLERS.iter().find(|row| row.handler == self);
        row.map_or("", |row| row.name)
    }
}

/// The keys of `[handlers]`.
pub(super) fn list_handler_keys() -> Vec<&'static str> {
    HANDLERS.iter().map(|row| row.name).collect()
}

/// The handlers that run only if they are wanted, each with the name of its own table.
pub(super) fn optional_handlers() -> impl Iterator<Item = (&'static str, BuiltinHandler)> {
    HANDLERS.iter().filter(|row| row.usual == UsualRun::WithProfile).map(|row| (row.name, row.handler))
}

pub(super) fn read_handlers(reader: &mut ConfigReader<'_>, node: &SpannedNode) -> Vec<(BuiltinHandler, bool)> {
    let Some(fields) = reader.read_table(node, "[handlers]", &list_handler_keys()) else {
        return Vec::new();
    };
    HANDLERS.iter().filter_map(|row| Some((row.handler, reader.read_bool(&fields, row.name)?))).collect()
}
