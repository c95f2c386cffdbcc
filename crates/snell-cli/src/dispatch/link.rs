//! The address of an agent's page.

use std::net::SocketAddr;

use snell::ServerSettings;

/// Where the page is.
#[derive(Clone, Debug)]
pub(crate) enum PageLink {
    /// At the server of this process.
    At(SocketAddr),
    /// At the server that the settings describe, if it shows this database.
    FromSettings,
}

impl PageLink {
    /// The page of an agent, if the address of a server is known.
    pub(super) fn format_url(&self, agent_id: i64, server: &ServerSettings) -> Option<String> {
        let address = match self {
            Self::At(address) => address.to_string(),
            Self::FromSettings if server.db.is_none() => server.addr.clone()?,
            Self::FromSettings => return None,
        };
        let is_everywhere = address.parse::<SocketAddr>().is_ok_and(|address| address.ip().is_unspecified());
        (!is_everywhere).then(|| format!("http://{address}/agents/{agent_id}"))
    }
}
