//! Finds the hooks in a file: those of Snell, and those of other tools.

use snell::{EntryNesting, JsonRegistration, NodeValue, RegistrationFormat, SpannedNode};

use super::handler::{HandlerCommand, InstallMode};
use super::jsonc::{JsonPathStep, SettingsDocument, SettingsFault};
use super::recognize::EntryRecognizer;
use super::{own_file, toml_hooks};

/// The key of hooks.
pub(crate) const HOOKS: &str = "hooks";

/// A handler in a settings file.
#[derive(Clone, Debug)]
pub(crate) struct RegisteredHandler {
    pub(crate) event: String,
    /// Its position in the list of the event, or of all events.
    pub(crate) group: usize,
    /// Its position in its group, if handlers have groups.
    pub(crate) handler: Option<usize>,
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
    pub(super) conditions: Vec<String>,
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

    /// The path to the handler in a JSON file.
    pub(super) fn json_path(&self) -> Vec<JsonPathStep<'_>> {
        let mut path = vec![JsonPathStep::Key(HOOKS), JsonPathStep::Key(&self.event), JsonPathStep::Item(self.group)];
        if let Some(handler) = self.handler {
            path.extend([JsonPathStep::Key(HOOKS), JsonPathStep::Item(handler)]);
        }
        path
    }
}

/// Every handler of a file, in its order. `events` are those for which the file is, if it cannot tell.
pub(crate) fn scan_text(
    text: &str,
    events: &[&'static str],
    signs: &EntryRecognizer,
) -> Result<Vec<RegisteredHandler>, SettingsFault> {
    match &signs.format {
        RegistrationFormat::Json(_) => Ok(scan_handlers(&SettingsDocument::parse(text)?, signs)),
        RegistrationFormat::Toml(form) => toml_hooks::scan_tables(text, form, signs),
        RegistrationFormat::OwnFile(template) => Ok(own_file::scan_file(text, template, events, signs)),
    }
}

/// Snell's own handlers in a file.
pub(crate) fn find_own_in_text(
    text: &str,
    events: &[&'static str],
    signs: &EntryRecognizer,
) -> Result<Vec<RegisteredHandler>, SettingsFault> {
    let mut handlers = scan_text(text, events, signs)?;
    handlers.retain(|handler| handler.way.is_some());
    Ok(handlers)
}

/// The form of the JSON files that these signs are for.
pub(super) fn json_form(signs: &EntryRecognizer) -> JsonRegistration {
    match signs.format {
        RegistrationFormat::Json(form) => form,
        // Files of other formats are not read as JSON.
        RegistrationFormat::Toml(_) | RegistrationFormat::OwnFile(_) => JsonRegistration::SHELL_GROUPS,
    }
}

/// Every handler, in the order of the file.
pub(crate) fn scan_handlers(document: &SettingsDocument, signs: &EntryRecognizer) -> Vec<RegisteredHandler> {
    let mut found = Vec::new();
    let form = json_form(signs);
    let hooks = document.node_at(&[JsonPathStep::Key(HOOKS)]);
    let members = hooks.and_then(SpannedNode::members).unwrap_or_default();
    for (index, member) in members.iter().enumerate() {
        // Of several members with one name, the last one applies.
        let is_last = members.iter().rposition(|other| other.key == member.key) == Some(index);
        let groups = member.node.items().filter(|_| is_last).unwrap_or_default();
        for (group, node) in groups.iter().enumerate() {
            let matcher = node.get("matcher").and_then(SpannedNode::text).filter(|text| !matches!(*text, "" | "*"));
            let at = |handler, node: &SpannedNode| {
                let call = HandlerCommand::from_handler(node, &form);
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
                    description: describe_handler(node, &form),
                }
            };
            if form.nesting == EntryNesting::Handlers {
                found.push(at(None, node));
                continue;
            }
            let handlers = node.get(HOOKS).and_then(SpannedNode::items).unwrap_or_default();
            found.extend(handlers.iter().enumerate().map(|(handler, node)| at(Some(handler), node)));
            // Some tools write paths of scripts there.
            found.extend(node.text().map(|_| at(Some(0), node)));
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

fn describe_handler(node: &SpannedNode, form: &JsonRegistration) -> String {
    let text = |key| node.get(key).and_then(SpannedNode::text);
    match (HandlerCommand::from_handler(node, form), node.text()) {
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
        let form = json_form(signs);
        members.retain(|(key, _)| form.root.iter().all(|(name, _)| name != key));
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
