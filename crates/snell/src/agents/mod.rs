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
//! - `deny_only`: the row that products start from which Snell can only answer with a denial.
//! - `fallback_decode`: payloads with other field names than Claude Code's.
//! - `facts`, `install_recipe`: the types of a row's fields.

mod antigravity;
mod claude;
mod cline;
mod codex;
mod copilot;
mod crush;
mod cursor;
mod deny_only;
mod droid;
mod facts;
mod fallback_decode;
mod fingerprint;
mod gemini;
mod goose;
mod grok;
mod install_recipe;
mod qwen;
mod windsurf;

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::event::{Event, EventError, EventName};
use crate::verdict::Verdict;

pub use facts::{AgentVariables, NotificationKinds, QuestionForm, QuestionTool, TranscriptFormat};
use fingerprint::{AgentVocabulary, CallerEvidence, PayloadMark};
pub use install_recipe::{AgentSettingsFile, InstallRecipe, SettingsScope};

/// Every product. If the payloads of two are similar, the one with the narrower fingerprint is first.
static PRODUCTS: &[&AgentProduct] = &[
    &cursor::CURSOR,
    &cline::CLINE,
    &windsurf::WINDSURF,
    &codex::CODEX,
    &gemini::GEMINI,
    &qwen::QWEN,
    &grok::GROK,
    &antigravity::ANTIGRAVITY,
    &copilot::COPILOT,
    &goose::GOOSE,
    &crush::CRUSH,
    &droid::DROID,
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
    /// Its known events, by its own names and in the order of its own documentation.
    pub events: &'static [&'static str],
    /// Reads a payload. The name is used if the payload names no event.
    decode: PayloadDecoder,
    /// Writes a verdict in the product's own format.
    encode: fn(&AgentProduct, &Event, &Verdict) -> AgentReply,
    /// The variables that it sets for its hooks.
    pub variables: AgentVariables,
    /// Notifications that change its state.
    pub notifications: NotificationKinds,
    /// Tools with which it asks its user something.
    pub question_tools: &'static [QuestionTool],
    /// The format of the file that `transcript_path` names.
    pub transcript: TranscriptFormat,
    /// The contract of its own hook files, which it runs itself.
    pub contract: Option<&'static str>,
    /// How Snell registers itself in its settings, if Snell supports that.
    pub install: Option<InstallRecipe>,
}

type PayloadDecoder = fn(Option<&str>, Map<String, Value>) -> Result<Event, EventError>;

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

    /// The product whose hook files `borrow` must not name: the caller. If the caller is not known, it is the only product
    /// whose hook files Snell can read.
    pub(crate) fn non_borrowable_agent(caller: Option<&'static AgentProduct>) -> Option<&'static AgentProduct> {
        let lenders: Vec<_> = Self::fully_supported().filter(|product| product.contract.is_some()).collect();
        let only = lenders.first().copied().filter(|first| lenders.iter().all(|next| next.contract == first.contract));
        caller.or(only)
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
        // Settings of a supported product that another one reads: a call under a name such as `pre_tool_use`.
        let is_usable = |product: &&AgentProduct| {
            product.support == SupportLevel::DenyOnly || !fallback_decode::is_foreign_call(payload)
        };
        named.filter(is_usable).or_else(by_variable).unwrap_or(&deny_only::UNKNOWN)
    }

    /// Returns itself if it has the event that the payload names. A variable may be inherited from another product.
    fn or_unknown_if_event_is_foreign(&'static self, caller: &CallerEvidence<'_>) -> &'static Self {
        let name = caller.payload_text("hook_event_name");
        let is_own = self.support == SupportLevel::DenyOnly || name.is_some_and(|name| self.events.contains(&name));
        if is_own { self } else { &deny_only::UNKNOWN }
    }

    /// The name of the event in a payload, in the field of any product.
    pub fn find_event_name(payload: &Map<String, Value>) -> Option<String> {
        fallback_decode::find_event_name(payload)
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
        (self.decode)(name, payload)
    }

    /// The event for the guard: the event itself if the product is fully supported, else the tool call that it
    /// announces, with canonical names. `None` if it announces no call, or lacks the tool or its input.
    pub fn announced_call<'a>(&self, event: &'a Event) -> Option<Cow<'a, Event>> {
        match self.support {
            SupportLevel::Full => Some(Cow::Borrowed(event)),
            SupportLevel::DenyOnly => fallback_decode::decode_announced_call(event).map(Cow::Owned),
        }
    }

    /// Whether the event is about a tool call that has not run yet, under any product's name.
    pub fn is_call_announced(&self, event: &Event) -> bool {
        event.name == EventName::PreToolUse
            || (self.support == SupportLevel::DenyOnly && fallback_decode::decode_announced_call(event).is_some())
    }

    /// The verdict on an event in the product's own format. The event is the one that the payload was decoded into:
    /// [`Event::raw`] has the name that the product uses for it.
    pub fn encode(&self, event: &Event, verdict: &Verdict) -> AgentReply {
        (self.encode)(self, event, verdict)
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
