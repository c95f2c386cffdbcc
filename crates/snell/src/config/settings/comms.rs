//! `[comms]`: which tools send messages, and to whom they may.

use std::path::{Path, PathBuf};

use super::values::{read_checked_text, resolve_in_home};
use crate::config::reader::{ConfigReader, ObjectFields};
use crate::config::spanned::{NodeValue, SpannedNode};
use crate::diagnostic::UserMessage;
use crate::matcher::{Glob, GlobDialect};

/// How a tool handles messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageUse {
    /// It sends one.
    Sends,
    /// It writes a draft, which a person or another program sends.
    Drafts,
    /// Nothing that reaches people.
    Nothing,
}

/// Which tools send messages, and to whom they may.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CommsSettings {
    /// Patterns of further tools that send.
    pub send: Vec<String>,
    /// Patterns of further tools that draft.
    pub draft: Vec<String>,
    /// Patterns of tools that do neither. They override the other lists.
    pub except: Vec<String>,
    /// Further fields of a tool's input that name recipients.
    pub recipients: Vec<String>,
    /// The contacts file, in full if the home directory is known.
    pub contacts: Option<PathBuf>,
}

/// The keys of `[comms]`.
pub(super) const COMMS_KEYS: &[&str] = &["send", "draft", "except", "recipients", "contacts"];

impl CommsSettings {
    /// How the user classifies this tool, if they do.
    pub fn classify_tool(&self, tool: &str) -> Option<MessageUse> {
        let lists =
            [(&self.except, MessageUse::Nothing), (&self.send, MessageUse::Sends), (&self.draft, MessageUse::Drafts)];
        let is_like = |pattern: &String| Glob::new(pattern, GlobDialect::PLAIN_CASELESS).matches(tool);
        let names_it = |patterns: &[String]| patterns.iter().any(is_like);
        lists.into_iter().find(|(patterns, _)| names_it(patterns)).map(|(_, message_use)| message_use)
    }

    /// Fills keys that these settings lack from an earlier file.
    pub(super) fn merge_over(self, earlier: Self) -> Self {
        let or = |list: Vec<String>, earlier: Vec<String>| if list.is_empty() { earlier } else { list };
        Self {
            send: or(self.send, earlier.send),
            draft: or(self.draft, earlier.draft),
            except: or(self.except, earlier.except),
            recipients: or(self.recipients, earlier.recipients),
            contacts: self.contacts.or(earlier.contacts),
        }
    }

    /// The same with absolute paths.
    pub(super) fn resolve_paths(self, home: Option<&Path>) -> Self {
        Self { contacts: self.contacts.map(|path| resolve_in_home(&path, home)), ..self }
    }
}

pub(super) fn read_comms(reader: &mut ConfigReader<'_>, node: &SpannedNode) -> CommsSettings {
    let Some(fields) = reader.read_table(node, "[comms]", COMMS_KEYS) else {
        return CommsSettings::default();
    };
    CommsSettings {
        send: read_names(reader, &fields, "send", TOOL_EXAMPLE),
        draft: read_names(reader, &fields, "draft", TOOL_EXAMPLE),
        except: read_names(reader, &fields, "except", TOOL_EXAMPLE),
        recipients: read_names(reader, &fields, "recipients", FIELD_EXAMPLE),
        contacts: fields
            .get("contacts")
            .and_then(|node| read_checked_text(reader, node, "contacts", check_contacts_path)),
    }
}

const TOOL_EXAMPLE: &str = "\"mcp__mail__send_*\"";
const FIELD_EXAMPLE: &str = "\"thread_id\"";

/// A list whose valid items are used even if others are invalid.
fn read_names(reader: &mut ConfigReader<'_>, fields: &ObjectFields<'_>, key: &str, example: &str) -> Vec<String> {
    let Some(node) = fields.get(key) else {
        return Vec::new();
    };
    let NodeValue::Array(items) = &node.value else {
        let kind = reader.kind_name(node);
        let message = UserMessage::new(format!("\"{key}\" must be an array, not {kind}"));
        reader.add_error(node.offset, message.with_hint(format!("write {key} = [{example}]")));
        return Vec::new();
    };
    let check =
        |name: String| match name.trim() {
            "" => Err(UserMessage::new("has an empty item")
                .with_hint(format!("write a name such as {example}, or remove it"))),
            name => Ok(name.to_owned()),
        };
    items.iter().filter_map(|item| read_checked_text(reader, item, key, check)).collect()
}

fn check_contacts_path(text: String) -> Result<PathBuf, UserMessage> {
    if text.trim().is_empty() {
        return Err(UserMessage::new("is empty (using the default)").with_hint("write the path of the contacts file"));
    }
    Ok(text.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::discovery::FileOwner;
    use crate::config::source::ConfigSource;

    #[test]
    fn invalid_values_are_reported_and_the_others_are_used() {
        let text =
            "send = \"mcp__x__fly\"\ndraft = [\"mcp__x__note\", 3, \" \"]\ncontacts = \"\"\nrecipient = [\"to\"]\n";
        let source = ConfigSource::from_text("snell.toml".into(), text.into());
        let mut reading = ConfigReader::new(&source, FileOwner::User);
        let settings = read_comms(&mut reading, &SpannedNode::from_toml(text).unwrap());
        let expected = CommsSettings { draft: vec!["mcp__x__note".into()], ..CommsSettings::default() };
        assert_eq!(settings, expected);
        let findings: Vec<_> = reading.diagnostics.iter().map(ToString::to_string).collect();
        let expected = [
            "snell.toml:4:1: warning: unknown key \"recipient\" in [comms] (hint: did you mean \"recipients\"?)",
            "snell.toml:1:8: error: \"send\" must be an array, not a string (hint: write send = [\"mcp__mail__send_*\"])",
            "snell.toml:2:26: error: \"draft\" must be a string, not a number",
            "snell.toml:2:29: error: \"draft\" has an empty item (hint: write a name such as \"mcp__mail__send_*\", or remove it)",
            "snell.toml:3:12: error: \"contacts\" is empty (using the default) (hint: write the path of the contacts file)",
        ];
        assert_eq!(findings, expected);
    }

    #[test]
    fn except_comes_before_send_and_send_before_draft() {
        let texts = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let settings = CommsSettings {
            send: texts(&["mcp__pigeon__*"]),
            draft: texts(&["mcp__pigeon__note", "MCP__owl__?end"]),
            except: texts(&["mcp__pigeon__feed*"]),
            ..CommsSettings::default()
        };
        let cases = [
            ("mcp__pigeon__fly", Some(MessageUse::Sends)),
            ("MCP__Pigeon__Fly", Some(MessageUse::Sends)),
            ("mcp__pigeon__note", Some(MessageUse::Sends)),
            ("mcp__owl__send", Some(MessageUse::Drafts)),
            ("mcp__pigeon__feed_all", Some(MessageUse::Nothing)),
            ("mcp__pigeon", None),
            ("xmcp__pigeon__fly", None),
        ];
        for (tool, expected) in cases {
            assert_eq!(settings.classify_tool(tool), expected, "{tool}");
        }
        assert_eq!(CommsSettings::default().classify_tool("mcp__mail__send"), None);
    }

    #[test]
    fn a_later_file_overrides_the_keys_that_it_sets() {
        let earlier = CommsSettings {
            send: vec!["earlier".into()],
            contacts: Some("earlier".into()),
            ..CommsSettings::default()
        };
        let later = CommsSettings { contacts: Some("later".into()), ..CommsSettings::default() };
        let both = later.merge_over(earlier).resolve_paths(Some(Path::new("/home/me")));
        assert_eq!(both.send, ["earlier"]);
        assert_eq!(both.contacts.as_deref(), Some(Path::new("/home/me/later")));
    }
}
