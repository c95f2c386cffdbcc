//! Addresses that a tool fetches, and requests that it makes to an interface.

use crate::tools::mcp::findings::{FindingSink, MAX_REQUEST_TEXTS};
use crate::tools::mcp::request::{McpRequest, has_key_suffix, is_key_named};
use crate::tools::mcp::tables::servers;

/// How the keys end at which addresses stand.
const URL_KEY_SUFFIXES: &[&str] = &["url", "urls", "uri", "href", "address", "link"];
/// Where a path of an interface stands.
const ENDPOINT_KEYS: &[&str] = &["path", "endpoint", "route", "apipath", "url", "uri"];

pub(in crate::tools::mcp) fn analyze_web_request(request: &McpRequest<'_>, desk: &mut FindingSink<'_>) -> bool {
    if request.is_about(servers::FETCHERS) {
        let at = request.leaves.iter().filter(|leaf| has_key_suffix(leaf.key, URL_KEY_SUFFIXES));
        let addresses = at.map(|leaf| leaf.text).filter(|text| text.contains("://"));
        addresses.take(MAX_REQUEST_TEXTS).for_each(|address| desk.add_fetch_effects(address));
    }
    analyze_delete_request(request, desk)
}

/// `DELETE` of something, at an interface that takes any request.
fn analyze_delete_request(request: &McpRequest<'_>, desk: &mut FindingSink<'_>) -> bool {
    let method = request.find_text(&["method", "httpmethod", "verb"]).unwrap_or_default();
    let at = request.leaves.iter().find(|leaf| is_key_named(leaf.key, ENDPOINT_KEYS));
    let Some(endpoint) = at.map(|leaf| leaf.text) else {
        return false;
    };
    if method.eq_ignore_ascii_case("delete") {
        let address = if endpoint.contains("://") {
            endpoint.to_owned()
        } else {
            format!("https://server/{}", endpoint.trim_start_matches('/'))
        };
        return desk.analyze_program(&["curl", "-X", "DELETE", &address]);
    }
    if endpoint.contains("_delete_by_query") || endpoint.ends_with("/points/delete") {
        desk.mark_rule("cloud.delete-request");
        return true;
    }
    false
}
