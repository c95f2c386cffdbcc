//! Common properties of all views: headers, methods, access and caching.

use snell_server::{AccessToken, page_routes};

use super::{create_waiting_agent, get_page, slice_between, start_with_stopped_clock, stop_clock};
use crate::support::TestApp;

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
    base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// Every view and fragment of an existing agent. Signed links have tests of their own (`requests.rs`).
fn list_view_paths() -> Vec<String> {
    let is_apart = |path: &str| path.starts_with("/assets") || path.contains("{link}");
    let is_for_looking = |(method, path): &(&str, &str)| *method == "GET" && !is_apart(path);
    let concrete = |(_, path): (&str, &str)| path.replace("{id}", "1");
    let all: Vec<_> = page_routes().filter(is_for_looking).map(concrete).collect();
    assert!(all.len() > 8, "{all:?}");
    all
}

fn is_page(path: &str) -> bool {
    !path.starts_with("/fragments") && path != "/login"
}

#[test]
fn every_view_is_html_that_is_complete_without_scripts() {
    let app = start_with_stopped_clock();
    create_waiting_agent(&app, "s1", "Shall I?");
    for path in list_view_paths().iter().filter(|path| *path != "/login") {
        let answer = app.request("GET", path).without_chunking().send();
        assert_eq!(answer.status, 200, "{path}");
        assert_eq!(answer.header("content-type"), Some("text/html; charset=utf-8"), "{path}");
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{path}");
        let body = &answer.body;
        for inline in ["<script>", " style=", " onclick", " onload", "javascript:"] {
            assert!(!body.contains(inline), "{path}: {inline}");
        }
        if path.ends_with("export.html") {
            continue;
        }
        let kept_to_itself = [
            ("content-security-policy", POLICY),
            ("x-content-type-options", "nosniff"),
            // With a stricter policy, browsers send our own forms without their origin.
            ("referrer-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
            ("cross-origin-opener-policy", "same-origin"),
        ];
        for (name, value) in kept_to_itself {
            assert_eq!(answer.header(name), Some(value), "{path}");
        }
        assert!(!body.contains("<style"), "{path}");
        if is_page(path) {
            for part in ["<html lang=\"en\">", "<main ", "<nav ", "<header ", "href=\"#main\"", "<title>", "viewport"] {
                assert!(body.contains(part), "{path}: {part}");
            }
            assert_eq!(body.matches("<h1").count(), 1, "{path}");
            assert!(body.ends_with("</html>"), "{path}");
        }
    }
}

#[test]
fn a_fragment_is_what_its_view_contains() {
    let app = start_with_stopped_clock();
    create_waiting_agent(&app, "s1", "Shall I?");
    let (all, one) = (get_page(&app, "/").body, get_page(&app, "/agents/1").body);
    let cases = [
        ("/fragments/counts", &all),
        ("/fragments/needs", &all),
        ("/fragments/agents", &all),
        ("/fragments/agents/1", &all),
        ("/fragments/agents?only=1", &all),
        ("/fragments/agents/1/head", &one),
        ("/fragments/agents/1/timeline", &one),
    ];
    for (path, view) in cases {
        let fragment = get_page(&app, path).body;
        assert!(fragment.len() > 60, "{path}: {fragment}");
        assert!(view.contains(&fragment), "{path}: {fragment}");
    }
    // Every region of a view has a fragment with the region's id.
    for view in [&all, &one] {
        for named in view.split("data-src=\"").skip(1) {
            let path = named.split('"').next().unwrap();
            let fragment = get_page(&app, path).body;
            let before = view.split(&format!("data-src=\"{path}\"")).next().unwrap();
            let id = before.rsplit("id=\"").next().unwrap().split('"').next().unwrap();
            assert!(fragment.contains(&format!("id=\"{id}\"")), "{path}: {id}");
        }
    }
}

#[test]
fn a_head_request_is_a_get_request_without_a_body() {
    let app = start_with_stopped_clock();
    create_waiting_agent(&app, "s1", "Shall I?");
    for path in ["/", "/agents/1", "/fragments/agents/1"] {
        let (head, look) = (app.request("HEAD", path).send(), app.get(path));
        assert_eq!((head.status, head.body.as_str()), (200, ""), "{path}");
        let without_date = |answer: &snell_test_support::http::HttpResponse| {
            let mut headers = answer.headers.clone();
            headers.retain(|(name, _)| name != "date");
            headers
        };
        assert_eq!(without_date(&head), without_date(&look), "{path}");
    }
}

#[test]
fn views_can_only_be_read() {
    let app = TestApp::start();
    app.begin_session("s1");
    for path in list_view_paths().iter().filter(|path| *path != "/login") {
        for method in ["POST", "PUT", "DELETE", "PATCH"] {
            let answer = app.request(method, path).json("{}").send();
            assert_eq!(answer.status, 405, "{method} {path}");
            assert_eq!(answer.header("allow"), Some("GET,HEAD"), "{method} {path}");
        }
    }
    assert_eq!(app.request("GET", "/logout").send().status, 405);
}

#[test]
fn an_error_is_a_page_with_links() {
    let app = TestApp::start();
    app.begin_session("s1");
    let cases = [
        ("/agents/99", 404, "There is no agent 99."),
        ("/agents/99/export.html", 404, "There is no agent 99."),
        ("/agents/x", 400, "The path has no valid agent number"),
        ("/agents/-1", 400, "The path has no valid agent number"),
        ("/agents/99999999999999999999", 400, "The path has no valid agent number"),
        ("/agents/1?nonsense=1", 400, "Unknown parameter &quot;nonsense&quot;"),
        ("/agents/1?before=%3Cscript%3E", 400, ", not &quot;&lt;script&gt;&quot;"),
        ("/agents/1?before=x", 400, "must be the value in the link &quot;Older&quot; of a page"),
        ("/logging?before=x", 400, "must be the value in the link &quot;Older&quot; of a page"),
        ("/?x", 400, "Unknown parameter &quot;x&quot;"),
    ];
    for (path, status, message) in cases {
        let answer = app.get(path);
        assert_eq!(answer.header("referrer-policy"), Some("same-origin"), "{path}");
        assert_eq!(answer.status, status, "{path}");
        assert_eq!(answer.header("content-type"), Some("text/html; charset=utf-8"), "{path}");
        assert!(answer.body.contains(message), "{path}: {}", answer.body);
        assert!(answer.body.contains("<a href=\"/\">All agents</a>"), "{path}");
    }
    // Browsers get an error page on any path; programs get JSON.
    let lost = app.request("GET", "/no/such/thing");
    let answer = lost.header("Accept: text/html,application/xhtml+xml,*/*;q=0.8").send();
    assert_eq!((answer.status, answer.header("content-type")), (404, Some("text/html; charset=utf-8")));
    for part in [
        "There is nothing at this address.",
        "Check the address for typing errors.",
        "<nav ",
        "page.css",
        "href=\"/logging\"",
        "href=\"/hooks\"",
        "href=\"/guard\"",
    ] {
        assert!(answer.body.contains(part), "{part}: {}", answer.body);
    }
    assert!(!answer.body.contains("Snell removed it"), "the page never existed: {}", answer.body);
    assert_eq!(app.get("/no/such/thing").message(), "there is nothing at this address");
    assert_eq!(app.get("/fragments/agents/99").message(), "there is no agent 99");
}

#[test]
fn assets_are_cached_forever_under_a_version() {
    let app = TestApp::start();
    let body = get_page(&app, "/").body;
    let kinds = [
        ("page.css", "text/css; charset=utf-8"),
        ("page.js", "text/javascript; charset=utf-8"),
        ("icon.svg", "image/svg+xml"),
    ];
    for (name, kind) in kinds {
        let version = slice_between(&body, "/assets/", "/icon.svg").trim_start_matches("/assets/");
        let path = format!("/assets/{version}/{name}");
        assert!(body.contains(&path), "{path}");
        let answer = get_page(&app, &path);
        assert_eq!(answer.header("content-type"), Some(kind));
        let kept = answer.header("cache-control").unwrap();
        assert_eq!(kept, "public, max-age=31536000, immutable");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        // A page of an earlier version gets the file, but without caching.
        let earlier = get_page(&app, &format!("/assets/000000000000/{name}"));
        assert_eq!((&earlier.body, earlier.header("cache-control")), (&answer.body, Some("no-store")));
    }
    for path in ["/assets/0/nothing.js", "/assets/0/..%2fpage.css", "/assets/0/"] {
        assert_eq!(app.get(path).status, 404, "{path}");
    }
}

#[test]
fn pages_of_other_sites_can_only_link_to_views() {
    let app = TestApp::start();
    app.begin_session("s1");
    let foreign_page = ["Origin: http://evil.example", "Origin: null"];
    for path in list_view_paths() {
        for header in foreign_page {
            assert_eq!(app.request("GET", &path).header(header).send().status, 403, "{path} {header}");
        }
        assert_eq!(app.request("GET", &path).host("evil.example").send().status, 421, "{path}");
        let from_elsewhere = || app.request("GET", &path).header("Sec-Fetch-Site: cross-site");
        for (mode, dest) in [("no-cors", "script"), ("no-cors", "image"), ("navigate", "iframe")] {
            let fetched =
                from_elsewhere().header(&format!("Sec-Fetch-Mode: {mode}")).header(&format!("Sec-Fetch-Dest: {dest}"));
            assert_eq!(fetched.send().status, 403, "{path} {dest}");
        }
        let followed = from_elsewhere().header("Sec-Fetch-Mode: navigate").header("Sec-Fetch-Dest: document").send();
        let may = ["/", "/agents/1", "/logging", "/logging/1", "/hooks", "/guard", "/requests", "/usage"]
            .contains(&path.as_str());
        assert_eq!(followed.status, if may { 200 } else { 403 }, "{path}");
    }
}

#[test]
fn with_a_token_every_view_needs_it() {
    let app = TestApp::with_settings(|settings| {
        stop_clock(settings);
        settings.token = Some(AccessToken::new("secret"));
    });
    let with = |path: &str| app.request("GET", path).header("Authorization: Bearer secret").without_chunking().send();
    let event = app.request("POST", "/hook/stop").header("Authorization: Bearer secret");
    assert_eq!(event.json(r#"{"session_id":"only-for-me","last_assistant_message":"private"}"#).send().status, 200);
    for path in list_view_paths().iter().filter(|path| *path != "/login") {
        let answer = app.get(path);
        assert_eq!(answer.status, 401, "{path}");
        assert_eq!(answer.header("www-authenticate"), Some("Bearer"), "{path}");
        assert!(!answer.body.contains("private") && !answer.body.contains("only-for"), "{path}");
        assert_eq!(answer.body.contains("<form"), is_page(path), "{path}");
        assert_eq!(with(path).status, 200, "{path}");
    }
    assert!(with("/").body.contains("action=\"/logout\""));
}
