//! The parts of a hook's answer that a product accepts, read from its row, and the consequence if it does not accept one.
//!
//! `reply` decides that consequence. A test runs `snell hook` for every product and compares.

use std::fmt;

use super::AgentProduct;
use super::reply::{InputPolicy, OutputForm, ReplyForm, ReplyValue};
use crate::event::EventName;

/// Something that a hook can do to the call of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookCapability {
    /// It blocks a tool call.
    Block,
    /// The model reads the reason of a block.
    Reason,
    /// It asks the user.
    Ask,
    /// It changes the input of a tool.
    ChangeInput,
    /// It changes the output of a tool.
    ChangeOutput,
    /// It adds text that the model reads.
    Context,
    /// It ends the turn.
    Stop,
    /// A call does not run if it fails. For a product: if Snell itself fails.
    FailClosed,
}

/// Whether a product accepts a part of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CapabilitySupport {
    /// Yes.
    Yes,
    /// Yes, with this limit.
    Limited(&'static str),
    /// The model reads it on a later event.
    Later,
    /// The call is denied instead, with the reason or the changed input.
    Denied,
    /// The user reads a message instead.
    Message,
    /// No, and nothing happens instead.
    No,
}

/// The parts of a hook's answer that a product accepts.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AgentCapabilities {
    cells: [CapabilitySupport; HookCapability::ALL.len()],
    /// The events, by their canonical names, on which the model reads context.
    pub context_events: Vec<&'static str>,
    /// The events, by their canonical names, whose context the model reads on a later event.
    pub late_context_events: Vec<&'static str>,
    /// Whether the agent goes on if a hook blocks its end.
    pub goes_on: bool,
    /// Whether it shows messages of hooks to its user.
    pub shows_messages: bool,
}

impl HookCapability {
    /// Every capability, in the order of tables.
    pub const ALL: [Self; 8] = [
        Self::Block,
        Self::Reason,
        Self::Ask,
        Self::ChangeInput,
        Self::ChangeOutput,
        Self::Context,
        Self::Stop,
        Self::FailClosed,
    ];

    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Block => "block",
            Self::Reason => "reason",
            Self::Ask => "ask",
            Self::ChangeInput => "change_input",
            Self::ChangeOutput => "change_output",
            Self::Context => "context",
            Self::Stop => "stop",
            Self::FailClosed => "fail_closed",
        }
    }

    /// Its name for people.
    pub fn title(self) -> String {
        self.name().replace('_', " ")
    }
}

impl CapabilitySupport {
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::Limited(_) => "limited",
            Self::Later => "later",
            Self::Denied => "denied",
            Self::Message => "message",
            Self::No => "no",
        }
    }

    /// Its limit.
    pub fn limit(self) -> Option<&'static str> {
        match self {
            Self::Limited(limit) => Some(limit),
            _ => None,
        }
    }

    /// Whether the product does what the hook wants.
    pub fn is_supported(self) -> bool {
        matches!(self, Self::Yes | Self::Limited(_) | Self::Later)
    }
}

impl fmt::Display for CapabilitySupport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl AgentCapabilities {
    /// The support of one capability.
    pub fn support(&self, capability: HookCapability) -> CapabilitySupport {
        self.cells[capability as usize]
    }

    /// The support of context on this event.
    pub fn context_support(&self, event: &str) -> CapabilitySupport {
        if self.context_events.contains(&event) {
            CapabilitySupport::Yes
        } else if self.late_context_events.contains(&event) {
            CapabilitySupport::Later
        } else if self.shows_messages {
            CapabilitySupport::Message
        } else {
            CapabilitySupport::No
        }
    }
}

impl AgentProduct {
    /// The parts of a hook's answer that it accepts.
    pub fn capabilities(&self) -> AgentCapabilities {
        AgentCapabilities {
            cells: HookCapability::ALL.map(|capability| self.find_support(capability)),
            context_events: self.list_context_events(),
            late_context_events: self.list_late_context_events(),
            goes_on: self.reply.find_row("Stop").deny.is_supported() && self.fires_event("Stop"),
            shows_messages: self.reply.message.is_some(),
        }
    }

    fn find_support(&self, capability: HookCapability) -> CapabilitySupport {
        let noted = self.answer_notes.iter().find(|(noted, _)| *noted == capability);
        noted.map_or_else(|| self.derive_support(capability), |(_, support)| *support)
    }

    /// The support by the row's table of answers.
    fn derive_support(&self, capability: HookCapability) -> CapabilitySupport {
        use CapabilitySupport::{Denied, Limited, No, Yes};
        let call = self.reply.find_row("PreToolUse");
        let yes_or = |is_supported, other| if is_supported { Yes } else { other };
        match capability {
            HookCapability::Block => yes_or(call.deny.is_supported(), No),
            HookCapability::Reason => yes_or(call.deny.has_text(), No),
            HookCapability::Ask => yes_or(call.ask.is_supported(), Denied),
            HookCapability::ChangeInput if !call.input.is_supported() => Denied,
            HookCapability::ChangeInput if approves_call(call.input) => Limited("the changed call is approved, too"),
            HookCapability::ChangeInput if self.reply.input_policy == InputPolicy::Merge => {
                Limited("if a hook removes an argument, the call is denied")
            }
            HookCapability::ChangeInput => Yes,
            HookCapability::ChangeOutput => self.derive_output_support(),
            HookCapability::Context => yes_or(!self.list_context_events().is_empty(), self.message_support()),
            HookCapability::Stop if !self.reply.stop.is_supported() => Denied,
            HookCapability::Stop if self.reply.no_stop.contains(&"PreToolUse") => {
                Limited("before a tool call, only the call is denied")
            }
            HookCapability::Stop => Yes,
            // No table of answers tells what happens without an answer.
            HookCapability::FailClosed => No,
        }
    }

    fn derive_output_support(&self) -> CapabilitySupport {
        match self.reply.find_row("PostToolUse").output {
            _ if !self.fires_event("PostToolUse") => CapabilitySupport::No,
            OutputForm::Key(_) | OutputForm::Fields(_) | OutputForm::KeyByTool { .. } => CapabilitySupport::Yes,
            OutputForm::McpKey(_) => CapabilitySupport::Limited("only the output of MCP tools"),
            OutputForm::Unsupported => self.message_support(),
        }
    }

    fn message_support(&self) -> CapabilitySupport {
        if self.reply.message.is_some() { CapabilitySupport::Message } else { CapabilitySupport::No }
    }

    fn list_context_events(&self) -> Vec<&'static str> {
        let rows = self.reply.rows.iter().filter(|row| row.context.is_supported() && self.fires_event(row.event));
        rows.map(|row| row.event).collect()
    }

    /// The starts of sessions and prompts whose context waits for a later event.
    fn list_late_context_events(&self) -> Vec<&'static str> {
        let starts = [EventName::SessionStart, EventName::UserPromptSubmit].into_iter();
        let starts = starts.filter(|event| self.carries_context() && !self.accepts_context(event));
        let names = starts
            .filter_map(|event| ["SessionStart", "UserPromptSubmit"].into_iter().find(|name| *name == event.as_str()));
        names.filter(|event| self.fires_event(event)).collect()
    }

    /// Whether an event or a notification tells that it asks for permission.
    pub fn reports_permissions(&self) -> bool {
        let notifies = self.fires_event("Notification") && !self.notifications.needs_input.is_empty();
        notifies || self.fires_event("PermissionRequest")
    }

    /// Whether it has an event of this canonical name.
    pub fn fires_event(&self, canonical: &str) -> bool {
        self.events.iter().any(|native| {
            let row = self.find_event_row(native);
            row.map_or(*native, |row| row.canonical) == canonical
        })
    }
}

/// Whether a form of a changed input skips the user's own permission prompt.
fn approves_call(form: ReplyForm) -> bool {
    match form {
        ReplyForm::Json(fields) => fields.iter().any(|(_, value)| *value == ReplyValue::Word("allow")),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_about_a_product_adds_what_its_table_of_answers_does_not_tell() {
        for product in AgentProduct::all() {
            for (index, (capability, support)) in product.answer_notes.iter().enumerate() {
                let name = product.name;
                assert_ne!(product.derive_support(*capability), *support, "{name} {capability:?}");
                let is_same = |(earlier, _): &(HookCapability, CapabilitySupport)| earlier == capability;
                assert!(!product.answer_notes[..index].iter().any(is_same), "{name} {capability:?}");
            }
        }
    }

    #[test]
    fn a_cell_is_found_by_its_capability() {
        for (index, capability) in HookCapability::ALL.iter().enumerate() {
            assert_eq!(*capability as usize, index);
        }
    }
}
