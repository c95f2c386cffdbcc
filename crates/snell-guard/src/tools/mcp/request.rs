//! The request of an MCP call: the tool's name, and every string of its input with its key.

use serde_json::Value as Json;

use super::tables::keys;
use super::tool_name::{McpToolName, split_identifier};

/// A string of the input.
#[derive(Clone, Copy)]
pub(super) struct InputLeaf<'a> {
    /// The nearest key above it.
    pub(super) key: &'a str,
    pub(super) text: &'a str,
}

/// The request of an MCP call.
pub(super) struct McpRequest<'a> {
    tool_name: &'a McpToolName,
    pub(super) input: &'a Json,
    pub(super) leaves: Vec<InputLeaf<'a>>,
    /// The words of the action in the input, if there is one.
    pub(super) action: Vec<String>,
    /// The words of the resource kind in the input.
    pub(super) kind: Vec<String>,
}

impl<'a> McpRequest<'a> {
    pub(super) fn new(tool_name: &'a McpToolName, input: &'a Json) -> Self {
        let leaves = collect_leaves(input);
        let one_word = |keys: &[&str]| {
            let found = leaves.iter().find(|leaf| is_key_named(leaf.key, keys) && is_identifier(leaf.text));
            found.map(|leaf| split_identifier(leaf.text)).unwrap_or_default()
        };
        Self { tool_name, input, action: one_word(keys::ACTIONS), kind: one_word(keys::RESOURCE_KINDS), leaves }
    }

    /// The words of the server's name.
    pub(super) fn server_words(&self) -> &'a [String] {
        &self.tool_name.server
    }

    /// The words of the tool's name.
    pub(super) fn tool_words(&self) -> &'a [String] {
        &self.tool_name.tool
    }

    /// Whether the server's name has one of these words.
    pub(super) fn has_server_word(&self, names: &[&str]) -> bool {
        self.tool_name.server.iter().any(|word| names.contains(&word.as_str()))
    }

    /// Whether the server's name has a word of one of these lists.
    pub(super) fn has_server_word_in(&self, lists: &[&[&str]]) -> bool {
        lists.iter().any(|names| self.has_server_word(names))
    }

    /// Whether the tool's name has one of these words.
    pub(super) fn has_tool_word(&self, names: &[&str]) -> bool {
        self.tool_name.tool.iter().any(|word| names.contains(&word.as_str()))
    }

    /// Whether the tool's name or the action in the input has one of these words.
    pub(super) fn has_action_word(&self, names: &[&str]) -> bool {
        self.has_tool_word(names) || self.action.iter().any(|word| names.contains(&word.as_str()))
    }

    /// Whether the server or the tool is about one of these.
    pub(super) fn is_about(&self, names: &[&str]) -> bool {
        self.has_server_word(names) || self.has_tool_word(names)
    }

    /// The strings at these keys, at any depth.
    pub(super) fn find_texts(&self, keys: &[&str]) -> Vec<&'a str> {
        let at = |leaf: &&InputLeaf<'a>| is_key_named(leaf.key, keys);
        self.leaves.iter().filter(at).map(|leaf| leaf.text).collect()
    }

    /// The strings at keys that end with one of these names.
    pub(super) fn texts_at_suffix<'k>(&self, suffixes: &'k [&str]) -> impl Iterator<Item = &'a str> + use<'_, 'a, 'k> {
        self.leaves.iter().filter(|leaf| has_key_suffix(leaf.key, suffixes)).map(|leaf| leaf.text)
    }

    /// The first string at one of these keys.
    pub(super) fn find_text(&self, keys: &[&str]) -> Option<&'a str> {
        self.leaves.iter().find(|leaf| is_key_named(leaf.key, keys)).map(|leaf| leaf.text)
    }

    /// The first value at one of these keys.
    pub(super) fn find_value(&self, keys: &[&str]) -> Option<&'a Json> {
        let mut found = None;
        walk_json(self.input, |key, value| {
            if found.is_none() && is_key_named(key, keys) {
                found = Some(value);
            }
        });
        found
    }

    /// Whether one of these keys is true.
    pub(super) fn has_flag(&self, keys: &[&str]) -> bool {
        self.find_value(keys).is_some_and(|value| match value {
            Json::Bool(so) => *so,
            Json::String(text) => matches!(text.to_ascii_lowercase().as_str(), "true" | "yes" | "1"),
            _ => false,
        })
    }

    /// Whether the request is a dry run.
    pub(super) fn is_dry_run(&self) -> bool {
        let has_dry_run_mode =
            self.find_text(&["dryrun"]).is_some_and(|text| matches!(text, "client" | "server" | "All"));
        has_dry_run_mode || self.has_flag(keys::DRY_RUN)
    }
}

/// Whether a key is one of these names, which are in lower case without separators.
pub(super) fn is_key_named(key: &str, names: &[&str]) -> bool {
    names.iter().any(|name| normalize_key(key).eq(name.bytes()))
}

/// Whether a key ends with one of these names: `cli_command` ends with `command`.
pub(super) fn has_key_suffix(key: &str, names: &[&str]) -> bool {
    let ends = |name: &str| {
        let mut letters = normalize_key(key).rev();
        name.bytes().rev().all(|letter| letters.next() == Some(letter))
    };
    names.iter().any(|name| ends(name))
}

/// The letters of a key, in lower case.
fn normalize_key(key: &str) -> impl DoubleEndedIterator<Item = u8> + '_ {
    key.bytes().filter(u8::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase())
}

fn is_identifier(text: &str) -> bool {
    const MAX_NAME: usize = 80;
    !text.is_empty() && text.len() <= MAX_NAME && text.chars().all(|c| c.is_alphanumeric() || "_-./:".contains(c))
}

fn collect_leaves(input: &Json) -> Vec<InputLeaf<'_>> {
    let mut leaves = Vec::new();
    walk_json(input, |key, value| {
        if let Json::String(text) = value {
            leaves.push(InputLeaf { key, text });
        }
    });
    leaves
}

/// Visits every value with the nearest key above it, in order. Does not recurse, because input may be nested without
/// limit.
pub(super) fn walk_json<'a>(input: &'a Json, mut see: impl FnMut(&'a str, &'a Json)) {
    let mut rest = vec![("", input)];
    while let Some((key, value)) = rest.pop() {
        see(key, value);
        match value {
            Json::Array(list) => rest.extend(list.iter().rev().map(|item| (key, item))),
            Json::Object(map) => rest.extend(map.iter().rev().map(|(key, item)| (key.as_str(), item))),
            _ => {}
        }
    }
}
