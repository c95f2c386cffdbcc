//! What a settings file says about hooks: which are Snell's, and which are somebody else's.

use super::document::{Document, Fault, Meaning, Node, Step};
use super::entry::{Call, Way};
use super::signs::Signs;

/// The member that hooks stand in.
pub(crate) const HOOKS: &str = "hooks";

/// A handler in a settings file.
#[derive(Clone, Debug)]
pub(crate) struct Registered {
    pub(crate) event: String,
    /// Where it stands: the entry of the event, and the handler in it.
    group: usize,
    handler: usize,
    pub(crate) line: usize,
    /// How it is started; nothing for one that starts no program.
    pub(crate) call: Option<Call>,
    /// Its program and arguments, if it is simple enough for that.
    pub(crate) words: Vec<String>,
    /// The way in which it is Snell's, if it is.
    pub(crate) way: Option<Way>,
    /// What its entry is for, unless that is everything.
    matcher: Option<String>,
    /// What else keeps it from being called, or heard, every time.
    conditions: Vec<String>,
    /// How it is shown to people.
    pub(crate) shown: String,
}

impl Registered {
    /// The program that is started; nothing if that cannot be told.
    pub(crate) fn program(&self) -> &str {
        self.words.first().map_or("", String::as_str)
    }

    /// What keeps it from being called, or heard, every time.
    pub(crate) fn limits(&self) -> Vec<String> {
        let matcher = self.matcher.iter().map(|matcher| format!("only for \"{matcher}\""));
        matcher.chain(self.conditions.iter().cloned()).collect()
    }

    /// Whether its entry is for everything.
    pub(super) fn is_in_an_open_group(&self) -> bool {
        self.matcher.is_none()
    }

    /// The way to the handler.
    pub(super) fn path(&self) -> [Step<'_>; 5] {
        [
            Step::Key(HOOKS),
            Step::Key(&self.event),
            Step::Item(self.group),
            Step::Key(HOOKS),
            Step::Item(self.handler),
        ]
    }
}

/// Every handler, in the order of the file.
pub(crate) fn handlers(document: &Document, signs: &Signs) -> Vec<Registered> {
    let mut found = Vec::new();
    let hooks = document.at(&[Step::Key(HOOKS)]);
    let members = hooks.and_then(Node::members).unwrap_or_default();
    for (index, member) in members.iter().enumerate() {
        // Of several members of one name only the last counts.
        let is_last = members.iter().rposition(|other| other.key == member.key) == Some(index);
        let groups = member.node.items().filter(|_| is_last).unwrap_or_default();
        for (group, node) in groups.iter().enumerate() {
            let at = |handler, node: &Node| {
                let call = Call::of(node);
                Registered {
                    event: member.key.clone(),
                    group,
                    handler,
                    line: document.line_of(node),
                    words: call.as_ref().and_then(|call| signs.words(call)).unwrap_or_default(),
                    way: call.as_ref().and_then(|call| signs.way(call)),
                    call,
                    matcher: None,
                    conditions: conditions(node),
                    shown: shown(node),
                }
            };
            let matcher = node
                .get("matcher")
                .and_then(Node::text)
                .filter(|text| !matches!(*text, "" | "*"));
            let handlers = node.get(HOOKS).and_then(Node::items).unwrap_or_default();
            found.extend(handlers.iter().enumerate().map(|(handler, node)| Registered {
                matcher: matcher.map(str::to_owned),
                ..at(handler, node)
            }));
            // Other tools put the paths of scripts there.
            found.extend(node.text().map(|_| at(0, node)));
        }
    }
    found
}

/// What keeps a handler itself from being called, or heard, every time.
fn conditions(handler: &Node) -> Vec<String> {
    let only_if = handler.get("if").and_then(Node::text);
    let only_if = only_if.map(|rule| format!("only if \"{rule}\""));
    let unheard = handler.get("async").filter(|node| node.is_true());
    only_if
        .into_iter()
        .chain(unheard.map(|_| "without waiting for it (async)".into()))
        .collect()
}

fn shown(node: &Node) -> String {
    let text = |key| node.get(key).and_then(Node::text);
    match (Call::of(node), node.text()) {
        (Some(call), _) => call.to_string(),
        (None, Some(script)) => script.to_owned(),
        (None, None) => {
            let what = ["command", "url", "tool", "prompt"]
                .into_iter()
                .find_map(text)
                .unwrap_or_default();
            format!("{} {what}", text("type").unwrap_or("?"))
        }
    }
}

/// Snell's own handlers, in the order of the file.
pub(crate) fn own(document: &Document, signs: &Signs) -> Vec<Registered> {
    let mut handlers = handlers(document, signs);
    handlers.retain(|handler| handler.way.is_some());
    handlers
}

/// Whether entries can be put on these events.
pub(super) fn check_shape<'a>(document: &Document, events: impl Iterator<Item = &'a str>) -> Result<(), Fault> {
    let Some(root) = document.root() else {
        return Ok(());
    };
    if root.members().is_none() {
        return Err(expected("the file", "an object", root));
    }
    let Some(hooks) = root.get(HOOKS) else {
        return Ok(());
    };
    if hooks.members().is_none() {
        return Err(expected("\"hooks\"", "an object", hooks));
    }
    for event in events {
        if let Some(node) = hooks.get(event).filter(|node| node.items().is_none()) {
            return Err(expected(&format!("\"{event}\""), "an array", node));
        }
    }
    Ok(())
}

fn expected(what: &str, kind: &str, found: &Node) -> Fault {
    Fault {
        at: found.span.start,
        message: format!("{what} must be {kind}, not {}", found.kind()),
    }
}

/// What a file says apart from Snell's own handlers. Containers that hold nothing say nothing.
pub(super) fn others(document: &Document, signs: &Signs) -> Meaning {
    let nothing = Meaning::Object(Vec::new());
    let Some(root) = document.root() else {
        return nothing;
    };
    let own = own(document, signs);
    let mut meaning = root.meaning();
    for handler in own.iter().rev() {
        take_out(&mut meaning, &handler.path());
    }
    if let Meaning::Object(members) = &mut meaning {
        for (key, value) in members.iter_mut() {
            if let (HOOKS, Meaning::Object(events)) = (key.as_str(), value) {
                events.retain(|(_, groups)| *groups != Meaning::Array(Vec::new()));
            }
        }
        members.retain(|(key, value)| key != HOOKS || *value != nothing);
    }
    meaning
}

/// Takes a handler out, and its entry with it if it was the only one in there.
fn take_out(meaning: &mut Meaning, path: &[Step<'_>]) {
    let Some((step, rest)) = path.split_first() else {
        return;
    };
    match (step, meaning) {
        (Step::Key(key), Meaning::Object(members)) => {
            if let Some((_, value)) = members.iter_mut().rfind(|(name, _)| name == key) {
                take_out(value, rest);
            }
        }
        (Step::Item(index), Meaning::Array(items)) if *index < items.len() => {
            take_out(&mut items[*index], rest);
            if rest.is_empty() || has_no_handlers(&items[*index]) {
                items.remove(*index);
            }
        }
        _ => {}
    }
}

fn has_no_handlers(group: &Meaning) -> bool {
    matches!(group, Meaning::Object(members)
        if members.iter().any(|(key, value)| key == HOOKS && *value == Meaning::Array(Vec::new())))
}
