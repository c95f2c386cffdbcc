//! Reads typed fields of a document, and reports values that do not fit.

use std::collections::HashSet;
use std::time::Duration;

use super::discovery::FileOwner;
use super::settings::FileSettings;
use super::source::ConfigSource;
use super::spanned::{NodeValue, SpannedMember, SpannedNode};
use crate::contract::FileSyntax;
use crate::diagnostic::{Diagnostic, Severity, UserMessage};
use crate::event::EventName;
use crate::hook::{Hook, HookTimeout, SourceLocation};

/// The longest timeout of a hook in any file. It keeps clock arithmetic far from its limits.
pub(crate) const MAX_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);

/// Collects the hooks and the diagnostics of one file.
#[derive(Debug)]
pub(crate) struct ConfigReader<'a> {
    pub(crate) source: &'a ConfigSource,
    /// The syntax of the file.
    pub(crate) syntax: FileSyntax,
    pub(crate) hooks: Vec<Hook>,
    pub(crate) switches: HookSwitches,
    pub(crate) settings: FileSettings,
    pub(crate) owner: FileOwner,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// The keys of a file that apply to all hooks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct HookSwitches {
    /// The key that disables all hooks.
    pub(crate) disable_all: Option<DisableSwitch>,
    /// Names of hooks that are switched off.
    pub(crate) disabled_names: Option<Vec<String>>,
    /// `allowedHttpHookUrls`: the address of an `http` hook must match one of these patterns.
    pub(crate) allowed_http_urls: Option<Vec<String>>,
    /// `httpHookAllowedEnvVars`: variables that `http` hooks may name in headers.
    pub(crate) http_env_vars: Option<Vec<String>>,
}

/// A key that disables all hooks of a lane, or enables them again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DisableSwitch {
    /// The key, as it is written in the file.
    pub(crate) written: &'static str,
    pub(crate) is_disabled: bool,
    pub(crate) origin: SourceLocation,
}

/// The key of a timeout, and its rules.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TimeoutField {
    pub(crate) key: &'static str,
    pub(crate) unit: TimeoutUnit,
    pub(crate) default: Duration,
    pub(crate) cap: Duration,
}

impl TimeoutField {
    pub(crate) const fn seconds(default: Duration, cap: Duration) -> Self {
        Self { key: "timeout", unit: TimeoutUnit::Seconds, default, cap }
    }

    pub(crate) const fn milliseconds(default: Duration, cap: Duration) -> Self {
        Self { unit: TimeoutUnit::Milliseconds, ..Self::seconds(default, cap) }
    }
}

/// The unit in which a format writes its timeouts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TimeoutUnit {
    Seconds,
    Milliseconds,
}

impl<'a> ConfigReader<'a> {
    pub(crate) fn new(source: &'a ConfigSource, owner: FileOwner) -> Self {
        Self {
            source,
            syntax: FileSyntax::Json,
            owner,
            hooks: Vec::new(),
            switches: HookSwitches::default(),
            settings: FileSettings::default(),
            diagnostics: Vec::new(),
        }
    }

    pub(crate) fn add_error(&mut self, at: usize, message: impl Into<UserMessage>) {
        self.diagnostics.push(self.source.make_diagnostic(Severity::Error, at, message));
    }

    pub(crate) fn add_warning(&mut self, at: usize, message: impl Into<UserMessage>) {
        self.diagnostics.push(self.source.make_diagnostic(Severity::Warning, at, message));
    }

    pub(crate) fn locate_offset(&self, at: usize) -> SourceLocation {
        let (line, column) = self.source.line_and_column(at);
        SourceLocation { path: self.source.path.clone(), display_path: self.source.display_path.clone(), line, column }
    }

    /// The kind of a value, in the words of the file's syntax.
    pub(crate) fn kind_name(&self, node: &SpannedNode) -> &'static str {
        match &node.value {
            NodeValue::Object(_) => self.table_kind_name(),
            _ => node.kind_name(),
        }
    }

    fn table_kind_name(&self) -> &'static str {
        match self.syntax {
            FileSyntax::Toml => "a table",
            FileSyntax::Json | FileSyntax::Program => "an object",
        }
    }

    /// Returns the members of an object, or reports that `what` must be one.
    pub(crate) fn read_object<'n>(&mut self, node: &'n SpannedNode, what: &str) -> Option<ObjectFields<'n>> {
        let NodeValue::Object(members) = &node.value else {
            self.add_error(
                node.offset,
                format!("{what} must be {}, not {}", self.table_kind_name(), self.kind_name(node)),
            );
            return None;
        };
        let mut seen = HashSet::new();
        for member in members {
            if !seen.insert(member.key.as_str()) {
                let text = format!("\"{}\" appears twice in {what} (using the last one)", member.key);
                self.add_error(member.key_offset, UserMessage::new(text).with_hint("remove one of them"));
            }
        }
        Some(ObjectFields { offset: node.offset, members })
    }

    /// Returns the items of an array, or reports that `what` must be one.
    pub(crate) fn read_array<'n>(&mut self, node: &'n SpannedNode, what: &str) -> Option<&'n [SpannedNode]> {
        match &node.value {
            NodeValue::Array(items) => Some(items),
            _ => {
                self.add_error(node.offset, format!("{what} must be an array, not {}", self.kind_name(node)));
                None
            }
        }
    }

    /// Like [`Self::read_object`], and warns of every key that is not in `known`.
    pub(crate) fn read_table<'n>(
        &mut self,
        node: &'n SpannedNode,
        what: &str,
        known: &[&str],
    ) -> Option<ObjectFields<'n>> {
        let fields = self.read_object(node, what)?;
        self.warn_of_unknown_keys(&fields, known, what);
        Some(fields)
    }

    /// Warns of every key that is not in `known`.
    pub(crate) fn warn_of_unknown_keys(&mut self, fields: &ObjectFields<'_>, known: &[&str], what: &str) {
        for member in fields.members {
            if !known.contains(&member.key.as_str()) {
                let message = UserMessage::new(format!("unknown key \"{}\" in {what}", member.key));
                self.add_warning(member.key_offset, message.with_suggestion(&member.key, known.iter().copied()));
            }
        }
    }

    /// A string that must exist and must not be blank.
    pub(crate) fn read_required_text(&mut self, fields: &ObjectFields<'_>, key: &str, what: &str) -> Option<String> {
        let Some(node) = fields.get(key) else {
            let message = UserMessage::new(format!("{what} has no \"{key}\""));
            let hint = match self.syntax {
                FileSyntax::Toml => format!("add {key} = \"…\""),
                FileSyntax::Json | FileSyntax::Program => format!("add \"{key}\": \"…\""),
            };
            self.add_error(fields.offset, message.with_hint(hint));
            return None;
        };
        let text = self.expect_text(node, key)?;
        if text.trim().is_empty() {
            let hint = match key {
                "event" => "write the name of an event",
                "url" => "write the address to call",
                _ => "write the command to run",
            };
            self.add_error(node.offset, UserMessage::new(format!("\"{key}\" is empty")).with_hint(hint));
            return None;
        }
        Some(text)
    }

    pub(crate) fn read_text(&mut self, fields: &ObjectFields<'_>, key: &str) -> Option<String> {
        let node = fields.get(key)?;
        self.expect_text(node, key)
    }

    pub(crate) fn expect_text(&mut self, node: &SpannedNode, key: &str) -> Option<String> {
        match &node.value {
            NodeValue::String(text) if text.contains('\0') => {
                self.add_error(node.offset, format!("\"{key}\" must not contain a NUL character"));
                None
            }
            NodeValue::String(text) => Some(text.clone()),
            _ => {
                self.add_error(node.offset, format!("\"{key}\" must be a string, not {}", self.kind_name(node)));
                None
            }
        }
    }

    /// A shell condition. An invalid one is reported, and the hook runs without it.
    pub(crate) fn read_condition(&mut self, fields: &ObjectFields<'_>, key: &str) -> Option<String> {
        let node = fields.get(key)?;
        if let NodeValue::String(_) = node.value {
            return self.expect_text(node, key);
        }
        let kind = self.kind_name(node);
        self.add_error(node.offset, format!("\"{key}\" must be a string, not {kind} (the hook always runs)"));
        None
    }

    pub(crate) fn read_bool(&mut self, fields: &ObjectFields<'_>, key: &str) -> Option<bool> {
        let node = fields.get(key)?;
        match node.value {
            NodeValue::Bool(value) => Some(value),
            _ => {
                self.add_error(node.offset, format!("\"{key}\" must be true or false, not {}", self.kind_name(node)));
                None
            }
        }
    }

    /// The strings of a list that restricts something. An invalid list is reported and allows nothing.
    pub(crate) fn read_restriction(&mut self, fields: &ObjectFields<'_>, key: &str) -> Option<Vec<String>> {
        let node = fields.get(key)?;
        let items = self.read_array(node, &format!("\"{key}\"")).unwrap_or_default();
        Some(items.iter().filter_map(|item| self.expect_text(item, key)).collect())
    }

    pub(crate) fn read_texts(&mut self, fields: &ObjectFields<'_>, key: &str) -> Option<Vec<String>> {
        let node = fields.get(key)?;
        let items = self.read_array(node, &format!("\"{key}\""))?;
        let texts = items.iter().enumerate();
        texts.map(|(index, item)| self.expect_text(item, &format!("{key}[{index}]"))).collect()
    }

    /// A timeout in the format's unit. If it is invalid, this reports it and uses the default: it never disables a hook.
    pub(crate) fn read_timeout(&mut self, fields: &ObjectFields<'_>, field: &TimeoutField) -> HookTimeout {
        let TimeoutField { key, unit, default, cap } = *field;
        let Some(node) = fields.get(key) else {
            return HookTimeout::Default(default);
        };
        let NodeValue::Number(number) = node.value else {
            let kind = self.kind_name(node);
            self.report_bad_timeout(node, field, kind);
            return HookTimeout::Default(default);
        };
        if number.is_nan() || number <= 0.0 {
            self.report_bad_timeout(node, field, &number.to_string());
            return HookTimeout::Default(default);
        }
        let seconds = match unit {
            TimeoutUnit::Seconds => number,
            TimeoutUnit::Milliseconds => number / 1000.0,
        };
        let wanted = Duration::try_from_secs_f64(seconds).unwrap_or(MAX_TIMEOUT);
        match unit {
            TimeoutUnit::Seconds if number >= 1000.0 => self.add_warning(
                node.offset,
                UserMessage::new(format!("\"{key}\" is in seconds, so {number} may be too long"))
                    .with_hint(format!("for {number} milliseconds, write {}", number / 1000.0)),
            ),
            TimeoutUnit::Milliseconds if number < 100.0 => self.add_warning(
                node.offset,
                UserMessage::new(format!("\"{key}\" is in milliseconds, so {number} may be too short"))
                    .with_hint(format!("for {number} seconds, write {}", number * 1000.0)),
            ),
            _ => {}
        }
        self.cap_timeout(node.offset, wanted, cap)
    }

    /// Limits a timeout to `cap`, with a warning if it was longer.
    pub(crate) fn cap_timeout(&mut self, at: usize, wanted: Duration, cap: Duration) -> HookTimeout {
        if wanted > cap {
            let cap = format_duration(cap);
            self.add_warning(at, format!("\"timeout\" is longer than this format allows (using the limit, {cap})"));
        }
        HookTimeout::Written(wanted.min(cap))
    }

    fn report_bad_timeout(&mut self, node: &SpannedNode, field: &TimeoutField, shown: &str) {
        let key = field.key;
        let (unit, example) = match field.unit {
            TimeoutUnit::Seconds => ("seconds", "10"),
            TimeoutUnit::Milliseconds => ("milliseconds", "5000"),
        };
        let default = format_duration(field.default);
        let text = format!("\"{key}\" must be a number of {unit} above 0, not {shown} (using the default, {default})");
        let hint = format!("write \"{key}\": {example}");
        self.add_error(node.offset, UserMessage::new(text).with_hint(hint));
    }

    /// The event of this name; in a closed vocabulary an unknown name is an error, in an open one a warning.
    pub(crate) fn read_event_name(&mut self, at: usize, name: &str, vocabulary: EventVocabulary) -> Option<EventName> {
        let is_native = matches!(vocabulary, EventVocabulary::Native);
        if let Some(event) = EventName::parse_known(name).filter(|event| is_native || !event.is_derived()) {
            return Some(event);
        }
        match vocabulary {
            EventVocabulary::Native | EventVocabulary::Closed => {
                let is_listed = |name: &&str| is_native || !EventName::parse(name).is_derived();
                let known: Vec<_> = EventName::canonical_names().filter(is_listed).collect();
                let message = UserMessage::new(format!("unknown event \"{name}\" (its hooks are ignored)"))
                    .with_hint(format!("use one of {}", known.join(", ")))
                    .with_suggestion(name, EventName::all_names());
                self.add_error(at, message);
                None
            }
            EventVocabulary::Open(known) => {
                if !known.contains(&name) {
                    let message = UserMessage::new(format!("unknown event \"{name}\" (its hooks are still loaded)"));
                    let names = EventName::all_names().chain(known.iter().copied());
                    self.add_warning(at, message.with_suggestion(name, names));
                }
                Some(EventName::Other(name.to_owned()))
            }
        }
    }
}

/// Whether a format's event names are a finished list.
#[derive(Debug, Clone, Copy)]
pub(crate) enum EventVocabulary {
    /// The canonical names, with the events that Snell derives. An unknown name is an error.
    Native,
    /// The canonical names of agents' own events. An unknown name is an error.
    Closed,
    /// The format grows: these names are known too, and hooks with other names still load.
    Open(&'static [&'static str]),
}

/// The members of one object.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ObjectFields<'n> {
    pub(crate) offset: usize,
    pub(crate) members: &'n [SpannedMember],
}

impl<'n> ObjectFields<'n> {
    /// The last value of this key, as in most JSON parsers.
    pub(crate) fn get(&self, key: &str) -> Option<&'n SpannedNode> {
        self.members.iter().rev().find(|member| member.key == key).map(|member| &member.node)
    }

    pub(crate) fn contains_key(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// The members, with only the last one of each key.
    pub(crate) fn distinct_members(&self) -> impl Iterator<Item = &'n SpannedMember> {
        let mut seen = HashSet::new();
        let mut members: Vec<_> = self.members.iter().rev().filter(|member| seen.insert(member.key.as_str())).collect();
        members.reverse();
        members.into_iter()
    }
}

/// A duration as people write it: `10s`, `1.5s`, `500ms`.
pub(crate) fn format_duration(duration: Duration) -> String {
    if duration >= Duration::from_secs(1) {
        format!("{}s", duration.as_millis() as f64 / 1000.0)
    } else {
        format!("{}ms", duration.as_micros() as f64 / 1000.0)
    }
}
