//! People whom a proxy in front of the server has identified, for single sign-on: it names them in a header.

use std::net::IpAddr;

use axum::http::{HeaderMap, HeaderName};

use crate::http::errors::HttpError;
use crate::http::gate::RequestTransport;
use crate::tokens::AccessRole;

/// The role of everyone who has none by name.
const EVERYONE: &str = "*";

/// The longest name in the header.
const MAX_NAME_BYTES: usize = 400;

/// The header in which proxies name people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustedHeader {
    name: HeaderName,
    proxies: Vec<TrustedProxy>,
    roles: Vec<(String, AccessRole)>,
}

/// A proxy whose header is believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrustedProxy {
    /// One that connects from this address.
    Address(IpAddr),
    /// One that connects to the unix socket.
    UnixSocket,
}

impl TrustedProxy {
    /// The word for the unix socket.
    const UNIX_SOCKET: &str = "unix";

    /// The proxy in a setting: an IP address, or `unix`.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            Self::UNIX_SOCKET => Some(Self::UnixSocket),
            address => address.parse().ok().map(|address: IpAddr| Self::Address(address.to_canonical())),
        }
    }
}

/// A person whom a proxy has named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProxiedPerson {
    pub(crate) name: String,
    pub(crate) role: AccessRole,
}

impl TrustedHeader {
    /// A header that these proxies set. The roles are those of people by name; `*` is everyone else. Nothing if the name is
    /// not that of a header.
    pub fn new(name: &str, proxies: Vec<TrustedProxy>, roles: Vec<(String, AccessRole)>) -> Option<Self> {
        Some(Self { name: name.parse().ok()?, proxies, roles })
    }

    /// Whether the connection is that of a proxy.
    pub(crate) fn trusts(&self, via: RequestTransport) -> bool {
        let proxy = match via {
            RequestTransport::Tcp { peer, .. } => TrustedProxy::Address(peer.to_canonical()),
            RequestTransport::UnixSocket => TrustedProxy::UnixSocket,
        };
        self.proxies.contains(&proxy)
    }

    /// The person in a request of a proxy; `None` if the header is missing. A header that a client could have sent beside the
    /// proxy's is refused.
    pub(crate) fn identify(&self, headers: &HeaderMap) -> Result<Option<ProxiedPerson>, HttpError> {
        let mut values = headers.get_all(&self.name).iter();
        let Some(value) = values.next() else {
            return Ok(None);
        };
        let name = std::str::from_utf8(value.as_bytes()).unwrap_or_default().trim();
        let is_name = !name.is_empty() && name.len() <= MAX_NAME_BYTES && !name.chars().any(char::is_control);
        if values.next().is_some() || !is_name {
            return Err(HttpError::NoToken);
        }
        let role_of = |wanted: &str| self.roles.iter().find(|(known, _)| known == wanted).map(|(_, role)| *role);
        match role_of(name).or_else(|| role_of(EVERYONE)) {
            Some(role) => Ok(Some(ProxiedPerson { name: name.to_owned(), role })),
            None => Err(HttpError::NoRole { name: name.to_owned() }),
        }
    }
}
