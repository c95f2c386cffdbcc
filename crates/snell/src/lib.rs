//! Snell is one hooks system for every coding agent; this crate is its engine.
//!
//! An agent fires an [`Event`] (a tool is about to run, a prompt was submitted). The [`Engine`] decides which of the
//! configured [`Hook`]s it concerns, runs each under the contract it was written for, and folds their answers into one
//! [`Verdict`].
//!
//! ```text
//!  files of all contracts ──► Hooks
//!                               │
//!            Event ──► select ──► run ──► Outcome ──► answer ──► fold ──► Verdict
//! ```
//!
//! ```no_run
//! # async fn example() {
//! use snell::{Engine, Event};
//!
//! let (engine, diagnostics) = Engine::builder()
//!     .project("/home/me/project")
//!     .home("/home/me")
//!     .env(std::env::vars_os())
//!     .load();
//! for diagnostic in &diagnostics {
//!     eprintln!("{diagnostic}");
//! }
//! let verdict = engine.fire(Event::pre_tool_use("Bash", serde_json::json!({"command": "rm -rf /"}))).await;
//! if verdict.is_blocked() {
//!     println!("blocked: {}", verdict.reason.unwrap_or_default());
//! }
//! # }
//! ```
//!
//! The crate never prints, and never reads the environment or the home directory by itself: the caller hands them in.
//! A hook's failure is data in its [`Outcome`], and a broken file is a [`Diagnostic`]; neither stops the others.
//!
//! It needs a tokio runtime with time and I/O enabled.

mod agents;
mod config;
mod contract;
mod diagnostic;
mod engine;
mod event;
mod hook;
mod matcher;
mod outcome;
mod project_root;
mod regular_file;
mod report;
mod runner;
mod text;
mod trust;
mod verdict;

pub use agents::{
    AgentCapabilities, AgentDirectory, AgentEventRow, AgentProduct, AgentReply, AgentSettingsFile, AgentVariables,
    ApprovalReach, CapabilitySupport, CommandStyle, DenialProof, DenialSign, DialogDuringHook, EntryNesting,
    EventShape, EvidenceLevel, HookCapability, InstallRecipe, JsonRegistration, NotificationKinds, QuestionForm,
    QuestionTool, RegistrationFormat, SessionIdPlace, SettingsReader, SettingsScope, StderrUse, SubagentSessions,
    SupportLevel, TimeoutKey, TomlRegistration, ToolDialect, TranscriptCallPlaces, TranscriptFiles, TranscriptFormat,
    TranscriptLineKind, TranscriptLineRow, TranscriptLines, TranscriptLocation, TrustRecord, UserAnswer,
};
pub use config::{
    ActiveProfile, AgentMessage, AnswersSettings, BackupSettings, BuiltinHandler, CommsSettings, ConfigFile,
    ContextSettings, CoreFile, DocumentSyntaxError, DocumentValue, GuardApproval, GuardAuthor, GuardCase, GuardChoice,
    GuardEntry, GuardEntryCases, GuardPreset, GuardSettings, HandlerSwitch, HandlerSwitches, HeadlessChoice,
    MessageTemplates, MessageUse, ModelPrice, NodeValue, NoticeKind, NotifySettings, NtfyTarget, ProfileOrigin,
    ProtectedBranches, ProtectedPath, QuietHours, RemindSettings, RetentionPeriod, RuleChoice, SecretSource,
    ServerSettings, ServerSettingsFault, SnellSettings, SpannedDocument, SpannedMember, SpannedNode, TelemetryContent,
    TelemetrySettings, TelemetrySignal, ToolCondition, UnansweredChoice, UnreadableFile, UsageSettings, WebhookTarget,
    WorkProfile, normalize_receiver_url, read_guard_cases, read_user_guard_entries,
};
pub use diagnostic::{Diagnostic, Severity, UserMessage, did_you_mean};
pub use engine::{ConfigWatch, Engine, EngineBuilder, HookExplanation};
pub use event::{
    Event, EventError, EventName, JsonError, JsonStringScanner, MAX_JSON_DEPTH, MAX_JSON_VALUES, SubagentIdentity,
    TmuxLocation, ToolCall, ToolClass, measure_json_depth, parse_payload_object, replace_lone_surrogates,
    unpack_json_object,
};
pub use hook::{FailurePolicy, Hook, SourceLocation};
pub use jiff::Timestamp;
pub use matcher::{CommandMatcher, Glob, find_misspelled_tool};
pub use outcome::{Outcome, RunEnd};
pub use project_root::{ProjectMarkers, find_project_root, has_project_marker};
pub use regular_file::{
    FileAccess, READ_TIMEOUT, RegularFile, check_regular_file, is_file_kind_error, read_file, read_text_file,
    sync_directory,
};
pub use report::{GuardReport, HookReport, ReportedDecision, VerdictReport};
pub use runner::{BackgroundMode, BackgroundResult, supervise_jobs};
pub use text::invisible_chars::{mark_invisible_chars, reveal_invisible_chars};
pub use trust::{ProjectFile, TrustError, TrustStatus, TrustStore, UntrustedFile};
pub use verdict::{Decision, HookRun, HookRunStatus, Verdict};

/// Programs in the documentation are compiled, so that they stay true.
#[cfg(doctest)]
mod documentation {
    #[doc = include_str!("../README.md")]
    struct Readme;
    #[doc = include_str!("../../../docs/guide/build-an-agent.md")]
    struct BuildAnAgent;
}
