//! Configuration: which files exist, their content, and their problems.

mod discovery;
mod documents;
mod exclude_self;
mod load;
mod order;
mod reader;
mod settings;
mod source;
mod spanned;
mod trust_filter;

pub use discovery::ConfigFile;
pub(crate) use discovery::{ConfigDirs, FileSelection};
pub use documents::{DocumentValue, SpannedDocument};
pub(crate) use exclude_self::HookExclusion;
pub(crate) use load::{LoadRequest, LoadedConfig, load_config};
pub(crate) use reader::{
    ConfigReader, DisableSwitch, EventVocabulary, MAX_TIMEOUT, ObjectFields, TimeoutField, TimeoutUnit, format_duration,
};
pub use settings::{
    ActiveProfile, AgentMessage, AnswersSettings, BackupSettings, BuiltinHandler, CommsSettings, ContextSettings,
    CoreFile, GuardApproval, GuardAuthor, GuardCase, GuardChoice, GuardEntry, GuardEntryCases, GuardPreset,
    GuardSettings, HandlerSwitch, HandlerSwitches, HeadlessChoice, MessageTemplates, MessageUse, ModelPrice,
    NoticeKind, NotifySettings, NtfyTarget, ProfileOrigin, ProtectedBranches, ProtectedPath, QuietHours,
    RemindSettings, RetentionPeriod, RuleChoice, SecretSource, ServerSettings, ServerSettingsFault, SnellSettings,
    TelemetryContent, TelemetrySettings, TelemetrySignal, ToolCondition, UnansweredChoice, UnreadableFile,
    UsageSettings, WebhookTarget, WorkProfile, normalize_receiver_url, read_guard_cases, read_user_guard_entries,
};
pub(crate) use settings::{SETTING_KEYS, read_agent_names, read_settings};
pub use spanned::{DocumentSyntaxError, NodeValue, SpannedMember, SpannedNode};
pub(crate) use trust_filter::{TrustScope, TrustSource, UnpinnedPolicy};
