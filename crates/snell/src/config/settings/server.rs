//! `[server]`: the receiver, on the machine that runs it and on machines that send events to it.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use url::Url;

use super::values::{Fallback, read_checked_text, read_checked_texts, read_count, read_interval, resolve_in_home};
use crate::config::reader::{ConfigReader, ObjectFields};
use crate::config::spanned::SpannedNode;
use crate::diagnostic::{Diagnostic, Severity, UserMessage};
use crate::hook::SourceLocation;

/// The settings of the receiver. Callers have defaults for missing ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerSettings {
    /// Whether the receiver takes events.
    pub enabled: Option<bool>,
    /// The address on which the receiver listens, as `IP:PORT` or `HOST:PORT`.
    pub addr: Option<String>,
    /// The receiver to which this machine sends events.
    pub url: Option<String>,
    /// The receiver's database, as `sqlite:PATH` or `postgres://USER@HOST/NAME`.
    pub db: Option<String>,
    /// The file with the token, as an absolute path if the home directory is known.
    pub token_file: Option<PathBuf>,
    /// The position of that setting.
    pub token_file_origin: Option<SourceLocation>,
    /// The file with the token of clients that may answer requests of agents, as an absolute path if the home directory is known.
    pub answer_token_file: Option<PathBuf>,
    /// The file with the receiver's certificate, for TLS, as an absolute path if the home directory is known.
    pub tls_cert: Option<PathBuf>,
    /// The file with the key of that certificate.
    pub tls_key: Option<PathBuf>,
    /// The header in which proxies name people.
    pub trusted_header: Option<String>,
    /// The proxies that set it: IP addresses, or `unix` for the unix socket.
    pub trusted_proxies: Vec<String>,
    /// The roles of people whom a proxy names; `*` is everyone else.
    pub roles: BTreeMap<String, String>,
    /// Further host names of the receiver.
    pub allow_hosts: Vec<String>,
    /// How the receiver treats requests without a token from an unknown user: `refuse` or `accept`.
    pub unknown_senders: Option<String>,
    /// The poll interval while events arrive.
    pub poll_active: Option<Duration>,
    /// The poll interval while no events arrive.
    pub poll_silent: Option<Duration>,
    /// The time without events after which the receiver uses `poll_silent`.
    pub silent_after: Option<Duration>,
    /// The maximum number of clients of the event stream.
    pub max_stream_clients: Option<u32>,
    /// The invalid values. No default applies in their place.
    pub faults: Vec<ServerSettingsFault>,
}

/// A key of `[server]` with an invalid value.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerSettingsFault {
    /// The key.
    pub key: &'static str,
    /// The diagnostic of its value.
    pub finding: Diagnostic,
}

/// The values of `unknown_senders`.
const UNKNOWN_SENDERS: &[&str] = &["refuse", "accept"];

/// The keys of `[server]`.
pub(super) const SERVER_KEYS: &[&str] = &[
    "enabled",
    "addr",
    "url",
    "db",
    "token_file",
    "answer_token_file",
    "tls_cert",
    "tls_key",
    "trusted_header",
    "trusted_proxies",
    "roles",
    "allow_hosts",
    "unknown_senders",
    "poll_active",
    "poll_silent",
    "silent_after",
    "max_stream_clients",
];

impl ServerSettings {
    /// Fills keys that these settings lack from an earlier file.
    pub(super) fn merge_over(self, earlier: Self) -> Self {
        Self {
            enabled: self.enabled.or(earlier.enabled),
            addr: self.addr.or(earlier.addr),
            url: self.url.or(earlier.url),
            db: self.db.or(earlier.db),
            token_file: self.token_file.or(earlier.token_file),
            token_file_origin: self.token_file_origin.or(earlier.token_file_origin),
            answer_token_file: self.answer_token_file.or(earlier.answer_token_file),
            tls_cert: self.tls_cert.or(earlier.tls_cert),
            tls_key: self.tls_key.or(earlier.tls_key),
            trusted_header: self.trusted_header.or(earlier.trusted_header),
            trusted_proxies: first_filled(self.trusted_proxies, earlier.trusted_proxies),
            roles: if self.roles.is_empty() { earlier.roles } else { self.roles },
            allow_hosts: first_filled(self.allow_hosts, earlier.allow_hosts),
            unknown_senders: self.unknown_senders.or(earlier.unknown_senders),
            poll_active: self.poll_active.or(earlier.poll_active),
            poll_silent: self.poll_silent.or(earlier.poll_silent),
            silent_after: self.silent_after.or(earlier.silent_after),
            max_stream_clients: self.max_stream_clients.or(earlier.max_stream_clients),
            faults: [earlier.faults, self.faults].concat(),
        }
    }

    /// The same with absolute paths.
    pub(super) fn resolve_paths(self, home: Option<&Path>) -> Self {
        let resolve = |path: Option<PathBuf>| path.map(|path| resolve_in_home(&path, home));
        Self {
            token_file: resolve(self.token_file),
            answer_token_file: resolve(self.answer_token_file),
            tls_cert: resolve(self.tls_cert),
            tls_key: resolve(self.tls_key),
            ..self
        }
    }
}

/// The first list that is not empty.
fn first_filled(list: Vec<String>, other: Vec<String>) -> Vec<String> {
    if list.is_empty() { other } else { list }
}

/// The normal form of a receiver's address: `http` or `https`, a host, and an optional path.
///
/// # Errors
///
/// The problem, as a predicate to follow the name of the setting.
pub fn normalize_receiver_url(written: &str) -> Result<String, &'static str> {
    let has_scheme = ["http://", "https://"].iter().any(|scheme| {
        let head = written.get(..scheme.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(scheme))
    });
    if !has_scheme {
        return Err("must start with http:// or https://");
    }
    let url = Url::parse(written).map_err(|_| "has no valid host")?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err("must not contain a user name or password (use token_file)");
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err("must not have a query or fragment (? or #)");
    }
    Ok(url.as_str().trim_end_matches('/').to_owned())
}

pub(super) fn read_server(reader: &mut ConfigReader<'_>, node: &SpannedNode) -> ServerSettings {
    let Some(fields) = reader.read_table(node, "[server]", SERVER_KEYS) else {
        return ServerSettings::default();
    };
    let mut keys = ServerKeyReader { reading: reader, fields: &fields, faults: Vec::new() };
    let token_file = keys.read_text("token_file", check_token_file).map(PathBuf::from);
    let mut settings = ServerSettings {
        enabled: keys.read_key("enabled", |reading, fields| reading.read_bool(fields, "enabled")),
        addr: keys.read_text("addr", check_address),
        url: keys.read_text("url", check_receiver_url),
        db: keys.read_text("db", check_database),
        token_file_origin: token_file.as_ref().and_then(|_| keys.locate_key("token_file")),
        token_file,
        answer_token_file: keys.read_text("answer_token_file", check_token_file).map(PathBuf::from),
        tls_cert: keys.read_text("tls_cert", check_path).map(PathBuf::from),
        tls_key: keys.read_text("tls_key", check_path).map(PathBuf::from),
        trusted_header: keys.read_text("trusted_header", check_header),
        trusted_proxies: keys.read_texts("trusted_proxies", check_proxy),
        roles: keys.read_key("roles", read_roles),
        allow_hosts: keys.read_texts("allow_hosts", check_host),
        unknown_senders: keys.read_text("unknown_senders", check_unknown_senders),
        poll_active: keys.read_interval("poll_active", "60s"),
        poll_silent: keys.read_interval("poll_silent", "2s"),
        silent_after: keys.read_interval("silent_after", "300s"),
        max_stream_clients: keys.read_key("max_stream_clients", |reading, fields| {
            read_count(reading, fields, "max_stream_clients", (1000, Fallback::Nothing))
        }),
        faults: Vec::new(),
    };
    settings.faults = keys.faults;
    check_pairs(reader, &fields, &mut settings);
    settings
}

/// Reads keys one by one, and collects the errors of each.
struct ServerKeyReader<'k, 's> {
    reading: &'k mut ConfigReader<'s>,
    fields: &'k ObjectFields<'k>,
    faults: Vec<ServerSettingsFault>,
}

impl<'s> ServerKeyReader<'_, 's> {
    /// Reads one key. Errors that occur meanwhile belong to it.
    fn read_key<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&mut ConfigReader<'s>, &ObjectFields<'_>) -> T,
    ) -> T {
        let before = self.reading.diagnostics.len();
        let value = read(self.reading, self.fields);
        let found = self.reading.diagnostics.iter().skip(before);
        let errors = found.filter(|found| found.severity == Severity::Error).cloned();
        self.faults.extend(errors.map(|finding| ServerSettingsFault { key, finding }));
        value
    }

    fn read_text(&mut self, key: &'static str, check: fn(String) -> Result<String, UserMessage>) -> Option<String> {
        self.read_key(key, |reading, fields| read_checked_text(reading, fields.get(key)?, key, check))
    }

    fn read_texts(&mut self, key: &'static str, check: fn(String) -> Result<String, UserMessage>) -> Vec<String> {
        self.read_key(key, |reading, fields| {
            fields.get(key).map(|node| read_checked_texts(reading, node, key, check)).unwrap_or_default()
        })
    }

    fn read_interval(&mut self, key: &'static str, default: &str) -> Option<Duration> {
        self.read_key(key, |reading, fields| read_interval(reading, fields, key, default, Fallback::Nothing))
    }

    /// The position of a key's value.
    fn locate_key(&self, key: &str) -> Option<SourceLocation> {
        self.fields.get(key).map(|node| self.reading.locate_offset(node.offset))
    }
}

fn check_address(text: String) -> Result<String, UserMessage> {
    let is_named = text.rsplit_once(':').is_some_and(|(host, port)| {
        let of_a_name = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
        !host.is_empty() && host.chars().all(of_a_name) && port.parse::<u16>().is_ok()
    });
    if is_named || text.parse::<SocketAddr>().is_ok() {
        return Ok(text);
    }
    let message = UserMessage::new(format!("must be IP:PORT or HOST:PORT, not \"{text}\""));
    Err(message.with_hint("write an address such as \"127.0.0.1:7433\""))
}

pub(super) fn check_receiver_url(text: String) -> Result<String, UserMessage> {
    // The message does not repeat the text, which may contain a password.
    normalize_receiver_url(&text)
        .map_err(|fault| UserMessage::new(fault).with_hint("write \"https://HOST\" or \"http://HOST:PORT\""))
}

fn check_database(text: String) -> Result<String, UserMessage> {
    let names_a_file = text.strip_prefix("sqlite:").is_some_and(|path| !path.is_empty());
    if names_a_file || is_postgres_url(&text) {
        return Ok(text);
    }
    let hint = "write \"sqlite:/home/me/snell.db\", or remove \"db\"";
    Err(UserMessage::new("must be sqlite:PATH or postgres://USER@HOST/NAME").with_hint(hint))
}

/// Whether a database is a PostgreSQL address.
fn is_postgres_url(database: &str) -> bool {
    ["postgres://", "postgresql://"].iter().any(|scheme| database.starts_with(scheme))
}

fn check_unknown_senders(text: String) -> Result<String, UserMessage> {
    if UNKNOWN_SENDERS.contains(&text.as_str()) {
        return Ok(text);
    }
    Err("must be \"refuse\" or \"accept\"".into())
}

/// Keys that mean nothing without another one.
const PAIRS: &[(&str, &str)] = &[
    ("tls_cert", "tls_key"),
    ("tls_key", "tls_cert"),
    ("trusted_header", "trusted_proxies"),
    ("trusted_header", "roles"),
    ("trusted_proxies", "trusted_header"),
    ("roles", "trusted_header"),
];

/// Reports keys without the one that they need: the receiver must not start without TLS, or open to everyone.
fn check_pairs(reader: &mut ConfigReader<'_>, fields: &ObjectFields<'_>, settings: &mut ServerSettings) {
    for (key, needed) in PAIRS {
        if let Some(node) = fields.get(key).filter(|_| !fields.contains_key(needed)) {
            let message = UserMessage::new(format!("\"{key}\" needs \"{needed}\""));
            reader.add_error(
                node.offset,
                message.with_hint(format!("add \"{needed}\" to [server], or remove \"{key}\"")),
            );
            let finding = reader.diagnostics.last().cloned();
            settings.faults.extend(finding.map(|finding| ServerSettingsFault { key, finding }));
        }
    }
}

/// The roles of people whom a proxy may name.
const ROLES: &[&str] = &["look", "answer", "administer"];

fn read_roles(reader: &mut ConfigReader<'_>, fields: &ObjectFields<'_>) -> BTreeMap<String, String> {
    let Some(people) = fields.get("roles").and_then(|node| reader.read_object(node, "\"server.roles\"")) else {
        return BTreeMap::new();
    };
    let check = |role: String| match ROLES.contains(&role.as_str()) {
        true => Ok(role),
        false => Err(UserMessage::new("must be \"look\", \"answer\" or \"administer\"")),
    };
    let members = people.distinct_members();
    members
        .filter_map(|person| Some((person.key.clone(), read_checked_text(reader, &person.node, &person.key, check)?)))
        .collect()
}

fn check_path(text: String) -> Result<String, UserMessage> {
    if text.trim().is_empty() {
        return Err(UserMessage::new("is empty").with_hint("write the path of a PEM file"));
    }
    Ok(text)
}

fn check_header(text: String) -> Result<String, UserMessage> {
    let is_name = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    if is_name {
        return Ok(text);
    }
    Err(UserMessage::new("must be the name of a header").with_hint("write a name such as \"X-Forwarded-User\""))
}

fn check_proxy(text: String) -> Result<String, UserMessage> {
    if text == "unix" || text.parse::<IpAddr>().is_ok() {
        return Ok(text);
    }
    let message = UserMessage::new(format!("has the invalid proxy \"{text}\""));
    Err(message.with_hint("write an IP address such as \"127.0.0.1\", or \"unix\" for the unix socket"))
}

fn check_token_file(text: String) -> Result<String, UserMessage> {
    if text.trim().is_empty() {
        return Err(UserMessage::new("is empty").with_hint("write the path of the file with the token"));
    }
    Ok(text)
}

fn check_host(host: String) -> Result<String, UserMessage> {
    let is_host = !host.is_empty() && host.chars().all(|c| c.is_ascii_graphic() && !"/@?#*".contains(c));
    if is_host {
        return Ok(host);
    }
    let message = UserMessage::new(format!("has the invalid host \"{host}\""));
    Err(message.with_hint("write a host such as \"box.example\" or \"box.example:7433\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receiver_has_a_scheme_and_a_host_and_perhaps_a_path() {
        let cases = [
            ("http://127.0.0.1:7433", Some("http://127.0.0.1:7433")),
            ("http://127.0.0.1:7433/", Some("http://127.0.0.1:7433")),
            ("https://Box.Example/snell/", Some("https://box.example/snell")),
            ("HTTP://[::1]:7433", Some("http://[::1]:7433")),
            ("https://box.example:443", Some("https://box.example")),
            ("box.example:7433", None),
            ("ftp://box.example", None),
            ("http://", None),
            ("http://:7433", None),
            ("http:box.example", None),
            ("http://box.example:99999", None),
            ("http://me:secret@box.example", None),
            ("http://box.example/?token=secret", None),
            ("http://box.example/#there", None),
            ("", None),
        ];
        for (written, expected) in cases {
            assert_eq!(normalize_receiver_url(written).ok().as_deref(), expected, "{written}");
        }
    }

    #[test]
    fn a_later_file_overrides_the_keys_that_it_sets() {
        let earlier = ServerSettings {
            addr: Some("127.0.0.1:1".into()),
            url: Some("http://earlier".into()),
            allow_hosts: vec!["earlier".into()],
            ..ServerSettings::default()
        };
        let later = ServerSettings {
            url: Some("http://later".into()),
            max_stream_clients: Some(3),
            ..ServerSettings::default()
        };
        let both = later.merge_over(earlier);
        assert_eq!(both.addr.as_deref(), Some("127.0.0.1:1"));
        assert_eq!(both.url.as_deref(), Some("http://later"));
        assert_eq!(both.allow_hosts, ["earlier"]);
        assert_eq!(both.max_stream_clients, Some(3));
    }
}
