//! Addresses that a tool fetches, and requests that it makes to an interface.

use super::desk::{Desk, MAX_TEXTS};
use super::request::{Request, ends_with, is_key};
use super::tables::servers;

/// How the keys end at which addresses stand.
const ADDRESS: &[&str] = &["url", "urls", "uri", "href", "address", "link"];
/// Where a path of an interface stands.
const ENDPOINT: &[&str] = &["path", "endpoint", "route", "apipath", "url", "uri"];

pub(super) fn look(request: &Request<'_>, desk: &mut Desk<'_>) -> bool {
    if request.is_about(servers::FETCHERS) {
        let at = request.leaves.iter().filter(|leaf| ends_with(leaf.key, ADDRESS));
        let addresses = at.map(|leaf| leaf.text).filter(|text| text.contains("://"));
        addresses.take(MAX_TEXTS).for_each(|address| desk.fetch(address));
    }
    deletes(request, desk)
}

/// `DELETE` of something, at an interface that takes any request.
fn deletes(request: &Request<'_>, desk: &mut Desk<'_>) -> bool {
    let method = request.text(&["method", "httpmethod", "verb"]).unwrap_or_default();
    let at = request.leaves.iter().find(|leaf| is_key(leaf.key, ENDPOINT));
    let Some(endpoint) = at.map(|leaf| leaf.text) else {
        return false;
    };
    if method.eq_ignore_ascii_case("delete") {
        let address = if endpoint.contains("://") {
            endpoint.to_owned()
        } else {
            format!("https://server/{}", endpoint.trim_start_matches('/'))
        };
        return desk.program(&["curl", "-X", "DELETE", &address]);
    }
    if endpoint.contains("_delete_by_query") || endpoint.ends_with("/points/delete") {
        desk.mark("cloud.delete-request");
        return true;
    }
    false
}
