//! `[comms]`: which tools send messages, and to whom they may.

use std::path::{Path, PathBuf};

use super::values::{read_checked_text, resolve_in_home};
use crate::config::reader::{ConfigReader, ObjectFields};
use crate::config::spanned::{NodeValue, SpannedNode};
use crate::matcher::{Glob, GlobDialect};

/// What a tool does with messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageUse {
    /// It sends one.
    Sends,
    /// It writes one that somebody else will send.
    Drafts,
    /// Nothing that reaches people.
    Nothing,
}

/// Which tools send messages, and to whom they may.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CommsSettings {
    /// Patterns of tools that send, beside those that are known to.
    pub send: Vec<String>,
    /// Patterns of tools that draft, beside those that are known to.
    pub draft: Vec<String>,
    /// Patterns of tools that do neither, whatever else is said of them.
    pub except: Vec<String>,
    /// Fields of a tool's input that name recipients, beside those that are known to.
    pub recipients: Vec<String>,
    /// The contacts file, in full if the home directory is known.
    pub contacts: Option<PathBuf>,
}

/// The keys of `[comms]`.
pub(super) const COMMS_KEYS: &[&str] = &["send", "draft", "except", "recipients", "contacts"];

impl CommsSettings {
    /// What the user says that this tool does; nothing if they say nothing of it.
    pub fn classify_tool(&self, tool: &str) -> Option<MessageUse> {
        let said =
            [(&self.except, MessageUse::Nothing), (&self.send, MessageUse::Sends), (&self.draft, MessageUse::Drafts)];
        let is_like = |pattern: &String| Glob::new(pattern, GlobDialect::PLAIN_CASELESS).matches(tool);
        let names_it = |patterns: &[String]| patterns.iter().any(is_like);
        said.into_iter().find(|(patterns, _)| names_it(patterns)).map(|(_, said)| said)
    }

    /// These, and those of an earlier file where these say nothing.
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

    /// The same, with paths that begin in this home directory in full.
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

/// A list of which each item counts by itself: one that is wrong must not cost the others.
fn read_names(reader: &mut ConfigReader<'_>, fields: &ObjectFields<'_>, key: &str, example: &str) -> Vec<String> {
    let Some(node) = fields.get(key) else {
        return Vec::new();
    };
    let NodeValue::Array(items) = &node.value else {
        let kind = reader.kind_name(node);
        reader.add_error(node.offset, format!("\"{key}\" must be an array, not {kind}; write {key} = [{example}]"));
        return Vec::new();
    };
    let check = |name: String| match name.trim() {
        "" => Err(format!("has an empty item; write {example}, or remove it")),
        name => Ok(name.to_owned()),
    };
    items.iter().filter_map(|item| read_checked_text(reader, item, key, check)).collect()
}

fn check_contacts_path(text: String) -> Result<PathBuf, String> {
    if text.trim().is_empty() {
        return Err("is empty; write the path of the contacts file (the default counts now)".into());
    }
    Ok(text.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::discovery::FileOwner;
    use crate::config::source::ConfigSource;

    #[test]
    fn what_is_wrong_costs_nothing_else_and_is_said() {
        let text =
            "send = \"mcp__x__fly\"\ndraft = [\"mcp__x__note\", 3, \" \"]\ncontacts = \"\"\nrecipient = [\"to\"]\n";
        let source = ConfigSource::from_text("snell.toml".into(), text.into());
        let mut reading = ConfigReader::new(&source, FileOwner::User);
        let settings = read_comms(&mut reading, &SpannedNode::from_toml(text).unwrap());
        let expected = CommsSettings { draft: vec!["mcp__x__note".into()], ..CommsSettings::default() };
        assert_eq!(settings, expected);
        let findings: Vec<_> = reading.diagnostics.iter().map(ToString::to_string).collect();
        let expected = [
            "snell.toml:4:1: warning: unknown key \"recipient\" in [comms] (did you mean \"recipients\"?); it has no effect",
            "snell.toml:1:8: error: \"send\" must be an array, not a string; write send = [\"mcp__mail__send_*\"]",
            "snell.toml:2:26: error: \"draft\" must be a string, not a number",
            "snell.toml:2:29: error: \"draft\" has an empty item; write \"mcp__mail__send_*\", or remove it",
            "snell.toml:3:12: error: \"contacts\" is empty; write the path of the contacts file (the default counts now)",
        ];
        assert_eq!(findings, expected);
    }

    #[test]
    fn what_the_user_says_of_a_tool_counts_in_this_order() {
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
    fn of_two_files_the_later_counts_where_it_says_something() {
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
