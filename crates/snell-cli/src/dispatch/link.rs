//! The address of the page about a change.

use std::net::SocketAddr;

use snell::SnellSettings;
use snell_store::DispatchView;

/// Where the page is.
#[derive(Clone, Debug)]
pub(crate) enum PageLink {
    /// At the server of this process.
    At(SocketAddr),
    /// At the server that the settings describe, if it shows this database.
    FromSettings,
}

impl PageLink {
    /// The page about a change, if the address of a server is known: the one for other devices, or that of the listener.
    pub(super) fn format_url(&self, change: &DispatchView, settings: &SnellSettings) -> Option<String> {
        let base = settings.answers.url.clone().or_else(|| self.find_base(settings))?;
        Some(match &change.open_request {
            Some(uid) => format!("{base}/requests#request-{uid}"),
            None => format!("{base}/agents/{}", change.agent_id),
        })
    }

    fn find_base(&self, settings: &SnellSettings) -> Option<String> {
        let server = &settings.server;
        let address = match self {
            Self::At(address) => address.to_string(),
            Self::FromSettings if server.db.is_none() => server.addr.clone()?,
            Self::FromSettings => return None,
        };
        let is_everywhere = address.parse::<SocketAddr>().is_ok_and(|address| address.ip().is_unspecified());
        let scheme = if server.tls_cert.is_some() { "https" } else { "http" };
        (!is_everywhere).then(|| format!("{scheme}://{address}"))
    }
}
