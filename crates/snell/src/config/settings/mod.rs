//! The settings of a `snell.toml`: borrowed hooks, retention, the built-in handlers and the receiver.

mod answers;
mod comms;
mod context;
mod guard;
mod handlers;
mod messages;
mod notify;
mod profile;
mod remind;
mod server;
mod telemetry;
mod usage;
mod values;

use std::path::Path;
use std::time::Duration;

use jiff::{SignedDuration, Span, SpanRelativeTo};

use super::discovery::FileOwner;
use super::reader::{ConfigReader, ObjectFields};
use super::spanned::SpannedNode;
use crate::contract::{CONTRACTS, NATIVE};
use crate::diagnostic::UserMessage;
use crate::hook::SourceLocation;

pub use answers::{AnswersSettings, UnansweredChoice};
pub use comms::{CommsSettings, MessageUse};
pub use context::{ContextSettings, CoreFile};
pub(super) use guard::PathBases;
pub(crate) use guard::read_agent_names;
pub use guard::{
    BackupSettings, GuardApproval, GuardAuthor, GuardCase, GuardChoice, GuardEntry, GuardEntryCases, GuardPreset,
    GuardSettings, HeadlessChoice, ProtectedBranches, ProtectedPath, RuleChoice, ToolCondition, UnreadableFile,
    read_guard_cases, read_user_guard_entries,
};
pub use handlers::{BuiltinHandler, HandlerSwitch, HandlerSwitches};
pub use messages::{AgentMessage, MessageTemplates};
pub use notify::{NoticeKind, NotifySettings, NtfyTarget, QuietHours, SecretSource, WebhookTarget};
pub use profile::{ActiveProfile, ProfileOrigin, WorkProfile};
pub use remind::RemindSettings;
pub use server::{ServerSettings, ServerSettingsFault, normalize_receiver_url};
pub use telemetry::{TelemetryContent, TelemetrySettings, TelemetrySignal};
pub use usage::{ModelPrice, UsageSettings};

/// How long records are kept by default.
const DEFAULT_RETENTION: Duration = Duration::from_secs(30 * DAY_SECONDS);
const DAY_SECONDS: u64 = 24 * 60 * 60;

/// A longer period is forever. This keeps calendar arithmetic far from its limits.
const MAX_RETENTION: Duration = Duration::from_secs(100 * 365 * DAY_SECONDS);

/// The merged settings of all files that apply.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SnellSettings {
    /// The way of working, if one is switched on.
    pub profile: Option<ActiveProfile>,
    /// The contracts whose files a guest also runs, in the order in which they run.
    pub borrow: Vec<&'static str>,
    /// How long records are kept.
    pub keep: RetentionPeriod,
    /// Which of the built-in handlers run.
    pub handlers: HandlerSwitches,
    /// The size of an agent's context in tokens, if the user sets it.
    pub context_window: Option<u32>,
    /// The files whose content an agent gets when its session starts.
    pub context: ContextSettings,
    /// When Snell reminds an agent.
    pub remind: RemindSettings,
    /// The texts that Snell sends to agents.
    pub messages: MessageTemplates,
    /// Which tools send messages, and to whom they may.
    pub comms: CommsSettings,
    /// The settings of the guard.
    pub guard: GuardSettings,
    /// Notices to the user about agents.
    pub notify: NotifySettings,
    /// The receiver.
    pub server: ServerSettings,
    /// Answers from elsewhere to requests of agents.
    pub answers: AnswersSettings,
    /// The prices of models.
    pub usage: UsageSettings,
    /// Telemetry for OpenTelemetry.
    pub telemetry: TelemetrySettings,
}

impl Default for SnellSettings {
    fn default() -> Self {
        Self::from_files(&[], PathBases { home: None, project: Path::new("/") }, None)
    }
}

/// How long records are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetentionPeriod {
    /// This long.
    For(Duration),
    /// Until the user removes them.
    Forever,
}

impl RetentionPeriod {
    /// Parses a duration with a unit, or `forever`.
    pub fn parse(text: &str) -> Option<Self> {
        if text == "forever" {
            return Some(Self::Forever);
        }
        parse_duration(text).map(|duration| if duration > MAX_RETENTION { Self::Forever } else { Self::For(duration) })
    }
}

/// The keys of a `snell.toml` beside its hooks.
pub(crate) const SETTING_KEYS: &[&str] = &[
    "profile",
    "borrow",
    "keep",
    "handlers",
    "context_window",
    "context",
    "remind",
    "messages",
    "comms",
    "guard",
    "notify",
    "server",
    "answers",
    "usage",
    "telemetry",
];

/// The settings of one file. A missing key is `None`, so that another file can set it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FileSettings {
    profile: Option<WorkProfile>,
    pub(super) borrow: Vec<BorrowedContract>,
    keep: Option<RetentionPeriod>,
    handlers: Vec<(BuiltinHandler, bool)>,
    /// Handlers whose own table the file has.
    handler_tables: Vec<BuiltinHandler>,
    context_window: Option<u32>,
    pub(super) context: ContextSettings,
    remind: RemindSettings,
    messages: MessageTemplates,
    comms: CommsSettings,
    guard: guard::FileGuardSettings,
    notify: NotifySettings,
    server: ServerSettings,
    answers: AnswersSettings,
    usage: UsageSettings,
    telemetry: TelemetrySettings,
}

impl FileSettings {
    /// Whether it has `[guard]` settings.
    pub(super) fn has_guard_settings(&self) -> bool {
        self.guard != guard::FileGuardSettings::default()
    }
}

/// The settings of a file, and its author.
#[derive(Debug, Clone, Copy)]
pub(super) struct AuthoredSettings<'a> {
    pub(super) settings: &'a FileSettings,
    pub(super) author: GuardAuthor,
}

/// A contract whose files are borrowed, and the position of that entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BorrowedContract {
    pub(super) contract: &'static str,
    pub(super) origin: SourceLocation,
}

impl SnellSettings {
    /// Merges all files. A later file overrides an earlier one. Untrusted files can only make the guard stricter. The launcher's
    /// profile applies if no file names one.
    pub(super) fn from_files(
        all: &[AuthoredSettings<'_>],
        bases: PathBases<'_>,
        launcher_profile: Option<WorkProfile>,
    ) -> Self {
        let home = bases.home;
        let trusted: Vec<_> = all.iter().filter(|file| file.author != GuardAuthor::Untrusted).copied().collect();
        let files: Vec<_> = trusted.iter().map(|file| file.settings).collect();
        let is_borrowed = |name: &&str| {
            let mut borrowed = files.iter().flat_map(|file| &file.borrow);
            borrowed.any(|borrowed| borrowed.contract == *name)
        };
        let in_file = files.iter().rev().find_map(|file| file.profile);
        let profile = ActiveProfile::select(in_file, launcher_profile);
        let context = merge_files(&files, |file| &file.context, ContextSettings::merge_over);
        let messages = merge_files(&files, |file| &file.messages, MessageTemplates::merge_over);
        let guard_files = all.iter().map(|file| (&file.settings.guard, file.author));
        Self {
            profile,
            borrow: borrowable_contracts().filter(is_borrowed).collect(),
            keep: files.iter().rev().find_map(|file| file.keep).unwrap_or(RetentionPeriod::For(DEFAULT_RETENTION)),
            handlers: HandlerSwitches::from_files(&trusted, profile),
            context_window: files.iter().rev().find_map(|file| file.context_window),
            context: context.resolve_paths(home).with_limits_of(profile),
            remind: merge_files(&files, |file| &file.remind, RemindSettings::merge_over),
            messages: messages.with_texts_of(profile),
            comms: merge_files(&files, |file| &file.comms, CommsSettings::merge_over).resolve_paths(home),
            guard: GuardSettings::from_files(guard_files, bases, profile::default_guard_preset(profile)),
            notify: merge_files(&files, |file| &file.notify, NotifySettings::merge_over).resolve_paths(home),
            server: merge_files(&files, |file| &file.server, ServerSettings::merge_over).resolve_paths(home),
            answers: merge_files(&files, |file| &file.answers, AnswersSettings::merge_over).resolve_paths(home),
            usage: merge_files(&files, |file| &file.usage, UsageSettings::merge_over),
            telemetry: merge_files(&files, |file| &file.telemetry, TelemetrySettings::merge_over).resolve_paths(home),
        }
    }

    /// Whether sessions get files of the project only if the user trusts the project: if the user demands it, and if not the user
    /// but something that a project can forge switched the files on.
    pub fn context_needs_trust(&self) -> bool {
        let is_users = match self.handlers.switch_of(BuiltinHandler::Context) {
            HandlerSwitch::Usual | HandlerSwitch::ByUser => true,
            HandlerSwitch::ByProject | HandlerSwitch::ByLauncher | HandlerSwitch::NotWanted | HandlerSwitch::Off => {
                false
            }
        };
        self.context.requires_trust() || !is_users
    }
}

/// Merges one table of all files. A later file overrides an earlier one.
fn merge_files<T: Clone + Default>(
    files: &[&FileSettings],
    table: fn(&FileSettings) -> &T,
    merge_over: fn(T, T) -> T,
) -> T {
    files.iter().fold(T::default(), |earlier, file| merge_over(table(file).clone(), earlier))
}

/// The contracts whose files a guest can borrow, in the order in which they run.
pub(crate) fn borrowable_contracts() -> impl Iterator<Item = &'static str> {
    CONTRACTS
        .iter()
        .filter(|contract| **contract != &NATIVE && !contract.locations.is_empty())
        .map(|contract| contract.name)
}

/// Reads the settings at the root of a `snell.toml`.
pub(crate) fn read_settings(reader: &mut ConfigReader<'_>, root: &ObjectFields<'_>) {
    let has_table = |(name, _): &(&str, BuiltinHandler)| root.get(name).is_some();
    reader.settings = FileSettings {
        profile: get_user_only(reader, root, "profile").and_then(|node| profile::read_profile(reader, node)),
        handler_tables: handlers::optional_handlers().filter(has_table).map(|(_, handler)| handler).collect(),
        borrow: root.get("borrow").map(|node| read_borrow(reader, node)).unwrap_or_default(),
        keep: get_user_only(reader, root, "keep").and_then(|node| read_keep(reader, node)),
        handlers: get_user_only(reader, root, "handlers")
            .map(|node| handlers::read_handlers(reader, node))
            .unwrap_or_default(),
        context_window: get_user_only(reader, root, "context_window")
            .and_then(|_| values::read_count(reader, root, "context_window", (200_000, values::Fallback::Default))),
        context: root.get("context").map(|node| context::read_context(reader, node)).unwrap_or_default(),
        remind: get_user_only(reader, root, "remind").map(|node| remind::read_remind(reader, node)).unwrap_or_default(),
        messages: get_user_only(reader, root, "messages")
            .map(|node| messages::read_messages(reader, node))
            .unwrap_or_default(),
        comms: get_user_only(reader, root, "comms").map(|node| comms::read_comms(reader, node)).unwrap_or_default(),
        guard: root.get("guard").map(|node| guard::read_guard(reader, node)).unwrap_or_default(),
        notify: get_user_only(reader, root, "notify").map(|node| notify::read_notify(reader, node)).unwrap_or_default(),
        server: get_user_only(reader, root, "server").map(|node| server::read_server(reader, node)).unwrap_or_default(),
        answers: root.get("answers").map(|node| answers::read_answers(reader, node)).unwrap_or_default(),
        usage: get_user_only(reader, root, "usage").map(|node| usage::read_usage(reader, node)).unwrap_or_default(),
        telemetry: get_user_only(reader, root, "telemetry")
            .map(|node| telemetry::read_telemetry(reader, node))
            .unwrap_or_default(),
    };
}

/// A setting that only the user's own file can have: a project must not change what Snell records or where it sends events.
fn get_user_only<'n>(reader: &mut ConfigReader<'_>, root: &ObjectFields<'n>, key: &str) -> Option<&'n SpannedNode> {
    let member = root.members.iter().find(|member| member.key == key)?;
    if reader.owner == FileOwner::Project {
        reader.add_warning(
            member.key_offset,
            UserMessage::new(format!("\"{key}\" has no effect in a project's file"))
                .with_hint("move it to ~/.config/snell/snell.toml"),
        );
        return None;
    }
    Some(&member.node)
}

fn read_borrow(reader: &mut ConfigReader<'_>, node: &SpannedNode) -> Vec<BorrowedContract> {
    let mut list: Vec<BorrowedContract> = Vec::new();
    for item in reader.read_array(node, "\"borrow\"").unwrap_or_default() {
        let Some(name) = reader.expect_text(item, "borrow") else {
            continue;
        };
        let Some(contract) = borrowable_contracts().find(|known| *known == name) else {
            let known: Vec<_> = borrowable_contracts().collect();
            let message = UserMessage::new(format!("\"borrow\" has \"{name}\", whose hook files cannot be borrowed"))
                .with_hint(format!("use one of {}", known.join(", ")))
                .with_suggestion(&name, known);
            reader.add_error(item.offset, message);
            continue;
        };
        if list.iter().all(|earlier| earlier.contract != contract) {
            let origin = reader.locate_offset(item.offset);
            list.push(BorrowedContract { contract, origin });
        }
    }
    list
}

fn read_keep(reader: &mut ConfigReader<'_>, node: &SpannedNode) -> Option<RetentionPeriod> {
    let kept = node.text().and_then(RetentionPeriod::parse);
    if kept.is_none() {
        let is_duration = node.text().is_some_and(|text| parse_signed_duration(text).is_some());
        let wanted = if is_duration { "more than 0" } else { "a duration with a unit" };
        let message = UserMessage::new(format!("\"keep\" must be {wanted} (using the default, 30d)"));
        reader.add_error(node.offset, message.with_hint("write \"30d\", \"2w\" or \"forever\""));
    }
    kept
}

/// A duration. A day has 24 hours; months and years have no fixed length, so they are invalid.
fn parse_signed_duration(text: &str) -> Option<SignedDuration> {
    let span: Span = text.parse().ok()?;
    span.to_duration(SpanRelativeTo::days_are_24_hours()).ok()
}

/// The same, if it is more than 0.
fn parse_duration(text: &str) -> Option<Duration> {
    let duration = Duration::try_from(parse_signed_duration(text)?).ok();
    duration.filter(|duration| !duration.is_zero())
}

#[cfg(test)]
mod tests;
