//! `[notify]`: when and how Snell notifies the user about agents.

mod quiet_hours;
mod secret_source;

use std::path::Path;
use std::time::Duration;

use super::values::{Fallback, read_checked_text, read_interval};
use crate::config::reader::{ConfigReader, ObjectFields};
use crate::config::spanned::{NodeValue, SpannedNode};
use crate::diagnostic::UserMessage;

pub use quiet_hours::QuietHours;
pub(super) use secret_source::HEADER_VALUE;
pub use secret_source::SecretSource;
use secret_source::{SECRET_TOKEN, SECRET_URL, SIGNING_SECRET};

/// How long a wait lasts before it is worth a notice.
const AFTER: Duration = Duration::from_secs(5);

/// The kinds of notices that are sent by default.
const DEFAULT_KINDS: &[NoticeKind] =
    &[NoticeKind::NeedsUser, NoticeKind::Request, NoticeKind::Blocked, NoticeKind::Ended];

/// A change that the user can be notified of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NoticeKind {
    /// An agent waits for its user.
    NeedsUser,
    /// An agent asks for something that the user can answer from elsewhere.
    Request,
    /// An agent ended its turn.
    Idle,
    /// A tool call was blocked.
    Blocked,
    /// An agent ended.
    Ended,
}

impl NoticeKind {
    /// All kinds.
    pub const ALL: &[Self] = &[Self::NeedsUser, Self::Request, Self::Idle, Self::Blocked, Self::Ended];

    /// Its word in `on`, in the database and in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NeedsUser => "needs_user",
            Self::Request => "request",
            Self::Idle => "idle",
            Self::Blocked => "blocked",
            Self::Ended => "ended",
        }
    }

    /// Parses the word from [`Self::as_str`].
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.as_str() == word)
    }
}

/// When and how Snell notifies the user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct NotifySettings {
    desktop: Option<bool>,
    /// A topic of ntfy.
    pub ntfy: Option<NtfyTarget>,
    /// The address of an incoming webhook of Slack.
    pub slack: Option<SecretSource>,
    /// A receiver of signed requests.
    pub webhook: Option<WebhookTarget>,
    /// A command line for `/bin/sh`.
    pub command: Option<String>,
    on: Option<Vec<NoticeKind>>,
    after: Option<Duration>,
    /// The time of the day in which nothing is sent.
    pub quiet: Option<QuietHours>,
    skip_focused: Option<bool>,
}

/// A topic of ntfy.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NtfyTarget {
    /// The address of the topic. On a public server, the topic is the password.
    pub url: String,
    /// The access token.
    pub token: Option<SecretSource>,
}

/// A receiver of signed requests.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WebhookTarget {
    /// Its address.
    pub url: String,
    /// The key of the signature.
    pub secret: SecretSource,
}

/// Addresses may contain secrets.
impl std::fmt::Debug for NtfyTarget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NtfyTarget").field("token", &self.token).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for WebhookTarget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WebhookTarget").field("secret", &self.secret).finish_non_exhaustive()
    }
}

/// The keys of `[notify]`.
pub(super) const NOTIFY_KEYS: &[&str] =
    &["desktop", "ntfy", "slack", "webhook", "command", "on", "after", "quiet", "skip_focused"];
/// The keys of `ntfy`, if it is a table.
pub(super) const NTFY_KEYS: &[&str] = &["url", "token_file", "token_env", "token"];
/// The keys of `slack`, if it is a table.
const SLACK_KEYS: &[&str] = &["url_file", "url_env", "url"];
/// The keys of `webhook`.
pub(super) const WEBHOOK_KEYS: &[&str] = &["url", "secret_file", "secret_env", "secret"];

impl NotifySettings {
    /// Whether the desktop shows notices.
    pub fn desktop(&self) -> bool {
        self.desktop.unwrap_or(false)
    }

    /// Whether notices of this kind are sent. A request is a wait that can be answered from elsewhere.
    pub fn wants(&self, kind: NoticeKind) -> bool {
        let kinds = self.on.as_deref().unwrap_or(DEFAULT_KINDS);
        kinds.contains(&kind) || kind == NoticeKind::Request && kinds.contains(&NoticeKind::NeedsUser)
    }

    /// Whether any target can show buttons that answer a request.
    pub fn has_answer_targets(&self) -> bool {
        let has_target =
            self.ntfy.is_some() || self.slack.is_some() || self.webhook.is_some() || self.command.is_some();
        has_target && self.wants(NoticeKind::Request)
    }

    /// How long a wait must last before a notice is sent.
    pub fn after(&self) -> Duration {
        self.after.unwrap_or(AFTER)
    }

    /// Whether nothing is sent about an agent whose terminal is in front.
    pub fn skip_focused(&self) -> bool {
        self.skip_focused.unwrap_or(true)
    }

    /// Fills keys that these settings lack from an earlier file.
    pub(super) fn merge_over(self, earlier: Self) -> Self {
        Self {
            desktop: self.desktop.or(earlier.desktop),
            ntfy: self.ntfy.or(earlier.ntfy),
            slack: self.slack.or(earlier.slack),
            webhook: self.webhook.or(earlier.webhook),
            command: self.command.or(earlier.command),
            on: self.on.or(earlier.on),
            after: self.after.or(earlier.after),
            quiet: self.quiet.or(earlier.quiet),
            skip_focused: self.skip_focused.or(earlier.skip_focused),
        }
    }

    /// The same with absolute paths.
    pub(super) fn resolve_paths(self, home: Option<&Path>) -> Self {
        let resolve = |secret: SecretSource| secret.resolve_path(home);
        Self {
            ntfy: self.ntfy.map(|ntfy| NtfyTarget { token: ntfy.token.map(resolve), ..ntfy }),
            slack: self.slack.map(resolve),
            webhook: self.webhook.map(|webhook| WebhookTarget { secret: resolve(webhook.secret), ..webhook }),
            ..self
        }
    }
}

pub(super) fn read_notify(reader: &mut ConfigReader<'_>, node: &SpannedNode) -> NotifySettings {
    let Some(fields) = reader.read_table(node, "[notify]", NOTIFY_KEYS) else {
        return NotifySettings::default();
    };
    NotifySettings {
        desktop: reader.read_bool(&fields, "desktop"),
        ntfy: fields.get("ntfy").and_then(|node| read_ntfy(reader, node)),
        slack: fields.get("slack").and_then(|node| read_slack(reader, node)),
        webhook: fields.get("webhook").and_then(|node| read_webhook(reader, node)),
        command: fields.get("command").and_then(|_| reader.read_required_text(&fields, "command", "[notify]")),
        on: fields.get("on").map(|node| read_kinds(reader, node)),
        after: read_interval(reader, &fields, "after", "5s", Fallback::Default),
        quiet: fields
            .get("quiet")
            .and_then(|node| read_checked_text(reader, node, "quiet", |text| QuietHours::parse(&text))),
        skip_focused: reader.read_bool(&fields, "skip_focused"),
    }
}

fn read_ntfy(reader: &mut ConfigReader<'_>, node: &SpannedNode) -> Option<NtfyTarget> {
    if let NodeValue::String(_) = node.value {
        return Some(NtfyTarget { url: read_checked_text(reader, node, "ntfy", check_url)?, token: None });
    }
    let fields = reader.read_table(node, "\"ntfy\"", NTFY_KEYS)?;
    let url = read_url(reader, &fields, "\"ntfy\"")?;
    Some(NtfyTarget { url, token: SECRET_TOKEN.read(reader, &fields) })
}

fn read_slack(reader: &mut ConfigReader<'_>, node: &SpannedNode) -> Option<SecretSource> {
    if let NodeValue::String(text) = &node.value {
        reader.add_warning(node.offset, SECRET_URL.describe_inline_secret());
        return Some(SecretSource::Inline(text.clone()));
    }
    let fields = reader.read_table(node, "\"slack\"", SLACK_KEYS)?;
    SECRET_URL.read_required(reader, &fields, "\"slack\"")
}

fn read_webhook(reader: &mut ConfigReader<'_>, node: &SpannedNode) -> Option<WebhookTarget> {
    let fields = reader.read_table(node, "\"webhook\"", WEBHOOK_KEYS)?;
    let url = read_url(reader, &fields, "\"webhook\"");
    let secret = SIGNING_SECRET.read_required(reader, &fields, "\"webhook\"");
    Some(WebhookTarget { url: url?, secret: secret? })
}

fn read_url(reader: &mut ConfigReader<'_>, fields: &ObjectFields<'_>, what: &str) -> Option<String> {
    reader.read_required_text(fields, "url", what)?;
    read_checked_text(reader, fields.get("url")?, "url", check_url)
}

/// An address for requests. Its path and query are kept, because services put keys there.
fn check_url(text: String) -> Result<String, UserMessage> {
    let refuse = |problem: &str| {
        Err(UserMessage::new(problem).with_hint("write an address such as \"https://ntfy.sh/my-topic\""))
    };
    match url::Url::parse(&text) {
        Ok(url) if !matches!(url.scheme(), "http" | "https") => refuse("must start with http:// or https://"),
        Ok(url) if !url.username().is_empty() || url.password().is_some() => {
            refuse("must not contain a user name or password")
        }
        Ok(url) if url.host_str().is_some() => Ok(text),
        Ok(_) | Err(_) => refuse("must be an address with http:// or https://"),
    }
}

fn read_kinds(reader: &mut ConfigReader<'_>, node: &SpannedNode) -> Vec<NoticeKind> {
    let mut kinds = Vec::new();
    for item in reader.read_array(node, "\"on\"").unwrap_or_default() {
        let Some(word) = reader.expect_text(item, "on") else {
            continue;
        };
        match NoticeKind::parse(&word) {
            Some(kind) => kinds.push(kind),
            None => {
                let known: Vec<_> = NoticeKind::ALL.iter().map(|kind| kind.as_str()).collect();
                let message = UserMessage::new(format!("\"on\" has the unknown kind \"{word}\""))
                    .with_hint(format!("use one of {}", known.join(", ")))
                    .with_suggestion(&word, known);
                reader.add_error(item.offset, message);
            }
        }
    }
    kinds
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::discovery::FileOwner;
    use crate::config::source::ConfigSource;

    fn read(text: &str) -> (NotifySettings, Vec<String>) {
        let source = ConfigSource::from_text("snell.toml".into(), text.into());
        let mut reader = ConfigReader::new(&source, FileOwner::User);
        let node = SpannedNode::from_toml(text).unwrap();
        let settings = read_notify(&mut reader, &node);
        (settings, reader.diagnostics.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn every_fault_has_its_position_and_a_remedy() {
        let cases = [
            ("desktop = 1", "1:11: error: \"desktop\" must be true or false"),
            ("ntfy = 'ntfy.sh/me'", "\"ntfy\" must be an address with http"),
            ("ntfy = 'https://me:pw@ntfy.sh/t'", "\"ntfy\" must not contain a user name or password"),
            ("ntfy = { token_env = 'T' }", "\"ntfy\" has no \"url\""),
            (
                "ntfy = { url = 'https://ntfy.sh/t', token = 'tk' }",
                "warning: \"token\" is a secret in the file (hint: ",
            ),
            ("ntfy = { url = 'https://n.sh/t', token_env = 'A', token_file = 'f' }", "only one of"),
            ("slack = 'https://hooks.slack.com/x'", "warning: \"url\" is a secret in the file (hint: "),
            ("slack = {}", "\"slack\" has no \"url_file\""),
            ("webhook = { url = 'https://h.example' }", "\"webhook\" has no \"secret_file\""),
            ("webhook = 'https://h.example'", "\"webhook\" must be"),
            ("on = ['needs_use']", "unknown kind \"needs_use\" (hint: did you mean \"needs_user\"?)"),
            ("quiet = '22-7'", "\"quiet\" must be two times of the day (hint: write \"22:00-07:00\")"),
            ("after = '5'", "\"after\" must be a duration with a unit"),
            ("command = ' '", "\"command\" is empty"),
            ("sound = true", "warning: unknown key \"sound\" in [notify]"),
        ];
        for (text, expected) in cases {
            let (_, found) = read(text);
            assert!(found.iter().any(|found| found.contains(expected)), "{text}: {found:?}");
        }
    }

    #[test]
    fn no_secret_is_in_the_debug_output() {
        let text = "slack = 'https://hooks.slack.com/sekret'\nntfy = { url = 'https://ntfy.sh/sekret', token = 'sekret' }\n\
                    webhook = { url = 'https://h.example/sekret', secret = 'sekret' }";
        let (settings, found) = read(text);
        assert!(settings.slack.is_some() && settings.ntfy.is_some() && settings.webhook.is_some());
        assert!(!format!("{settings:?} {found:?}").contains("sekret"));
    }

    #[test]
    fn waits_blocks_and_ends_are_sent_by_default() {
        let (settings, _) = read("desktop = true");
        let wanted: Vec<_> = NoticeKind::ALL.iter().filter(|kind| settings.wants(**kind)).collect();
        assert_eq!(wanted, [&NoticeKind::NeedsUser, &NoticeKind::Request, &NoticeKind::Blocked, &NoticeKind::Ended]);
        assert!(settings.desktop() && settings.skip_focused());
        assert!(read("on = ['idle']").0.wants(NoticeKind::Idle));
    }
}
