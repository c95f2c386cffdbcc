//! Every view, found by following links.

use std::collections::BTreeSet;

use crate::driver::BrowserSession;
use crate::server::BrowserTestServer;

/// Links to other targets than views.
const NO_VIEWS: &[&str] = &["/api/", "/assets/", "/export.html", "/logout"];

/// Views that must be found.
const KNOWN: &[&str] = &["/", "/agents/1", "/logging", "/logging/1", "/hooks", "/guard", "/requests", "/usage"];

/// One address for each kind of view. Addresses that differ only in numbers and query values are one kind.
pub fn discover_views(browser: &BrowserSession, server: &BrowserTestServer) -> Vec<String> {
    let mut kinds = BTreeSet::new();
    let mut found = Vec::new();
    let mut ahead = vec!["/".to_owned()];
    while let Some(path) = ahead.pop() {
        if NO_VIEWS.iter().any(|other| path.contains(other)) || !kinds.insert(classify_view(&path)) {
            continue;
        }
        browser.open_url(&server.page_url(&path));
        let links = list_same_origin_links(browser);
        // Error pages have links to the views, too.
        assert!(!links.is_empty(), "{path} leads nowhere: {}", browser.visible_text());
        ahead.extend(links);
        found.push(path);
    }
    for known in KNOWN {
        assert!(kinds.contains(&classify_view(known)), "{known} is not among {found:?}");
    }
    found
}

/// Pages without links to them: errors, and invalid forms.
pub const APART: &[&str] = &[
    "/agents/999999",
    "/logging/999999",
    "/agents/none",
    "/logging?since=then&q=x",
    "/guard?agent_id=x",
    "/agents/1?tools=yes",
    "/?q=x&state=asleep",
    "/?q=no-such-agent",
];

/// The links of a page within the server.
fn list_same_origin_links(browser: &BrowserSession) -> Vec<String> {
    let script = "return [...document.links].filter((link) => link.origin === location.origin)
        .map((link) => link.pathname + link.search)";
    serde_json::from_value(browser.run_script(script, &[])).unwrap()
}

/// The kind of an address: the names of its query parameters, with numbers replaced.
fn classify_view(path: &str) -> String {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let parts = path.split('/').map(|part| match part.parse::<u64>() {
        Ok(_) => "0",
        Err(_) => part,
    });
    let path: Vec<_> = parts.collect();
    let names = query.split('&').filter_map(|pair| pair.split('=').next());
    let names: BTreeSet<_> = names.collect();
    format!("{} {names:?}", path.join("/"))
}
