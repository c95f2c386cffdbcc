//! Finds the hooks in a settings file: those of Snell, and those of other tools.

use super::handler::{HandlerCommand, InstallMode};
use snell::{NodeValue, SpannedNode};

use super::jsonc::{JsonPathStep, SettingsDocument, SettingsFault};
use super::recognize::EntryRecognizer;

/// The key of hooks.
pub(crate) const HOOKS: &str = "hooks";

/// A handler in a settings file.
#[derive(Clone, Debug)]
pub(crate) struct RegisteredHandler {
    pub(crate) event: String,
    /// Its position: the group of the event, and the handler in it.
    group: usize,
    handler: usize,
    pub(crate) line: usize,
    /// How it is started; nothing if it starts no program.
    pub(crate) call: Option<HandlerCommand>,
    /// Its program and arguments, if the command is simple.
    pub(crate) words: Vec<String>,
    /// How it calls Snell, if it does.
    pub(crate) way: Option<InstallMode>,
    /// The matcher of its group, unless it matches everything.
    pub(super) matcher: Option<String>,
    /// Other conditions under which it is not called, or not awaited.
    conditions: Vec<String>,
    /// Its description for people.
    pub(crate) description: String,
}

impl RegisteredHandler {
    /// Its program; empty if unknown.
    pub(crate) fn program(&self) -> &str {
        self.words.first().map_or("", String::as_str)
    }

    /// Conditions under which it is not called, or not awaited.
    pub(crate) fn limits(&self) -> Vec<String> {
        let matcher = self.matcher.iter().map(|matcher| format!("only for \"{matcher}\""));
        matcher.chain(self.conditions.iter().cloned()).collect()
    }

    /// The path to the handler.
    pub(super) fn json_path(&self) -> [JsonPathStep<'_>; 5] {
        [
            JsonPathStep::Key(HOOKS),
            JsonPathStep::Key(&self.event),
            JsonPathStep::Item(self.group),
            JsonPathStep::Key(HOOKS),
            JsonPathStep::Item(self.handler),
        ]
    }
}

/// Every handler, in the order of the file.
pub(crate) fn scan_handlers(document: &SettingsDocument, signs: &EntryRecognizer) -> Vec<RegisteredHandler> {
    let mut found = Vec::new();
    let hooks = document.node_at(&[JsonPathStep::Key(HOOKS)]);
    let members = hooks.and_then(SpannedNode::members).unwrap_or_default();
    for (index, member) in members.iter().enumerate() {
        // Of several members with one name, the last one applies.
        let is_last = members.iter().rposition(|other| other.key == member.key) == Some(index);
        let groups = member.node.items().filter(|_| is_last).unwrap_or_default();
        for (group, node) in groups.iter().enumerate() {
            let matcher = node.get("matcher").and_then(SpannedNode::text).filter(|text| !matches!(*text, "" | "*"));
            let at = |handler, node: &SpannedNode| {
                let call = HandlerCommand::from_handler(node);
                RegisteredHandler {
                    event: member.key.clone(),
                    group,
                    handler,
                    line: document.line_number(node),
                    words: call.as_ref().and_then(|call| signs.command_words(call)).unwrap_or_default(),
                    way: call.as_ref().and_then(|call| signs.recognize(call)),
                    call,
                    matcher: matcher.map(str::to_owned),
                    conditions: find_conditions(node),
                    description: describe_handler(node),
                }
            };
            let handlers = node.get(HOOKS).and_then(SpannedNode::items).unwrap_or_default();
            found.extend(handlers.iter().enumerate().map(|(handler, node)| at(handler, node)));
            // Some tools write paths of scripts there.
            found.extend(node.text().map(|_| at(0, node)));
        }
    }
    found
}

/// Conditions of the handler itself.
fn find_conditions(handler: &SpannedNode) -> Vec<String> {
    let only_if = handler.get("if").and_then(SpannedNode::text);
    let only_if = only_if.map(|rule| format!("only if \"{rule}\""));
    let unheard = handler.get("async").filter(|node| node.is_true());
    only_if.into_iter().chain(unheard.map(|_| "without waiting for the answer (async)".into())).collect()
}

fn describe_handler(node: &SpannedNode) -> String {
    let text = |key| node.get(key).and_then(SpannedNode::text);
    match (HandlerCommand::from_handler(node), node.text()) {
        (Some(call), _) => call.to_string(),
        (None, Some(script)) => script.to_owned(),
        (None, None) => {
            let what = ["command", "url", "tool", "prompt"].into_iter().find_map(text).unwrap_or_default();
            format!("{} {what}", text("type").unwrap_or("?"))
        }
    }
}

/// Snell's own handlers, in the order of the file.
pub(crate) fn find_own_handlers(document: &SettingsDocument, signs: &EntryRecognizer) -> Vec<RegisteredHandler> {
    let mut handlers = scan_handlers(document, signs);
    handlers.retain(|handler| handler.way.is_some());
    handlers
}

/// Checks that entries can be added for these events.
pub(super) fn check_shape<'a>(
    document: &SettingsDocument,
    events: impl Iterator<Item = &'a str>,
) -> Result<(), SettingsFault> {
    let Some(root) = document.root() else {
        return Ok(());
    };
    if root.members().is_none() {
        return Err(build_kind_fault("the file", "an object", root));
    }
    let Some(hooks) = root.get(HOOKS) else {
        return Ok(());
    };
    if hooks.members().is_none() {
        return Err(build_kind_fault("\"hooks\"", "an object", hooks));
    }
    for event in events {
        if let Some(node) = hooks.get(event).filter(|node| node.items().is_none()) {
            return Err(build_kind_fault(&format!("\"{event}\""), "an array", node));
        }
    }
    Ok(())
}

fn build_kind_fault(what: &str, kind: &str, found: &SpannedNode) -> SettingsFault {
    let found_kind = if found.text().is_some() { "a string" } else { found.kind_name() };
    SettingsFault { at: found.offset, message: format!("{what} must be {kind}, not {found_kind}") }
}

/// A value without its position and layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum JsonContent {
    Object(Vec<(String, JsonContent)>),
    Array(Vec<JsonContent>),
    Text(String),
    /// Any other value, as it is written.
    Other(String),
}

impl JsonContent {
    fn from_node(node: &SpannedNode, document: &SettingsDocument) -> Self {
        let convert = |node: &SpannedNode| Self::from_node(node, document);
        match &node.value {
            NodeValue::Object(members) => {
                Self::Object(members.iter().map(|member| (member.key.clone(), convert(&member.node))).collect())
            }
            NodeValue::Array(items) => Self::Array(items.iter().map(convert).collect()),
            NodeValue::String(text) => Self::Text(text.clone()),
            _ => Self::Other(document.text_of(node).to_owned()),
        }
    }
}

/// The content of a file without Snell's handlers and without empty containers.
pub(super) fn strip_own_handlers(document: &SettingsDocument, signs: &EntryRecognizer) -> JsonContent {
    let nothing = JsonContent::Object(Vec::new());
    let Some(root) = document.root() else {
        return nothing;
    };
    let own = find_own_handlers(document, signs);
    let mut meaning = JsonContent::from_node(root, document);
    for handler in own.iter().rev() {
        remove_at_path(&mut meaning, &handler.json_path());
    }
    if let JsonContent::Object(members) = &mut meaning {
        for (key, value) in members.iter_mut() {
            if let (HOOKS, JsonContent::Object(events)) = (key.as_str(), value) {
                events.retain(|(_, groups)| *groups != JsonContent::Array(Vec::new()));
            }
        }
        members.retain(|(key, value)| key != HOOKS || *value != nothing);
    }
    meaning
}

/// Removes a handler, and its group if it is then empty.
fn remove_at_path(meaning: &mut JsonContent, path: &[JsonPathStep<'_>]) {
    let Some((step, rest)) = path.split_first() else {
        return;
    };
    match (step, meaning) {
        (JsonPathStep::Key(key), JsonContent::Object(members)) => {
            if let Some((_, value)) = members.iter_mut().rfind(|(name, _)| name == key) {
                remove_at_path(value, rest);
            }
        }
        (JsonPathStep::Item(index), JsonContent::Array(items)) if *index < items.len() => {
            remove_at_path(&mut items[*index], rest);
            if rest.is_empty() || has_no_handlers(&items[*index]) {
                items.remove(*index);
            }
        }
        _ => {}
    }
}

fn has_no_handlers(group: &JsonContent) -> bool {
    matches!(group, JsonContent::Object(members)
        if members.iter().any(|(key, value)| key == HOOKS && *value == JsonContent::Array(Vec::new())))
}
