//! Writes a verdict in a product's own format, from tables: one row per event, one form per part of an answer.
//!
//! An answer is as short as possible. An explicit "allow" would skip the user's own permission prompt, so an allowed call gets
//! no answer at all. If a product does not accept a part of an answer, the safest thing happens:
//!
//! - an ask, or a changed input, before a tool call becomes a denial with the reason;
//! - context, and the reason of a denial after which the agent continues anyway, become a message to the user;
//! - a changed output is ignored, with a message to the user.
//!
//! Only an answer that the user gave to this very call, through Snell, is written as an "allow", and an approval of the guard, if
//! the user's settings approve calls that are harmless for certain.

use serde_json::{Map, Value, json};

use super::{AgentProduct, AgentReply};
use crate::event::{Event, EventName};
use crate::verdict::{Decision, Verdict};

/// The exit code that denies.
const EXIT_DENIED: u8 = 2;

/// The reason of a denial without a reason. Some products require one.
const DEFAULT_REASON: &str = "Blocked by a hook";

/// Arguments that do not change the effect of a call.
const INERT_ARGUMENTS: &[&str] = &["description"];

/// Keys of a tool's output with the text that the model reads.
const OUTPUT_TEXT_KEYS: &[&str] = &["stdout"];

/// The answers that a product accepts.
pub(super) struct ReplyDialect {
    /// Events without a row accept only a message and the end of the turn.
    pub(super) rows: &'static [ReplyRow],
    /// The key of texts for the user.
    pub(super) message: Option<&'static str>,
    /// The end of the whole turn.
    pub(super) stop: ReplyForm,
    /// Events on which the turn cannot be ended.
    pub(super) no_stop: &'static [&'static str],
    /// The key that names the event again, if the object that contains it is not empty.
    pub(super) event_name: Option<&'static str>,
    pub(super) input_policy: InputPolicy,
    /// Fields of a verdict for any event that are passed on at the top.
    pub(super) top_fields: &'static [&'static str],
}

/// How a product applies a changed input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InputPolicy {
    /// It replaces the input.
    Replace,
    /// It is merged into the input, so an argument cannot be removed.
    Merge,
}

/// The answers that a product accepts on one event.
#[derive(Clone, Copy)]
pub(super) struct ReplyRow {
    /// The event's canonical name.
    pub(super) event: &'static str,
    pub(super) deny: ReplyForm,
    pub(super) ask: ReplyForm,
    /// Permits the call. Only for an answer that the user gave: it skips the product's own prompt.
    pub(super) allow: ReplyForm,
    /// Permits the call, and applies one of the product's own suggestions from now on.
    pub(super) allow_with: ReplyForm,
    /// How an approval of the guard is written.
    pub(super) approve: ApprovalForm,
    /// The key for the user's answers, by question, in the input of a question tool that `allow` changes.
    pub(super) question_answers: Option<&'static str>,
    /// Whether the product's own dialog can be used while the hook runs.
    pub(super) dialog: DialogDuringHook,
    pub(super) input: ReplyForm,
    pub(super) output: OutputForm,
    pub(super) context: ReplyForm,
    pub(super) context_effect: ContextEffect,
    /// Further fields of a verdict that are passed on in `hookSpecificOutput`.
    pub(super) fields: &'static [&'static str],
}

/// A row that accepts nothing.
pub(super) const EMPTY_ROW: ReplyRow = ReplyRow {
    event: "",
    deny: ReplyForm::Unsupported,
    ask: ReplyForm::Unsupported,
    allow: ReplyForm::Unsupported,
    allow_with: ReplyForm::Unsupported,
    approve: ApprovalForm::AsAllow,
    question_answers: None,
    dialog: DialogDuringHook::Missing,
    input: ReplyForm::Unsupported,
    output: OutputForm::Unsupported,
    context: ReplyForm::Unsupported,
    context_effect: ContextEffect::Inform,
    fields: &[],
};

/// A dialect that accepts nothing.
pub(super) const EMPTY_DIALECT: ReplyDialect = ReplyDialect {
    rows: &[],
    message: None,
    stop: ReplyForm::Unsupported,
    no_stop: &[],
    event_name: None,
    input_policy: InputPolicy::Replace,
    top_fields: &[],
};

/// The product's own dialog for the user while a hook runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DialogDuringHook {
    /// It is shown, and the first answer counts: the user's or the hook's.
    Usable,
    /// It is not shown until the hook ends.
    Missing,
}

/// How a product gets an approval of the guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ApprovalForm {
    /// As an answer of the user, if it takes one.
    AsAllow,
    /// The same, but only for calls that change nothing: its "allow" may also lift its own sandbox.
    AsAllowIfReading,
    /// In a form of its own: it takes an "allow", but no answer of the user.
    Own(ReplyForm),
}

/// The changes that an approved call may make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApprovalReach {
    /// Nothing.
    Nothing,
    /// Files of the project, or temporary ones.
    Project,
}

/// An answer that the user gave through Snell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UserAnswer {
    /// The call may run.
    Allow,
    /// The call may run, and the product applies this suggestion of its own from now on.
    AllowWith(Value),
    /// The call must not run, for this reason.
    Deny(String),
    /// Answers to the questions of a question tool, in their order.
    Replies(Vec<String>),
}

/// The form of one part of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReplyForm {
    /// The product does not accept it.
    Unsupported,
    /// These fields of a JSON object on standard output.
    Json(&'static [ReplyField]),
    /// The text alone on standard output.
    PlainText,
    /// Exit code 2, and the text on standard error.
    ExitCode,
}

/// One field of a JSON answer: the keys that lead to it, separated by dots, and its value.
pub(super) type ReplyField = (&'static str, ReplyValue);

/// The value of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReplyValue {
    /// The reason, or the text.
    Text,
    /// The changed input or output.
    Changed,
    Word(&'static str),
    True,
    False,
}

/// The form of a changed output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OutputForm {
    Unsupported,
    /// The key for any tool.
    Key(&'static str),
    /// The key for tools of MCP servers. The output of others cannot be changed.
    McpKey(&'static str),
    /// These fields, with the output as text.
    Fields(&'static [ReplyField]),
    /// The keys for tools of MCP servers and for other tools.
    KeyByTool {
        mcp: &'static str,
        other: &'static str,
    },
}

/// The effect of context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ContextEffect {
    /// The model reads it.
    Inform,
    /// It makes the agent continue, so Snell sends it once: not if the agent already continues because of a hook.
    ContinueTurn,
}

impl ReplyForm {
    pub(super) fn is_supported(self) -> bool {
        self != Self::Unsupported
    }

    pub(super) fn has_text(self) -> bool {
        match self {
            Self::Json(fields) => fields.iter().any(|(_, value)| *value == ReplyValue::Text),
            Self::PlainText | Self::ExitCode => true,
            Self::Unsupported => false,
        }
    }
}

impl ReplyDialect {
    /// The row of an event.
    pub(super) fn find_row(&self, event: &str) -> ReplyRow {
        self.rows.iter().find(|row| row.event == event).copied().unwrap_or(EMPTY_ROW)
    }
}

/// The verdict in the product's format.
pub(super) fn encode_reply(product: &AgentProduct, event: &Event, verdict: &Verdict) -> AgentReply {
    let mut reply = ReplyBuilder::new(product, event);
    reply.add_decision(verdict);
    reply.add_all_but_decision(verdict);
    reply.into_reply()
}

/// The verdict in the product's format, with the user's answer in place of its decision. A denial stays a denial.
pub(super) fn encode_user_answer(
    product: &AgentProduct,
    event: &Event,
    verdict: &Verdict,
    answer: &UserAnswer,
) -> AgentReply {
    let mut reply = ReplyBuilder::new(product, event);
    match answer {
        _ if verdict.decision == Decision::Deny => reply.add_decision(verdict),
        UserAnswer::Allow => reply.put(reply.row.allow, Some(ALLOWED_BY_USER), None),
        UserAnswer::AllowWith(suggestion) => {
            reply.put(reply.row.allow_with, Some(ALLOWED_BY_USER), Some(json!([suggestion])));
        }
        UserAnswer::Deny(reason) => reply.deny(reason.clone()),
        UserAnswer::Replies(replies) => match reply.answer_questions(replies) {
            Some(input) => reply.put(reply.row.allow, None, Some(input)),
            // The questions cannot be read, so the product asks them itself.
            None => reply.add_decision(verdict),
        },
    }
    reply.add_all_but_decision(verdict);
    reply.into_reply()
}

/// The verdict in the product's format, with an explicit permission; `None` if the product takes none for this call.
pub(super) fn encode_approval(
    product: &AgentProduct,
    event: &Event,
    verdict: &Verdict,
    (reach, reason): (ApprovalReach, &str),
) -> Option<AgentReply> {
    let mut reply = ReplyBuilder::new(product, event);
    let form = match reply.row.approve {
        ApprovalForm::AsAllow => reply.row.allow,
        ApprovalForm::AsAllowIfReading if reach == ApprovalReach::Nothing => reply.row.allow,
        ApprovalForm::AsAllowIfReading => ReplyForm::Unsupported,
        ApprovalForm::Own(form) => form,
    };
    let is_call = matches!(event.name, EventName::PreToolUse | EventName::PermissionRequest);
    if !is_call || !form.is_supported() || verdict.decision > Decision::Allow {
        return None;
    }
    reply.put(form, Some(reason), None);
    reply.add_all_but_decision(verdict);
    // A change that the product does not take is a denial.
    (!reply.is_denied).then(|| reply.into_reply())
}

/// The reason of a permission that the user gave through Snell.
const ALLOWED_BY_USER: &str = "The user allowed it.";

/// The questions of a call of a question tool, under Claude Code's names.
pub(super) fn list_questions(event: &Event) -> Option<&Vec<Value>> {
    event.tool.as_ref()?.input.as_ref()?.get("questions")?.as_array()
}

/// Builds an answer.
struct ReplyBuilder<'a> {
    product: &'a AgentProduct,
    dialect: &'static ReplyDialect,
    row: ReplyRow,
    event: &'a Event,
    object: Map<String, Value>,
    plain_text: Option<String>,
    /// The reason of a denial by exit code.
    exit_reason: Option<String>,
    messages: Vec<String>,
    is_denied: bool,
    refusal: Option<String>,
    continues_turn: bool,
}

impl<'a> ReplyBuilder<'a> {
    fn new(product: &'a AgentProduct, event: &'a Event) -> Self {
        Self {
            product,
            dialect: product.reply,
            row: product.reply.find_row(event.name.as_str()),
            event,
            object: Map::new(),
            plain_text: None,
            exit_reason: None,
            messages: Vec::new(),
            is_denied: false,
            refusal: None,
            continues_turn: false,
        }
    }

    fn add_all_but_decision(&mut self, verdict: &Verdict) {
        self.add_changed_input(verdict);
        self.add_changed_output(verdict);
        self.add_fields(verdict);
        self.add_context(verdict);
        self.add_stop(verdict);
        self.add_messages(verdict);
    }

    /// The input of a question tool with the user's answers; nothing if they do not fit its questions.
    fn answer_questions(&self, replies: &[String]) -> Option<Value> {
        let key = self.row.question_answers?;
        let questions = list_questions(self.event)?;
        let texts: Vec<_> = questions.iter().map(|one| one.get("question")?.as_str()).collect::<Option<_>>()?;
        if texts.len() != replies.len() {
            return None;
        }
        let answers: Map<_, _> =
            texts.iter().zip(replies).map(|(text, reply)| ((*text).to_owned(), reply.clone().into())).collect();
        let tool = self.event.tool.as_ref()?;
        let mut input = tool.input.clone()?;
        input.as_object_mut()?.insert(key.to_owned(), Value::Object(answers));
        Some(self.product.tools.to_native_input(tool, input))
    }

    fn add_decision(&mut self, verdict: &Verdict) {
        let reason = || verdict.reason.clone().unwrap_or_else(|| DEFAULT_REASON.to_owned());
        match verdict.decision {
            Decision::None | Decision::Allow => {}
            Decision::Deny => self.deny(reason()),
            Decision::Ask if self.row.ask.is_supported() => {
                let text = verdict.question.as_deref().or(verdict.reason.as_deref());
                self.put(self.row.ask, text, None);
            }
            // The agent is already asking the user.
            Decision::Ask if self.event.name == EventName::PermissionRequest => {}
            Decision::Ask if self.event.name == EventName::PreToolUse => {
                self.refuse(refuse_question(self.product, &reason()));
            }
            Decision::Ask => self.messages.extend(verdict.reason.clone()),
        }
    }

    fn deny(&mut self, reason: String) {
        self.is_denied = true;
        if !self.row.deny.has_text() {
            self.messages.push(reason.clone());
        }
        self.put(self.row.deny, Some(&reason), None);
    }

    /// Denies, because the product does not accept the actual answer.
    fn refuse(&mut self, reason: String) {
        self.deny(reason.clone());
        self.refusal = Some(reason);
    }

    /// The input of the tool, if hooks changed it. A refused call needs no change.
    fn add_changed_input(&mut self, verdict: &Verdict) {
        let is_changed = verdict.tool_input.is_some() || verdict.extra.contains_key("updatedPermissions");
        if self.event.name == EventName::PermissionRequest && is_changed && !self.is_denied {
            let title = self.product.title;
            self.messages.push(format!(
                "A hook changed a permission request, but {title} only accepts a change with an approval, so the \
                 change is ignored."
            ));
        }
        let is_call = self.event.name == EventName::PreToolUse && !self.is_denied;
        let Some(mut input) = verdict.tool_input.clone().filter(|_| is_call) else {
            return;
        };
        self.keep_inert_arguments(&mut input);
        let native = match &self.event.tool {
            Some(call) => self.product.tools.to_native_input(call, input),
            None => input,
        };
        if !self.row.input.is_supported() {
            self.refuse(format!(
                "A hook changed the tool's input, but {} does not accept that. Call the tool again with this input: {native}",
                self.product.title
            ));
        } else if let Some(reason) = self.explain_removed_argument(verdict) {
            self.refuse(reason);
        } else {
            self.put(self.row.input, None, Some(native));
        }
    }

    /// Adds arguments that a hook left out and that some products require, such as a description.
    fn keep_inert_arguments(&self, input: &mut Value) {
        let before = self.event.tool.as_ref().and_then(|call| call.input.as_ref());
        if let (Some(Value::Object(before)), Value::Object(after)) = (before, input) {
            for key in INERT_ARGUMENTS.iter().filter(|key| before.contains_key(**key)) {
                after.entry(*key).or_insert_with(|| before[*key].clone());
            }
        }
    }

    /// Why a changed input cannot be passed on, if a hook removed an argument: the call would still run with it.
    fn explain_removed_argument(&self, verdict: &Verdict) -> Option<String> {
        if self.dialect.input_policy == InputPolicy::Replace {
            return None;
        }
        let before = self.event.tool.as_ref()?.input.as_ref()?.as_object()?;
        let after = verdict.tool_input.as_ref()?;
        let is_removed = |key: &&String| after.get(key.as_str()).is_none() && !INERT_ARGUMENTS.contains(&key.as_str());
        let removed = before.keys().find(is_removed)?;
        let title = self.product.title;
        Some(format!("A hook removed \"{removed}\" from the tool's input, but {title} does not accept that."))
    }

    fn add_changed_output(&mut self, verdict: &Verdict) {
        let Some(output) = &verdict.tool_output else {
            return;
        };
        let is_mcp_tool = self.event.tool_name().is_some_and(|name| name.starts_with("mcp__"));
        let key = match self.row.output {
            OutputForm::Key(key) => key,
            OutputForm::Fields(fields) => {
                let text = output.as_str().map_or_else(|| output.to_string(), str::to_owned);
                return self.put(ReplyForm::Json(fields), Some(&text), None);
            }
            OutputForm::McpKey(mcp) | OutputForm::KeyByTool { mcp, .. } if is_mcp_tool => mcp,
            OutputForm::KeyByTool { other, .. } => other,
            OutputForm::Unsupported | OutputForm::McpKey(_) if self.event.name == EventName::PostToolUse => {
                let title = self.product.title;
                self.messages.push(format!(
                    "A hook changed the tool's output, but {title} does not accept that, so the change is ignored."
                ));
                return;
            }
            OutputForm::Unsupported | OutputForm::McpKey(_) => return,
        };
        self.insert(key, self.shape_output(output));
    }

    /// A changed output in the shape of the original one, which products require: a text replaces the text in it.
    fn shape_output(&self, changed: &Value) -> Value {
        let original = self.event.tool.as_ref().and_then(|call| call.output.as_ref());
        let (Value::String(text), Some(Value::Object(original))) = (changed, original) else {
            return changed.clone();
        };
        let Some(key) = OUTPUT_TEXT_KEYS.iter().find(|key| original.get(**key).is_some_and(Value::is_string)) else {
            return changed.clone();
        };
        let mut shaped = original.clone();
        shaped.insert((*key).to_owned(), text.as_str().into());
        Value::Object(shaped)
    }

    fn add_fields(&mut self, verdict: &Verdict) {
        // A refusal has these fields too.
        let is_refused = self.is_denied && self.row.fields.contains(&"action");
        for key in self.row.fields.iter().filter(|_| !is_refused) {
            if let Some(value) = verdict.extra.get(*key) {
                self.insert(&format!("hookSpecificOutput.{key}"), value.clone());
            }
        }
        for key in self.dialect.top_fields {
            if let Some(value) = verdict.extra.get(*key) {
                self.insert(key, value.clone());
            }
        }
    }

    /// Context that an event does not accept becomes a message to the user.
    fn add_context(&mut self, verdict: &Verdict) {
        let texts: Vec<_> = verdict.context.iter().map(String::as_str).filter(|text| !text.is_empty()).collect();
        if texts.is_empty() {
            return;
        }
        let continues = self.row.context_effect == ContextEffect::ContinueTurn;
        let is_accepted = !(continues && self.event.stop_hook_active == Some(true));
        if is_accepted && self.row.context.is_supported() {
            self.put(self.row.context, Some(&texts.join("\n")), None);
            self.continues_turn = continues;
        } else {
            self.messages.extend(texts.into_iter().map(str::to_owned));
        }
    }

    fn add_stop(&mut self, verdict: &Verdict) {
        let Some(reason) = &verdict.stop else {
            return;
        };
        if self.dialect.stop.is_supported() && !self.dialect.no_stop.contains(&self.event.name.as_str()) {
            self.put(self.dialect.stop, Some(reason).filter(|text| !text.is_empty()).map(String::as_str), None);
        } else if !self.is_denied {
            self.messages.push(reason.clone());
        }
    }

    /// Messages to the user. A product shows the reason for which the turn ends by itself.
    fn add_messages(&mut self, verdict: &Verdict) {
        let messages = verdict.messages.iter().filter(|text| Some(*text) != verdict.stop.as_ref());
        self.messages.extend(messages.cloned());
        self.messages.retain(|text| !text.is_empty());
        if let (Some(key), false) = (self.dialect.message, self.messages.is_empty()) {
            self.insert(key, self.messages.join("\n").into());
        }
    }

    /// Adds a part in its form. A field without its value is left out.
    fn put(&mut self, form: ReplyForm, text: Option<&str>, changed: Option<Value>) {
        match form {
            ReplyForm::Unsupported => {}
            ReplyForm::PlainText => self.plain_text = text.map(str::to_owned),
            ReplyForm::ExitCode => self.exit_reason = text.map(str::to_owned),
            ReplyForm::Json(fields) => {
                for (path, value) in fields {
                    let value = match value {
                        ReplyValue::Text => text.map(Value::from),
                        ReplyValue::Changed => changed.clone(),
                        ReplyValue::Word(word) => Some((*word).into()),
                        ReplyValue::True => Some(true.into()),
                        ReplyValue::False => Some(false.into()),
                    };
                    if let Some(value) = value {
                        self.insert(path, value);
                    }
                }
            }
        }
    }

    fn insert(&mut self, path: &str, value: Value) {
        match path.split_once('.') {
            None => {
                self.object.insert(path.to_owned(), value);
            }
            Some((outer, inner)) => {
                let object = self.object.entry(outer).or_insert_with(|| Value::Object(Map::new()));
                if let Value::Object(fields) = object {
                    insert_nested(fields, inner, value);
                }
            }
        }
    }

    fn into_reply(mut self) -> AgentReply {
        if let Some((outer, inner)) = self.dialect.event_name.and_then(|path| path.split_once('.'))
            && let Some(Value::Object(fields)) = self.object.get_mut(outer)
        {
            fields.shift_insert(0, inner.to_owned(), self.product.native_event_name(self.event).into());
        }
        let json = (!self.object.is_empty()).then(|| Value::Object(self.object).to_string());
        let is_exit = self.exit_reason.is_some();
        let refusal = self.refusal.or_else(|| self.exit_reason.clone());
        AgentReply {
            stdout: if is_exit { None } else { json.or(self.plain_text) },
            exit_code: if is_exit { EXIT_DENIED } else { 0 },
            stderr: self.exit_reason,
            refusal,
            continues_turn: self.continues_turn,
        }
    }
}

fn insert_nested(fields: &mut Map<String, Value>, path: &str, value: Value) {
    match path.split_once('.') {
        None => {
            fields.insert(path.to_owned(), value);
        }
        Some((outer, inner)) => {
            let object = fields.entry(outer).or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(fields) = object {
                insert_nested(fields, inner, value);
            }
        }
    }
}

/// The reason of a denial in place of a question that the product cannot ask.
fn refuse_question(product: &AgentProduct, reason: &str) -> String {
    format!(
        "{reason} Snell cannot ask the user in {}. The user can run it themselves, or allow it in snell.toml.",
        product.title
    )
}
