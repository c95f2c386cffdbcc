//! The agents that Snell knows: one file and one row per product.
//!
//! A row has everything that is specific to its product: how to recognize it, how its payloads become an [`Event`], how
//! a [`Verdict`] becomes its answer, its variables, and its hook files. All other code uses the row.
//!
//! ```text
//!  payload ── identify ──► AgentProduct ── decode ──► Event ── (handlers, hooks) ──► Verdict ── encode ──► AgentReply
//! ```
//!
//! - `fingerprint`: the parts of a payload and of an environment that identify a product.
//! - `decode`: payloads with other field names than Claude Code's.
//! - `tool_dialect`: a product's own names of tools and of their inputs.
//! - `reply`: verdicts in a product's own format, from tables; `claude_replies`: rows that several products share.
//! - `unknown`: the row that products start from, and the one of an unknown product, which Snell can only answer with a denial.
//! - `capabilities`: the parts of an answer that a product accepts, for people.
//! - `facts`, `install_recipe`: the types of a row's fields; `plugins`: files that an installation writes.

mod amp;
mod antigravity;
mod augment;
mod capabilities;
mod claude;
mod claude_replies;
mod cline;
mod codex;
mod copilot;
mod crush;
mod cursor;
mod decode;
mod deepagents;
mod droid;
mod facts;
mod fingerprint;
mod gemini;
mod goose;
mod grok;
mod install_recipe;
mod kilo;
mod kimi;
mod kiro;
mod opencode;
mod pi;
mod plugin_replies;
mod qwen;
mod reply;
mod tool_dialect;
mod transcript_facts;
mod unknown;
mod vibe;
mod windsurf;

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::event::{Event, EventError, EventName, ToolCall};
use crate::verdict::Verdict;

pub use capabilities::{AgentCapabilities, CapabilitySupport, HookCapability};
pub use facts::{
    AgentEventRow, AgentVariables, EventShape, EvidenceLevel, NotificationKinds, QuestionForm, QuestionTool, StderrUse,
    SubagentSessions,
};
use fingerprint::{AgentVocabulary, CallerEvidence, PayloadMark};
pub use install_recipe::{
    AgentDirectory, AgentSettingsFile, CommandStyle, DenialProof, DenialSign, EntryNesting, InstallRecipe,
    JsonRegistration, RegistrationFormat, SettingsReader, SettingsScope, TimeoutKey, TomlRegistration, TrustRecord,
};
pub use reply::{ApprovalReach, DialogDuringHook, UserAnswer};
use reply::{ContextEffect, ReplyDialect};
pub(crate) use tool_dialect::CANONICAL_TOOLS;
pub use tool_dialect::ToolDialect;
use transcript_facts::{BASE_CALL_PLACES, BASE_LINE_ROW};
pub use transcript_facts::{
    SessionIdPlace, TranscriptCallPlaces, TranscriptFiles, TranscriptFormat, TranscriptLineKind, TranscriptLineRow,
    TranscriptLines, TranscriptLocation,
};

/// The field of an event with the suggestions of the agent for permissions that last.
const SUGGESTIONS: &str = "permission_suggestions";

/// Every product. If the payloads of two are similar, the one with the narrower fingerprint is first.
static PRODUCTS: &[&AgentProduct] = &[
    &opencode::OPENCODE,
    &kilo::KILO,
    &pi::PI,
    &amp::AMP,
    &cursor::CURSOR,
    &cline::CLINE,
    &windsurf::WINDSURF,
    &kimi::KIMI,
    &vibe::VIBE,
    &codex::CODEX,
    &gemini::GEMINI,
    &qwen::QWEN,
    &grok::GROK,
    &antigravity::ANTIGRAVITY,
    &goose::GOOSE,
    &crush::CRUSH,
    &droid::DROID,
    &deepagents::DEEPAGENTS,
    &kiro::KIRO,
    &augment::AUGMENT,
    &copilot::COPILOT,
    &claude::CLAUDE_CODE,
];

/// A product that calls Snell as one of its hooks.
#[non_exhaustive]
pub struct AgentProduct {
    /// Its name in options, files and the database: `claude`.
    pub name: &'static str,
    /// Its name for people: `Claude Code`.
    pub title: &'static str,
    /// The answers that Snell supports.
    pub support: SupportLevel,
    /// Parts of a payload that only this product sends. One of them is enough.
    payload_marks: &'static [PayloadMark],
    /// Variables that it sets for its hooks. `CLAUDE_PROJECT_DIR` is not among them, because several products set it.
    env_marks: &'static [&'static str],
    /// Its event names, if other products use them as well.
    vocabulary: Option<AgentVocabulary>,
    /// How its row is known to be right.
    pub evidence: EvidenceLevel,
    /// The events that its hook files can name, in the order of its own documentation.
    pub events: &'static [&'static str],
    /// Events whose names in files or payloads differ from the canonical ones.
    renamed_events: &'static [AgentEventRow],
    /// Events whose payloads have no name, by the keys that only they have. The first one that fits counts.
    event_shapes: &'static [EventShape],
    /// Its tools.
    tools: &'static ToolDialect,
    /// Adds fields under Claude Code's names, if a table cannot.
    adapt: fn(&mut Map<String, Value>),
    /// The answers that it accepts.
    reply: &'static ReplyDialect,
    /// The sessions of its sub-agents.
    pub subagent_sessions: SubagentSessions,
    /// The use that it makes of the standard error of its hooks.
    pub stderr: StderrUse,
    /// Facts about its answers that `reply` does not tell.
    answer_notes: &'static [(HookCapability, CapabilitySupport)],
    /// The variables that it sets for its hooks.
    pub variables: AgentVariables,
    /// Arguments with which it runs without a user, such as `-p`. A word without a dash is a subcommand.
    pub headless_args: &'static [&'static str],
    /// Notifications that change its state.
    pub notifications: NotificationKinds,
    /// Whether it may ask for permission to make a call.
    pub asks_permission: bool,
    /// Tools with which it asks its user something.
    pub question_tools: &'static [QuestionTool],
    /// The format of the file that `transcript_path` names.
    pub transcript: TranscriptFormat,
    /// Where its transcripts are.
    pub transcript_files: Option<TranscriptFiles>,
    /// The contract of its own hook files, which it runs itself.
    pub contract: Option<&'static str>,
    /// How Snell registers itself in its settings, if Snell supports that.
    pub install: Option<InstallRecipe>,
}

/// The answers that Snell supports for a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SupportLevel {
    /// Everything that the product understands.
    Full,
    /// Exit code 2 with a reason. Hooks do not run for such a product.
    DenyOnly,
}

/// The answer to an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AgentReply {
    /// One line for standard output, without its line end.
    pub stdout: Option<String>,
    /// One line for standard error, without its line end.
    pub stderr: Option<String>,
    /// The exit code.
    pub exit_code: u8,
    /// The reason, if an ask or a changed input became a denial because the product does not support it.
    pub refusal: Option<String>,
    /// Whether an agent that is about to stop continues because of the answer, without a denial.
    pub continues_turn: bool,
}

impl std::fmt::Debug for AgentProduct {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl PartialEq for AgentProduct {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl AgentProduct {
    /// Every product.
    pub fn all() -> &'static [&'static AgentProduct] {
        PRODUCTS
    }

    /// The products that Snell answers in full: the values of `--agent`.
    pub fn fully_supported() -> impl Iterator<Item = &'static AgentProduct> {
        PRODUCTS.iter().copied().filter(|product| product.support == SupportLevel::Full)
    }

    /// The product of this name.
    pub fn find_by_name(name: &str) -> Option<&'static AgentProduct> {
        PRODUCTS.iter().copied().find(|product| product.name == name)
    }

    /// The product whose name was recorded with an event. Without a known name Claude Code's conventions apply.
    pub fn for_recorded_name(name: Option<&str>) -> &'static AgentProduct {
        name.and_then(Self::find_by_name).unwrap_or(&claude::CLAUDE_CODE)
    }

    /// The product's own spelling of one of its events, and the canonical name.
    pub(crate) fn find_canonical_event(&self, native: &str) -> Option<(&'static str, EventName)> {
        let own = self.events.iter().find(|name| **name == native).copied();
        match (self.find_event_row(native), own) {
            (Some(row), _) => Some((row.native, EventName::parse(row.canonical))),
            (None, own) => own.map(|name| (name, EventName::parse(name))),
        }
    }

    /// Whether the product has an event of this name.
    pub fn sends_event(&self, name: &EventName) -> bool {
        self.events.iter().filter_map(|native| self.find_canonical_event(native)).any(|(_, known)| known == *name)
    }

    /// The canonical name of one of its tools, if it has one.
    pub fn canonical_tool_name(&self, native: &str) -> String {
        let call = ToolCall { name: native.to_owned(), ..ToolCall::default() };
        self.tools.to_canonical(call).name
    }

    /// Its tools, for hooks that are written for it.
    pub(crate) fn tool_dialect(&self) -> &'static ToolDialect {
        self.tools
    }

    /// Finds the product that sent a payload. `registered` is the name that its hook file passes as `--agent`.
    ///
    /// Several products run the hook files of others, so `registered` proves less than the payload. Variables prove least,
    /// because they are inherited and every settings file can set them. In this order:
    ///
    /// 1. a product whose fingerprint is in the payload;
    /// 2. the registered product;
    /// 3. a product whose event names and variables both fit;
    /// 4. a product whose variable is set;
    /// 5. a product whose event names fit.
    ///
    /// Otherwise it is a product that only understands exit codes: an answer in the wrong format could be read as its
    /// opposite.
    pub fn identify(
        payload: &Map<String, Value>,
        environment: &dyn Fn(&str) -> Option<String>,
        registered: Option<&str>,
    ) -> &'static AgentProduct {
        let caller = CallerEvidence { payload, environment };
        let find = |is_match: &dyn Fn(&AgentProduct) -> bool| PRODUCTS.iter().copied().find(|one| is_match(one));
        if let Some(product) = find(&|product| product.has_payload_mark(&caller)) {
            return product;
        }
        let find_by_variable = || find(&|product| product.has_env_mark(&caller));
        let by_variable = || find_by_variable().map(|product| product.or_unknown_if_event_is_foreign(&caller));
        let named = match registered {
            Some(name) => Self::find_by_name(name),
            None => find(&|product| product.is_vocabulary_confirmed(&caller))
                .or_else(by_variable)
                .or_else(|| find(&|product| product.has_vocabulary(&caller))),
        };
        // Settings of one product that another one reads: a call under a name such as `pre_tool_use`.
        let is_usable = |product: &&AgentProduct| product.has_event(payload) || !decode::is_foreign_call(payload);
        named.filter(is_usable).or_else(by_variable).unwrap_or(&unknown::UNKNOWN)
    }

    /// Returns itself if it has the event that the payload names. A variable may be inherited from another product.
    fn or_unknown_if_event_is_foreign(&'static self, caller: &CallerEvidence<'_>) -> &'static Self {
        if self.has_event(caller.payload) { self } else { &unknown::UNKNOWN }
    }

    /// Whether the event of a payload is one of the product's own.
    fn has_event(&self, payload: &Map<String, Value>) -> bool {
        let is_own = |name: &str| self.events.contains(&name) || self.find_event_row(name).is_some();
        self.find_event_name(payload).is_some_and(|name| is_own(&name))
    }

    /// The name of the event in a payload, in the field of any product.
    pub fn find_any_event_name(payload: &Map<String, Value>) -> Option<String> {
        let by_shape = || PRODUCTS.iter().find_map(|product| product.find_event_shape(payload)).map(str::to_owned);
        decode::find_event_name(payload).or_else(by_shape)
    }

    /// The product's own name of the event in a payload.
    fn find_event_name(&self, payload: &Map<String, Value>) -> Option<String> {
        let by_shape = || self.find_event_shape(payload).map(str::to_owned);
        decode::find_named_event(payload).or_else(by_shape).or_else(|| decode::find_event_name(payload))
    }

    fn find_event_shape(&self, payload: &Map<String, Value>) -> Option<&'static str> {
        let fits = |shape: &&EventShape| shape.keys.iter().all(|key| payload.contains_key(*key));
        self.event_shapes.iter().find(fits).map(|shape| shape.event)
    }

    fn find_event_row(&self, native: &str) -> Option<&'static AgentEventRow> {
        self.renamed_events.iter().find(|row| row.native == native)
    }

    /// The product's own name of a decoded event.
    fn native_event_name(&self, event: &Event) -> String {
        self.find_event_name(&event.raw).unwrap_or_else(|| event.name.as_str().to_owned())
    }

    /// Keys of payloads that identify products.
    pub fn fingerprint_keys() -> impl Iterator<Item = &'static str> {
        PRODUCTS.iter().flat_map(|product| product.mark_keys())
    }

    /// Reads a payload of this product. `name` is used if the payload has no event name.
    ///
    /// # Errors
    ///
    /// If the event has no name.
    pub fn decode(&self, name: Option<&str>, payload: Map<String, Value>) -> Result<Event, EventError> {
        decode::decode_payload(self, name, payload)
    }

    /// The event for the guard: the event itself if the product is fully supported, else the tool call that it
    /// announces, with canonical names. `None` if it announces no call, or lacks the tool or its input.
    pub fn announced_call<'a>(&self, event: &'a Event) -> Option<Cow<'a, Event>> {
        match self.support {
            SupportLevel::Full => Some(Cow::Borrowed(event)),
            SupportLevel::DenyOnly => decode::decode_announced_call(event).map(Cow::Owned),
        }
    }

    /// Whether the event is about a tool call that has not run yet, under any product's name.
    pub fn is_call_announced(&self, event: &Event) -> bool {
        event.name == EventName::PreToolUse
            || (self.support == SupportLevel::DenyOnly && decode::decode_announced_call(event).is_some())
    }

    /// Whether the model reads context that is added to an event, without an effect beyond that.
    pub fn accepts_context(&self, event: &EventName) -> bool {
        let row = self.reply.find_row(event.as_str());
        row.context.is_supported() && row.context_effect == ContextEffect::Inform
    }

    /// Whether context for the start of a session or of a prompt has to wait for a later event.
    pub fn carries_context(&self) -> bool {
        let accepts = |event| self.accepts_context(event);
        let starts = [EventName::SessionStart, EventName::UserPromptSubmit];
        let later = [EventName::UserPromptSubmit, EventName::PreToolUse, EventName::PostToolUse];
        !starts.iter().all(accepts) && later.iter().any(accepts)
    }

    /// How the user's answer to a request reaches the product; nothing if it takes none on this event.
    pub fn answer_channel(&self, event: &Event) -> Option<DialogDuringHook> {
        let row = self.reply.find_row(event.name.as_str());
        let takes = if self.asks_questions(event) { row.question_answers.is_some() } else { row.allow.is_supported() };
        takes.then_some(row.dialog)
    }

    /// The suggestions of the event for permissions that last, if the product applies the one that the user chooses.
    pub fn list_suggestions<'a>(&self, event: &'a Event) -> &'a [serde_json::Value] {
        let takes_them = self.reply.find_row(event.name.as_str()).allow_with.is_supported();
        let listed = event.raw.get(SUGGESTIONS).filter(|_| takes_them).and_then(|listed| listed.as_array());
        listed.map(Vec::as_slice).unwrap_or_default()
    }

    /// Whether the event is a call of a tool with a list of questions to the user.
    pub fn asks_questions(&self, event: &Event) -> bool {
        let is_list = |tool: &&QuestionTool| matches!(tool.form, QuestionForm::List { .. });
        event.tool_name().is_some_and(|name| self.question_tools.iter().filter(is_list).any(|tool| tool.name == name))
    }

    /// The verdict on an event, and the answer that the user gave to it through Snell, in the product's own format. A denial
    /// stays a denial.
    pub fn encode_answer(&self, event: &Event, verdict: &Verdict, answer: &UserAnswer) -> AgentReply {
        reply::encode_user_answer(self, event, verdict, answer)
    }

    /// The verdict on an event, with the guard's approval of the call and its reason, in the product's own format. `None` if the
    /// product takes no approval of such a call, or the verdict stops the call.
    pub fn encode_approval(
        &self,
        event: &Event,
        verdict: &Verdict,
        approval: (ApprovalReach, &str),
    ) -> Option<AgentReply> {
        reply::encode_approval(self, event, verdict, approval)
    }

    /// The verdict on an event in the product's own format. The event is the one that the payload was decoded into:
    /// [`Event::raw`] has the name that the product uses for it.
    pub fn encode(&self, event: &Event, verdict: &Verdict) -> AgentReply {
        reply::encode_reply(self, event, verdict)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract;

    #[test]
    fn every_product_has_its_own_name_and_a_fully_supported_one_has_events() {
        for (index, product) in PRODUCTS.iter().enumerate() {
            assert_eq!(AgentProduct::find_by_name(product.name), Some(*product));
            assert!(PRODUCTS[..index].iter().all(|earlier| earlier.name != product.name));
            assert!(product.contract.is_none_or(|name| contract::find_contract(name).is_some()), "{}", product.name);
            assert_eq!(product.events.is_empty(), product.support == SupportLevel::DenyOnly, "{}", product.name);
        }
        assert_eq!(AgentProduct::find_by_name("nobody"), None);
    }
}
