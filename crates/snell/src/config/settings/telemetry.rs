//! `[telemetry]`: where Snell sends traces, logs and metrics, and what is in them.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use super::notify::{HEADER_VALUE, SecretSource};
use super::values::{Fallback, read_checked_text, read_interval};
use crate::config::reader::ConfigReader;
use crate::config::spanned::{NodeValue, SpannedNode};
use crate::diagnostic::UserMessage;

/// How often metrics are sent.
const INTERVAL: Duration = Duration::from_secs(60);

/// Words in names of headers whose value is a secret.
const SECRET_HEADER_WORDS: &[&str] = &["authorization", "cookie", "key", "secret", "token"];

/// A kind of telemetry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TelemetrySignal {
    /// Spans of turns, tool calls, hooks and waits.
    Traces,
    /// The guard's verdicts.
    Logs,
    /// Counts and durations.
    Metrics,
}

impl TelemetrySignal {
    /// All of them.
    pub const ALL: &[Self] = &[Self::Traces, Self::Logs, Self::Metrics];

    /// Its word in the settings, in the database and in addresses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Traces => "traces",
            Self::Logs => "logs",
            Self::Metrics => "metrics",
        }
    }
}

/// Texts that telemetry has only if the user asks for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TelemetryContent {
    /// Texts that users write to agents.
    Prompts,
    /// Arguments of tools, and texts that quote them.
    Arguments,
}

impl TelemetryContent {
    /// All of them.
    pub const ALL: &[Self] = &[Self::Prompts, Self::Arguments];

    /// Its word in the settings.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Prompts => "prompts",
            Self::Arguments => "arguments",
        }
    }
}

/// Where Snell sends telemetry, and what is in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TelemetrySettings {
    /// The base address of a collector, without a slash at its end. Nothing is sent without it.
    pub endpoint: Option<String>,
    /// Headers of each request.
    pub headers: BTreeMap<String, SecretSource>,
    signals: Option<Vec<TelemetrySignal>>,
    include: Option<Vec<TelemetryContent>>,
    /// How far back the first request goes. Without it, only what happens after the endpoint is set.
    pub since: Option<Duration>,
    interval: Option<Duration>,
    /// Attributes of the resource.
    pub resource: BTreeMap<String, String>,
}

/// The keys of `[telemetry]`.
pub(super) const TELEMETRY_KEYS: &[&str] =
    &["endpoint", "headers", "signals", "include", "since", "interval", "resource"];
/// The keys of a header, if it is a table.
const HEADER_KEYS: &[&str] = &["value_file", "value_env", "value"];

impl TelemetrySettings {
    /// Whether this signal is sent.
    pub fn sends(&self, signal: TelemetrySignal) -> bool {
        self.endpoint.is_some() && self.signals.as_deref().unwrap_or(TelemetrySignal::ALL).contains(&signal)
    }

    /// Whether these texts are sent.
    pub fn includes(&self, content: TelemetryContent) -> bool {
        self.include.as_deref().unwrap_or_default().contains(&content)
    }

    /// How often metrics are sent.
    pub fn interval(&self) -> Duration {
        self.interval.unwrap_or(INTERVAL)
    }

    /// Fills keys that these settings lack from an earlier file.
    pub(super) fn merge_over(self, earlier: Self) -> Self {
        Self {
            endpoint: self.endpoint.or(earlier.endpoint),
            headers: if self.headers.is_empty() { earlier.headers } else { self.headers },
            signals: self.signals.or(earlier.signals),
            include: self.include.or(earlier.include),
            since: self.since.or(earlier.since),
            interval: self.interval.or(earlier.interval),
            resource: if self.resource.is_empty() { earlier.resource } else { self.resource },
        }
    }

    /// The same with absolute paths.
    pub(super) fn resolve_paths(self, home: Option<&Path>) -> Self {
        let headers = self.headers.into_iter().map(|(name, value)| (name, value.resolve_path(home))).collect();
        Self { headers, ..self }
    }
}

pub(super) fn read_telemetry(reader: &mut ConfigReader<'_>, node: &SpannedNode) -> TelemetrySettings {
    let Some(fields) = reader.read_table(node, "[telemetry]", TELEMETRY_KEYS) else {
        return TelemetrySettings::default();
    };
    TelemetrySettings {
        endpoint: fields.get("endpoint").and_then(|node| read_checked_text(reader, node, "endpoint", check_endpoint)),
        headers: fields.get("headers").map(|node| read_headers(reader, node)).unwrap_or_default(),
        signals: fields
            .get("signals")
            .map(|node| read_words(reader, node, "signals", TelemetrySignal::ALL, TelemetrySignal::as_str)),
        include: fields
            .get("include")
            .map(|node| read_words(reader, node, "include", TelemetryContent::ALL, TelemetryContent::as_str)),
        since: read_interval(reader, &fields, "since", "1h", Fallback::Nothing),
        interval: read_interval(reader, &fields, "interval", "60s", Fallback::Default),
        resource: fields.get("resource").map(|node| read_resource(reader, node)).unwrap_or_default(),
    }
}

/// The base address of a collector, without a slash at its end.
fn check_endpoint(text: String) -> Result<String, UserMessage> {
    let refuse = |problem: &str| {
        Err(UserMessage::new(problem).with_hint("write the base address, such as \"http://localhost:4318\""))
    };
    let Ok(url) = url::Url::parse(&text) else {
        return refuse("must be an address with http:// or https://");
    };
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return refuse("must start with http:// or https://");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return refuse("must not contain a user name or password");
    }
    if url.query().is_some() || url.fragment().is_some() {
        return refuse("must not have a query or fragment (? or #)");
    }
    let base = text.trim_end_matches('/');
    if TelemetrySignal::ALL.iter().any(|signal| base.ends_with(&format!("/v1/{}", signal.as_str()))) {
        return refuse("must not end with the path of a signal, because Snell appends it");
    }
    Ok(base.to_owned())
}

fn read_headers(reader: &mut ConfigReader<'_>, node: &SpannedNode) -> BTreeMap<String, SecretSource> {
    let Some(fields) = reader.read_object(node, "\"headers\"") else {
        return BTreeMap::new();
    };
    let mut headers = BTreeMap::new();
    for member in fields.distinct_members() {
        let name = member.key.to_ascii_lowercase();
        let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        if name.is_empty() || !name.bytes().all(is_token) {
            let message = UserMessage::new(format!("\"headers\" has the invalid name \"{}\"", member.key));
            reader.add_error(member.key_offset, message.with_hint("write a name such as authorization"));
            continue;
        }
        let value = match &member.node.value {
            NodeValue::String(text) => {
                if SECRET_HEADER_WORDS.iter().any(|word| name.contains(word)) {
                    reader.add_warning(member.node.offset, HEADER_VALUE.describe_inline_secret());
                }
                Some(SecretSource::Inline(text.clone()))
            }
            _ => reader
                .read_table(&member.node, "a header", HEADER_KEYS)
                .and_then(|fields| HEADER_VALUE.read_required(reader, &fields, "a header")),
        };
        headers.extend(value.map(|value| (name, value)));
    }
    headers
}

fn read_resource(reader: &mut ConfigReader<'_>, node: &SpannedNode) -> BTreeMap<String, String> {
    let Some(fields) = reader.read_object(node, "\"resource\"") else {
        return BTreeMap::new();
    };
    let mut attributes = BTreeMap::new();
    for member in fields.distinct_members() {
        attributes.extend(reader.expect_text(&member.node, &member.key).map(|text| (member.key.clone(), text)));
    }
    attributes
}

/// The words of a list that are known. The others are reported.
fn read_words<T: Copy>(
    reader: &mut ConfigReader<'_>,
    node: &SpannedNode,
    key: &str,
    all: &[T],
    to_word: fn(T) -> &'static str,
) -> Vec<T> {
    let mut found = Vec::new();
    for item in reader.read_array(node, &format!("\"{key}\"")).unwrap_or_default() {
        let Some(word) = reader.expect_text(item, key) else {
            continue;
        };
        match all.iter().find(|known| to_word(**known) == word) {
            Some(known) => found.push(*known),
            None => {
                let known: Vec<_> = all.iter().map(|known| to_word(*known)).collect();
                let message = UserMessage::new(format!("\"{key}\" has the unknown word \"{word}\""))
                    .with_hint(format!("use {}", known.join(", ")))
                    .with_suggestion(&word, known);
                reader.add_error(item.offset, message);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::discovery::FileOwner;
    use crate::config::source::ConfigSource;

    fn read(text: &str) -> (TelemetrySettings, Vec<String>) {
        let source = ConfigSource::from_text("snell.toml".into(), text.into());
        let mut reader = ConfigReader::new(&source, FileOwner::User);
        let node = SpannedNode::from_toml(text).unwrap();
        let settings = read_telemetry(&mut reader, &node);
        (settings, reader.diagnostics.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn every_fault_has_its_position_and_a_remedy() {
        let cases = [
            ("endpoint = 'localhost:4318'", "\"endpoint\" must start with http:// or https:// (hint: write the base"),
            ("endpoint = 'http://me:pw@h.example'", "\"endpoint\" must not contain a user name or password"),
            ("endpoint = 'http://h.example/?a=b'", "\"endpoint\" must not have a query or fragment"),
            ("endpoint = 'http://h.example/v1/traces/'", "\"endpoint\" must not end with the path of a signal"),
            ("signals = ['trace']", "unknown word \"trace\" (hint: did you mean \"traces\"?)"),
            ("include = ['all']", "unknown word \"all\" (hint: use prompts, arguments)"),
            ("headers = { authorization = 'Bearer x' }", "warning: \"value\" is a secret in the file (hint: "),
            ("headers = { authorization = {} }", "a header has no \"value_file\""),
            ("headers = { 'a b' = 'c' }", "\"headers\" has the invalid name \"a b\""),
            ("since = '5'", "\"since\" must be a duration with a unit"),
            ("resource = { a = 1 }", "\"a\" must be"),
            ("url = 'x'", "warning: unknown key \"url\" in [telemetry]"),
        ];
        for (text, expected) in cases {
            let (_, found) = read(text);
            assert!(found.iter().any(|found| found.contains(expected)), "{text}: {found:?}");
        }
    }

    #[test]
    fn everything_but_texts_is_sent_once_there_is_an_endpoint() {
        let (off, _) = read("signals = ['traces']");
        assert!(!off.sends(TelemetrySignal::Traces));
        let (on, found) = read("endpoint = 'http://localhost:4318/'\nheaders = { x-tenant = 'a' }");
        assert_eq!((on.endpoint.as_deref(), found.len()), (Some("http://localhost:4318"), 0));
        assert!(TelemetrySignal::ALL.iter().all(|signal| on.sends(*signal)));
        assert!(!TelemetryContent::ALL.iter().any(|content| on.includes(*content)));
    }
}
