//! The right to answer requests of agents.

use std::borrow::Cow;

use snell::UserMessage;

use crate::http::errors::HttpError;
use crate::http::gate::RequestTransport;
use crate::settings::ServeSettings;

/// Whether a client may answer requests, and how it has shown that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AnswerRight {
    /// Through the unix socket, or over a connection of this user while there is no token.
    ThisUser,
    /// With the answer token in a header.
    Token,
    /// With the cookie of a login with the answer token.
    Cookie,
    /// A person whose role allows it.
    Person { name: String, proof: PersonProof },
    /// It may not.
    None,
}

/// How a person has shown who it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PersonProof {
    /// With its token in a header.
    Token,
    /// With something that a browser or a proxy adds to each request by itself.
    Browser,
}

impl AnswerRight {
    pub(crate) fn is_granted(&self) -> bool {
        *self != Self::None
    }

    /// Checks that a program may answer. Browsers send cookies by themselves, so a cookie alone is not enough.
    pub(crate) fn require_for_api(&self) -> Result<(), HttpError> {
        match self {
            Self::ThisUser | Self::Token | Self::Person { proof: PersonProof::Token, .. } => Ok(()),
            Self::Cookie | Self::Person { proof: PersonProof::Browser, .. } => {
                Err(HttpError::Forbidden(UserMessage::new("a cookie cannot answer requests here").with_hint(
                    "send the header `Authorization: Bearer TOKEN` with a token that may answer, or use the page",
                )))
            }
            Self::None => Err(HttpError::NoAnswerRight),
        }
    }

    /// The client in the value that forms carry.
    pub(crate) fn form_client(&self) -> Cow<'static, str> {
        match self {
            Self::ThisUser | Self::None => "this user".into(),
            Self::Token | Self::Cookie => "answer token".into(),
            Self::Person { name, .. } => format!("person {name}").into(),
        }
    }

    /// The author of answers of this client, for people.
    pub(crate) fn describe_author(&self, via: RequestTransport, settings: &ServeSettings) -> String {
        match self {
            Self::ThisUser | Self::None => settings.user_name.clone().unwrap_or_else(|| "this user".into()),
            Self::Token | Self::Cookie => format!("the answer token{}", describe_peer(via)),
            Self::Person { name, .. } => name.clone(),
        }
    }
}

/// Where a client is, for the end of a phrase.
pub(crate) fn describe_peer(via: RequestTransport) -> String {
    match via {
        RequestTransport::Tcp { peer, .. } => format!(" from {}", peer.to_canonical()),
        RequestTransport::UnixSocket => String::new(),
    }
}
