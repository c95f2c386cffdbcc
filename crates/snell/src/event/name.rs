//! The canonical event names and their aliases, as one table.

use std::fmt;

/// The name of an event.
///
/// Canonical names are Claude Code's, because most hook files use them. Any other name is kept as [`EventName::Other`]:
/// hooks can match it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EventName {
    /// A session begins, resumes, or starts over after a compaction.
    SessionStart,
    /// The user submitted a prompt.
    UserPromptSubmit,
    /// A tool is about to run.
    PreToolUse,
    /// The agent asks for permission to run a tool.
    PermissionRequest,
    /// A tool ran.
    PostToolUse,
    /// A tool ran and failed.
    PostToolUseFailure,
    /// The agent has a message for the user.
    Notification,
    /// A sub-agent starts.
    SubagentStart,
    /// A sub-agent ends its turn.
    SubagentStop,
    /// The agent ends its turn.
    Stop,
    /// The conversation is about to be compacted.
    PreCompact,
    /// The conversation was compacted.
    PostCompact,
    /// A session ends.
    SessionEnd,
    /// An agent began to wait for its user.
    NeedsUser,
    /// An agent ended its turn and waits for a prompt.
    AgentIdle,
    /// An agent ended, with or without an event of its own.
    AgentEnded,
    /// An event that is not in the table, with its original name.
    Other(String),
}

/// One row of the vocabulary.
struct EventNameRow {
    event: EventName,
    name: &'static str,
    aliases: &'static [&'static str],
}

static EVENT_NAME_ROWS: [EventNameRow; 16] = [
    event_name_row(EventName::SessionStart, "SessionStart", &["session-start"]),
    event_name_row(
        EventName::UserPromptSubmit,
        "UserPromptSubmit",
        &["UserPrompt", "BeforeAgent", "user-prompt-submit"],
    ),
    event_name_row(EventName::PreToolUse, "PreToolUse", &["BeforeTool", "pre-tool-use"]),
    event_name_row(EventName::PermissionRequest, "PermissionRequest", &["permission-request"]),
    event_name_row(EventName::PostToolUse, "PostToolUse", &["AfterTool", "post-tool-use"]),
    event_name_row(EventName::PostToolUseFailure, "PostToolUseFailure", &[]),
    event_name_row(EventName::Notification, "Notification", &["notification"]),
    event_name_row(EventName::SubagentStart, "SubagentStart", &[]),
    event_name_row(EventName::SubagentStop, "SubagentStop", &[]),
    event_name_row(EventName::Stop, "Stop", &["AfterAgent", "stop"]),
    event_name_row(EventName::PreCompact, "PreCompact", &["PreCompress"]),
    event_name_row(EventName::PostCompact, "PostCompact", &[]),
    event_name_row(EventName::SessionEnd, "SessionEnd", &["session-end"]),
    event_name_row(EventName::NeedsUser, "NeedsUser", &[]),
    event_name_row(EventName::AgentIdle, "AgentIdle", &[]),
    event_name_row(EventName::AgentEnded, "AgentEnded", &[]),
];

const fn event_name_row(event: EventName, name: &'static str, aliases: &'static [&'static str]) -> EventNameRow {
    EventNameRow { event, name, aliases }
}

impl EventName {
    /// Parses a canonical name or an alias. Any other name becomes [`EventName::Other`].
    pub fn parse(name: &str) -> Self {
        Self::parse_known(name).unwrap_or_else(|| Self::Other(name.to_owned()))
    }

    /// Parses a canonical name or an alias. Returns `None` for an unknown name.
    pub fn parse_known(name: &str) -> Option<Self> {
        EVENT_NAME_ROWS.iter().find(|row| row.name == name || row.aliases.contains(&name)).map(|row| row.event.clone())
    }

    /// The canonical name, or the original name of an unknown event.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Other(name) => name,
            known => EVENT_NAME_ROWS.iter().find(|row| row.event == *known).map_or("", |row| row.name),
        }
    }

    /// Every name that [`EventName::parse_known`] accepts, canonical names first in each row.
    pub fn all_names() -> impl Iterator<Item = &'static str> {
        EVENT_NAME_ROWS.iter().flat_map(|row| std::iter::once(row.name).chain(row.aliases.iter().copied()))
    }

    /// Whether this is a canonical event, or an event of some agent or contract.
    pub fn is_known(&self) -> bool {
        match self {
            Self::Other(name) => {
                let name = name.as_str();
                crate::contract::is_known_event(name)
                    || crate::agents::AgentProduct::all().iter().any(|agent| agent.events.contains(&name))
            }
            _ => true,
        }
    }

    /// The known name that is nearest to an unknown one.
    pub fn suggest_name(name: &str) -> Option<&'static str> {
        if crate::contract::is_known_event(name) {
            return None;
        }
        crate::diagnostic::did_you_mean(name, Self::all_names()).filter(|near| *near != name)
    }

    /// The canonical names, in the order of a session.
    pub fn canonical_names() -> impl Iterator<Item = &'static str> {
        EVENT_NAME_ROWS.iter().map(|row| row.name)
    }

    /// Whether the event is about one tool call, so that a matcher compares a tool.
    pub fn is_tool_event(&self) -> bool {
        matches!(self, Self::PreToolUse | Self::PermissionRequest | Self::PostToolUse | Self::PostToolUseFailure)
    }

    /// Whether Snell itself derives the event from a change of an agent's state. Only hooks of a `snell.toml` get it.
    pub fn is_derived(&self) -> bool {
        matches!(self, Self::NeedsUser | Self::AgentIdle | Self::AgentEnded)
    }
}

impl fmt::Display for EventName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_and_alias_leads_to_exactly_one_row() {
        for name in EventName::all_names() {
            let owners = EVENT_NAME_ROWS.iter().filter(|row| row.name == name || row.aliases.contains(&name)).count();
            assert_eq!(owners, 1, "{name}");
            let event = EventName::parse(name);
            assert_eq!(EventName::parse(event.as_str()), event, "{name}");
        }
    }

    #[test]
    fn what_was_meant_is_found_for_slips_of_the_pen_only() {
        let cases = [("PreToolUze", Some("PreToolUse")), ("PreToolUse", None), ("Setup", None), ("Banana", None)];
        for (name, meant) in cases {
            assert_eq!(EventName::suggest_name(name), meant, "{name}");
        }
    }

    #[test]
    fn a_name_that_no_row_knows_is_kept() {
        let event = EventName::parse("TeammateIdle");
        assert_eq!(event, EventName::Other("TeammateIdle".into()));
        assert_eq!(event.as_str(), "TeammateIdle");
    }
}
