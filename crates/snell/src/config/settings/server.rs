//! `[server]`: the receiver, for whoever runs one and for whoever sends events to one.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use url::Url;

use super::values::{
    DEFAULT_REMARK, read_checked_text, read_checked_texts, read_count, read_interval, resolve_in_home,
};
use crate::config::reader::{ConfigReader, ObjectFields};
use crate::config::spanned::SpannedNode;
use crate::diagnostic::{Diagnostic, Severity};
use crate::hook::SourceLocation;

/// What the user's file says about the receiver. Where it says nothing, whoever asks has a default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerSettings {
    /// Whether the receiver takes events.
    pub enabled: Option<bool>,
    /// Where the receiver listens, as `IP:PORT` or `HOST:PORT`.
    pub addr: Option<String>,
    /// The receiver that events of this machine are sent to.
    pub url: Option<String>,
    /// The receiver's database, as `sqlite:PATH`; or as an address of PostgreSQL, which the receiver refuses.
    pub db: Option<String>,
    /// The file that holds the token, in full if the home directory is known.
    pub token_file: Option<PathBuf>,
    /// Where that was written.
    pub token_file_origin: Option<SourceLocation>,
    /// Further hosts by whose names the receiver may be addressed.
    pub allow_hosts: Vec<String>,
    /// What the receiver does with requests without a token whose user the kernel does not tell: `refuse` or `accept`.
    pub unknown_senders: Option<String>,
    /// How often the receiver looks around while events arrive.
    pub poll_active: Option<Duration>,
    /// How often it looks around when none do.
    pub poll_silent: Option<Duration>,
    /// For how long nothing must have arrived before that counts.
    pub silent_after: Option<Duration>,
    /// How many may listen to the stream of events at a time.
    pub max_stream_clients: Option<u32>,
    /// What was written and cannot be understood. Nothing counts in its place.
    pub faults: Vec<ServerSettingsFault>,
}

/// A key of `[server]` whose value cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerSettingsFault {
    /// The key.
    pub key: &'static str,
    /// What is wrong with its value, as it is among the findings of the file.
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
    "allow_hosts",
    "unknown_senders",
    "poll_active",
    "poll_silent",
    "silent_after",
    "max_stream_clients",
];

impl ServerSettings {
    /// These settings, and those of an earlier file where these say nothing.
    pub(super) fn merge_over(self, earlier: Self) -> Self {
        Self {
            enabled: self.enabled.or(earlier.enabled),
            addr: self.addr.or(earlier.addr),
            url: self.url.or(earlier.url),
            db: self.db.or(earlier.db),
            token_file: self.token_file.or(earlier.token_file),
            token_file_origin: self.token_file_origin.or(earlier.token_file_origin),
            allow_hosts: if self.allow_hosts.is_empty() { earlier.allow_hosts } else { self.allow_hosts },
            unknown_senders: self.unknown_senders.or(earlier.unknown_senders),
            poll_active: self.poll_active.or(earlier.poll_active),
            poll_silent: self.poll_silent.or(earlier.poll_silent),
            silent_after: self.silent_after.or(earlier.silent_after),
            max_stream_clients: self.max_stream_clients.or(earlier.max_stream_clients),
            faults: [earlier.faults, self.faults].concat(),
        }
    }

    /// The same, with paths that begin in this home directory in full.
    pub(super) fn resolve_paths(self, home: Option<&Path>) -> Self {
        Self { token_file: self.token_file.map(|path| resolve_in_home(&path, home)), ..self }
    }
}

/// The address of a receiver as Snell keeps it: `http` or `https`, a host, perhaps a path, and nothing else.
///
/// # Errors
///
/// When it is no such address: what is wrong with it.
pub fn normalize_receiver_url(written: &str) -> Result<String, &'static str> {
    let has_scheme = ["http://", "https://"].iter().any(|scheme| {
        let head = written.get(..scheme.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(scheme))
    });
    if !has_scheme {
        return Err("does not begin with http:// or https://");
    }
    let url = Url::parse(written).map_err(|_| "has no host that can be understood")?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err("holds a user's name or password, which belongs into token_file");
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err("has a part after its path (? or #)");
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
        allow_hosts: keys.read_key("allow_hosts", |reading, fields| {
            let node = fields.get("allow_hosts");
            node.map(|node| read_checked_texts(reading, node, "allow_hosts", check_host)).unwrap_or_default()
        }),
        unknown_senders: keys.read_text("unknown_senders", check_unknown_senders),
        poll_active: keys.read_interval("poll_active", "60s"),
        poll_silent: keys.read_interval("poll_silent", "2s"),
        silent_after: keys.read_interval("silent_after", "300s"),
        max_stream_clients: keys.read_key("max_stream_clients", |reading, fields| {
            read_count(reading, fields, "max_stream_clients", (1000, DEFAULT_REMARK))
        }),
        faults: Vec::new(),
    };
    settings.faults = keys.faults;
    warn_of_postgres(reader, &fields, settings.db.as_deref());
    settings
}

/// The keys that are written, read one by one, with what is wrong with each.
struct ServerKeyReader<'k, 's> {
    reading: &'k mut ConfigReader<'s>,
    fields: &'k ObjectFields<'k>,
    faults: Vec<ServerSettingsFault>,
}

impl<'s> ServerKeyReader<'_, 's> {
    /// What a key says. Whatever errors are found on the way are this key's.
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

    fn read_text(&mut self, key: &'static str, check: fn(String) -> Result<String, String>) -> Option<String> {
        self.read_key(key, |reading, fields| read_checked_text(reading, fields.get(key)?, key, check))
    }

    fn read_interval(&mut self, key: &'static str, default: &str) -> Option<Duration> {
        self.read_key(key, |reading, fields| read_interval(reading, fields, key, default, DEFAULT_REMARK))
    }

    /// Where a key's value was written.
    fn locate_key(&self, key: &str) -> Option<SourceLocation> {
        self.fields.get(key).map(|node| self.reading.locate_offset(node.offset))
    }
}

fn check_address(text: String) -> Result<String, String> {
    let is_named = text.rsplit_once(':').is_some_and(|(host, port)| {
        let of_a_name = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
        !host.is_empty() && host.chars().all(of_a_name) && port.parse::<u16>().is_ok()
    });
    if is_named || text.parse::<SocketAddr>().is_ok() {
        return Ok(text);
    }
    Err(format!("must be IP:PORT or HOST:PORT, not \"{text}\"; write \"127.0.0.1:7433\" ({DEFAULT_REMARK})"))
}

fn check_receiver_url(text: String) -> Result<String, String> {
    // The text itself may hold a password, so it is not repeated.
    normalize_receiver_url(&text)
        .map_err(|fault| format!("{fault}; write \"https://HOST\" or \"http://HOST:PORT\" (it does not count)"))
}

fn check_database(text: String) -> Result<String, String> {
    let names_a_file = text.strip_prefix("sqlite:").is_some_and(|path| !path.is_empty());
    if names_a_file || is_postgres_url(&text) {
        return Ok(text);
    }
    Err("must be sqlite:PATH; write \"sqlite:/home/me/snell.db\", or remove it".into())
}

/// What is wrong with a database that is not built in. It counts all the same: whoever named it does not want another one to be
/// used, so the receiver does not start.
fn warn_of_postgres(reader: &mut ConfigReader<'_>, fields: &ObjectFields<'_>, db: Option<&str>) {
    if let Some(node) = fields.get("db")
        && db.is_some_and(is_postgres_url)
    {
        reader.add_warning(
            node.offset,
            "\"db\" names PostgreSQL, which is not built in, so `snell serve` does not start; write \
             \"sqlite:/home/me/snell.db\"",
        );
    }
}

/// Whether a database is named as those of PostgreSQL are.
pub fn is_postgres_url(database: &str) -> bool {
    ["postgres://", "postgresql://"].iter().any(|scheme| database.starts_with(scheme))
}

fn check_unknown_senders(text: String) -> Result<String, String> {
    if UNKNOWN_SENDERS.contains(&text.as_str()) {
        return Ok(text);
    }
    Err("must be \"refuse\" or \"accept\"".into())
}

fn check_token_file(text: String) -> Result<String, String> {
    if text.trim().is_empty() {
        return Err("is empty; write the path of the file that holds the token".into());
    }
    Ok(text)
}

fn check_host(host: String) -> Result<String, String> {
    let is_host = !host.is_empty() && host.chars().all(|c| c.is_ascii_graphic() && !"/@?#*".contains(c));
    if is_host {
        return Ok(host);
    }
    Err(format!("names \"{host}\", which is no host; write \"box.example\" or \"box.example:7433\""))
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
    fn of_two_files_the_later_counts_where_it_says_something() {
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
