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
    AgentMessage, AllowedCommand, BuiltinHandler, CommsSettings, ContextSettings, CoreFile, GuardAuthor, GuardChoice,
    GuardPreset, GuardSettings, HandlerSwitches, MessageTemplates, MessageUse, NoticeKind, NotifySettings, NtfyTarget,
    ProtectedPath, QuietHours, RemindSettings, RetentionPeriod, RuleChoice, SecretSource, ServerSettings,
    ServerSettingsFault, SnellSettings, UnreadableFile, WebhookTarget, is_postgres_url, normalize_receiver_url,
};
pub(crate) use settings::{SETTING_KEYS, read_settings};
pub use spanned::{DocumentSyntaxError, NodeValue, SpannedMember, SpannedNode};
pub(crate) use trust_filter::{TrustScope, TrustSource, UnpinnedPolicy};
