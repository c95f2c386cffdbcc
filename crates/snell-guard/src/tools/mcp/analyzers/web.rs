//! URLs that a tool fetches, and requests to an API.

use crate::tools::mcp::findings::{FindingSink, MAX_REQUEST_TEXTS};
use crate::tools::mcp::request::McpRequest;
use crate::tools::mcp::tables::{keys, servers};

pub(in crate::tools::mcp) fn analyze_web_request(request: &McpRequest<'_>, sink: &mut FindingSink<'_>) -> bool {
    if request.is_about(servers::FETCHERS) {
        let addresses = request.texts_at_suffix(keys::URL_SUFFIXES).filter(|text| text.contains("://"));
        addresses.take(MAX_REQUEST_TEXTS).for_each(|address| sink.add_fetch_effects(address));
    }
    analyze_delete_request(request, sink)
}

/// A `DELETE` request to an API.
fn analyze_delete_request(request: &McpRequest<'_>, sink: &mut FindingSink<'_>) -> bool {
    let method = request.find_text(&["method", "httpmethod", "verb"]).unwrap_or_default();
    let Some(endpoint) = request.find_text(keys::ENDPOINTS) else {
        return false;
    };
    if method.eq_ignore_ascii_case("delete") {
        let address = if endpoint.contains("://") {
            endpoint.to_owned()
        } else {
            format!("https://server/{}", endpoint.trim_start_matches('/'))
        };
        return sink.analyze_program(&["curl", "-X", "DELETE", &address]);
    }
    if endpoint.contains("_delete_by_query") || endpoint.ends_with("/points/delete") {
        sink.mark_rule("cloud.delete-request");
        return true;
    }
    false
}
