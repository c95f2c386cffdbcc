//! The targets of notices.

mod http;
mod local;
mod signature;

use snell::NotifySettings;

use super::notice::Notice;
use super::secret::read_secret;
use http::HttpTarget;

/// The target of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DeliveryTarget {
    /// The hooks of `snell.toml` files.
    Hooks,
    /// The notices of the desktop.
    Desktop,
    Ntfy,
    Slack,
    Webhook,
    Command,
}

impl DeliveryTarget {
    pub(crate) const ALL: &[Self] =
        &[Self::Hooks, Self::Desktop, Self::Ntfy, Self::Slack, Self::Webhook, Self::Command];

    /// Its name in the database and in `[notify]`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Hooks => "hooks",
            Self::Desktop => "desktop",
            Self::Ntfy => "ntfy",
            Self::Slack => "slack",
            Self::Webhook => "webhook",
            Self::Command => "command",
        }
    }

    pub(crate) fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|target| target.name() == name)
    }

    /// Whether the user has set it up. Hooks are not a target of notices.
    pub(crate) fn is_configured(self, notify: &NotifySettings) -> bool {
        match self {
            Self::Hooks => false,
            Self::Desktop => notify.desktop(),
            Self::Ntfy => notify.ntfy.is_some(),
            Self::Slack => notify.slack.is_some(),
            Self::Webhook => notify.webhook.is_some(),
            Self::Command => notify.command.is_some(),
        }
    }
}

/// Checks that a target can be used, without sending anything. The error contains no secret.
pub(crate) fn check_target(target: DeliveryTarget, notify: &NotifySettings) -> Result<(), String> {
    let secret = match target {
        DeliveryTarget::Hooks | DeliveryTarget::Command => None,
        DeliveryTarget::Desktop => return local::check_desktop(),
        DeliveryTarget::Ntfy => notify.ntfy.as_ref().and_then(|ntfy| ntfy.token.as_ref()),
        DeliveryTarget::Slack => notify.slack.as_ref(),
        DeliveryTarget::Webhook => notify.webhook.as_ref().map(|webhook| &webhook.secret),
    };
    secret.map_or(Ok(()), |secret| read_secret(secret).map(drop))
}

/// Why a delivery failed. The text contains no secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DeliveryFailure {
    /// It may work later.
    Temporary(String),
    /// It will never work.
    Permanent(String),
}

impl DeliveryFailure {
    pub(crate) fn into_text(self) -> String {
        match self {
            Self::Temporary(text) | Self::Permanent(text) => text,
        }
    }
}

/// Sends notices to the user's targets.
#[derive(Debug)]
pub(crate) struct NoticeSender<'a> {
    notify: &'a NotifySettings,
}

impl<'a> NoticeSender<'a> {
    pub(crate) fn new(notify: &'a NotifySettings) -> Self {
        Self { notify }
    }

    /// Sends a notice to a target that is configured.
    pub(crate) fn send(&self, target: DeliveryTarget, notice: &Notice) -> Result<(), DeliveryFailure> {
        let notify = self.notify;
        match target {
            DeliveryTarget::Hooks => Ok(()),
            DeliveryTarget::Desktop => local::show_on_desktop(notice),
            DeliveryTarget::Command => {
                notify.command.as_deref().map_or(Ok(()), |line| local::run_command(line, notice))
            }
            DeliveryTarget::Ntfy => {
                notify.ntfy.as_ref().map_or(Ok(()), |ntfy| HttpTarget::for_ntfy(ntfy, notice)?.send())
            }
            DeliveryTarget::Slack => {
                notify.slack.as_ref().map_or(Ok(()), |url| HttpTarget::for_slack(url, notice)?.send())
            }
            DeliveryTarget::Webhook => {
                notify.webhook.as_ref().map_or(Ok(()), |webhook| HttpTarget::for_webhook(webhook, notice)?.send())
            }
        }
    }
}
