//! Reading hooks out of a document: typed fields, and a finding for whatever does not fit.

use std::collections::HashSet;
use std::time::Duration;

use super::node::{Member, Node, NodeValue};
use super::places::Whose;
use super::settings::FileSettings;
use super::source::Source;
use crate::contract::Syntax;
use crate::diagnostic::{Diagnostic, Severity, hint};
use crate::event::EventName;
use crate::hook::{Hook, Origin, Timeout};

/// Hooks never wait longer than this, whatever a file says: the clock arithmetic stays far from its limits.
pub(crate) const LONGEST_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);

/// Where hooks and findings of one file are gathered.
#[derive(Debug)]
pub(crate) struct Reading<'a> {
    pub(crate) source: &'a Source,
    /// The syntax it is written in.
    pub(crate) syntax: Syntax,
    pub(crate) hooks: Vec<Hook>,
    pub(crate) switches: Switches,
    pub(crate) settings: FileSettings,
    pub(crate) whose: Whose,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// What a file says about all hooks, beside the hooks themselves.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Switches {
    /// `disableAllHooks`, and where it stands.
    pub(crate) disable_all: Option<(bool, Origin)>,
    /// `allowedHttpHookUrls`: patterns of which an `http` hook's address must match one.
    pub(crate) allowed_http_urls: Option<Vec<String>>,
    /// `httpHookAllowedEnvVars`: variables that `http` hooks may name in headers.
    pub(crate) http_env_vars: Option<Vec<String>>,
}

/// The unit in which a format writes its timeouts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Seconds,
    Milliseconds,
}

impl<'a> Reading<'a> {
    pub(crate) fn new(source: &'a Source, whose: Whose) -> Self {
        Self {
            source,
            syntax: Syntax::Json,
            whose,
            hooks: Vec::new(),
            switches: Switches::default(),
            settings: FileSettings::default(),
            diagnostics: Vec::new(),
        }
    }

    pub(crate) fn error(&mut self, at: usize, message: impl Into<String>) {
        self.diagnostics
            .push(self.source.diagnostic(Severity::Error, at, message));
    }

    pub(crate) fn warn(&mut self, at: usize, message: impl Into<String>) {
        self.diagnostics
            .push(self.source.diagnostic(Severity::Warning, at, message));
    }

    pub(crate) fn origin(&self, at: usize) -> Origin {
        let (line, column) = self.source.position(at);
        Origin {
            path: self.source.path.clone(),
            shown: self.source.shown.clone(),
            line,
            column,
        }
    }

    /// What a value is, as people of its format call it.
    pub(crate) fn kind(&self, node: &Node) -> &'static str {
        match &node.value {
            NodeValue::Object(_) => self.table(),
            _ => node.kind(),
        }
    }

    fn table(&self) -> &'static str {
        match self.syntax {
            Syntax::Toml => "a table",
            Syntax::Json => "an object",
        }
    }

    /// The members of an object, or a finding that `what` must be one.
    pub(crate) fn object<'n>(&mut self, node: &'n Node, what: &str) -> Option<Fields<'n>> {
        let NodeValue::Object(members) = &node.value else {
            self.error(
                node.at,
                format!("{what} must be {}, not {}", self.table(), self.kind(node)),
            );
            return None;
        };
        let mut seen = HashSet::new();
        for member in members {
            if !seen.insert(member.key.as_str()) {
                self.error(
                    member.key_at,
                    format!(
                        "\"{}\" is written twice in {what}; only the last one counts",
                        member.key
                    ),
                );
            }
        }
        Some(Fields { at: node.at, members })
    }

    /// The items of an array, or a finding that `what` must be one.
    pub(crate) fn array<'n>(&mut self, node: &'n Node, what: &str) -> Option<&'n [Node]> {
        match &node.value {
            NodeValue::Array(items) => Some(items),
            _ => {
                self.error(node.at, format!("{what} must be an array, not {}", self.kind(node)));
                None
            }
        }
    }

    /// Warns of every key that is not in `known`.
    pub(crate) fn unknown_keys(&mut self, fields: &Fields<'_>, known: &[&str], what: &str) {
        for member in fields.members {
            if !known.contains(&member.key.as_str()) {
                let near = hint(&member.key, known.iter().copied());
                self.warn(
                    member.key_at,
                    format!("unknown key \"{}\" in {what}{near}; it has no effect", member.key),
                );
            }
        }
    }

    /// A text that must be there and say something.
    pub(crate) fn required_text(&mut self, fields: &Fields<'_>, key: &str, what: &str) -> Option<String> {
        let Some(node) = fields.get(key) else {
            self.error(fields.at, format!("{what} has no \"{key}\"; add \"{key}\": \"…\""));
            return None;
        };
        let text = self.as_text(node, key)?;
        if text.trim().is_empty() {
            let missing = if key == "event" {
                "name an event"
            } else {
                "write what to run"
            };
            self.error(node.at, format!("\"{key}\" is empty; {missing}"));
            return None;
        }
        Some(text)
    }

    pub(crate) fn text(&mut self, fields: &Fields<'_>, key: &str) -> Option<String> {
        let node = fields.get(key)?;
        self.as_text(node, key)
    }

    pub(crate) fn as_text(&mut self, node: &Node, key: &str) -> Option<String> {
        match &node.value {
            NodeValue::String(text) if text.contains('\0') => {
                self.error(
                    node.at,
                    format!("\"{key}\" holds a NUL character, which no process can be handed"),
                );
                None
            }
            NodeValue::String(text) => Some(text.clone()),
            _ => {
                self.error(node.at, format!("\"{key}\" must be a string, not {}", self.kind(node)));
                None
            }
        }
    }

    /// A shell condition. One that cannot be read is reported, and withholds nothing.
    pub(crate) fn condition(&mut self, fields: &Fields<'_>, key: &str) -> Option<String> {
        let node = fields.get(key)?;
        if let NodeValue::String(_) = node.value {
            return self.as_text(node, key);
        }
        let kind = self.kind(node);
        self.error(
            node.at,
            format!("\"{key}\" must be a string, not {kind}; the hook always runs"),
        );
        None
    }

    pub(crate) fn boolean(&mut self, fields: &Fields<'_>, key: &str) -> Option<bool> {
        let node = fields.get(key)?;
        match node.value {
            NodeValue::Bool(value) => Some(value),
            _ => {
                self.error(
                    node.at,
                    format!("\"{key}\" must be true or false, not {}", self.kind(node)),
                );
                None
            }
        }
    }

    /// The texts of a list that restricts something: what cannot be read is reported and allows nothing.
    pub(crate) fn restriction(&mut self, fields: &Fields<'_>, key: &str) -> Option<Vec<String>> {
        let node = fields.get(key)?;
        let items = self.array(node, &format!("\"{key}\"")).unwrap_or_default();
        Some(items.iter().filter_map(|item| self.as_text(item, key)).collect())
    }

    pub(crate) fn texts(&mut self, fields: &Fields<'_>, key: &str) -> Option<Vec<String>> {
        let node = fields.get(key)?;
        let items = self.array(node, &format!("\"{key}\""))?;
        let texts = items.iter().enumerate();
        texts
            .map(|(index, item)| self.as_text(item, &format!("{key}[{index}]")))
            .collect()
    }

    /// A timeout in the format's unit. A fault is reported and the default counts: it never switches a hook off.
    pub(crate) fn timeout(&mut self, fields: &Fields<'_>, unit: Unit, default: Duration, cap: Duration) -> Timeout {
        let Some(node) = fields.get("timeout") else {
            return Timeout::Default(default);
        };
        let NodeValue::Number(number) = node.value else {
            let kind = self.kind(node);
            self.bad_timeout(node, unit, default, kind);
            return Timeout::Default(default);
        };
        if number.is_nan() || number <= 0.0 {
            self.bad_timeout(node, unit, default, &number.to_string());
            return Timeout::Default(default);
        }
        let seconds = match unit {
            Unit::Seconds => number,
            Unit::Milliseconds => number / 1000.0,
        };
        let wanted = Duration::try_from_secs_f64(seconds).unwrap_or(LONGEST_TIMEOUT);
        match unit {
            Unit::Seconds if number >= 1000.0 => self.warn(
                node.at,
                format!(
                    "\"timeout\" is in seconds here; for {number} milliseconds write {}",
                    number / 1000.0
                ),
            ),
            Unit::Milliseconds if number < 100.0 => self.warn(
                node.at,
                format!(
                    "\"timeout\" is in milliseconds here; for {number} seconds write {}",
                    number * 1000.0
                ),
            ),
            _ => {}
        }
        self.capped(node.at, wanted, cap)
    }

    /// A timeout that was written, or the most that counts, and a finding that says so.
    pub(crate) fn capped(&mut self, at: usize, wanted: Duration, cap: Duration) -> Timeout {
        if wanted > cap {
            let cap = show_duration(cap);
            self.warn(
                at,
                format!("\"timeout\" is more than the {cap} that this format allows; {cap} counts"),
            );
        }
        Timeout::Written(wanted.min(cap))
    }

    fn bad_timeout(&mut self, node: &Node, unit: Unit, default: Duration, shown: &str) {
        let (unit, example) = match unit {
            Unit::Seconds => ("seconds", "10"),
            Unit::Milliseconds => ("milliseconds", "5000"),
        };
        let default = show_duration(default);
        self.error(
            node.at,
            format!(
                "\"timeout\" must be a number of {unit} above 0, not {shown}; write \"timeout\": {example} (the default of \
                 {default} counts)"
            ),
        );
    }

    /// The event of this name; in a closed vocabulary an unknown name is an error, in an open one a warning.
    pub(crate) fn event(&mut self, at: usize, name: &str, vocabulary: Vocabulary) -> Option<EventName> {
        if let Some(event) = EventName::known(name) {
            return Some(event);
        }
        match vocabulary {
            Vocabulary::Closed => {
                let mut near = hint(name, EventName::all_names());
                if near.is_empty() {
                    let known: Vec<_> = EventName::canonical_names().collect();
                    near = format!("; write one of {}", known.join(", "));
                }
                self.error(at, format!("unknown event \"{name}\"{near}; its hooks are not loaded"));
                None
            }
            Vocabulary::Open(known) => {
                if !known.contains(&name) {
                    let near = hint(name, EventName::all_names().chain(known.iter().copied()));
                    self.warn(
                        at,
                        format!("unknown event \"{name}\"{near}; its hooks are kept under that name"),
                    );
                }
                Some(EventName::Other(name.to_owned()))
            }
        }
    }
}

/// Whether a format's event names are a finished list.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Vocabulary {
    /// A name that no row knows is a mistake.
    Closed,
    /// The format grows; these names are known beside the canonical ones, and others are kept.
    Open(&'static [&'static str]),
}

/// The members of one object.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fields<'n> {
    pub(crate) at: usize,
    pub(crate) members: &'n [Member],
}

impl<'n> Fields<'n> {
    /// The last value of this key, as JSON readers have it.
    pub(crate) fn get(&self, key: &str) -> Option<&'n Node> {
        self.members
            .iter()
            .rev()
            .find(|member| member.key == key)
            .map(|member| &member.node)
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// The members, of which the last one of each key counts.
    pub(crate) fn distinct(&self) -> impl Iterator<Item = &'n Member> {
        let mut seen = HashSet::new();
        let mut members: Vec<_> = self
            .members
            .iter()
            .rev()
            .filter(|member| seen.insert(member.key.as_str()))
            .collect();
        members.reverse();
        members.into_iter()
    }
}

/// A duration as people write it: `10s`, `1.5s`, `500ms`.
pub(crate) fn show_duration(duration: Duration) -> String {
    if duration >= Duration::from_secs(1) {
        format!("{}s", duration.as_millis() as f64 / 1000.0)
    } else {
        format!("{}ms", duration.as_micros() as f64 / 1000.0)
    }
}
